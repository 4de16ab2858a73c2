//! Figures from elsewhere that stand beside ours: other programs, and a prototype of the split schemes.

mod programs;
pub(super) mod prototype;
mod stored;

pub use stored::StoredNorms;

use self::programs::PUBLISHED;
use self::prototype::{DEFORMATION, EQUAL_PASSES, HADLEY, ROTATION};
use super::report::{CaseReport, Comparison};

impl Comparison {
    fn new(source: &str, tracer: &str, [l1, l2, linf]: [Option<f64>; 3]) -> Self {
        Self { source: source.to_owned(), tracer: tracer.to_owned(), l1, l2, linf, phi_min: None, phi_max: None }
    }
}

/// Whether a case was run as the prototype ran it.
pub(super) fn as_prototype(report: &CaseReport) -> bool {
    let per_nc = match report.suite {
        "lauritzen" => 20.0,
        "solid-body" => 10.0,
        _ => return false,
    };
    report.grid == "equiangular" && report.initial == "cell means" && report.steps_per_nc == per_nc
}

/// Figures of the prototype for a case.
fn of_prototype(report: &CaseReport) -> Vec<Comparison> {
    const SOURCE: &str = "prototype";
    let mut found = Vec::new();
    let is_of = |scheme: &str, nc: usize| scheme == report.scheme && nc == report.nc;
    if report.case == "deformational" && as_prototype(report) {
        for row in DEFORMATION.iter().filter(|row| is_of(row.scheme, row.nc)) {
            found.push(Comparison::new(SOURCE, "gaussian_hills", row.hills.map(Some)));
            found.push(Comparison::new(SOURCE, "cosine_bells", [None, Some(row.bells[0]), Some(row.bells[1])]));
            found.push(Comparison::new(SOURCE, "slotted_cylinders", [None, Some(row.cylinders), None]));
        }
        for (_, _, [hills, bells]) in EQUAL_PASSES.iter().filter(|(scheme, nc, _)| is_of(scheme, *nc)) {
            found.push(Comparison::new(SOURCE, "gaussian_hills", [None, Some(*hills), None]));
            found.push(Comparison::new(SOURCE, "cosine_bells", [None, Some(*bells), None]));
        }
    }
    if report.case == "solid_body_45" && as_prototype(report) {
        for row in ROTATION.iter().filter(|row| is_of(row.scheme, row.nc)) {
            found.push(Comparison::new(SOURCE, "williamson_bell", row.bell.map(Some)));
            found.push(Comparison::new(SOURCE, "gaussian", [None, Some(row.gaussian), None]));
            found.push(Comparison::new(SOURCE, "cylinder", [None, Some(row.cylinder), None]));
        }
    }
    if report.suite == "dcmip12" {
        for row in HADLEY.iter().filter(|row| is_of(row.scheme, row.nc) && row.levels == report.levels) {
            found.push(Comparison::new("prototype, 2-D", "q", row.norms.map(Some)));
        }
    }
    found
}

/// Norms of other programs for a flow and a grid, as they are built in.
fn of_programs(report: &CaseReport) -> Vec<Comparison> {
    let runs = PUBLISHED.iter().filter(|run| run.flow == report.case && run.nc == report.nc);
    let rows = |run: &'static programs::Published| {
        let source = format!("{}, {} steps", run.source, run.steps);
        run.norms.iter().map(move |(tracer, norms)| Comparison::new(&source, tracer, norms.map(Some)))
    };
    runs.flat_map(rows).collect()
}
