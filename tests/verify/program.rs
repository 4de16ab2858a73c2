//! The command: tables, JSON, pictures, exit codes.

use std::process::Output;

use assert_cmd::Command;

fn verify(args: &[&str]) -> Output {
    Command::cargo_bin("atmostr").unwrap().arg("verify").args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_table_says_what_was_found() {
    let out = verify(&["lauritzen", "--nc", "8", "--scheme", "ppm", "--limiter", "cw84"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let table = text(&out.stdout);
    for part in ["deformational, C8 equiangular", "160 steps", "gaussian_hills", "pass  mixing l_o", "0 not"] {
        assert!(table.contains(part), "{part} not in\n{table}");
    }
}

#[test]
fn figures_are_written_as_json_and_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let (json, pictures) = (folder.path().join("norms.json"), folder.path().join("pictures"));
    let out = verify(&[
        "lauritzen",
        "--nc",
        "8,12",
        "--grid",
        "geos_native",
        "--json",
        json.to_str().unwrap(),
        "--plot",
        pictures.to_str().unwrap(),
    ]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let found: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    assert_eq!(found[0]["steps"], 120);
    assert!(found[1]["norms"]["slotted_cylinders"]["l2"].as_f64().unwrap() > 0.1);
    assert_eq!(found[0]["filament_half_period"]["threshold"].as_array().unwrap().len(), 19);
    let names: Vec<String> =
        std::fs::read_dir(pictures).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    for name in [
        "lauritzen_deformational_c8_cosine_bells_half.png",
        "lauritzen_deformational_c12_mixing.png",
        "lauritzen_deformational_c12_filament.png",
        "convergence.png",
    ] {
        assert!(names.iter().any(|found| found == name), "{names:?}");
    }
}

#[test]
fn a_limit_that_is_not_kept_makes_the_program_fail() {
    // Air of more than one cell leaves each cell in a step.
    let out = verify(&["lauritzen", "--nc", "8", "--steps-per-nc", "3"]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stdout));
    assert!(text(&out.stdout).contains("FAIL  constant"), "{}", text(&out.stdout));
}

#[test]
fn bad_options_are_refused_with_a_remedy() {
    for (args, parts) in [
        (&["nonsense"][..], &["nonsense", "lauritzen"][..]),
        (&["lauritzen", "--scheme", "pppm"], &["advection.scheme", "ppm"]),
        (&["lauritzen", "--limiter", "sharp"], &["advection.limiter", "cw84"]),
        (&["lauritzen", "--scheme", "none"], &["moves nothing"]),
        (&["lauritzen", "--set", "cfl_limit"], &["KEY=VALUE"]),
        (&["lauritzen", "--set", "cfl_limit=7"], &["advection.cfl_limit"]),
        (&["lauritzen", "--reference", "/nowhere"], &["/nowhere", "no such file"]),
        (&["convergence", "--nc", "8"], &["--nc"]),
        (&["lauritzen", "--nc", "8", "--steps-per-nc", "1e-9"], &["--steps-per-nc"]),
    ] {
        let out = verify(args);
        let told = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{args:?}: {told}");
        assert!(parts.iter().all(|part| told.contains(part)), "{args:?}: {told}");
    }
}
