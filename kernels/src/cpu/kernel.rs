//! The compiled loops of one scheme.

use crate::cpu::{ColumnCoefficients, FaceCoefficients, SeamCoefficients, SeamLine, TransferPlanes, Workspace};
use crate::real::Scalar;
use crate::shape::TileShape;

/// Tracer sweeps of one scheme in one precision.
///
/// Every call works on one tracer of one plane (or of one row of columns), in place; the loops over levels, tiles,
/// tracers and threads belong to the caller. Coefficients come from the `prepare_*` functions, called once for all
/// tracers. All sizes are the caller's to get right: a slice that is too short or a halo narrower than
/// [`halo`](SweepKernel::halo) panics before anything is written.
pub trait SweepKernel<R: Scalar>: Send + Sync {
    /// Halo cells the sweeps read on each side.
    fn halo(&self) -> usize;

    /// Name of the scheme.
    fn name(&self) -> &'static str;

    /// Sweep along i of one padded plane of tracer mass. Interior cells get new values; halo cells along i may change to
    /// any finite value. What passes is added to `transfers`, if it is asked for.
    fn sweep_x(
        &self,
        shape: &TileShape,
        tracer: &mut [R],
        faces: &FaceCoefficients<R>,
        transfers: Option<TransferPlanes<'_, R>>,
        workspace: &mut Workspace<R>,
    );

    /// Sweep along j of one padded plane of tracer mass, as [`sweep_x`](SweepKernel::sweep_x).
    fn sweep_y(
        &self,
        shape: &TileShape,
        tracer: &mut [R],
        faces: &FaceCoefficients<R>,
        transfers: Option<TransferPlanes<'_, R>>,
        workspace: &mut Workspace<R>,
    );

    /// Vertical sweep of a row of columns: `tracer` holds `nk` layers of `width` contiguous values, top first; `width`
    /// is a multiple of 16. Top and bottom are closed; layers without a full stencil (one at either end for linear,
    /// two for parabolic profiles) are flat. Any `nk` is valid.
    fn sweep_z(&self, width: usize, nk: usize, tracer: &mut [R], faces: &ColumnCoefficients<R>);

    /// Tracer amounts leaving the owner through the faces of a seam line, from the plane as it is before the sweep.
    /// Both sides of the seam get the same bits if their halos hold the same bits. `out` takes `line.len` values.
    fn seam_fluxes(
        &self,
        tracer: &[R],
        line: &SeamLine<R>,
        seam: &SeamCoefficients<R>,
        out: &mut [R],
        workspace: &mut Workspace<R>,
    );
}
