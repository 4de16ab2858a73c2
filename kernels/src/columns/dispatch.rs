//! Compiled instances of the column loops: one per precision and processor class.
//!
//! The classes (AVX-512, AVX2 with fused multiply-add, baseline) are chosen at run time from what the processor
//! offers. They differ in speed only: nothing is fused that is not written so.

use super::block::ColumnBlock;
use super::deposit::Dose;
use super::flux_form::FluxFormFactors;
use super::ledger::{Ledger, LedgerStats};
use super::mass_space::MassSpaceFactors;
use super::{deposit, fields, flux_form, mass_space};

/// Column loops compiled for one precision. Implemented for `f32` and `f64` only; call them through the functions and
/// types of [`columns`](crate::columns).
pub trait ColumnDispatch: Sized {
    #[doc(hidden)]
    fn prepare_mass_space(
        block: ColumnBlock,
        air_mass: &[Self],
        exchange: &[Self],
        dt: Self,
        out: &mut MassSpaceFactors<Self>,
    );

    #[doc(hidden)]
    fn solve_mass_space(
        factors: &MassSpaceFactors<Self>,
        air_mass: &[Self],
        tracer: &mut [Self],
        ledger: Ledger<Self>,
    ) -> LedgerStats;

    #[doc(hidden)]
    fn prepare_flux_form(
        block: ColumnBlock,
        air_mass: &[Self],
        exchange: &[Self],
        dt: Self,
        out: &mut FluxFormFactors<Self>,
    );

    #[doc(hidden)]
    fn solve_flux_form(
        factors: &mut FluxFormFactors<Self>,
        air_mass: &[Self],
        tracer: &mut [Self],
        ledger: Ledger<Self>,
    ) -> LedgerStats;

    #[doc(hidden)]
    fn solve_matrix_form(factors: &mut FluxFormFactors<Self>, air_mass: &[Self], tracer: &mut [Self]);

    #[doc(hidden)]
    fn exchange_from_rates(block: ColumnBlock, air_mass: &[Self], rates: &[Self], out: &mut [Self]);

    #[doc(hidden)]
    fn decay(contents: &mut [Self], decrement: Self);

    #[doc(hidden)]
    fn emission_amounts(first: Dose<Self>, second: Option<Dose<Self>>, amounts: &mut [Self]);

    #[doc(hidden)]
    fn deposit_in_layer(contents: &mut [Self], compensation: &mut [Self], amounts: &[Self]);

    #[doc(hidden)]
    fn deposit_by_profile(
        block: ColumnBlock,
        contents: &mut [Self],
        compensation: &mut [Self],
        amounts: &[Self],
        fractions: &[Self],
        lofts: Self,
    ) -> u64;
}

/// Methods that forward to a loop compiled once per processor class.
macro_rules! methods {
    ($(fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty = $call:expr;)*) => {
        $(fn $name($($arg: $type),*) -> $result {
            #[multiversion::multiversion(targets(
                "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+fma",
                "x86_64+avx2+fma"
            ))]
            fn compiled($($arg: $type),*) -> $result {
                $call($($arg),*)
            }
            compiled($($arg),*)
        })*
    };
}

macro_rules! dispatch {
    ($real:ty, $width:literal) => {
        impl ColumnDispatch for $real {
            methods! {
                fn prepare_mass_space(
                    block: ColumnBlock, air_mass: &[$real], exchange: &[$real], dt: $real,
                    out: &mut MassSpaceFactors<$real>
                ) -> () = mass_space::prepare::<$real, $width>;
                fn solve_mass_space(
                    factors: &MassSpaceFactors<$real>, air_mass: &[$real], tracer: &mut [$real], ledger: Ledger<$real>
                ) -> LedgerStats = mass_space::solve::<$real, $width>;
                fn prepare_flux_form(
                    block: ColumnBlock, air_mass: &[$real], exchange: &[$real], dt: $real,
                    out: &mut FluxFormFactors<$real>
                ) -> () = flux_form::prepare::<$real, $width>;
                fn solve_flux_form(
                    factors: &mut FluxFormFactors<$real>, air_mass: &[$real], tracer: &mut [$real],
                    ledger: Ledger<$real>
                ) -> LedgerStats = flux_form::solve::<$real, $width>;
                fn solve_matrix_form(
                    factors: &mut FluxFormFactors<$real>, air_mass: &[$real], tracer: &mut [$real]
                ) -> () = flux_form::solve_matrix_form::<$real, $width>;
                fn exchange_from_rates(
                    block: ColumnBlock, air_mass: &[$real], rates: &[$real], out: &mut [$real]
                ) -> () = fields::exchange::<$real, $width>;
                fn decay(contents: &mut [$real], decrement: $real) -> () = fields::decay_all::<$real, $width>;
                fn emission_amounts(
                    first: Dose<$real>, second: Option<Dose<$real>>, amounts: &mut [$real]
                ) -> () = deposit::amounts::<$real, $width>;
                fn deposit_in_layer(
                    contents: &mut [$real], compensation: &mut [$real], amounts: &[$real]
                ) -> () = deposit::in_layer::<$real, $width>;
                fn deposit_by_profile(
                    block: ColumnBlock, contents: &mut [$real], compensation: &mut [$real], amounts: &[$real],
                    fractions: &[$real], lofts: $real
                ) -> u64 = deposit::by_profile::<$real, $width>;
            }
        }
    };
}

// Two vectors of AVX-512: the chains of additions down a column are long, and vectors side by side hide each other's latency.
dispatch!(f32, 32);
dispatch!(f64, 16);
