//! Ticks and number labels of a colour bar.

/// Range of values, with round ticks and a common power of ten.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    /// Value at the dark end.
    pub low: f64,
    /// Value at the light end.
    pub high: f64,
    /// Values of the ticks, within the range.
    pub ticks: Vec<f64>,
    /// Labels of the ticks, to be multiplied by 10^`exponent`.
    pub labels: Vec<String>,
    /// Power of ten, a multiple of three.
    pub exponent: i32,
}

impl Scale {
    /// Scale over the finite `values`; over 0 to 1 if there are none.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Self {
        let finite = values.filter(|v| v.is_finite());
        let (mut low, mut high) =
            finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let size = low.abs().max(high.abs());
        // Single precision noise around a constant is not worth a colour scale.
        if high - low <= 1e-7 * size || high == low {
            let margin = if size > 0.0 { 1e-3 * size } else { 1.0 };
            (low, high) = (low - margin, high + margin);
        }
        Self::between(low, high)
    }

    /// Scale from `low` to `high`, both finite and `low < high`.
    pub(super) fn between(low: f64, high: f64) -> Self {
        let size = low.abs().max(high.abs());
        let thousands = (size.log10() / 3.0).floor() as i32;
        let exponent = if (1e-2..1e5).contains(&size) { 0 } else { 3 * thousands };
        let unit = 10_f64.powi(exponent);
        let step = round_step((high - low) / unit / 6.0);
        let decimals = (0..12).find(|&d| is_whole(step * 10_f64.powi(d))).unwrap_or(12) as usize;
        let (first, last) = ((low / unit / step).ceil() as i64, (high / unit / step).floor() as i64);
        let numbers: Vec<f64> = (first..=last).map(|n| n as f64 * step).collect();
        Self {
            low,
            high,
            labels: numbers.iter().map(|n| format!("{n:.decimals$}")).collect(),
            ticks: numbers.iter().map(|n| n * unit).collect(),
            exponent,
        }
    }

    /// Position of a value in 0..=1.
    pub(super) fn position(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

/// The nearest of 1, 2, 2.5, 5 times a power of ten that is not smaller.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|f| f * power >= step * (1.0 - 1e-9)).unwrap_or(10.0);
    factor * power
}

fn is_whole(x: f64) -> bool {
    (x - x.round()).abs() < 1e-6 * x.abs().max(1e-300)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mole_fractions_are_shown_in_parts_per_million() {
        let scale = Scale::of([3.9e-4, 4.3e-4, f64::NAN, f64::INFINITY].into_iter());
        assert_eq!((scale.low, scale.high, scale.exponent), (3.9e-4, 4.3e-4, -6));
        assert_eq!(scale.labels, ["390", "400", "410", "420", "430"]);
        assert!((scale.ticks[1] - 4.0e-4).abs() < 1e-18);
    }

    #[test]
    fn plain_numbers_stay_plain() {
        let scale = Scale::of([-1.0, 1.0].into_iter());
        assert_eq!(scale.exponent, 0);
        assert_eq!(scale.labels, ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(scale.position(0.0), 0.5);
    }

    #[test]
    fn every_scale_has_a_width() {
        for values in
            [vec![], vec![0.0], vec![4.0e-4], vec![4.0e-4, 4.000_000_1e-4], vec![f64::NAN], vec![-1e300, 1e-300]]
        {
            let scale = Scale::of(values.iter().copied());
            assert!(scale.low < scale.high && scale.ticks.len() >= 2, "{values:?}: {scale:?}");
            assert!(scale.ticks.iter().all(|t| (-1e-9..=1.0 + 1e-9).contains(&scale.position(*t))), "{scale:?}");
            assert!(scale.labels.iter().all(|l| l.len() < 16), "{scale:?}");
        }
    }
}
