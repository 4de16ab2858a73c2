//! Windows of an analytic flow.

use rayon::prelude::*;

use super::SynthError;
use super::basis::{FaceField, add_stream_fluxes, center_values, corner_values};
use super::carried::CarriedColumns;
use super::columns::{Extent, OUTFLOW_LIMIT, close_columns};
use super::quadrature::time_nodes;
use super::recipe::{Balance, Rates, Recipe};
use crate::grid::CubedSphere;
use crate::grid::constants::GRAVITY;

/// Most substeps a window may need.
const MAX_STEPS: f64 = 4096.0;

/// Air of one window in double precision; arrays hold the panels one after the other, each `[k][j][i]` as in transport
/// files.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowAir {
    /// Substeps of the window.
    pub steps: u32,
    /// Air mass at the start, kg.
    pub m: Vec<f64>,
    /// Air mass at the end, kg.
    pub m_next: Vec<f64>,
    /// Air through west sides per half-sweep, kg.
    pub am: Vec<f64>,
    /// Air through south sides per half-sweep, kg.
    pub bm: Vec<f64>,
    /// Air through layer tops per half-sweep, kg, positive downward.
    pub cm: Vec<f64>,
    /// Surface pressure at the start, Pa, `[panel][j][i]`.
    pub ps: Vec<f64>,
}

/// Produces the windows of a flow one after the other.
pub(super) struct Generator {
    grid: CubedSphere,
    recipe: Recipe,
    window_seconds: f64,
    /// Stream functions at corners; empty if the flow is carried.
    corners: Vec<Vec<f64>>,
    /// Side fluxes of the vector fields; if the flow is carried, of all fields.
    faces: Vec<FaceField>,
    /// Side fluxes of the surface pressure waves.
    wave_faces: Vec<FaceField>,
    /// Change of surface pressure in Pa per kg shifted, by wave.
    wave_pressure: Vec<Vec<f64>>,
    base_pressure: Vec<f64>,
    area: Vec<f64>,
    carried: Option<CarriedColumns>,
    next: usize,
}

impl Generator {
    /// Prepares the basis fields of `recipe` on `grid`.
    pub fn new(grid: CubedSphere, recipe: Recipe, window_seconds: f64) -> Self {
        let nc = grid.nc();
        let carried = (recipe.balance == Balance::Carried)
            .then(|| CarriedColumns::uniform(&grid, (recipe.surface_pressure)([1.0, 0.0, 0.0]) / GRAVITY));
        let mut corners: Vec<_> = recipe.streams.iter().map(|field| corner_values(&grid, field)).collect();
        let mut faces = Vec::new();
        if carried.is_some() {
            faces.extend(corners.drain(..).map(|psi| FaceField::from_corners(nc, &psi)));
        }
        faces.extend(recipe.vectors.iter().map(|field| FaceField::through_sides(&grid, field)));
        let area = (0..nc * nc).map(|c| grid.area(c % nc, c / nc)).collect::<Vec<_>>().repeat(6);
        let wave_faces: Vec<_> =
            recipe.waves.iter().map(|wave| FaceField::through_sides(&grid, &wave.gradient)).collect();
        let pressure = |faces: &FaceField| {
            faces.divergence().iter().zip(&area).map(|(d, a)| -d * GRAVITY / a).collect::<Vec<f64>>()
        };
        let wave_pressure = wave_faces.iter().map(pressure).collect();
        let base_pressure = center_values(&grid, &recipe.surface_pressure);
        Self {
            grid,
            recipe,
            window_seconds,
            corners,
            faces,
            wave_faces,
            wave_pressure,
            base_pressure,
            area,
            carried,
            next: 0,
        }
    }

    /// Horizontal grid.
    pub fn grid(&self) -> &CubedSphere {
        &self.grid
    }

    /// The flow.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    fn extent(&self) -> Extent {
        Extent { nc: self.grid.nc(), levels: self.recipe.coordinate.levels() }
    }

    /// Start of window `w` in s.
    pub fn start_of(&self, w: usize) -> f64 {
        w as f64 * self.window_seconds
    }

    /// The next window.
    ///
    /// # Errors
    /// [`SynthError::TooManySteps`] if no acceptable number of substeps keeps every cell from giving away more air than
    /// it has.
    pub fn next_window(&mut self) -> Result<WindowAir, SynthError> {
        let window = self.next;
        self.next += 1;
        let (start, end) = (self.start_of(window), self.start_of(window + 1));
        let extent = self.extent();
        let (ps, ps_next, mut am, mut bm);
        if let Some(carried) = &mut self.carried {
            ps = pressure_of(&carried.mass, &self.area);
            let total = carried.advance(&self.recipe, &self.faces, start, end);
            ps_next = pressure_of(&carried.mass, &self.area);
            (am, bm) = self.shared_among_layers(&total);
        } else {
            (ps, ps_next) = (self.surface_pressure(start), self.surface_pressure(end));
            (am, bm) = self.horizontal_fluxes(start, end);
        }
        let (m, m_next) = (self.air_mass(&ps), self.air_mass(&ps_next));
        let mut cm = vec![0.0; 6 * extent.interfaces()];
        let ratio = close_columns(extent, self.recipe.balance, [&m, &m_next, &am, &bm], &mut cm);
        let steps = (ratio / OUTFLOW_LIMIT).ceil().max(1.0);
        if steps > MAX_STEPS {
            return Err(SynthError::TooManySteps { window: window + 1, outflow: ratio });
        }
        let share = 1.0 / (2.0 * steps);
        for flux in [&mut am, &mut bm, &mut cm] {
            flux.par_iter_mut().for_each(|f| *f *= share);
        }
        Ok(WindowAir { steps: steps as u32, m, m_next, am, bm, cm, ps })
    }

    /// Surface pressure in Pa at a time, for flows that prescribe it.
    pub fn surface_pressure(&self, time_s: f64) -> Vec<f64> {
        let mut ps = self.base_pressure.clone();
        for (wave, pattern) in self.recipe.waves.iter().zip(&self.wave_pressure) {
            let shifted = (wave.shifted)(time_s);
            ps.iter_mut().zip(pattern).for_each(|(p, change)| *p += shifted * change);
        }
        ps
    }

    /// Air mass in kg of all cells under a surface pressure.
    fn air_mass(&self, ps: &[f64]) -> Vec<f64> {
        let (extent, coordinate) = (self.extent(), &self.recipe.coordinate);
        let plane = extent.nc * extent.nc;
        let mut mass = vec![0.0; 6 * extent.cells()];
        mass.par_chunks_mut(plane).enumerate().for_each(|(chunk, level)| {
            let (panel, k) = (chunk / extent.levels, chunk % extent.levels);
            let da = coordinate.a()[k + 1] - coordinate.a()[k];
            let db = coordinate.b()[k + 1] - coordinate.b()[k];
            let columns = panel * plane..(panel + 1) * plane;
            for ((m, ps), area) in level.iter_mut().zip(&ps[columns.clone()]).zip(&self.area[columns]) {
                *m = (da + db * ps) * area / GRAVITY;
            }
        });
        mass
    }

    /// Side fluxes in kg over a window: stream functions, vector fields and surface pressure waves.
    fn horizontal_fluxes(&self, start: f64, end: f64) -> (Vec<f64>, Vec<f64>) {
        let (extent, recipe) = (self.extent(), &self.recipe);
        let (nc, levels) = (extent.nc, extent.levels);
        let amounts = integrate(&recipe.rates, &time_nodes(start, end, recipe.time_scale_s));
        let shifts: Vec<f64> = recipe.waves.iter().map(|wave| (wave.shifted)(end) - (wave.shifted)(start)).collect();
        let (sides, points) = (nc * (nc + 1), (nc + 1) * (nc + 1));
        let mut am = vec![0.0; 6 * extent.faces()];
        let mut bm = am.clone();
        am.par_chunks_mut(sides).zip(bm.par_chunks_mut(sides)).enumerate().for_each(|(chunk, (x, y))| {
            let (panel, k) = (chunk / levels, chunk % levels);
            let mut add = |faces: &FaceField, amount: f64| {
                let range = panel * sides..(panel + 1) * sides;
                x.iter_mut().zip(&faces.x[range.clone()]).for_each(|(f, b)| *f += amount * b);
                y.iter_mut().zip(&faces.y[range]).for_each(|(f, b)| *f += amount * b);
            };
            for (n, faces) in self.faces.iter().enumerate() {
                add(faces, amounts.vectors[n * levels + k]);
            }
            let db = recipe.coordinate.b()[k + 1] - recipe.coordinate.b()[k];
            for (faces, shift) in self.wave_faces.iter().zip(&shifts) {
                add(faces, db * shift);
            }
            let mut psi = vec![0.0; points];
            for (n, corners) in self.corners.iter().enumerate() {
                let amount = amounts.streams[n * levels + k];
                let corners = &corners[panel * points..(panel + 1) * points];
                psi.iter_mut().zip(corners).for_each(|(p, b)| *p += amount * b);
            }
            add_stream_fluxes(nc, &psi, x, y);
        });
        (am, bm)
    }

    /// Column fluxes split over the layers by their share of the mass.
    fn shared_among_layers(&self, total: &FaceField) -> (Vec<f64>, Vec<f64>) {
        let extent = self.extent();
        let sides = extent.nc * (extent.nc + 1);
        let b = self.recipe.coordinate.b();
        let split = |column: &[f64]| {
            let mut layers = vec![0.0; 6 * extent.faces()];
            layers.par_chunks_mut(sides).enumerate().for_each(|(chunk, level)| {
                let (panel, k) = (chunk / extent.levels, chunk % extent.levels);
                let column = &column[panel * sides..(panel + 1) * sides];
                level.iter_mut().zip(column).for_each(|(f, c)| *f = (b[k + 1] - b[k]) * c);
            });
            layers
        };
        (split(&total.x), split(&total.y))
    }
}

/// Surface pressure in Pa under columns of the given mass.
fn pressure_of(mass: &[f64], area: &[f64]) -> Vec<f64> {
    mass.iter().zip(area).map(|(m, a)| m * GRAVITY / a).collect()
}

/// Time integral of the amplitudes.
fn integrate(rates: &(impl Fn(f64) -> Rates + ?Sized), nodes: &[(f64, f64)]) -> Rates {
    let mut sum = Rates::default();
    for &(time, weight) in nodes {
        let rate = rates(time);
        for (all, one) in [(&mut sum.streams, rate.streams), (&mut sum.vectors, rate.vectors)] {
            all.resize(one.len(), 0.0);
            all.iter_mut().zip(one).for_each(|(a, r)| *a += weight * r);
        }
    }
    sum
}

#[cfg(test)]
#[path = "generator_tests.rs"]
mod tests;
