//! What a run would take: memory, disk and messages, worked out from the plan of the run without doing it.

use std::num::NonZeroUsize;
use std::sync::Arc;

use decomposition::{Layout, LayoutReport, Machine, Payload};
use kernels::{Scalar, Scheme};
use serde::Serialize;

use super::error::RunError;
use super::memory::{Gathering, MemoryPlan};
use super::physics::{source_slices, span};
use super::report::{MemoryEstimate, Spread};
use super::setup::{Setup, float_name};
use crate::config::{RunConfig, Schedule, Source};
use crate::met::FloatType;
use crate::operators::TransportSize;
use crate::state::TileSet;
use crate::timers::ProcessMemory;

/// Days of a month.
const MONTH_DAYS: f64 = 30.0;
const DAY: f64 = 86_400.0;

/// Memory of the ranks, bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemoryOutlook {
    /// Of a rank.
    pub per_rank: Spread,
    /// Of the machine that takes most.
    pub per_node: f64,
    /// Of the first rank, part by part.
    pub first_rank: MemoryEstimate,
    /// Of the rank that takes most, part by part.
    pub largest_rank: MemoryEstimate,
}

/// Bytes on disk; what goes by time is for 30 days.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DiskUse {
    /// Snapshots in 30 days; with listed hours those of the run.
    pub snapshots: f64,
    /// Fields of one, without compression.
    pub snapshot_bytes: u64,
    /// Output in 30 days, without compression.
    pub output_bytes: f64,
    /// Deflate level of the configuration.
    pub deflate_level: u8,
    /// One restart file; 0 without.
    pub restart_bytes: u64,
    /// Restart files that are on disk at a time, the one being written included.
    pub restart_files: usize,
    /// Transport files read in 30 days.
    pub transport_bytes: f64,
}

/// Halo messages between ranks, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HaloUse {
    /// Of all ranks in a substep.
    pub substep_bytes: u64,
    /// Of the busiest rank in a substep.
    pub busiest_substep_bytes: u64,
    /// Messages of the busiest rank in a substep, halos of all levels as one.
    pub busiest_substep_messages: usize,
    /// Of all ranks in a window.
    pub window_bytes: f64,
}

/// What a run would take.
#[derive(Clone, Debug, Serialize)]
pub struct Outlook {
    /// Configuration.
    pub config: String,
    /// Cells per panel edge.
    pub nc: usize,
    /// Layers.
    pub levels: usize,
    /// Tracers.
    pub tracers: usize,
    /// Precision.
    pub float_type: &'static str,
    /// Ranks.
    pub ranks: usize,
    /// Ranks on a machine.
    pub ranks_per_node: usize,
    /// Threads of a rank.
    pub threads: usize,
    /// Cells of the busiest rank over the mean.
    pub imbalance: f64,
    /// Hours of the run.
    pub hours: f64,
    /// Length of a window, s.
    pub window_seconds: f64,
    /// Substeps of a window.
    pub substeps: Spread,
    /// Whether the substeps are those of the files; else of winds made on a coarser grid, in proportion.
    pub substeps_known: bool,
    /// Memory.
    pub memory: MemoryOutlook,
    /// Disk.
    pub disk: DiskUse,
    /// Messages.
    pub halo: HaloUse,
    #[serde(skip)]
    layout: Layout,
}

impl Outlook {
    fn payload(&self) -> Payload {
        let bytes_per_value = if self.float_type == f32::NAME { 4 } else { 8 };
        Payload { levels: self.levels, tracers: self.tracers, bytes_per_value }
    }

    /// Predicted seconds of the advection of a window.
    pub fn window_seconds_on(&self, machine: Machine) -> f64 {
        LayoutReport::new(&self.layout, self.payload(), machine).step_s * self.substeps.mean
    }
}

/// Works out what a run on `ranks` ranks, `ranks_per_node` of them on a machine, with `threads` threads each would take. Reads
/// headers only.
///
/// # Errors
/// Everything that does not fit together, as at the start of the run.
pub fn outlook(
    config: &RunConfig,
    ranks: NonZeroUsize,
    ranks_per_node: NonZeroUsize,
    threads: NonZeroUsize,
) -> Result<Outlook, RunError> {
    let program = ProcessMemory::now().map_or(0, |memory| memory.resident);
    let setup = Setup::planned(config, ranks.get())?;
    let slices = source_slices(config, setup.plan.layout.nc(), &span(&setup))?;
    match config.settings.float_type {
        FloatType::Float32 => of_setup::<f32>(config, &setup, slices, ranks_per_node, threads, program),
        FloatType::Float64 => of_setup::<f64>(config, &setup, slices, ranks_per_node, threads, program),
    }
}

fn of_setup<R: Scalar>(
    config: &RunConfig,
    setup: &Setup,
    slices: Vec<usize>,
    ranks_per_node: NonZeroUsize,
    threads: NonZeroUsize,
    program: u64,
) -> Result<Outlook, RunError> {
    let (plan, header) = (&setup.plan, setup.header());
    let (sections, derived) = MemoryPlan::fields_of(&setup.buffer::<R>(config));
    let memory = MemoryPlan {
        config,
        layout: &plan.layout,
        levels: plan.levels,
        header,
        sections,
        derived,
        windows: plan.windows.iter().map(|n| *n as u64).sum(),
        snapshots: plan.snapshot_hours.len(),
        files: plan.files.len(),
        slices,
        threads: threads.get(),
        shared: Gathering::Nobody,
        program,
    };
    let ranks = plan.layout.ranks();
    let of_rank = |rank: usize| {
        let set = TileSet::new(plan.layout.tiles_of(rank).to_vec(), config.settings.halo);
        memory.of_rank::<R>(rank, &set)
    };
    let estimates: Vec<MemoryEstimate> = (0..ranks).map(of_rank).collect();
    let totals: Vec<f64> = estimates.iter().map(|e| e.total() as f64).collect();
    let per_node = totals.chunks(ranks_per_node.get()).map(|node| node.iter().sum()).fold(0.0, f64::max);
    let largest_rank = estimates.iter().max_by_key(|e| e.total()).cloned().unwrap_or_default();
    let tracers = config.tracers.len();
    let payload = Payload { levels: plan.levels, tracers, bytes_per_value: size_of::<R>() };
    let layout = LayoutReport::new(&plan.layout, payload, Machine::default());
    let (substeps, substeps_known) = substeps(config, setup);
    let [x, y] = layout.exchanges;
    // X, Y and back: each exchange twice. Halos are not exchanged where nothing is advected.
    let [all, busiest, messages] = match config.advection.scheme {
        None => [0; 3],
        Some(Scheme::LinRood(operator)) => {
            let (layout, levels, scheme) = (&plan.layout, plan.levels, config.advection.scheme);
            let legs =
                (0..ranks).map(|rank| TransportSize { scheme, layout, rank, levels, tracers }.linrood_leg(operator));
            legs.fold([0; 3], |[all, busiest, messages], leg| {
                let most = leg.sent.max(leg.received) * size_of::<R>();
                [all + leg.sent * size_of::<R>(), busiest.max(most), messages.max(leg.messages)]
            })
        }
        Some(_) => [x.bytes + y.bytes, x.max_bytes + y.max_bytes, x.max_messages + y.max_messages],
    };
    let substep_bytes = 2 * all as u64;
    let halo = HaloUse {
        substep_bytes,
        busiest_substep_bytes: 2 * busiest as u64,
        busiest_substep_messages: 2 * messages,
        window_bytes: substep_bytes as f64 * substeps.mean,
    };
    Ok(Outlook {
        config: config.path.display().to_string(),
        nc: plan.layout.nc(),
        levels: plan.levels,
        tracers,
        float_type: float_name(config.settings.float_type),
        ranks,
        ranks_per_node: ranks_per_node.get(),
        threads: threads.get(),
        imbalance: layout.imbalance,
        hours: plan.hours,
        window_seconds: header.dt_met_seconds(),
        substeps,
        substeps_known,
        memory: MemoryOutlook {
            per_rank: Spread::of(totals.iter().copied()),
            per_node,
            first_rank: estimates.into_iter().next().unwrap_or_default(),
            largest_rank,
        },
        disk: disk(config, setup, memory.slices.len()),
        halo,
        layout: plan.layout.clone(),
    })
}

/// Substeps of the windows that are run, and whether they are known.
fn substeps(config: &RunConfig, setup: &Setup) -> (Spread, bool) {
    match &config.input.source {
        Source::Files { .. } => {
            let files = setup.plan.files.iter().zip(&setup.plan.windows);
            let steps = files.flat_map(|(file, count)| file.header().steps().iter().take(*count));
            (Spread::of(steps.map(|n| f64::from(*n))), true)
        }
        Source::Synthetic(options) => {
            let header = setup.header();
            let finer = options.nc as f64 / header.nc() as f64;
            (Spread::of(header.steps().iter().map(|n| (f64::from(*n) * finer).ceil())), false)
        }
    }
}

fn disk(config: &RunConfig, setup: &Setup, sources: usize) -> DiskUse {
    let plan = &setup.plan;
    let value = config.settings.float_type.bytes();
    let (nc, tracers) = (plan.layout.nc(), config.tracers.len());
    let names: Vec<String> = config.tracers.iter().map(|t| t.name.clone()).collect();
    let fields = config.output.as_ref().and_then(|output| output.fields.plan(&names, plan.levels).ok());
    let snapshot_bytes = fields.map_or(0, |fields| fields.snapshot_bytes(nc, value));
    let snapshots = config.output.as_ref().map_or(0.0, |output| match output.schedule {
        Schedule::Hours(_) => plan.snapshot_hours.len() as f64,
        Schedule::Every { hours, .. } => MONTH_DAYS * 24.0 / hours,
    });
    let layer = (6 * nc * nc * value) as u64;
    let carries = [config.physics.diffusion.is_some(), config.physics.convection.is_some()];
    let chosen = config.output.as_ref().map(|output| &output.fields);
    // Sums between snapshots, in pairs: three for every column, one for every cell.
    let transfers = if chosen.is_some_and(|fields| fields.has_column_fluxes()) { 6 * tracers } else { 0 };
    let states = if chosen.is_some_and(|fields| fields.has_interval_means()) { 3 } else { 1 };
    let kept = carries.iter().filter(|given| **given).count() * tracers + sources + transfers;
    let window_bytes = match &config.input.source {
        Source::Files { .. } => setup.header().window_bytes() as f64,
        Source::Synthetic(options) => options.payload_bytes() as f64 / options.windows.max(1) as f64,
    };
    DiskUse {
        snapshots,
        snapshot_bytes,
        output_bytes: snapshots * snapshot_bytes as f64,
        deflate_level: config.output.as_ref().map_or(0, |output| output.compression.level),
        restart_bytes: config
            .restart
            .as_ref()
            .map_or(0, |_| layer * (states * (tracers + 1) * plan.levels + kept) as u64),
        restart_files: config.restart.as_ref().map_or(0, |restart| restart.keep + 1),
        transport_bytes: window_bytes * MONTH_DAYS * DAY / setup.header().dt_met_seconds(),
    }
}

/// Tiles of nobody.
pub(super) fn no_tiles(halo: usize) -> Arc<TileSet> {
    Arc::new(TileSet::new(Vec::new(), halo))
}
