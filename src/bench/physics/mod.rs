//! Vertical physics on the processor: every operator as a run uses it, in a window of synthetic weather.

mod case;
mod centre;
mod convection;
mod derivation;
mod ledgers;
mod report;
mod times;

use std::time::Instant;

use kernels::Scalar;
use kernels::columns::convection::cmfmc::{CmfmcOptions, Update};
use kernels::columns::convection::tm5::{Solve, Tm5Options};

pub use self::report::{DerivationTiming, InSubstep, LedgerTiming, OperatorTiming, PhysicsReport};

use self::case::PhysicsCase;
use self::centre::CentreBench;
use self::report::Yardstick;
use self::times::Times;
use super::{BenchError, BenchSize, triad_bytes_per_second};
use crate::comm::Solo;
use crate::operators::advection::Advection;
use crate::operators::columns::{Convection, DeviceFactors, ImplicitConvection};
use crate::operators::{Decaying, Threads, decay};
use crate::sources::Decay;

/// What to measure: diffusion, emissions, convection and decay of all tracers of the globe, and what is derived from a
/// window for them. Every repetition starts from the same state.
#[derive(Clone, Debug)]
pub struct PhysicsBench {
    /// Grid, tracers and the scheme of the advection beside which the operators are set.
    pub size: BenchSize,
    /// Repetitions; the best and the median are reported.
    pub repetitions: usize,
}

/// What all measurements of a run share.
struct Bench<'a, R: Scalar> {
    case: PhysicsCase<R>,
    advection: Advection<R>,
    repetitions: usize,
    threads: &'a Threads,
    yardstick: Yardstick,
}

impl PhysicsBench {
    /// Runs the measurement on the processor, on one rank.
    ///
    /// # Errors
    /// Winds of this size cannot be made, or a scheme refuses them.
    pub fn run<R: Scalar>(&self, threads: &Threads) -> Result<PhysicsReport, BenchError> {
        let case = PhysicsCase::<R>::new(&self.size)?;
        let advection = Advection::new(self.size.choice(), &case.layout, &case.state, threads, &Solo);
        let triad = triad_bytes_per_second(threads);
        let yardstick = Yardstick {
            triad,
            substep: Times { best: f64::NAN, median: f64::NAN },
            updates: case.cells() * case.tracers(),
            cells: case.cells(),
            value_bytes: size_of::<R>() as f64,
        };
        let mut bench = Bench { case, advection, repetitions: self.repetitions, threads, yardstick };
        bench.yardstick.substep = Times::repeated(self.repetitions, || bench.substep());
        let mut operators = Vec::new();
        for kind in CentreBench::all() {
            operators.push(bench.centre(&kind)?);
        }
        for (name, settings) in convections() {
            operators.push(bench.convection(name, settings)?);
        }
        operators.push(bench.decay());
        let derivations = bench.derivations()?;
        let BenchSize { nc, levels, tracers, .. } = self.size;
        Ok(PhysicsReport {
            backend: "cpu",
            scheme: self.size.choice().to_string(),
            float_type: R::NAME,
            nc,
            levels,
            tracers,
            threads: threads.count(),
            triad_gigabytes_per_second: triad * 1e-9,
            window_seconds: bench.case.seconds,
            substeps_per_window: bench.case.substeps,
            seconds_per_substep: bench.yardstick.substep.best,
            median_seconds_per_substep: bench.yardstick.substep.median,
            operators,
            derivations,
        })
    }
}

/// The kinds of convection.
fn convections() -> [(&'static str, Convection); 5] {
    let implicit = |solve| ImplicitConvection {
        options: Tm5Options { solve, ..Tm5Options::default() },
        factors: DeviceFactors::Collaborative,
        workspace_gib: 1.0,
    };
    let explicit = |update| Convection::Cmfmc(CmfmcOptions { update, ..CmfmcOptions::default() });
    [
        ("convection_tm5", Convection::Tm5(implicit(Solve::Delta))),
        ("convection_tm5_plain", Convection::Tm5(implicit(Solve::Plain))),
        ("convection_cmfmc", explicit(Update::MassFlux)),
        ("convection_cmfmc_mixing_ratio", explicit(Update::MixingRatio)),
        ("convection_cmfmc_matrix", Convection::CmfmcMatrix(implicit(Solve::Delta))),
    ]
}

impl<R: Scalar> Bench<'_, R> {
    /// Seconds of a substep of advection from the start of the window.
    fn substep(&mut self) -> f64 {
        self.case.restore();
        let PhysicsCase { state, window, .. } = &mut self.case;
        let start = Instant::now();
        self.advection.substep(state, PhysicsCase::winds(window), 1, None, None, self.threads);
        start.elapsed().as_secs_f64()
    }

    /// Decay of all tracers.
    fn decay(&mut self) -> OperatorTiming {
        let decay_rate = Decay::from_half_life(330_350.4).expect("a half-life above 0");
        let decaying: Vec<Decaying> =
            (0..self.case.state.tracers().len()).map(|tracer| Decaying { tracer, decay: decay_rate }).collect();
        let seconds = self.case.seconds;
        let times = Times::repeated(self.repetitions, || {
            self.case.restore();
            let start = Instant::now();
            decay(&mut self.case.state, &decaying, seconds);
            start.elapsed().as_secs_f64()
        });
        self.yardstick.operator("decay", times, 2.0 * self.yardstick.updates)
    }
}
