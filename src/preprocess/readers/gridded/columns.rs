//! Vertical interpolation of the archive's columns.

use rayon::prelude::*;

use super::{Extension, SourceLevels};
use crate::grid::HybridCoordinate;

/// A column without any value above the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EmptyColumn(pub usize);

/// Values at the mid pressures of `target`, linear in ln p between the levels that lie above the ground and have a value.
///
/// `values` is `[level from the top][column]` with NaN where missing, `ps` the surface pressure of each column in Pa; the
/// result is `[layer][column]`. Above the first and below the last of those levels their values hold, or zero.
///
/// # Errors
/// The first column without any value.
pub(super) fn interpolate(
    values: &[f64],
    ps: &[f64],
    levels: &SourceLevels,
    target: &HybridCoordinate,
    [above, below]: [Extension; 2],
) -> Result<Vec<f64>, EmptyColumn> {
    let (columns, layers) = (ps.len(), target.levels());
    let mut by_column = vec![0.0; columns * layers];
    by_column.par_chunks_mut(layers).enumerate().try_for_each_init(Vec::new, |known, (c, out)| {
        known.clear();
        let present = (0..levels.levels()).filter(|&k| levels.above_ground(k, ps[c]));
        known.extend(
            present.map(|k| (levels.pressure(k, ps[c]).ln(), values[k * columns + c])).filter(|(_, v)| !v.is_nan()),
        );
        let (Some(first), Some(last)) = (known.first().copied(), known.last().copied()) else {
            return Err(EmptyColumn(c));
        };
        let beyond = |extension, value| if extension == Extension::Constant { value } else { 0.0 };
        let mut at = 0;
        for (k, out) in out.iter_mut().enumerate() {
            let p = (0.5 * (target.pressure_at(k, ps[c]) + target.pressure_at(k + 1, ps[c]))).ln();
            *out = if p <= first.0 {
                if p == first.0 { first.1 } else { beyond(above, first.1) }
            } else if p >= last.0 {
                if p == last.0 { last.1 } else { beyond(below, last.1) }
            } else {
                while known[at + 1].0 < p {
                    at += 1;
                }
                let ((p0, v0), (p1, v1)) = (known[at], known[at + 1]);
                let part = (p - p0) / (p1 - p0);
                v0 + part * (v1 - v0)
            };
        }
        Ok(())
    })?;
    let mut by_layer = vec![0.0; by_column.len()];
    by_layer.par_chunks_mut(columns).enumerate().for_each(|(k, layer)| {
        layer.iter_mut().enumerate().for_each(|(c, v)| *v = by_column[c * layers + k]);
    });
    Ok(by_layer)
}

/// Specific humidity in kg/kg from relative humidity (parts of saturation over water), temperature in K and pressure in Pa.
///
/// Saturation pressure after Bolton 1980, eq. 10; ratio of gas constants 0.622.
pub(super) fn specific_humidity(relative: f64, t: f64, p: f64) -> f64 {
    let celsius = t - 273.15;
    let saturation = 611.2 * (17.67 * celsius / (celsius + 243.5)).exp();
    let vapour = (relative * saturation).clamp(0.0, 0.5 * p);
    0.622 * vapour / (p - 0.378 * vapour)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::preprocess::readers::gridded::tests::pressure_levels;

    const CONSTANT: [Extension; 2] = [Extension::Constant; 2];

    proptest! {
        /// What is linear in ln p is met exactly between the levels, whatever the target layers.
        #[test]
        fn profiles_linear_in_ln_p_are_exact(ps in 6e4f64..1.05e5, slope in -5.0f64..5.0, n in 3usize..40) {
            let levels = pressure_levels(&[100.0, 1e3, 1e4, 3e4, 5e4, 7e4, 8.5e4, 1.06e5]);
            let target = HybridCoordinate::smooth(n, 200.0).unwrap();
            // The lowest level is below the ground: what it holds must not matter.
            let values: Vec<f64> = (0..8).map(|k| if k == 7 { f64::NAN } else { slope * levels.pressure(k, ps).ln() }).collect();
            let found = interpolate(&values, &[ps], &levels, &target, CONSTANT).unwrap();
            let lowest = (0..7).filter(|k| levels.above_ground(*k, ps)).map(|k| levels.pressure(k, ps)).fold(0.0, f64::max);
            for (k, v) in found.iter().enumerate() {
                let p = 0.5 * (target.pressure_at(k, ps) + target.pressure_at(k + 1, ps));
                prop_assert!((v - slope * p.min(lowest).ln()).abs() < 1e-12, "{} {}", k, v);
            }
        }
    }

    #[test]
    fn levels_below_the_ground_and_gaps_are_passed_over() {
        let levels = pressure_levels(&[1e4, 5e4, 8.5e4, 1e5]);
        let target = HybridCoordinate::from_pressures(&[2e4, 6e4, 8e4, 1e5]).unwrap();
        let values = [1.0, f64::NAN, 3.0, 1e20];
        let found = interpolate(&values, &[9e4], &levels, &target, CONSTANT).unwrap();
        // 1e20 at 1000 hPa lies below the ground at 900 hPa; the gap at 500 hPa is bridged.
        let part = |p: f64| 1.0 + 2.0 * ((p / 1e4).ln() / (8.5f64).ln()).min(1.0);
        for (k, v) in found.iter().enumerate() {
            let p = 0.5 * (target.pressure_at(k, 9e4) + target.pressure_at(k + 1, 9e4));
            assert!((v - part(p)).abs() < 1e-12, "{k}: {v}");
        }
        let zero = interpolate(&values, &[9e4], &levels, &target, [Extension::Constant, Extension::Zero]).unwrap();
        assert_eq!(zero[2] == 0.0, found[2] == 3.0);
        assert_eq!(interpolate(&[f64::NAN; 4], &[9e4], &levels, &target, CONSTANT), Err(EmptyColumn(0)));
    }

    /// Saturation at 20 °C is 2337 Pa within 0.3 % (Bolton 1980, table 2: 23.37 hPa); q = 0.622 e / (p − 0.378 e).
    #[test]
    fn humidity_of_saturated_air() {
        let q = specific_humidity(1.0, 293.15, 1e5);
        assert!((q / (0.622 * 2337.0 / (1e5 - 0.378 * 2337.0)) - 1.0).abs() < 3e-3, "{q}");
        assert_eq!(specific_humidity(0.0, 250.0, 5e4), 0.0);
    }
}
