//! What is checked before a run, against small files.

use super::*;
use crate::met::synth::{self, SynthFlow};

/// Two consecutive files of two half-hourly windows, C4 with three levels.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut options = SynthOptions::new(SynthFlow::SolidBody { angle_deg: 0.0 }, 4, 3);
    (options.windows, options.window_seconds) = (2, 1800.0);
    for (name, start) in [("w_20211201.bin", "2021-12-01T00:00:00Z"), ("w_20211202.bin", "2021-12-01T01:00:00Z")] {
        options.start_time = Some(start.parse().unwrap());
        synth::write(dir.path().join(name), &options, |_| {}).unwrap();
    }
    (options.nc, options.start_time) = (6, None);
    synth::write(dir.path().join("other.bin"), &options, |_| {}).unwrap();
    dir
}

fn check(dir: &Path, input: &str, rest: &str, ranks: usize) -> Result<Preflight, ConfigErrors> {
    let text = format!("[input]\n{input}\n[advection]\nscheme = \"ppm\"\n[tracers.co2]\n{rest}\n");
    let config = RunConfig::parse(&text, &dir.join("run.toml")).unwrap_or_else(|e| panic!("{}", e.plain()));
    config.preflight(ranks)
}

const BOTH: &str = "binary_paths = [\"w_20211201.bin\", \"w_20211202.bin\"]";

#[test]
fn a_run_that_fits_its_files_is_planned() {
    let dir = folder();
    let rest = "[output]\npath = \"o.nc\"\nsplit = \"daily\"\ncadence_hours = 0.5\nstop_hour = 1.5";
    let plan = check(dir.path(), &format!("{BOTH}\nstart_date = 2021-12-01"), rest, 6).unwrap();
    assert_eq!((plan.files.len(), plan.windows, plan.hours, plan.levels), (2, vec![2, 2], 2.0, 3));
    assert_eq!(plan.labels, ["20211201", "20211202"]);
    assert_eq!(plan.snapshot_hours, [0.0, 0.5, 1.0, 1.5]);
    assert_eq!((plan.layout.ranks(), plan.layout.halo(), plan.layout.nc()), (6, 3, 4));
    assert!(plan.warnings.is_empty());
    let one = "binary_paths = [\"w_20211202.bin\"]";
    let rest = "[run]\nstop_window = 1\n[output]\npath = \"o.nc\"\nhours = [0.4999999, 9]";
    let plan = check(dir.path(), one, rest, 1).unwrap();
    assert_eq!((plan.windows, plan.hours, plan.snapshot_hours), (vec![1], 0.5, vec![0.5]));
    assert!(plan.warnings[0].contains("[9.0]"), "{:?}", plan.warnings);
    let made = "[input.synthetic]\nwindows = 3\nnc = 8";
    let plan = check(dir.path(), made, "[output]\npath = \"o.nc\"\ncadence_hours = 1", 1).unwrap();
    assert_eq!((plan.files.len(), plan.snapshot_hours, plan.labels), (0, vec![0.0, 1.0, 2.0, 3.0], vec!["001".into()]));
}

#[test]
fn what_does_not_fit_is_reported_with_its_key() {
    let dir = folder();
    std::fs::write(dir.path().join("bad.bin"), b"no header").unwrap();
    for (input, rest, ranks, line, parts) in [
        ("binary_paths = [\n\"w_20211201.bin\",\n\"bad.bin\"]", "", 1, 4, &["bad.bin", "inspect"][..]),
        ("binary_paths = [\"w_20211201.bin\", \"other.bin\"]", "", 1, 2, &["Nc", "continue"]),
        ("binary_paths = [\"w_20211202.bin\", \"w_20211201.bin\"]", "", 1, 2, &["start_time_utc"]),
        ("binary_paths = [\"other.bin\"]\nexpected_nlevel = 4", "", 1, 3, &["expected_nlevel", "has 3"]),
        ("binary_paths = [\"other.bin\"]\nrequired_preprocessor_contract = \"x\"", "", 1, 3, &["\"x\""]),
        ("binary_paths = [\"w_20211202.bin\"]\nstart_date = 2021-12-02", "", 1, 3, &["2021-12-01T01:00:00"]),
        (BOTH, "[run]\nstop_window = 3", 1, 7, &["stop_window", "2 windows"]),
        (BOTH, "[run]\nstop_window = 1", 1, 7, &["stop_window", "other files follow"]),
        (BOTH, "[run]\nHp = 5", 1, 7, &["halo of 5"]),
        (BOTH, "[decomposition]\ntiles = [2, 1]", 1, 7, &["2 x 1"]),
        (BOTH, "", 7, 0, &["7 ranks", "largest usable number"]),
        (BOTH, "[output]\npath = \"o.nc\"\nhours = [0, 0.75]", 1, 8, &["hour 0.75", "nearest: 0.5"]),
        (BOTH, "[output]\npath = \"o.nc\"\ninterval_seconds = 600", 1, 8, &["end of a window"]),
        (
            BOTH,
            "[output]\npath = \"o.nc\"\nhours = []\n[output.fields]\nlayers = \"selected\"\nlevels = [4]",
            1,
            11,
            &["4 is not a model level (1 to 3)"],
        ),
    ] {
        let Err(errors) = check(dir.path(), input, rest, ranks) else { panic!("{input} {rest} is accepted") };
        let problem = errors.problems().next().unwrap();
        let at = errors.position(problem).map_or(0, |p| p.0);
        // Lines of the input beyond the first push the rest down.
        let shift = if line > 4 { input.matches('\n').count() } else { 0 };
        let plain = errors.plain();
        assert!(parts.iter().all(|p| plain.contains(p)), "{parts:?} not in\n{plain}");
        assert_eq!(at, line + shift, "{plain}");
    }
}

#[test]
fn daily_labels_must_differ() {
    let dir = folder();
    std::fs::create_dir(dir.path().join("b")).unwrap();
    std::fs::copy(dir.path().join("w_20211202.bin"), dir.path().join("b/v_20211201.bin")).unwrap();
    let rest = "[output]\npath = \"o.nc\"\nhours = []\nsplit = \"daily\"";
    let input = "binary_paths = [\"w_20211201.bin\", \"b/v_20211201.bin\"]";
    let errors = check(dir.path(), input, rest, 1).unwrap_err();
    assert!(errors.plain().contains("same output file (\"20211201\")"), "{}", errors.plain());
}
