//! Restart files of a run, and its end on request.

use std::path::PathBuf;
use std::time::Instant;

use kernels::Scalar;

use super::Run;
use crate::config::Restart;
use crate::met::StreamPosition;
use crate::model::error::{RunError, agree_on};
use crate::model::interval::IntervalField;
use crate::model::report::Ended;
use crate::model::restart::{AIR_MASS, RunState};
use crate::model::setup::make_folder_of;
use crate::model::snapshots::SAME_HOUR;
use crate::output::Provenance;
use crate::restart::{FieldLevels, RestartField, write};
use crate::state::{AIR, Slabs};
use crate::timers::{self, Timed};

impl<R: Scalar> Run<'_, R> {
    /// Writes a restart file if one is due before the window `next`, or if the run has to stop here; why and where it stops.
    /// Collective.
    pub(super) fn save(&mut self, next: Option<StreamPosition>) -> Result<Option<Ended>, RunError> {
        let Some(restart) = &self.config.restart else { return Ok(None) };
        let stop = if next.is_some() { self.must_stop() } else { None };
        let hours = self.clock.hours();
        let due = restart.every_hours.is_some_and(|every| {
            let past = hours / every;
            (past - past.round()).abs() * every < SAME_HOUR
        });
        if next.is_some() && stop.is_none() && !due {
            return Ok(None);
        }
        let started = Instant::now();
        let timed = timers::section(Timed::Checkpoint);
        let path = self.write_restart(restart)?;
        drop(timed);
        let took = started.elapsed();
        self.total.write += took.as_secs_f64();
        self.pace.saved(took);
        self.tell_of_checkpoint(&path, took);
        Ok(stop.map(|reason| Ended::Stopped { reason, restart: path }))
    }

    /// Why the run has to stop before the next window, agreed on by all ranks.
    fn must_stop(&self) -> Option<String> {
        let asked = (self.control.stop_request)();
        let late = self.pace.must_stop(self.control);
        let mut any = [f64::from(u8::from(asked.is_some())), f64::from(u8::from(late))];
        self.comm.max_f64(&mut any);
        match any {
            [asked_any, _] if asked_any > 0.0 => Some(asked.unwrap_or("a signal to another rank").to_owned()),
            [_, late] if late > 0.0 => Some("the wall limit".to_owned()),
            _ => None,
        }
    }

    fn write_restart(&mut self, restart: &Restart) -> Result<PathBuf, RunError> {
        let (comm, setup, config) = (self.comm, self.setup, self.config);
        let path = restart.folder.file_at(self.clock.seconds());
        make_folder_of(&path, comm)?;
        self.snapshots.set_aside(comm)?;
        let output = (self.snapshots.written(), self.snapshots.place());
        let accounts = (self.initial.as_slice(), self.budgets.state());
        let mut state = RunState::new(config, setup, self.clock.windows(), accounts, output);
        (state.interval_start, state.interval_windows) = self.snapshots.interval_place();
        let text = state.to_text();
        let mut kept = Vec::new();
        for field in &self.kept {
            let mut slabs = Slabs::zeros(setup.tiles.clone(), 1, 1);
            agree_on(comm, self.engine.read_kept(field.kept, &mut slabs))?;
            kept.push(slabs);
        }
        let state = agree_on(comm, self.engine.state())?;
        let names: Vec<String> =
            state.tracers().iter().map(|t| format!("{t}: mixing ratio times dry air mass")).collect();
        let layers = |name, long_name, plane| RestartField {
            name,
            long_name,
            slabs: state.slabs(),
            plane,
            levels: FieldLevels::All,
        };
        let mut fields = vec![layers(AIR_MASS, "dry air mass", AIR)];
        let tracers = state.tracers().iter().zip(&names).enumerate();
        fields.extend(tracers.map(|(n, (name, long_name))| layers(name, long_name, AIR + 1 + n)));
        fields.extend(self.kept.iter().zip(&kept).map(|(field, slabs)| RestartField {
            name: &field.name,
            long_name: &field.long_name,
            slabs,
            plane: 0,
            levels: FieldLevels::One,
        }));
        let interval = self.snapshots.interval_fields();
        fields.extend(interval.iter().map(IntervalField::restart_field));
        let mut about = self.facts.attributes();
        about.push(("creation_date", Provenance::detect().agreed(comm).created));
        let written = write(&path, &setup.grid, &setup.tiles, self.clock.hours(), &text, &fields, &about, comm);
        agree_on(comm, written.map_err(RunError::Unsaved))?;
        let pruned = if comm.rank() == 0 { restart.folder.prune(&path, restart.keep) } else { Ok(()) };
        agree_on(comm, pruned.map_err(RunError::Unsaved))?;
        Ok(path)
    }
}
