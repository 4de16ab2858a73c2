//! Convection for a window.

use std::time::Instant;

use kernels::Scalar;
use kernels::columns::convection::cmfmc;

use super::Bench;
use super::case::PhysicsCase;
use super::ledgers::Solves;
use super::report::OperatorTiming;
use super::times::Times;
use crate::bench::BenchError;
use crate::met::Section;
use crate::operators::columns::{Convection, ConvectionOperator};

impl<R: Scalar> Bench<'_, R> {
    /// Measures a kind of convection. The search for its Courant number counts where a run does it.
    pub(super) fn convection(
        &mut self,
        name: &'static str,
        settings: Convection,
    ) -> Result<OperatorTiming, BenchError> {
        let physics = self.case.window_physics(None, Some(&settings), &[]);
        self.case.derive(physics)?;
        let (threads, seconds) = (self.threads, self.case.seconds);
        let mut operator = ConvectionOperator::new(settings, &self.case.state, &self.case.grid, threads.count())?;
        self.case.restore();
        let parts = match settings {
            Convection::Tm5(_) | Convection::CmfmcMatrix(_) => None,
            Convection::Cmfmc(options) => {
                let courant = operator.largest_courant(&self.case.state, &self.case.window, seconds, threads);
                Some(cmfmc::substeps(courant, options.negative)?)
            }
        };
        let times = Times::repeated(self.repetitions, || {
            self.case.restore();
            let PhysicsCase { state, window, .. } = &mut self.case;
            let start = Instant::now();
            if parts.is_some() {
                operator.largest_courant(state, window, seconds, threads);
            }
            operator.convect(state, window, seconds, parts.unwrap_or(1), threads);
            start.elapsed().as_secs_f64()
        });
        let values = self.case.cells() + 2.0 * self.yardstick.updates + self.forcing(&settings);
        let mut timing = self.yardstick.operator(name, times, values);
        timing.parts = parts;
        let whole = self.yardstick.substep.best + times.best;
        timing.ledger = Some(self.ledger(Solves::Convection(settings, parts.unwrap_or(1)), whole)?);
        Ok(timing)
    }

    /// Values that force it.
    fn forcing(&self, settings: &Convection) -> f64 {
        let sections: &[Section] = match settings {
            Convection::Tm5(_) => &[Section::Entu, Section::Detu, Section::Entd, Section::Detd],
            Convection::Cmfmc(_) => &[Section::Cmfmc, Section::Dtrain, Section::CmfmcCloudBase],
            Convection::CmfmcMatrix(_) => return 2.0 * self.case.cells(),
        };
        sections.iter().map(|section| self.case.values(*section)).sum()
    }
}
