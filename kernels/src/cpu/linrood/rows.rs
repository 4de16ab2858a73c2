//! Faces along i: a few padded rows at a time, one short loop per quantity.

use core::ops::Range;

use crate::cpu::linrood::panel_faces::{EdgeStencil, PanelFaces};
use crate::cpu::linrood::{LinRoodCoefficients, LinRoodPlanes};
use crate::cpu::workspace::{GUARD, Workspace};
use crate::numerics::mean_amount;
use crate::real::Scalar;
use crate::scheme::CellScheme;
use crate::shape::TileShape;

const G: usize = GUARD;

/// The next batch of whole interior rows after position `start`, or the first one; loops around it stay free of closures, which
/// the compiler would not compile for the processor class of their caller.
#[inline(always)]
fn batch_after(shape: &TileShape, batch: usize, start: Option<usize>) -> Option<Range<usize>> {
    assert!(batch >= shape.pitch, "workspace made for narrower tiles");
    let batch = batch / shape.pitch * shape.pitch;
    let (first, end) = (shape.halo * shape.pitch, (shape.halo + shape.nj) * shape.pitch);
    let start = start.unwrap_or(first);
    (start < end).then(|| start..end.min(start + batch))
}

#[inline(always)]
pub(super) fn inner<S: CellScheme, R: Scalar>(
    shape: &TileShape,
    panel: &PanelFaces,
    content: &[R],
    coefficients: &LinRoodCoefficients<R>,
    planes: &mut LinRoodPlanes<'_, R>,
    workspace: &mut Workspace<R>,
) {
    let mut next = batch_after(shape, workspace.batch(), None);
    while let Some(range) = next {
        next = batch_after(shape, workspace.batch(), Some(range.end));
        let n = range.len();
        let buffers = workspace.row_buffers();
        let (rm, r) = (&content[range.clone()], &coefficients.reciprocal[range.clone()]);
        {
            let q = &mut buffers[0][G..G + n];
            for i in 0..n {
                q[i] = rm[i] * r[i];
            }
        }
        let (c, ft) = (&coefficients.courant[0][range.clone()], &coefficients.flux[0][range.clone()]);
        let p = amounts::<S, R>(shape, panel, c, ft, buffers);
        let (p0, pp) = (&p[G..][..n], &p[G + 1..][..n]);
        let predicted = &coefficients.predicted[0][range.clone()];
        let (flux, after) = (&mut planes.flux[0][range.clone()], &mut planes.after[0][range]);
        for i in 0..n {
            flux[i] = p0[i];
            after[i] = (rm[i] + (p0[i] - pp[i])) * predicted[i];
        }
    }
}

#[inline(always)]
pub(super) fn outer<S: CellScheme, R: Scalar>(
    shape: &TileShape,
    panel: &PanelFaces,
    coefficients: &LinRoodCoefficients<R>,
    planes: &mut LinRoodPlanes<'_, R>,
    workspace: &mut Workspace<R>,
) {
    let mut next = batch_after(shape, workspace.batch(), None);
    while let Some(range) = next {
        next = batch_after(shape, workspace.batch(), Some(range.end));
        let n = range.len();
        let buffers = workspace.row_buffers();
        buffers[0][G..G + n].copy_from_slice(&planes.after[1][range.clone()]);
        let (c, ft) = (&coefficients.courant[0][range.clone()], &coefficients.flux[0][range.clone()]);
        let p = amounts::<S, R>(shape, panel, c, ft, buffers);
        let (p0, flux) = (&p[G..][..n], &mut planes.flux[0][range]);
        for i in 0..n {
            flux[i] = mean_amount(flux[i], p0[i]);
        }
    }
}

/// Face amounts of rows whose mixing ratios are in the first buffer; the last buffer holds them.
#[inline(always)]
fn amounts<'a, S: CellScheme, R: Scalar>(
    shape: &TileShape,
    panel: &PanelFaces,
    c: &[R],
    ft: &[R],
    buffers: [&'a mut [R]; 6],
) -> &'a [R] {
    let n = c.len();
    let (c, ft) = (&c[..n], &ft[..n]);
    let [q, h, e, l, u, p] = buffers;
    let q = &*q;
    let (qmm, qm, q0, qp, qpp) = (&q[G - 2..][..n], &q[G - 1..][..n], &q[G..][..n], &q[G + 1..][..n], &q[G + 2..][..n]);
    if S::HAS_SLOPES {
        let h = &mut h[G..G + n];
        for i in 0..n {
            h[i] = S::slope(qm[i], q0[i], qp[i]);
        }
    }
    {
        // Edge i lies between cells i − 1 and i.
        let (hm, h0) = (&h[G - 1..][..n], &h[G..][..n]);
        let e = &mut e[G..G + n];
        for i in 0..n {
            e[i] = S::edge(qmm[i], qm[i], q0[i], qp[i], hm[i], h0[i]);
        }
    }
    for EdgeStencil { face, value } in panel.along_i() {
        for at in (*face..n).step_by(shape.pitch) {
            e[G + at] = value.of(qmm[at], qm[at], q0[at], qp[at]);
        }
    }
    {
        let (e0, ep) = (&e[G..][..n], &e[G + 1..][..n]);
        let (l, u) = (&mut l[G..G + n], &mut u[G..G + n]);
        for i in 0..n {
            let (low, high) = S::limit([qmm[i], qm[i], q0[i], qp[i], qpp[i]], e0[i], ep[i]);
            l[i] = low;
            u[i] = high;
        }
    }
    let (lm, l0, um, u0) = (&l[G - 1..][..n], &l[G..][..n], &u[G - 1..][..n], &u[G..][..n]);
    {
        let p = &mut p[G..G + n];
        for i in 0..n {
            p[i] = S::flux(ft[i], c[i], qm[i], (lm[i], um[i]), q0[i], (l0[i], u0[i]));
        }
    }
    p
}
