//! Vertical physics of a run on a device: what acts in the middle of a substep, and convection.

use kernels::Scalar;

use super::columns::{CloudForcing, ColumnNeeds, DeviceColumns, DeviceExchange, DeviceState, Kept, LedgerOf, Tm5Form};
use super::windows::WindowFields;
use super::{DeviceTransport, Launcher};
use crate::device::{Device, DeviceResult};
use crate::met::{Derived, Section};
use crate::operators::columns::{
    CentreStep, Convection, DeviceFactors, Diffusion, Emitter, Halves, WindowField, convection_forcing, halves,
};
use crate::sources::SourceTimes;
use crate::state::Slabs;

/// Vertical physics of a run.
#[derive(Clone, Copy)]
pub struct PhysicsPlan<'a, R> {
    /// Diffusion, if there is any.
    pub diffusion: Option<&'a Diffusion>,
    /// Sources, in the order in which they act.
    pub emitters: &'a [Emitter<R>],
    /// Convection, if there is any.
    pub convection: Option<&'a Convection>,
    /// Areas of the cells, m²: one level, one plane.
    pub areas: &'a Slabs<R>,
}

impl<R: Scalar> PhysicsPlan<'_, R> {
    /// What it needs of a device.
    pub fn needs(&self) -> ColumnNeeds {
        ColumnNeeds {
            diffusion: self.diffusion.map(|d| d.update),
            sources: self.emitters.len(),
            convection: self.convection.copied(),
        }
    }

    /// Compiles the kernels of a run without advection or with the scheme `scheme`, for tiles of at most `widest` cells along i
    /// and `levels` layers.
    ///
    /// # Errors
    /// The device does not suit, or does not take the kernels.
    pub fn launcher(
        &self,
        device: Box<dyn Device>,
        choice: kernels::scheme::Choice,
        widest: usize,
        levels: usize,
    ) -> DeviceResult<Launcher> {
        let set = self.needs().kernels::<R>(device.info(), levels)?;
        Launcher::with_kernels::<R>(device, choice, &set, widest)
    }
}

/// A source as a device needs it: its memory is in [`DeviceColumns`].
struct Emits {
    tracer: usize,
    times: SourceTimes,
    profile: Option<Derived>,
}

/// Vertical physics of a state on a device.
pub(super) struct DevicePhysics<R: Scalar> {
    columns: DeviceColumns<R>,
    exchange: Option<WindowField>,
    halves: Halves,
    emits: Vec<Emits>,
    convection: Option<Convection>,
}

impl<R: Scalar> DevicePhysics<R> {
    /// Diffusion and emissions of a substep.
    fn act(&self, on: &mut DeviceState, window: &WindowFields, step: CentreStep) -> DeviceResult<()> {
        let (parts, before) = match self.halves {
            Halves::One => (1.0, false),
            Halves::Two => (2.0, true),
        };
        let exchange = self.exchange.map(|field| match field {
            WindowField::Derived(Derived::ExchangeRate) => DeviceExchange::Rate(window.field(field)),
            _ => DeviceExchange::Air(window.field(field)),
        });
        let diffuse = |on: &mut DeviceState| {
            exchange.map_or(Ok(()), |exchange| self.columns.diffuse(on, step.seconds / parts, exchange))
        };
        if before {
            diffuse(on)?;
        }
        for (source, emits) in self.emits.iter().enumerate() {
            let profile = emits.profile.map(|field| (window.field(WindowField::Derived(field)), field.profile()));
            for segment in emits.times.segments(step.start, step.seconds) {
                self.columns.deposit(on, source, emits.tracer, &segment, profile)?;
            }
        }
        diffuse(on)
    }

    fn convect(&self, on: &mut DeviceState, window: &WindowFields, dt: f64, substeps: usize) -> DeviceResult<()> {
        let Some(convection) = &self.convection else { return Ok(()) };
        let fields = convection_forcing(convection).map(|field| field.and_then(|field| window.find(field)));
        let given = |n: usize| fields[n].expect("the run reads every field it uses");
        match convection {
            Convection::Tm5(choice) | Convection::CmfmcMatrix(choice) => {
                let downdraft = fields[2].zip(fields[3]).map(|(entd, detd)| [entd, detd]);
                self.columns.convect_tm5(on, dt, [given(0), given(1)], downdraft, choice)
            }
            Convection::Cmfmc(options) => {
                let cloud_base = window.find(WindowField::Stored(Section::CmfmcCloudBase));
                let forcing = CloudForcing { cloud_flux: given(0), detrainment: fields[1], cloud_base };
                self.columns.convect_cmfmc(on, dt, substeps, &forcing, options)
            }
        }
    }
}

impl<R: Scalar> DeviceTransport<R> {
    /// With vertical physics. Its kernels are those of [`PhysicsPlan::launcher`].
    ///
    /// # Errors
    /// The device has no room, or does not suit.
    pub fn with_physics(mut self, plan: &PhysicsPlan<'_, R>) -> DeviceResult<Self> {
        let needs = plan.needs();
        if needs == ColumnNeeds::default() {
            return Ok(self);
        }
        let sources = plan.emitters.iter().map(|e| &e.source);
        let columns = DeviceColumns::new(&mut self.device_state(), &needs, plan.areas, sources)?;
        let emits = plan.emitters.iter().map(|e| Emits {
            tracer: e.tracer,
            times: e.source.times().clone(),
            profile: e.profile,
        });
        self.physics = Some(DevicePhysics {
            columns,
            exchange: plan.diffusion.map(Diffusion::exchange),
            halves: halves(plan.diffusion, plan.emitters),
            emits: emits.collect(),
            convection: plan.convection.copied(),
        });
        Ok(self)
    }

    /// Layers of the columns whose matrices are factored one by one although groups of threads were wanted.
    pub fn factored_one_by_one(&self) -> Option<usize> {
        let choice = match self.physics.as_ref()?.convection? {
            Convection::Tm5(choice) | Convection::CmfmcMatrix(choice) => choice,
            Convection::Cmfmc(_) => return None,
        };
        let (levels, info) = (self.shape.levels, self.launcher.device.info());
        let wanted = choice.factors == DeviceFactors::Collaborative;
        let serial = matches!(Tm5Form::new::<R>(info, levels, &choice), Ok(Tm5Form::Serial));
        (wanted && serial).then_some(levels)
    }

    /// Diffusion and emissions of a step. Returns once the work is queued.
    ///
    /// # Errors
    /// The device refuses something.
    pub fn act(&mut self, step: CentreStep) -> DeviceResult<()> {
        let Self { launcher, shape, tables, state, physics, windows, .. } = self;
        let Some(physics) = physics else { return Ok(()) };
        physics.act(&mut DeviceState { launcher, shape, tables, state: *state }, windows.current(), step)
    }

    /// Whether diffusion or emissions act in the middle of a substep.
    pub(super) fn acts_at_midpoint(&self) -> bool {
        self.physics.as_ref().is_some_and(|physics| physics.exchange.is_some() || !physics.emits.is_empty())
    }

    /// Convects all tracers for `dt` s, explicit schemes in `substeps` parts. Returns once the work is queued.
    ///
    /// # Errors
    /// The device refuses something.
    pub fn convect(&mut self, dt: f64, substeps: usize) -> DeviceResult<()> {
        let Self { launcher, shape, tables, state, physics, windows, .. } = self;
        let Some(physics) = physics else { return Ok(()) };
        let on = &mut DeviceState { launcher, shape, tables, state: *state };
        physics.convect(on, windows.current(), dt, substeps)
    }

    /// Largest Courant number of explicit convection on this rank for a step of `dt` s; 0 without. Waits.
    ///
    /// # Errors
    /// The device refuses something.
    pub fn cloud_courant(&mut self, dt: f64) -> DeviceResult<f64> {
        let Self { launcher, shape, tables, state, physics, windows, .. } = self;
        let Some(physics) = physics else { return Ok(0.0) };
        let Some(Convection::Cmfmc(_)) = physics.convection else { return Ok(0.0) };
        let flux = windows.current().get(Section::Cmfmc);
        physics.columns.courant(&mut DeviceState { launcher, shape, tables, state: *state }, flux, dt)
    }

    /// Refused columns of an operator since the last call, or `None` without it. Waits.
    ///
    /// # Errors
    /// The device refuses something.
    pub fn take_refused(&mut self, ledger: LedgerOf) -> DeviceResult<Option<u64>> {
        let Self { launcher, shape, tables, state, physics, .. } = self;
        let Some(physics) = physics.as_ref().filter(|p| p.keeps(ledger)) else { return Ok(None) };
        let on = &mut DeviceState { launcher, shape, tables, state: *state };
        physics.columns.take_refused(on, ledger).map(Some)
    }

    /// Columns whose emission could not be lofted since the last call. Waits.
    ///
    /// # Errors
    /// The device refuses something.
    pub fn take_unlofted(&mut self) -> DeviceResult<u64> {
        let Self { launcher, shape, tables, state, physics, .. } = self;
        let Some(physics) = physics else { return Ok(0) };
        physics.columns.take_unlofted(&mut DeviceState { launcher, shape, tables, state: *state })
    }

    /// Reads what an operator keeps. Waits.
    ///
    /// # Errors
    /// The device refuses something.
    ///
    /// # Panics
    /// Without that operator.
    pub fn read_kept(&mut self, kept: Kept, values: &mut [R]) -> DeviceResult<()> {
        let Self { launcher, shape, tables, state, physics, .. } = self;
        let physics = physics.as_ref().expect("made with physics");
        physics.columns.read(&mut DeviceState { launcher, shape, tables, state: *state }, kept, values)
    }

    /// Replaces what an operator keeps. Waits.
    ///
    /// # Errors
    /// The device refuses something.
    ///
    /// # Panics
    /// Without that operator.
    pub fn write_kept(&mut self, kept: Kept, values: &[R]) -> DeviceResult<()> {
        let Self { launcher, shape, tables, state, physics, .. } = self;
        let physics = physics.as_ref().expect("made with physics");
        physics.columns.write(&mut DeviceState { launcher, shape, tables, state: *state }, kept, values)
    }
}

impl<R: Scalar> DevicePhysics<R> {
    fn keeps(&self, ledger: LedgerOf) -> bool {
        match ledger {
            LedgerOf::Diffusion => self.exchange.is_some(),
            LedgerOf::Convection => self.convection.is_some(),
        }
    }
}
