//! Loops of the horizontal operator of Lin & Rood (1996), one plane of one tile at a time.
//!
//! A pass over a level is: [`linrood_prepare`] for the air; for every tracer [`LinRoodKernel::inner`] on all tiles, an
//! exchange of the predictors, [`LinRoodKernel::outer`] on all tiles; for rules that keep contents non-negative
//! [`linrood_parts`], an exchange of the parts and [`linrood_limit`]; then [`linrood_update`]. Panel seams need nothing of
//! their own: both sides form each face amount from the same six cells with formulas that do not depend on the
//! direction in which they are read.

mod coefficients;
mod columns;
mod dispatch;
mod panel_faces;
mod rows;
mod update;

pub use coefficients::LinRoodCoefficients;
pub(crate) use coefficients::prepare;
pub(crate) use dispatch::linrood_kernels;
pub use panel_faces::PanelFaces;
pub(crate) use update::{limit, parts, update};

use crate::cpu::{SweepStats, Workspace};
use crate::real::Scalar;
use crate::scheme::{CellScheme, LinRood};
use crate::shape::TileShape;

/// Planes of one tracer on one tile during a pass.
#[derive(Debug)]
pub struct LinRoodPlanes<'a, R> {
    /// Mixing ratios after the inner fluxes along i alone, and along j alone. The first is needed beyond the south and the
    /// north edge, the second beyond the west and the east edge. After the outer step the second holds the part of
    /// its outgoing amounts that each cell can afford, needed one cell beyond all edges.
    pub after: [&'a mut [R]; 2],
    /// Amounts through the low-i sides and the low-j sides: of the inner step at first, then those of the pass.
    pub flux: [&'a mut [R]; 2],
}

impl<'a, R: Scalar> LinRoodPlanes<'a, R> {
    /// Planes of this kind that a tracer has on a tile.
    pub const PLANES: usize = 4;

    /// From the four planes of a tile, one behind the other.
    pub fn new(shape: &TileShape, planes: &'a mut [R]) -> Self {
        let mut planes = planes.chunks_exact_mut(shape.plane_len());
        let mut plane = || planes.next().expect("four planes");
        Self { after: [plane(), plane()], flux: [plane(), plane()] }
    }
}

/// Sums over passes of one tracer in one plane, shaped like it.
#[derive(Debug)]
pub struct LinRoodBooks<'a, R> {
    /// What the cell has gained.
    pub gain: &'a mut [R],
    /// Amounts through its two faces along i, positive toward larger i.
    pub along_i: &'a mut [R],
    /// Amounts through its two faces along j, positive toward larger j.
    pub along_j: &'a mut [R],
}

/// Inner and outer step of one rule in one precision.
///
/// All sizes are the caller's to get right: a slice that is too short or a halo narrower than 3 cells panics.
pub trait LinRoodKernel<R: Scalar>: Send + Sync {
    /// Inner fluxes along both axes from `content` (kg, halo filled beyond all four edges), and both predictors.
    fn inner(
        &self,
        shape: &TileShape,
        panel: &PanelFaces,
        content: &[R],
        coefficients: &LinRoodCoefficients<R>,
        planes: &mut LinRoodPlanes<'_, R>,
        workspace: &mut Workspace<R>,
    );

    /// Outer fluxes from the predictors, halo filled; the fluxes become the mean of inner and outer ones.
    fn outer(
        &self,
        shape: &TileShape,
        panel: &PanelFaces,
        coefficients: &LinRoodCoefficients<R>,
        planes: &mut LinRoodPlanes<'_, R>,
        workspace: &mut Workspace<R>,
    );
}

#[inline(always)]
pub(crate) fn inner<S: CellScheme, R: Scalar, const W: usize>(
    shape: &TileShape,
    panel: &PanelFaces,
    content: &[R],
    coefficients: &LinRoodCoefficients<R>,
    planes: &mut LinRoodPlanes<'_, R>,
    workspace: &mut Workspace<R>,
) {
    assert!(shape.halo >= S::HALO && S::HALO == LinRood::HALO, "halo too narrow for the operator");
    columns::inner::<S, R, W>(shape, panel, content, coefficients, planes);
    rows::inner::<S, R>(shape, panel, content, coefficients, planes, workspace);
}

#[inline(always)]
pub(crate) fn outer<S: CellScheme, R: Scalar, const W: usize>(
    shape: &TileShape,
    panel: &PanelFaces,
    coefficients: &LinRoodCoefficients<R>,
    planes: &mut LinRoodPlanes<'_, R>,
    workspace: &mut Workspace<R>,
) {
    columns::outer::<S, R, W>(shape, panel, coefficients, planes);
    rows::outer::<S, R>(shape, panel, coefficients, planes, workspace);
}

/// Coefficients of a pass over one plane; advances the interior air mass.
///
/// `face_flux` holds the air through the low-i and the low-j side of every cell, positive toward larger index, of which
/// `scale` times passes. The halo of `air_mass` must be filled beyond all four edges. Each clamped face is counted
/// by the tile that holds the donor.
pub fn linrood_prepare<R: Scalar>(
    shape: &TileShape,
    air_mass: &mut [R],
    face_flux: [&[R]; 2],
    scale: R,
    out: &mut LinRoodCoefficients<R>,
) -> SweepStats {
    R::linrood_prepare(shape, air_mass, face_flux, scale, out)
}

/// What part of its outgoing amounts each interior cell can afford, 1 where it has enough.
pub fn linrood_parts<R: Scalar>(shape: &TileShape, content: &[R], planes: &mut LinRoodPlanes<'_, R>) {
    R::linrood_parts(shape, content, planes);
}

/// Reduces the amounts to what their donors can afford; both sides of a face get the same bits.
pub fn linrood_limit<R: Scalar>(shape: &TileShape, planes: &mut LinRoodPlanes<'_, R>) {
    R::linrood_limit(shape, planes);
}

/// New contents of the interior cells.
pub fn linrood_update<R: Scalar>(
    shape: &TileShape,
    content: &mut [R],
    planes: &LinRoodPlanes<'_, R>,
    books: Option<LinRoodBooks<'_, R>>,
) {
    R::linrood_update(shape, content, planes, books);
}
