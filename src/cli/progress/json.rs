//! Events as lines of JSON.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Pace;
use crate::model::report::{CheckpointReport, PlanReport, Progress, RunReport, SnapshotReport, WindowReport};
use crate::timers::TimerReport;

/// Whether failures are events here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failures {
    /// They are.
    Told,
    /// The program tells of them by itself, on the same stream.
    ToldElsewhere,
}

/// One JSON object per event and line.
pub(super) struct Json<W> {
    out: W,
    pace: Pace,
    failures: Failures,
}

impl<W: Write + Send> Json<W> {
    pub(super) fn new(out: W, failures: Failures) -> Self {
        Self { out, pace: Pace::idle(), failures }
    }

    /// Progress is worth no failure: a stream that cannot be written is ignored.
    fn event(&mut self, name: &str, body: impl Serialize, extra: &[(&str, Value)]) {
        let mut object = Map::new();
        object.insert("event".into(), name.into());
        object.insert("time".into(), jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string().into());
        if let Ok(Value::Object(fields)) = serde_json::to_value(body) {
            object.extend(fields);
        }
        if let Some(pairs) = object.get_mut("seconds") {
            *pairs = as_object(pairs);
        }
        object.extend(extra.iter().map(|(k, v)| ((*k).to_owned(), v.clone())));
        let _ = writeln!(self.out, "{}", Value::Object(object));
    }

    fn timing(&self, model_seconds: f64) -> [(&'static str, Value); 2] {
        let speed = self.pace.days_per_day(model_seconds);
        [("run_seconds", self.pace.wall().into()), ("days_per_day", speed.into())]
    }
}

/// `[["a", 1.0]]` as `{"a": 1.0}`.
fn as_object(pairs: &Value) -> Value {
    let pairs = pairs.as_array().into_iter().flatten();
    let entries = pairs.filter_map(|p| Some((p.get(0)?.as_str()?.to_owned(), p.get(1)?.clone())));
    Value::Object(entries.collect())
}

impl<W: Write + Send> Progress for Json<W> {
    fn start(&mut self, plan: &PlanReport) {
        self.pace = Pace::start(plan);
        let mut body = Map::new();
        for (key, text) in &plan.lines {
            // Several lines of one name are a list.
            match body.get_mut(*key) {
                None => drop(body.insert((*key).into(), text.clone().into())),
                Some(Value::Array(list)) => list.push(text.clone().into()),
                Some(first) => *first = json!([first.take(), text]),
            }
        }
        let value = |of: &dyn Fn() -> serde_json::Result<Value>| of().unwrap_or(Value::Null);
        let extra = [
            ("total_windows", plan.windows.into()),
            ("start_seconds", plan.start_seconds.into()),
            ("run", value(&|| serde_json::to_value(&plan.facts))),
            ("memory_bytes", value(&|| serde_json::to_value(&plan.memory.items))),
            ("memory_of_ranks", value(&|| serde_json::to_value(plan.memory_of_ranks))),
        ];
        self.event("start", body, &extra);
    }

    fn warn(&mut self, message: &str) {
        self.event("warning", json!({"message": message}), &[]);
    }

    fn window(&mut self, report: &WindowReport<'_>) {
        self.pace.done += 1;
        let drift = report.tracers.iter().cloned().zip(report.drift.iter().map(|drift| Value::from(*drift)));
        let [run, speed] = self.timing(report.model_seconds);
        let extra = [
            ("drift", Value::Object(drift.collect())),
            ("windows_done", self.pace.done.into()),
            ("total_windows", self.pace.windows.into()),
            run,
            speed,
        ];
        self.event("window", report, &extra);
    }

    fn checkpoint(&mut self, report: &CheckpointReport<'_>) {
        self.event("checkpoint", report, &[]);
    }

    fn snapshot(&mut self, report: &SnapshotReport) {
        self.event("snapshot", report, &[]);
    }

    fn file(&mut self, path: &Path) {
        self.event("file", json!({"file": path.display().to_string()}), &[]);
    }

    fn fail(&mut self, message: &str) {
        if self.failures == Failures::Told {
            self.event("error", json!({"message": message}), &[]);
        }
    }

    fn timers(&mut self, report: &TimerReport) {
        self.event("timers", report, &[]);
    }

    fn finish(&mut self, report: &RunReport) {
        let extra = self.timing(report.model_seconds);
        self.event("finish", report, &extra);
    }
}
