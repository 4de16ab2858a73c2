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
    /// Of `repetitions` turns. `turn` gets their number and returns the seconds of both; which of them is done first
    /// should change from turn to turn. A first turn does not count.
    pub(super) fn repeated(repetitions: usize, mut turn: impl FnMut(usize) -> [f64; 2]) -> Self {
        let count = repetitions.max(1);
        let (mut first, mut second, mut more) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
        turn(0);
        for n in 0..count {
            [first[n], second[n]] = turn(n);
            more[n] = second[n] - first[n];
        }
        let [first, second, more] = [&mut first, &mut second, &mut more].map(|seconds| Times::of(seconds));
        let difference = Times { best: second.best - first.best, median: more.median };
        Self { first, second, difference }
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
    }
}
