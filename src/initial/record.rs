//! Which record of a file a tracer starts from.

use jiff::{SignedDuration, Timestamp};

use super::FieldProblem;

/// Which record is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordChoice {
    /// The only one.
    Only,
    /// The one of this number, from 1.
    Index(usize),
    /// The one of this time.
    Time(Timestamp),
}

/// A record that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenRecord {
    /// Its number, from 0.
    pub index: usize,
    /// How many there are.
    pub count: usize,
    /// Its time, if the file tells it.
    pub time: Option<Timestamp>,
}

impl std::fmt::Display for ChosenRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "record {} of {}", self.index + 1, self.count)?;
        self.time.map_or(Ok(()), |time| write!(f, ", {time}"))
    }
}

/// What to do about records.
const CHOOSE: &str = "give `time_index`, from 1, or `time`, e.g. time = \"2000-01-04T00:00:00Z\"";

impl RecordChoice {
    /// The record among `count`, whose `times` are s since 1970-01-01 UTC.
    pub(super) fn among(self, count: usize, times: Option<&[f64]>) -> Result<ChosenRecord, FieldProblem> {
        let refuse = |problem: String| Err(FieldProblem { problem, help: CHOOSE });
        let times = times.filter(|times| times.len() == count);
        let instant =
            |seconds: f64| Timestamp::UNIX_EPOCH.checked_add(SignedDuration::from_secs(seconds.round() as i64)).ok();
        let found = |index: usize| {
            Ok(ChosenRecord { index, count, time: times.and_then(|times| times.get(index)).and_then(|s| instant(*s)) })
        };
        let range = || match times.and_then(|times| Some((instant(*times.first()?)?, instant(*times.last()?)?))) {
            Some((first, last)) => format!(" from {first} to {last}"),
            None => String::new(),
        };
        match self {
            Self::Only if count == 1 => found(0),
            Self::Only => refuse(format!("has {count} records{}, and none is chosen", range())),
            Self::Index(n) if (1..=count).contains(&n) => found(n - 1),
            Self::Index(n) => refuse(format!("time_index = {n} lies outside 1..{count}")),
            Self::Time(wanted) => {
                let Some(times) = times else {
                    return Err(FieldProblem {
                        problem: format!("does not tell the times of its {count} records"),
                        help: "give `time_index`, from 1, instead of `time`",
                    });
                };
                let seconds = wanted.duration_since(Timestamp::UNIX_EPOCH).as_secs_f64();
                match times.iter().position(|time| (time - seconds).abs() < 0.5) {
                    Some(index) => found(index),
                    None => refuse(format!("has no record of {wanted}, but {count}{}", range())),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_records_has_to_be_chosen() {
        let times = [0.0, 86_400.0, 172_800.0];
        let choose = |choice: RecordChoice, times: Option<&[f64]>, count| choice.among(count, times);
        let several = choose(RecordChoice::Only, Some(&times), 3).unwrap_err();
        assert_eq!(
            several.problem,
            "has 3 records from 1970-01-01T00:00:00Z to 1970-01-03T00:00:00Z, and none is chosen"
        );
        assert!(several.help.contains("time_index"), "{}", several.help);
        assert_eq!(choose(RecordChoice::Only, None, 1).unwrap().to_string(), "record 1 of 1");
        let second = choose(RecordChoice::Time(Timestamp::from_second(86_400).unwrap()), Some(&times), 3).unwrap();
        assert_eq!((second.index, second.to_string()), (1, "record 2 of 3, 1970-01-02T00:00:00Z".into()));
        assert_eq!(choose(RecordChoice::Index(2), Some(&times), 3).unwrap(), second);
        let late = choose(RecordChoice::Time(Timestamp::from_second(9).unwrap()), Some(&times), 3).unwrap_err();
        assert!(late.problem.contains("no record of 1970-01-01T00:00:09Z, but 3 from"), "{}", late.problem);
        assert!(choose(RecordChoice::Index(4), None, 3).unwrap_err().problem.contains("outside 1..3"));
        let untold = choose(RecordChoice::Time(Timestamp::UNIX_EPOCH), None, 2).unwrap_err();
        assert!(untold.problem.contains("does not tell the times"), "{}", untold.problem);
    }
}
