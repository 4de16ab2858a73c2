//! Vertical physics of a run, from its configuration and its files.

use std::sync::Arc;

use jiff::tz::TimeZone;
use kernels::Scalar;

use super::budget::{Expectation, SourceTotals};
use super::error::{RunError, agree_on};
use super::setup::Setup;
use crate::comm::Communicator;
use crate::config::{EmissionConfig, EmissionSource, RunConfig, Tracer};
use crate::diagnostics::{exact_total, level_sum};
use crate::grid::constants::MOLAR_MASS_AIR;
use crate::gridded::Weights;
use crate::met::{Derived, Section};
use crate::operators::columns::{Convection, Emitter, WindowPhysics};
use crate::sources::{CoveredTimes, EmissionTotal, Injection, RunSpan, Source, SourceError};

/// Layers that the sources of a run enter, in their order: tracer by tracer, as they are written.
fn injections(config: &RunConfig) -> Vec<Injection> {
    config.tracers.iter().flat_map(|t| &t.emissions).map(|emission| emission.injection.clone()).collect()
}

/// What windows have to be completed by, and the sections it takes.
pub(super) fn window_physics(config: &RunConfig, setup: &Setup) -> (Arc<WindowPhysics>, Vec<Section>) {
    let physics = &config.physics;
    let derived = WindowPhysics::new(
        setup.tiles.clone(),
        &setup.grid,
        &setup.vertical,
        physics.diffusion.as_ref(),
        physics.convection.as_ref(),
        &injections(config),
    );
    let mut sections = derived.sections();
    let diffusion = physics.diffusion.iter().flat_map(|d| d.needs());
    let convection = physics.convection.iter().flat_map(Convection::needs);
    sections.extend(diffusion.chain(convection).map(|(section, _)| section));
    if matches!(physics.convection, Some(Convection::Cmfmc(_))) && setup.header().has(Section::Dtrain) {
        sections.push(Section::Dtrain);
    }
    (Arc::new(derived), sections)
}

/// Reads the sources of a run. Collective.
pub(super) fn emitters<R: Scalar>(
    config: &RunConfig,
    setup: &Setup,
    comm: &dyn Communicator,
) -> Result<Vec<Emitter<R>>, RunError> {
    let lofts = config.physics.diffusion.as_ref().is_some_and(|d| d.lofts());
    let weights = Weights::new(config.settings.regridder_cache_dir.as_deref());
    let mut emitters = Vec::new();
    for (tracer, settings) in config.tracers.iter().enumerate() {
        for emission in &settings.emissions {
            let read = source(&emission.source, setup, &weights)
                .map_err(|source| RunError::Source { tracer: settings.name.clone(), source });
            let profile = match emission.injection {
                Injection::Surface => lofts.then_some(Derived::Lofting),
                _ => Some(Derived::Injection(emitters.len())),
            };
            emitters.push(Emitter { tracer, source: agree_on(comm, read)?, profile });
        }
    }
    Ok(emitters)
}

/// When the run takes place.
pub(super) fn span(setup: &Setup) -> RunSpan {
    let start = setup.origin.and_then(|origin| TimeZone::UTC.to_timestamp(origin).ok()).unwrap_or_default();
    RunSpan { start, seconds: 3600.0 * setup.plan.hours }
}

/// Time slices that every source of a run holds in memory, as the headers of its files tell.
pub(super) fn source_slices(config: &RunConfig, nc: usize, span: &RunSpan) -> Result<Vec<usize>, RunError> {
    let mut slices = Vec::new();
    for tracer in &config.tracers {
        for emission in &tracer.emissions {
            let of_files = |found: Result<CoveredTimes, SourceError>| {
                let needed = found.map(|covered| covered.times().needed(0.0, span.seconds).len());
                needed.map_err(|source| RunError::Source { tracer: tracer.name.clone(), source })
            };
            slices.push(match &emission.source {
                EmissionSource::Uniform { .. } => 1,
                EmissionSource::Native(files) => of_files(files.check(nc, span))?,
                EmissionSource::Inventory(inventory) => of_files(inventory.check(span))?,
            });
        }
    }
    Ok(slices)
}

fn source<R: Scalar>(of: &EmissionSource, setup: &Setup, weights: &Weights) -> Result<Source<R>, SourceError> {
    let span = span(setup);
    match of {
        EmissionSource::Uniform { density, conversion } => {
            Ok(Source::uniform(setup.tiles.clone(), &setup.grid, *density, conversion))
        }
        EmissionSource::Native(files) => files.read(&span, &setup.grid, &setup.tiles),
        EmissionSource::Inventory(inventory) => inventory.read(&span, &setup.grid, &setup.tiles, weights),
    }
}

/// What the total of every tracer follows from. Collective.
pub(super) fn expectations<R: Scalar>(
    config: &RunConfig,
    emitters: &[Emitter<R>],
    comm: &dyn Communicator,
) -> Result<Vec<Expectation>, RunError> {
    let mut rules = Vec::new();
    for (tracer, settings) in config.tracers.iter().enumerate() {
        let mut sources = Vec::new();
        for emitter in emitters.iter().filter(|e| e.tracer == tracer) {
            let rates = emitter.source.rates();
            let mut totals = Vec::with_capacity(rates.levels());
            for slice in 0..rates.levels() {
                let total = exact_total(comm, level_sum(rates, slice, 0));
                let what = || format!("emissions of {}", settings.name);
                totals.push(agree_on(comm, total.map_err(|source| RunError::Total { what: what(), source }))?);
            }
            sources.push(SourceTotals { times: emitter.source.times().clone(), totals });
        }
        let decay = config.chemistry.decaying.iter().find(|d| d.tracer == tracer).map(|d| d.decay);
        rules.push(Expectation { name: settings.name.clone(), sources, decay });
    }
    Ok(rules)
}

/// What every source emits in a run of `seconds`, in their order.
pub(super) fn emission_totals(config: &RunConfig, rules: &[Expectation], seconds: f64) -> Vec<EmissionTotal> {
    let of_tracer = |(tracer, rule): (&Tracer, &Expectation)| {
        let of_source = |(emission, source): (&EmissionConfig, &SourceTotals)| {
            let mass = emission.source.molar_mass();
            let species = mass / MOLAR_MASS_AIR;
            let totals = source.totals.iter().map(|total| total * species).collect();
            crate::sources::SourceTotals { times: source.times.clone(), totals }.over(seconds, mass)
        };
        tracer.emissions.iter().zip(&rule.sources).map(of_source).collect::<Vec<_>>()
    };
    config.tracers.iter().zip(rules).flat_map(of_tracer).collect()
}
