//! Profiles of layers of any thickness: the spline through the layer means and its limiters (FV3's `kord = 8`, Lin 2004).
//!
//! Edges are numbered from the top: edge k is the top of layer k. The spline's edge values solve a tridiagonal system whose
//! coefficients depend on the air masses only. A layer has an upper edge `e_u` and a lower edge `e_l`; unlike the profiles
//! of other schemes these are the edge values themselves, so that every operation is that of FV3.

use crate::Real;

/// Row of the top edge: `(weight, pivot, upper)` from the air masses of the two highest layers.
#[inline(always)]
pub fn spline_top<R: Real>(mass: R, mass_below: R) -> (R, R, R) {
    let ratio = mass_below / mass;
    let pivot = ratio * (ratio + R::lit(0.5));
    let upper = (R::lit(1.0) + ratio * (ratio + R::lit(1.5))) / pivot;
    ((ratio + ratio) * (ratio + R::lit(1.0)), pivot, upper)
}

/// Row of the edge between two layers: `(ratio, pivot, upper)`; `upper_above` is the third value of the edge above.
#[inline(always)]
pub fn spline_row<R: Real>(mass_above: R, mass: R, upper_above: R) -> (R, R, R) {
    let ratio = mass_above / mass;
    let pivot = R::lit(2.0) + ratio + ratio - upper_above;
    (ratio, pivot, ratio / pivot)
}

/// Row of the bottom edge: `(weight, pivot, lower)` from the first and the third value of the edge above it.
#[inline(always)]
pub fn spline_bottom<R: Real>(ratio: R, upper: R) -> (R, R, R) {
    let lower = R::lit(1.0) + ratio * (ratio + R::lit(1.5));
    let weight = R::lit(2.0) * ratio * (ratio + R::lit(1.0));
    (weight, ratio * (ratio + R::lit(0.5)) - lower * upper, lower)
}

/// Elimination at the top edge; `q` and `q_below` are the means of the two highest layers.
#[inline(always)]
pub fn spline_start<R: Real>(q: R, q_below: R, weight: R, pivot: R) -> R {
    (weight * q + q_below) / pivot
}

/// Elimination at the edge between layers with means `q_above` and `q`; `reduced_above` is that of the edge above.
#[inline(always)]
pub fn spline_forward<R: Real>(q_above: R, q: R, reduced_above: R, ratio: R, pivot: R) -> R {
    (R::lit(3.0) * (q_above + ratio * q) - reduced_above) / pivot
}

/// Value of the bottom edge; `q_above` and `q` are the means of the two lowest layers.
#[inline(always)]
pub fn spline_finish<R: Real>(q_above: R, q: R, reduced_above: R, weight: R, pivot: R, lower: R) -> R {
    (weight * q + q_above - lower * reduced_above) / pivot
}

/// An edge value between the means `a` and `b` of the layers at the edge.
#[inline(always)]
pub fn edge_between<R: Real>(a: R, b: R, edge: R) -> R {
    edge.min(a.max(b)).max(a.min(b))
}

/// Large-scale constraint of an edge between layers `a | b` with outer neighbours `aa` and `bb`: between `a` and `b` where
/// the outer differences have one sign, else not below both at a maximum and not above both at a minimum.
///
/// Equal outer means count as a minimum, so that the mirrored profile is not always the mirror image.
#[inline(always)]
pub fn edge_spline<R: Real>(aa: R, a: R, b: R, bb: R, edge: R) -> R {
    let zero = R::lit(0.0);
    let outer_a = a - aa;
    let outer_b = bb - b;
    let turning = R::select(outer_a.gt(zero), edge.max(a.min(b)), edge.min(a.max(b)));
    edge_unless_turning(outer_a, outer_b, edge_between(a, b, edge), turning)
}

/// [`edge_spline`] that is not below 0 at a minimum.
#[inline(always)]
pub fn edge_spline_positive<R: Real>(aa: R, a: R, b: R, bb: R, edge: R) -> R {
    let zero = R::lit(0.0);
    let outer_a = a - aa;
    let outer_b = bb - b;
    let minimum = edge.min(a.max(b)).max(zero);
    let turning = R::select(outer_a.gt(zero), edge.max(a.min(b)), minimum);
    edge_unless_turning(outer_a, outer_b, edge_between(a, b, edge), turning)
}

/// `between` where both differences have one sign. Without their product, which underflows for traces.
#[inline(always)]
fn edge_unless_turning<R: Real>(outer_a: R, outer_b: R, between: R, turning: R) -> R {
    let zero = R::lit(0.0);
    let one_sign = R::or(outer_a.min(outer_b).gt(zero), outer_a.max(outer_b).lt(zero));
    R::select(one_sign, between, turning)
}

/// Edges of the highest or the lowest layer: flat unless the mean lies strictly between them, else monotone.
#[inline(always)]
pub fn layer_at_end<R: Real>(q: R, e_u: R, e_l: R) -> (R, R) {
    let zero = R::lit(0.0);
    let above = q - e_u;
    let below = q - e_l;
    let inside = R::and(above.min(below).lt(zero), above.max(below).gt(zero));
    let (u, l) = layer_monotone(q, e_u, e_l);
    (R::select(inside, u, q), R::select(inside, l, q))
}

/// Edges of the layer beside the highest or the lowest one: flat at an extremum of the means, else monotone.
#[inline(always)]
pub fn layer_beside_end<R: Real>(q_above: R, q: R, q_below: R, e_u: R, e_l: R) -> (R, R) {
    let zero = R::lit(0.0);
    let above = q - q_above;
    let below = q_below - q;
    let extremum = R::and(above.min(below).lt(zero), above.max(below).gt(zero));
    let (u, l) = layer_monotone(q, e_u, e_l);
    (R::select(extremum, q, u), R::select(extremum, q, l))
}

/// The parabola whose extremum lies within the layer is moved until it lies on an edge (Colella & Woodward 1984 eq. 1.10).
#[inline(always)]
fn layer_monotone<R: Real>(q: R, e_u: R, e_l: R) -> (R, R) {
    let zero = R::lit(0.0);
    let rise = e_l - e_u;
    let bend = R::lit(3.0) * (R::lit(2.0) * q - (e_u + e_l));
    // Instead of bend · rise against rise², which underflow for traces.
    let along = R::select(rise.lt(zero), -bend, bend);
    let reach = rise.abs();
    let slanted = reach.gt(zero);
    let upper = R::and(slanted, along.lt(-reach));
    let lower = R::and(slanted, along.gt(reach));
    let from_upper = e_u - R::lit(3.0) * (e_u - q);
    let from_lower = e_l - R::lit(3.0) * (e_l - q);
    (R::select(lower, from_lower, e_u), R::select(upper, from_upper, e_l))
}

/// Positive-definite limiter of a layer with edges that are not below 0: a parabola whose minimum is negative becomes flat,
/// where both edges are above the mean, or gets its minimum on the lower one. A layer without positive mean is flat.
#[inline(always)]
pub fn layer_positive<R: Real>(q: R, e_u: R, e_l: R) -> (R, R) {
    let zero = R::lit(0.0);
    let rise = e_l - e_u;
    let bend = R::lit(3.0) * (R::lit(2.0) * q - (e_u + e_l));
    // Divided first: the square of a trace underflows in single precision.
    let lowest = q + R::lit(0.25) * (rise * (rise / bend)) + bend * R::lit(1.0 / 12.0);
    let negative = R::and(rise.abs().lt(-bend), lowest.lt(zero));
    let valley = q.lt(e_u.min(e_l));
    let rising = rise.gt(zero);
    let from_upper = e_u - R::lit(3.0) * (e_u - q);
    let from_lower = e_l - R::lit(3.0) * (e_l - q);
    let cut_u = R::select(valley, q, R::select(rising, e_u, from_lower));
    let cut_l = R::select(valley, q, R::select(rising, from_upper, e_l));
    let empty = q.le(zero);
    (R::select(empty, q, R::select(negative, cut_u, e_u)), R::select(empty, q, R::select(negative, cut_l, e_l)))
}

/// A flux between two layers, positive downward, that leaves neither with less than nothing: at most `held_above` comes from
/// the layer above and at most `held_below` from the one below. Layers that hold nothing are not looked after.
#[inline(always)]
pub fn flux_within_content<R: Real>(flux: R, held_above: R, held_below: R) -> R {
    let zero = R::lit(0.0);
    let down = R::select(held_above.gt(zero), flux.min(held_above), flux);
    let up = R::select(held_below.gt(zero), flux.max(-held_below), flux);
    R::select(flux.lt(zero), up, down)
}

/// What a layer still holds once `flux` has left through its bottom; a flux that enters does not count.
#[inline(always)]
pub fn held_after<R: Real>(content: R, flux: R) -> R {
    content - flux.max(R::lit(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_layers_have_the_classical_rows() {
        // De Boor's spline of cell means: 1 4 1 in the interior, its first row 1 2 with the boundary condition of FV3.
        let (ratio, pivot, upper) = spline_row(1.0, 1.0, 0.25);
        assert_eq!((ratio, pivot), (1.0, 3.75));
        assert_eq!(upper, 1.0 / 3.75);
        assert_eq!(spline_top(1.0, 1.0), (4.0, 1.5, 3.5 / 1.5));
        assert_eq!(spline_bottom(1.0, 0.25), (4.0, 1.5 - 3.5 * 0.25, 3.5));
    }

    #[test]
    fn large_scale_constraint_has_three_cases() {
        assert_eq!(edge_spline(-1.0, 0.0, 1.0, 2.0, 3.0), 1.0);
        assert_eq!(edge_spline(-1.0, 0.0, 1.0, 0.5, 3.0), 3.0);
        assert_eq!(edge_spline(-1.0, 0.0, 1.0, 0.5, -3.0), 0.0);
        assert_eq!(edge_spline(1.0, 0.0, 1.0, 2.0, -3.0), -3.0);
        assert_eq!(edge_spline_positive(1.0, 0.0, 1.0, 2.0, -3.0), 0.0);
        // A tie is a minimum.
        assert_eq!(edge_spline(0.0, 0.0, 1.0, 1.0, 3.0), 1.0);
    }

    #[test]
    fn steep_layers_keep_their_extremum_on_an_edge() {
        assert_eq!(layer_at_end(1.0, 0.0, 5.0), (0.0, 3.0));
        assert_eq!(layer_at_end(1.0, 5.0, 0.0), (3.0, 0.0));
        assert_eq!(layer_at_end(1.0, 2.0, 3.0), (1.0, 1.0));
        assert_eq!(layer_beside_end(0.0, 1.0, 0.5, 0.9, 1.1), (1.0, 1.0));
        assert_eq!(layer_beside_end(0.0, 1.0, 2.0, 0.9, 1.1), (0.9, 1.1));
        let trace = (-70.0_f32).exp2();
        assert_eq!(layer_at_end(trace, 0.0, 5.0 * trace), (0.0, 3.0 * trace));
    }

    #[test]
    fn positive_layers_touch_zero_at_worst() {
        assert_eq!(layer_positive(1.0, 4.0, 5.0), (1.0, 1.0));
        assert_eq!(layer_positive(1.0, 0.5, 5.0), (0.5, 2.0));
        assert_eq!(layer_positive(1.0, 5.0, 0.5), (2.0, 0.5));
        assert_eq!(layer_positive(-1.0, 5.0, 0.5), (-1.0, -1.0));
        let trace = (-70.0_f32).exp2();
        assert_eq!(layer_positive(trace, 0.5 * trace, 5.0 * trace), (0.5 * trace, 2.0 * trace));
    }

    #[test]
    fn fluxes_take_what_there_is() {
        assert_eq!(flux_within_content(3.0, 2.0, 1.0), 2.0);
        assert_eq!(flux_within_content(-3.0, 2.0, 1.0), -1.0);
        assert_eq!(flux_within_content(-3.0, 2.0, -1.0), -3.0);
        assert_eq!(flux_within_content(0.5, 2.0, 1.0), 0.5);
        assert_eq!((held_after(2.0, 0.5), held_after(2.0, -0.5)), (1.5, 2.0));
    }
}
