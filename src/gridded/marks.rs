//! Marks of missing values that files use without declaring them.

/// Marks that archives use, as they are stored in double precision: large ones occur with both signs.
const NEGATIVE: [f64; 5] = [-999.0, -999.9, -9999.0, -9999.9, -99_999.0];
/// The last one is the default fill value of the NetCDF library.
const LARGE: [f64; 6] = [1e15, 1e20, 1e30, 1e35, 1e36, 9.969_209_968_386_869e36];

/// A value that is a mark is one only if all others are so many times smaller.
const APART: f64 = 100.0;

fn is(value: f64, mark: f64) -> bool {
    value == mark || value == f64::from(mark as f32)
}

fn is_negative(value: f64) -> bool {
    NEGATIVE.into_iter().any(|mark| is(value, mark))
}

/// Whether a value is one of the marks, in single or double precision.
pub(crate) fn is_mark(value: f64) -> bool {
    is_negative(value) || LARGE.into_iter().any(|mark| is(value.abs(), mark))
}

/// The first value of a field of any kind that can only be a mark: it stands apart from all others, large ones by a factor
/// of 100, negative ones by half of it. Values that are not numbers do not count.
pub(crate) fn first_mark(values: &[f64]) -> Option<usize> {
    let known = || values.iter().copied().filter(|value| !value.is_nan());
    let others = || known().filter(|value| !is_mark(*value));
    let largest = others().fold(0.0, |most: f64, value| most.max(value.abs()));
    let least = others().fold(f64::INFINITY, f64::min);
    // A constant field may have any value but those that no quantity has.
    let constant = others().next().is_none() && known().all(|value| is(value.abs(), LARGE[0]));
    let stands_apart = |value: f64| {
        if is_negative(value) { least > 0.5 * value } else { !constant && value.abs() > APART * largest }
    };
    values.iter().position(|value| is_mark(*value) && stands_apart(*value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_known_in_both_precisions_and_near_values_are_none() {
        for mark in NEGATIVE.into_iter().chain(LARGE) {
            for value in [mark, f64::from(mark as f32)] {
                assert!(is_mark(value), "{value}");
                assert!(!is_mark(value * 1.001), "{value}");
            }
            assert_eq!(is_mark(-mark), mark > 0.0, "{mark}");
        }
        assert!(![0.0, -1.0, 999.0, -998.0, 1e10, 9999.0].into_iter().any(is_mark));
    }

    #[test]
    fn values_among_others_of_their_size_are_no_marks() {
        for mark in NEGATIVE.into_iter().chain(LARGE) {
            assert_eq!(first_mark(&[1.0, f64::NAN, mark, 2.0]), Some(2), "{mark}");
            assert_eq!(first_mark(&[1.0, 0.9 * mark, mark]), None, "{mark}");
            assert_eq!(first_mark(&[mark, mark]).is_some(), mark != 1e15, "{mark}");
        }
        assert_eq!(first_mark(&[]), None);
        assert_eq!(first_mark(&[f64::NAN, 250.0, 300.0]), None);
        assert_eq!(first_mark(&[f64::NAN, f64::NAN]), None);
    }
}
