//! Diffusion and emissions: alone, and within a substep of advection.

use std::time::Instant;

use kernels::Scalar;

use super::Bench;
use super::case::{PhysicsCase, diffusion};
use super::ledgers::Solves;
use super::report::OperatorTiming;
use super::times::{Times, Turns};
use crate::bench::BenchError;
use crate::met::{Derived, Section};
use crate::operators::advection::{ColumnRows, Midpoint};
use crate::operators::columns::{CentrePhysics, Diffusion, Emitter, ExchangeSource, KzUpdate};

/// A kind of midpoint.
pub(super) struct CentreBench {
    name: &'static str,
    diffusion: Option<Diffusion>,
    emissions: Emissions,
    /// Whether the ledger of the diffusion is measured.
    ledger: Option<KzUpdate>,
}

/// Where every tracer is emitted.
#[derive(Clone, Copy, PartialEq)]
enum Emissions {
    None,
    /// Into the lowest layer.
    Surface,
    /// As the non-local scheme lofts them.
    Lofted,
}

impl CentreBench {
    /// The kinds.
    pub(super) fn all() -> [Self; 7] {
        let of = |name, diffusion, emissions| Self { name, diffusion, emissions, ledger: None };
        let solve = |name, update| Self {
            name,
            diffusion: Some(Diffusion { update, ..diffusion(ExchangeSource::BeljaarsViterbo) }),
            emissions: Emissions::None,
            ledger: Some(update),
        };
        let [dkg, nonlocal] = [ExchangeSource::Dkg, ExchangeSource::NonlocalVdiff].map(diffusion);
        [
            solve("diffusion_mass_space", KzUpdate::MassSpace),
            solve("diffusion_flux", KzUpdate::Flux),
            of("diffusion_dkg", Some(dkg.clone()), Emissions::None),
            of("emissions_surface", None, Emissions::Surface),
            of("emissions_lofted", None, Emissions::Lofted),
            of("diffusion_dkg_emissions", Some(dkg), Emissions::Surface),
            of("diffusion_nonlocal_emissions", Some(nonlocal), Emissions::Lofted),
        ]
    }

    /// Diffusion whose closure derives fields of the window.
    fn deriving(&self) -> Option<Diffusion> {
        match self.emissions {
            Emissions::Lofted => Some(diffusion(ExchangeSource::NonlocalVdiff)),
            _ => self.diffusion.clone(),
        }
    }
}

impl<R: Scalar> Bench<'_, R> {
    /// Measures a kind of midpoint.
    pub(super) fn centre(&mut self, kind: &CentreBench) -> Result<OperatorTiming, BenchError> {
        let physics = self.case.window_physics(kind.deriving().as_ref(), None, &[]);
        self.case.derive(physics)?;
        let (set, tracers) = (self.case.state.tile_set().clone(), self.case.state.tracers().len());
        let emitters: Vec<Emitter<R>> = match kind.emissions {
            Emissions::None => Vec::new(),
            emissions => {
                let source = self.case.source();
                let profile = (emissions == Emissions::Lofted).then_some(Derived::Lofting);
                (0..tracers).map(|tracer| Emitter { tracer, source: source.clone(), profile }).collect()
            }
        };
        let values = self.values(kind, emitters.len());
        let (levels, count) = (self.case.state.levels(), self.threads.count());
        let mut centre = CentrePhysics::new(kind.diffusion.as_ref(), emitters, &set, levels, tracers, count)
            .expect("every kind diffuses or emits");
        let rows = ColumnRows::new(self.case.state.slabs(), count);
        let alone = Times::repeated(self.repetitions, || {
            self.case.restore();
            let step = self.case.step();
            let PhysicsCase { state, window, .. } = &mut self.case;
            let midpoint = Midpoint { physics: &mut centre, window, step };
            let start = Instant::now();
            rows.act(state, midpoint, self.threads);
            start.elapsed().as_secs_f64()
        });
        let turns = Turns::repeated(self.repetitions, |turn| {
            let mut seconds = [0.0; 2];
            for with in if turn.is_multiple_of(2) { [0, 1] } else { [1, 0] } {
                seconds[with] = self.columns((with == 1).then_some(&mut centre));
            }
            seconds
        });
        let mut timing = self.yardstick.operator(kind.name, alone, values);
        timing.in_substep = Some(self.yardstick.in_substep(&turns));
        let whole = self.yardstick.substep.best + turns.difference.best;
        timing.ledger = match kind.ledger {
            Some(KzUpdate::MassSpace) => Some(self.ledger(Solves::MassSpace, whole)?),
            Some(KzUpdate::Flux) => Some(self.ledger(Solves::Flux, whole)?),
            Some(KzUpdate::Matrix) | None => None,
        };
        Ok(timing)
    }

    /// Seconds of the vertical part of a substep from the start of the window, with a midpoint or without.
    fn columns(&mut self, centre: Option<&mut CentrePhysics<R>>) -> f64 {
        self.case.restore();
        let step = self.case.step();
        let PhysicsCase { state, window, .. } = &mut self.case;
        let midpoint = centre.map(|physics| Midpoint { physics, window: &*window, step });
        let start = Instant::now();
        self.advection.columns(state, PhysicsCase::winds(window), 1, midpoint, self.threads);
        start.elapsed().as_secs_f64()
    }

    /// Values that a kind has to move: air and tracers read, tracers written, its forcing read.
    fn values(&self, kind: &CentreBench, sources: usize) -> f64 {
        let fields = f64::from(u8::from(kind.diffusion.is_some()) + u8::from(kind.emissions == Emissions::Lofted));
        let rates = sources as f64 * self.case.columns();
        self.case.values(Section::AirMass) + 2.0 * self.yardstick.updates + fields * self.case.cells() + rates
    }
}
