//! Cell limiters: from edge offsets `b = edge − mean` to the limited profile.

use crate::Real;

use super::slopes::half_slope_monotone;

/// Monotone cell limiter of Colella & Woodward 1984 eq. 1.10, written as two clamps: each offset lies between 0 and
/// −2 × the other one, so extrema become flat and steep parabolas keep their extremum on an edge.
#[inline(always)]
pub fn cell_colella_woodward<R: Real>(b_l: R, b_r: R) -> (R, R) {
    let zero = R::lit(0.0);
    let reach_l = R::lit(-2.0) * b_r;
    let reach_r = R::lit(-2.0) * b_l;
    (b_l.max(reach_l.min(zero)).min(reach_l.max(zero)), b_r.max(reach_r.min(zero)).min(reach_r.max(zero)))
}

/// [`cell_colella_woodward`] on edge values: from the window `w` and its edges to the limited profile.
#[inline(always)]
pub fn cell_colella_woodward_edges<R: Real>(w: [R; 5], edge_l: R, edge_r: R) -> (R, R) {
    cell_colella_woodward(edge_l - w[2], edge_r - w[2])
}

/// The profile with the given edge values as they are.
#[inline(always)]
pub fn cell_unlimited_edges<R: Real>(w: [R; 5], edge_l: R, edge_r: R) -> (R, R) {
    (edge_l - w[2], edge_r - w[2])
}

/// Flat profile unless the mean lies strictly between its edges (the rule of the Lin–Rood operator of order 5).
#[inline(always)]
pub fn cell_extremum_flat<R: Real>(b_l: R, b_r: R) -> (R, R) {
    let zero = R::lit(0.0);
    let inside = b_l.min(b_r).lt(zero);
    let l = R::select(b_l.max(b_r).gt(zero), b_l, zero);
    let r = R::select(b_l.max(b_r).gt(zero), b_r, zero);
    (R::select(inside, l, zero), R::select(inside, r, zero))
}

/// [`cell_extremum_flat`] on edge values: from the window `w` and its edges to the profile.
#[inline(always)]
pub fn cell_extremum_flat_edges<R: Real>(w: [R; 5], edge_l: R, edge_r: R) -> (R, R) {
    cell_extremum_flat(edge_l - w[2], edge_r - w[2])
}

/// Fast monotone limiter: offsets no larger than twice the half slope, with its sign (Lin 2004; FV3 `hord = 8`).
#[inline(always)]
pub fn cell_fast_monotone<R: Real>(half_slope: R, b_l: R, b_r: R) -> (R, R) {
    let reach = (R::lit(2.0) * half_slope).abs();
    let left = b_l.abs().min(reach);
    let right = b_r.abs().min(reach);
    let falling = half_slope.lt(R::lit(0.0));
    (R::select(falling, left, -left), R::select(falling, -right, right))
}

/// [`cell_fast_monotone`] on edge values, with the monotone half slope of the middle cell of the window `w`.
#[inline(always)]
pub fn cell_fast_monotone_edges<R: Real>(w: [R; 5], edge_l: R, edge_r: R) -> (R, R) {
    cell_fast_monotone(half_slope_monotone(w[1], w[2], w[3]), edge_l - w[2], edge_r - w[2])
}

/// Huynh's second constraint (Huynh 1997; Lin 2004): each edge within the hull of the mean and two extrapolations from
/// the other side, which keeps smooth extrema.
///
/// `w` is the window, `edge_l` and `edge_r` the edge values; returns the constrained edge values.
#[inline(always)]
pub fn cell_huynh<R: Real>(w: [R; 5], edge_l: R, edge_r: R) -> (R, R) {
    let g0 = w[1] - w[0];
    let g1 = w[2] - w[1];
    let g2 = w[3] - w[2];
    let g3 = w[4] - w[3];
    let near_l = w[2] - R::lit(2.0) * g2;
    let far_l = near_l + R::lit(1.5) * g3;
    let near_r = w[2] + R::lit(2.0) * g1;
    let far_r = near_r - R::lit(1.5) * g0;
    let lo_l = w[2].min(near_l).min(far_l);
    let hi_l = w[2].max(near_l).max(far_l);
    let lo_r = w[2].min(near_r).min(far_r);
    let hi_r = w[2].max(near_r).max(far_r);
    (edge_l.max(lo_l).min(hi_l), edge_r.max(lo_r).min(hi_r))
}

/// Huynh's constraint only where the profile bends strongly, flat where all slopes vanish (FV3 `hord = 10`).
///
/// `slopes` are the monotone half slopes of the cells left of, at and right of the middle of `w`.
#[inline(always)]
pub fn cell_huynh_where_curved<R: Real>(w: [R; 5], slopes: [R; 3], b_l: R, b_r: R) -> (R, R) {
    let zero = R::lit(0.0);
    let flat = (slopes[0].abs() + slopes[1].abs() + slopes[2].abs()).lt(R::lit(1.0e-25));
    let curved = (R::lit(3.0) * (b_l + b_r)).abs().gt((b_l - b_r).abs());
    let (edge_l, edge_r) = cell_huynh(w, w[2] + b_l, w[2] + b_r);
    let l = R::select(curved, edge_l - w[2], b_l);
    let r = R::select(curved, edge_r - w[2], b_r);
    (R::select(flat, zero, l), R::select(flat, zero, r))
}

/// Positive-definite limiter of a parabola with mean `q` and non-negative edges: where its minimum is negative, it is
/// made flat (edges above the mean) or given its minimum on the lower edge (Lin & Rood 1996; Lin 2004). A cell without
/// positive mean is flat.
#[inline(always)]
pub fn cell_positive_definite<R: Real>(q: R, b_l: R, b_r: R) -> (R, R) {
    let zero = R::lit(0.0);
    let curvature = R::lit(-3.0) * (b_l + b_r);
    let rise = b_r - b_l;
    // Divided first: the square of a trace such as radon underflows in single precision.
    let minimum = q + R::lit(0.25) * (rise * (rise / curvature)) + R::lit(1.0 / 12.0) * curvature;
    let lowest = R::select(rise.abs().lt(-curvature), minimum, zero);
    let negative = lowest.lt(zero);
    let valley = b_l.min(b_r).gt(zero);
    let rising = rise.gt(zero);
    let empty = q.le(zero);
    let cut_l = R::select(valley, zero, R::select(rising, b_l, R::lit(-2.0) * b_r));
    let cut_r = R::select(valley, zero, R::select(rising, R::lit(-2.0) * b_l, b_r));
    (R::select(empty, zero, R::select(negative, cut_l, b_l)), R::select(empty, zero, R::select(negative, cut_r, b_r)))
}

/// [`cell_positive_definite`] on edge values.
#[inline(always)]
pub fn cell_positive_definite_edges<R: Real>(w: [R; 5], edge_l: R, edge_r: R) -> (R, R) {
    cell_positive_definite(w[2], edge_l - w[2], edge_r - w[2])
}

/// Huynh's constraint on both edges, clipped at zero, then the positive-definite limiter; returns the profile.
#[inline(always)]
pub fn cell_huynh_positive<R: Real>(w: [R; 5], edge_l: R, edge_r: R) -> (R, R) {
    let zero = R::lit(0.0);
    let (e_l, e_r) = cell_huynh(w, edge_l, edge_r);
    cell_positive_definite(w[2], e_l.max(zero) - w[2], e_r.max(zero) - w[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colella_woodward_flattens_extrema_and_moves_steep_edges() {
        assert_eq!(cell_colella_woodward(1.0, 1.0), (0.0, 0.0));
        assert_eq!(cell_colella_woodward(-1.0, 1.5), (-1.0, 1.5));
        // q_L = 3 q − 2 q_R means b_l = −2 b_r.
        assert_eq!(cell_colella_woodward(-3.0, 1.0), (-2.0, 1.0));
        assert_eq!(cell_colella_woodward(1.0, -3.0), (1.0, -2.0));
    }

    #[test]
    fn positive_definite_parabolas_touch_zero_at_worst() {
        let value = |q: f64, (l, r): (f64, f64), x: f64| q + l + x * ((r - l) - 3.0 * (l + r) * (1.0 - x));
        for q in [0.1, 0.5, 1.0] {
            for i in 0..60 {
                for j in 0..60 {
                    let profile = cell_positive_definite(q, i as f64 * 0.1 - q, j as f64 * 0.1 - q);
                    for s in 0..=100 {
                        assert!(value(q, profile, s as f64 * 0.01) > -1e-14, "{q} {profile:?}");
                    }
                }
            }
        }
        assert_eq!(cell_positive_definite(-1.0, 0.3, 0.4), (0.0, 0.0));
        // A trace at the scale of radon is limited exactly like one of order 1.
        let (l, r) = cell_positive_definite(1.0_f32, -0.9, 3.0);
        let scale = (-70.0_f32).exp2();
        assert_eq!(cell_positive_definite(scale, -0.9 * scale, 3.0 * scale), (l * scale, r * scale));
    }

    #[test]
    fn extremum_rule_keeps_monotone_cells() {
        assert_eq!(cell_extremum_flat(-5.0, 1.0), (-5.0, 1.0));
        assert_eq!(cell_extremum_flat(5.0, 1.0), (0.0, 0.0));
        assert_eq!(cell_extremum_flat(0.0, 1.0), (0.0, 0.0));
    }
}
