//! Writing snapshots into one file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernels::Scalar;
use netcdf::AttributeValue;

use super::cells::TileCells;
use super::channel::{Channel, Values, WriteMode, storage};
use super::error::{Context, OutputError};
use super::frame::{FrameNeeds, SnapshotFrame};
use super::geometry;
use super::parts::{Part, part_path};
use super::pieces::Pieces;
use super::schema::{self, TIME};
use super::selection::{AIR_TOTAL, Extent, FieldPlan, FieldVariable, TIME_BOUNDS, total_mass_name};
use super::sharing::{Rectangle, Sharing};
use super::spec::{Continuation, OutputSpec, Writing, partial_path};
use crate::comm::{Communicator, agree};
use crate::files::{folder, sync_folder};
use crate::grid::{CubedSphere, HybridCoordinate};
use crate::state::TileSet;

/// Bytes of one variable that rank 0 holds at a time; at least one level.
const BLOCK_BYTES: usize = 16 << 20;

/// Writes the snapshots of one file. All methods are collective.
///
/// A run that can go on writes parts, see [`Continuation`]. Else the file is created by the first snapshot under the name
/// `<path>.partial`, and gets its final name when it is complete; until then a file already at `path` stays as it is. Each snapshot is written and brought to disk before the attribute `completed_snapshots` counts it. With
/// [`Writing::Background`] that happens while the run goes on, and what fails is told by a later call.
pub struct SnapshotWriter<R> {
    pub(super) spec: OutputSpec,
    pub(super) path: PathBuf,
    pub(super) grid: CubedSphere,
    pub(super) plan: FieldPlan,
    tiles: Arc<TileSet>,
    cells: Vec<TileCells>,
    sharing: Sharing,
    pub(super) channel: Option<Channel>,
    /// Snapshots of the file, in all its parts.
    pub(super) frames: usize,
    /// First snapshot of the part that is open or comes next.
    pub(super) part_start: usize,
    /// Parts that are closed; known to rank 0.
    pub(super) parts: Vec<Part>,
    last_hours: Option<f64>,
    poisoned: bool,
    pieces: Pieces<R>,
}

impl<R: Scalar> SnapshotWriter<R> {
    /// Plans the file of `label` (see [`OutputSpec::path_for`]) for a run that carries `tracers` on `levels` layers.
    /// Nothing is created on disk yet.
    ///
    /// # Errors
    /// If the selection of fields or the vertical coordinate does not fit, or the tiles of all ranks do not cover the grid.
    pub fn create(
        spec: &OutputSpec,
        label: &str,
        grid: &CubedSphere,
        tracers: &[String],
        levels: usize,
        tiles: &Arc<TileSet>,
        comm: &dyn Communicator,
    ) -> Result<Self, OutputError> {
        let plan = spec.fields.plan(tracers, levels)?;
        if let Some(found) = spec.vertical.as_ref().map(HybridCoordinate::levels).filter(|found| *found != levels) {
            let problem = format!("the hybrid coordinate has {found} layers, the run {levels}");
            return Err(OutputError::Selection(vec![problem]));
        }
        let sharing = Sharing::new(tiles, grid.nc(), comm)?;
        let cells = tiles.tiles().iter().map(|tile| TileCells::new(grid, tile)).collect();
        let mut spec = spec.clone();
        spec.provenance = spec.provenance.agreed(comm);
        Ok(Self {
            path: spec.path_for(label),
            spec,
            grid: grid.clone(),
            plan,
            tiles: tiles.clone(),
            cells,
            sharing,
            channel: None,
            frames: 0,
            part_start: 0,
            parts: Vec::new(),
            last_hours: None,
            poisoned: false,
            pieces: Pieces::default(),
        })
    }

    /// Final path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the frames of this file must hold.
    pub fn needs(&self) -> FrameNeeds {
        self.plan.needs()
    }

    /// Number of snapshots safely in the file.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Adds a snapshot.
    ///
    /// # Errors
    /// If the frame does not continue the file (times must increase; tracers, levels and tiles must stay), or writing
    /// fails. After a failed write nothing more is accepted.
    pub fn append(&mut self, frame: &SnapshotFrame<R>, comm: &dyn Communicator) -> Result<(), OutputError> {
        if self.poisoned {
            return Err(OutputError::Poisoned(self.path.clone()));
        }
        agree(comm, frame.check(&self.plan, &self.tiles, self.last_hours))?;
        if frame.series.len() != self.spec.series.len() {
            let problem = format!("{} values for {} series", frame.series.len(), self.spec.series.len());
            return Err(OutputError::Frame { hours: frame.hours, problem });
        }
        self.poisoned = true;
        if self.channel.is_none() {
            let path = match self.spec.continuation {
                Continuation::None => partial_path(&self.path),
                Continuation::InParts => part_path(&self.path, self.part_start),
            };
            let mut channel = self.open_at(&path, comm)?;
            if let WriteMode::Background { limit } = self.mode() {
                let started = channel.in_background(limit);
                agree(comm, started.map_err(|source| OutputError::Io { path: path.clone(), source }))?;
            }
            self.channel = Some(channel);
        }
        if let Err(error) = self.write(frame, comm) {
            if let Some(channel) = self.channel.take() {
                channel.abandon();
            }
            return Err(error);
        }
        self.poisoned = false;
        self.frames += 1;
        self.last_hours = Some(frame.hours);
        Ok(())
    }

    /// Closes the file and gives it its final name. Without any snapshot there is no file.
    ///
    /// # Errors
    /// If closing or renaming fails. After a failed write the incomplete file is closed and keeps its name.
    pub fn finish(mut self, comm: &dyn Communicator) -> Result<(), OutputError> {
        if self.spec.continuation == Continuation::InParts && !self.poisoned {
            return if self.frames == 0 { Ok(()) } else { self.join(comm) };
        }
        let Some(channel) = self.channel.take() else { return Ok(()) };
        let closed = channel.close().context(&self.path, || "close".into());
        agree(comm, closed)?;
        if self.poisoned {
            return Err(OutputError::Poisoned(self.path));
        }
        self.publish(comm)
    }

    fn mode(&self) -> WriteMode {
        match self.spec.writer {
            Writing::Collective => WriteMode::Collective,
            Writing::Grouped { ranks } => WriteMode::Grouped(ranks),
            Writing::Background { queue } => {
                let snapshot = self.plan.snapshot_bytes(self.grid.nc(), size_of::<R>());
                let limit = snapshot.saturating_mul(queue as u64);
                WriteMode::Background { limit: usize::try_from(limit).unwrap_or(usize::MAX) }
            }
        }
    }

    /// Creates a file with the grid and without snapshots.
    pub(super) fn open_at(&self, path: &Path, comm: &dyn Communicator) -> Result<Channel, OutputError> {
        let mut channel = Channel::create(path, self.mode(), comm)?;
        let float = storage::<R>();
        let nc = self.grid.nc();
        // Compressed chunks that several ranks share would have to be sent around: cut them like the tiles.
        let chunk = match self.sharing.common {
            Some(tile) if channel.is_shared() && self.spec.compression.level > 0 => tile,
            _ => (nc, nc),
        };
        let mut globals = schema::global_attributes(&self.spec, &self.grid, &self.plan, R::NAME);
        globals.extend(self.progress(0).map(|(key, value)| (key.to_string(), value)));
        let defined = channel.define(
            &schema::dimensions(&self.spec, nc, &self.plan),
            &schema::variables(&self.spec, &self.grid, &self.plan, float),
            &globals,
            self.spec.compression,
            chunk,
        );
        agree(comm, defined.context(path, || "define".into()))?;
        let written = self.write_grid(&mut channel, comm);
        agree(comm, written.context(path, || "write the grid".into()))?;
        Ok(channel)
    }

    fn write_grid(&self, channel: &mut Channel, comm: &dyn Communicator) -> Result<(), netcdf::Error> {
        let (nc, convention) = (self.grid.nc(), self.grid.convention());
        let count = |n: usize| (1..=n).map(|k| k as f64).collect::<Vec<_>>();
        let numbers = |n: i32| (1..=n).collect::<Vec<_>>();
        let selected: Vec<_> = self.plan.selected.iter().map(|&k| (k + 1) as f64).collect();
        let (lons, lats) = geometry::centers(&self.grid);
        let (corner_lons, corner_lats) = geometry::corners(&self.grid);
        let areas = geometry::areas(&self.grid);
        let (a, b) = self.spec.vertical.as_ref().map_or((&[][..], &[][..]), |v| (v.a(), v.b()));
        let doubles: [(&str, &[usize], &[f64]); 12] = [
            ("lev", &[self.plan.levels], &count(self.plan.levels)),
            ("lev_selected", &[selected.len()], &selected),
            ("ilev", &[a.len()], &count(a.len())),
            ("hyai", &[a.len()], a),
            ("hybi", &[b.len()], b),
            ("Ydim", &[nc], &count(nc)),
            ("Xdim", &[nc], &count(nc)),
            ("lons", &[6, nc, nc], &lons),
            ("lats", &[6, nc, nc], &lats),
            ("corner_lons", &[6, nc + 1, nc + 1], &corner_lons),
            ("corner_lats", &[6, nc + 1, nc + 1], &corner_lats),
            ("cell_area", &[6, nc, nc], &areas),
        ];
        // A rank that fails still takes part in the collective calls of the others, here and below.
        let mut result = Ok(());
        for (name, shape, values) in doubles.into_iter().filter(|d| !d.2.is_empty()) {
            let region = (vec![0; shape.len()], shape.to_vec());
            result = result.and(channel.put_root(name, region, Values::Double(values), comm));
        }
        let ints: [(&str, &[usize], &[i32]); 5] = [
            ("nf", &[6], &numbers(6)),
            ("ncontact", &[4], &numbers(4)),
            ("contacts", &[6, 4], &geometry::contacts(convention)),
            ("anchor", &[6, 4, 4], &geometry::anchors(convention, nc)),
            ("cubed_sphere", &[], &[0]),
        ];
        for (name, shape, values) in ints {
            let region = (vec![0; shape.len()], shape.to_vec());
            result = result.and(channel.put_root(name, region, Values::Int(values), comm));
        }
        result
    }

    fn write(&mut self, frame: &SnapshotFrame<R>, comm: &dyn Communicator) -> Result<(), OutputError> {
        let mut channel = self.channel.take().expect("opened before the first write");
        let mut pieces = std::mem::take(&mut self.pieces);
        let result = self.write_frame(&mut channel, frame, &mut pieces, comm);
        (self.channel, self.pieces) = (Some(channel), pieces);
        result
    }

    fn write_frame(
        &self,
        channel: &mut Channel,
        frame: &SnapshotFrame<R>,
        pieces: &mut Pieces<R>,
        comm: &dyn Communicator,
    ) -> Result<(), OutputError> {
        let record = self.frames - self.part_start;
        for variable in &self.plan.variables {
            let written = self.write_variable(channel, variable, frame, pieces, comm);
            agree(comm, written.context(&self.path, || format!("write `{}`", variable.name)))?;
        }
        let tracers = self.plan.tracers.iter().map(|t| total_mass_name(t));
        let totals = std::iter::once(AIR_TOTAL.into()).chain(tracers).zip(frame.totals.iter().copied());
        let mut series: Vec<(String, f64)> = totals.collect();
        series.extend(self.spec.series.iter().map(|s| s.name.clone()).zip(frame.series.iter().copied()));
        series.push((TIME.into(), frame.hours));
        let mut written = Ok(());
        for (name, value) in &series {
            written = written.and(channel.put_root(name, (vec![record], vec![1]), Values::Double(&[*value]), comm));
        }
        if let Some(sums) = frame.interval.filter(|_| self.plan.has_intervals()) {
            let bounds = [sums.since, frame.hours];
            let region = (vec![record, 0], vec![1, 2]);
            written = written.and(channel.put_root(TIME_BOUNDS, region, Values::Double(&bounds), comm));
        }
        let step = |result: Result<(), netcdf::Error>| {
            agree(comm, result.context(&self.path, || format!("finish snapshot {}", record + 1)))
        };
        step(written)?;
        step(channel.sync())?;
        step(channel.put_attributes(&self.progress(record + 1)))?;
        step(channel.sync())?;
        Ok(())
    }

    fn write_variable(
        &self,
        channel: &mut Channel,
        variable: &FieldVariable,
        frame: &SnapshotFrame<R>,
        pieces: &mut Pieces<R>,
        comm: &dyn Communicator,
    ) -> Result<(), netcdf::Error> {
        let nc = self.grid.nc();
        let derive = |levels: &[usize], pieces: &mut Pieces<R>| {
            pieces.clear();
            for (tile, place) in self.tiles.tiles().iter().enumerate() {
                pieces.add(Rectangle::of(place), |values| {
                    values.reserve(levels.len() * place.ni * place.nj);
                    for &level in levels {
                        frame.derive(variable.quantity, level, tile, &self.cells[tile], values);
                    }
                });
            }
        };
        let record = self.frames - self.part_start;
        let full: Vec<usize> = (0..self.plan.levels).collect();
        let levels = match variable.extent {
            Extent::Full => &full,
            Extent::Selected => &self.plan.selected,
            Extent::Column => {
                let lead = [record];
                derive(&[0], pieces);
                return channel.put_pieces(&variable.name, &lead, None, pieces, &self.sharing, nc, comm);
            }
        };
        let block = snapshot_levels(nc, size_of::<R>());
        let mut result = Ok(());
        for (n, levels) in levels.chunks(block).enumerate() {
            let lead = [record, n * block];
            derive(levels, pieces);
            let count = Some(levels.len());
            result = result.and(channel.put_pieces(&variable.name, &lead, count, pieces, &self.sharing, nc, comm));
        }
        result
    }

    /// Attributes that count the snapshots.
    pub(super) fn progress(&self, frames: usize) -> [(&'static str, AttributeValue); 2] {
        [("completed_snapshots", (frames as i32).into()), ("history", self.spec.provenance.history(frames).into())]
    }

    /// Gives the file its final name once it is on disk.
    pub(super) fn publish(&self, comm: &dyn Communicator) -> Result<(), OutputError> {
        let renamed = if comm.rank() == 0 { rename_durably(&self.path) } else { Ok(()) };
        let renamed = renamed.map_err(|source| OutputError::Io { path: self.path.clone(), source });
        Ok(agree(comm, renamed)?)
    }
}

/// Levels of a variable on panels of `nc` × `nc` cells that are written at a time; `value_bytes` of a value.
pub(crate) fn snapshot_levels(nc: usize, value_bytes: usize) -> usize {
    (BLOCK_BYTES / (6 * nc * nc * value_bytes)).max(1)
}

/// Renames the partial file of `path`, such that after a crash either name holds a complete file.
fn rename_durably(path: &Path) -> std::io::Result<()> {
    let partial = partial_path(path);
    std::fs::File::open(&partial)?.sync_all()?;
    std::fs::rename(&partial, path)?;
    sync_folder(folder(path))
}
