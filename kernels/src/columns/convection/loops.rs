//! Compiled instances of the convection loops: one per precision and processor class.

use crate::columns::convection::cmfmc::{self, Cmfmc, CmfmcForcing};
use crate::columns::convection::tm5::{self, Tm5, Tm5Forcing};
use crate::columns::convection::{ColumnBlock, LedgerTally};
use crate::cpu::per_processor;

/// Loops compiled for one precision. Implemented for `f32` and `f64` only; call them through the types of
/// [`tm5`](crate::columns::convection::tm5) and [`cmfmc`](crate::columns::convection::cmfmc).
pub trait ConvectionLoops: Sized {
    #[doc(hidden)]
    fn convect_tm5(
        work: &mut Tm5<Self>,
        block: &ColumnBlock<Self>,
        forcing: &Tm5Forcing<Self>,
        dt: Self,
        tracers: &mut [Self],
        carry: &mut [Self],
    ) -> LedgerTally
    where
        Self: crate::Scalar;

    #[doc(hidden)]
    fn largest_courant(block: &ColumnBlock<Self>, cloud_flux: &[Self], dt: Self) -> Self
    where
        Self: crate::Scalar;

    #[doc(hidden)]
    fn prepare_cmfmc(work: &mut Cmfmc<Self>, block: &ColumnBlock<Self>, forcing: &CmfmcForcing<Self>, dt: Self)
    where
        Self: crate::Scalar;

    #[doc(hidden)]
    fn convect_cmfmc(
        work: &mut Cmfmc<Self>,
        block: &ColumnBlock<Self>,
        tracer: &mut [Self],
        carry: &mut [Self],
    ) -> LedgerTally
    where
        Self: crate::Scalar;
}

macro_rules! loops {
    ($real:ty, $width:literal) => {
        impl ConvectionLoops for $real {
            fn convect_tm5(
                work: &mut Tm5<$real>,
                block: &ColumnBlock<$real>,
                forcing: &Tm5Forcing<$real>,
                dt: $real,
                tracers: &mut [$real],
                carry: &mut [$real],
            ) -> LedgerTally {
                per_processor!(
                    (
                        work: &mut Tm5<$real>,
                        block: &ColumnBlock<$real>,
                        forcing: &Tm5Forcing<$real>,
                        dt: $real,
                        tracers: &mut [$real],
                        carry: &mut [$real],
                    ) -> LedgerTally,
                    tm5::convect::<$real, $width>(work, block, forcing, dt, tracers, carry)
                )
            }

            fn largest_courant(block: &ColumnBlock<$real>, cloud_flux: &[$real], dt: $real) -> $real {
                per_processor!(
                    (block: &ColumnBlock<$real>, cloud_flux: &[$real], dt: $real) -> $real,
                    cmfmc::courant::<$real, $width>(block, cloud_flux, dt)
                )
            }

            fn prepare_cmfmc(
                work: &mut Cmfmc<$real>,
                block: &ColumnBlock<$real>,
                forcing: &CmfmcForcing<$real>,
                dt: $real,
            ) {
                per_processor!(
                    (
                        work: &mut Cmfmc<$real>,
                        block: &ColumnBlock<$real>,
                        forcing: &CmfmcForcing<$real>,
                        dt: $real,
                    ) -> (),
                    cmfmc::prepare::<$real, $width>(work, block, forcing, dt)
                )
            }

            fn convect_cmfmc(
                work: &mut Cmfmc<$real>,
                block: &ColumnBlock<$real>,
                tracer: &mut [$real],
                carry: &mut [$real],
            ) -> LedgerTally {
                per_processor!(
                    (
                        work: &mut Cmfmc<$real>,
                        block: &ColumnBlock<$real>,
                        tracer: &mut [$real],
                        carry: &mut [$real],
                    ) -> LedgerTally,
                    cmfmc::convect::<$real, $width>(work, block, tracer, carry)
                )
            }
        }
    };
}

// A cache line of values, as in the sweeps.
loops!(f32, 16);
loops!(f64, 8);
