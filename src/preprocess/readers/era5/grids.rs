//! Grids of the archive and the ways from them to the cube.

use std::path::Path;

use super::Era5Faces;
use crate::preprocess::grib::{GribField, GribGrid};
use crate::preprocess::{FaceFluxes, FaceGeometry, LatLonToCube, LineIntegral, PreprocessError, Target, WindToFlux};
use crate::regrid::{GaussianLatitudes, LatLonAxes, ReducedMesh, RingStart};
use crate::spectral::{Ring, Synthesis};

/// What makes fluxes of winds.
pub(super) enum ToFaces {
    /// Winds at the points of the Gaussian grid.
    Lines(LineIntegral),
    /// Winds on the cube.
    Centres(Box<WindToFlux>),
}

/// The Gaussian grid of the archive. Points run ring by ring from south to north, eastwards from 0°.
pub(super) struct Gaussian {
    /// Points of the rings from north to south, as files have them.
    stored: Vec<usize>,
    mesh: ReducedMesh,
    pub(super) synthesis: Synthesis,
    pub(super) to_cube: LatLonToCube,
    pub(super) to_faces: ToFaces,
}

impl Gaussian {
    /// The grid with `stored` points in its rings from north to south, for spectra truncated at `truncation`; both come from
    /// the file at `path`.
    pub(super) fn new(
        target: &Target,
        path: &Path,
        stored: Vec<usize>,
        truncation: usize,
        faces: Era5Faces,
        choice: FaceFluxes,
    ) -> Result<Self, PreprocessError> {
        let points: Vec<usize> = stored.iter().rev().copied().collect();
        let latitudes = GaussianLatitudes::new(points.len());
        let rings: Vec<Ring> = latitudes
            .centres()
            .iter()
            .zip(&points)
            .map(|(&latitude, &points)| Ring { latitude, points, first_longitude: 0.0 })
            .collect();
        let mesh = ReducedMesh::gaussian(points, RingStart::Centre(0.0))?;
        let to_cube = LatLonToCube::of_rings(target, &mesh, &rings)?;
        let to_faces = match faces {
            Era5Faces::LineIntegral => {
                let geometry = FaceGeometry::new(target.grid(), target.faces());
                let lines = LineIntegral::new(&geometry, &rings);
                ToFaces::Lines(lines.map_err(|e| PreprocessError::file(path, e.to_string(), e.help()))?)
            }
            Era5Faces::CellMeans => ToFaces::Centres(Box::new(WindToFlux::new(target.grid(), target.faces(), choice))),
        };
        let synthesis =
            Synthesis::new(truncation, rings).map_err(|e| PreprocessError::file(path, e.to_string(), e.help()))?;
        Ok(Self { stored, mesh, synthesis, to_cube, to_faces })
    }

    /// Points of a level.
    pub(super) fn points(&self) -> usize {
        self.mesh.cells()
    }

    /// Number of latitudes between a pole and the equator: 320 for N320.
    pub(super) fn pairs(&self) -> usize {
        self.stored.len() / 2
    }

    /// Whether a field lies on this grid.
    fn holds(&self, grid: &GribGrid) -> bool {
        matches!(grid, GribGrid::Gaussian { points } if *points == self.stored)
    }

    /// Values of a field on this grid in the order of its points.
    pub(super) fn ordered(&self, path: &Path, what: &str, field: &GribField) -> Result<Vec<f64>, PreprocessError> {
        if !self.holds(&field.grid) {
            let problem = format!("{what} is not on the Gaussian grid N{} of the first day's humidity", self.pairs());
            return Err(PreprocessError::file(path, problem, "fetch all fields on one grid"));
        }
        let mut values = Vec::new();
        self.mesh.reorder_from_north(&field.values, &mut values);
        Ok(values)
    }
}

/// Ways to the cube from grids of other fields than winds and humidity; made when first met.
#[derive(Default)]
pub(super) struct OtherGrids(Vec<(GribGrid, LatLonToCube)>);

impl OtherGrids {
    /// A field on the cube, from the Gaussian grid or from longitudes and latitudes.
    pub(super) fn on_cube(
        &mut self,
        target: &Target,
        gaussian: &Gaussian,
        path: &Path,
        what: &str,
        field: &GribField,
    ) -> Result<Vec<f64>, PreprocessError> {
        if gaussian.holds(&field.grid) {
            return Ok(gaussian.to_cube.field(&gaussian.ordered(path, what, field)?));
        }
        let GribGrid::LatLon { longitudes, latitudes } = &field.grid else {
            let problem = format!("{what} is neither on the Gaussian grid of humidity nor on longitudes and latitudes");
            return Err(PreprocessError::file(path, problem, "fetch it on one of these grids"));
        };
        let axes = LatLonAxes::from_centres(longitudes, latitudes)?;
        let mut values = Vec::new();
        axes.reorder(&field.values, &mut values);
        self.latlon_on_cube(target, path, what, &axes, &field.grid, &values)
    }

    /// As [`on_cube`](Self::on_cube) for values `[lat][lon]` in the order of `axes`; `grid` names them.
    pub(super) fn latlon_on_cube(
        &mut self,
        target: &Target,
        path: &Path,
        what: &str,
        axes: &LatLonAxes,
        grid: &GribGrid,
        values: &[f64],
    ) -> Result<Vec<f64>, PreprocessError> {
        if !axes.mesh().covers_sphere() {
            let problem = format!("{what} does not cover the globe");
            return Err(PreprocessError::file(path, problem, "fetch fields of the whole globe"));
        }
        let place = match self.0.iter().position(|(known, _)| known == grid) {
            Some(place) => place,
            None => {
                self.0.push((grid.clone(), LatLonToCube::new(target, axes)?));
                self.0.len() - 1
            }
        };
        Ok(self.0[place].1.field(values))
    }
}
