//! Sweep along i: a few padded rows at a time, one short loop per quantity.

use crate::cpu::workspace::{GUARD, Workspace};
use crate::cpu::{FaceCoefficients, TransferPlanes};
use crate::real::Scalar;
use crate::scheme::{CellScheme, FluxKind};
use crate::shape::TileShape;

/// Rows are contiguous including their halos and padding, so a batch of rows is one long row; faces that are not faces
/// of the tile carry no flux. All trip counts are multiples of a cache line.
#[inline(always)]
pub(crate) fn sweep_x<S: CellScheme, R: Scalar>(
    shape: &TileShape,
    tracer: &mut [R],
    faces: &FaceCoefficients<R>,
    mut transfers: Option<TransferPlanes<'_, R>>,
    workspace: &mut Workspace<R>,
) {
    assert!(shape.halo >= S::HALO, "halo too narrow for the scheme");
    let len = shape.plane_len();
    let (tracer, reciprocal) = (&mut tracer[..len], &faces.reciprocal[..len]);
    let (courant, flux) = (&faces.courant[..len], &faces.flux[..len]);
    assert!(workspace.batch() >= shape.pitch, "workspace made for narrower tiles");
    let batch = workspace.batch() / shape.pitch * shape.pitch;
    let (first, end) = (shape.halo * shape.pitch, (shape.halo + shape.nj) * shape.pitch);
    let mut start = first;
    while start < end {
        let range = start..end.min(start + batch);
        rows::<S, R>(
            &mut tracer[range.clone()],
            &reciprocal[range.clone()],
            &courant[range.clone()],
            &flux[range.clone()],
            transfers.as_mut().map(|planes| planes.part(range.clone())),
            workspace.row_buffers(),
        );
        start = range.end;
    }
}

#[inline(always)]
fn rows<S: CellScheme, R: Scalar>(
    rm: &mut [R],
    r: &[R],
    c: &[R],
    ft: &[R],
    transfers: Option<TransferPlanes<'_, R>>,
    buffers: [&mut [R]; 6],
) {
    const G: usize = GUARD;
    let n = rm.len();
    let (r, c, ft) = (&r[..n], &c[..n], &ft[..n]);
    let [q, h, e, l, u, p] = buffers;
    {
        let q = &mut q[G..G + n];
        for i in 0..n {
            q[i] = rm[i] * r[i];
        }
    }
    let (qmm, qm, q0, qp, qpp) = (&q[G - 2..][..n], &q[G - 1..][..n], &q[G..][..n], &q[G + 1..][..n], &q[G + 2..][..n]);
    if S::HAS_SLOPES {
        let h = &mut h[G..G + n];
        for i in 0..n {
            h[i] = S::slope(qm[i], q0[i], qp[i]);
        }
    }
    if S::HAS_EDGES {
        // Edge i lies between cells i − 1 and i.
        let (hm, h0) = (&h[G - 1..][..n], &h[G..][..n]);
        let e = &mut e[G..G + n];
        for i in 0..n {
            e[i] = S::edge(qmm[i], qm[i], q0[i], qp[i], hm[i], h0[i]);
        }
    }
    if matches!(S::FLUX, FluxKind::Linear | FluxKind::Parabola) {
        let (e0, ep) = (&e[G..][..n], &e[G + 1..][..n]);
        let (l, u) = (&mut l[G..G + n], &mut u[G..G + n]);
        for i in 0..n {
            let (low, high) = S::limit([qmm[i], qm[i], q0[i], qp[i], qpp[i]], e0[i], ep[i]);
            l[i] = low;
            u[i] = high;
        }
    }
    if S::FLUX == FluxKind::Swept {
        let first = &q[G - 3..][..n];
        let p = &mut p[G..G + n];
        for i in 0..n {
            p[i] = S::face(ft[i], c[i], first[i], [qmm[i], qm[i], q0[i], qp[i], qpp[i]]);
        }
    } else {
        let (lm, l0, um, u0) = (&l[G - 1..][..n], &l[G..][..n], &u[G - 1..][..n], &u[G..][..n]);
        let p = &mut p[G..G + n];
        for i in 0..n {
            p[i] = S::flux(ft[i], c[i], qm[i], (lm[i], um[i]), q0[i], (l0[i], u0[i]));
        }
    }
    let (p0, pp) = (&p[G..][..n], &p[G + 1..][..n]);
    for i in 0..n {
        rm[i] += p0[i] - pp[i];
    }
    if let Some(TransferPlanes { gain, through }) = transfers {
        let (gain, through) = (&mut gain[..n], &mut through[..n]);
        for i in 0..n {
            gain[i] += p0[i] - pp[i];
            through[i] += p0[i] + pp[i];
        }
    }
}
