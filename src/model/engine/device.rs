//! The state on a device.

use kernels::Scalar;

use super::{Books, Engine, Kept, Totalled, field, flux_scale, largest_courant};
use crate::comm::Communicator;
use crate::device::{DeviceError, DeviceResult};
use crate::diagnostics::{ColumnSums, ColumnTransfers, ExactSum, Transfer, exact_total, level_sum, local_sums};
use crate::met::{Section, WindowBuffer, WindowStream};
use crate::model::checks::largest_jump;
use crate::model::error::RunError;
use crate::operators::advection::CellBudget;
use crate::operators::columns::CentreStep;
use crate::operators::device::{DeviceTransport, HaloPath, Kept as OnDevice, LedgerOf};
use crate::operators::{Decaying, TracersAtReset, WindowEnd};
use crate::output::{FrameContent, FrameNeeds};
use crate::state::{AIR, CellPlace, PackedState, Slabs};

/// State and operators of one rank on a device, with a copy of the state for output.
pub(in crate::model) struct DeviceEngine<R: Scalar> {
    transport: DeviceTransport<R>,
    copy: PackedState<R>,
    /// Whether the copy is what the device holds.
    fresh: bool,
    columns: ColumnSums<R>,
    advects: bool,
    air: Slabs<R>,
    /// What an operator keeps for each column and tracer: one level of the state.
    kept: Slabs<R>,
    sums: Vec<ExactSum>,
}

impl<R: Scalar> DeviceEngine<R> {
    /// `state` is what the transport was made with.
    ///
    /// # Errors
    /// The state on the device is not that of the host, as its exact sums tell.
    pub(in crate::model) fn new(
        transport: DeviceTransport<R>,
        state: PackedState<R>,
        advects: Advects,
    ) -> DeviceResult<Self> {
        let air = Slabs::zeros(state.tile_set().clone(), state.levels(), 1);
        let kept = Slabs::zeros(state.tile_set().clone(), 1, state.slabs().planes());
        let sums = vec![ExactSum::new(); state.slabs().planes()];
        let columns = ColumnSums::zeros(state.tile_set().clone(), state.slabs().planes());
        let advects = advects == Advects::Yes;
        let mut engine = Self { transport, copy: state, fresh: true, columns, advects, air, kept, sums };
        engine.add_up()?;
        let mut expected = local_sums(engine.copy.slabs());
        let same = expected.iter_mut().zip(&mut engine.sums).all(|(a, b)| a.limbs_mut() == b.limbs_mut());
        if same {
            return Ok(engine);
        }
        let device = engine.transport.info().name.clone();
        let what = "exact sums of the state it holds differ from those of the state that was sent".into();
        Err(DeviceError::Arithmetic { device, what })
    }

    /// Brings the copy on the host up to date.
    fn fetch(&mut self) -> DeviceResult<()> {
        if !self.fresh {
            self.transport.download(&mut self.copy)?;
            self.fresh = true;
        }
        Ok(())
    }

    /// Sums every plane over the cells of this rank.
    fn add_up(&mut self) -> DeviceResult<()> {
        self.sums.fill(ExactSum::new());
        let Self { transport, sums, .. } = self;
        transport.sums(|plane, part| {
            sums[plane].merge_limbs(part.first, part.limbs, part.special, part.values as u32);
        })
    }
}

/// Where the device keeps it, and for what is kept in planes like the state, the tracer.
fn on_device(kept: Kept) -> (OnDevice, Option<usize>) {
    match kept {
        Kept::Diffusion(tracer) => (OnDevice::Carry(LedgerOf::Diffusion), Some(tracer)),
        Kept::Convection(tracer) => (OnDevice::Carry(LedgerOf::Convection), Some(tracer)),
        Kept::Source(source) => (OnDevice::Compensation(source), None),
    }
}

/// Whether a run advects at all.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::model) enum Advects {
    Yes,
    No,
}

impl<R: Scalar> Engine<R> for DeviceEngine<R> {
    fn begin_window(&mut self, window: &WindowBuffer<R>) -> Result<(), RunError> {
        Ok(self.transport.begin_window(window)?)
    }

    fn look_ahead(&mut self, stream: &mut WindowStream<R>) -> Result<(), RunError> {
        // A window that cannot be read is reported when it is needed.
        match stream.peek() {
            Ok(Some((_, next))) => Ok(self.transport.send_ahead(next)?),
            Ok(None) | Err(_) => Ok(()),
        }
    }

    fn advects(&self) -> bool {
        self.advects
    }

    fn largest_budget(&mut self, window: &WindowBuffer<R>, comm: &dyn Communicator) -> Result<CellBudget, RunError> {
        Ok(self.transport.largest_budget(flux_scale(window), comm)?)
    }

    fn substep(&mut self, window: &WindowBuffer<R>, passes: usize, step: CentreStep) -> Result<(), RunError> {
        self.fresh = false;
        if !self.advects {
            return Ok(self.transport.act(step)?);
        }
        Ok(self.transport.substep_with_physics(flux_scale(window), passes, step)?)
    }

    fn cloud_courant(&mut self, _window: &WindowBuffer<R>, dt: f64, comm: &dyn Communicator) -> Result<f64, RunError> {
        Ok(largest_courant(self.transport.cloud_courant(dt)?, comm))
    }

    fn convect(&mut self, _window: &WindowBuffer<R>, dt: f64, substeps: usize) -> Result<(), RunError> {
        self.fresh = false;
        Ok(self.transport.convect(dt, substeps)?)
    }

    fn take_books(&mut self, into: &mut Books) -> Result<(), RunError> {
        into.unlofted = self.transport.take_unlofted()?;
        for (ledger, book) in [(LedgerOf::Diffusion, &mut into.diffusion), (LedgerOf::Convection, &mut into.convection)]
        {
            let Some(refused) = self.transport.take_refused(ledger)? else { continue };
            book.refused = refused;
            self.transport.read_kept(OnDevice::Carry(ledger), self.kept.data_mut())?;
            book.carried.clear();
            let tracers = AIR + 1..self.kept.planes();
            book.carried.extend(tracers.clone().map(|plane| level_sum(&self.kept, 0, plane)));
            self.transport.read_kept(OnDevice::Returned(ledger), self.kept.data_mut())?;
            book.returned.clear();
            book.returned.extend(tracers.map(|plane| level_sum(&self.kept, 0, plane)));
            self.kept.data_mut().fill(R::default());
            self.transport.write_kept(OnDevice::Returned(ledger), self.kept.data())?;
        }
        Ok(())
    }

    fn take_transfers(&mut self, into: &mut ColumnTransfers<R>) -> Result<(), RunError> {
        let Self { transport, columns, .. } = self;
        Ok(transport.take_transfers(columns.parts_mut(), |n, parts| into.add(Transfer::ALL[n], parts))?)
    }

    fn decay(&mut self, decaying: &[Decaying], dt: f64) -> Result<(), RunError> {
        self.fresh = false;
        Ok(self.transport.decay(decaying, dt)?)
    }

    fn reset_air(
        &mut self,
        _window: &WindowBuffer<R>,
        end: WindowEnd,
        tracers: TracersAtReset,
    ) -> Result<(), RunError> {
        self.fresh = false;
        Ok(self.transport.reset_air(end, tracers)?)
    }

    fn take_clamped(&mut self) -> Result<u64, RunError> {
        Ok(self.transport.take_clamped()?)
    }

    fn first_unusable(&mut self) -> Result<Option<(CellPlace, f64)>, RunError> {
        Ok(self.transport.first_unusable()?)
    }

    fn air_jump(&mut self, window: &WindowBuffer<R>, comm: &dyn Communicator) -> Result<f64, RunError> {
        self.transport.plane(AIR, &mut self.air)?;
        Ok(largest_jump(&self.air, field(window, Section::AirMass), comm))
    }

    fn totals(&mut self, comm: &dyn Communicator, into: &mut Vec<f64>) -> Result<Totalled, RunError> {
        self.add_up()?;
        into.clear();
        for (plane, sum) in self.sums.iter().enumerate() {
            match exact_total(comm, sum.clone()) {
                Ok(total) => into.push(total),
                Err(error) => return Ok(Err((plane, error))),
            }
        }
        Ok(Ok(()))
    }

    fn content(&mut self, needs: FrameNeeds) -> Result<FrameContent<'_, R>, RunError> {
        self.transport.columns(self.columns.parts_mut())?;
        if needs == FrameNeeds::Columns {
            return Ok(FrameContent::Columns(&self.columns));
        }
        self.fetch()?;
        Ok(FrameContent::Layers { state: self.copy.slabs(), columns: &self.columns })
    }

    fn state(&mut self) -> Result<&PackedState<R>, RunError> {
        self.fetch()?;
        Ok(&self.copy)
    }

    fn read_kept(&mut self, kept: Kept, into: &mut Slabs<R>) -> Result<(), RunError> {
        let (place, tracer) = on_device(kept);
        let Some(tracer) = tracer else { return Ok(self.transport.read_kept(place, into.data_mut())?) };
        self.transport.read_kept(place, self.kept.data_mut())?;
        let tiles = 0..self.kept.tile_set().len();
        tiles.for_each(|tile| into.plane_mut(0, tile, 0).copy_from_slice(self.kept.plane(0, tile, AIR + 1 + tracer)));
        Ok(())
    }

    fn write_kept(&mut self, kept: Kept, from: &Slabs<R>) -> Result<(), RunError> {
        let (place, tracer) = on_device(kept);
        let Some(tracer) = tracer else { return Ok(self.transport.write_kept(place, from.data())?) };
        self.transport.read_kept(place, self.kept.data_mut())?;
        let tiles = 0..self.kept.tile_set().len();
        tiles.for_each(|tile| self.kept.plane_mut(0, tile, AIR + 1 + tracer).copy_from_slice(from.plane(0, tile, 0)));
        Ok(self.transport.write_kept(place, self.kept.data())?)
    }

    fn shape(&self) -> &PackedState<R> {
        &self.copy
    }

    fn notice(&self) -> Option<String> {
        let layers = self.transport.factored_one_by_one()?;
        Some(format!(
            "convection of {layers} layers needs more shared memory than groups of {} have: its matrices are factored one \
             by one, with the same results, but slowly (convection.lmax_conv or n_merge make columns shorter)",
            self.transport.info().name
        ))
    }

    fn place(&self) -> Option<String> {
        let info = self.transport.info();
        let halos = match self.transport.halo_path() {
            HaloPath::Device => "from its memory",
            HaloPath::Staged => "through host memory",
        };
        Some(format!("[gpu verified] {} ({}), state resident, halos {halos}", info.name, info.driver))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use decomposition::Layout;
    use kernels::Scheme;

    use super::*;
    use crate::comm::Solo;
    use crate::device::{Accelerator, count, open};
    use crate::met::TransportFile;
    use crate::met::synth::{self, SynthFlow, SynthOptions};
    use crate::operators::device::{HaloChoice, Launcher};
    use crate::state::TileSet;

    #[test]
    fn snapshots_of_columns_leave_the_state_on_the_device() {
        if let Err(reason) = count(Accelerator::OpenCl) {
            println!("skipped: {reason}");
            return;
        }
        let (nc, levels, scheme) = (6, 5, Scheme::Upwind);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("winds.bin");
        synth::write(&path, &SynthOptions::new(SynthFlow::Weather, nc, levels), |_| {}).unwrap();
        let file = TransportFile::open(&path).unwrap();
        let header = file.header();
        let layout = Layout::new(nc, header.panel_convention(), 1, scheme.halo(), None).unwrap();
        let tiles = Arc::new(TileSet::new(layout.tiles_of(0).to_vec(), scheme.halo()));
        let sections = [Section::AirMass, Section::AirMassTendency, Section::FluxX, Section::FluxY, Section::FluxZ];
        let window = WindowBuffer::new(tiles.clone(), header, &sections);
        let mut state = PackedState::<f32>::zeros(tiles.clone(), levels, vec!["co2".into()]);
        let values = state.slabs_mut().data_mut().iter_mut().enumerate();
        values.for_each(|(n, value)| *value = 1.0 + (n * 7919 % 10_007) as f32 / 3.0);

        let device = open::<f32>(Accelerator::OpenCl, 0).unwrap();
        let launcher = Launcher::new::<f32>(device, scheme, nc).unwrap();
        let transport = DeviceTransport::new(launcher, &layout, &state, &window, HaloChoice::Auto, &Solo).unwrap();
        let mut engine = DeviceEngine::new(transport, state.clone(), Advects::No).unwrap();
        // As after a substep: the copy on the host is not what the device holds.
        engine.fresh = false;
        engine.copy.slabs_mut().data_mut().fill(f32::NAN);

        let FrameContent::Columns(columns) = engine.content(FrameNeeds::Columns).unwrap() else { panic!("layers") };
        let mut expected = ColumnSums::zeros(tiles, 2);
        expected.add_up(state.slabs());
        assert_eq!(columns.parts().data(), expected.parts().data());
        assert!(engine.copy.slabs().data().iter().all(|x| x.is_nan()), "the state was fetched");

        let content = engine.content(FrameNeeds::Layers).unwrap();
        let FrameContent::Layers { state: fetched, columns } = content else { panic!("no layers") };
        assert_eq!(fetched.data(), state.slabs().data());
        assert_eq!(columns.parts().data(), expected.parts().data());
    }
}
