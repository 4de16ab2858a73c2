//! One window of a run.

use std::time::Instant;

use kernels::Scalar;
use kernels::columns::convection::cmfmc;

use super::{Run, difference};
use crate::config::{CflExcess, DecayCadence, PhysicsCadence};
use crate::met::StreamPosition;
use crate::model::checks::JOINED;
use crate::model::engine::tracers_at_reset;
use crate::model::error::{RunError, agree_on};
use crate::model::report::WindowReport;
use crate::operators::WindowEnd;
use crate::operators::advection::{CellBudget, MAX_PASSES};
use crate::operators::columns::{CentreStep, Convection};
use crate::state::AIR;
use crate::timers::{self, Timed};

impl<R: Scalar> Run<'_, R> {
    /// Reset, substeps, end point, convection, decay, checks, snapshot.
    pub(super) fn window(&mut self, place: StreamPosition) -> Result<(), RunError> {
        let before = self.total;
        timers::at_window(self.file_name(place), place.window + 1);
        let (_, window) = self.stream.current().expect("the loop holds a window");
        let substeps = window.loaded().expect("the stream yields loaded windows").steps;
        let timed = timers::section(Timed::WindowAdvance);
        self.begin(place)?;
        drop(timed);
        self.clock.begin_window(substeps);
        let seconds = self.clock.window_seconds();
        let cadence = self.config.chemistry.cadence;
        if cadence == DecayCadence::Symmetric {
            self.decay(0.5 * seconds)?;
        }
        let timed = timers::section(Timed::Advection);
        let start = Instant::now();
        let (passes, budget) = self.passes(place, substeps)?;
        self.watch.begin();
        self.substeps(place, substeps, passes)?;
        if let Some(tracers) = tracers_at_reset(self.config.settings.air_mass_reset) {
            let (_, window) = self.stream.current().expect("the loop holds a window");
            self.engine.reset_air(window, WindowEnd::End, tracers)?;
        }
        if self.config.settings.physics_cadence == PhysicsCadence::Window {
            self.convect(place, seconds, &mut None)?;
        }
        match cadence {
            DecayCadence::Window => self.decay(seconds)?,
            DecayCadence::Symmetric => self.decay(0.5 * seconds)?,
            DecayCadence::Substep => {}
        }
        self.engine.look_ahead(&mut self.stream)?;
        let clamped = self.engine.take_clamped()?;
        self.watch.end(self.engine.take_waited());
        self.total.advection += start.elapsed().as_secs_f64();
        drop(timed);
        self.check(place, substeps, clamped)?;
        self.balance(place)?;
        let moved = self.snapshots.add_window(&mut *self.engine);
        agree_on(self.comm, moved)?;
        self.snapshot_and_tell()?;
        let compared = self.watch.compare(self.comm);
        self.budgets.drifts(&mut self.watch.drift);
        let wall_seconds = self.watch.lap();
        let seconds = difference(self.total, before).list();
        let name = self.file_name(place);
        self.progress.window(&WindowReport {
            file: name,
            window: place.window + 1,
            windows: self.setup.plan.windows[place.file],
            number: self.clock.windows(),
            substeps,
            model_seconds: self.clock.seconds(),
            snapshots: self.snapshots.written(),
            max_cfl: budget,
            cfl_limit: self.config.advection.cfl_limit,
            passes,
            tracers: &self.facts.tracers,
            drift: &self.watch.drift,
            largest_residual: self.watch.drift.iter().map(|drift| drift.abs()).reduce(f64::max),
            wall_seconds,
            imbalance: compared.imbalance,
            read_wait_seconds: compared.read,
            seconds: &seconds,
        });
        Ok(())
    }

    /// The window on its device, and the air mass at its start.
    fn begin(&mut self, place: StreamPosition) -> Result<(), RunError> {
        let (_, window) = self.stream.current().expect("the loop holds a window");
        self.engine.begin_window(window)?;
        if self.clock.windows() == 0 {
            return Ok(());
        }
        let jump = if place.window == 0 { self.engine.air_jump(window, self.comm)? } else { 0.0 };
        if let Some(tracers) = tracers_at_reset(self.config.settings.air_mass_reset) {
            self.engine.reset_air(window, WindowEnd::Start, tracers)?;
        }
        if jump > JOINED {
            let message = format!(
                "{}: its air mass at the start differs by {jump:.1e} of the largest cell from where the file before \
                 ends; uniform mixing ratios will not stay uniform (input.validate_replay = true refuses such files)",
                self.file_name(place)
            );
            self.progress.warn(&message);
        }
        Ok(())
    }

    /// All substeps of the window.
    fn substeps(&mut self, place: StreamPosition, substeps: u32, passes: usize) -> Result<(), RunError> {
        let seconds = self.clock.window_seconds() / f64::from(substeps);
        let mut parts = None;
        for _ in 0..substeps {
            let (_, window) = self.stream.current().expect("the loop holds a window");
            let step = CentreStep { start: self.clock.seconds(), seconds };
            self.engine.substep(window, passes, step)?;
            self.budgets.emit(step);
            if self.config.settings.physics_cadence == PhysicsCadence::Substep {
                self.convect(place, seconds, &mut parts)?;
            }
            if self.config.chemistry.cadence == DecayCadence::Substep {
                self.decay(seconds)?;
            }
            self.clock.advance();
        }
        Ok(())
    }

    fn decay(&mut self, seconds: f64) -> Result<(), RunError> {
        self.engine.decay(&self.config.chemistry.decaying, seconds)?;
        self.budgets.decay(seconds);
        Ok(())
    }

    /// Convects for `seconds`; `parts` keeps the number of parts an explicit scheme divides them into.
    fn convect(&mut self, place: StreamPosition, seconds: f64, parts: &mut Option<usize>) -> Result<(), RunError> {
        let Some(convection) = &self.config.physics.convection else { return Ok(()) };
        let (_, window) = self.stream.current().expect("the loop holds a window");
        let parts = match (*parts, convection) {
            (Some(parts), _) => parts,
            (None, Convection::Tm5(_) | Convection::CmfmcMatrix(_)) => 1,
            (None, Convection::Cmfmc(options)) => {
                let courant = self.engine.cloud_courant(window, seconds, self.comm)?;
                let found = cmfmc::substeps(courant, options.negative).map_err(|source| RunError::Convection {
                    file: self.file_name(place).into(),
                    window: place.window + 1,
                    source,
                });
                *parts.insert(agree_on(self.comm, found)?)
            }
        };
        self.engine.convect(window, seconds, parts)
    }

    /// Passes per leg, and the largest outflow budget of a substep; no passes where nothing is advected. 1 pass where the
    /// file states its own substeps, else as many as the limit asks for. Collective.
    fn passes(&mut self, place: StreamPosition, stored: u32) -> Result<(usize, Option<f64>), RunError> {
        if !self.engine.advects() {
            return Ok((0, None));
        }
        let (_, window) = self.stream.current().expect("the loop holds a window");
        let scan = timers::section(Timed::CflScan);
        let budget = self.engine.largest_budget(window, self.comm)?;
        drop(scan);
        let passes = self.passes_for(place, stored, budget);
        Ok((agree_on(self.comm, passes)?, Some(budget.ratio)))
    }

    fn passes_for(&mut self, place: StreamPosition, stored: u32, budget: CellBudget) -> Result<usize, RunError> {
        let (file, window, limit) = (self.file_name(place), place.window + 1, self.config.advection.cfl_limit);
        let scheduled = self.setup.plan.files[place.file].header().has_binary_schedule();
        match (budget.passes(limit), scheduled, self.config.advection.cfl_excess) {
            (Some(1), ..) => Ok(1),
            (None, ..) => Err(RunError::TooManyPasses { file: file.into(), window, budget, limit, most: MAX_PASSES }),
            (Some(passes), false, _) => Ok(passes),
            (Some(_), true, CflExcess::Stop) => {
                let steps = (budget.ratio / limit * f64::from(stored)).ceil();
                Err(RunError::Courant { file: file.into(), window, budget, limit, steps, stored })
            }
            (Some(_), true, CflExcess::Report) => {
                let message = format!(
                    "{file}, window {window}: the outflow budget of a substep is {budget}, above \
                     advection.cfl_limit = {limit}; the file's own {stored} substeps are used"
                );
                self.warn_once("courant", &message);
                Ok(1)
            }
        }
    }

    /// Clamped faces, air mass and finiteness at the end of a window. Collective.
    fn check(&mut self, place: StreamPosition, stored: u32, clamped: u64) -> Result<(), RunError> {
        let mut counts = [clamped as i64, self.watch.nanoseconds()];
        self.comm.sum_i64(&mut counts);
        self.watch.take_sum(counts[1]);
        let (file, window, faces) = (self.file_name(place), place.window + 1, counts[0] as u64);
        if faces > 0 {
            if self.config.advection.cfl_excess == CflExcess::Stop {
                return agree_on(self.comm, Err(RunError::Clamped { file: file.into(), window, faces, stored }));
            }
            let message = format!(
                "{file}, window {window}: at {faces} faces more air passes in one sweep than the donor cell holds; \
                 tracers move the donor's content there and uniform fields are not kept"
            );
            self.warn_once("clamped", &message);
        }
        let found = self.engine.first_unusable()?.map(|(place, value)| {
            let t = &self.setup.tiles.tiles()[place.tile];
            let tracer = place.plane.checked_sub(AIR + 1);
            RunError::State {
                file: file.into(),
                window,
                what: tracer.map_or("air mass".into(), |t| self.engine.shape().tracers()[t].clone()),
                value,
                k: place.level + 1,
                panel: t.panel.number(),
                i: t.i0 + place.i + 1,
                j: t.j0 + place.j + 1,
            }
        });
        agree_on(self.comm, found.map_or(Ok(()), Err))
    }
}
