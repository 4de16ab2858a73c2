//! Progress of a run: a bar on a terminal, plain lines elsewhere, JSON lines for machines.

use std::io::Write;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::{Context, LogFormat, Sink};
use crate::model::report::{Ended, PlanReport, Progress, Quiet, RunReport, WindowReport};
use crate::timers::TimerReport;

/// The reporter for this context; ranks other than 0 are silent.
pub fn reporter(ctx: &Context, rank: usize) -> Box<dyn Progress> {
    match (rank, ctx.log, ctx.stderr) {
        (0, LogFormat::Json, _) => Box::new(Json::new(std::io::stderr())),
        (0, LogFormat::Text, Sink::Plain) => Box::new(Lines::new(std::io::stderr(), LINE_INTERVAL)),
        (0, LogFormat::Text, sink) => Box::new(Bar::new(sink)),
        _ => Box::new(Quiet),
    }
}

/// Shortest time between two lines about windows.
const LINE_INTERVAL: Duration = Duration::from_secs(10);
const DAY: f64 = 86_400.0;

/// Wall-clock time and number of windows since the start.
#[derive(Debug)]
struct Pace {
    started: Instant,
    windows: u64,
    done: u64,
    /// Model time at the start, s.
    from: f64,
}

impl Pace {
    fn start(windows: u64, from: f64) -> Self {
        Self { started: Instant::now(), windows, done: 0, from }
    }

    fn wall(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Model days per day of wall-clock time.
    fn days_per_day(&self, model_seconds: f64) -> f64 {
        (model_seconds - self.from) / self.wall().max(1e-9)
    }
}

fn status(r: &WindowReport<'_>, pace: &Pace) -> String {
    let (days, speed) = (r.model_seconds / DAY, pace.days_per_day(r.model_seconds));
    let mut text = format!(
        "{} window {}/{} steps/window={} | {days:.2} days, {speed:.0} days/day | snapshots={}",
        r.file, r.window, r.windows, r.substeps, r.snapshots
    );
    if let Some(cfl) = r.max_cfl {
        text += &format!(" | cfl={cfl:.2}");
    }
    if let Some(residual) = r.largest_residual {
        text += &format!(" | residual={residual:.1e}");
    }
    text
}

fn summary(r: &RunReport, pace: &Pace) -> String {
    let wall = pace.wall();
    let (how, ran) = match &r.ended {
        Ended::Complete => ("finished".to_owned(), r.model_seconds - pace.from),
        Ended::Stopped { reason, restart } => {
            let day = r.model_seconds / DAY;
            let what =
                format!("stopped at day {day:.2} by {reason}; `--restart latest` goes on from {}", restart.display());
            (what, r.model_seconds - pace.from)
        }
    };
    let mut text = format!(
        "{how}: {:.2} days in {wall:.1} s ({:.0} days/day), {} snapshots",
        ran / DAY,
        pace.days_per_day(r.model_seconds),
        r.snapshots
    );
    for (name, seconds) in &r.seconds {
        text += &format!(" | {name} {seconds:.1} s ({:.0}%)", 100.0 * seconds / wall.max(1e-9));
    }
    text
}

/// The plan as aligned lines.
fn plan_text(plan: &PlanReport) -> String {
    let lines = plan.lines.iter().map(|(label, value)| format!("  {label:<10} {value}"));
    let windows = std::iter::once(format!("  {:<10} {}", "windows", plan.windows));
    lines.chain(windows).collect::<Vec<_>>().join("\n")
}

/// Totals of the run as a table: what is left of each change once sources and decay are taken off, relative to the total.
fn budget_text(report: &RunReport) -> String {
    let mut text = format!(
        "{:<20} {:>23} {:>12} {:>12} {:>23} {:>12}",
        "total (kg of air)", "start", "sources", "decay", "end", "residual"
    );
    for budget in &report.budgets {
        let (emitted, decayed) = budget.tracer.map_or((0.0, 0.0), |t| (t.emitted, t.decayed));
        text += &format!(
            "\n{:<20} {:>23.16e} {emitted:>12.4e} {:>12.4e} {:>23.16e} {:>12.3e}",
            budget.name,
            budget.initial,
            0.0 - decayed,
            budget.last,
            budget.residual(),
        );
    }
    for (operator, refused) in ["diffusion", "convection"].iter().zip(report.ledger_refused) {
        if refused > 0 {
            text += &format!("\n{operator}: {refused} residuals of columns were larger than rounding explains");
        }
    }
    for file in &report.files {
        text += &format!("\nwritten: {}", file.display());
    }
    text
}

/// A bar that is drawn over.
struct Bar {
    bar: ProgressBar,
    pace: Pace,
}

impl Bar {
    fn new(sink: Sink) -> Self {
        let template = match sink {
            Sink::Fancy => "{bar:40.cyan/blue} {pos}/{len} [{elapsed} < {eta}]\n{wide_msg:.dim}",
            _ => "{bar:40} {pos}/{len} [{elapsed} < {eta}]\n{wide_msg}",
        };
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
        bar.set_style(ProgressStyle::with_template(template).expect("the template is valid"));
        Self { bar, pace: Pace::start(0, 0.0) }
    }
}

impl Progress for Bar {
    fn start(&mut self, plan: &PlanReport) {
        eprintln!("{}", plan_text(plan));
        self.pace = Pace::start(plan.windows, plan.start_seconds);
        self.bar.set_length(plan.windows);
        self.bar.reset();
    }

    fn warn(&mut self, message: &str) {
        self.bar.suspend(|| eprintln!("warning: {message}"));
    }

    fn window(&mut self, report: &WindowReport<'_>) {
        self.bar.set_message(status(report, &self.pace));
        self.bar.inc(1);
    }

    fn timers(&mut self, report: &TimerReport) {
        self.bar.suspend(|| eprintln!("{}", report.text()));
    }

    fn finish(&mut self, report: &RunReport) {
        self.bar.finish_and_clear();
        eprintln!("{}\n{}", summary(report, &self.pace), budget_text(report));
    }
}

/// Plain lines: the last window of every file, and others when enough time has passed.
struct Lines<W> {
    out: W,
    pace: Pace,
    interval: Duration,
    last: Instant,
}

impl<W: Write + Send> Lines<W> {
    fn new(out: W, interval: Duration) -> Self {
        Self { out, pace: Pace::start(0, 0.0), interval, last: Instant::now() }
    }

    /// Progress is worth no failure: a stream that cannot be written is ignored.
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}");
        self.last = Instant::now();
    }
}

impl<W: Write + Send> Progress for Lines<W> {
    fn start(&mut self, plan: &PlanReport) {
        self.pace = Pace::start(plan.windows, plan.start_seconds);
        self.line(&plan_text(plan));
    }

    fn warn(&mut self, message: &str) {
        self.line(&format!("warning: {message}"));
    }

    fn window(&mut self, report: &WindowReport<'_>) {
        self.pace.done += 1;
        if report.window == report.windows || self.last.elapsed() >= self.interval {
            let text = format!("[{}/{}] {}", self.pace.done, self.pace.windows, status(report, &self.pace));
            self.line(&text);
        }
    }

    fn timers(&mut self, report: &TimerReport) {
        self.line(&report.text());
    }

    fn finish(&mut self, report: &RunReport) {
        let text = summary(report, &self.pace);
        self.line(&text);
        self.line(&budget_text(report));
    }
}

/// One JSON object per event and line.
struct Json<W> {
    out: W,
    pace: Pace,
}

impl<W: Write + Send> Json<W> {
    fn new(out: W) -> Self {
        Self { out, pace: Pace::start(0, 0.0) }
    }

    fn event(&mut self, name: &str, body: impl Serialize, extra: &[(&str, serde_json::Value)]) {
        let mut object = serde_json::Map::new();
        object.insert("event".into(), name.into());
        if let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(body) {
            object.extend(fields);
        }
        for key in ["seconds"] {
            if let Some(pairs) = object.get_mut(key) {
                *pairs = as_object(pairs);
            }
        }
        object.extend(extra.iter().map(|(k, v)| ((*k).to_owned(), v.clone())));
        let _ = writeln!(self.out, "{}", serde_json::Value::Object(object));
    }
}

/// `[["a", 1.0]]` as `{"a": 1.0}`.
fn as_object(pairs: &serde_json::Value) -> serde_json::Value {
    let pairs = pairs.as_array().into_iter().flatten();
    let entries = pairs.filter_map(|p| Some((p.get(0)?.as_str()?.to_owned(), p.get(1)?.clone())));
    serde_json::Value::Object(entries.collect())
}

impl<W: Write + Send> Progress for Json<W> {
    fn start(&mut self, plan: &PlanReport) {
        self.pace = Pace::start(plan.windows, plan.start_seconds);
        let mut body = serde_json::Map::new();
        for (key, text) in &plan.lines {
            // Several lines of one name are a list.
            match body.get_mut(*key) {
                None => drop(body.insert((*key).into(), text.clone().into())),
                Some(serde_json::Value::Array(list)) => list.push(text.clone().into()),
                Some(first) => *first = serde_json::json!([first.take(), text]),
            }
        }
        self.event("start", body, &[("total_windows", plan.windows.into())]);
    }

    fn warn(&mut self, message: &str) {
        self.event("warning", serde_json::json!({"message": message}), &[]);
    }

    fn window(&mut self, report: &WindowReport<'_>) {
        self.pace.done += 1;
        let extra = [
            ("windows_done", self.pace.done.into()),
            ("total_windows", self.pace.windows.into()),
            ("wall_seconds", self.pace.wall().into()),
            ("days_per_day", self.pace.days_per_day(report.model_seconds).into()),
        ];
        self.event("window", report, &extra);
    }

    fn timers(&mut self, report: &TimerReport) {
        self.event("timers", report, &[]);
    }

    fn finish(&mut self, report: &RunReport) {
        let extra = [
            ("wall_seconds", self.pace.wall().into()),
            ("days_per_day", self.pace.days_per_day(report.model_seconds).into()),
        ];
        self.event("finish", report, &extra);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> PlanReport {
        PlanReport { lines: vec![("grid", "C24".into())], windows: 24, start_seconds: 0.0 }
    }

    fn run() -> RunReport {
        RunReport {
            ended: Ended::Complete,
            model_seconds: 86_400.0,
            snapshots: 5,
            files: vec!["run.nc".into()],
            ledger_refused: [0, 0],
            budgets: vec![crate::model::report::Budget {
                name: "co2".into(),
                initial: 2.0,
                last: 2.5,
                half_life_seconds: None,
                tracer: None,
            }],
            seconds: vec![("advection", 1.5)],
        }
    }

    fn report(window: usize) -> WindowReport<'static> {
        WindowReport {
            file: "winds.bin",
            window,
            windows: 24,
            substeps: 4,
            model_seconds: 3600.0 * window as f64,
            snapshots: 2,
            max_cfl: Some(0.5),
            largest_residual: Some(1e-16),
            seconds: &[("advection", 0.25), ("io_read", 0.5)],
        }
    }

    fn lines_of(interval: Duration) -> String {
        let mut out = Vec::new();
        let mut lines = Lines::new(&mut out, interval);
        lines.start(&plan());
        (1..=24).for_each(|w| lines.window(&report(w)));
        lines.finish(&run());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_are_few_unless_time_passes() {
        let few = lines_of(Duration::from_secs(3600));
        assert_eq!(few.lines().count(), 7, "{few}");
        assert!(few.contains("[24/24] winds.bin window 24/24 steps/window=4 | 1.00 days"), "{few}");
        assert!(few.contains("\nfinished: 1.00 days"), "{few}");
        assert!(few.contains("2.000e-1") && few.ends_with("written: run.nc\n"), "{few}");
        assert!(!few.contains('\u{1b}') && !few.contains('\r'), "{few:?}");
        assert_eq!(lines_of(Duration::ZERO).lines().count(), 30);
    }

    #[test]
    fn json_lines_hold_every_window() {
        let mut out = Vec::new();
        let mut json = Json::new(&mut out);
        json.start(&plan());
        (1..=24).for_each(|w| json.window(&report(w)));
        json.finish(&run());
        let text = String::from_utf8(out).unwrap();
        let events: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(events.len(), 26);
        assert_eq!(events[0]["total_windows"], 24);
        let third = &events[3];
        assert_eq!(third["event"], "window");
        assert_eq!((&third["window"], &third["windows_done"], &third["substeps"]), (&3.into(), &3.into(), &4.into()));
        assert_eq!(third["model_seconds"], 10_800.0);
        assert_eq!(third["seconds"]["io_read"], 0.5);
        assert_eq!(third["largest_residual"], 1e-16);
        assert!(third["days_per_day"].as_f64().unwrap() > 0.0);
        assert_eq!(events[0]["grid"], "C24");
        assert_eq!(events[25]["event"], "finish");
        assert_eq!(events[25]["budgets"][0]["last"], 2.5);
    }
}
