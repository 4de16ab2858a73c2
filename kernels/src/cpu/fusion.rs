//! Two vertical sweeps in one, in columns that allow it.

use crate::lanes::Lanes;
use crate::numerics::{fused_parts, fusion_allowed, outflow_ratio};
use crate::real::{Real, Scalar};
use crate::shape::TileShape;

/// How many of some columns take both sweeps at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FusedColumns {
    /// None.
    None,
    /// Some.
    Some,
    /// All: the second sweep does nothing.
    All,
}

#[inline(always)]
pub(crate) fn fuse_columns<R: Scalar, const W: usize>(
    width: usize,
    nk: usize,
    air_mass: &[R],
    face_flux: &[R],
    scale: R,
    [first, second]: [&mut [R]; 2],
) -> FusedColumns {
    assert_eq!(width % TileShape::PITCH_UNIT, 0, "column blocks are whole cache lines wide");
    let (zero, scale) = (Lanes::<R, W>::lit(0.0), Lanes::<R, W>::splat(scale));
    let mut fused = 0;
    for column in (0..width).step_by(W) {
        let mut allowed = Lanes::lit(1.0);
        for k in 0..nk {
            let at = k * width + column;
            // Nothing passes the top and the bottom, whatever is stored there.
            let top = if k == 0 { zero } else { Lanes::load(face_flux, at) };
            let bottom = if k + 1 == nk { zero } else { Lanes::load(face_flux, at + width) };
            let mass = Lanes::load(air_mass, at);
            let ratio = outflow_ratio(mass, scale, zero, zero, zero, zero, top, bottom);
            allowed = fusion_allowed(allowed, ratio);
        }
        let parts = fused_parts(allowed);
        fused += parts.1.0.into_iter().filter(|part| *part == R::lit(0.0)).count();
        for k in 0..=nk {
            let at = k * width + column;
            let flux = Lanes::load(face_flux, at);
            (parts.0 * flux).store(first, at);
            (parts.1 * flux).store(second, at);
        }
    }
    match fused {
        0 => FusedColumns::None,
        _ if fused == width => FusedColumns::All,
        _ => FusedColumns::Some,
    }
}
