//! From the cells of the archive to those of the target: the same ones, or blocks of them (spec 40 §1.11).

use decomposition::{Axis, Panel};

use crate::grid::vector::{add, dot, east_north, scale};
use crate::grid::{CubedSphere, GeometryBundle};
use crate::preprocess::{Coarsening, FacePlace, FaceTable, PreprocessError, Target};

/// Cells and faces of the archive, and how they make up those of the target.
pub(super) struct Mapping {
    grid: CubedSphere,
    /// Areas of the archive's cells, m².
    areas: Vec<f64>,
    faces: usize,
    /// Face east and face north of every cell.
    sides: [Vec<u32>; 2],
    coarsening: Option<Coarsening>,
}

impl Mapping {
    /// From a cube of `nc` cells per panel edge in the geometry of GEOS.
    ///
    /// # Errors
    /// [`PreprocessError::Grid`] for a number of cells that is out of range, [`PreprocessError::Coarsening`] if the target is
    /// no cube of GEOS or its number of cells no divisor of `nc`.
    pub(super) fn new(target: &Target, nc: usize) -> Result<Self, PreprocessError> {
        let (bundle, to) = (GeometryBundle::GeosNative, target.grid());
        let grid = CubedSphere::new(nc, bundle, bundle.default_offset_deg(), to.radius_m())?;
        let coarsening = Coarsening::new(&grid, to)?;
        let faces = FaceTable::new(nc, grid.convention());
        let side = |axis: Axis| {
            let at = |cell: usize| {
                let (panel, i, j) = (Panel::ALL[cell / (nc * nc)], cell % nc, cell / nc % nc);
                let (i, j) = if axis == Axis::X { (i + 1, j) } else { (i, j + 1) };
                let (face, sign) = faces.face_at(FacePlace { panel, axis, i, j });
                assert!(sign == 1.0, "panels of GEOS agree on the sense of all their seams");
                face as u32
            };
            (0..faces.cells()).map(at).collect()
        };
        let areas = (0..nc * nc).map(|c| grid.area(c % nc, c / nc)).collect::<Vec<_>>().repeat(6);
        let (faces, sides) = (faces.faces(), [side(Axis::X), side(Axis::Y)]);
        Ok(Self { areas, faces, sides, coarsening: (nc != to.nc()).then_some(coarsening), grid })
    }

    /// The archive's grid.
    pub(super) fn grid(&self) -> &CubedSphere {
        &self.grid
    }

    /// Cells of the archive.
    pub(super) fn cells(&self) -> usize {
        self.areas.len()
    }

    /// Their areas, m².
    pub(super) fn areas(&self) -> &[f64] {
        &self.areas
    }

    /// Cells of the archive along the side of one of the target.
    pub(super) fn ratio(&self, target: &Target) -> usize {
        self.grid.nc() / target.grid().nc()
    }

    /// Amounts of a level, per cell.
    pub(super) fn amounts(&self, level: &[f64], out: &mut [f64]) {
        match &self.coarsening {
            None => out.copy_from_slice(level),
            Some(blocks) => blocks.sums(level, out),
        }
    }

    /// Means of a level, weighted with area.
    pub(super) fn means(&self, level: &[f64], out: &mut [f64]) {
        match &self.coarsening {
            None => out.copy_from_slice(level),
            Some(blocks) => blocks.area_means(level, out),
        }
    }

    /// Winds of a level towards east and north, as means of vectors in space.
    pub(super) fn winds(&self, [u, v]: [&[f64]; 2], target: &Target, [east, north]: [&mut [f64]; 2]) {
        if self.coarsening.is_none() {
            east.copy_from_slice(u);
            north.copy_from_slice(v);
            return;
        }
        let axes = |grid: &CubedSphere, cell: usize| {
            let nc = grid.nc();
            let (e, n) = east_north(grid.center(Panel::ALL[cell / (nc * nc)], cell % nc, cell / nc % nc));
            [e, n]
        };
        let vectors: Vec<[f64; 3]> = (0..self.cells())
            .map(|c| {
                let [e, n] = axes(&self.grid, c);
                add(scale(e, u[c]), scale(n, v[c]))
            })
            .collect();
        let components: [Vec<f64>; 3] = std::array::from_fn(|d| {
            let component: Vec<f64> = vectors.iter().map(|w| w[d]).collect();
            let mut out = vec![0.0; target.cells()];
            self.means(&component, &mut out);
            out
        });
        for c in 0..target.cells() {
            let wind = [components[0][c], components[1][c], components[2][c]];
            let [e, n] = axes(target.grid(), c);
            (east[c], north[c]) = (dot(wind, e), dot(wind, n));
        }
    }

    /// Transports of a level through the eastern and northern faces of the archive's cells, times `by`, as fluxes through the
    /// unique faces of the target, positive from left to right.
    pub(super) fn fluxes(&self, [east, north]: [&[f64]; 2], by: f64, out: &mut [f64]) {
        let place = |out: &mut [f64]| {
            for (values, faces) in [east, north].into_iter().zip(&self.sides) {
                values.iter().zip(faces).for_each(|(value, face)| out[*face as usize] = value * by);
            }
        };
        let Some(blocks) = &self.coarsening else { return place(out) };
        let mut fine = vec![0.0; self.faces];
        place(&mut fine);
        blocks.fluxes(&fine, out);
    }
}
