//! Our norms beside stored ones of FV3 and COMPOSE, for all flows, grids and steps that the stored files hold.

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

/// Every stored tracer of a flow that we have stands beside ours.
fn compare(folder: &Path, largest: usize) {
    for case in stored(folder) {
        let resolution = case["resolution"].as_str().unwrap();
        if resolution[1..].parse::<usize>().unwrap() > largest
            || !["deformational", "solid_body_0"].contains(&case["flow"].as_str().unwrap())
        {
            continue;
        }
        let hord = case["hord"].as_i64().unwrap();
        // The rules nearest to those of FV3: 8 and 10 are monotone or nearly so, the others unlimited or positive.
        let limiter = if hord == 8 { "cw84" } else { "huynh_pd" };
        let report = ours(folder, &case, limiter).expect("the flow is one of ours");
        for (tracer, norms) in case["norms"].as_object().unwrap() {
            let ours = report.norms_of(tracer).unwrap_or_else(|| panic!("{tracer} is among our tracers"));
            let theirs = norms["l2"].as_f64().unwrap();
            println!(
                "{} {resolution} {tracer}: {limiter} {:.4}, hord {hord} {theirs:.4}, ratio {:.3}",
                report.case,
                ours.l2,
                ours.l2 / theirs
            );
            assert!(report.compared.iter().any(|c| c.tracer == *tracer && c.l2 == Some(theirs)));
            assert!(ours.l2.is_finite() && ours.l2 < 2.0 * theirs + 0.01, "{tracer} {} {theirs}", ours.l2);
        }
    }
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
