//! `atmostr plan`.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use decomposition::Machine;
use serde::Serialize;

use super::{CliError, Context, Exit};
use crate::bench::{AdvectionBench, BenchSize, PhysicsBench, PhysicsReport};
use crate::comm::Solo;
use crate::config::{PhysicsCadence, RunConfig};
use crate::files::size_words;
use crate::met::FloatType;
use crate::model::{self, Outlook};
use crate::operators::Threads;
use crate::operators::columns::{Convection, ExchangeSource, KzUpdate};

/// Show what a run would take: memory, disk, messages and time
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr plan run.toml                                         one rank on this machine
  atmostr plan run.toml --nodes 4 --ranks-per-node 16           64 ranks on four machines
  atmostr plan run.toml --nodes 2 --threads 8 --rate 120e6 --json

Memory, disk and messages follow from the configuration and the headers of its files, by the same rules as in the run. Days
per day are a prediction: the speed of a rank is measured here in a few seconds, or given with --rate; the network is taken to
have 2 µs and 5 GB/s a rank; reading and writing are taken to hide behind computing. No files are written.")]
pub(super) struct PlanArgs {
    /// Configuration file (TOML)
    config: PathBuf,
    /// Machines
    #[arg(long, default_value = "1", value_name = "N")]
    nodes: NonZeroUsize,
    /// Ranks on each machine
    #[arg(long, default_value = "1", value_name = "R")]
    ranks_per_node: NonZeroUsize,
    /// Threads of each rank; else those of the configuration, else 1
    #[arg(long, value_name = "T")]
    threads: Option<NonZeroUsize>,
    /// Speed of a rank, cell·tracer·steps per second, as `atmostr bench advection` reports; else it is measured
    #[arg(long, value_name = "CELLS_PER_S", value_parser = rate)]
    rate: Option<f64>,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

fn rate(text: &str) -> Result<f64, String> {
    let found = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
    found.ok_or_else(|| format!("\"{text}\" is no rate; write a number above 0, e.g. 100e6"))
}

/// Predicted speed.
#[derive(Debug, Serialize)]
struct Speed {
    /// Speed of a rank, cell·tracer·steps per second.
    rate: f64,
    /// Where it comes from.
    rate_from: String,
    /// What vertical physics adds to the time of the advection; `None`: not measured.
    vertical_physics_share: Option<f64>,
    /// Predicted days per day.
    days_per_day: f64,
}

/// All that is printed.
#[derive(Serialize)]
struct Plan<'a> {
    #[serde(flatten)]
    outlook: &'a Outlook,
    speed: Option<Speed>,
}

impl PlanArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        let config = RunConfig::load(&self.config)?;
        let ranks = self.nodes.checked_mul(self.ranks_per_node);
        let ranks = ranks.ok_or_else(|| CliError::input("--nodes times --ranks-per-node are too many ranks"))?;
        let threads = self.threads.or(config.settings.threads).unwrap_or(NonZeroUsize::MIN);
        let outlook = model::outlook(&config, ranks, self.ranks_per_node, threads)?;
        let speed = self.speed(&config, &outlook)?;
        if self.json {
            ctx.print_json(&Plan { outlook: &outlook, speed })?;
        } else {
            ctx.print(&text(&outlook, speed.as_ref()))?;
        }
        Ok(Exit::Finished)
    }

    /// Days per day; `None` where nothing is advected.
    fn speed(&self, config: &RunConfig, outlook: &Outlook) -> Result<Option<Speed>, CliError> {
        let Some(choice) = config.advection.choice() else { return Ok(None) };
        let (scheme, vertical) = (choice.scheme, choice.vertical);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = Threads::new(outlook.threads.min(cores)).map_err(CliError::failed)?;
        let tracers = outlook.tracers.max(1);
        let size = |nc: usize| BenchSize { nc: outlook.nc.min(nc), levels: outlook.levels, tracers, scheme, vertical };
        let measured = threads.install(|| match config.settings.float_type {
            FloatType::Float32 => measure::<f32>(self.rate, config, &size, &threads),
            FloatType::Float64 => measure::<f64>(self.rate, config, &size, &threads),
        });
        let (rate, physics) = measured.map_err(CliError::failed)?;
        // Cores that this machine lacks are taken to help as much as those it has.
        let scaled = rate * outlook.threads as f64 / threads.count() as f64;
        let (rate, rate_from) = match self.rate {
            Some(given) => (given, "given".to_owned()),
            None => (scaled, measured_words(size(RATE_NC).nc, threads.count(), outlook.threads)),
        };
        let share = physics.map(|report| physics_share(config, &report, outlook.substeps.mean));
        // A step is six sweeps of tracers and air.
        let sweeps = 6.0 * rate * (tracers + 1) as f64 / tracers as f64;
        let machine = Machine { cell_updates_per_s: sweeps, ..Machine::default() };
        let seconds = outlook.window_seconds_on(machine) * (1.0 + share.unwrap_or(0.0));
        let days_per_day = outlook.window_seconds / seconds;
        Ok(Some(Speed { rate, rate_from, vertical_physics_share: share, days_per_day }))
    }
}

/// Largest grids on which speeds are measured: beyond the caches, yet in seconds.
const RATE_NC: usize = 48;
const PHYSICS_NC: usize = 12;

fn measured_words(nc: usize, threads: usize, wanted: usize) -> String {
    let scaled = if wanted > threads { format!(", taken to grow to {wanted} threads") } else { String::new() };
    format!("measured on this machine with {threads} thread(s) on C{nc}{scaled}")
}

/// Speed of a rank unless it is given, and that of vertical physics where the run has any.
fn measure<R: kernels::Scalar>(
    given: Option<f64>,
    config: &RunConfig,
    size: &impl Fn(usize) -> BenchSize,
    threads: &Threads,
) -> Result<(f64, Option<PhysicsReport>), crate::bench::BenchError> {
    let rate = match given {
        Some(rate) => rate,
        None => {
            let bench = AdvectionBench { size: size(RATE_NC), steps: 1, repetitions: 3 };
            1e6 * bench.run::<R>(&Solo, threads)?.mega_updates_per_second
        }
    };
    let physics = &config.physics;
    let has_physics = physics.diffusion.is_some() || physics.convection.is_some();
    let bench = || PhysicsBench { size: size(PHYSICS_NC), repetitions: 2 }.run::<R>(threads);
    Ok((rate, has_physics.then(bench).transpose()?))
}

/// What diffusion and convection add to the time of a window of `substeps` substeps of advection.
fn physics_share(config: &RunConfig, report: &PhysicsReport, substeps: f64) -> f64 {
    let find = |name: &str| report.operators.iter().find(|timing| timing.operator == name);
    let diffusion = config.physics.diffusion.as_ref().map_or(0.0, |diffusion| {
        let name = match (&diffusion.source, diffusion.update) {
            (ExchangeSource::Dkg, _) => "diffusion_dkg",
            (_, KzUpdate::MassSpace) => "diffusion_mass_space",
            (_, KzUpdate::Flux | KzUpdate::Matrix) => "diffusion_flux",
        };
        let within = find(name).and_then(|timing| timing.in_substep.as_ref());
        within.map_or(0.0, |within| within.share_of_substep.max(0.0))
    });
    let convection = config.physics.convection.as_ref().map_or(0.0, |convection| {
        let name = match convection {
            Convection::Tm5(_) => "convection_tm5",
            Convection::Cmfmc(_) => "convection_cmfmc",
            Convection::CmfmcMatrix(_) => "convection_cmfmc_matrix",
        };
        let times = match config.settings.physics_cadence {
            PhysicsCadence::Window => 1.0 / substeps.max(1.0),
            PhysicsCadence::Substep => 1.0,
        };
        find(name).map_or(0.0, |timing| timing.share_of_substep * times)
    });
    diffusion + convection
}

fn text(o: &Outlook, speed: Option<&Speed>) -> String {
    let size = |bytes: f64| size_words(bytes as u64);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}: C{}, {} levels, {} tracers, {}; {} ranks ({} on a machine) × {} threads",
        o.config, o.nc, o.levels, o.tracers, o.float_type, o.ranks, o.ranks_per_node, o.threads
    );
    let memory = &o.memory;
    let spread = [memory.per_rank.min, memory.per_rank.mean, memory.per_rank.max].map(size);
    let _ =
        writeln!(out, "\nmemory, at most (from the plan of the run; without reading initial states, without devices)");
    let _ = writeln!(out, "  rank           {} to {}, mean {}", spread[0], spread[2], spread[1]);
    let _ = writeln!(out, "  machine        {}", size(memory.per_node));
    for item in &memory.largest_rank.items {
        let _ = writeln!(out, "    {:<20} {:>10}", item.name, size_words(item.bytes));
    }
    let disk = &o.disk;
    let _ = writeln!(out, "\ndisk in 30 days (from the fields that are chosen and the headers of the files)");
    let deflate = match disk.deflate_level {
        0 => "not compressed".to_owned(),
        level => format!(
            "before compression; deflate_level = {level} makes it smaller by an amount that depends on the fields"
        ),
    };
    let _ = writeln!(
        out,
        "  output         {} ({:.0} snapshots of {}; {deflate})",
        size(disk.output_bytes),
        disk.snapshots,
        size_words(disk.snapshot_bytes)
    );
    let _ = writeln!(
        out,
        "  restart files  {} ({} of {})",
        size_words(disk.restart_bytes.saturating_mul(disk.restart_files as u64)),
        disk.restart_files,
        size_words(disk.restart_bytes)
    );
    let _ = writeln!(out, "  winds read     {}", size(disk.transport_bytes));
    let halo = &o.halo;
    let steps = &o.substeps;
    let from = if o.substeps_known { "of the files" } else { "estimated from a coarser grid" };
    let _ = writeln!(out, "\nmessages (from the layout)");
    let _ = writeln!(
        out,
        "  substep        {}; busiest rank {} in {} messages",
        size_words(halo.substep_bytes),
        size_words(halo.busiest_substep_bytes),
        halo.busiest_substep_messages
    );
    let _ = writeln!(out, "  window         {} ({:.1} substeps, {from})", size(halo.window_bytes), steps.mean);
    let _ = writeln!(out, "\nspeed (predicted)");
    let Some(speed) = speed else {
        let _ = writeln!(out, "  nothing is advected: no prediction");
        return out;
    };
    let _ = writeln!(out, "  rank           {:.1} million cell·tracer·steps/s, {}", speed.rate * 1e-6, speed.rate_from);
    if let Some(share) = speed.vertical_physics_share {
        let percent = 100.0 * share;
        let _ = writeln!(
            out,
            "  physics        {percent:.0} % on top of the advection, measured on this machine on few cells"
        );
    }
    let _ = writeln!(out, "  imbalance      {:.3} (cells of the busiest rank over the mean)", o.imbalance);
    let days = o.hours / 24.0;
    let _ = writeln!(
        out,
        "  run            {:.0} days/day: {days:.1} days in {:.2} h",
        speed.days_per_day,
        24.0 * days / speed.days_per_day
    );
    out
}
