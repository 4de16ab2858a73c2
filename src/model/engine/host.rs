//! The state in memory, moved by the processor.

use kernels::Scalar;
use kernels::cpu::SweepStats;

use super::{Engine, field, flux_scale};
use crate::comm::Communicator;
use crate::diagnostics::{ColumnSums, SumError, tracer_totals};
use crate::met::{Section, WindowBuffer, WindowStream};
use crate::model::checks::{first_unusable, largest_jump};
use crate::model::error::RunError;
use crate::operators::advection::{Advection, CellBudget, Winds, largest_budget};
use crate::operators::{Decaying, Threads, TracersAtReset, WindowEnd, decay, reset_air_mass};
use crate::output::{FrameContent, FrameNeeds};
use crate::state::{CellPlace, PackedState};

/// State and operators of one rank on the processor.
pub(in crate::model) struct HostEngine<'a, R: Scalar> {
    state: PackedState<R>,
    columns: ColumnSums<R>,
    advection: Option<Advection<R>>,
    threads: &'a Threads,
    stats: SweepStats,
}

impl<'a, R: Scalar> HostEngine<'a, R> {
    pub(in crate::model) fn new(state: PackedState<R>, advection: Option<Advection<R>>, threads: &'a Threads) -> Self {
        let columns = ColumnSums::zeros(state.tile_set().clone(), state.slabs().planes());
        Self { state, columns, advection, threads, stats: SweepStats::default() }
    }
}

fn winds<R: Scalar>(window: &WindowBuffer<R>) -> Winds<'_, R> {
    Winds {
        x: field(window, Section::FluxX),
        y: field(window, Section::FluxY),
        z: field(window, Section::FluxZ),
        scale: flux_scale(window),
    }
}

impl<R: Scalar> Engine<R> for HostEngine<'_, R> {
    fn begin_window(&mut self, _window: &WindowBuffer<R>) -> Result<(), RunError> {
        Ok(())
    }

    fn look_ahead(&mut self, _stream: &mut WindowStream<R>) -> Result<(), RunError> {
        Ok(())
    }

    fn advects(&self) -> bool {
        self.advection.is_some()
    }

    fn largest_budget(&mut self, window: &WindowBuffer<R>, comm: &dyn Communicator) -> Result<CellBudget, RunError> {
        Ok(largest_budget(self.state.slabs(), winds(window), comm))
    }

    fn substep(&mut self, window: &WindowBuffer<R>, passes: usize) -> Result<(), RunError> {
        if let Some(advection) = &mut self.advection {
            let seen = advection.substep(&mut self.state, winds(window), passes, None, self.threads);
            self.stats = self.stats.merge(seen);
        }
        Ok(())
    }

    fn decay(&mut self, decaying: &[Decaying], dt: f64) -> Result<(), RunError> {
        decay(&mut self.state, decaying, dt);
        Ok(())
    }

    fn reset_air(&mut self, window: &WindowBuffer<R>, end: WindowEnd, tracers: TracersAtReset) -> Result<(), RunError> {
        let tendency = match end {
            WindowEnd::Start => None,
            WindowEnd::End => Some(field(window, Section::AirMassTendency)),
        };
        reset_air_mass(&mut self.state, tracers, field(window, Section::AirMass), tendency);
        Ok(())
    }

    fn take_clamped(&mut self) -> Result<u64, RunError> {
        Ok(std::mem::take(&mut self.stats).clamped)
    }

    fn first_unusable(&mut self) -> Result<Option<(CellPlace, f64)>, RunError> {
        let slabs = self.state.slabs();
        Ok(first_unusable(&self.state).map(|place| {
            let at = slabs.tile_set().shapes()[place.tile].row_start(place.j) + place.i;
            (place, slabs.plane(place.level, place.tile, place.plane)[at].to_f64())
        }))
    }

    fn air_jump(&mut self, window: &WindowBuffer<R>, comm: &dyn Communicator) -> Result<f64, RunError> {
        Ok(largest_jump(self.state.slabs(), field(window, Section::AirMass), comm))
    }

    fn totals(&mut self, comm: &dyn Communicator) -> Result<Result<Vec<f64>, (usize, SumError)>, RunError> {
        Ok(tracer_totals(comm, &self.state))
    }

    fn content(&mut self, needs: FrameNeeds) -> Result<FrameContent<'_, R>, RunError> {
        let (state, columns) = (self.state.slabs(), &mut self.columns);
        columns.add_up(state);
        Ok(match needs {
            FrameNeeds::Columns => FrameContent::Columns(columns),
            FrameNeeds::Layers => FrameContent::Layers { state, columns },
        })
    }

    fn shape(&self) -> &PackedState<R> {
        &self.state
    }
}
