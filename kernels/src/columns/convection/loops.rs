//! Compiled instances of the convection loops: one per precision and processor class.

use crate::columns::convection::ColumnAir;
use crate::columns::convection::cmfmc::{self, Cmfmc, CmfmcForcing};
use crate::columns::convection::tm5::{self, Tm5, Tm5Forcing};
use crate::columns::{Ledger, LedgerStats};
use crate::cpu::per_processor;

/// Loops compiled for one precision. Implemented for `f32` and `f64` only; call them through the types of
/// [`tm5`](crate::columns::convection::tm5) and [`cmfmc`](crate::columns::convection::cmfmc).
pub trait ConvectionLoops: Sized {
    #[doc(hidden)]
    fn convect_tm5(
        work: &mut Tm5<Self>,
        air: &ColumnAir<Self>,
        forcing: &Tm5Forcing<Self>,
        dt: Self,
        tracers: &mut [Self],
        ledger: &mut Ledger<Self>,
    ) -> LedgerStats
    where
        Self: crate::Scalar;

    #[doc(hidden)]
    fn largest_courant(air: &ColumnAir<Self>, cloud_flux: &[Self], dt: Self) -> Self
    where
        Self: crate::Scalar;

    #[doc(hidden)]
    fn prepare_cmfmc(work: &mut Cmfmc<Self>, air: &ColumnAir<Self>, forcing: &CmfmcForcing<Self>, dt: Self)
    where
        Self: crate::Scalar;

    #[doc(hidden)]
    fn convect_cmfmc(
        work: &mut Cmfmc<Self>,
        air: &ColumnAir<Self>,
        tracer: &mut [Self],
        ledger: &mut Ledger<Self>,
    ) -> LedgerStats
    where
        Self: crate::Scalar;
}

/// Columns, or tracers of a solve, side by side. In double precision two vectors: masks of 8 lanes fall apart into branches.
pub(super) const LANES: usize = 16;

macro_rules! loops {
    ($real:ty) => {
        impl ConvectionLoops for $real {
            fn convect_tm5(
                work: &mut Tm5<$real>,
                air: &ColumnAir<$real>,
                forcing: &Tm5Forcing<$real>,
                dt: $real,
                tracers: &mut [$real],
                ledger: &mut Ledger<$real>,
            ) -> LedgerStats {
                per_processor!(
                    (
                        work: &mut Tm5<$real>,
                        air: &ColumnAir<$real>,
                        forcing: &Tm5Forcing<$real>,
                        dt: $real,
                        tracers: &mut [$real],
                        ledger: &mut Ledger<$real>,
                    ) -> LedgerStats,
                    tm5::convect::<$real, LANES>(work, air, forcing, dt, tracers, ledger)
                )
            }

            fn largest_courant(air: &ColumnAir<$real>, cloud_flux: &[$real], dt: $real) -> $real {
                per_processor!(
                    (air: &ColumnAir<$real>, cloud_flux: &[$real], dt: $real) -> $real,
                    cmfmc::courant::<$real, LANES>(air, cloud_flux, dt)
                )
            }

            fn prepare_cmfmc(
                work: &mut Cmfmc<$real>,
                air: &ColumnAir<$real>,
                forcing: &CmfmcForcing<$real>,
                dt: $real,
            ) {
                per_processor!(
                    (
                        work: &mut Cmfmc<$real>,
                        air: &ColumnAir<$real>,
                        forcing: &CmfmcForcing<$real>,
                        dt: $real,
                    ) -> (),
                    cmfmc::prepare::<$real, LANES>(work, air, forcing, dt)
                )
            }

            fn convect_cmfmc(
                work: &mut Cmfmc<$real>,
                air: &ColumnAir<$real>,
                tracer: &mut [$real],
                ledger: &mut Ledger<$real>,
            ) -> LedgerStats {
                per_processor!(
                    (
                        work: &mut Cmfmc<$real>,
                        air: &ColumnAir<$real>,
                        tracer: &mut [$real],
                        ledger: &mut Ledger<$real>,
                    ) -> LedgerStats,
                    cmfmc::convect::<$real, LANES>(work, air, tracer, ledger)
                )
            }
        }
    };
}

loops!(f32);
loops!(f64);
