//! The implicit matrix of mass-flux convection in one column.

use crate::columns::convection::tm5::{Factors, LowerPart};
use crate::lanes::Lanes;
use crate::numerics as nm;
use crate::real::{Real, Scalar};

/// Rates and air of a column, top first.
#[derive(Clone, Copy, Debug)]
pub struct Tm5Column<'a, R> {
    /// Air mass per area [kg m⁻²].
    pub air: &'a [R],
    /// Entrainment into the updraught [kg m⁻² s⁻¹].
    pub entu: &'a [R],
    /// Detrainment from the updraught [kg m⁻² s⁻¹].
    pub detu: &'a [R],
    /// Entrainment into the downdraught [kg m⁻² s⁻¹].
    pub entd: &'a [R],
    /// Detrainment from the downdraught [kg m⁻² s⁻¹].
    pub detd: &'a [R],
}

/// Layers that matter, 0 at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloudIndices {
    /// Highest layer the updraught leaves air in.
    pub cloud_top: usize,
    /// Lowest such layer.
    pub cloud_base: usize,
    /// Highest layer that feeds the downdraught; `None` without one.
    pub free_sinking: Option<usize>,
    /// First layer of the matrix.
    pub first: usize,
}

/// The layers of a column that matter; `None` if no updraught leaves air anywhere, even with a downdraught.
#[inline(always)]
pub fn cloud_indices<R: Scalar>(detu: &[R], entd: &[R]) -> Option<CloudIndices> {
    let zero = R::lit(0.0);
    let cloud_top = detu.iter().position(|rate| *rate > zero)?;
    let cloud_base = detu.iter().rposition(|rate| *rate > zero)?;
    let free_sinking = entd.iter().position(|rate| *rate > zero);
    let above = cloud_top.max(1) - 1;
    Some(CloudIndices { cloud_top, cloud_base, free_sinking, first: free_sinking.map_or(above, |k| k.min(above)) })
}

/// Both plumes of a column: air fluxes through layer tops (upward positive) and shares that go on.
#[derive(Clone, Debug)]
pub struct Plumes<R> {
    /// Updraught through the top of each layer, one edge more [kg m⁻² s⁻¹].
    pub amu: Vec<R>,
    /// Downdraught alike, negative.
    pub amd: Vec<R>,
    /// Share of the updraught that leaves a layer through its top.
    pub share_up: Vec<R>,
    /// Share of the downdraught that leaves a layer through its bottom.
    pub share_down: Vec<R>,
}

impl<R: Scalar> Plumes<R> {
    /// Room for columns of up to `nk` layers.
    pub fn new(nk: usize) -> Self {
        let zeros = |n| vec![R::lit(0.0); n];
        Self { amu: zeros(nk + 1), amd: zeros(nk + 1), share_up: zeros(nk), share_down: zeros(nk) }
    }

    /// Follows both plumes through a column. An updraught that reaches the top of the column ends there.
    #[inline(always)]
    pub fn follow(&mut self, column: &Tm5Column<R>, indices: &CloudIndices) {
        let zero = R::lit(0.0);
        let n = column.air.len();
        self.amu[..=n].fill(zero);
        self.amd[..=n].fill(zero);
        self.share_up[..n].fill(zero);
        self.share_down[..n].fill(zero);
        for k in (indices.cloud_top.max(1)..n).rev() {
            (self.amu[k], self.share_up[k]) = nm::updraft_step(self.amu[k + 1], column.entu[k], column.detu[k]);
        }
        for k in indices.free_sinking.unwrap_or(n)..n.saturating_sub(1) {
            (self.amd[k + 1], self.share_down[k]) = nm::downdraft_step(self.amd[k], column.entd[k], column.detd[k]);
        }
    }

    /// Writes the matrix of the layers from `indices.first` down, not factored; returns its form.
    ///
    /// It acts on tracer mass, `M · after = before`. Its columns add up to 1, it keeps a uniform mixing ratio, and no
    /// element off the diagonal is positive.
    #[inline(always)]
    pub fn assemble(&self, column: &Tm5Column<R>, indices: &CloudIndices, dt: R, out: &mut Factors<R>) -> LowerPart {
        let (n, lo) = (column.air.len(), indices.first);
        let order = n - lo;
        out.reset(order);
        // First the tracer fluxes through layer tops, row by row.
        for k in (indices.cloud_top..n).rev() {
            let share = self.share_up[k];
            let at = k - lo;
            if k + 1 < n {
                let (row, below) = out.row_pair(at);
                for (element, below) in row[at + 1..].iter_mut().zip(&below[at + 1..]) {
                    *element = share * *below;
                }
            }
            out.row_mut(at)[at] = column.entu[k] / column.air[k] * share;
        }
        if let Some(sinking) = indices.free_sinking {
            let start = sinking - lo;
            for k in sinking..n - 1 {
                let (share, at) = (self.share_down[k], k - lo);
                let (above, row) = out.row_pair(at);
                for j in start..at {
                    row[j] = share * above[j];
                }
                row[at] = -(column.entd[k] / column.air[k]) * share;
            }
        }
        for k in (lo + 1..n).rev() {
            let at = k - lo;
            let row = out.row_mut(at);
            row[at - 1] -= self.amu[k] / column.air[k - 1];
            row[at] -= self.amd[k] / column.air[k];
        }
        // Then what a layer gains, from the top so that the row below still holds fluxes.
        let (zero, one) = (R::lit(0.0), R::lit(1.0));
        for at in 0..order {
            if at + 1 < order {
                let (row, below) = out.row_pair(at);
                for (here, below) in row.iter_mut().zip(below.iter()) {
                    *here = nm::implicit_element(zero, dt, *below, *here);
                }
            } else {
                out.row_mut(at).iter_mut().for_each(|here| *here = nm::implicit_element(zero, dt, zero, *here));
            }
            // 1 + x rounds as 1 − (−x) does.
            let diagonal = &mut out.row_mut(at)[at];
            *diagonal = one + *diagonal;
        }
        if indices.free_sinking.is_some() { LowerPart::Full } else { LowerPart::Hessenberg }
    }

    /// Change a step of explicit transport would make, for `W` tracers: `dt` times the convergence of the tracer flux.
    ///
    /// `tracer` and `change` hold the layers from `indices.first` down. The smallest mixing ratio is taken off first: the
    /// net air flux is 0, so that a background has no flux.
    #[inline(always)]
    pub fn tendency<const W: usize>(
        &self,
        column: &Tm5Column<R>,
        indices: &CloudIndices,
        dt: R,
        tracer: &[[R; W]],
        change: &mut [[R; W]],
    ) {
        let (n, lo) = (column.air.len(), indices.first);
        let zero = Lanes::<R, W>::lit(0.0);
        let ratio = |k: usize| Lanes(tracer[k - lo]) / Lanes::splat(column.air[k]);
        let mut smallest = ratio(n - 1);
        for k in lo..n - 1 {
            smallest = smallest.min(ratio(k));
        }
        let mut up = zero;
        for k in (lo..n).rev() {
            let x = ratio(k) - smallest;
            up = nm::updraft_tracer(up, Lanes::splat(column.entu[k]), x, Lanes::splat(self.share_up[k]));
            change[k - lo] = up.0;
        }
        let (mut down, mut above, mut flux_above) = (zero, zero, zero);
        for k in lo..n {
            let x = ratio(k) - smallest;
            let flux = if k == lo {
                zero
            } else {
                let plumes = Lanes(change[k - lo]) + down;
                let (amu, amd) = (Lanes::splat(self.amu[k]), Lanes::splat(self.amd[k]));
                nm::convective_flux(plumes, amu, above, amd, x)
            };
            if k > lo {
                change[k - lo - 1] = (Lanes::splat(dt) * (flux - flux_above)).0;
            }
            down = nm::downdraft_tracer(down, Lanes::splat(column.entd[k]), x, Lanes::splat(self.share_down[k]));
            (above, flux_above) = (x, flux);
        }
        change[n - 1 - lo] = (Lanes::splat(dt) * (zero - flux_above)).0;
    }
}
