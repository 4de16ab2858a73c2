//! `atmostr bench`.

mod advection;
mod kernels;
mod physics;

use ::kernels::scheme::{LinRood, LinRoodRule, PpmLimiter, Scheme, SlopesLimiter, Vertical};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

use super::values::Float;
use super::{CliError, Context, Exit};
use crate::bench::{BenchError, BenchSize};
use crate::device::{Accelerator, DeviceError};

/// Measure the speed of the operators on this machine
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr bench advection                                       C90, 66 levels, 10 tracers, cw84, one thread
  atmostr bench advection --scheme huynh_pd --float Float64
  atmostr bench advection --all --json
  atmostr bench advection --backend cuda                        the processor and a GPU side by side
  atmostr bench kernels --backend cuda                          each kernel beside the copy bandwidth of the GPU
  atmostr bench physics --levels 72                             diffusion, emissions, convection and decay, one thread
  mpirun -n 2 atmostr bench advection                           two ranks (program built with feature mpi)")]
pub(super) struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Advection(advection::AdvectionArgs),
    Kernels(kernels::KernelArgs),
    Physics(physics::PhysicsArgs),
}

/// Grid, tracers, scheme and precision.
#[derive(Debug, Args)]
struct SizeArgs {
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
    /// Vertical scheme
    #[arg(long, default_value = "same", value_parser = PossibleValuesParser::new(Vertical::ALL.map(Vertical::name)), value_name = "SCHEME")]
    vertical: String,
    /// Precision
    #[arg(long, value_enum, ignore_case = true, default_value = "Float32", value_name = "TYPE")]
    float: Float,
    /// Repetitions; the best counts
    #[arg(long, default_value_t = 7, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const NAMES: [&str; 13] = [
    "upwind",
    "slopes",
    "monotone",
    "none",
    "cw84",
    "huynh_pd",
    "mono",
    "pd",
    "universal",
    "mp_pd",
    "linrood_quasi",
    "linrood_mono",
    "linrood_huynh_pd",
];

impl SizeArgs {
    fn scheme(&self) -> Scheme {
        let linrood = |rule| Scheme::LinRood(LinRood::new(rule));
        match self.scheme.as_str() {
            "linrood_quasi" => linrood(LinRoodRule::Quasi),
            "linrood_mono" => linrood(LinRoodRule::Mono),
            "linrood_huynh_pd" => linrood(LinRoodRule::HuynhPd),
            "upwind" => Scheme::Upwind,
            "slopes" => Scheme::Slopes(SlopesLimiter::Monotone),
            "monotone" => Scheme::Ppm(PpmLimiter::Monotone),
            "none" => Scheme::Ppm(PpmLimiter::None),
            "mono" => Scheme::Ppm(PpmLimiter::Mono),
            "pd" => Scheme::Ppm(PpmLimiter::Pd),
            "universal" => Scheme::Ppm(PpmLimiter::Universal),
            "mp_pd" => Scheme::Ppm(PpmLimiter::MpPd),
            "huynh_pd" => Scheme::Ppm(PpmLimiter::HuynhPd),
            _ => Scheme::Ppm(PpmLimiter::Cw84),
        }
    }

    fn size(&self, scheme: Scheme) -> BenchSize {
        let named = Vertical::ALL.into_iter().find(|vertical| vertical.name() == self.vertical);
        let vertical = named.expect("the values of the option are these names");
        let [nc, levels, tracers] = [self.nc, self.levels, self.tracers].map(|n| n as usize);
        BenchSize { nc, levels, tracers, scheme, vertical }
    }
}

/// Names of accelerators for the command line.
fn accelerators() -> PossibleValuesParser {
    PossibleValuesParser::new(Accelerator::NAMES.map(|(name, _)| name))
}

impl BenchArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        match self.what {
            What::Advection(args) => args.execute(ctx),
            What::Kernels(args) => args.execute(ctx),
            What::Physics(args) => args.execute(ctx),
        }
    }
}

impl From<BenchError> for CliError {
    fn from(error: BenchError) -> Self {
        match error {
            BenchError::Device(
                DeviceError::Compile { .. } | DeviceError::Call { .. } | DeviceError::Arithmetic { .. },
            ) => CliError::failed(error),
            _ => CliError::input(error),
        }
    }
}
