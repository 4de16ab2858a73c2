//! `atmostr bench`.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use kernels::scheme::{PpmLimiter, Scheme, SlopesLimiter};

use super::run::communicator;
use super::values::Float;
use super::{CliError, Context, Exit};
use crate::bench::{AdvectionBench, AdvectionReport};
use crate::comm::Communicator;
use crate::met::FloatType;
use crate::operators::Threads;

/// Measure the speed of the operators on this machine
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr bench advection                                       C90, 66 levels, 10 tracers, cw84, one thread
  atmostr bench advection --scheme huynh_pd --float Float64
  atmostr bench advection --all --json
  mpirun -n 2 atmostr bench advection                           two ranks (program built with feature mpi)")]
pub(super) struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Advection(AdvectionArgs),
}

/// Six-sweep palindromes of all tracers on six panels with real seams, beside the memory bandwidth of this process
///
/// One step is the palindrome X Y Z Z Y X. The figure is cell·tracer·steps per second, best of the repetitions; GB/s counts the
/// least memory traffic of a step (three read-and-write passes over the padded state, the winds twice), and the share of the triad
/// relates it to what the memory can do.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr bench advection --nc 90 --levels 66 --tracers 10 --scheme cw84 --float Float32 --threads 2")]
struct AdvectionArgs {
    /// Cells per panel edge
    #[arg(long, default_value_t = 90, value_name = "N", value_parser = clap::value_parser!(u32).range(4..=1024))]
    nc: u32,
    /// Levels
    #[arg(long, default_value_t = 66, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    levels: u32,
    /// Tracers
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    tracers: u32,
    /// Scheme: upwind, slopes (monotone) or a limiter of ppm
    #[arg(long, default_value = "cw84", value_parser = PossibleValuesParser::new(NAMES), value_name = "SCHEME")]
    scheme: String,
    /// Precision
    #[arg(long, value_enum, ignore_case = true, default_value = "Float32", value_name = "TYPE")]
    float: Float,
    /// CPU threads of each rank
    #[arg(long, default_value_t = 1, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Steps per repetition
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,
    /// Repetitions; the best counts
    #[arg(long, default_value_t = 7, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Every scheme in both precisions
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const NAMES: [&str; 6] = ["upwind", "slopes", "monotone", "none", "cw84", "huynh_pd"];

fn scheme(name: &str) -> Scheme {
    match name {
        "upwind" => Scheme::Upwind,
        "slopes" => Scheme::Slopes(SlopesLimiter::Monotone),
        "monotone" => Scheme::Ppm(PpmLimiter::Monotone),
        "none" => Scheme::Ppm(PpmLimiter::None),
        "huynh_pd" => Scheme::Ppm(PpmLimiter::HuynhPd),
        _ => Scheme::Ppm(PpmLimiter::Cw84),
    }
}

impl BenchArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        let What::Advection(args) = self.what;
        args.execute(ctx)
    }
}

impl AdvectionArgs {
    fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        let comm = communicator()?;
        let threads = Threads::new(self.threads.into()).map_err(CliError::failed)?;
        let schemes = if self.all { Scheme::ALL.to_vec() } else { vec![scheme(&self.scheme)] };
        let floats = if self.all { vec![FloatType::Float32, FloatType::Float64] } else { vec![self.float.into()] };
        let mut reports = Vec::new();
        for scheme in schemes {
            for float in &floats {
                reports.push(self.measure(scheme, *float, &*comm, &threads)?);
            }
        }
        if comm.rank() > 0 {
            return Ok(Exit::Finished);
        }
        if self.json {
            ctx.print_json(&reports)?;
        } else {
            ctx.print(&table(&reports))?;
        }
        Ok(Exit::Finished)
    }

    fn measure(
        &self,
        scheme: Scheme,
        float: FloatType,
        comm: &dyn Communicator,
        threads: &Threads,
    ) -> Result<AdvectionReport, CliError> {
        let bench = AdvectionBench {
            nc: self.nc as usize,
            levels: self.levels as usize,
            tracers: self.tracers as usize,
            scheme,
            steps: self.steps as usize,
            repetitions: self.repetitions as usize,
        };
        let report = threads.install(|| match float {
            FloatType::Float32 => bench.run::<f32>(comm, threads),
            FloatType::Float64 => bench.run::<f64>(comm, threads),
        });
        report.map_err(CliError::input)
    }
}

fn table(reports: &[AdvectionReport]) -> String {
    let mut text = String::new();
    if let Some(r) = reports.first() {
        text += &format!(
            "C{} L{} × {} tracers, {} rank(s) × {} thread(s); one step = X Y Z Z Y X\n",
            r.nc, r.levels, r.tracers, r.ranks, r.threads
        );
    }
    text += &format!(
        "{:<18} {:<8} {:>10} {:>10} {:>9} {:>9} {:>7}\n",
        "scheme", "float", "M upd/s", "ms/step", "GB/s", "triad", "share"
    );
    for r in reports {
        text += &format!(
            "{:<18} {:<8} {:>10.1} {:>10.1} {:>9.2} {:>9.2} {:>6.1}%\n",
            r.scheme,
            r.float_type,
            r.mega_updates_per_second,
            1e3 * r.seconds_per_step,
            r.gigabytes_per_second,
            r.triad_gigabytes_per_second,
            100.0 * r.share_of_triad
        );
    }
    text
}
