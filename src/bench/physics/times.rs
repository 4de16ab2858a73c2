//! Repetitions of a measurement.

/// Wall times of a piece of work (s).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Times {
    pub(super) best: f64,
    pub(super) median: f64,
}

impl Times {
    /// Best and median of measured times; sorts them.
    pub(super) fn of(seconds: &mut [f64]) -> Self {
        seconds.sort_unstable_by(f64::total_cmp);
        Self { best: seconds[0], median: seconds[seconds.len() / 2] }
    }

    /// Of `repetitions` calls of `once`, which returns the seconds of one; a first call does not count.
    pub(super) fn repeated(repetitions: usize, mut once: impl FnMut() -> f64) -> Self {
        let mut seconds = vec![0.0; repetitions.max(1)];
        once();
        seconds.iter_mut().for_each(|s| *s = once());
        Self::of(&mut seconds)
    }
}

/// Times of two pieces of work that take turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Turns {
    pub(super) first: Times,
    pub(super) second: Times,
    /// Second less first: of both best times, and the median over the turns.
    pub(super) difference: Times,
}

impl Turns {
    /// No time at all.
    pub(super) const NONE: Self = {
        let none = Times { best: 0.0, median: 0.0 };
        Self { first: none, second: none, difference: none }
    };

    /// Of the seconds of both in every turn.
    pub(super) fn of(turns: &[[f64; 2]]) -> Self {
        let times = |seconds: &dyn Fn(&[f64; 2]) -> f64| Times::of(&mut turns.iter().map(seconds).collect::<Vec<_>>());
        let [first, second] = [0, 1].map(|n| times(&|turn| turn[n]));
        let median = times(&|turn| turn[1] - turn[0]).median;
        Self { first, second, difference: Times { best: second.best - first.best, median } }
    }

    /// Of `repetitions` turns. `turn` gets their number and returns the seconds of both; which of them is done first
    /// should change from turn to turn. A first turn does not count.
    pub(super) fn repeated(repetitions: usize, mut turn: impl FnMut(usize) -> [f64; 2]) -> Self {
        let mut turns = vec![[0.0; 2]; repetitions.max(1)];
        turn(0);
        turns.iter_mut().enumerate().for_each(|(n, seconds)| *seconds = turn(n));
        Self::of(&turns)
    }

    /// Both one after the other, of the other a part.
    pub(super) fn then(self, other: Self, part: f64) -> Self {
        let add = |a: Times, b: Times| Times { best: a.best + part * b.best, median: a.median + part * b.median };
        Self {
            first: add(self.first, other.first),
            second: add(self.second, other.second),
            difference: add(self.difference, other.difference),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_calls_do_not_count() {
        let mut n = 0.0;
        let times = Times::repeated(3, || {
            n += 1.0;
            10.0 - n
        });
        assert_eq!(times, Times { best: 6.0, median: 7.0 });
    }

    #[test]
    fn differences_are_those_of_a_turn() {
        let measured = [[1.0, 1.5], [4.0, 4.5], [2.0, 3.0]];
        let turns = Turns::repeated(3, |n| measured[n]);
        assert_eq!(turns.first, Times { best: 1.0, median: 2.0 });
        assert_eq!(turns.second, Times { best: 1.5, median: 3.0 });
        assert_eq!(turns.difference, Times { best: 0.5, median: 0.5 });
        let twice = Turns::NONE.then(turns, 0.5).then(turns, 1.5);
        assert_eq!((twice.second.median, twice.difference.best), (6.0, 1.0));
    }
}
