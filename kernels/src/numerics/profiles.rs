//! Whole profiles of a cell from its window of five mixing ratios, one function per scheme.

use crate::Real;

use super::cells::{
    cell_colella_woodward_edges, cell_extremum_flat, cell_fast_monotone, cell_huynh_positive, cell_huynh_where_curved,
    cell_positive_definite, cell_unlimited_edges,
};
use super::edges::{edge_colella_woodward, edge_fourth_order, edge_large_scale};
use super::slopes::{half_slope_centred, half_slope_monotone, half_slope_positive};

/// Flat profile (first-order upwind).
#[inline(always)]
pub fn profile_upwind<R: Real>(_w: [R; 5]) -> (R, R) {
    (R::lit(0.0), R::lit(0.0))
}

/// Linear profile with the centred slope.
#[inline(always)]
pub fn profile_slopes_none<R: Real>(w: [R; 5]) -> (R, R) {
    let h = half_slope_centred(w[1], w[2], w[3]);
    (-h, h)
}

/// Linear profile with the monotone slope.
#[inline(always)]
pub fn profile_slopes_monotone<R: Real>(w: [R; 5]) -> (R, R) {
    let h = half_slope_monotone(w[1], w[2], w[3]);
    (-h, h)
}

/// Linear profile with a slope bounded by the mean.
#[inline(always)]
pub fn profile_slopes_positivity<R: Real>(w: [R; 5]) -> (R, R) {
    let h = half_slope_positive(w[1], w[2], w[3]);
    (-h, h)
}

/// Raw fourth-order edges.
#[inline(always)]
pub fn profile_ppm_none<R: Real>(w: [R; 5]) -> (R, R) {
    let e_l = edge_fourth_order(w[0], w[1], w[2], w[3]);
    let e_r = edge_fourth_order(w[1], w[2], w[3], w[4]);
    cell_unlimited_edges(w, e_l, e_r)
}

/// Fourth-order edges under the cell limiter of Colella & Woodward; meant for the linear flux.
#[inline(always)]
pub fn profile_ppm_monotone<R: Real>(w: [R; 5]) -> (R, R) {
    let e_l = edge_fourth_order(w[0], w[1], w[2], w[3]);
    let e_r = edge_fourth_order(w[1], w[2], w[3], w[4]);
    cell_colella_woodward_edges(w, e_l, e_r)
}

/// Monotone parabolas of Colella & Woodward 1984: monotone edges and cell limiter.
#[inline(always)]
pub fn profile_ppm_cw84<R: Real>(w: [R; 5]) -> (R, R) {
    let h = half_slopes(w);
    let e_l = edge_colella_woodward(w[1], w[2], h[0], h[1]);
    let e_r = edge_colella_woodward(w[2], w[3], h[1], h[2]);
    cell_colella_woodward_edges(w, e_l, e_r)
}

/// Positive-definite parabolas that keep smooth extrema: large-scale constraint, Huynh's second constraint, edges clipped
/// at zero, positive-definite limiter (Lin 2004; the horizontal twin of FV3's `kord = 8`).
#[inline(always)]
pub fn profile_ppm_huynh_pd<R: Real>(w: [R; 5]) -> (R, R) {
    let e_l = edge_large_scale(w[0], w[1], w[2], w[3]);
    let e_r = edge_large_scale(w[1], w[2], w[3], w[4]);
    cell_huynh_positive(w, e_l, e_r)
}

/// Fourth-order edges clipped at zero, positive-definite limiter.
#[inline(always)]
pub fn profile_clipped_fourth_order<R: Real>(w: [R; 5]) -> (R, R) {
    let zero = R::lit(0.0);
    let e_l = edge_fourth_order(w[0], w[1], w[2], w[3]).max(zero);
    let e_r = edge_fourth_order(w[1], w[2], w[3], w[4]).max(zero);
    cell_positive_definite(w[2], e_l - w[2], e_r - w[2])
}

/// FV3 `hord = 8`: monotone edges, fast monotone limiter.
#[inline(always)]
pub fn profile_fv3_hord8<R: Real>(w: [R; 5]) -> (R, R) {
    let h = half_slopes(w);
    let e_l = edge_colella_woodward(w[1], w[2], h[0], h[1]);
    let e_r = edge_colella_woodward(w[2], w[3], h[1], h[2]);
    cell_fast_monotone(h[1], e_l - w[2], e_r - w[2])
}

/// FV3 `hord = 10`: monotone edges, Huynh's constraint where the profile bends.
#[inline(always)]
pub fn profile_fv3_hord10<R: Real>(w: [R; 5]) -> (R, R) {
    let h = half_slopes(w);
    let e_l = edge_colella_woodward(w[1], w[2], h[0], h[1]);
    let e_r = edge_colella_woodward(w[2], w[3], h[1], h[2]);
    cell_huynh_where_curved(w, h, e_l - w[2], e_r - w[2])
}

/// Lin–Rood operator of order 5: raw parabola, flat at extrema.
#[inline(always)]
pub fn profile_linrood_ord5<R: Real>(w: [R; 5]) -> (R, R) {
    let (b_l, b_r) = profile_ppm_none(w);
    cell_extremum_flat(b_l, b_r)
}

/// Monotone half slopes of the three inner cells of a window.
#[inline(always)]
fn half_slopes<R: Real>(w: [R; 5]) -> [R; 3] {
    [
        half_slope_monotone(w[0], w[1], w[2]),
        half_slope_monotone(w[1], w[2], w[3]),
        half_slope_monotone(w[2], w[3], w[4]),
    ]
}
