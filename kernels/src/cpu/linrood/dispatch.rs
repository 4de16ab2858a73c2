//! Compiled instances of the loops.

/// Implements [`LinRoodKernel`](super::LinRoodKernel) for cell schemes in one precision.
macro_rules! linrood_kernels {
    ($real:ty, $width:literal: $($scheme:ty),*) => {
        $(impl $crate::cpu::LinRoodKernel<$real> for $scheme {
            fn inner(
                &self,
                shape: &TileShape,
                panel: &PanelFaces,
                content: &[$real],
                coefficients: &LinRoodCoefficients<$real>,
                planes: &mut LinRoodPlanes<'_, $real>,
                workspace: &mut Workspace<$real>,
            ) {
                per_processor!(
                    (
                        shape: &TileShape,
                        panel: &PanelFaces,
                        content: &[$real],
                        coefficients: &LinRoodCoefficients<$real>,
                        planes: &mut LinRoodPlanes<'_, $real>,
                        workspace: &mut Workspace<$real>,
                    ) -> (),
                    linrood::inner::<$scheme, $real, $width>(shape, panel, content, coefficients, planes, workspace)
                )
            }

            fn outer(
                &self,
                shape: &TileShape,
                panel: &PanelFaces,
                coefficients: &LinRoodCoefficients<$real>,
                planes: &mut LinRoodPlanes<'_, $real>,
                workspace: &mut Workspace<$real>,
            ) {
                per_processor!(
                    (
                        shape: &TileShape,
                        panel: &PanelFaces,
                        coefficients: &LinRoodCoefficients<$real>,
                        planes: &mut LinRoodPlanes<'_, $real>,
                        workspace: &mut Workspace<$real>,
                    ) -> (),
                    linrood::outer::<$scheme, $real, $width>(shape, panel, coefficients, planes, workspace)
                )
            }
        })*
    };
}

pub(crate) use linrood_kernels;
