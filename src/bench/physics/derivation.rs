//! Fields derived from a window when it is read.

use std::time::Instant;

use kernels::Scalar;
use kernels::columns::convection::tm5::Tm5Options;

use super::Bench;
use super::case::diffusion;
use super::report::DerivationTiming;
use super::times::Times;
use crate::bench::BenchError;
use crate::met::Section;
use crate::operators::columns::{
    Convection, DeviceFactors, Diffusion, DiffusivityProfile, ExchangeSource, ImplicitConvection,
};
use crate::sources::Injection;

/// What needs derived fields.
struct Needs {
    name: &'static str,
    diffusion: Option<Diffusion>,
    convection: Option<Convection>,
    injections: Vec<Injection>,
}

fn all() -> Vec<Needs> {
    let profile = DiffusivityProfile::Heights { z: vec![0.0, 500.0, 2000.0], kz: vec![1.0, 50.0, 0.1] };
    let mut all: Vec<Needs> = [
        ("constant", ExchangeSource::Constant(10.0)),
        ("profile", ExchangeSource::Profile(profile)),
        ("tm5_beljaars_viterbo_local_kz", ExchangeSource::BeljaarsViterbo),
        ("geoschem_holtslag_boville_vdiff", ExchangeSource::HoltslagBovilleLocal),
        ("geoschem_nonlocal_vdiff", ExchangeSource::NonlocalVdiff),
    ]
    .into_iter()
    .map(|(name, source)| Needs { name, diffusion: Some(diffusion(source)), convection: None, injections: Vec::new() })
    .collect();
    let matrix = Convection::CmfmcMatrix(ImplicitConvection {
        options: Tm5Options::default(),
        factors: DeviceFactors::Collaborative,
        workspace_gib: 1.0,
    });
    let heights = Injection::by_heights(100.0, 300.0).expect("a range above the surface");
    all.push(Needs { name: "cmfmc_matrix", diffusion: None, convection: Some(matrix), injections: Vec::new() });
    all.push(Needs { name: "injection_heights", diffusion: None, convection: None, injections: vec![heights] });
    all
}

impl<R: Scalar> Bench<'_, R> {
    /// Every kind of derivation.
    pub(super) fn derivations(&mut self) -> Result<Vec<DerivationTiming>, BenchError> {
        all().iter().map(|needs| self.derivation(needs)).collect()
    }

    fn derivation(&mut self, needs: &Needs) -> Result<DerivationTiming, BenchError> {
        let Needs { name, diffusion, convection, injections } = needs;
        let physics = self.case.window_physics(diffusion.as_ref(), convection.as_ref(), injections);
        let mut sections: Vec<Section> = physics.sections();
        sections.extend(diffusion.iter().flat_map(Diffusion::needs).map(|(section, _)| section));
        sections.extend(convection.iter().flat_map(Convection::needs).map(|(section, _)| section));
        sections.sort();
        sections.dedup();
        let read: f64 = sections.iter().map(|section| self.case.values(*section)).sum();
        self.case.derive(physics)?;
        let written = self.case.window.derived_fields().count() as f64 * self.case.cells();
        let times = Times::repeated(self.repetitions, || {
            let start = Instant::now();
            self.case.derive_again().expect("derived before");
            start.elapsed().as_secs_f64()
        });
        Ok(self.yardstick.derivation(name, times, read + written, self.case.substeps))
    }
}
