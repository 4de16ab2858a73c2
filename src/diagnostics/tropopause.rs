//! The lapse-rate tropopause of a column.

use crate::grid::constants::{GAS_CONSTANT_DRY_AIR, GRAVITY};

/// Lapse rate below which the stratosphere begins, K/m (WMO 1957: 2 K/km).
const LIMIT: f64 = 2.0e-3;
/// Depth over which the mean lapse rate must stay below the limit, m (WMO 1957).
const DEPTH: f64 = 2000.0;
/// Pressures between which a tropopause is sought, Pa: below lie inversions of the lower troposphere, above the middle
/// atmosphere (Reichler, Dameris & Sausen 2003: 550 to 75 hPa).
const SOUGHT: [f64; 2] = [7500.0, 55_000.0];

/// Height above the surface (m) and pressure (Pa) of a tropopause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tropopause {
    /// Height above the surface, m.
    pub height: f64,
    /// Pressure, Pa.
    pub pressure: f64,
}

/// The lowest height at which the lapse rate falls to 2 K/km and from which its mean to every height within 2 km above is no
/// larger (WMO 1957), between 550 and 75 hPa; `None` if there is none, as in some polar winters.
///
/// `pressure` holds the interfaces in Pa, from the top (which may be 0) down, `temperature` (K) and `humidity` (specific,
/// kg/kg) the layers between. Layers have their temperature at the mean of the logarithms of their interfaces; heights
/// follow from hydrostatic balance with virtual temperature. Between layer centres temperature is linear in height, so the
/// lapse rate is known halfway between centres and interpolated between those.
pub fn tropopause(pressure: &[f64], temperature: &[f64], humidity: &[f64]) -> Option<Tropopause> {
    let layers = temperature.len();
    assert!(pressure.len() == layers + 1 && humidity.len() == layers, "one interface more than layers");
    // Height, log-pressure and temperature of a centre, from the surface up.
    let mut below = 0.0;
    let centres: Vec<[f64; 3]> = (0..layers)
        .rev()
        .map(|k| {
            // A top at 0 Pa is infinitely high: take the layer as if it began at half its lower pressure.
            let upper = if pressure[k] > 0.0 { pressure[k] } else { 0.5 * pressure[k + 1] };
            let scale = GAS_CONSTANT_DRY_AIR * temperature[k] * (1.0 + VIRTUAL * humidity[k]) / GRAVITY;
            let depth = scale * (pressure[k + 1] / upper).ln();
            let centre = [below + 0.5 * depth, 0.5 * (pressure[k + 1] * upper).ln(), temperature[k]];
            below += depth;
            centre
        })
        .collect();
    // Lapse rate halfway between centres.
    let lapse: Vec<[f64; 2]> =
        centres.windows(2).map(|c| [0.5 * (c[0][0] + c[1][0]), (c[0][2] - c[1][2]) / (c[1][0] - c[0][0])]).collect();
    for (n, pair) in lapse.windows(2).enumerate() {
        let [[z0, steep], [z1, gentle]] = [pair[0], pair[1]];
        if !(steep > LIMIT && gentle <= LIMIT) {
            continue;
        }
        let height = z0 + (z1 - z0) * (steep - LIMIT) / (steep - gentle);
        let pressure = log_pressure(&centres, height).exp();
        if (SOUGHT[0]..=SOUGHT[1]).contains(&pressure) && stays_stable(&lapse[n + 1..], height) {
            return Some(Tropopause { height, pressure });
        }
    }
    None
}

/// Whether the mean lapse rate from `height`, where it is the limit, to every height within [`DEPTH`] above is at most the
/// limit. `above` holds heights and lapse rates from there on, linear in between and constant beyond.
fn stays_stable(above: &[[f64; 2]], height: f64) -> bool {
    let (mut before, mut excess) = ([height, LIMIT], 0.0);
    for &[z, rate] in above {
        let within = z.min(height + DEPTH);
        let rate = before[1] + (rate - before[1]) * (within - before[0]) / (z - before[0]);
        excess += (0.5 * (before[1] + rate) - LIMIT) * (within - before[0]);
        if excess > 0.0 {
            return false;
        }
        if within < z {
            return true;
        }
        before = [z, rate];
    }
    before[1] <= LIMIT
}

/// Ratio of the gas constants of water vapour and dry air, less 1.
const VIRTUAL: f64 = 0.608;

/// Log-pressure at a height, linear between centres and beyond them.
fn log_pressure(centres: &[[f64; 3]], height: f64) -> f64 {
    let after = centres.partition_point(|c| c[0] < height).clamp(1, centres.len() - 1);
    let [low, high] = [centres[after - 1], centres[after]];
    low[1] + (high[1] - low[1]) * (height - low[0]) / (high[0] - low[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column of `layers` layers of equal depth up to 30 km with a temperature given by height, dry.
    fn column(layers: usize, temperature: impl Fn(f64) -> f64) -> (Vec<f64>, Vec<f64>) {
        let depth = 30_000.0 / layers as f64;
        let (mut pressure, mut temperatures) = (vec![101_325.0], Vec::new());
        for k in 0..layers {
            let t = temperature((k as f64 + 0.5) * depth);
            temperatures.push(t);
            pressure.push(pressure[k] * (-GRAVITY * depth / (GAS_CONSTANT_DRY_AIR * t)).exp());
        }
        pressure.reverse();
        temperatures.reverse();
        (pressure, temperatures)
    }

    fn height(layers: usize, temperature: impl Fn(f64) -> f64) -> Option<f64> {
        let (pressure, temperatures) = column(layers, temperature);
        tropopause(&pressure, &temperatures, &vec![0.0; layers]).map(|found| found.height)
    }

    /// ICAO standard atmosphere: 6.5 K/km up to 11 km, constant up to 20 km, then rising by 1 K/km.
    fn standard(z: f64) -> f64 {
        288.15 - 6.5e-3 * z.min(11_000.0) + 1.0e-3 * (z - 20_000.0).max(0.0)
    }

    #[test]
    fn the_standard_atmosphere_has_its_tropopause_at_11_km() {
        for layers in [60, 100, 300] {
            let found = height(layers, standard).unwrap();
            // Within half a layer of the bend.
            assert!((found - 11_000.0).abs() < 15_000.0 / layers as f64 + 1.0, "{layers}: {found}");
        }
        let (pressure, temperatures) = column(300, standard);
        let found = tropopause(&pressure, &temperatures, &[0.0; 300]).unwrap();
        // ICAO: 226.32 hPa.
        assert!((found.pressure - 22_632.0).abs() < 200.0, "{found:?}");
    }

    #[test]
    fn a_thin_stable_layer_below_does_not_count() {
        // Isothermal between 7 and 8 km only: the mean over 2 km from there exceeds 2 K/km.
        let inversion = |z: f64| standard(if z < 7000.0 { z } else { (z - 1000.0).max(7000.0) });
        let found = height(300, inversion).unwrap();
        assert!((found - 12_000.0).abs() < 60.0, "{found}");
        // Between 7 and 9.5 km it does.
        let deep = |z: f64| standard(if z < 7000.0 { z } else { (z - 2500.0).max(7000.0) });
        assert!((height(300, deep).unwrap() - 7000.0).abs() < 60.0);
    }

    #[test]
    fn there_may_be_none() {
        assert_eq!(height(100, |z| 288.0 - 6.5e-3 * z.min(25_000.0)), None);
        // Inversions near the ground do not count.
        assert_eq!(height(100, |z| if z < 3000.0 { 260.0 + 1.0e-3 * z } else { 263.0 - 3.0e-3 * (z - 3000.0) }), None);
    }

    #[test]
    fn moist_air_lifts_the_heights() {
        let (pressure, temperatures) = column(300, standard);
        let dry = tropopause(&pressure, &temperatures, &[0.0; 300]).unwrap();
        let moist = tropopause(&pressure, &temperatures, &[0.01; 300]).unwrap();
        assert!((moist.height / dry.height - 1.00608).abs() < 2e-3, "{moist:?} {dry:?}");
    }
}
