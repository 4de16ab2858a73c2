//! Memory of a rank, worked out before it is taken.

use kernels::Scalar;
use serde::Serialize;

use super::report::Spread;
use super::setup::Setup;
use crate::comm::{Communicator, FileAccess};
use crate::config::{Output, RunConfig};
use crate::files::{SMALL_CACHE_BYTES, size_words};
use crate::met::{CHUNK_BYTES, Header, Section, WindowBuffer};
use crate::operators::{ColumnOperators, TransportSize};
use crate::output::{MetField, Split, Writing, snapshot_levels};
use crate::restart::block_levels;
use crate::state::{Slabs, TileSet};
use crate::timers::ProcessMemory;
use decomposition::Layout;

/// A part of the memory of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryItem {
    /// What it holds.
    pub name: &'static str,
    /// Bytes.
    pub bytes: u64,
}

/// Memory that a rank is expected to take at most, part by part. What reading initial states and computing weights takes before the first
/// window is not in it, nor the memory of devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryEstimate {
    /// The parts.
    pub items: Vec<MemoryItem>,
}

impl MemoryEstimate {
    /// Bytes in all.
    pub fn total(&self) -> u64 {
        self.items.iter().map(|item| item.bytes).sum()
    }

    /// Total and parts in words; parts of less than a twentieth are put together.
    pub fn words(&self) -> String {
        let total = self.total();
        let (large, small): (Vec<&MemoryItem>, Vec<_>) = self.items.iter().partition(|item| item.bytes * 20 >= total);
        let mut parts: Vec<_> = large.iter().map(|item| format!("{} {}", item.name, size_words(item.bytes))).collect();
        let rest = small.iter().map(|item| item.bytes).sum::<u64>();
        parts.extend((rest > 0).then(|| format!("other {}", size_words(rest))));
        format!("{} ({})", size_words(total), parts.join(", "))
    }
}

/// Memory that the ranks of a run took, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MemoryUse {
    /// What was expected at most.
    pub expected: Spread,
    /// The most at a time since the processes began; `None` where the system does not tell.
    pub high_water: Option<Spread>,
}

impl MemoryUse {
    /// Of the ranks of `comm`, this one expecting `expected` bytes. Collective.
    pub(super) fn found(comm: &dyn Communicator, expected: u64) -> Self {
        let found = ProcessMemory::now().map_or(0, |memory| memory.high_water);
        let high_water = Spread::over(comm, found);
        Self { expected: Spread::over(comm, expected), high_water: (high_water.min > 0.0).then_some(high_water) }
    }
}

/// Code of the libraries of files that is not in memory before it runs, and what they keep by themselves once files are open.
const FILE_LIBRARIES: u64 = 10 << 20;

/// Bytes that HDF5 keeps of an open file for the place of a chunk, and in all; a chunk is a layer of a panel.
const CHUNK_PLACE_BYTES: u64 = 128;
const MOST_PLACE_BYTES: u64 = 32 << 20;

/// Buffers of windows in memory: the current one and the one that is read ahead.
const WINDOW_BUFFERS: u64 = 2;

/// Who writes what is gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gathering {
    /// The only rank: nothing is sent.
    Alone,
    /// The first rank, what all others send it.
    FirstRank,
    /// The first rank of each group, what the others of the group send it.
    Group,
    /// Nobody: all ranks write their own cells.
    Nobody,
}

/// What the memory of a run depends on.
pub(super) struct MemoryPlan<'a> {
    pub(super) config: &'a RunConfig,
    pub(super) layout: &'a Layout,
    pub(super) levels: usize,
    /// Header of the transport files, for the size of stored values.
    pub(super) header: &'a Header,
    /// Sections of a window that are read.
    pub(super) sections: Vec<Section>,
    /// Fields that are computed from them.
    pub(super) derived: usize,
    /// Windows of the run.
    pub(super) windows: u64,
    /// Snapshots of the run.
    pub(super) snapshots: usize,
    /// Transport files of the run.
    pub(super) files: usize,
    /// Time slices of every source.
    pub(super) slices: Vec<usize>,
    /// Threads of a rank.
    pub(super) threads: usize,
    /// How files are written that all ranks can write.
    pub(super) shared: Gathering,
    /// Bytes of the process before the run takes any.
    pub(super) program: u64,
}

impl MemoryPlan<'_> {
    /// Sections and derived fields as those of a buffer.
    pub(super) fn fields_of<R: Scalar>(buffer: &WindowBuffer<R>) -> (Vec<Section>, usize) {
        (buffer.sections().collect(), buffer.derived_fields().count())
    }

    fn tracers(&self) -> usize {
        self.config.tracers.len()
    }

    /// Memory of a rank with tiles `set` and `R` as its precision.
    pub(super) fn of_rank<R: Scalar>(&self, rank: usize, set: &TileSet) -> MemoryEstimate {
        let (nc, levels, tracers) = (self.layout.nc(), self.levels, self.tracers());
        let planes = tracers + 1;
        let cells: usize = set.tiles().iter().map(|tile| tile.ni * tile.nj).sum();
        let physics = &self.config.physics;
        let columns = ColumnOperators {
            diffusion: physics.diffusion.as_ref(),
            convection: physics.convection.as_ref(),
            sources: self.slices.len(),
        };
        let of_section = |section: &Section| Slabs::<R>::bytes(set, section.shape(nc, levels).nk, 1);
        let window =
            self.sections.iter().map(of_section).sum::<u64>() + self.derived as u64 * Slabs::<R>::bytes(set, levels, 1);
        let sources = self.slices.iter().map(|slices| Slabs::<R>::bytes(set, *slices, 1)).sum();
        // Geometry of a panel; areas for closures and for output.
        let geometry = (3 * nc * nc * size_of::<f64>() + 2 * cells * size_of::<f64>()) as u64;
        let device = match self.config.settings.accelerator {
            Some(_) => Slabs::<R>::bytes(set, levels, 1) + Slabs::<R>::bytes(set, 1, planes),
            None => 0,
        };
        let output = self.config.output.as_ref().filter(|_| self.snapshots > 0);
        let files = output.is_some() || self.config.restart.is_some();
        let sums = if output.is_some() { Slabs::<R>::bytes(set, 2, planes) } else { 0 };
        let restart = if self.config.restart.is_some() { self.restart::<R>(rank, set, cells, &columns) } else { 0 };
        let frame = output.map_or(0, |output| self.frame::<R>(output, rank, cells));
        // Sources are read slice by slice before anything is written.
        let reading = self.slices.iter().max().map_or(0, |slices| (slices * cells * size_of::<f64>()) as u64);
        let scheme = self.config.advection.scheme;
        let transport = TransportSize { scheme, layout: self.layout, rank, levels, tracers };
        let work = transport.work_bytes::<R>(set, self.threads, &columns);
        let messages = if self.layout.ranks() > 1 { transport.message_bytes::<R>() } else { 0 };
        let item = |name, bytes| MemoryItem { name, bytes };
        MemoryEstimate {
            items: vec![
                item("program", self.program + if files { FILE_LIBRARIES } else { 0 }),
                item("state", Slabs::<R>::bytes(set, levels, planes) + device),
                item("windows", WINDOW_BUFFERS.min(self.windows) * window),
                item("reading", self.reading()),
                item("sums between snapshots", self.interval::<R>(set, planes)),
                item("vertical physics", columns.kept_bytes::<R>(set, tracers)),
                item("sources", sources),
                item("work of threads", work),
                item("messages", messages),
                item("geometry and sums", geometry + sums),
                item("output that waits", output.map_or(0, |output| self.queue::<R>(output, rank))),
                item("blocks of files", frame.max(restart).max(reading)),
            ],
        }
    }

    /// What threads read at a time: a level of a panel each, or a piece of the payload that is verified.
    fn reading(&self) -> u64 {
        let nc = self.layout.nc();
        let level = nc * (nc + 1) * self.header.float_type().bytes();
        (self.threads * level.max(CHUNK_BYTES)) as u64
    }

    /// Sums over the time between snapshots, and column fields of the meteorology.
    fn interval<R: Scalar>(&self, set: &TileSet, planes: usize) -> u64 {
        let Some(output) = self.config.output.as_ref() else { return 0 };
        let state = Slabs::<R>::bytes(set, self.levels, planes);
        let books = 3 * (state + Slabs::<R>::bytes(set, 2, planes));
        let columns = Slabs::<R>::bytes(set, 1, MetField::ALL.len());
        [
            (output.fields.has_column_fluxes(), books),
            (output.fields.has_interval_means(), 2 * state),
            (!output.fields.meteorology.is_empty(), columns),
        ]
        .iter()
        .filter_map(|(kept, bytes)| kept.then_some(bytes))
        .sum()
    }

    /// Bytes of the snapshots that wait for the thread that writes, on the first rank.
    fn queue<R: Scalar>(&self, output: &Output, rank: usize) -> u64 {
        match output.writer {
            Writing::Background { queue } if rank == 0 => {
                self.snapshot_bytes::<R>(output).saturating_mul(queue.min(self.snapshots) as u64)
            }
            Writing::Background { .. } | Writing::Collective | Writing::Grouped { .. } => 0,
        }
    }

    fn snapshot_bytes<R: Scalar>(&self, output: &Output) -> u64 {
        let names: Vec<String> = self.config.tracers.iter().map(|t| t.name.clone()).collect();
        let plan = output.fields.plan(&names, self.levels).ok();
        plan.map_or(0, |plan| plan.snapshot_bytes(self.layout.nc(), size_of::<R>()))
    }

    /// What writing a block of levels takes: this rank's part, and where it is gathered the whole of it.
    fn block<R: Scalar>(&self, levels: usize, rank: usize, cells: usize, gathering: Gathering) -> u64 {
        let bytes = |cells: usize| (levels * cells * size_of::<R>()) as u64;
        let (own, whole) = (bytes(cells), bytes(6 * self.layout.nc() * self.layout.nc()));
        match (gathering, rank) {
            (Gathering::Alone, _) => own + whole,
            // Its own part, what comes in from one rank, and the whole.
            (Gathering::FirstRank, 0) => 2 * own + whole,
            (Gathering::FirstRank, _) => own,
            // The same as values and as bytes, and what has come in: no more than if it gathered everything.
            (Gathering::Group, 0) => 2 * own + 2 * whole,
            (Gathering::Group, _) => 2 * own,
            (Gathering::Nobody, _) => own,
        }
    }

    fn gathering(&self, writing: Writing) -> Gathering {
        match (self.layout.ranks(), writing) {
            (1, _) => Gathering::Alone,
            (_, Writing::Background { .. }) => Gathering::FirstRank,
            (_, Writing::Grouped { .. }) => Gathering::Group,
            (_, Writing::Collective) => self.shared,
        }
    }

    /// A block of a snapshot, the caches of the library, and the places of the chunks of a file.
    fn frame<R: Scalar>(&self, output: &Output, rank: usize, cells: usize) -> u64 {
        let nc = self.layout.nc();
        let whole = self.snapshot_bytes::<R>(output);
        let layer = (6 * nc * nc * size_of::<R>()) as u64;
        let layers = usize::try_from(whole / layer.max(1)).unwrap_or(usize::MAX);
        let levels = snapshot_levels(nc, size_of::<R>()).min(self.levels).min(layers);
        let variables = 3 * (self.tracers() + 1);
        // A thread has what it writes in hand besides what waits, and that is counted there.
        let block = self.block::<R>(levels, rank, cells, self.gathering(output.writer));
        let coordinates = (4 * 6 * (nc + 1) * (nc + 1) * size_of::<f64>()) as u64;
        let of_file = match output.split {
            Split::Single => self.snapshots,
            Split::Daily => self.snapshots.div_ceil(self.files.max(1)),
        };
        let chunks = (6 * layers).saturating_mul(of_file) as u64;
        let places = chunks.saturating_mul(CHUNK_PLACE_BYTES).min(MOST_PLACE_BYTES);
        block.max(coordinates) + (variables * SMALL_CACHE_BYTES) as u64 + places
    }

    /// A restart file: a block of a field, and what physics keeps.
    fn restart<R: Scalar>(&self, rank: usize, set: &TileSet, cells: usize, columns: &ColumnOperators<'_>) -> u64 {
        let tracers = self.tracers();
        let carries = [columns.diffusion.is_some(), columns.convection.is_some()].iter().filter(|x| **x).count();
        let kept = carries * tracers + columns.sources;
        let (nc, ranks) = (self.layout.nc(), self.layout.ranks());
        let levels = block_levels(nc, self.levels, tracers + 1, size_of::<R>(), ranks);
        let block = self.block::<R>(levels, rank, cells, self.gathering(Writing::Collective));
        let caches = (tracers + 1 + kept) * SMALL_CACHE_BYTES;
        kept as u64 * Slabs::<R>::bytes(set, 1, 1) + block + caches as u64
    }
}

/// The plan of a run as it is set up; sections, derived fields and slices of sources are still to come.
pub(super) fn memory_plan<'a>(
    config: &'a RunConfig,
    setup: &'a Setup,
    program: u64,
    threads: usize,
    comm: &dyn Communicator,
) -> MemoryPlan<'a> {
    let plan = &setup.plan;
    MemoryPlan {
        config,
        layout: &plan.layout,
        levels: plan.levels,
        header: setup.header(),
        sections: Vec::new(),
        derived: 0,
        windows: plan.windows.iter().map(|n| *n as u64).sum(),
        snapshots: plan.snapshot_hours.len(),
        files: plan.files.len(),
        slices: Vec::new(),
        threads,
        shared: match comm.file_access() {
            FileAccess::Gathered => Gathering::FirstRank,
            #[cfg(feature = "mpi")]
            FileAccess::Parallel(_) => Gathering::Nobody,
        },
        program,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_what_is_large() {
        let item = |name, bytes| MemoryItem { name, bytes };
        let items = vec![item("state", 60_000_000), item("windows", 39_000_000), item("work", 1000), item("rest", 0)];
        let estimate = MemoryEstimate { items };
        assert_eq!(estimate.total(), 99_001_000);
        assert_eq!(
            estimate.words(),
            "99.0 MB (state 60.0 MB, windows 39.0 MB, other 1.0 kB)".replace("1.0 kB", "1000 B")
        );
    }
}
