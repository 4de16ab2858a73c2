//! Vertical sweeps with spline profiles: an elimination down a column, then one march up it.

use crate::cpu::{AlignedBuffer, ColumnCoefficients};
use crate::lanes::Lanes;
use crate::numerics as nm;
use crate::real::{Real, Scalar};
use crate::scheme::Sign;
use crate::shape::TileShape;

/// Fewest layers of a column with a spline profile.
pub const SPLINE_LAYERS: usize = 4;

/// What the splines of all tracers share in a row of columns: the rows of their tridiagonal systems, `(nk + 1) × width`
/// values each.
#[derive(Debug)]
pub struct SplineCoefficients<R> {
    ratio: AlignedBuffer<R>,
    pivot: AlignedBuffer<R>,
    upper: AlignedBuffer<R>,
}

impl<R: Scalar> SplineCoefficients<R> {
    /// Storage for `nk` layers of up to `width` columns.
    pub fn new(width: usize, nk: usize) -> Self {
        let edges = AlignedBuffer::zeros((nk + 1) * width);
        Self { ratio: edges.clone(), pivot: edges.clone(), upper: edges }
    }
}

/// Scratch of the sweeps; one per thread.
#[derive(Debug)]
pub struct SplineWorkspace<R> {
    /// Eliminated edge values of one cache line of columns.
    reduced: AlignedBuffer<R>,
}

impl<R: Scalar> SplineWorkspace<R> {
    /// Scratch for columns of up to `nk` layers.
    pub fn new(nk: usize) -> Self {
        Self { reduced: AlignedBuffer::zeros(nk * TileShape::PITCH_UNIT) }
    }
}

/// An array of columns cut into cache lines, and one column of them.
#[derive(Clone, Copy)]
struct Line<'a, R, const W: usize> {
    values: &'a [[R; W]],
    first: usize,
    stride: usize,
}

impl<'a, R: Scalar, const W: usize> Line<'a, R, W> {
    #[inline(always)]
    fn new(values: &'a [R], rows: usize, width: usize, first: usize) -> Self {
        Self { values: values[..rows * width].as_chunks::<W>().0, first, stride: width / W }
    }

    #[inline(always)]
    fn at(&self, row: usize) -> Lanes<R, W> {
        Lanes(self.values[row * self.stride + self.first])
    }
}

#[inline(always)]
pub(crate) fn prepare_spline<R: Scalar, const W: usize>(
    width: usize,
    nk: usize,
    air_mass: &[R],
    out: &mut SplineCoefficients<R>,
) {
    check(width, nk);
    let len = (nk + 1) * width;
    let (ratios, pivots, uppers) = (&mut out.ratio[..len], &mut out.pivot[..len], &mut out.upper[..len]);
    for first in 0..width / W {
        let mass = Line::<R, W>::new(air_mass, nk, width, first);
        let mut store = |row: usize, of: (Lanes<R, W>, Lanes<R, W>, Lanes<R, W>)| {
            let at = row * width + first * W;
            of.0.store(ratios, at);
            of.1.store(pivots, at);
            of.2.store(uppers, at);
        };
        let mut row = nm::spline_top(mass.at(0), mass.at(1));
        store(0, row);
        for k in 1..nk {
            row = nm::spline_row(mass.at(k - 1), mass.at(k), row.2);
            store(k, row);
        }
        store(nk, nm::spline_bottom(row.0, row.2));
    }
}

fn check(width: usize, nk: usize) {
    assert_eq!(width % TileShape::PITCH_UNIT, 0, "column blocks are whole cache lines wide");
    assert!(nk >= SPLINE_LAYERS, "a spline profile needs {SPLINE_LAYERS} layers");
}

#[inline(always)]
pub(crate) fn sweep_spline<R: Scalar, const W: usize>(
    sign: Sign,
    width: usize,
    nk: usize,
    tracer: &mut [R],
    faces: &ColumnCoefficients<R>,
    spline: &SplineCoefficients<R>,
    workspace: &mut SplineWorkspace<R>,
) {
    match sign {
        Sign::NonNegative => sweep::<Positive, R, W>(width, nk, tracer, faces, spline, workspace),
        Sign::Any => sweep::<Signed, R, W>(width, nk, tracer, faces, spline, workspace),
    }
}

#[inline(always)]
fn sweep<L: Limits, R: Scalar, const W: usize>(
    width: usize,
    nk: usize,
    tracer: &mut [R],
    faces: &ColumnCoefficients<R>,
    spline: &SplineCoefficients<R>,
    workspace: &mut SplineWorkspace<R>,
) {
    check(width, nk);
    let tracer = tracer[..nk * width].as_chunks_mut::<W>().0;
    let reduced = workspace.reduced[..nk * W].as_chunks_mut::<W>().0;
    for first in 0..width / W {
        let of = |values, rows| Line::<R, W>::new(values, rows, width, first);
        let column = Column {
            tracer,
            first,
            stride: width / W,
            reciprocal: of(&faces.reciprocal, nk),
            courant: of(&faces.courant, nk),
            flux: of(&faces.flux, nk),
            ratio: of(&spline.ratio, nk + 1),
            pivot: of(&spline.pivot, nk + 1),
            upper: of(&spline.upper, nk + 1),
        };
        march::<L, R, W>(column, nk, reduced);
    }
}

/// The limiters in which tracers of either sign differ.
trait Limits {
    /// The top or the bottom edge of a column.
    fn outer<V: Real>(edge: V) -> V;
    /// An edge between layers `a | b`.
    fn edge<V: Real>(aa: V, a: V, b: V, bb: V, edge: V) -> V;
    /// Edges of a layer with mean `q` away from the ends.
    fn layer<V: Real>(q: V, edges: (V, V)) -> (V, V);
    /// Flux between two layers that hold this much.
    fn flux<V: Real>(flux: V, held_above: V, held_below: V) -> V;
}

struct Positive;

impl Limits for Positive {
    #[inline(always)]
    fn outer<V: Real>(edge: V) -> V {
        edge.max(V::lit(0.0))
    }

    #[inline(always)]
    fn edge<V: Real>(aa: V, a: V, b: V, bb: V, edge: V) -> V {
        nm::edge_spline_positive(aa, a, b, bb, edge)
    }

    #[inline(always)]
    fn layer<V: Real>(q: V, edges: (V, V)) -> (V, V) {
        nm::layer_positive(q, edges.0, edges.1)
    }

    #[inline(always)]
    fn flux<V: Real>(flux: V, held_above: V, held_below: V) -> V {
        nm::flux_within_content(flux, held_above, held_below)
    }
}

struct Signed;

impl Limits for Signed {
    #[inline(always)]
    fn outer<V: Real>(edge: V) -> V {
        edge
    }

    #[inline(always)]
    fn edge<V: Real>(aa: V, a: V, b: V, bb: V, edge: V) -> V {
        nm::edge_spline(aa, a, b, bb, edge)
    }

    #[inline(always)]
    fn layer<V: Real>(_q: V, edges: (V, V)) -> (V, V) {
        edges
    }

    #[inline(always)]
    fn flux<V: Real>(flux: V, _held_above: V, _held_below: V) -> V {
        flux
    }
}

/// One cache line of columns of a tracer with all that moves it.
struct Column<'a, R, const W: usize> {
    tracer: &'a mut [[R; W]],
    first: usize,
    stride: usize,
    reciprocal: Line<'a, R, W>,
    courant: Line<'a, R, W>,
    flux: Line<'a, R, W>,
    ratio: Line<'a, R, W>,
    pivot: Line<'a, R, W>,
    upper: Line<'a, R, W>,
}

impl<R: Scalar, const W: usize> Column<'_, R, W> {
    #[inline(always)]
    fn content(&self, k: usize) -> Lanes<R, W> {
        Lanes(self.tracer[k * self.stride + self.first])
    }

    #[inline(always)]
    fn q(&self, k: usize) -> Lanes<R, W> {
        self.content(k) * self.reciprocal.at(k)
    }

    /// Eliminated values of all edges but the lowest, whose value is returned.
    #[inline(always)]
    fn eliminate(&self, nk: usize, reduced: &mut [[R; W]]) -> Lanes<R, W> {
        let mut above = self.q(0);
        let mut q = self.q(1);
        let mut value = nm::spline_start(above, q, self.ratio.at(0), self.pivot.at(0));
        reduced[0] = value.0;
        for k in 1..nk {
            if k > 1 {
                (above, q) = (q, self.q(k));
            }
            value = nm::spline_forward(above, q, value, self.ratio.at(k), self.pivot.at(k));
            reduced[k] = value.0;
        }
        nm::spline_finish(above, q, value, self.ratio.at(nk), self.pivot.at(nk), self.upper.at(nk))
    }
}

/// What a march up a column keeps from layer to layer.
#[derive(Clone, Copy)]
struct March<V> {
    /// Means of the layers around the one it is at, two above and two below.
    w: [V; 5],
    /// Value of the spline at the lower edge.
    value: V,
    /// The same edge, limited.
    edge: V,
    /// Profile of the layer below.
    below: (V, V),
    /// What the layer below holds, and what has left it through its bottom.
    content: V,
    outflow: V,
}

impl<V: Real> March<V> {
    /// Takes the lower edge up to the value `edge`; the edges of the layer before its own limiters.
    #[inline(always)]
    fn up_to(&mut self, value: V, edge: V) -> (V, V) {
        let edges = (edge, self.edge);
        (self.value, self.edge) = (value, edge);
        edges
    }
}

/// The profile of a layer as offsets from its mean.
#[inline(always)]
fn offsets<V: Real>(q: V, edges: (V, V)) -> (V, V) {
    (edges.0 - q, edges.1 - q)
}

#[inline(always)]
fn march<L: Limits, R: Scalar, const W: usize>(mut column: Column<R, W>, nk: usize, reduced: &mut [[R; W]]) {
    let bottom = column.eliminate(nk, reduced);
    let value = |column: &Column<R, W>, k: usize, below: Lanes<R, W>| {
        nm::tridiagonal_backward(Lanes(reduced[k]), column.upper.at(k), below)
    };
    let zero = Lanes::lit(0.0);
    let mut at = March {
        w: [zero; 5],
        value: bottom,
        edge: L::outer(bottom),
        below: (zero, zero),
        content: zero,
        outflow: zero,
    };
    at.w = [column.q(nk - 3), column.q(nk - 2), column.q(nk - 1), zero, zero];
    // The lowest layer.
    let v = value(&column, nk - 1, at.value);
    let edges = at.up_to(v, nm::edge_between(at.w[1], at.w[2], v));
    at.below = offsets(at.w[2], nm::layer_at_end(at.w[2], edges.0, edges.1));
    at.content = column.content(nk - 1);
    // The one above it.
    at.w = [column.q(nk - 4), at.w[0], at.w[1], at.w[2], zero];
    let v = value(&column, nk - 2, at.value);
    let edges = at.up_to(v, L::edge(at.w[0], at.w[1], at.w[2], at.w[3], v));
    let edges = nm::layer_beside_end(at.w[1], at.w[2], at.w[3], edges.0, edges.1);
    pass::<L, R, W>(&mut column, &mut at, nk - 2, edges);
    for k in (2..nk - 2).rev() {
        at.w = [column.q(k - 2), at.w[0], at.w[1], at.w[2], at.w[3]];
        let v = value(&column, k, at.value);
        let edges = at.up_to(v, L::edge(at.w[0], at.w[1], at.w[2], at.w[3], v));
        let edges = nm::cell_huynh(at.w, edges.0, edges.1);
        let edges = L::layer(at.w[2], edges);
        pass::<L, R, W>(&mut column, &mut at, k, edges);
    }
    // The second layer and the highest one.
    at.w = [zero, at.w[0], at.w[1], at.w[2], zero];
    let v = value(&column, 1, at.value);
    let edges = at.up_to(v, nm::edge_between(at.w[1], at.w[2], v));
    let edges = nm::layer_beside_end(at.w[1], at.w[2], at.w[3], edges.0, edges.1);
    pass::<L, R, W>(&mut column, &mut at, 1, edges);
    at.w = [zero, zero, at.w[1], at.w[2], zero];
    let v = value(&column, 0, at.value);
    let edges = at.up_to(v, L::outer(v));
    let edges = nm::layer_at_end(at.w[2], edges.0, edges.1);
    pass::<L, R, W>(&mut column, &mut at, 0, edges);
    column.tracer[column.first] = (at.content + (zero - at.outflow)).0;
}

/// The flux between layer `k` with these edges and the layer below, whose new content is then known.
#[inline(always)]
fn pass<L: Limits, R: Scalar, const W: usize>(
    column: &mut Column<R, W>,
    at: &mut March<Lanes<R, W>>,
    k: usize,
    edges: (Lanes<R, W>, Lanes<R, W>),
) {
    let own = offsets(at.w[2], edges);
    let (carrier, courant) = (column.flux.at(k + 1), column.courant.at(k + 1));
    let flux = nm::flux_parabola(carrier, courant, at.w[2], own, at.w[3], at.below);
    let content = column.content(k);
    let flux = L::flux(flux, content, nm::held_after(at.content, at.outflow));
    column.tracer[(k + 1) * column.stride + column.first] = (at.content + (flux - at.outflow)).0;
    (at.below, at.content, at.outflow) = (own, content, flux);
}
