//! Time slices of a source, and what they contribute to a step.

use std::ops::Range;

use super::SourceError;

/// How values between slices are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeScheme {
    /// A slice holds from its time to the next one.
    Stepwise,
    /// The straight line between slices, at the start of the step.
    Linear,
    /// The exact mean of the straight lines over the step.
    Conservative,
}

/// Times of the slices in seconds since the start of the run. Before the first and after the last the value is constant.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceTimes {
    times: Vec<f64>,
    scheme: TimeScheme,
}

/// Part of a step: slice `first` acts for `first_seconds`, slice `second` for `second_seconds`.
///
/// The seconds are interpolation weight times duration, so over a step they sum to its length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// One slice.
    pub first: usize,
    /// The other slice; equal to `first`, with zero seconds, where only one acts.
    pub second: usize,
    /// Seconds of `first`.
    pub first_seconds: f64,
    /// Seconds of `second`.
    pub second_seconds: f64,
}

impl SourceTimes {
    /// Slices at strictly increasing `times`.
    ///
    /// # Errors
    /// [`SourceError::NoSlice`] and [`SourceError::Times`].
    pub fn new(times: Vec<f64>, scheme: TimeScheme) -> Result<Self, SourceError> {
        let Some(first) = times.first() else { return Err(SourceError::NoSlice) };
        if !first.is_finite() {
            return Err(SourceError::Times { slice: 1, time: *first, before: f64::NEG_INFINITY });
        }
        if let Some(n) = (1..times.len()).find(|&n| !(times[n].is_finite() && times[n] > times[n - 1])) {
            return Err(SourceError::Times { slice: n + 1, time: times[n], before: times[n - 1] });
        }
        Ok(Self { times, scheme })
    }

    /// One slice for all times.
    pub fn constant() -> Self {
        Self { times: vec![0.0], scheme: TimeScheme::Stepwise }
    }

    /// The times.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The scheme.
    pub fn scheme(&self) -> TimeScheme {
        self.scheme
    }

    /// Slices that a run from `start` to `end` (s) needs: from the last at or before the start to the first at or after
    /// the end. They alone give the same segments within the run.
    pub fn needed(&self, start: f64, end: f64) -> Range<usize> {
        let first = self.times.partition_point(|t| *t <= start).saturating_sub(1);
        let last = self.times.partition_point(|t| *t < end).min(self.times.len() - 1);
        first..last.max(first) + 1
    }

    /// These times without the slices outside `range`.
    ///
    /// # Panics
    /// If the range is empty or reaches beyond the slices.
    pub fn limited(&self, range: Range<usize>) -> Self {
        assert!(!range.is_empty());
        Self { times: self.times[range].to_vec(), scheme: self.scheme }
    }

    /// Segments of the step of `length` seconds from `start` (s). A knot strictly inside the step, by more than the
    /// spacing of numbers at its end, begins a new segment.
    pub fn segments(&self, start: f64, length: f64) -> Segments<'_> {
        let end = start + length;
        let tolerance = end.abs().next_up() - end.abs();
        let inside = match self.scheme {
            TimeScheme::Linear => 0..0,
            TimeScheme::Stepwise | TimeScheme::Conservative => {
                let first = self.times.partition_point(|t| *t <= start + tolerance);
                let last = self.times.partition_point(|t| *t < end - tolerance);
                first..last.max(first)
            }
        };
        Segments { of: self, start, length, done: 0.0, knots: inside, finished: false }
    }

    /// The slices and the weight of the second at time `t`.
    fn blend(&self, t: f64) -> (usize, usize, f64) {
        let last = self.times.len() - 1;
        let after = self.times.partition_point(|knot| *knot <= t);
        let before = after.saturating_sub(1);
        if self.scheme == TimeScheme::Stepwise || after == 0 || after > last {
            return (before, before, 0.0);
        }
        let (a, b) = (self.times[before], self.times[after]);
        (before, after, (t - a) / (b - a))
    }
}

/// Iterator over the segments of a step; takes no memory.
#[derive(Clone, Debug)]
pub struct Segments<'a> {
    of: &'a SourceTimes,
    start: f64,
    length: f64,
    /// Seconds of the step already handed out.
    done: f64,
    knots: Range<usize>,
    finished: bool,
}

impl Iterator for Segments<'_> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        if self.finished {
            return None;
        }
        // Counted from the start of the step, so that the parts sum to its length whatever the clock reads.
        let end = match self.knots.next() {
            Some(knot) => self.of.times[knot] - self.start,
            None => {
                self.finished = true;
                self.length
            }
        };
        let seconds = end - self.done;
        let at = match self.of.scheme {
            TimeScheme::Linear => self.start,
            TimeScheme::Stepwise | TimeScheme::Conservative => self.start + (self.done + 0.5 * seconds),
        };
        self.done = end;
        let (first, second, weight) = self.of.blend(at);
        let second_seconds = weight * seconds;
        Some(Segment { first, second, first_seconds: seconds - second_seconds, second_seconds })
    }
}
