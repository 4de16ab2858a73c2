//! Compiled instances of the loops: one per precision, scheme and processor class.
//!
//! The classes (AVX-512, AVX2, baseline) are chosen at run time from what the processor offers. They differ in speed
//! only: nothing is fused or reordered.

use crate::cpu::budget::{LevelFluxes, OutflowBudget};
use crate::cpu::coefficients::{ColumnCoefficients, FaceCoefficients, FaceState, SweepStats};
use crate::cpu::kernel::SweepKernel;
use crate::cpu::linrood::{
    self, LinRoodBooks, LinRoodCoefficients, LinRoodKernel, LinRoodPlanes, PanelFaces, linrood_kernels,
};
use crate::cpu::seams::{SeamCoefficients, SeamLine};
use crate::cpu::transfers::TransferPlanes;
use crate::cpu::vertical_dispatch::VerticalDispatch;
use crate::cpu::workspace::Workspace;
use crate::cpu::{budget, coefficients, march, rows, seams};
use crate::scheme::{
    CellScheme, Fv3Hord8, Fv3Hord13, LinRoodQuasi, LinRoodRule, PpmCw84, PpmHuynhPd, PpmLimiter, PpmMonotone, PpmNone,
    Scheme, SlopesLimiter, SlopesMonotone, SlopesNone, SlopesPositivity, SweptMpPd, SweptUniversal, Upwind,
};
use crate::shape::TileShape;

/// Loops compiled for one precision. Implemented for `f32` and `f64` only; call them through the functions of
/// [`cpu`](crate::cpu) and [`scheme`](crate::scheme).
pub trait Dispatch: VerticalDispatch {
    #[doc(hidden)]
    fn sweep_kernel(scheme: Scheme) -> &'static dyn SweepKernel<Self>
    where
        Self: crate::Scalar;

    #[doc(hidden)]
    fn prepare_x(
        shape: &TileShape,
        air_mass: &mut [Self],
        face_flux: &[Self],
        scale: Self,
        ends: [FaceState; 2],
        out: &mut FaceCoefficients<Self>,
    ) -> SweepStats;

    #[doc(hidden)]
    fn prepare_y(
        shape: &TileShape,
        air_mass: &mut [Self],
        face_flux: &[Self],
        scale: Self,
        ends: [FaceState; 2],
        out: &mut FaceCoefficients<Self>,
    ) -> SweepStats;

    #[doc(hidden)]
    fn prepare_z(
        width: usize,
        nk: usize,
        air_mass: &mut [Self],
        face_flux: &[Self],
        scale: Self,
        out: &mut ColumnCoefficients<Self>,
    ) -> SweepStats;

    #[doc(hidden)]
    fn prepare_seam(
        air_mass: &[Self],
        face_flux: &[Self],
        scale: Self,
        line: &SeamLine<Self>,
        out: &mut SeamCoefficients<Self>,
    ) -> SweepStats;

    #[doc(hidden)]
    fn outflow_budget(shape: &TileShape, air_mass: &[Self], fluxes: LevelFluxes<Self>, scale: Self) -> OutflowBudget;

    #[doc(hidden)]
    fn linrood_kernel(rule: LinRoodRule) -> &'static dyn LinRoodKernel<Self>
    where
        Self: crate::Scalar;

    #[doc(hidden)]
    fn linrood_prepare(
        shape: &TileShape,
        air_mass: &mut [Self],
        face_flux: [&[Self]; 2],
        scale: Self,
        out: &mut LinRoodCoefficients<Self>,
    ) -> SweepStats;

    #[doc(hidden)]
    fn linrood_parts(shape: &TileShape, content: &[Self], planes: &mut LinRoodPlanes<'_, Self>);

    #[doc(hidden)]
    fn linrood_limit(shape: &TileShape, planes: &mut LinRoodPlanes<'_, Self>);

    #[doc(hidden)]
    fn linrood_update(
        shape: &TileShape,
        content: &mut [Self],
        planes: &LinRoodPlanes<'_, Self>,
        books: Option<LinRoodBooks<'_, Self>>,
    );
}

/// Forwards a call to a function compiled once per processor class.
macro_rules! per_processor {
    (($($arg:ident: $type:ty),* $(,)?) -> $result:ty, $call:expr) => {{
        #[multiversion::multiversion(targets(
            "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl",
            "x86_64+avx2"
        ))]
        fn compiled($($arg: $type),*) -> $result {
            $call
        }
        compiled($($arg),*)
    }};
}

pub(crate) use per_processor;

macro_rules! kernel {
    ($real:ty, $width:literal: $($scheme:ty),*) => {
        $(impl SweepKernel<$real> for $scheme {
            fn halo(&self) -> usize {
                <$scheme>::HALO
            }

            fn name(&self) -> &'static str {
                <$scheme>::NAME
            }

            fn sweep_x(
                &self,
                shape: &TileShape,
                tracer: &mut [$real],
                faces: &FaceCoefficients<$real>,
                transfers: Option<TransferPlanes<'_, $real>>,
                workspace: &mut Workspace<$real>,
            ) {
                per_processor!(
                    (
                        shape: &TileShape,
                        tracer: &mut [$real],
                        faces: &FaceCoefficients<$real>,
                        transfers: Option<TransferPlanes<'_, $real>>,
                        workspace: &mut Workspace<$real>,
                    ) -> (),
                    rows::sweep_x::<$scheme, $real>(shape, tracer, faces, transfers, workspace)
                )
            }

            fn sweep_y(
                &self,
                shape: &TileShape,
                tracer: &mut [$real],
                faces: &FaceCoefficients<$real>,
                transfers: Option<TransferPlanes<'_, $real>>,
                _workspace: &mut Workspace<$real>,
            ) {
                per_processor!(
                    (
                        shape: &TileShape,
                        tracer: &mut [$real],
                        faces: &FaceCoefficients<$real>,
                        transfers: Option<TransferPlanes<'_, $real>>,
                    ) -> (),
                    march::sweep_y::<$scheme, $real, $width>(shape, tracer, faces, transfers)
                )
            }

            fn sweep_z(&self, width: usize, nk: usize, tracer: &mut [$real], faces: &ColumnCoefficients<$real>) {
                per_processor!(
                    (width: usize, nk: usize, tracer: &mut [$real], faces: &ColumnCoefficients<$real>) -> (),
                    march::sweep_z::<$scheme, $real, $width>(width, nk, tracer, faces)
                )
            }

            fn seam_fluxes(
                &self,
                tracer: &[$real],
                line: &SeamLine<$real>,
                seam: &SeamCoefficients<$real>,
                out: &mut [$real],
                workspace: &mut Workspace<$real>,
            ) {
                per_processor!(
                    (
                        tracer: &[$real],
                        line: &SeamLine<$real>,
                        seam: &SeamCoefficients<$real>,
                        out: &mut [$real],
                        workspace: &mut Workspace<$real>,
                    ) -> (),
                    seams::seam_fluxes::<$scheme, $real, $width>(tracer, line, seam, out, workspace)
                )
            }
        })*
    };
}

macro_rules! dispatch {
    ($real:ty, $width:literal) => {
        kernel!(
            $real, $width: Upwind, SlopesNone, SlopesMonotone, SlopesPositivity, PpmNone, PpmMonotone, PpmCw84,
            PpmHuynhPd, LinRoodQuasi, Fv3Hord8, Fv3Hord13, SweptUniversal, SweptMpPd
        );
        linrood_kernels!($real, $width: PpmNone, LinRoodQuasi, Fv3Hord8, PpmCw84, PpmHuynhPd);

        impl Dispatch for $real {
            fn sweep_kernel(scheme: Scheme) -> &'static dyn SweepKernel<$real> {
                match scheme {
                    Scheme::Upwind => &Upwind,
                    Scheme::Slopes(SlopesLimiter::None) => &SlopesNone,
                    Scheme::Slopes(SlopesLimiter::Monotone) => &SlopesMonotone,
                    Scheme::Slopes(SlopesLimiter::Positivity) => &SlopesPositivity,
                    Scheme::Ppm(PpmLimiter::None) => &PpmNone,
                    Scheme::Ppm(PpmLimiter::Monotone) => &PpmMonotone,
                    Scheme::Ppm(PpmLimiter::Cw84) => &PpmCw84,
                    Scheme::Ppm(PpmLimiter::HuynhPd) => &PpmHuynhPd,
                    Scheme::Ppm(PpmLimiter::Mono) => &Fv3Hord8,
                    Scheme::Ppm(PpmLimiter::Pd) => &Fv3Hord13,
                    Scheme::LinRood(operator) => match operator.rule {
                        LinRoodRule::None => &PpmNone,
                        LinRoodRule::Quasi => &LinRoodQuasi,
                        LinRoodRule::Mono => &Fv3Hord8,
                        LinRoodRule::Cw84 => &PpmCw84,
                        LinRoodRule::HuynhPd => &PpmHuynhPd,
                    },
                    Scheme::Ppm(PpmLimiter::Universal) => &SweptUniversal,
                    Scheme::Ppm(PpmLimiter::MpPd) => &SweptMpPd,
                }
            }

            fn linrood_kernel(rule: LinRoodRule) -> &'static dyn LinRoodKernel<$real> {
                match rule {
                    LinRoodRule::None => &PpmNone,
                    LinRoodRule::Quasi => &LinRoodQuasi,
                    LinRoodRule::Mono => &Fv3Hord8,
                    LinRoodRule::Cw84 => &PpmCw84,
                    LinRoodRule::HuynhPd => &PpmHuynhPd,
                }
            }

            fn linrood_prepare(
                shape: &TileShape,
                air_mass: &mut [$real],
                face_flux: [&[$real]; 2],
                scale: $real,
                out: &mut LinRoodCoefficients<$real>,
            ) -> SweepStats {
                per_processor!(
                    (
                        shape: &TileShape,
                        air_mass: &mut [$real],
                        face_flux: [&[$real]; 2],
                        scale: $real,
                        out: &mut LinRoodCoefficients<$real>,
                    ) -> SweepStats,
                    linrood::prepare::<$real, $width>(shape, air_mass, face_flux, scale, out)
                )
            }

            fn linrood_parts(shape: &TileShape, content: &[$real], planes: &mut LinRoodPlanes<'_, $real>) {
                per_processor!(
                    (shape: &TileShape, content: &[$real], planes: &mut LinRoodPlanes<'_, $real>) -> (),
                    linrood::parts::<$real>(shape, content, planes)
                )
            }

            fn linrood_limit(shape: &TileShape, planes: &mut LinRoodPlanes<'_, $real>) {
                per_processor!(
                    (shape: &TileShape, planes: &mut LinRoodPlanes<'_, $real>) -> (),
                    linrood::limit::<$real>(shape, planes)
                )
            }

            fn linrood_update(
                shape: &TileShape,
                content: &mut [$real],
                planes: &LinRoodPlanes<'_, $real>,
                books: Option<LinRoodBooks<'_, $real>>,
            ) {
                per_processor!(
                    (
                        shape: &TileShape,
                        content: &mut [$real],
                        planes: &LinRoodPlanes<'_, $real>,
                        books: Option<LinRoodBooks<'_, $real>>,
                    ) -> (),
                    linrood::update::<$real>(shape, content, planes, books)
                )
            }

            fn prepare_x(
                shape: &TileShape,
                air_mass: &mut [$real],
                face_flux: &[$real],
                scale: $real,
                ends: [FaceState; 2],
                out: &mut FaceCoefficients<$real>,
            ) -> SweepStats {
                per_processor!(
                    (
                        shape: &TileShape,
                        air_mass: &mut [$real],
                        face_flux: &[$real],
                        scale: $real,
                        ends: [FaceState; 2],
                        out: &mut FaceCoefficients<$real>,
                    ) -> SweepStats,
                    coefficients::prepare_x::<$real, $width>(shape, air_mass, face_flux, scale, ends, out)
                )
            }

            fn prepare_y(
                shape: &TileShape,
                air_mass: &mut [$real],
                face_flux: &[$real],
                scale: $real,
                ends: [FaceState; 2],
                out: &mut FaceCoefficients<$real>,
            ) -> SweepStats {
                per_processor!(
                    (
                        shape: &TileShape,
                        air_mass: &mut [$real],
                        face_flux: &[$real],
                        scale: $real,
                        ends: [FaceState; 2],
                        out: &mut FaceCoefficients<$real>,
                    ) -> SweepStats,
                    coefficients::prepare_y::<$real, $width>(shape, air_mass, face_flux, scale, ends, out)
                )
            }

            fn prepare_z(
                width: usize,
                nk: usize,
                air_mass: &mut [$real],
                face_flux: &[$real],
                scale: $real,
                out: &mut ColumnCoefficients<$real>,
            ) -> SweepStats {
                per_processor!(
                    (
                        width: usize,
                        nk: usize,
                        air_mass: &mut [$real],
                        face_flux: &[$real],
                        scale: $real,
                        out: &mut ColumnCoefficients<$real>,
                    ) -> SweepStats,
                    coefficients::prepare_z::<$real, $width>(width, nk, air_mass, face_flux, scale, out)
                )
            }

            fn prepare_seam(
                air_mass: &[$real],
                face_flux: &[$real],
                scale: $real,
                line: &SeamLine<$real>,
                out: &mut SeamCoefficients<$real>,
            ) -> SweepStats {
                per_processor!(
                    (
                        air_mass: &[$real],
                        face_flux: &[$real],
                        scale: $real,
                        line: &SeamLine<$real>,
                        out: &mut SeamCoefficients<$real>,
                    ) -> SweepStats,
                    seams::prepare_seam::<$real, $width>(air_mass, face_flux, scale, line, out)
                )
            }

            fn outflow_budget(
                shape: &TileShape,
                air_mass: &[$real],
                fluxes: LevelFluxes<$real>,
                scale: $real,
            ) -> OutflowBudget {
                per_processor!(
                    (
                        shape: &TileShape,
                        air_mass: &[$real],
                        fluxes: LevelFluxes<$real>,
                        scale: $real,
                    ) -> OutflowBudget,
                    budget::outflow_budget::<$real, $width>(shape, air_mass, fluxes, scale)
                )
            }
        }
    };
}

// A cache line of values: two vectors under AVX2, one under AVX-512.
dispatch!(f32, 16);
dispatch!(f64, 8);
