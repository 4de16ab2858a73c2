//! `atmostr bench kernels`.

use ::kernels::device::KernelName;
use clap::Args;

use super::{SizeArgs, accelerators};
use crate::bench::{KernelBench, KernelReport};
use crate::cli::run::communicator;
use crate::cli::{CliError, Context, Exit};
use crate::device::Accelerator;
use crate::met::FloatType;

/// Every kernel of a run on one device, beside the bandwidth of a copy on it
///
/// A kernel is launched again and again with the arguments it has in a run. GB/s counts the bytes it has to move at least, every
/// value read once and written once; the share relates them to a copy kernel measured in the same run.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr bench kernels --backend cuda --tracers 32
  atmostr bench kernels --backend opencl --nc 48 --lanes sweep_y=256,sweep_z=64 --json")]
pub(super) struct KernelArgs {
    #[command(flatten)]
    size: SizeArgs,
    /// Device: cuda, metal, opencl, or auto for the first of cuda and metal
    #[arg(long, default_value = "auto", value_parser = accelerators(), value_name = "BACKEND")]
    backend: String,
    /// Lanes of the groups of some kernels, instead of the usual ones
    #[arg(long, value_delimiter = ',', value_parser = lanes, value_name = "KERNEL=LANES")]
    lanes: Vec<(KernelName, usize)>,
}

fn lanes(text: &str) -> Result<(KernelName, usize), String> {
    let (name, lanes) = text.split_once('=').ok_or("give a kernel and its lanes, e.g. sweep_y=128")?;
    let kernel = KernelName::ALL.iter().find(|kernel| kernel.name() == name);
    let names = || KernelName::ALL.iter().map(|kernel| kernel.name()).collect::<Vec<_>>().join(", ");
    let kernel = kernel.ok_or_else(|| format!("no kernel {name}; there are {}", names()))?;
    let lanes = lanes.parse().ok().filter(|lanes| (1..=65_536).contains(lanes));
    lanes.map(|lanes| (*kernel, lanes)).ok_or_else(|| "lanes are a number from 1 to 65536".to_owned())
}

impl KernelArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        if communicator()?.size() > 1 {
            return Err(CliError::input("bench kernels measures one device: start it on one rank"));
        }
        let bench = KernelBench {
            size: self.size.size(self.size.scheme()),
            lanes: self.lanes,
            repetitions: self.size.repetitions as usize,
        };
        let accelerator: Accelerator = self.backend.parse().map_err(CliError::input)?;
        let report = match self.size.float.into() {
            FloatType::Float32 => bench.run::<f32>(accelerator)?,
            FloatType::Float64 => bench.run::<f64>(accelerator)?,
        };
        if self.size.json {
            ctx.print_json(&report)?;
        } else {
            ctx.print(&table(&report))?;
        }
        Ok(Exit::Finished)
    }
}

fn table(r: &KernelReport) -> String {
    let mut text = format!(
        "{} ({}), C{} L{} × {} tracers, {}, {}\ncopy {:.2} GB/s, substep {:.3} ms\n",
        r.device,
        r.backend,
        r.nc,
        r.levels,
        r.tracers,
        r.scheme,
        r.float_type,
        r.copy_gigabytes_per_second,
        1e3 * r.seconds_per_substep
    );
    text += &format!(
        "{:<22} {:>6} {:>8} {:>9} {:>11} {:>11} {:>9} {:>7} {:>8}\n",
        "kernel", "items", "threads", "launches", "best ms", "median ms", "GB/s", "/ copy", "substep"
    );
    for k in &r.kernels {
        let [x, y, _] = k.group;
        text += &format!(
            "{:<22} {:>6} {:>8} {:>9} {:>11.4} {:>11.4} {:>9.2} {:>6.1}% {:>7.1}%\n",
            k.kernel,
            k.items_per_group,
            if y > 1 { format!("{x}×{y}") } else { x.to_string() },
            k.launches_per_substep,
            1e3 * k.seconds_per_launch,
            1e3 * k.median_seconds_per_launch,
            k.gigabytes_per_second,
            100.0 * k.share_of_copy,
            100.0 * k.share_of_substep
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_parsed_or_refused() {
        assert_eq!(lanes("sweep_y=48"), Ok((KernelName::SweepY, 48)));
        assert!(["sweep_y", "sweep_y=0", "sweep_y=x", "sweep_w=4"].iter().all(|text| lanes(text).is_err()));
        assert!(lanes("sweep_w=4").unwrap_err().contains("sweep_x, sweep_y"));
    }
}
