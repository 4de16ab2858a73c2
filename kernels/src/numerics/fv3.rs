//! FV3's one-dimensional operators beyond those that are schemes here (`tp_core`; Putman & Lin 2007; Lin 2004): rules that
//! look at both cells of a face, and edge values at the edges of a cube's face.
//!
//! An operator is named by its `hord`. Signed Courant numbers are positive toward larger index.

use crate::Real;

use super::cells::{cell_fast_monotone, cell_positive_definite_edges};
use super::edges::{edge_colella_woodward, edge_fourth_order};
use super::slopes::half_slope_monotone;

const FOUR_SEVENTHS: f64 = 4.0 / 7.0;
const ELEVEN_FOURTEENTHS: f64 = 11.0 / 14.0;
const THREE_FOURTEENTHS: f64 = 3.0 / 14.0;

/// Monotone edges of the middle cell of `w` and its half slope: `(edge_l, edge_r, half slope)` (`hord ≥ 7`).
#[inline(always)]
pub fn edges_fv3<R: Real>(w: [R; 5]) -> (R, R, R) {
    let below = half_slope_monotone(w[0], w[1], w[2]);
    let own = half_slope_monotone(w[1], w[2], w[3]);
    let above = half_slope_monotone(w[2], w[3], w[4]);
    (edge_colella_woodward(w[1], w[2], below, own), edge_colella_woodward(w[2], w[3], own, above), own)
}

/// `hord = 11`: as `hord = 8` with offsets up to 1.5 half slopes.
#[inline(always)]
pub fn profile_fv3_hord11<R: Real>(w: [R; 5]) -> (R, R) {
    let (edge_l, edge_r, half_slope) = edges_fv3(w);
    cell_fast_monotone(R::lit(0.75) * half_slope, edge_l - w[2], edge_r - w[2])
}

/// `hord = 7` and `12`: monotone edges, [`cell_lin_rood_positive`].
#[inline(always)]
pub fn profile_fv3_hord12<R: Real>(w: [R; 5]) -> (R, R) {
    let (edge_l, edge_r, _) = edges_fv3(w);
    cell_lin_rood_positive(w[2], edge_l - w[2], edge_r - w[2])
}

/// `hord = 9` and `13`: monotone edges, positive-definite limiter.
#[inline(always)]
pub fn profile_fv3_hord13<R: Real>(w: [R; 5]) -> (R, R) {
    let (edge_l, edge_r, _) = edges_fv3(w);
    cell_positive_definite_edges(w, edge_l, edge_r)
}

/// `hord = −5`: fourth-order edges that are not below 0, positive-definite limiter; flat where that acts on a mean that does
/// not lie between its edges.
#[inline(always)]
pub fn profile_fv3_hord_minus5<R: Real>(w: [R; 5]) -> (R, R) {
    let zero = R::lit(0.0);
    let edge_l = edge_fourth_order(w[0], w[1], w[2], w[3]).max(zero);
    let edge_r = edge_fourth_order(w[1], w[2], w[3], w[4]).max(zero);
    cell_positive_between(w[2], edge_l - w[2], edge_r - w[2])
}

/// Positive-definite limiter of Lin & Rood 1996, which leaves cells without positive mean as they are.
#[inline(always)]
pub fn cell_lin_rood_positive<R: Real>(q: R, b_l: R, b_r: R) -> (R, R) {
    let valley = b_l.min(b_r).gt(R::lit(0.0));
    cell_cut(minimum_is_negative(q, b_l, b_r), valley, b_l, b_r)
}

/// Positive-definite limiter that makes a cell flat unless its mean lies between its edges.
#[inline(always)]
pub fn cell_positive_between<R: Real>(q: R, b_l: R, b_r: R) -> (R, R) {
    let zero = R::lit(0.0);
    let outside = R::or(b_l.min(b_r).ge(zero), b_l.max(b_r).le(zero));
    cell_cut(minimum_is_negative(q, b_l, b_r), outside, b_l, b_r)
}

/// Whether a parabola has its minimum inside the cell, and that is negative.
#[inline(always)]
fn minimum_is_negative<R: Real>(q: R, b_l: R, b_r: R) -> R::Mask {
    let curvature = R::lit(-3.0) * (b_l + b_r);
    let rise = b_r - b_l;
    let minimum = q + R::lit(0.25) * (rise * (rise / curvature)) + R::lit(1.0 / 12.0) * curvature;
    R::and(rise.abs().lt(-curvature), minimum.lt(R::lit(0.0)))
}

/// Where `negative`: flat if `flat`, else with the minimum on the lower edge.
#[inline(always)]
fn cell_cut<R: Real>(negative: R::Mask, flat: R::Mask, b_l: R, b_r: R) -> (R, R) {
    let zero = R::lit(0.0);
    let rising = (b_r - b_l).gt(zero);
    let cut_l = R::select(flat, zero, R::select(rising, b_l, R::lit(-2.0) * b_r));
    let cut_r = R::select(flat, zero, R::select(rising, R::lit(-2.0) * b_l, b_r));
    (R::select(negative, cut_l, b_l), R::select(negative, cut_r, b_r))
}

/// Whether the mean of a cell lies between its edges (the switch of `hord = 5` and `7`).
#[inline(always)]
pub fn lies_between<R: Real>(b_l: R, b_r: R) -> R::Mask {
    let zero = R::lit(0.0);
    R::and(b_l.min(b_r).lt(zero), b_l.max(b_r).gt(zero))
}

/// Whether a cell bends little, `factor · |b_l + b_r| < |b_l − b_r|` (the switches of `hord = 3`, `4` and `6`).
#[inline(always)]
pub fn bends_little<R: Real>(factor: R, b_l: R, b_r: R) -> R::Mask {
    (factor * (b_l + b_r).abs()).lt((b_l - b_r).abs())
}

/// Mean mixing ratio of what passes a face with the signed Courant number `courant`: of the donor's parabola where `curved`, else
/// the donor's mean. A Courant number of 0 has its donor on the right.
#[inline(always)]
pub fn face_value<R: Real>(courant: R, curved: R::Mask, q_l: R, left: (R, R), q_r: R, right: (R, R)) -> R {
    let rightward = courant.gt(R::lit(0.0));
    let swept = courant.abs();
    let q = R::select(rightward, q_l, q_r);
    let downwind = R::select(rightward, left.1, right.0);
    let upwind = R::select(rightward, left.0, right.1);
    let offset = (R::lit(1.0) - swept) * (downwind - swept * (downwind + upwind));
    q + R::select(curved, offset, R::lit(0.0))
}

/// Edge value at the edge of a cube's face, between `a` and `b`, from linear extrapolations from either side; `dx` are the
/// widths of the four cells.
#[inline(always)]
pub fn edge_two_sided_spaced<R: Real>(q: [R; 4], dx: [R; 4]) -> R {
    let two = R::lit(2.0);
    let left = ((two * dx[1] + dx[0]) * q[1] - dx[1] * q[0]) / (dx[0] + dx[1]);
    let right = ((two * dx[2] + dx[3]) * q[2] - dx[2] * q[3]) / (dx[2] + dx[3]);
    R::lit(0.5) * (left + right)
}

/// [`edge_two_sided_spaced`] within the range of the four means (`hord ≥ 7`).
#[inline(always)]
pub fn edge_two_sided_within<R: Real>(q: [R; 4], dx: [R; 4]) -> R {
    let lowest = q[0].min(q[1]).min(q[2].min(q[3]));
    let highest = q[0].max(q[1]).max(q[2].max(q[3]));
    edge_two_sided_spaced(q, dx).max(lowest).min(highest)
}

/// Edge value between the first cell beside the edge of a cube's face, `near`, and the next one, `mid`, whose monotone half
/// slope away from that edge is `half_slope` (`hord ≥ 7`).
#[inline(always)]
pub fn edge_beside_face_edge<R: Real>(near: R, mid: R, half_slope: R) -> R {
    R::lit(THREE_FOURTEENTHS) * near + R::lit(ELEVEN_FOURTEENTHS) * mid - R::lit(FOUR_SEVENTHS) * half_slope
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_data_are_reproduced_at_face_edges() {
        // Means of x on cells of widths 1, 2, 1, 3 around x = 0.
        assert!((edge_two_sided_spaced([-2.5, -1.0, 0.5, 2.5], [1.0, 2.0, 1.0, 3.0]) - 0.0_f64).abs() < 1e-15);
        assert_eq!(edge_two_sided_within([1.0, 2.0, 2.5, 2.5], [1.0; 4]), 2.5);
        assert!((edge_beside_face_edge(0.5, 1.5, 0.5) - 1.0_f64).abs() < 1e-15);
    }

    #[test]
    fn faces_take_the_parabola_of_their_donor() {
        let face =
            |courant: f64, curved: f64| face_value(courant, curved.gt(0.0), 1.0, (-0.25, 0.5), 3.0, (-0.5, 0.75));
        assert_eq!(face(0.0, 1.0), 2.5);
        assert_eq!(face(1.0, 1.0), 1.0);
        assert_eq!(face(0.5, 1.0), 1.0 + 0.5 * (0.5 - 0.5 * 0.25));
        assert_eq!((face(0.5, 0.0), face(-0.5, 0.0)), (1.0, 3.0));
    }

    #[test]
    fn switches_and_limiters() {
        assert!(lies_between(-1.0_f64, 0.5) && !lies_between(0.0_f64, 0.5) && !lies_between(1.0_f64, 0.5));
        assert!(bends_little(3.0_f64, -1.0, 1.5) && !bends_little(3.0_f64, -1.0, 3.0));
        assert_eq!(cell_lin_rood_positive(1.0, 4.0, 5.0), (0.0, 0.0));
        assert_eq!(cell_lin_rood_positive(1.0, -0.5, 4.0), (-0.5, 1.0));
        assert_eq!(cell_positive_between(1.0, -1.0, 4.0), (-1.0, 2.0));
        assert_eq!(cell_positive_between(0.1, 0.0, 4.0), (0.0, 0.0));
        assert_eq!(cell_positive_between(1.0, 0.5, 0.6), (0.5, 0.6));
    }
}
