//! Restart files that do not fit are refused by name, with what differs.

use atmostr::met::FloatType;
use atmostr::model::{Accepted, RunControl, StartFrom};

use crate::case::{How, TM5, make_winds, run_text, run_text_under};
use crate::chain::{restart_files, with_restarts};

#[test]
fn other_runs_are_refused_with_what_differs() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    make_winds(dir, "winds.bin", 12, 20, 4, 1.0, FloatType::Float64);
    let of = |float| with_restarts(&TM5.text(float, How::default(), "out", 4.0), "out", Some(2.0));
    let own = of(FloatType::Float32);
    run_text(&own, dir, 1).unwrap();
    let file = restart_files(dir, "out")[0].clone();
    let from_file = |accepted: &[Accepted]| RunControl {
        from: StartFrom::File(file.clone()),
        accepted: accepted.to_vec(),
        ..RunControl::default()
    };
    let refused = |text: &str, parts: &[&str]| {
        let error = run_text_under(&from_file(&[]), text, dir, 1).unwrap_err().to_string();
        for part in parts.iter().chain(&["restart-", "does not fit"]) {
            assert!(error.contains(part), "{part}: {error}");
        }
    };
    refused(&of(FloatType::Float64), &["precision: \"Float32\" in the file, \"Float64\" here"]);
    refused(&own.replace("\"ppm\"", "\"slopes\""), &["advection: \"ppm", "--allow advection"]);
    refused(&own.replace("330350.4", "330000.0"), &["chemistry", "--allow chemistry"]);
    refused(&own.replace("rate = 3e-9", "rate = 4e-9"), &["sources", "--allow sources"]);
    refused(&own.replace("[tracers.sf6]", "[tracers.sf7]\nmolar_mass_kg_mol = 0.146\n"), &["tracers:", "sf6", "sf7"]);
    let allowed = own.replace("rate = 3e-9", "rate = 4e-9");
    let (_, warnings) = run_text_under(&from_file(&[Accepted::Sources]), &allowed, dir, 1).unwrap();
    assert!(warnings.iter().any(|w| w.contains("sources")), "{warnings:?}");

    // Other winds of the same shape.
    make_winds(dir, "winds.bin", 12, 20, 4, 2.0, FloatType::Float64);
    refused(&own, &["window: \"3600 s\"", "7200 s"]);
    make_winds(dir, "winds.bin", 8, 20, 4, 1.0, FloatType::Float64);
    refused(&own, &["grid: \"C12", "C8"]);
    make_winds(dir, "winds.bin", 12, 20, 1, 1.0, FloatType::Float64);
    let short = own.replace("every = 2", "every = 1").replace("cadence_hours = 4", "cadence_hours = 1");
    refused(&short, &["written after 2 windows, the configured run has 1"]);
}

#[test]
fn a_run_does_not_begin_again_over_its_restart_files() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    make_winds(dir, "winds.bin", 12, 20, 2, 1.0, FloatType::Float32);
    let text = with_restarts(&TM5.text(FloatType::Float32, How::default(), "out", 1.0), "out", None);
    let latest = RunControl { from: StartFrom::Latest, ..RunControl::default() };
    let none = run_text_under(&latest, &text, dir, 1).unwrap_err().to_string();
    assert!(none.contains("no restart file") && none.contains("--restart auto"), "{none}");
    run_text(&text, dir, 1).unwrap();
    let before = std::fs::read(dir.join("out.nc")).unwrap();
    let refused = run_text(&text, dir, 1).unwrap_err().to_string();
    assert!(refused.contains("--restart latest") && refused.contains("--restart none"), "{refused}");
    assert_eq!(std::fs::read(dir.join("out.nc")).unwrap(), before);
    let anew = RunControl { from: StartFrom::Anew, ..RunControl::default() };
    run_text_under(&anew, &text, dir, 1).unwrap();

    // A damaged latest file is passed over with a warning; a named one is refused.
    let files = restart_files(dir, "out");
    let whole = std::fs::read(&files[0]).unwrap();
    std::fs::write(&files[0], &whole[..whole.len() / 2]).unwrap();
    let auto = RunControl { from: StartFrom::LatestIfAny, ..RunControl::default() };
    let named = RunControl { from: StartFrom::File(files[0].clone()), ..RunControl::default() };
    let refused = run_text_under(&named, &text, dir, 1).unwrap_err().to_string();
    assert!(refused.contains("restart-") && refused.contains("choose another restart file"), "{refused}");
    run_text_under(&auto, &text, dir, 1).unwrap();
}
