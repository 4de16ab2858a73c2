//! What sweeps carry into and through cells, kept for the column-integrated fluxes of the output.

use std::ops::Range;

use crate::cpu::{SeamLine, SeamSide};
use crate::real::Scalar;

/// Sums over sweeps of one tracer in one plane, shaped like it; halo cells may take any value.
#[derive(Debug)]
pub struct TransferPlanes<'a, R> {
    /// What the cell has gained, `Σ (inflow − outflow)`.
    pub gain: &'a mut [R],
    /// The fluxes through its two faces across the swept axis, `Σ (low + high)`, positive toward larger index.
    pub through: &'a mut [R],
}

impl<R> TransferPlanes<'_, R> {
    /// A stretch of both planes.
    pub(crate) fn part(&mut self, range: Range<usize>) -> TransferPlanes<'_, R> {
        TransferPlanes { gain: &mut self.gain[range.clone()], through: &mut self.through[range] }
    }
}

/// Books the transfers of a seam line at the edge cells of one side, as [`apply_seam`](super::apply_seam) applies them:
/// `gain` as the content of the cells, `through` the flux in the orientation of the tile's own axis across the seam.
pub fn book_seam<R: Scalar>(planes: TransferPlanes<'_, R>, line: &SeamLine<R>, amounts: &[R], side: SeamSide) {
    super::apply_seam(planes.gain, line, amounts, side);
    let own = line.leaving * line.face_factor;
    let mut at = line.cell;
    for &amount in &amounts[..line.len] {
        planes.through[at] += own * amount;
        at = at.wrapping_add_signed(line.along);
    }
}
