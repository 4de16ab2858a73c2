//! Entrainment and detrainment from archived convection, in double precision, one column at a time.
//!
//! Layers count from the top, index 0; edge arrays hold the top edge of layer k at index k and one edge more. Fluxes
//! and rates are in kg m⁻² s⁻¹ unless said otherwise.

use super::ConvectionError;
use crate::Scalar;

/// Updraught mass fluxes below this are noise [kg m⁻² s⁻¹]; downdraughts alike with the sign changed.
const FLUX_NOISE: f64 = 1e-6;
/// Detrainment rates below this are noise [kg m⁻³ s⁻¹].
const RATE_NOISE: f64 = 1e-10;

/// Archived half-level fluxes and detrainment rates of a column of n layers.
#[derive(Clone, Copy, Debug)]
pub struct RawConvection<'a> {
    /// Updraught mass flux, upward positive, n + 1 edges [kg m⁻² s⁻¹].
    pub updraft_flux: &'a [f64],
    /// Downdraught mass flux, downward negative, n + 1 edges [kg m⁻² s⁻¹].
    pub downdraft_flux: &'a [f64],
    /// Updraught detrainment rate, n layers [kg m⁻³ s⁻¹].
    pub updraft_detrainment: &'a [f64],
    /// Downdraught detrainment rate, n layers [kg m⁻³ s⁻¹].
    pub downdraft_detrainment: &'a [f64],
    /// Layer thickness, n layers [m].
    pub thickness: &'a [f64],
}

/// Entrainment and detrainment of both plumes, n layers each [kg m⁻² s⁻¹], all ≥ 0.
#[derive(Debug)]
pub struct PlumeRates<'a> {
    /// Into the updraught.
    pub entu: &'a mut [f64],
    /// Out of the updraught.
    pub detu: &'a mut [f64],
    /// Into the downdraught.
    pub entd: &'a mut [f64],
    /// Out of the downdraught.
    pub detd: &'a mut [f64],
}

/// What the conversion had to change, in numbers of layers, edges or columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateCounters {
    /// Updraught fluxes other than 0 set to 0.
    pub updraft_flux_clipped: u64,
    /// Downdraught fluxes other than 0 set to 0.
    pub downdraft_flux_clipped: u64,
    /// Updraught detrainment rates other than 0 set to 0.
    pub updraft_rate_clipped: u64,
    /// Downdraught detrainment rates other than 0 set to 0.
    pub downdraft_rate_clipped: u64,
    /// Columns without an updraught.
    pub without_updraft: u64,
    /// Columns without a downdraught.
    pub without_downdraft: u64,
    /// Negative entrainments turned into detrainment.
    pub negative_entrainment: u64,
    /// Negative detrainments turned into entrainment.
    pub negative_detrainment: u64,
    /// Plumes closed by more entrainment.
    pub closed_by_entrainment: u64,
    /// Plumes closed by more detrainment.
    pub closed_by_detrainment: u64,
}

/// Entrainment and detrainment from archived fluxes and detrainment rates.
///
/// Noise is cut off, layer balances give the entrainment, negative rates change sides, and the column is closed so that
/// a plume takes in what it gives off. Errors: a result is negative or no number, which means that the input was none.
pub fn rates_from_raw(
    raw: &RawConvection,
    out: &mut PlumeRates,
    counters: &mut RateCounters,
) -> Result<(), ConvectionError> {
    let n = raw.thickness.len();
    let up = Plume {
        flux: |k: usize| cut(raw.updraft_flux[k], FLUX_NOISE),
        detrainment: |k: usize| cut(raw.updraft_detrainment[k], RATE_NOISE) * raw.thickness[k],
    };
    let down = Plume {
        // Downward positive inside: the balance of a layer then reads flux_{k+1} − flux_k.
        flux: |k: usize| cut(-raw.downdraft_flux[k], FLUX_NOISE),
        detrainment: |k: usize| cut(raw.downdraft_detrainment[k], RATE_NOISE) * raw.thickness[k],
    };
    let clipped = |values: &[f64], sign: f64, noise| {
        values.iter().filter(|v| **v != 0.0 && cut(sign * **v, noise) == 0.0).count() as u64
    };
    counters.updraft_flux_clipped += clipped(raw.updraft_flux, 1.0, FLUX_NOISE);
    counters.downdraft_flux_clipped += clipped(raw.downdraft_flux, -1.0, FLUX_NOISE);
    counters.updraft_rate_clipped += clipped(raw.updraft_detrainment, 1.0, RATE_NOISE);
    counters.downdraft_rate_clipped += clipped(raw.downdraft_detrainment, 1.0, RATE_NOISE);
    match up.top(n) {
        Some(top) => {
            up.fill(top, 1.0, out.entu, out.detu, counters);
            let at_surface = out.entu[n - 1];
            close(n - 1, at_surface, out.entu, out.detu, counters);
        }
        None => {
            counters.without_updraft += 1;
            out.entu.fill(0.0);
            out.detu.fill(0.0);
        }
    }
    match down.top(n) {
        Some(top) => {
            down.fill(top, -1.0, out.entd, out.detd, counters);
            close(top, 0.0, out.entd, out.detd, counters);
        }
        None => {
            counters.without_downdraft += 1;
            out.entd.fill(0.0);
            out.detd.fill(0.0);
        }
    }
    for (name, rates) in [("entu", &*out.entu), ("detu", &*out.detu), ("entd", &*out.entd), ("detd", &*out.detd)] {
        // Written so that not-a-number fails as well.
        if let Some(layer) = rates.iter().position(|rate| !(*rate >= 0.0 && rate.is_finite())) {
            return Err(ConvectionError::InvalidRate { name, layer, value: rates[layer] });
        }
    }
    Ok(())
}

/// `value` or, below the noise, 0.
fn cut(value: f64, noise: f64) -> f64 {
    if value < noise { 0.0 } else { value }
}

/// A plume as functions of edge and layer, its flux ≥ 0.
struct Plume<F, D> {
    flux: F,
    detrainment: D,
}

impl<F: Fn(usize) -> f64, D: Fn(usize) -> f64> Plume<F, D> {
    /// First edge with flux, unless that is the surface.
    fn top(&self, n: usize) -> Option<usize> {
        (0..n).find(|k| (self.flux)(*k) > 0.0)
    }

    /// Layer balances from `top` down, `direction` 1 for rising, −1 for sinking air; negative rates change sides.
    fn fill(&self, top: usize, direction: f64, ent: &mut [f64], det: &mut [f64], counters: &mut RateCounters) {
        ent[..top].fill(0.0);
        det[..top].fill(0.0);
        for k in top..ent.len() {
            let mut d = (self.detrainment)(k);
            let mut e = direction * ((self.flux)(k) - (self.flux)(k + 1)) + d;
            if e < 0.0 {
                counters.negative_entrainment += 1;
                d -= e;
                e = 0.0;
            }
            if d < 0.0 {
                counters.negative_detrainment += 1;
                e -= d;
                d = 0.0;
            }
            (ent[k], det[k]) = (e, d);
        }
    }
}

/// Makes the sums of entrainment and detrainment equal, at the layer of largest entrainment; `incumbent` wins unless a
/// layer exceeds `largest`.
fn close(incumbent: usize, largest: f64, ent: &mut [f64], det: &mut [f64], counters: &mut RateCounters) {
    let (mut at, mut largest) = (incumbent, largest);
    for (k, rate) in ent.iter().enumerate() {
        if *rate > largest {
            (at, largest) = (k, *rate);
        }
    }
    let excess = det.iter().sum::<f64>() - ent.iter().sum::<f64>();
    if excess > 0.0 {
        counters.closed_by_entrainment += 1;
        ent[at] += excess;
    } else if excess < 0.0 {
        counters.closed_by_detrainment += 1;
        det[at] -= excess;
    }
}

/// Cloud base from the production of convective rain: the number of the lowest layer (1 at the top) where it is above 0;
/// the lowest layer of all if there is none.
pub fn cloud_base_from_rain(production: &[f64]) -> usize {
    production.iter().rposition(|rate| *rate > 0.0).map_or(production.len(), |k| k + 1)
}

/// Entrainment and detrainment of an updraught from cloud mass flux (n + 1 edges) and detrainment (n layers).
///
/// Where the balance of a layer would need negative entrainment, it becomes detrainment; the lowest layer closes the
/// column. There is no downdraught.
pub fn rates_from_cloud_flux<R: Scalar>(cloud_flux: &[R], detrainment: &[R], entu: &mut [R], detu: &mut [R]) {
    let zero = R::lit(0.0);
    let n = detrainment.len();
    let mut excess = zero;
    for k in 0..n {
        let balance = cloud_flux[k] - cloud_flux[k + 1] + detrainment[k];
        (entu[k], detu[k]) = if balance >= zero { (balance, detrainment[k]) } else { (zero, detrainment[k] - balance) };
    }
    for k in 0..n {
        excess += detu[k] - entu[k];
    }
    if excess > zero {
        entu[n - 1] += excess;
    } else {
        detu[n - 1] -= excess;
    }
}
