//! Our norms beside stored ones of FV3 and COMPOSE, for all flows, grids and steps that the stored files hold.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use atmostr::grid::GeometryBundle;
use atmostr::verify::{CaseReport, StoredNorms, Suite, Verification};

use crate::{run, verification};

/// Folder of stored norms: in `ATMOSTR_REFERENCE_DIR`, else beside the repository.
fn folder() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reference");
    let folder = std::env::var_os("ATMOSTR_REFERENCE_DIR").map_or_else(beside, PathBuf::from);
    let found = folder.join("advection_suite_fv3/norms.json").is_file();
    if !found {
        println!("skipped: there are no stored norms; ATMOSTR_REFERENCE_DIR names their folder");
    }
    found.then_some(folder)
}

/// A run of the stored file: flow, resolution, steps, hord, l2 by tracer.
fn stored(folder: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(folder.join("advection_suite_fv3/norms.json")).unwrap();
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    file["runs"].as_array().unwrap().clone()
}

/// Ours for the flow, grid and steps of a stored run.
fn ours(folder: &Path, stored: &serde_json::Value, limiter: &str) -> Option<CaseReport> {
    let flow = stored["flow"].as_str().unwrap();
    let suite = if flow == "deformational" { Suite::Lauritzen } else { Suite::SolidBody };
    let nc: usize = stored["resolution"].as_str()?.strip_prefix('C')?.parse().ok()?;
    let steps = stored["steps_per_period"].as_f64()?;
    let verification = Verification {
        bundle: GeometryBundle::GeosNative,
        steps_per_nc: Some(steps / nc as f64),
        stored: StoredNorms::read(folder).unwrap(),
        ..verification(&[suite], &[nc], "ppm", limiter)
    };
    run(&verification).into_iter().find(|report| report.case == flow)
}

/// Every stored tracer of a flow that we have stands beside ours. The positive scheme of twice as many passes is at least as
/// close to the exact field as the monotone operator of FV3; the others are unlimited or less limited, and are only shown.
fn compare(folder: &Path, largest: usize) {
    let (mut cases, mut ours_of) = (0, BTreeMap::new());
    for case in stored(folder) {
        let (flow, resolution) = (case["flow"].as_str().unwrap(), case["resolution"].as_str().unwrap());
        let steps = case["steps_per_period"].as_u64().unwrap();
        if resolution[1..].parse::<usize>().unwrap() > largest {
            continue;
        }
        let key = (flow.to_owned(), resolution.to_owned(), steps);
        let report = ours_of.entry(key).or_insert_with(|| ours(folder, &case, "huynh_pd"));
        let Some(report) = report else {
            println!("no flow of ours is called {flow}");
            continue;
        };
        assert_eq!(report.steps as u64, steps);
        let hord = case["hord"].as_i64().unwrap();
        for (tracer, norms) in case["norms"].as_object().unwrap() {
            let ours = report.norms_of(tracer).unwrap_or_else(|| panic!("{tracer} is among our tracers"));
            let theirs = norms["l2"].as_f64().unwrap();
            let ratio = ours.l2 / theirs;
            println!(
                "{flow} {resolution} {tracer}: huynh_pd {:.4}, hord {hord} {theirs:.4}, ratio {ratio:.3}",
                ours.l2
            );
            assert!(report.compared.iter().any(|c| c.tracer == *tracer && c.l2 == Some(theirs)));
            assert!(hord != 8 || ratio <= 1.0, "{flow} {resolution} {tracer}: {ratio} times the error of hord 8");
            cases += 1;
        }
    }
    assert!(cases > 0);
}

#[test]
fn stored_norms_stand_beside_ours() {
    let Some(folder) = folder() else { return };
    compare(&folder, 24);
}

#[test]
#[ignore = "minutes of computation"]
fn stored_norms_of_fine_grids_stand_beside_ours() {
    let Some(folder) = folder() else { return };
    compare(&folder, 96);
}
