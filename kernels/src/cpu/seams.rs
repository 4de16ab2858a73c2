//! Seams between panels: transfers evaluated in the owner's orientation, equal on both sides bit for bit.

use crate::cpu::coefficients::Tally;
use crate::cpu::workspace::SEAM_CELLS;
use crate::cpu::{AlignedBuffer, SweepStats, Workspace};
use crate::lanes::Lanes;
use crate::real::{Real, Scalar};
use crate::scheme::{CellScheme, FluxKind};

/// Which of a tile's cells come first in the stencil across a seam, read in the direction of the owner's axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StencilOrder {
    /// The tile's interior lies before the face, its halo behind it.
    InteriorFirst,
    /// The tile's halo lies before the face, its interior behind it.
    HaloFirst,
}

/// Side of a seam.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SeamSide {
    /// The panel in whose orientation the seam is evaluated; transfers leave it.
    Owner,
    /// The other panel; transfers enter it.
    Neighbour,
}

/// A stretch of a seam as one tile sees it: where its edge cells, the cells across and the faces lie in a plane.
///
/// Positions and strides count values of the padded plane; `s` runs from 0 to `len − 1` along the seam, in the same
/// direction on both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeamLine<R> {
    /// Position of the interior edge cell at `s = 0`.
    pub cell: usize,
    /// From an edge cell to the one at `s + 1`.
    pub along: isize,
    /// From an edge cell to its neighbour farther inside the tile; the halo lies in the opposite direction.
    pub inward: isize,
    /// Number of faces.
    pub len: usize,
    /// Orientation of the stencil.
    pub order: StencilOrder,
    /// Position of the face at `s = 0` in the plane of the tile's own face flux.
    pub face: usize,
    /// From a face to the one at `s + 1`.
    pub face_along: isize,
    /// Owner's flux = `face_factor` × the tile's own flux: 1 or −1.
    pub face_factor: R,
    /// Amount leaving the owner = `leaving` × owner's flux: 1 at its high edges (east, north), −1 at its low edges.
    pub leaving: R,
}

impl<R: Scalar> SeamLine<R> {
    /// Offset from the edge cell to stencil cell `x` of `2 · halo`, in the owner's orientation.
    #[inline(always)]
    fn offset(&self, x: usize, halo: usize) -> isize {
        let steps = match self.order {
            StencilOrder::InteriorFirst => halo as isize - 1 - x as isize,
            StencilOrder::HaloFirst => x as isize - halo as isize,
        };
        steps * self.inward
    }

    /// Copies the cells around the faces to rows of `stride` values, one row per position across the seam.
    #[inline(always)]
    fn gather(&self, plane: &[R], halo: usize, rows: &mut [R], stride: usize) {
        let cells = 2 * halo;
        if self.inward.unsigned_abs() == 1 {
            // The cells across the seam are neighbours in memory: one short piece per face.
            let (first, last) = (self.offset(0, halo), self.offset(cells - 1, halo));
            let mut at = self.cell.wrapping_add_signed(first.min(last));
            for s in 0..self.len {
                let piece = &plane[at..at + cells];
                for x in 0..cells {
                    rows[x * stride + s] = piece[if first < last { x } else { cells - 1 - x }];
                }
                at = at.wrapping_add_signed(self.along);
            }
            return;
        }
        for (x, row) in rows.chunks_exact_mut(stride).take(cells).enumerate() {
            let first = self.cell.wrapping_add_signed(self.offset(x, halo));
            let row = &mut row[..self.len];
            if self.along == 1 {
                row.copy_from_slice(&plane[first..first + self.len]);
            } else {
                let mut at = first;
                for value in row {
                    *value = plane[at];
                    at = at.wrapping_add_signed(self.along);
                }
            }
        }
    }
}

/// What all tracers share at the faces of one seam line, and the transfer of air.
#[derive(Debug)]
pub struct SeamCoefficients<R> {
    stride: usize,
    halo: usize,
    /// Reciprocal masses, one row per cell across the seam; rows are padded to whole cache lines.
    reciprocal: AlignedBuffer<R>,
    courant: AlignedBuffer<R>,
    flux: AlignedBuffer<R>,
    air: AlignedBuffer<R>,
}

impl<R: Scalar> SeamCoefficients<R> {
    /// Storage for seam lines of up to `len` faces and a scheme that needs `halo` (1 to 3) cells on each side.
    pub fn new(len: usize, halo: usize) -> Self {
        assert!((1..=SEAM_CELLS / 2).contains(&halo), "stencils reach one to three cells");
        let stride = len.next_multiple_of(16);
        let row = AlignedBuffer::zeros(stride);
        let reciprocal = AlignedBuffer::zeros(2 * halo * stride);
        Self { stride, halo, reciprocal, courant: row.clone(), flux: row.clone(), air: row }
    }

    /// Air leaving the owner per face, kg.
    pub fn air(&self) -> &[R] {
        &self.air
    }
}

#[inline(always)]
pub(crate) fn prepare_seam<R: Scalar, const W: usize>(
    air_mass: &[R],
    face_flux: &[R],
    scale: R,
    line: &SeamLine<R>,
    out: &mut SeamCoefficients<R>,
) -> SweepStats {
    let (halo, stride) = (out.halo, out.stride);
    assert!(line.len <= stride, "seam line longer than its storage");
    let padded = line.len.next_multiple_of(W);
    let (one, zero) = (R::lit(1.0), R::lit(0.0));
    let mut at = line.face;
    for s in 0..line.len {
        let flux = scale * (line.face_factor * face_flux[at]);
        out.flux[s] = flux;
        out.air[s] = line.leaving * flux;
        at = at.wrapping_add_signed(line.face_along);
    }
    out.flux[line.len..padded].fill(zero);
    line.gather(air_mass, halo, &mut out.reciprocal, stride);
    for row in out.reciprocal.chunks_exact_mut(stride) {
        row[line.len..padded].fill(one);
    }
    let mut tally = Tally::<R, W>::new();
    for s in (0..padded).step_by(W) {
        let mut mass = [Lanes::<R, W>::lit(0.0); 2];
        let mut reciprocal = mass;
        for x in 0..2 * halo {
            let m = Lanes::<R, W>::load(&out.reciprocal, x * stride + s);
            let r = Lanes::lit(1.0) / m;
            r.store(&mut out.reciprocal, x * stride + s);
            if x + 1 == halo {
                (mass[0], reciprocal[0]) = (m, r);
            } else if x == halo {
                (mass[1], reciprocal[1]) = (m, r);
            }
        }
        let (courant, carrier) = tally.face(Lanes::load(&out.flux, s), mass, reciprocal);
        courant.store(&mut out.courant, s);
        carrier.store(&mut out.flux, s);
    }
    tally.stats()
}

#[inline(always)]
pub(crate) fn seam_fluxes<S: CellScheme, R: Scalar, const W: usize>(
    tracer: &[R],
    line: &SeamLine<R>,
    seam: &SeamCoefficients<R>,
    out: &mut [R],
    workspace: &mut Workspace<R>,
) {
    let stride = seam.stride;
    assert!(seam.halo == S::HALO, "seam prepared for another stencil");
    let (rows, row_stride) = workspace.seam_rows();
    assert!(line.len <= stride && line.len <= row_stride, "seam line longer than its storage");
    // Compile-time row count: the gather unrolls.
    line.gather(tracer, S::HALO, rows, row_stride);
    let leaving = Lanes::<R, W>::splat(line.leaving);
    for s in (0..line.len).step_by(W) {
        // Positions 0..6 of the widest stencil; a narrower one sits in the middle.
        let mut q = [Lanes::<R, W>::lit(0.0); SEAM_CELLS];
        for x in 0..2 * S::HALO {
            let reciprocal = Lanes::load(&seam.reciprocal, x * stride + s);
            q[x + SEAM_CELLS / 2 - S::HALO] = Lanes::load(rows, x * row_stride + s) * reciprocal;
        }
        let (carrier, courant) = (Lanes::load(&seam.flux, s), Lanes::load(&seam.courant, s));
        let behind = [q[1], q[2], q[3], q[4], q[5]];
        let flux = if S::FLUX == FluxKind::Swept {
            S::face(carrier, courant, q[0], behind)
        } else {
            let left = S::profile([q[0], q[1], q[2], q[3], q[4]]);
            S::flux(carrier, courant, q[2], left, q[3], S::profile(behind))
        };
        let amount = leaving * flux;
        let n = W.min(line.len - s);
        out[s..s + n].copy_from_slice(&amount.0[..n]);
    }
}

/// Applies the transfers of a seam line to the edge cells of one side: the owner loses `amounts`, the neighbour gains
/// them. Works for air and tracers alike.
///
/// Cells at cube vertices take part in two seams: apply the lines in a fixed order.
pub fn apply_seam<R: Scalar>(plane: &mut [R], line: &SeamLine<R>, amounts: &[R], side: SeamSide) {
    let mut at = line.cell;
    for &amount in &amounts[..line.len] {
        plane[at] = match side {
            SeamSide::Owner => plane[at] - amount,
            SeamSide::Neighbour => plane[at] + amount,
        };
        at = at.wrapping_add_signed(line.along);
    }
}
