//! Norms of other programs from a folder of stored results.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::super::VerifyError;
use super::super::report::{CaseReport, Comparison};
use super::{of_programs, of_prototype};

/// Norms of other programs: those built in, or all that a folder holds.
#[derive(Clone, Debug, Default)]
pub struct StoredNorms {
    runs: Option<Vec<Run>>,
}

/// A run of a file of norms.
#[derive(Clone, Debug)]
struct Run {
    flow: String,
    nc: usize,
    source: String,
    norms: BTreeMap<String, StoredNorm>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct StoredNorm {
    l1: Option<f64>,
    l2: Option<f64>,
    linf: Option<f64>,
    phi_min: Option<f64>,
    phi_max: Option<f64>,
}

#[derive(Deserialize)]
struct File<R> {
    runs: Vec<R>,
}

/// A run of `advection_suite_fv3`.
#[derive(Deserialize)]
struct Fv3Run {
    flow: String,
    resolution: String,
    steps_per_period: usize,
    hord: i64,
    norms: BTreeMap<String, StoredNorm>,
}

/// A run of `advection_suite_compose`.
#[derive(Deserialize)]
struct ComposeRun {
    flow: String,
    nominal_resolution_degree: f64,
    steps_per_period: usize,
    property_preservation: String,
    norms: BTreeMap<String, StoredNorm>,
}

impl StoredNorms {
    /// Reads `advection_suite_fv3/norms.json` and `advection_suite_compose/norms.json` of a folder; one of them may be
    /// absent.
    ///
    /// # Errors
    /// Neither is there, or one is no such file.
    pub fn read(folder: &Path) -> Result<Self, VerifyError> {
        let mut runs = Vec::new();
        let fv3 = folder.join("advection_suite_fv3/norms.json");
        let compose = folder.join("advection_suite_compose/norms.json");
        if !fv3.is_file() && !compose.is_file() {
            let problem = format!("no such file, and no {} either", compose.display());
            return Err(VerifyError::Reference { path: fv3, problem });
        }
        if fv3.is_file() {
            for run in parsed::<Fv3Run>(&fv3)? {
                let nc = run.resolution.strip_prefix('C').and_then(|n| n.parse().ok()).ok_or_else(|| {
                    let problem = format!("resolution \"{}\" is not C and a number", run.resolution);
                    VerifyError::Reference { path: fv3.clone(), problem }
                })?;
                let source = format!("FV3 hord {}, {} steps", run.hord, run.steps_per_period);
                runs.push(Run { flow: run.flow, nc, source, norms: run.norms });
            }
        }
        if compose.is_file() {
            for run in parsed::<ComposeRun>(&compose)? {
                let flow = match run.flow.as_str() {
                    "nondivergent" => "deformational".to_owned(),
                    other => other.to_owned(),
                };
                let nc = (90.0 / run.nominal_resolution_degree).round() as usize;
                let source = format!("COMPOSE {}, {} steps", run.property_preservation, run.steps_per_period);
                runs.push(Run { flow, nc, source, norms: run.norms });
            }
        }
        Ok(Self { runs: Some(runs) })
    }

    /// Flow, grid size and steps of all runs that a folder held, without repetition.
    pub fn cases(&self) -> Vec<(String, usize)> {
        let mut all: Vec<_> = self.runs.iter().flatten().map(|run| (run.flow.clone(), run.nc)).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Figures from elsewhere for the tracers of a case: of the prototype if it was run alike, of other programs on a grid
    /// of the same size.
    pub(in crate::verify) fn beside(&self, report: &CaseReport) -> Vec<Comparison> {
        let mut found = of_prototype(report);
        let Some(runs) = &self.runs else {
            found.extend(of_programs(report));
            return found;
        };
        for run in runs.iter().filter(|run| run.flow == report.case && run.nc == report.nc) {
            found.extend(run.norms.iter().map(|(tracer, n)| Comparison {
                source: run.source.clone(),
                tracer: tracer.clone(),
                l1: n.l1,
                l2: n.l2,
                linf: n.linf,
                phi_min: n.phi_min,
                phi_max: n.phi_max,
            }));
        }
        found
    }
}

fn parsed<R: for<'a> Deserialize<'a>>(path: &Path) -> Result<Vec<R>, VerifyError> {
    let error = |problem: String| VerifyError::Reference { path: path.to_path_buf(), problem };
    let text = std::fs::read_to_string(path).map_err(|e| error(format!("cannot be read: {e}")))?;
    let file: File<R> = serde_json::from_str(&text).map_err(|e| error(format!("is no table of norms: {e}")))?;
    Ok(file.runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_norms_is_read_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = StoredNorms::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("advection_suite_fv3") && error.contains("no such file"), "{error}");
        let place = folder.path().join("advection_suite_fv3");
        std::fs::create_dir(&place).unwrap();
        let norms = r#"{"l1": 0.1, "l2": 0.2, "linf": 0.3, "phi_max": 0.0, "phi_min": 0.0, "mass_rel_error": 0.0}"#;
        let run = |resolution: &str| {
            format!(
                r#"{{"runs": [{{"flow": "deformational", "resolution": "{resolution}", "steps_per_period": 96, "hord": 8,
                "norms": {{"gaussian_hills": {norms}}}}}]}}"#
            )
        };
        std::fs::write(place.join("norms.json"), run("C12")).unwrap();
        let stored = StoredNorms::read(folder.path()).unwrap();
        assert_eq!(stored.cases(), [("deformational".to_owned(), 12)]);
        std::fs::write(place.join("norms.json"), run("12")).unwrap();
        assert!(StoredNorms::read(folder.path()).unwrap_err().to_string().contains("is not C and a number"));
        std::fs::write(place.join("norms.json"), "{}").unwrap();
        assert!(StoredNorms::read(folder.path()).unwrap_err().to_string().contains("no table of norms"));
    }
}
