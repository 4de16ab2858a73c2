//! Operations on normal winds along the lines on which their faces lie: grid lines of panels, and seams.

use decomposition::{Axis, Panel};

use super::super::FaceTable;
use super::super::faces::FaceLine;

/// Lines within panels at least this far (in faces) from both panel edges have the long stencil of [`smooth`].
const DEEP_LINE: usize = 4;
/// Faces at least this far from both ends of such a line have it.
const DEEP_FACE: usize = 3;

/// All lines of faces.
pub(super) fn all_lines(faces: &FaceTable) -> impl Iterator<Item = FaceLine> {
    let within = (1..faces.nc()).flat_map(move |across| {
        let panels = Panel::ALL.into_iter();
        panels.flat_map(move |panel| [Axis::X, Axis::Y].map(|axis| faces.line(panel, axis, across)))
    });
    within.chain((0..12).map(|seam| faces.seam_line(seam)))
}

/// Difference per face along a line at its face `n`, central or one-sided at both ends.
pub(super) fn slope(values: &[f64], FaceLine { first, step }: FaceLine, n: usize, len: usize) -> f64 {
    let at = |n: usize| values[first + n * step];
    match (n.checked_sub(1), Some(n + 1).filter(|next| *next < len)) {
        (Some(previous), Some(next)) => 0.5 * (at(next) - at(previous)),
        (Some(previous), None) => at(n) - at(previous),
        (None, Some(next)) => at(next) - at(n),
        (None, None) => 0.0,
    }
}

/// Moves the values of each face along its line by `shifts`, in faces.
pub(super) fn shift(faces: &FaceTable, shifts: &[f64], values: &mut [f64]) {
    let len = faces.nc();
    for FaceLine { first, step } in all_lines(faces) {
        let mut previous = None;
        for n in 0..len {
            let face = first + n * step;
            let own = values[face];
            let next = if n + 1 < len { Some(values[face + step]) } else { None };
            let slope = match (previous, next) {
                (Some(previous), Some(next)) => 0.5 * (next - previous),
                (Some(previous), None) => own - previous,
                (None, Some(next)) => next - own,
                (None, None) => 0.0,
            };
            values[face] = own + shifts[face] * slope;
            previous = Some(own);
        }
    }
}

/// Smooths normal winds as on their way from the A to the D grid of FV3 (mean of two) and back (cubic; near panel edges
/// another mean of two). The first and the last face of a line stay as they are.
pub(super) fn smooth(faces: &FaceTable, values: &mut [f64]) {
    let nc = faces.nc();
    for panel in Panel::ALL {
        for across in 1..nc {
            let deep = across >= DEEP_LINE && across + DEEP_LINE <= nc;
            smooth_line(faces.line(panel, Axis::X, across), nc, deep, values);
            smooth_line(faces.line(panel, Axis::Y, across), nc, deep, values);
        }
    }
    for seam in 0..12 {
        smooth_line(faces.seam_line(seam), nc, false, values);
    }
}

/// Smooths one line of `len` faces in place; with the long stencil where it is `deep`.
fn smooth_line(FaceLine { first, step }: FaceLine, len: usize, deep: bool, values: &mut [f64]) {
    // The two values before the present one, as they were.
    let (mut second, mut previous) = (0.0, values[first]);
    for n in 1..len.max(1) - 1 {
        let face = first + n * step;
        let (own, next) = (values[face], values[face + step]);
        values[face] = if deep && n >= DEEP_FACE && n + DEEP_FACE < len {
            (18.0 * own + 8.0 * (previous + next) - (second + values[face + 2 * step])) / 32.0
        } else {
            0.5 * own + 0.25 * (previous + next)
        };
        (second, previous) = (previous, own);
    }
}

#[cfg(test)]
mod tests {
    use decomposition::PanelConvention;

    use super::*;

    #[test]
    fn every_face_lies_on_one_line() {
        for nc in [1, 2, 5] {
            let faces = FaceTable::new(nc, PanelConvention::GeosNative);
            let mut seen: Vec<usize> =
                all_lines(&faces).flat_map(|FaceLine { first, step }| (0..nc).map(move |n| first + n * step)).collect();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..faces.faces()));
        }
    }

    /// Stencils by the 1-based position a along a line and c across it: the long one for 4 ≤ a ≤ nc − 3 and
    /// 5 ≤ c ≤ nc − 3, else (1, 2, 1)/4 for 2 ≤ a ≤ nc − 1, else none.
    #[test]
    fn stencils_depend_on_the_distance_from_panel_edges() {
        let nc = 12;
        let faces = FaceTable::new(nc, PanelConvention::Gnomonic);
        let panel = Panel::ALL[3];
        for axis in [Axis::X, Axis::Y] {
            for c in 2..=nc {
                let FaceLine { first, step } = faces.line(panel, axis, c - 1);
                for source in 1..=nc {
                    let mut values = vec![0.0; faces.faces()];
                    values[first + (source - 1) * step] = 32.0;
                    smooth(&faces, &mut values);
                    for a in 1..=nc {
                        let weights: &[f64] = if (4..=nc - 3).contains(&a) && (5..=nc - 3).contains(&c) {
                            &[18.0, 8.0, -1.0]
                        } else if (2..nc).contains(&a) {
                            &[16.0, 8.0]
                        } else {
                            &[32.0]
                        };
                        let expected = weights.get(a.abs_diff(source)).copied().unwrap_or(0.0);
                        assert_eq!(values[first + (a - 1) * step], expected, "a {a}, c {c}, from {source}");
                    }
                    assert_eq!(values.iter().filter(|v| **v != 0.0).count(), values_on_line(&values, first, step, nc));
                }
            }
        }
    }

    fn values_on_line(values: &[f64], first: usize, step: usize, nc: usize) -> usize {
        (0..nc).filter(|n| values[first + n * step] != 0.0).count()
    }

    #[test]
    fn shifts_follow_the_slope() {
        let nc = 4;
        let faces = FaceTable::new(nc, PanelConvention::Gnomonic);
        let line = faces.line(Panel::ALL[1], Axis::X, 2);
        let mut values = vec![0.0; faces.faces()];
        (0..nc).for_each(|n| values[line.first + n * line.step] = [1.0, 3.0, 7.0, 8.0][n]);
        let slopes: Vec<f64> = (0..nc).map(|n| slope(&values, line, n, nc)).collect();
        assert_eq!(slopes, [2.0, 3.0, 2.5, 1.0]);
        shift(&faces, &vec![0.5; faces.faces()], &mut values);
        assert_eq!([0, 1, 2, 3].map(|n| values[line.first + n * line.step]), [2.0, 4.5, 8.25, 8.5]);
    }
}
