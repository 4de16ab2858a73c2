//! Vectorised loops over rows, columns and seams.
//!
//! A directional sweep of one plane is two calls: a `prepare_*` function forms what all tracers share (reciprocal
//! masses, swept fractions, tracer-carrying fluxes) and moves the air; a [`SweepKernel`] then moves each tracer with it,
//! in place. Seams are prepared and evaluated from the planes as they are before the sweep and applied after it.
//! Nothing here allocates except the constructors of the buffers.

mod budget;
mod buffer;
mod coefficients;
mod dispatch;
mod fusion;
mod kernel;
pub(crate) mod linrood;
mod march;
mod rows;
mod seams;
mod spline;
#[cfg(test)]
mod tests;
mod transfers;
mod vertical_dispatch;
mod workspace;

pub use budget::{LevelFluxes, OutflowBudget};
pub use buffer::AlignedBuffer;
pub use coefficients::{ColumnCoefficients, FaceCoefficients, FaceState, SweepStats};
pub use dispatch::Dispatch;
pub(crate) use dispatch::per_processor;
pub use fusion::FusedColumns;
pub use kernel::SweepKernel;
pub use linrood::{
    LinRoodBooks, LinRoodCoefficients, LinRoodKernel, LinRoodPlanes, PanelFaces, linrood_limit, linrood_parts,
    linrood_prepare, linrood_update,
};
pub use seams::{SeamCoefficients, SeamLine, SeamSide, StencilOrder, apply_seam};
pub use spline::{SPLINE_LAYERS, SplineCoefficients, SplineWorkspace};
pub use transfers::{TransferPlanes, book_seam};
pub use vertical_dispatch::VerticalDispatch;
pub use workspace::Workspace;

use crate::real::Scalar;
use crate::scheme::Sign;
use crate::shape::TileShape;

/// Coefficients of a sweep along i of one plane; advances the interior air mass, `m_i += F_i − F_{i+1}`.
///
/// `face_flux` holds the air through the low-i side of every cell (face `ni` included), positive toward larger i;
/// `F = scale · face_flux`, and 0 at the ends that are closed. The halo of `air_mass` along i must be filled.
pub fn prepare_x<R: Scalar>(
    shape: &TileShape,
    air_mass: &mut [R],
    face_flux: &[R],
    scale: R,
    ends: [FaceState; 2],
    out: &mut FaceCoefficients<R>,
) -> SweepStats {
    R::prepare_x(shape, air_mass, face_flux, scale, ends, out)
}

/// Coefficients of a sweep along j of one plane, as [`prepare_x`] with the low-j sides.
pub fn prepare_y<R: Scalar>(
    shape: &TileShape,
    air_mass: &mut [R],
    face_flux: &[R],
    scale: R,
    ends: [FaceState; 2],
    out: &mut FaceCoefficients<R>,
) -> SweepStats {
    R::prepare_y(shape, air_mass, face_flux, scale, ends, out)
}

/// Coefficients of a vertical sweep of a row of columns; advances the air mass, `m_k += F_k − F_{k+1}`.
///
/// `air_mass` holds `nk` layers of `width` contiguous values, top first, `face_flux` the air through the `nk + 1`
/// layer tops, positive downward; `width` is a multiple of 16. The first and the last interface are closed whatever they
/// hold. Columns that pad the row need a mass other than 0 for their values to stay finite.
pub fn prepare_z<R: Scalar>(
    width: usize,
    nk: usize,
    air_mass: &mut [R],
    face_flux: &[R],
    scale: R,
    out: &mut ColumnCoefficients<R>,
) -> SweepStats {
    R::prepare_z(width, nk, air_mass, face_flux, scale, out)
}

/// Fluxes of two successive vertical sweeps of a row of columns: in every column whose outflow budget `2 · scale · (out_top +
/// out_bottom) / m` is at most 0.95 in all layers, the first gets twice `face_flux` and the second none; elsewhere both get
/// `face_flux`. What a column gets depends on nothing but the column.
///
/// `air_mass` and `face_flux` are as for [`prepare_z`], before the first of the sweeps; `parts` take `nk + 1` layers each.
pub fn fuse_columns<R: Scalar>(
    width: usize,
    nk: usize,
    air_mass: &[R],
    face_flux: &[R],
    scale: R,
    parts: [&mut [R]; 2],
) -> FusedColumns {
    R::fuse_columns(width, nk, air_mass, face_flux, scale, parts)
}

/// What the spline profiles of all tracers share in a row of columns, from its air mass before [`prepare_z`].
///
/// # Panics
/// With fewer than [`SPLINE_LAYERS`] layers.
pub fn prepare_spline<R: Scalar>(width: usize, nk: usize, air_mass: &[R], out: &mut SplineCoefficients<R>) {
    R::prepare_spline(width, nk, air_mass, out);
}

/// Vertical sweep of a row of columns of one tracer with spline profiles (FV3's `kord = 8`), in place, as
/// [`SweepKernel::sweep_z`]; `sign` decides whether profiles are positive-definite and whether a layer is kept from giving
/// more than it holds.
///
/// # Panics
/// With fewer than [`SPLINE_LAYERS`] layers.
pub fn sweep_spline<R: Scalar>(
    sign: Sign,
    width: usize,
    nk: usize,
    tracer: &mut [R],
    faces: &ColumnCoefficients<R>,
    spline: &SplineCoefficients<R>,
    workspace: &mut SplineWorkspace<R>,
) {
    R::sweep_spline(sign, width, nk, tracer, faces, spline, workspace);
}

/// Coefficients and air transfer of a seam line, from the air mass (halo filled) as it is before the sweep.
///
/// Both sides of the seam get the same bits. Each counts the clamped faces: take the owner's count.
pub fn prepare_seam<R: Scalar>(
    air_mass: &[R],
    face_flux: &[R],
    scale: R,
    line: &SeamLine<R>,
    out: &mut SeamCoefficients<R>,
) -> SweepStats {
    R::prepare_seam(air_mass, face_flux, scale, line, out)
}

/// Largest outflow budget `2 · scale · (out_x + out_y + out_z) / m` of a plane and its cell.
///
/// Each flux acts twice in a symmetric step, hence the factor 2. A budget of at most 1 in every cell keeps all swept
/// fractions below 1. The fluxes through the model top and bottom are expected to be 0.
pub fn outflow_budget<R: Scalar>(shape: &TileShape, air_mass: &[R], fluxes: LevelFluxes<R>, scale: R) -> OutflowBudget {
    R::outflow_budget(shape, air_mass, fluxes, scale)
}
