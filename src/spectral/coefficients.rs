//! Lists of spectral coefficients as GRIB stores them: zonal wave m outermost, total wave n = m ..= T within, real and
//! imaginary part of each.

use super::SpectralError;

/// Numbers in the spectrum of a real field with triangular truncation at `truncation`: (T + 1)(T + 2).
pub fn coefficient_count(truncation: usize) -> usize {
    (truncation + 1) * (truncation + 2)
}

/// Place of the real part of wave (m, n) in a spectrum truncated at `truncation`; m ≤ n ≤ `truncation`.
pub fn coefficient_index(truncation: usize, m: usize, n: usize) -> usize {
    // Waves before the block of m: sum of T + 1 - k for k < m.
    2 * (m * (truncation + 1) - m * (m.max(1) - 1) / 2 + (n - m))
}

/// The waves up to `to` of a spectrum truncated at `from`.
///
/// # Errors
/// [`SpectralError::Truncation`] if `to` > `from`, [`SpectralError::Length`] if the list is not one of `from`.
pub fn truncated(values: &[f64], from: usize, to: usize) -> Result<Vec<f64>, SpectralError> {
    if to > from {
        return Err(SpectralError::Truncation { from, to });
    }
    check_length(1, values, from)?;
    let blocks = (0..=to).map(|m| {
        let start = coefficient_index(from, m, m);
        &values[start..start + 2 * (to - m + 1)]
    });
    Ok(blocks.flatten().copied().collect())
}

fn check_length(field: usize, values: &[f64], truncation: usize) -> Result<(), SpectralError> {
    let expected = coefficient_count(truncation);
    if values.len() == expected {
        Ok(())
    } else {
        Err(SpectralError::Length { field, found: values.len(), truncation, expected })
    }
}

/// Refuses lists of another length and coefficients that are no numbers. `field` counts from 1.
pub(super) fn check(field: usize, values: &[f64], truncation: usize) -> Result<(), SpectralError> {
    check_length(field, values, truncation)?;
    let Some(place) = values.iter().position(|v| !v.is_finite()) else {
        return Ok(());
    };
    let m = (0..=truncation).rfind(|&m| coefficient_index(truncation, m, m) <= place).unwrap_or(0);
    let n = m + (place - coefficient_index(truncation, m, m)) / 2;
    Err(SpectralError::Value { field, m, n, value: values[place] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_follow_each_other() {
        for truncation in [0, 1, 2, 5, 63] {
            let mut place = 0;
            for m in 0..=truncation {
                for n in m..=truncation {
                    assert_eq!(coefficient_index(truncation, m, n), place);
                    place += 2;
                }
            }
            assert_eq!(place, coefficient_count(truncation));
        }
    }

    #[test]
    fn truncation_keeps_the_waves_that_remain() {
        let from = 5;
        let value = |m: usize, n: usize, part: usize| (100 * m + 10 * n + part) as f64;
        let all = |top: usize| -> Vec<f64> {
            let waves = (0..=top).flat_map(|m| (m..=top).map(move |n| (m, n)));
            waves.flat_map(|(m, n)| [value(m, n, 0), value(m, n, 1)]).collect()
        };
        assert_eq!(truncated(&all(from), from, 3).unwrap(), all(3));
        assert_eq!(truncated(&all(from), from, from).unwrap(), all(from));
        assert_eq!(truncated(&all(from), from, 6), Err(SpectralError::Truncation { from: 5, to: 6 }));
        assert!(matches!(truncated(&[0.0; 3], 5, 2), Err(SpectralError::Length { found: 3, expected: 42, .. })));
    }

    #[test]
    fn a_coefficient_that_is_no_number_is_named() {
        let mut values = vec![0.0; coefficient_count(7)];
        values[coefficient_index(7, 3, 5) + 1] = f64::INFINITY;
        assert_eq!(check(4, &values, 7), Err(SpectralError::Value { field: 4, m: 3, n: 5, value: f64::INFINITY }));
    }
}
