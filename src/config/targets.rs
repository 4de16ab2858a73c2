//! Files a run writes: none of them may be something it reads, or something that is no file, and they must fit.

use std::path::{Path, PathBuf};

use super::{Output, RunConfig, Source};
use crate::files::{lacks_room, regular_or_absent, same_file};
use crate::output::FieldPlan;

/// Everything the run reads.
fn read(config: &RunConfig) -> Vec<(&Path, &'static str)> {
    let mut all = vec![(config.path.as_path(), "the configuration itself")];
    if let Source::Files { paths, .. } = &config.input.source {
        all.extend(paths.iter().map(|path| (path.as_path(), "a transport file of the run")));
    }
    let initial = config.tracers.iter().filter_map(|tracer| tracer.initial.source());
    all.extend(initial.map(|(file, _)| (file, "the file of an initial state")));
    let emissions = config.tracers.iter().flat_map(|tracer| &tracer.emissions);
    all.extend(emissions.flat_map(|one| one.source.files()).map(|file| (file, "a file of a source")));
    all
}

/// What is wrong with the output files of `labels`, if anything.
pub(super) fn problem(config: &RunConfig, output: &Output, labels: &[String]) -> Option<String> {
    let spec = output.spec(None);
    let mut targets: Vec<PathBuf> = labels.iter().map(|label| spec.path_for(label)).collect();
    targets.extend(output.budget.clone());
    for target in &targets {
        if let Err(error) = regular_or_absent(target) {
            return Some(format!("{}: {error}", target.display()));
        }
        if let Some((_, what)) = read(config).into_iter().find(|(path, _)| same_file(path, target)) {
            return Some(format!("{} is {what} and would be overwritten", target.display()));
        }
    }
    None
}

/// Bytes of a line of a table of budgets whose numbers have all their digits.
const BUDGET_LINE_BYTES: u64 = 300;

/// Bytes of the table of budgets of a run of `windows` windows; 0 if none is written.
fn budget_bytes(output: &Output, tracers: usize, windows: usize) -> u64 {
    let lines = if output.budget.is_some() { tracers.saturating_mul(windows) } else { 0 };
    BUDGET_LINE_BYTES.saturating_mul(lines as u64)
}

/// Why `snapshots` of the fields of `plan` on a grid of `nc` cells per panel edge, the table of budgets of `windows` windows,
/// and the winds if the run makes them, do not fit on the disk of the output, if so. How small compression makes a snapshot
/// is not known, so those count as nothing.
pub(super) fn too_large(
    config: &RunConfig,
    output: &Output,
    plan: &FieldPlan,
    nc: usize,
    snapshots: usize,
    windows: usize,
) -> Option<String> {
    let fields = match output.compression.level {
        0 => plan.snapshot_bytes(nc, config.settings.float_type.bytes()).saturating_mul(snapshots as u64),
        _ => 0,
    };
    let winds = match &config.input.source {
        Source::Synthetic(options) => options.payload_bytes(),
        Source::Files { .. } => 0,
    };
    let budget = budget_bytes(output, config.tracers.len(), windows);
    let sizes = lacks_room(&output.path, fields.saturating_add(winds).saturating_add(budget))?;
    Some(format!("the output of the run does not fit on the disk of {}: {sizes}", output.path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_budgets_count_a_line_for_every_window_and_tracer() {
        let bytes = |keys: &str| {
            let text = format!(
                "[input.synthetic]\n[advection]\nscheme = \"ppm\"\n[tracers.co2]\n[tracers.sf6]\n\
                 [output]\npath = \"o.nc\"\nhours = []\n{keys}\n"
            );
            let config = RunConfig::parse(&text, Path::new("run.toml")).unwrap_or_else(|e| panic!("{}", e.plain()));
            budget_bytes(config.output.as_ref().unwrap(), config.tracers.len(), 24)
        };
        assert_eq!(bytes(""), 24 * 2 * BUDGET_LINE_BYTES);
        assert_eq!(bytes("budget = false"), 0);
    }
}
