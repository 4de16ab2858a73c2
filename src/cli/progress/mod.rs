//! Progress of a run: a bar on a terminal, plain lines elsewhere, JSON lines for machines.

mod both;
mod json;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use self::both::Both;
use self::json::{Failures, Json};
use super::{Context, LogFormat, Sink};
use crate::files::size_words;
use crate::model::report::{
    CheckpointReport, Ended, MemoryUse, PlanReport, Progress, Quiet, RunReport, Spread, WindowReport,
};
use crate::timers::TimerReport;

/// The reporter for this context; ranks other than 0 are silent. Every event also goes to `events`, as with `--log json`.
pub fn reporter(ctx: &Context, rank: usize, events: Option<File>) -> Box<dyn Progress> {
    let shown: Box<dyn Progress> = match (rank, ctx.log, ctx.stderr) {
        (0, LogFormat::Json, _) => Box::new(Json::new(std::io::stderr(), Failures::ToldElsewhere)),
        (0, LogFormat::Text, Sink::Plain) => Box::new(Lines::new(std::io::stderr(), LINE_INTERVAL)),
        (0, LogFormat::Text, sink) => Box::new(Bar::new(sink)),
        _ => Box::new(Quiet),
    };
    match events.filter(|_| rank == 0) {
        Some(file) => Box::new(Both(shown, Box::new(Json::new(file, Failures::Told)))),
        None => shown,
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
    ranks: usize,
}

impl Pace {
    fn idle() -> Self {
        Self { started: Instant::now(), windows: 0, done: 0, from: 0.0, ranks: 1 }
    }

    fn start(plan: &PlanReport) -> Self {
        Self { windows: plan.windows, from: plan.start_seconds, ranks: plan.facts.ranks, ..Self::idle() }
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
        "{} window {}/{} steps/window={} | {days:.2} days, {speed:.0} days/day | snapshots={} | {:.2} s",
        r.file, r.window, r.windows, r.substeps, r.snapshots, r.wall_seconds
    );
    if r.read_wait_seconds >= 0.005 {
        text += &format!(" (reading {:.2} s)", r.read_wait_seconds);
    }
    if let Some(cfl) = r.max_cfl {
        text += &format!(" | cfl={cfl:.2}/{}", r.cfl_limit);
        if r.passes > 1 {
            text += &format!(" in {} passes", r.passes);
        }
    }
    if pace.ranks > 1 {
        text += &format!(" | imbalance={:.2}", r.imbalance);
    }
    if let Some((tracer, drift)) = r.worst() {
        text += &format!(" | drift={drift:.1e} ({tracer})");
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

/// Memory of the ranks beside what was expected.
fn memory_text(memory: &MemoryUse) -> Option<String> {
    let found = memory.high_water?;
    let words = |spread: &Spread| {
        let [min, mean, max] = [spread.min, spread.mean, spread.max].map(|bytes| size_words(bytes as u64));
        if spread.min == spread.max { max } else { format!("{min} to {max}, mean {mean} on a rank") }
    };
    Some(format!("memory: {} at the most, {} expected", words(&found), words(&memory.expected)))
}

/// A restart file in words.
fn checkpoint_text(r: &CheckpointReport<'_>) -> String {
    let (day, took) = (r.model_seconds / DAY, r.took_seconds);
    format!("restart file of day {day:.2}: {} ({}, {took:.2} s)", r.file.display(), size_words(r.bytes))
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
    if let Some(memory) = memory_text(&report.memory) {
        text += &format!("\n{memory}");
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
        Self { bar, pace: Pace::idle() }
    }
}

impl Progress for Bar {
    fn start(&mut self, plan: &PlanReport) {
        eprintln!("{}", plan_text(plan));
        self.pace = Pace::start(plan);
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
    /// When a restart file was last told of.
    checkpointed: Option<Instant>,
}

impl<W: Write + Send> Lines<W> {
    fn new(out: W, interval: Duration) -> Self {
        Self { out, pace: Pace::idle(), interval, last: Instant::now(), checkpointed: None }
    }

    /// Progress is worth no failure: a stream that cannot be written is ignored.
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}");
        self.last = Instant::now();
    }
}

impl<W: Write + Send> Progress for Lines<W> {
    fn start(&mut self, plan: &PlanReport) {
        self.pace = Pace::start(plan);
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

    fn checkpoint(&mut self, report: &CheckpointReport<'_>) {
        if self.checkpointed.is_none_or(|last| last.elapsed() >= self.interval) {
            self.line(&checkpoint_text(report));
            self.checkpointed = Some(self.last);
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
