//! Sweeps along j and k: a register march over one cache line of columns.

use crate::cpu::{ColumnCoefficients, FaceCoefficients, TransferPlanes};
use crate::lanes::Lanes;
use crate::real::{Real, Scalar};
use crate::scheme::{CellScheme, FluxKind};
use crate::shape::TileShape;

/// One cache line of columns: element `row` of an array cut into lines is at `row · stride + line`.
struct Columns<'a, R, const W: usize> {
    tracer: &'a mut [[R; W]],
    reciprocal: &'a [[R; W]],
    courant: &'a [[R; W]],
    flux: &'a [[R; W]],
    line: usize,
    stride: usize,
}

impl<R: Scalar, const W: usize> Columns<'_, R, W> {
    #[inline(always)]
    fn at(&self, row: usize) -> usize {
        row * self.stride + self.line
    }

    #[inline(always)]
    fn ratio(&self, row: usize) -> Lanes<R, W> {
        let at = self.at(row);
        Lanes(self.tracer[at]) * Lanes(self.reciprocal[at])
    }

    #[inline(always)]
    fn face<S: CellScheme>(&self, row: usize, below: &Cell<Lanes<R, W>>, above: &Cell<Lanes<R, W>>) -> Lanes<R, W> {
        let at = self.at(row);
        S::flux(Lanes(self.flux[at]), Lanes(self.courant[at]), below.q, below.profile, above.q, above.profile)
    }

    /// The flux of the face below the middle cell of a full window.
    #[inline(always)]
    fn face_within<S: CellScheme>(
        &self,
        row: usize,
        below: &Cell<Lanes<R, W>>,
        above: &Cell<Lanes<R, W>>,
        window: &Window<R, W>,
    ) -> Lanes<R, W> {
        if S::FLUX == FluxKind::Swept {
            let at = self.at(row);
            S::face(Lanes(self.flux[at]), Lanes(self.courant[at]), window.first, window.w)
        } else {
            self.face::<S>(row, below, above)
        }
    }

    #[inline(always)]
    fn add(&mut self, row: usize, amount: Lanes<R, W>) {
        let at = self.at(row);
        self.tracer[at] = (Lanes(self.tracer[at]) + amount).0;
    }
}

/// Mean and profile of one cell.
#[derive(Clone, Copy)]
struct Cell<V> {
    q: V,
    profile: (V, V),
}

impl<V: Real> Cell<V> {
    #[inline(always)]
    fn flat(q: V) -> Self {
        Self { q, profile: (V::lit(0.0), V::lit(0.0)) }
    }
}

/// Cells a profile looks ahead.
#[inline(always)]
const fn ahead<S: CellScheme>() -> usize {
    S::HALO - 1
}

/// The moving window of a march: mixing ratios around the next cell and of the one that left it last, its half slope, the
/// edge below it.
struct Window<R, const W: usize> {
    first: Lanes<R, W>,
    w: [Lanes<R, W>; 5],
    slope: Lanes<R, W>,
    edge: Lanes<R, W>,
}

impl<R: Scalar, const W: usize> Window<R, W> {
    /// A window that is never moved.
    #[inline(always)]
    fn idle() -> Self {
        Self { first: Lanes::lit(0.0), w: [Lanes::lit(0.0); 5], slope: Lanes::lit(0.0), edge: Lanes::lit(0.0) }
    }

    /// A window whose next step has `row` in the middle.
    #[inline(always)]
    fn before<S: CellScheme>(columns: &Columns<R, W>, row: usize) -> Self {
        let n = ahead::<S>();
        let mut window = Self::idle();
        // The middle of the next step still is at index 3.
        for offset in 0..2 * n {
            window.w[3 + offset - n] = columns.ratio(row + offset - n);
        }
        if n == 2 {
            let w = window.w;
            let below = S::slope(w[1], w[2], w[3]);
            window.slope = S::slope(w[2], w[3], w[4]);
            window.edge = S::edge(w[1], w[2], w[3], w[4], below, window.slope);
        }
        window
    }

    /// Moves up by one cell, taking in the mixing ratio `next` of the farthest cell ahead; returns the middle cell.
    #[inline(always)]
    fn step<S: CellScheme>(&mut self, next: Lanes<R, W>) -> Cell<Lanes<R, W>> {
        let n = ahead::<S>();
        let mut w = [self.w[1], self.w[2], self.w[3], self.w[4], self.w[4]];
        w[2 + n] = next;
        self.first = self.w[0];
        self.w = w;
        if n == 2 {
            let slope = S::slope(w[2], w[3], w[4]);
            let edge = S::edge(w[1], w[2], w[3], w[4], self.slope, slope);
            let profile = S::limit(w, self.edge, edge);
            (self.slope, self.edge) = (slope, edge);
            Cell { q: w[2], profile }
        } else {
            Cell { q: w[2], profile: S::profile(w) }
        }
    }
}

#[inline(always)]
pub(crate) fn sweep_y<S: CellScheme, R: Scalar, const W: usize>(
    shape: &TileShape,
    tracer: &mut [R],
    faces: &FaceCoefficients<R>,
    transfers: Option<TransferPlanes<'_, R>>,
) {
    assert!(shape.halo >= S::HALO, "halo too narrow for the scheme");
    let len = shape.plane_len();
    let (first, last) = (shape.halo / W, (shape.halo + shape.ni - 1) / W);
    let mut columns = Columns {
        tracer: tracer[..len].as_chunks_mut::<W>().0,
        reciprocal: faces.reciprocal[..len].as_chunks::<W>().0,
        courant: faces.courant[..len].as_chunks::<W>().0,
        flux: faces.flux[..len].as_chunks::<W>().0,
        line: first,
        stride: shape.pitch / W,
    };
    match transfers {
        None => {
            while columns.line <= last {
                march_y::<S, R, W>(&mut columns, shape.halo, shape.nj, |_, _, _| {});
                columns.line += 1;
            }
        }
        Some(TransferPlanes { gain, through }) => {
            let (gain, through) = (gain[..len].as_chunks_mut::<W>().0, through[..len].as_chunks_mut::<W>().0);
            while columns.line <= last {
                march_y::<S, R, W>(&mut columns, shape.halo, shape.nj, |at, inflow, outflow| {
                    gain[at] = (Lanes(gain[at]) + (inflow - outflow)).0;
                    through[at] = (Lanes(through[at]) + (inflow + outflow)).0;
                });
                columns.line += 1;
            }
        }
    }
}

/// Cells `halo − 1 ..= halo + nj` get profiles, the faces between them fluxes, the inner cells new values. The first step
/// also takes the flux of the lowest face from the halo cell below it. `book` is told the place of each cell and what
/// enters and leaves it.
#[inline(always)]
fn march_y<S: CellScheme, R: Scalar, const W: usize>(
    columns: &mut Columns<R, W>,
    halo: usize,
    nj: usize,
    mut book: impl FnMut(usize, Lanes<R, W>, Lanes<R, W>),
) {
    let n = ahead::<S>();
    let mut window = Window::before::<S>(columns, halo - 1);
    let mut cell = window.step::<S>(columns.ratio(halo - 1 + n));
    let mut inflow = Lanes::lit(0.0);
    for row in halo..halo + nj + 1 {
        let next = window.step::<S>(columns.ratio(row + n));
        let outflow = columns.face_within::<S>(row, &cell, &next, &window);
        // Behind the window: nothing reads the old value any more.
        columns.add(row - 1, inflow - outflow);
        book(columns.at(row - 1), inflow, outflow);
        (cell, inflow) = (next, outflow);
    }
}

#[inline(always)]
pub(crate) fn sweep_z<S: CellScheme, R: Scalar, const W: usize>(
    width: usize,
    nk: usize,
    tracer: &mut [R],
    faces: &ColumnCoefficients<R>,
) {
    assert_eq!(width % TileShape::PITCH_UNIT, 0, "column blocks are whole cache lines wide");
    let len = nk * width;
    let mut columns = Columns {
        tracer: tracer[..len].as_chunks_mut::<W>().0,
        reciprocal: faces.reciprocal[..len].as_chunks::<W>().0,
        courant: faces.courant[..len].as_chunks::<W>().0,
        flux: faces.flux[..len].as_chunks::<W>().0,
        line: 0,
        stride: width / W,
    };
    while columns.line < columns.stride {
        march_z::<S, R, W>(&mut columns, nk);
        columns.line += 1;
    }
}

/// Cells without a full window above and below are flat, as are both cells of a face without six cells around it where the
/// scheme needs them; the top and the bottom are closed.
#[inline(always)]
fn march_z<S: CellScheme, R: Scalar, const W: usize>(columns: &mut Columns<R, W>, nk: usize) {
    let n = ahead::<S>();
    if nk == 0 {
        return;
    }
    if nk <= 2 * n {
        return march_flat::<S, R, W>(columns, nk);
    }
    // The window reads cells that are updated before its first step.
    let (mut window, mut inflow) = (Window::before::<S>(columns, n), Lanes::lit(0.0));
    let first = columns.ratio(n);
    let mut cell = if n == 0 { window.step::<S>(first) } else { Cell::flat(columns.ratio(0)) };
    for k in 1..n {
        let next = Cell::flat(columns.ratio(k));
        let outflow = columns.face::<S>(k, &cell, &next);
        columns.add(k - 1, inflow - outflow);
        (cell, inflow) = (next, outflow);
    }
    for k in n.max(1)..nk - n {
        let next = window.step::<S>(columns.ratio(k + n));
        // The lowest window has no cell below it.
        let outflow =
            if k > n { columns.face_within::<S>(k, &cell, &next, &window) } else { columns.face::<S>(k, &cell, &next) };
        columns.add(k - 1, inflow - outflow);
        (cell, inflow) = (next, outflow);
    }
    for k in 0..n {
        let k = nk - n + k;
        let next = Cell::flat(columns.ratio(k));
        let outflow = columns.face::<S>(k, &cell, &next);
        columns.add(k - 1, inflow - outflow);
        (cell, inflow) = (next, outflow);
    }
    columns.add(nk - 1, inflow - Lanes::lit(0.0));
}

/// Columns too short for any full window.
#[inline(always)]
fn march_flat<S: CellScheme, R: Scalar, const W: usize>(columns: &mut Columns<R, W>, nk: usize) {
    let mut cell = Cell::flat(columns.ratio(0));
    let mut inflow = Lanes::lit(0.0);
    for k in 1..nk {
        let next = Cell::flat(columns.ratio(k));
        let outflow = columns.face::<S>(k, &cell, &next);
        columns.add(k - 1, inflow - outflow);
        (cell, inflow) = (next, outflow);
    }
    columns.add(nk - 1, inflow - Lanes::lit(0.0));
}
