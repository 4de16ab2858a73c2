//! Boundary layer, convection and layer state of the weather flow: plausible, smooth and closed, not simulated.

mod column;
mod convection;
mod surface;

use decomposition::Panel;
use rayon::prelude::*;

use self::column::{ColumnInput, ColumnOutput};
use super::basis::{center_values, stream_velocity, vector_velocity};
use super::generator::{Generator, WindowAir};
use crate::met::Section;

/// Sections written, in canonical order.
pub(super) const SECTIONS: [Section; 17] = [
    Section::Pblh,
    Section::Ustar,
    Section::SensibleHeatFlux,
    Section::T2m,
    Section::Cmfmc,
    Section::Dtrain,
    Section::Entu,
    Section::Detu,
    Section::Entd,
    Section::Detd,
    Section::VdiffU,
    Section::VdiffV,
    Section::VdiffT,
    Section::VdiffQv,
    Section::Dkg,
    Section::LatentHeatFlux,
    Section::CmfmcCloudBase,
];

/// Winds of the basis fields at cell centres, from which the wind of a window is put together.
pub(super) struct Physics {
    /// Eastward and northward wind per unit amplitude, by field, `[(panel * nc + j) * nc + i]`.
    streams: Vec<Vec<[f64; 2]>>,
    vectors: Vec<Vec<[f64; 2]>>,
}

impl Physics {
    /// Evaluates the basis fields of `generator`.
    pub fn new(generator: &Generator) -> Self {
        let (grid, recipe) = (generator.grid(), generator.recipe());
        Self {
            streams: recipe.streams.iter().map(|f| center_values(grid, |p| stream_velocity(f, p))).collect(),
            vectors: recipe.vectors.iter().map(|f| center_values(grid, |p| vector_velocity(f, p))).collect(),
        }
    }

    /// Sections of window `w` (from 0) in the order of [`SECTIONS`], for the middle of the window.
    pub fn window(&self, generator: &Generator, w: usize, air: &WindowAir) -> Vec<(Section, Vec<f64>)> {
        let panels: Vec<Vec<Vec<f64>>> =
            Panel::ALL.into_par_iter().map(|panel| self.panel(generator, w, air, panel)).collect();
        let joined = |n: usize| panels.iter().flat_map(|panel| panel[n].iter().copied()).collect();
        SECTIONS.into_iter().enumerate().map(|(n, section)| (section, joined(n))).collect()
    }

    /// All sections on one panel.
    fn panel(&self, generator: &Generator, w: usize, air: &WindowAir, panel: Panel) -> Vec<Vec<f64>> {
        let (grid, recipe) = (generator.grid(), generator.recipe());
        let (nc, coordinate) = (grid.nc(), &recipe.coordinate);
        let (nz, plane) = (coordinate.levels(), nc * nc);
        let time = 0.5 * (generator.start_of(w) + generator.start_of(w + 1));
        let rates = (recipe.rates)(time);
        let fields = self.streams.iter().chain(&self.vectors);
        let amplitudes: Vec<&[f64]> = rates.streams.chunks(nz).chain(rates.vectors.chunks(nz)).collect();
        let fields: Vec<&[[f64; 2]]> = fields.map(|f| &f[panel.index() * plane..(panel.index() + 1) * plane]).collect();

        let shapes = SECTIONS.map(|section| section.shape(nc, nz));
        let mut sections: Vec<Vec<f64>> = shapes.iter().map(|shape| vec![0.0; shape.panel_len()]).collect();
        let mut input = ColumnInput::new(nz);
        let mut output = ColumnOutput::new(nz);
        for c in 0..plane {
            let (i, j) = (c % nc, c / nc);
            let area = grid.area(i, j);
            input.position = grid.center(panel, i, j);
            input.time_s = time;
            let ps = air.ps[panel.index() * plane + c];
            for k in 0..=nz {
                input.pressure[k] = coordinate.pressure_at(k, ps);
            }
            for k in 0..nz {
                input.mass[k] = air.m[(panel.index() * nz + k) * plane + c];
                let wind = fields.iter().zip(&amplitudes).fold([0.0; 2], |[u, v], (field, amplitude)| {
                    [u + amplitude[k] * field[c][0], v + amplitude[k] * field[c][1]]
                });
                // Amplitudes are mass fluxes per layer times the radius.
                let per_wind = area / (input.mass[k] * recipe.radius_m);
                input.wind[k] = wind.map(|flux| flux * per_wind);
            }
            output.fill(&input);
            for (column, values) in output.sections().into_iter().zip(&mut sections) {
                for (k, value) in column.iter().enumerate() {
                    values[k * plane + c] = *value;
                }
            }
        }
        sections
    }
}

#[cfg(test)]
mod tests {
    use super::super::SynthFlow;
    use super::*;
    use crate::grid::{CubedSphere, GeometryBundle};

    const NC: usize = 6;
    const NZ: usize = 24;

    fn sections(window: usize) -> Vec<(Section, Vec<f64>)> {
        let recipe = SynthFlow::Weather.recipe(NZ).unwrap();
        let bundle = GeometryBundle::GeosNative;
        let grid = CubedSphere::new(NC, bundle, bundle.default_offset_deg(), recipe.radius_m).unwrap();
        let mut generator = Generator::new(grid, recipe, 10_800.0);
        let physics = Physics::new(&generator);
        let mut air = generator.next_window().unwrap();
        for _ in 0..window {
            air = generator.next_window().unwrap();
        }
        physics.window(&generator, window, &air)
    }

    fn values(sections: &[(Section, Vec<f64>)], section: Section) -> &[f64] {
        &sections.iter().find(|(s, _)| *s == section).unwrap().1
    }

    /// Values of one column, top first.
    fn column(values: &[f64], levels: usize, panel: usize, c: usize) -> Vec<f64> {
        (0..levels).map(|k| values[(panel * levels + k) * NC * NC + c]).collect()
    }

    #[test]
    fn values_are_plausible() {
        let ranges = [
            (Section::Pblh, 100.0, 3000.0),
            (Section::Ustar, 0.05, 1.5),
            (Section::SensibleHeatFlux, -60.0, 400.0),
            (Section::T2m, 225.0, 320.0),
            (Section::Cmfmc, 0.0, 0.1),
            (Section::Dtrain, 0.0, 0.1),
            (Section::Entu, 0.0, 0.1),
            (Section::Detu, 0.0, 0.1),
            (Section::Entd, 0.0, 0.1),
            (Section::Detd, 0.0, 0.1),
            (Section::VdiffU, -70.0, 70.0),
            (Section::VdiffV, -40.0, 40.0),
            (Section::VdiffT, 180.0, 325.0),
            (Section::VdiffQv, 1e-6, 0.03),
            (Section::Dkg, 0.0, 1e13),
            (Section::LatentHeatFlux, 0.0, 500.0),
            (Section::CmfmcCloudBase, 1.0, NZ as f64),
        ];
        let all = sections(1);
        assert_eq!(all.len(), ranges.len());
        for (section, low, high) in ranges {
            let values = values(&all, section);
            assert_eq!(values.len(), section.elems(NC, NZ));
            for v in values {
                assert!((low..=high).contains(v), "{section} = {v}");
            }
            assert!(values.iter().any(|v| *v != values[0]), "{section} is uniform");
        }
    }

    #[test]
    fn convection_closes_in_every_column() {
        let all = sections(0);
        let mut active = 0;
        for (panel, c) in (0..6 * NC * NC).map(|n| (n / (NC * NC), n % (NC * NC))) {
            let get = |section: Section| column(values(&all, section), section.shape(NC, NZ).nk, panel, c);
            for (gain, loss) in [(Section::Entu, Section::Detu), (Section::Entd, Section::Detd)] {
                let (gain, loss): (f64, f64) = (get(gain).iter().sum(), get(loss).iter().sum());
                assert!((gain - loss).abs() <= 1e-14 * gain, "{gain} {loss}");
            }
            let (flux, detrained) = (get(Section::Cmfmc), get(Section::Dtrain));
            assert_eq!((flux[0], flux[NZ]), (0.0, 0.0));
            for k in 0..NZ {
                assert!(detrained[k] + flux[k] - flux[k + 1] >= -1e-18, "entrainment at level {k}");
            }
            let base = get(Section::CmfmcCloudBase)[0] as usize;
            if let Some(lowest) = (0..NZ).rev().find(|k| flux[k + 1] > 0.0) {
                active += 1;
                assert_eq!(base, lowest + 1);
            } else {
                assert_eq!(base, NZ);
            }
            assert_eq!(get(Section::Dkg)[NZ - 1], 0.0);
            assert!(get(Section::Dkg)[..NZ - 1].iter().all(|d| *d > 0.0));
        }
        assert!(active > NC * NC && active < 5 * NC * NC, "{active} convective columns");
    }

    /// In the middle of the first panel i runs east and j north: air crosses the sides at the stored wind.
    #[test]
    fn winds_fit_the_fluxes() {
        let (nc, seconds) = (24, 3600.0);
        let recipe = SynthFlow::Weather.recipe(NZ).unwrap();
        let grid = CubedSphere::new(nc, GeometryBundle::Gnomonic, 0.0, recipe.radius_m).unwrap();
        let mut generator = Generator::new(grid, recipe, seconds);
        let air = generator.next_window().unwrap();
        let all = Physics::new(&generator).window(&generator, 0, &air);
        let (u, v) = (values(&all, Section::VdiffU), values(&all, Section::VdiffV));
        let per_second = 2.0 * f64::from(air.steps) / seconds;
        for k in 0..NZ {
            for (i, j) in [(11, 11), (12, 11), (11, 13)] {
                let cell = (k * nc + j) * nc + i;
                let (west, south) = ((k * nc + j) * (nc + 1) + i, (k * (nc + 1) + j) * nc + i);
                let through = |low: f64, high: f64, width: f64| 0.5 * (low + high) * per_second * width / air.m[cell];
                let along_i = through(air.am[west], air.am[west + 1], generator.grid().dx(i, j));
                let along_j = through(air.bm[south], air.bm[south + nc], generator.grid().dy(i, j));
                // Axes are a few degrees off and the waves are a few cells long.
                assert!((along_i - u[cell]).abs() < 1.0, "level {k}: {along_i} {}", u[cell]);
                assert!((along_j - v[cell]).abs() < 1.0, "level {k}: {along_j} {}", v[cell]);
            }
        }
        assert!(u.iter().chain(v).any(|w| w.abs() > 30.0));
    }

    #[test]
    fn the_day_moves() {
        let (first, later) = (sections(0), sections(2));
        assert_ne!(values(&first, Section::T2m), values(&later, Section::T2m));
        assert_eq!(first, sections(0));
    }
}
