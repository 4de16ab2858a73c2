//! `atmostr bench advection`.

use ::kernels::Scalar;
use ::kernels::scheme::Scheme;
use clap::Args;
use clap::builder::PossibleValuesParser;

use super::SizeArgs;
use crate::bench::{AdvectionBench, AdvectionReport, BenchError};
use crate::cli::run::communicator;
use crate::cli::{CliError, Context, Exit};
use crate::comm::Communicator;
use crate::device::Accelerator;
use crate::met::FloatType;
use crate::operators::Threads;

/// Six-sweep palindromes of all tracers on six panels with real seams, beside the memory bandwidth of this process
///
/// One step is the palindrome X Y Z Z Y X. The figure is cell·tracer·steps per second, best of the repetitions; GB/s counts the
/// least memory traffic of a step (three read-and-write passes over the padded state, the winds twice), and the share relates it to
/// what the memory can do: the triad of the processor, a copy on a device. With a device the processor is measured too.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr bench advection --nc 90 --levels 66 --tracers 10 --scheme cw84 --float Float32 --threads 2
  atmostr bench advection --backend opencl --threads 1 --json")]
pub(super) struct AdvectionArgs {
    #[command(flatten)]
    size: SizeArgs,
    /// The processor alone, or also a device: cuda, metal, opencl, or auto for the first of cuda and metal
    #[arg(long, default_value = "cpu", value_parser = PossibleValuesParser::new(BACKENDS), value_name = "BACKEND")]
    backend: String,
    /// CPU threads of each rank
    #[arg(long, default_value_t = 1, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Steps per repetition
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,
    /// Every scheme in both precisions
    #[arg(long)]
    all: bool,
}

const BACKENDS: [&str; 5] = ["cpu", "cuda", "metal", "opencl", "auto"];

impl AdvectionArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        let comm = communicator()?;
        let threads = Threads::new(self.threads.into()).map_err(CliError::failed)?;
        let schemes = if self.all { Scheme::every().collect() } else { vec![self.size.scheme()] };
        let floats = if self.all { vec![FloatType::Float32, FloatType::Float64] } else { vec![self.size.float.into()] };
        let mut reports = Vec::new();
        for scheme in schemes {
            for float in &floats {
                let measured = threads.install(|| match float {
                    FloatType::Float32 => self.measure::<f32>(scheme, &*comm, &threads),
                    FloatType::Float64 => self.measure::<f64>(scheme, &*comm, &threads),
                });
                reports.extend(measured.map_err(|error| self.leave(error, &*comm, ctx))?);
            }
        }
        if comm.rank() > 0 {
            return Ok(Exit::Finished);
        }
        if self.size.json {
            ctx.print_json(&reports)?;
        } else {
            ctx.print(&table(&reports))?;
        }
        Ok(Exit::Finished)
    }

    /// The processor, then the device.
    fn measure<R: Scalar>(
        &self,
        scheme: Scheme,
        comm: &dyn Communicator,
        threads: &Threads,
    ) -> Result<Vec<AdvectionReport>, BenchError> {
        let bench = AdvectionBench {
            size: self.size.size(scheme),
            steps: self.steps as usize,
            repetitions: self.size.repetitions as usize,
        };
        let mut reports = vec![bench.run::<R>(comm, threads)?];
        if let Ok(accelerator) = self.backend.parse::<Accelerator>() {
            let mut device = bench.run_on::<R>(accelerator, comm)?;
            device.rate_over_cpu = Some(device.mega_updates_per_second / reports[0].mega_updates_per_second);
            reports.push(device);
        }
        Ok(reports)
    }

    /// A device may fail on one rank while the others wait for it.
    fn leave(&self, error: BenchError, comm: &dyn Communicator, ctx: &Context) -> CliError {
        let alone = matches!(error, BenchError::Device(_)) && comm.size() > 1;
        let error = CliError::from(error);
        if alone {
            comm.abort(error.report(ctx).code().into());
        }
        error
    }
}

fn table(reports: &[AdvectionReport]) -> String {
    let mut text = String::new();
    if let Some(r) = reports.first() {
        text += &format!(
            "C{} L{} × {} tracers, {} rank(s) × {} thread(s); one step = X Y Z Z Y X\n",
            r.nc,
            r.levels,
            r.tracers,
            r.ranks,
            r.threads.unwrap_or(1)
        );
    }
    text += &format!(
        "{:<18} {:<8} {:>10} {:>10} {:>9} {:>9} {:>7} {:>6}  {}\n",
        "scheme", "float", "M upd/s", "ms/step", "GB/s", "memory", "share", "/ cpu", "on"
    );
    for r in reports {
        text += &format!(
            "{:<18} {:<8} {:>10.1} {:>10.1} {:>9.2} {:>9.2} {:>6.1}% {:>6}  {}\n",
            r.scheme,
            r.float_type,
            r.mega_updates_per_second,
            1e3 * r.seconds_per_step,
            r.gigabytes_per_second,
            r.bandwidth_gigabytes_per_second,
            100.0 * r.share_of_bandwidth,
            r.rate_over_cpu.map_or("-".to_owned(), |rate| format!("{rate:.2}")),
            r.device.as_deref().unwrap_or("cpu"),
        );
    }
    text
}
