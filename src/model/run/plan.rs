//! The run in words.

use kernels::Scalar;

use super::Run;
use crate::files::size_words;
use crate::model::report::{PlanReport, Spread};
use crate::model::setup::float_name;
use crate::sources::EmissionTotal;

impl<R: Scalar> Run<'_, R> {
    /// The plan; `emitted` are the totals of the sources in their order, `memory_of_ranks` is what all ranks expect.
    pub(super) fn plan(&self, emitted: &[EmissionTotal], memory_of_ranks: Spread) -> PlanReport {
        let (plan, header) = (&self.setup.plan, self.setup.header());
        let grid = plan.layout.tile_grid();
        let state = self.engine.shape();
        let memory = match self.comm.size() {
            1 => format!("{} expected", self.memory.words()),
            _ => {
                let [least, most] = [memory_of_ranks.min, memory_of_ranks.max].map(|bytes| size_words(bytes as u64));
                format!("{least} to {most} expected on a rank; on the first {}", self.memory.words())
            }
        };
        let mut lines = vec![
            ("grid", format!("C{} {}, {} levels", plan.layout.nc(), header.panel_convention().tag(), plan.levels)),
            ("precision", float_name(self.config.settings.float_type).to_owned()),
            ("advection", self.config.advection.summary(&self.config.tracers)),
            ("tracers", state.tracers().join(", ")),
            (
                "ranks",
                format!(
                    "{} × {} threads, {} × {} tiles per panel, halo {}",
                    self.comm.size(),
                    self.threads.count(),
                    grid.px,
                    grid.py,
                    plan.layout.halo()
                ),
            ),
            ("memory", memory),
            ("input", format!("{} file(s), {:.2} h", plan.files.len(), plan.hours)),
        ];
        let physics = &self.config.physics;
        if physics.diffusion.is_some() {
            lines.push(("diffusion", physics.diffusion_summary()));
        }
        if physics.convection.is_some() {
            lines.push(("convection", physics.convection_summary()));
        }
        lines.extend(self.config.initial_records().into_iter().map(|record| ("initial", record)));
        let sources = self.config.source_summaries().into_iter().zip(emitted);
        lines.extend(sources.map(|(source, total)| ("source", format!("{source}: {total}"))));
        let chemistry = &self.config.chemistry;
        if !chemistry.decaying.is_empty() {
            lines.push(("decay", chemistry.summary(&self.config.tracers)));
        }
        lines.extend(self.engine.place().map(|place| ("device", place)));
        if let Some(words) = self.snapshots.memory_words() {
            lines.push(("output", words));
        }
        if let Some(restart) = &self.config.restart {
            let every = restart.every_hours.map_or("at the end".to_owned(), |hours| format!("every {hours} h"));
            let (keep, folder) = (restart.keep, restart.folder.path().display());
            lines.push(("restart", format!("{every}, the latest {keep} in {folder}")));
        }
        let whole: u64 = plan.windows.iter().map(|n| *n as u64).sum();
        PlanReport {
            lines,
            windows: whole - self.clock.windows(),
            start_seconds: self.clock.seconds(),
            facts: self.facts.clone(),
            memory: self.memory.clone(),
            memory_of_ranks,
        }
    }
}
