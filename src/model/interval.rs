//! Sums over the time between two snapshots.

use std::sync::Arc;

use kernels::Scalar;

use super::engine::Engine;
use super::error::{RunError, agree_on};
use super::restart::Resumed;
use crate::comm::Communicator;
use crate::config::RunConfig;
use crate::diagnostics::{ColumnTransfers, StateSums, Transfer};
use crate::output::IntervalSums;
use crate::restart::{FieldLevels, RestartField};
use crate::state::{AIR, Slabs, TileSet};

/// Sums since the last snapshot, those that are written.
pub(super) struct Interval<R> {
    /// Hour of that snapshot; 0 before the first.
    since: f64,
    transfers: Option<ColumnTransfers<R>>,
    states: Option<StateSums<R>>,
    tracers: Vec<String>,
    set: Arc<TileSet>,
}

/// One field of a restart file: a name, what it is, and where the values are.
pub(super) struct IntervalField<'a, R> {
    name: String,
    long_name: String,
    values: Values<'a, R>,
}

enum Values<'a, R> {
    Columns(Slabs<R>),
    Layers(&'a Slabs<R>, usize),
}

impl<R> IntervalField<'_, R> {
    pub(super) fn restart_field(&self) -> RestartField<'_, R> {
        let Self { name, long_name, values } = self;
        let (slabs, plane, levels) = match values {
            Values::Columns(slabs) => (slabs, 0, FieldLevels::One),
            Values::Layers(slabs, plane) => (*slabs, *plane, FieldLevels::All),
        };
        RestartField { name, long_name, slabs, plane, levels }
    }
}

/// Name of a part of the sum of a plane over states.
fn state_name(tracers: &[String], plane: usize, part: usize) -> String {
    let name = plane.checked_sub(AIR + 1).map_or("air_mass", |t| &tracers[t]);
    format!("{name}.states_{}", PARTS[part])
}

/// Names of the parts of a pair.
const PARTS: [&str; 2] = ["sum", "rest"];

fn names(what: Transfer) -> (&'static str, &'static str) {
    match what {
        Transfer::Gain => ("gain", "gain of the columns"),
        Transfer::AlongI => ("along_i", "fluxes through the sides along i"),
        Transfer::AlongJ => ("along_j", "fluxes through the sides along j"),
    }
}

impl<R: Scalar> Interval<R> {
    /// What a configuration asks for on these tiles and levels; `None`: nothing.
    pub(super) fn new(config: &RunConfig, set: &Arc<TileSet>, levels: usize) -> Option<Self> {
        let fields = &config.output.as_ref()?.fields;
        let tracers: Vec<String> = config.tracers.iter().map(|t| t.name.clone()).collect();
        let planes = AIR + 1 + tracers.len();
        let transfers = fields.has_column_fluxes().then(|| ColumnTransfers::zeros(set, planes));
        let states = fields.has_interval_means().then(|| StateSums::zeros(set, levels, planes));
        let any = transfers.is_some() || states.is_some();
        any.then(|| Self { since: 0.0, transfers, states, tracers, set: set.clone() })
    }

    /// Hour at which the interval began, and windows since.
    pub(super) fn place(&self) -> (f64, u64) {
        (self.since, self.states.as_ref().map_or(0, StateSums::windows))
    }

    /// Adds what a window has moved, and the state at its end.
    pub(super) fn add_window(&mut self, engine: &mut dyn Engine<R>) -> Result<(), RunError> {
        if let Some(transfers) = &mut self.transfers {
            engine.take_transfers(transfers)?;
        }
        if let Some(states) = &mut self.states {
            states.add(engine.state()?.slabs());
        }
        Ok(())
    }

    /// The sums so far.
    pub(super) fn sums(&self) -> IntervalSums<'_, R> {
        IntervalSums { since: self.since, transfers: self.transfers.as_ref(), states: self.states.as_ref() }
    }

    /// Begins again at an hour.
    pub(super) fn begin(&mut self, hours: f64) {
        self.since = hours;
        if let Some(transfers) = &mut self.transfers {
            transfers.clear();
        }
        if let Some(states) = &mut self.states {
            states.clear();
        }
    }

    /// Every part of every sum of transfers: what, tracer, part, and the name in restart files.
    fn transfer_parts(&self) -> Vec<(Transfer, usize, usize, String)> {
        let tracers = if self.transfers.is_some() { &self.tracers[..] } else { &[] };
        let sums = tracers.iter().enumerate().flat_map(|(t, name)| Transfer::ALL.map(|what| (what, t, name)));
        sums.flat_map(|(what, t, name)| {
            [0, 1].map(|part| (what, t, part, format!("{name}.column_{}_{}", names(what).0, PARTS[part])))
        })
        .collect()
    }

    /// Every part of every sum of states: plane, part, and the name in restart files.
    fn state_parts(&self) -> Vec<(usize, usize, String)> {
        let planes = if self.states.is_some() { AIR + 1 + self.tracers.len() } else { 0 };
        let parts = (0..planes).flat_map(|plane| [0, 1].map(|part| (plane, part)));
        parts.map(|(plane, part)| (plane, part, state_name(&self.tracers, plane, part))).collect()
    }

    /// What a restart file has to hold.
    pub(super) fn fields(&self) -> Vec<IntervalField<'_, R>> {
        let columns = self.transfer_parts().into_iter().map(|(what, tracer, part, name)| {
            let mut values = Slabs::zeros(self.set.clone(), 1, 1);
            if let Some(transfers) = &self.transfers {
                let from = transfers.sums(what).parts();
                for tile in 0..self.set.len() {
                    values.plane_mut(0, tile, 0).copy_from_slice(from.plane(part, tile, AIR + 1 + tracer));
                }
            }
            let long_name = format!("{} of {} since the last snapshot", names(what).1, self.tracers[tracer]);
            IntervalField { name, long_name, values: Values::Columns(values) }
        });
        let layers = self.states.iter().flat_map(|states| {
            self.state_parts().into_iter().map(move |(plane, part, name)| {
                let long_name = "sum over the ends of windows since the last snapshot".to_owned();
                IntervalField { name, long_name, values: Values::Layers(&states.parts()[part], plane) }
            })
        });
        columns.chain(layers).collect()
    }

    /// Goes on from a restart file on a grid of `nc` cells per panel edge; what it does not hold begins at `hours`, which is
    /// told. Collective.
    pub(super) fn resume(
        &mut self,
        resumed: &Resumed,
        hours: f64,
        nc: usize,
        comm: &dyn Communicator,
    ) -> Result<Option<String>, RunError> {
        let (columns, layers) = (self.transfer_parts(), self.state_parts());
        let mut names = columns.iter().map(|(.., name)| name).chain(layers.iter().map(|(.., name)| name));
        if names.any(|name| !resumed.file.has(name)) {
            self.begin(hours);
            let note = "the restart file lacks sums over time: those of the next snapshot begin at the restart";
            return Ok(Some(note.into()));
        }
        self.since = resumed.state.interval_start;
        let mut values = Slabs::zeros(self.set.clone(), 1, 1);
        for (what, tracer, part, name) in columns {
            let read = resumed.file.read_plane(&name, (&mut values, 0, FieldLevels::One), nc, comm);
            agree_on(comm, read.map_err(RunError::from))?;
            let Some(transfers) = &mut self.transfers else { continue };
            let into = transfers.sums_mut(what).parts_mut();
            for tile in 0..self.set.len() {
                into.plane_mut(part, tile, AIR + 1 + tracer).copy_from_slice(values.plane(0, tile, 0));
            }
        }
        if let Some(states) = &mut self.states {
            let parts = states.resume(resumed.state.interval_windows);
            for (plane, part, name) in layers {
                let read = resumed.file.read_plane(&name, (&mut parts[part], plane, FieldLevels::All), nc, comm);
                agree_on(comm, read.map_err(RunError::from))?;
            }
        }
        Ok(None)
    }
}
