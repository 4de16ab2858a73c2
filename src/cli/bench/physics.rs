//! `atmostr bench physics`.

use clap::Args;

use super::SizeArgs;
use crate::bench::{PhysicsBench, PhysicsReport};
use crate::cli::run::communicator;
use crate::cli::{CliError, Context, Exit};
use crate::met::FloatType;
use crate::operators::Threads;

/// Diffusion, emissions, convection and decay on the processor, beside a substep of advection and the triad
///
/// A window of synthetic weather with every field of vertical physics is made; each operator acts on all tracers from the same
/// state, alone and, where a run has it there, in the middle of a substep of advection. GB/s counts what it has to move at
/// least. Ledgers are measured by booked and plain solves of the same columns in turns.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr bench physics --nc 90 --levels 72 --tracers 10
  atmostr bench physics --float Float64 --threads 2 --json")]
pub(super) struct PhysicsArgs {
    #[command(flatten)]
    size: SizeArgs,
    /// CPU threads
    #[arg(long, default_value_t = 1, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
}

impl PhysicsArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        if communicator()?.size() > 1 {
            return Err(CliError::input("bench physics measures one process: start it on one rank"));
        }
        let threads = Threads::new(self.threads.into()).map_err(CliError::failed)?;
        let bench =
            PhysicsBench { size: self.size.size(self.size.scheme()), repetitions: self.size.repetitions as usize };
        let report = threads.install(|| match self.size.float.into() {
            FloatType::Float32 => bench.run::<f32>(&threads),
            FloatType::Float64 => bench.run::<f64>(&threads),
        })?;
        if self.size.json {
            ctx.print_json(&report)?;
        } else {
            ctx.print(&table(&report))?;
        }
        Ok(Exit::Finished)
    }
}

fn table(r: &PhysicsReport) -> String {
    let mut text = format!(
        "C{} L{} × {} tracers, {} thread(s), {}, {}\ntriad {:.2} GB/s; window of {} s in {} substeps; substep of advection \
         {:.1} ms (median {:.1})\n\nns and added: per cell and tracer, best (median); of substep: beside advection alone\n",
        r.nc,
        r.levels,
        r.tracers,
        r.threads,
        r.scheme,
        r.float_type,
        r.triad_gigabytes_per_second,
        r.window_seconds,
        r.substeps_per_window,
        1e3 * r.seconds_per_substep,
        1e3 * r.median_seconds_per_substep
    );
    let times = |best: f64, median: f64| format!("{best:.3} ({median:.3})");
    let percent = |share: f64| format!("{:.1}%", 100.0 * share);
    text += &format!(
        "{:<33} {:>17} {:>7} {:>8} {:>10} {:>17} {:>10}\n",
        "operator", "ns alone", "GB/s", "/ triad", "of substep", "ns added within", "of substep"
    );
    for o in &r.operators {
        let each = |seconds: f64| o.nanoseconds_per_cell_tracer * seconds / o.seconds;
        let name = o.parts.map_or(o.operator.to_owned(), |parts| format!("{} / {parts}", o.operator));
        let within = o.in_substep.as_ref();
        text += &format!(
            "{name:<33} {:>17} {:>7.2} {:>8} {:>10} {:>17} {:>10}\n",
            times(o.nanoseconds_per_cell_tracer, o.median_nanoseconds_per_cell_tracer),
            o.gigabytes_per_second,
            percent(o.share_of_triad),
            percent(o.share_of_substep),
            within.map_or("-".into(), |w| times(each(w.seconds), w.median_nanoseconds_per_cell_tracer)),
            within.map_or("-".into(), |w| percent(w.share_of_substep)),
        );
    }
    text += &format!(
        "\n{:<33} {:>10} {:>10} {:>17} {:>10} {:>10}\n",
        "ledger", "ns booked", "ns plain", "ns more", "of solve", "of substep"
    );
    for (o, l) in r.operators.iter().filter_map(|o| o.ledger.as_ref().map(|l| (o, l))) {
        let more = times(l.overhead_nanoseconds_per_cell_tracer, l.median_overhead_nanoseconds_per_cell_tracer);
        text += &format!(
            "{:<33} {:>10.3} {:>10.3} {more:>17} {:>10} {:>10}\n",
            o.operator,
            l.booked_nanoseconds_per_cell_tracer,
            l.plain_nanoseconds_per_cell_tracer,
            percent(l.share_of_solve),
            percent(l.share_of_substep),
        );
    }
    text += &format!(
        "\n{:<32} {:>17} {:>10} {:>7} {:>8} {:>10}\n",
        "derived from a window", "ns per cell", "ms", "GB/s", "/ triad", "of window"
    );
    for d in &r.derivations {
        text += &format!(
            "{:<32} {:>17} {:>10.1} {:>7.2} {:>8} {:>10}\n",
            d.derivation,
            format!("{:.1} ({:.1})", d.nanoseconds_per_cell, d.median_nanoseconds_per_cell),
            1e3 * d.seconds,
            d.gigabytes_per_second,
            percent(d.share_of_triad),
            percent(d.share_of_window),
        );
    }
    text
}
