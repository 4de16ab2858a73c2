//! Initial tracer states.

mod analytic;
mod cs_native;
mod field;
mod pressure_layer;
mod record;
mod units;

use std::path::{Path, PathBuf};

use kernels::Scalar;

use crate::comm::Communicator;
use crate::diagnostics::SumError;
use crate::grid::{CubedSphere, HybridCoordinate};
use crate::gridded::Weights;
use crate::state::{AIR, PackedState, Slabs};

pub use field::{FieldFile, FieldProblem, SurfacePressure, VerticalMapping};
pub use record::{ChosenRecord, RecordChoice};

/// How a tracer starts. Mixing ratios are dry mole fractions (mol/mol).
#[derive(Clone, Debug, PartialEq)]
pub enum InitialState {
    /// The same everywhere.
    Uniform {
        /// Mixing ratio.
        background: f64,
    },
    /// Two hemispheres.
    LatitudeStep {
        /// Mixing ratio south of the split.
        south: f64,
        /// Mixing ratio at and north of the split.
        north: f64,
        /// Latitude of the split (degrees).
        split_lat_deg: f64,
    },
    /// A Gaussian in longitude and latitude, equal at all levels.
    GaussianBlob {
        /// Mixing ratio far away.
        background: f64,
        /// Excess at the centre.
        amplitude: f64,
        /// Centre longitude (degrees).
        lon0_deg: f64,
        /// Centre latitude (degrees).
        lat0_deg: f64,
        /// Width in longitude (degrees, > 0).
        sigma_lon_deg: f64,
        /// Width in latitude (degrees, > 0).
        sigma_lat_deg: f64,
    },
    /// One layer of constant mixing ratio that holds a given number of molecules, nothing elsewhere.
    PressureLayer {
        /// Which layer.
        layer: LayerChoice,
        /// Molecules on the globe (> 0).
        total_molecules: f64,
    },
    /// A field on this very grid from a NetCDF file with dimensions (time, lev, nf, Ydim, Xdim).
    CsNative {
        /// The file.
        file: PathBuf,
        /// The variable.
        variable: String,
        /// Units instead of its attribute.
        units: Option<String>,
        /// Record.
        record: RecordChoice,
        /// Order of the file's levels.
        vertical_order: VerticalOrder,
        /// What to do with negative values.
        negatives: Negatives,
    },
    /// A field on a longitude-latitude grid.
    Field(FieldFile),
    /// One value, and more of it in the lowest layers.
    BoundaryLayer {
        /// Mixing ratio above.
        background: f64,
        /// Excess in the lowest layers.
        enhancement: f64,
        /// How many layers, from the surface up.
        layers: usize,
    },
}

impl InitialState {
    /// Checks the file, if there is one, against a run on `nc` cells per panel edge and `levels` layers, without reading
    /// values of the field, and returns the record that it is read from.
    ///
    /// # Errors
    /// The file, and its variables, units, records or levels that are absent or do not fit.
    pub fn check(&self, nc: usize, levels: usize) -> Result<Option<ChosenRecord>, FieldProblem> {
        match self {
            Self::Field(field) => field.check(levels).map(Some),
            _ => cs_native::Request::of(self).map(|request| request.check(nc, levels)).transpose(),
        }
    }

    /// The record that it is read from, if it is read from a file that can be understood.
    pub fn record(&self) -> Option<ChosenRecord> {
        match self {
            Self::Field(field) => field.record(),
            _ => cs_native::Request::of(self).and_then(|request| request.record()),
        }
    }

    /// File and variable, if it is read from one.
    pub fn source(&self) -> Option<(&Path, &str)> {
        match self {
            Self::CsNative { file, variable, .. } | Self::Field(FieldFile { file, variable, .. }) => {
                Some((file, variable))
            }
            _ => None,
        }
    }
}

/// Layer of [`InitialState::PressureLayer`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LayerChoice {
    /// The layer at the surface.
    Lowest,
    /// In each column the layer whose √(p_top·p_bottom) is nearest this fraction of the surface pressure.
    NearestFraction(f64),
}

/// Order of levels in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerticalOrder {
    /// First level at the surface.
    SurfaceFirst,
    /// First level at the model top.
    TopFirst,
}

/// Treatment of negative values read from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Negatives {
    /// Keep them.
    Keep,
    /// Set them to zero.
    Clamp,
}

/// Why a tracer could not be initialised.
#[derive(Debug, thiserror::Error)]
pub enum InitialError {
    /// The file cannot be read or does not fit the grid.
    #[error("tracers.{tracer}.init: {}: {problem}", file.display())]
    File {
        /// Tracer name.
        tracer: String,
        /// The file.
        file: PathBuf,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A total that cannot be summed.
    #[error("tracers.{tracer}.init: the air mass of the chosen layer has no finite total ({source})")]
    Total {
        /// Tracer name.
        tracer: String,
        /// Reason.
        source: SumError,
    },
}

impl FieldProblem {
    /// The error of a tracer whose file has this problem.
    fn of(self, tracer: String, file: &Path) -> InitialError {
        InitialError::File { tracer, file: file.to_path_buf(), problem: format!("{}; {}", self.problem, self.help) }
    }
}

/// What initial states are evaluated on.
pub struct InitialContext<'a, R> {
    /// The grid.
    pub grid: &'a CubedSphere,
    /// The vertical coordinate.
    pub vertical: &'a HybridCoordinate,
    /// Surface pressure (Pa), one level, one plane.
    pub surface_pressure: &'a Slabs<R>,
    /// Weights of regridding.
    pub weights: &'a Weights,
    /// The ranks.
    pub comm: &'a dyn Communicator,
}

/// Fills tracer `index` of `state` (mixing ratio × air mass, rounded once). Collective. Where a file's values are mapped by
/// shared pressure, returns what the file holds, in kg of carrier air.
///
/// # Errors
/// File problems and totals that are not finite.
pub fn initialise<R: Scalar>(
    state: &mut PackedState<R>,
    index: usize,
    initial: &InitialState,
    context: &InitialContext<'_, R>,
) -> Result<Option<f64>, InitialError> {
    let tracer = state.tracers()[index].clone();
    match initial {
        InitialState::Uniform { background } => fill(state, index, |_, _, _, _| *background),
        InitialState::LatitudeStep { .. } | InitialState::GaussianBlob { .. } => {
            analytic::fill_horizontal(state, index, initial, context.grid);
        }
        InitialState::PressureLayer { layer, total_molecules } => {
            pressure_layer::fill_layer(state, index, *layer, *total_molecules, context)
                .map_err(|source| InitialError::Total { tracer, source })?;
        }
        InitialState::CsNative { file, .. } => {
            let request = cs_native::Request::of(initial).expect("this state is one on the model's grid");
            cs_native::fill_from_file(state, index, &request, context.grid.nc())
                .map_err(|problem| problem.of(tracer, file))?;
        }
        InitialState::Field(field) => {
            let filled = field::fill_from_field(state, index, field, context);
            return filled.map_err(|problem| problem.of(tracer, &field.file));
        }
        InitialState::BoundaryLayer { background, enhancement, layers } => {
            let first = state.levels().saturating_sub(*layers);
            fill(state, index, |level, _, _, _| background + if level >= first { *enhancement } else { 0.0 });
        }
    }
    Ok(None)
}

/// Sets `rm = q·m` in every interior cell from `q(level, tile, i, j)`, computed in f64 and rounded once.
fn fill<R: Scalar>(state: &mut PackedState<R>, index: usize, q: impl Fn(usize, usize, usize, usize) -> f64) {
    let set = state.tile_set().clone();
    let slabs = state.slabs_mut();
    for level in 0..slabs.levels() {
        for (tile, shape) in set.shapes().iter().enumerate() {
            for j in 0..shape.nj {
                for i in 0..shape.ni {
                    let cell = shape.row_start(j) + i;
                    let mass = slabs.plane(level, tile, AIR)[cell].to_f64();
                    slabs.plane_mut(level, tile, index + 1)[cell] = R::from_f64(q(level, tile, i, j) * mass);
                }
            }
        }
    }
}
