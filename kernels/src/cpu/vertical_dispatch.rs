//! Compiled instances of the loops over columns with spline profiles and of fused sweeps, as those of
//! [`dispatch`](super::dispatch).

use crate::cpu::coefficients::ColumnCoefficients;
use crate::cpu::dispatch::per_processor;
use crate::cpu::fusion::FusedColumns;
use crate::cpu::spline::{SplineCoefficients, SplineWorkspace};
use crate::cpu::{fusion, spline};
use crate::scheme::Sign;

/// Loops compiled for one precision; see [`Dispatch`](super::Dispatch).
pub trait VerticalDispatch: Sized {
    #[doc(hidden)]
    fn fuse_columns(
        width: usize,
        nk: usize,
        air_mass: &[Self],
        face_flux: &[Self],
        scale: Self,
        parts: [&mut [Self]; 2],
    ) -> FusedColumns;

    #[doc(hidden)]
    fn prepare_spline(width: usize, nk: usize, air_mass: &[Self], out: &mut SplineCoefficients<Self>);

    #[doc(hidden)]
    fn sweep_spline(
        sign: Sign,
        width: usize,
        nk: usize,
        tracer: &mut [Self],
        faces: &ColumnCoefficients<Self>,
        spline: &SplineCoefficients<Self>,
        workspace: &mut SplineWorkspace<Self>,
    );
}

macro_rules! dispatch {
    ($real:ty, $width:literal) => {
        impl VerticalDispatch for $real {
            fn fuse_columns(
                width: usize,
                nk: usize,
                air_mass: &[$real],
                face_flux: &[$real],
                scale: $real,
                parts: [&mut [$real]; 2],
            ) -> FusedColumns {
                per_processor!(
                    (
                        width: usize,
                        nk: usize,
                        air_mass: &[$real],
                        face_flux: &[$real],
                        scale: $real,
                        parts: [&mut [$real]; 2],
                    ) -> FusedColumns,
                    fusion::fuse_columns::<$real, $width>(width, nk, air_mass, face_flux, scale, parts)
                )
            }

            fn prepare_spline(width: usize, nk: usize, air_mass: &[$real], out: &mut SplineCoefficients<$real>) {
                per_processor!(
                    (width: usize, nk: usize, air_mass: &[$real], out: &mut SplineCoefficients<$real>) -> (),
                    spline::prepare_spline::<$real, $width>(width, nk, air_mass, out)
                )
            }

            fn sweep_spline(
                sign: Sign,
                width: usize,
                nk: usize,
                tracer: &mut [$real],
                faces: &ColumnCoefficients<$real>,
                spline: &SplineCoefficients<$real>,
                workspace: &mut SplineWorkspace<$real>,
            ) {
                per_processor!(
                    (
                        sign: Sign,
                        width: usize,
                        nk: usize,
                        tracer: &mut [$real],
                        faces: &ColumnCoefficients<$real>,
                        spline: &SplineCoefficients<$real>,
                        workspace: &mut SplineWorkspace<$real>,
                    ) -> (),
                    spline::sweep_spline::<$real, $width>(sign, width, nk, tracer, faces, spline, workspace)
                )
            }
        }
    };
}

dispatch!(f32, 16);
dispatch!(f64, 8);
