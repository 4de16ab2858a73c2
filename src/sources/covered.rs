//! For which part of a run the slices of a source stand.

use super::{SourceTimes, TimeScheme};

/// Times of slices and what they stand for. Outside, the first or last slice is used unchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct CoveredTimes {
    times: SourceTimes,
    from: f64,
    until: f64,
    /// Intervals between slices that none of them stands for, s since the start of the run.
    gaps: Vec<(f64, f64)>,
    /// Time of the only slice, of which nothing tells for how long it stands.
    lone: Option<f64>,
}

impl CoveredTimes {
    /// Slices at stated times and nothing else: a stepwise slice is taken to hold as long as the one before it, and one
    /// that is alone stands for its time only.
    pub fn stated(times: SourceTimes) -> Self {
        let (all, scheme) = (times.times(), times.scheme());
        let (first, last) = (all[0], all[all.len() - 1]);
        let held = match (scheme, all.len()) {
            (_, 1) => return Self::alone(times, first),
            (TimeScheme::Stepwise, n) => last - all[n - 2],
            _ => 0.0,
        };
        Self { from: first, until: last + held, gaps: Vec::new(), lone: None, times }
    }

    /// One slice that is stated for a time and nothing else.
    pub(super) fn alone(times: SourceTimes, stated: f64) -> Self {
        Self { from: stated, until: stated, gaps: Vec::new(), lone: Some(stated), times }
    }

    /// Slices that stand for these intervals, one each, in s since the start of the run.
    pub(super) fn bounded(times: SourceTimes, intervals: &[[f64; 2]]) -> Self {
        let (Some([from, _]), Some([_, until])) = (intervals.first(), intervals.last()) else {
            return Self::stated(times);
        };
        // Calendars of archives may leave a day or so; what counts is a slice that is absent.
        let absent = |pair: &&[[f64; 2]]| {
            let [[from, to], [next, _]] = **pair else { return false };
            to.is_finite() && next - to > 0.5 * (to - from)
        };
        let gaps = intervals.windows(2).filter(absent).map(|pair| (pair[0][1], pair[1][0])).collect();
        Self { from: *from, until: *until, gaps, lone: None, times }
    }

    /// Slices without gaps that stand for all times.
    pub(super) fn endless(times: SourceTimes) -> Self {
        Self { from: f64::NEG_INFINITY, until: f64::INFINITY, gaps: Vec::new(), lone: None, times }
    }

    /// The same slices from another time on.
    pub(super) fn starting(self, from: f64) -> Self {
        Self { from, ..self }
    }

    /// Times of the slices, s since the start of the run.
    pub fn times(&self) -> &SourceTimes {
        &self.times
    }

    /// Beginning of the first slice, s since the start of the run.
    pub fn from(&self) -> f64 {
        self.from
    }

    /// End of the last slice, s since the start of the run; infinite if it has none.
    pub fn until(&self) -> f64 {
        self.until
    }

    /// Whether `start..end` (s) lies within them; times that are stated in days are half a second exact.
    pub fn cover(&self, start: f64, end: f64) -> bool {
        self.from <= start + 0.5 && end <= self.until + 0.5
    }

    /// The first interval inside `start..end` (s) for which no slice stands, although earlier and later ones are there: the
    /// slice before it holds on.
    pub fn gap(&self, start: f64, end: f64) -> Option<(f64, f64)> {
        self.gaps.iter().copied().find(|(from, to)| *from < end && *to > start)
    }

    /// Time of the only slice, s since the start of the run, if nothing tells for how long it stands: it is used always.
    pub fn lone(&self) -> Option<f64> {
        self.lone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(times: &[f64], scheme: TimeScheme) -> SourceTimes {
        SourceTimes::new(times.to_vec(), scheme).unwrap()
    }

    #[test]
    fn stated_times_reach_as_far_as_they_tell() {
        for scheme in [TimeScheme::Linear, TimeScheme::Conservative] {
            let times = CoveredTimes::stated(axis(&[100.0, 200.0], scheme));
            assert!(!times.cover(0.0, 150.0) && times.cover(100.0, 200.0) && !times.cover(100.0, 201.0));
        }
        let stepwise = CoveredTimes::stated(axis(&[100.0, 200.0], TimeScheme::Stepwise));
        assert!(stepwise.cover(100.0, 300.0) && !stepwise.cover(100.0, 301.0));
        let one = CoveredTimes::stated(axis(&[100.0], TimeScheme::Stepwise));
        assert_eq!((one.lone(), one.cover(100.0, 101.0)), (Some(100.0), false));
        assert!(CoveredTimes::endless(SourceTimes::constant()).cover(-1e9, 1e9));
    }

    #[test]
    fn intervals_tell_where_slices_are_absent() {
        let times = axis(&[0.0, 10.0, 40.0], TimeScheme::Stepwise);
        let found = CoveredTimes::bounded(times.clone(), &[[0.0, 10.0], [10.0, 20.0], [40.0, 50.0]]);
        assert!(found.cover(0.0, 50.0) && !found.cover(0.0, 51.0) && !found.cover(-1.0, 50.0));
        assert_eq!((found.gap(0.0, 50.0), found.gap(0.0, 20.0), found.lone()), (Some((20.0, 40.0)), None, None));
        let close = CoveredTimes::bounded(times, &[[0.0, 10.0], [10.0, 38.0], [40.0, 50.0]]);
        assert_eq!(close.gap(0.0, 50.0), None);
    }
}
