//! Progress of days: a bar on a terminal, plain or JSON lines elsewhere.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::super::{Context, LogFormat, Sink};
use crate::preprocess::DayProgress;

/// Shortest time between two lines about windows.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Shows how far the days of this rank have come.
pub(super) struct Windows {
    started: Instant,
    total: usize,
    done: usize,
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
    format: LogFormat,
}

impl Windows {
    /// For `total` windows; ranks other than 0 show no bar, and lines as all others.
    pub(super) fn new(ctx: &Context, rank: usize, total: usize) -> Self {
        let drawn = rank == 0 && ctx.log == LogFormat::Text && ctx.stderr != Sink::Plain && total > 0;
        let bar = drawn.then(|| {
            let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:32} {pos}/{len} windows, {msg} [{elapsed} < {eta}]");
            bar.with_style(style.expect("a valid template"))
        });
        Self { started: Instant::now(), total, done: 0, bar, last_line: None, format: ctx.log }
    }

    /// A window was written.
    pub(super) fn window(&mut self, progress: DayProgress) {
        self.done += 1;
        let pace = self.done as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
        let days_per_day = pace / progress.windows as f64 * 86_400.0;
        let status = format!("{}, {} substeps, {days_per_day:.0} days/day", progress.day, progress.steps);
        if let Some(bar) = &self.bar {
            bar.set_message(status);
            return bar.inc(1);
        }
        let due = self.last_line.is_none_or(|at| at.elapsed() >= LINE_INTERVAL);
        if due || self.format == LogFormat::Json || progress.written == progress.windows {
            self.last_line = Some(Instant::now());
            tracing::info!(
                day = %progress.day,
                window = progress.written,
                windows = progress.windows,
                substeps = progress.steps,
                days_per_day = days_per_day.round(),
                done = self.done,
                of = self.total,
                "window written"
            );
        }
    }

    /// Prints what must not be drawn over by the bar.
    pub(super) fn beside(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

impl Drop for Windows {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
