//! Figures of all sections, of all ranks.

use std::sync::PoisonError;

use serde::Serialize;

use super::{Timed, Timers};
use crate::comm::Communicator;

/// One section.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SectionRow {
    /// Name.
    pub section: &'static str,
    /// Samples on this rank.
    pub n_calls: usize,
    /// Their sum (s).
    pub total_s: f64,
    /// Their mean (ms).
    pub mean_ms: f64,
    /// Their median (ms).
    pub p50_ms: f64,
    /// 95 % of the samples are not longer (ms).
    pub p95_ms: f64,
    /// The longest (ms).
    pub max_ms: f64,
    /// Share of the sum of all sections of this rank, 0 to 1. Sections lie within others, so it is no share of the run.
    pub fraction_of_total: f64,
    /// Bytes of memory taken by the thread of the section; 0 unless counted.
    pub allocated_bytes: u64,
    /// The same per call.
    pub mean_alloc_bytes: f64,
    /// Smallest total of a rank (s).
    pub rank_min_s: f64,
    /// Mean total of the ranks (s).
    pub rank_mean_s: f64,
    /// Largest total of a rank (s).
    pub rank_max_s: f64,
}

impl SectionRow {
    /// Largest total of a rank over the mean; 1 where all take the same time.
    pub fn imbalance(&self) -> f64 {
        if self.rank_mean_s > 0.0 { self.rank_max_s / self.rank_mean_s } else { 1.0 }
    }
}

/// Figures of the timers of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimerReport {
    /// Wall-clock time since the timers started (s).
    pub wall_s: f64,
    /// Part of it within sections of the rank's own thread (s).
    pub covered_s: f64,
    /// Ranks.
    pub ranks: usize,
    /// Whether memory was counted.
    pub allocations: bool,
    /// Sections with samples on any rank, the longest first.
    pub rows: Vec<SectionRow>,
}

/// The sample at ⌈q·n⌉, counted from 1, of sorted samples.
fn percentile(sorted: &[u64], q: f64) -> f64 {
    let at = ((q * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len().max(1));
    sorted.get(at - 1).map_or(0.0, |n| *n as f64 * 1e-6)
}

impl Timers {
    /// Figures of this rank, and the spread over all ranks. Collective over `comm`.
    pub fn report(&self, comm: &dyn Communicator) -> TimerReport {
        let samples: Vec<_> =
            self.samples.iter().map(|s| s.lock().unwrap_or_else(PoisonError::into_inner).clone()).collect();
        let totals: Vec<i64> = samples.iter().map(|s| s.nanoseconds.iter().sum::<u64>() as i64).collect();
        let (mut sums, mut calls) =
            (totals.clone(), samples.iter().map(|s| s.nanoseconds.len() as i64).collect::<Vec<_>>());
        comm.sum_i64(&mut sums);
        comm.sum_i64(&mut calls);
        let mut ends: Vec<f64> = totals.iter().flat_map(|n| [*n as f64, -(*n as f64)]).collect();
        comm.max_f64(&mut ends);
        let all: i64 = totals.iter().sum();
        let mut rows = Vec::new();
        for (n, section) in Timed::ALL.iter().enumerate() {
            if calls[n] == 0 {
                continue;
            }
            let mut sorted = samples[n].nanoseconds.clone();
            sorted.sort_unstable();
            let count = sorted.len().max(1) as f64;
            rows.push(SectionRow {
                section: section.name(),
                n_calls: sorted.len(),
                total_s: totals[n] as f64 * 1e-9,
                mean_ms: totals[n] as f64 * 1e-6 / count,
                p50_ms: percentile(&sorted, 0.5),
                p95_ms: percentile(&sorted, 0.95),
                max_ms: percentile(&sorted, 1.0),
                fraction_of_total: if all > 0 { totals[n] as f64 / all as f64 } else { 0.0 },
                allocated_bytes: samples[n].allocated,
                mean_alloc_bytes: samples[n].allocated as f64 / count,
                rank_min_s: -ends[2 * n + 1] * 1e-9,
                rank_mean_s: sums[n] as f64 * 1e-9 / comm.size() as f64,
                rank_max_s: ends[2 * n] * 1e-9,
            });
        }
        rows.sort_by(|a, b| b.total_s.total_cmp(&a.total_s));
        TimerReport {
            wall_s: self.start.elapsed().as_secs_f64(),
            covered_s: self.covered.lock().unwrap_or_else(PoisonError::into_inner).as_secs_f64(),
            ranks: comm.size(),
            allocations: self.settings.count_allocations,
            rows,
        }
    }
}

impl TimerReport {
    /// A table for people.
    pub fn text(&self) -> String {
        let share = 100.0 * self.covered_s / self.wall_s.max(1e-9);
        let mut text = format!("wall={:.3}s covered={:.3}s ({share:.1}%)\n", self.wall_s, self.covered_s);
        text += &format!(
            "{:<24} {:>9} {:>10} {:>10} {:>10} {:>10} {:>10} {:>6}",
            "section", "n_calls", "total_s", "mean_ms", "p50_ms", "p95_ms", "max_ms", "frac%"
        );
        if self.allocations {
            text += &format!(" {:>10} {:>10}", "alloc_MiB", "mean_KiB");
        }
        if self.ranks > 1 {
            text += &format!(" {:>10} {:>10} {:>10} {:>9}", "rank_min_s", "rank_mean", "rank_max", "imbalance");
        }
        for r in &self.rows {
            text += &format!(
                "\n{:<24} {:>9} {:>10.3} {:>10.3} {:>10.3} {:>10.3} {:>10.3} {:>6.1}",
                r.section,
                r.n_calls,
                r.total_s,
                r.mean_ms,
                r.p50_ms,
                r.p95_ms,
                r.max_ms,
                100.0 * r.fraction_of_total
            );
            if self.allocations {
                let mebi = r.allocated_bytes as f64 / f64::from(1 << 20);
                text += &format!(" {mebi:>10.3} {:>10.3}", r.mean_alloc_bytes / 1024.0);
            }
            if self.ranks > 1 {
                let (least, mean, most) = (r.rank_min_s, r.rank_mean_s, r.rank_max_s);
                text += &format!(" {least:>10.3} {mean:>10.3} {most:>10.3} {:>9.2}", r.imbalance());
            }
        }
        text
    }

    /// The figures of this rank, one line per section.
    pub fn csv(&self) -> String {
        let mut text = String::from(
            "section,n_calls,total_s,mean_ms,p50_ms,p95_ms,max_ms,fraction_of_total,allocated_bytes,mean_alloc_bytes\n",
        );
        for r in &self.rows {
            text += &format!(
                "{},{},{:.6},{:.6},{:.6},{:.6},{:.6},{:.6},{},{:.3}\n",
                r.section,
                r.n_calls,
                r.total_s,
                r.mean_ms,
                r.p50_ms,
                r.p95_ms,
                r.max_ms,
                r.fraction_of_total,
                r.allocated_bytes,
                r.mean_alloc_bytes
            );
        }
        text
    }

    /// The spread over the ranks, one line per section.
    pub fn ranks_csv(&self) -> String {
        let mut text = String::from("section,min_s,mean_s,max_s,imbalance\n");
        for r in &self.rows {
            let (least, mean, most) = (r.rank_min_s, r.rank_mean_s, r.rank_max_s);
            text += &format!("{},{least:.6},{mean:.6},{most:.6},{:.6}\n", r.section, r.imbalance());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::comm::{Solo, threads};
    use crate::timers::{self, KernelTimes, TimerSettings};

    fn settings() -> TimerSettings {
        TimerSettings { count_allocations: false, kernel_times: KernelTimes::Off, interval: None }
    }

    fn milliseconds(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// The rule for 1 to 20: the median is the 10th, 95 % is the 19th.
    #[test]
    fn percentiles_are_samples() {
        let sorted: Vec<u64> = (1..=20).map(|n| n * 1_000_000).collect();
        assert_eq!([0.5, 0.95, 0.951, 1.0].map(|q| percentile(&sorted, q)), [10.0, 19.0, 20.0, 20.0]);
        assert_eq!((percentile(&sorted[..1], 0.5), percentile(&[], 0.5)), (1.0, 0.0));
    }

    #[test]
    fn the_csv_has_the_documented_form() {
        let timers = Timers::new(settings());
        let start = timers.start;
        timers.add(Timed::SweepX, start, milliseconds(1), 0);
        timers.add(Timed::SweepX, start, milliseconds(2), 100);
        timers.add(Timed::Advection, start, milliseconds(9), 0);
        let expected = "\
section,n_calls,total_s,mean_ms,p50_ms,p95_ms,max_ms,fraction_of_total,allocated_bytes,mean_alloc_bytes
advection,1,0.009000,9.000000,9.000000,9.000000,9.000000,0.750000,0,0.000
cs_sweep_x,2,0.003000,1.500000,1.000000,2.000000,2.000000,0.250000,100,50.000
";
        let report = timers.report(&Solo);
        assert_eq!(report.csv(), expected);
        assert!(report.text().starts_with("wall="), "{}", report.text());
    }

    #[test]
    fn ranks_are_compared() {
        let reports = threads::run(4, |comm| {
            let timers = Timers::new(settings());
            timers.add(Timed::MpiWait, timers.start, milliseconds(1 + comm.rank() as u64), 0);
            timers.report(&comm)
        });
        for report in reports {
            let row = &report.rows[0];
            assert_eq!([row.rank_min_s, row.rank_mean_s, row.rank_max_s], [0.001, 0.0025, 0.004]);
            assert_eq!(report.ranks_csv().lines().nth(1), Some("mpi_wait,0.001000,0.002500,0.004000,1.600000"));
        }
    }

    #[test]
    fn only_the_chosen_part_of_the_run_counts() {
        let timers = Timers::new(TimerSettings { interval: Some((milliseconds(10), milliseconds(30))), ..settings() });
        let add =
            |at: u64, long: u64| timers.add(Timed::IoWrite, timers.start + milliseconds(at), milliseconds(long), 0);
        assert_eq!([add(9, 5), add(10, 20), add(10, 21), add(29, 1)], [false, true, false, true]);
    }

    /// Sections count on the thread that has timers and on those it starts, and nowhere else.
    #[test]
    fn threads_inherit_timers() {
        let _ = timers::section(Timed::IoWrite);
        let timers = Timers::new(settings());
        {
            let _attached = timers::attach(&timers);
            let inherit = timers::inheritance();
            let _outer = timers::section(Timed::Advection);
            std::thread::spawn(move || {
                inherit();
                let _ = timers::section(Timed::WindowLoadHost);
            })
            .join()
            .unwrap();
            std::thread::spawn(|| drop(timers::section(Timed::IoWrite))).join().unwrap();
            let shares = timers::Shares::new(2);
            let mut clock = shares.clock();
            std::thread::sleep(milliseconds(2));
            clock.lap(Timed::SeamFlux);
        }
        drop(timers::section(Timed::IoWrite));
        let report = timers.report(&Solo);
        let mut names: Vec<_> = report.rows.iter().map(|row| row.section).collect();
        names.sort_unstable();
        assert_eq!(names, ["advection", "seam_flux", "window_load_host"]);
        let total = |name| report.rows.iter().find(|row| row.section == name).unwrap().total_s;
        assert!(total("seam_flux") >= 0.001 && total("seam_flux") < total("advection"), "{report:?}");
        assert!((report.covered_s - total("advection")).abs() < 1e-12, "{report:?}");
    }
}
