//! The state in memory, moved by the processor.

use std::time::Duration;

use kernels::Scalar;
use kernels::columns::LedgerStats;

use super::{Books, Engine, Kept, Totalled, field, flux_scale, largest_courant};
use crate::comm::Communicator;
use crate::diagnostics::{ColumnSums, ColumnTransfers, Transfer, tracer_totals_into};
use crate::met::{Section, WindowBuffer, WindowStream};
use crate::model::checks::{first_unusable, largest_jump};
use crate::model::error::RunError;
use crate::operators::advection::{
    Advection, CellBudget, ColumnRows, Midpoint, RowStats, Transfers, Winds, largest_budget,
};
use crate::operators::columns::{CentrePhysics, CentreStep, ColumnStore, ConvectionOperator};
use crate::operators::{Decaying, Threads, TracersAtReset, WindowEnd, decay, reset_air_mass};
use crate::output::{FrameContent, FrameNeeds};
use crate::state::{CellPlace, PackedState, Slabs};

/// State and operators of one rank on the processor.
pub(in crate::model) struct HostEngine<'a, R: Scalar> {
    state: PackedState<R>,
    columns: ColumnSums<R>,
    transport: Transport<R>,
    centre: Option<CentrePhysics<R>>,
    convection: Option<ConvectionOperator<R>>,
    threads: &'a Threads,
    transfers: Option<Box<Transfers<R>>>,
    stats: RowStats,
    convected: LedgerStats,
}

/// What takes the columns through a substep.
pub(in crate::model) enum Transport<R: Scalar> {
    /// Advection.
    Advection(Box<Advection<R>>),
    /// Nothing moves horizontally.
    Columns(ColumnRows<R>),
}

impl<'a, R: Scalar> HostEngine<'a, R> {
    pub(in crate::model) fn new(
        state: PackedState<R>,
        transport: Transport<R>,
        centre: Option<CentrePhysics<R>>,
        convection: Option<ConvectionOperator<R>>,
        threads: &'a Threads,
    ) -> Self {
        let columns = ColumnSums::zeros(state.tile_set().clone(), state.slabs().planes());
        let (stats, convected) = Default::default();
        Self { state, columns, transport, centre, convection, threads, transfers: None, stats, convected }
    }

    /// From now on keeps books of what the horizontal sweeps move.
    pub(in crate::model) fn book_transfers(&mut self) {
        self.transfers = Some(Box::new(Transfers::new(self.state.slabs())));
    }
}

impl<R: Scalar> HostEngine<'_, R> {
    /// The store with what is kept, and its field there.
    fn kept(&mut self, kept: Kept) -> (&mut ColumnStore<R>, usize) {
        let tracers = self.state.tracers().len();
        let centre = self.centre.as_mut().map(CentrePhysics::store_mut);
        let (store, field) = match kept {
            Kept::Diffusion(tracer) => (centre, 2 * tracer),
            Kept::Source(source) => (centre, 2 * tracers + source),
            Kept::Convection(tracer) => (self.convection.as_mut().map(ConvectionOperator::store_mut), 2 * tracer),
        };
        (store.expect("the operator is part of the run"), field)
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
        matches!(self.transport, Transport::Advection(_))
    }

    fn largest_budget(&mut self, window: &WindowBuffer<R>, comm: &dyn Communicator) -> Result<CellBudget, RunError> {
        let (air, winds) = (self.state.slabs(), winds(window));
        Ok(match &mut self.transport {
            Transport::Advection(advection) => advection.largest_budget(air, winds, comm),
            Transport::Columns(_) => largest_budget(air, winds, comm),
        })
    }

    fn substep(&mut self, window: &WindowBuffer<R>, passes: usize, step: CentreStep) -> Result<(), RunError> {
        let Self { state, transport, centre, threads, stats, transfers, .. } = self;
        let midpoint = centre.as_mut().map(|physics| Midpoint { physics, window, step });
        let seen = match transport {
            Transport::Advection(advection) => {
                advection.substep(state, winds(window), passes, midpoint, transfers.as_deref_mut(), threads)
            }
            Transport::Columns(rows) => {
                let columns = midpoint.map(|midpoint| rows.act(state, midpoint, threads)).unwrap_or_default();
                RowStats { columns, ..RowStats::default() }
            }
        };
        *stats = stats.merge(seen);
        Ok(())
    }

    fn cloud_courant(&mut self, window: &WindowBuffer<R>, dt: f64, comm: &dyn Communicator) -> Result<f64, RunError> {
        let of_rank = |c: &ConvectionOperator<R>| c.largest_courant(&self.state, window, dt, self.threads);
        let courant = self.convection.as_ref().map_or(0.0, of_rank);
        Ok(largest_courant(courant, comm))
    }

    fn convect(&mut self, window: &WindowBuffer<R>, dt: f64, substeps: usize) -> Result<(), RunError> {
        if let Some(convection) = &mut self.convection {
            let seen = convection.convect(&mut self.state, window, dt, substeps, self.threads);
            self.convected = self.convected.merge(seen);
        }
        Ok(())
    }

    fn take_books(&mut self, into: &mut Books) -> Result<(), RunError> {
        let (tracers, set) = (self.state.tracers().len(), self.state.tile_set());
        let columns = std::mem::take(&mut self.stats.columns);
        let refused = std::mem::take(&mut self.convected).refused;
        into.unlofted = columns.unlofted;
        if let Some(centre) = &mut self.centre {
            into.diffusion.fill(columns.ledger.refused, centre.store_mut(), tracers, set);
        }
        if let Some(convection) = &mut self.convection {
            into.convection.fill(refused, convection.store_mut(), tracers, set);
        }
        Ok(())
    }

    fn take_transfers(&mut self, into: &mut ColumnTransfers<R>) -> Result<(), RunError> {
        let transfers = self.transfers.as_mut().expect("books are kept");
        for (what, book) in Transfer::ALL.into_iter().zip(transfers.all()) {
            self.columns.add_up(book);
            into.add(what, self.columns.parts());
        }
        transfers.clear();
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
        Ok(std::mem::take(&mut self.stats.sweeps).clamped)
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

    fn totals(&mut self, comm: &dyn Communicator, into: &mut Vec<f64>) -> Result<Totalled, RunError> {
        Ok(tracer_totals_into(comm, &self.state, into))
    }

    fn content(&mut self, needs: FrameNeeds) -> Result<FrameContent<'_, R>, RunError> {
        let (state, columns) = (self.state.slabs(), &mut self.columns);
        columns.add_up(state);
        Ok(match needs {
            FrameNeeds::Columns => FrameContent::Columns(columns),
            FrameNeeds::Layers => FrameContent::Layers { state, columns },
        })
    }

    fn state(&mut self) -> Result<&PackedState<R>, RunError> {
        Ok(&self.state)
    }

    fn read_kept(&mut self, kept: Kept, into: &mut Slabs<R>) -> Result<(), RunError> {
        let (store, field) = self.kept(kept);
        store.read(field, into);
        Ok(())
    }

    fn write_kept(&mut self, kept: Kept, from: &Slabs<R>) -> Result<(), RunError> {
        let (store, field) = self.kept(kept);
        store.write(field, from);
        Ok(())
    }

    fn shape(&self) -> &PackedState<R> {
        &self.state
    }

    fn take_waited(&mut self) -> Duration {
        match &mut self.transport {
            Transport::Advection(advection) => advection.take_waited(),
            Transport::Columns(_) => Duration::ZERO,
        }
    }
}
