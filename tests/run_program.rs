//! Runs as a user starts them: ready configurations, daily files, policies, refusals, prefetching.

mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use atmostr::met::{HeaderSpec, Section, TransportFile, TransportWriter, WindowPayload};
use decomposition::PanelConvention;
use support::{Config, Ended, assert_same, atmostr, finish, spoil, synth};

/// A folder with winds of six hourly windows, C8 with four layers, in double precision.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    synth(dir.path(), "winds.bin", &["--nc", "8", "--levels", "4", "--windows", "6", "--float", "Float64"]);
    dir
}

fn run(dir: &Path, config: &Config) -> Ended {
    config.write(dir, "run.toml");
    atmostr(dir, &["run.toml"])
}

/// All values of a variable.
fn values(path: &Path, variable: &str) -> Vec<f64> {
    let file = netcdf::open(path).unwrap();
    let variable = file.variable(variable).unwrap_or_else(|| panic!("no variable {variable}"));
    variable.get_values(..).unwrap()
}

fn has(path: &Path, variable: &str) -> bool {
    netcdf::open(path).unwrap().variable(variable).is_some()
}

/// Largest relative deviation from a value.
fn deviation(values: &[f64], from: f64) -> f64 {
    values.iter().map(|v| (v / from - 1.0).abs()).fold(0.0, f64::max)
}

/// Names of the files in a folder.
fn names(dir: &Path) -> BTreeSet<String> {
    std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
}

fn ready(dir: &Path, name: &str) {
    let configs = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    std::fs::copy(configs.join(name), dir.join(name)).unwrap();
}

#[test]
fn the_quickstart_runs_and_its_uniform_tracer_stays_uniform() {
    let dir = tempfile::tempdir().unwrap();
    ready(dir.path(), "quickstart.toml");
    atmostr(dir.path(), &["quickstart.toml"]).succeed();
    let out = dir.path().join("quickstart.nc");
    assert_eq!(values(&out, "time").len(), 5);
    let worst = deviation(&values(&out, "uniform"), 4.0e-4);
    assert!(worst <= 1e-12, "{worst:e}");
    for tracer in ["uniform", "co2", "plume", "layer"] {
        let totals = values(&out, &format!("{tracer}_total_mass"));
        assert!(deviation(&totals, totals[0]) <= 1e-13, "{tracer}: {totals:?}");
    }
    assert!(values(&out, "plume").iter().all(|v| *v >= 0.0), "the limiter of the quickstart is positive");
}

#[test]
fn the_analytic_flows_run() {
    for name in ["deformation", "solid_body"] {
        let dir = tempfile::tempdir().unwrap();
        ready(dir.path(), &format!("{name}.toml"));
        atmostr(dir.path(), &[&format!("{name}.toml")]).succeed();
        assert!(!values(&dir.path().join(format!("{name}.nc")), "time").is_empty());
    }
}

#[test]
fn daily_files_are_as_the_first_lines_of_their_configuration_tell() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("met")).unwrap();
    synth(dir.path(), "met/winds_20211201.bin", &["--nc", "24", "--start-time", "2021-12-01"]);
    let second = ["--nc", "24", "--start-time", "2021-12-02", "--skip-windows", "24"];
    synth(dir.path(), "met/winds_20211202.bin", &second);
    ready(dir.path(), "two_days_daily_files.toml");
    atmostr(dir.path(), &["two_days_daily_files.toml"]).succeed();
    let [first, second] = ["20211201", "20211202"].map(|d| dir.path().join(format!("out/two_days_{d}.nc")));
    // The first file has the initial state too; midnight belongs to the day that ends.
    assert_eq!((values(&first, "time").len(), values(&second, "time").len()), (9, 8));
    assert!(has(&first, "co2") && !has(&first, "sf6") && has(&first, "sf6_column_mean"));
    assert_eq!(values(&first, "co2").len(), 9 * 3 * 6 * 24 * 24, "three selected layers");
    for file in [&first, &second] {
        let worst = deviation(&values(file, "co2"), 4.1e-4);
        // The bound of steady rounding in changing winds, as in tests/advection/long_runs.rs.
        assert!(worst <= 4e-6, "{worst:e}");
    }
}

#[test]
fn files_that_do_not_join_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    for (name, skip) in [("a.bin", "0"), ("b.bin", "6"), ("c.bin", "0")] {
        synth(dir.path(), name, &["--nc", "12", "--levels", "4", "--windows", "6", "--skip-windows", skip]);
    }
    let told = |second: &str, validate: &str| {
        let text = format!(
            "[input]\nbinary_paths = [\"a.bin\", \"{second}\"]\nvalidate_replay = {validate}\n\
             [advection]\nscheme = \"upwind\"\n[tracers.co2]\n"
        );
        std::fs::write(dir.path().join("join.toml"), text).unwrap();
        atmostr(dir.path(), &["join.toml"])
    };
    let jump = "from where the file before ends";
    let joined = told("b.bin", "true");
    assert!(!joined.stderr.contains(jump), "{}", joined.stderr);
    joined.succeed();
    let torn = told("c.bin", "false");
    assert!(torn.stderr.contains("warning: c.bin: ") && torn.stderr.contains(jump), "{}", torn.stderr);
    torn.succeed();
    assert_eq!(told("c.bin", "true").code, Some(2));
}

#[test]
fn uniform_fields_and_totals_are_kept_by_every_scheme_and_policy() {
    let dir = folder();
    for (float, bound) in [("Float64", 1e-12), ("Float32", 2e-6)] {
        for advection in ["scheme = \"upwind\"", "scheme = \"slopes\"", "scheme = \"ppm\"\nlimiter = \"cw84\""] {
            for mode in ["preserve_tracer_mass", "preserve_vmr", "none"] {
                let reset = format!("air_mass_reset_mode = \"{mode}\"");
                run(dir.path(), &Config { float, advection, run: &reset, ..Config::default() }).succeed();
                let out = dir.path().join("out.nc");
                let worst = deviation(&values(&out, "uniform"), 4.0e-4);
                assert!(worst <= bound, "{float} {advection} {mode}: {worst:e}");
                let totals = values(&out, "co2_total_mass");
                let drift = deviation(&totals, totals[0]);
                let bound = if float == "Float64" { 1e-13 } else { 2e-6 };
                assert!(drift <= bound, "{float} {advection} {mode}: {drift:e}");
            }
        }
    }
}

#[test]
fn without_advection_mixing_ratios_stay_where_they_are() {
    let dir = folder();
    let still = Config { advection: "scheme = \"none\"", run: "air_mass_reset_mode = \"none\"", ..Config::default() };
    run(dir.path(), &still).succeed();
    let plume = values(&dir.path().join("out.nc"), "plume");
    let cells = plume.len() / 7;
    assert!(plume[..cells].iter().any(|v| *v > 0.0) && plume[..cells] == plume[6 * cells..]);
}

#[test]
fn snapshots_fall_where_they_are_asked_for() {
    let dir = folder();
    let hours = |output: &str, run_keys: &str| {
        run(dir.path(), &Config { output, run: run_keys, ..Config::default() }).succeed();
        values(&dir.path().join("out.nc"), "time")
    };
    let count = |output, keys| hours(output, keys).len();
    assert_eq!(count("path = \"out.nc\"\ncadence_hours = 1", ""), 7);
    assert_eq!(count("path = \"out.nc\"\ncadence_hours = 1", "stop_window = 4"), 5);
    assert_eq!(count("path = \"out.nc\"\ncadence_seconds = 7200\nstart_hour = 2", ""), 3);
    let some = hours("path = \"out.nc\"\nhours = [1, 5]", "");
    assert_eq!((some.len(), some[1] / some[0]), (2, 5.0));
    let odd = Config { output: "path = \"out.nc\"\nhours = [1.5]", ..Config::default() };
    run(dir.path(), &odd).refuse(&["hour 1.5 does not fall on the end of a window"]);
    let long = Config { run: "stop_window = 7", ..Config::default() };
    run(dir.path(), &long).refuse(&["`run.stop_window` is 7", "has 6 windows"]);
}

#[test]
fn tiles_threads_and_prefetching_change_nothing() {
    let dir = folder();
    run(dir.path(), &Config { output: "path = \"reference.nc\"\ncadence_hours = 1", ..Config::default() }).succeed();
    let slopes = Config { advection: "scheme = \"upwind\"", ..Config::default() };
    run(dir.path(), &slopes).succeed();
    assert_eq!(atmostr(dir.path(), &["diff", "reference.nc", "out.nc"]).code, Some(1), "another scheme differs");
    for (tiles, threads) in [(Some([2, 1]), 1), (Some([1, 2]), 3), (Some([2, 2]), 2), (None, 4)] {
        run(dir.path(), &Config { tiles, threads, ..Config::default() }).succeed();
        assert_same(dir.path(), "reference.nc", "out.nc", &format!("{tiles:?}, {threads} threads"));
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
    command.arg("run.toml").env("ATMOSTR_DISABLE_PREFETCH", "1");
    finish(command, dir.path()).succeed();
    assert_same(dir.path(), "reference.nc", "out.nc", "without prefetching");
    // Tiles narrower than the halo do not work.
    run(dir.path(), &Config { tiles: Some([3, 1]), ..Config::default() }).refuse(&["does not fit C8 with halo 3"]);
}

/// Copies of the files that come next change nothing, go when the run ends, and are not shared with another run.
#[test]
fn copies_on_a_disk_of_the_machine_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let names: Vec<String> = (0..4).map(|n| format!("winds{n}.bin")).collect();
    for (n, name) in names.iter().enumerate() {
        let (start, skip) = (format!("2021-12-01T{:02}:00:00Z", 2 * n), (2 * n).to_string());
        let args = ["--nc", "6", "--levels", "4", "--windows", "2", "--start-time", &start, "--skip-windows", &skip];
        synth(dir, name, &args);
    }
    let listed = format!("binary_paths = {names:?}");
    let output = |name: &str| format!("path = \"{name}.nc\"\ncadence_hours = 1");
    run(dir, &Config { input: &listed, output: &output("plain"), ..Config::default() }).succeed();
    let staged = format!("{listed}\n[input.staging]\nenabled = true\ndir = \"copies\"\nlookahead_days = 1");
    run(dir, &Config { input: &staged, output: &output("staged"), ..Config::default() }).succeed();
    assert_same(dir, "plain.nc", "staged.nc", "copies");
    assert_eq!(std::fs::read_dir(dir.join("copies")).unwrap().count(), 0);
    // Kept, they serve the next run; a folder that cannot be used is refused.
    let kept = format!("{staged}\ncleanup_on_exit = false");
    run(dir, &Config { input: &kept, output: &output("staged"), ..Config::default() }).succeed();
    assert!(std::fs::read_dir(dir.join("copies")).unwrap().count() > 1);
    run(dir, &Config { input: &kept, output: &output("staged"), ..Config::default() }).succeed();
    assert_same(dir, "plain.nc", "staged.nc", "copies of a run before");
    std::fs::write(dir.join("file"), "").unwrap();
    let wrong = staged.replace("\"copies\"", "\"file/copies\"");
    let ended = run(dir, &Config { input: &wrong, output: &output("staged"), ..Config::default() });
    assert_ne!(ended.code, Some(0));
    assert!(ended.stderr.contains("file/copies"), "{}", ended.stderr);
}

/// A run may have more files than a process may have open.
#[cfg(unix)]
#[test]
fn files_are_open_only_while_they_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let names: Vec<String> = (0..60).map(|n| format!("winds{n:02}.bin")).collect();
    for (n, name) in names.iter().enumerate() {
        let skip = n.to_string();
        synth(dir, name, &["--nc", "4", "--levels", "2", "--windows", "1", "--skip-windows", &skip]);
    }
    let listed = format!("binary_paths = {names:?}");
    Config { input: &listed, ..Config::default() }.write(dir, "run.toml");
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 40 && exec \"$0\" run.toml", env!("CARGO_BIN_EXE_atmostr")]);
    finish(command, dir).succeed();
}

#[test]
fn a_schedule_that_is_too_coarse_is_refused_with_the_number_needed() {
    let dir = folder();
    let strict = |limit| format!("scheme = \"upwind\"\ncfl_limit = {limit}\nstrict_cfl = true");
    let ended = run(dir.path(), &Config { advection: &strict(0.1), ..Config::default() });
    let ended = ended.refuse(&["winds.bin, window 1", "above advection.cfl_limit = 0.1"]);
    let number = |before: &str| -> f64 {
        let rest = ended.stderr.split(before).nth(1).unwrap_or_else(|| panic!("{before} not in {}", ended.stderr));
        rest.split_whitespace().next().unwrap().parse().unwrap()
    };
    let (budget, needed, stored) = (number("budget of a substep is "), number("at least "), number("instead of "));
    assert!(budget > 0.1, "the case is too easy: {budget}");
    assert_eq!(needed, (budget / 0.1 * stored).ceil());
    // Reported, not refused, unless strict; a limit that is kept is no matter.
    let lax = Config { advection: "scheme = \"upwind\"\ncfl_limit = 0.1", ..Config::default() };
    assert_eq!(run(dir.path(), &lax).succeed().count("above advection.cfl_limit"), 1);
    run(dir.path(), &Config { advection: &strict(0.95), ..Config::default() }).succeed();
}

/// Copies winds without the mass tendency.
fn without_tendency(from: &Path, to: &Path) {
    let file = TransportFile::open(from).unwrap();
    let h = file.header();
    let mut spec =
        HeaderSpec::new(h.nc(), PanelConvention::GeosNative, h.a_ifc().to_vec(), h.b_ifc().to_vec(), h.nwindow());
    (spec.sections, spec.float_type) = (Section::CORE.to_vec(), h.float_type());
    spec.flux_kind = h.flux_kind();
    spec.dt_met_seconds = h.dt_met_seconds();
    let mut writer = TransportWriter::create(to, spec).unwrap();
    for window in 0..h.nwindow() {
        let read = |section| file.section_values(window, section).unwrap();
        let fields: Vec<_> = Section::CORE.into_iter().map(|section| (section, read(section))).collect();
        let sections: Vec<_> = fields.iter().map(|(section, values)| (*section, &values[..])).collect();
        let change = read(Section::AirMassTendency);
        let end: Vec<_> = fields[0].1.iter().zip(&change).map(|(m, d)| m + d).collect();
        let payload = WindowPayload { steps: h.steps()[window], sections: &sections, m_next: Some(&end) };
        writer.write_window(window, &payload).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn a_reset_needs_the_end_points_of_the_windows() {
    let dir = folder();
    without_tendency(&dir.path().join("winds.bin"), &dir.path().join("core.bin"));
    let core = Config { input: "binary_paths = [\"core.bin\"]", ..Config::default() };
    let remedy = ["no section `dm`", "set run.air_mass_reset_mode = \"none\""];
    run(dir.path(), &core).refuse(&remedy);
    let unreset = Config { run: "air_mass_reset_mode = \"none\"", ..core };
    run(dir.path(), &unreset).succeed();
}

#[test]
fn damaged_winds_are_refused_and_existing_output_stays() {
    let dir = folder();
    let d = dir.path();
    let bytes = std::fs::read(d.join("winds.bin")).unwrap();
    std::fs::write(d.join("short.bin"), &bytes[..bytes.len() - 8]).unwrap();
    std::fs::write(d.join("long.bin"), [&bytes[..], &[0; 8]].concat()).unwrap();
    spoil(d, "winds.bin", "spoilt.bin", 1);
    run(d, &Config::default()).succeed();
    let (before, listed) = (std::fs::read(d.join("out.nc")).unwrap(), names(d));
    for (file, part) in [("short.bin", "truncated"), ("long.bin", "too long"), ("spoilt.bin", "window 1")] {
        let input = format!("binary_paths = [\"{file}\"]");
        run(d, &Config { input: &input, ..Config::default() }).refuse(&[file, part]);
        assert!(std::fs::read(d.join("out.nc")).unwrap() == before, "output changed by {file}");
        assert_eq!(names(d), listed, "files left behind by {file}");
    }
    run(d, &Config { advection: "scheme = \"upwnd\"", ..Config::default() }).refuse(&["upwnd"]);
    assert!(std::fs::read(d.join("out.nc")).unwrap() == before);
}

/// The snapshots before the failure are kept.
#[test]
fn a_run_that_fails_on_the_way_leaves_its_complete_snapshots() {
    let dir = folder();
    spoil(dir.path(), "winds.bin", "spoilt.bin", 3);
    let input = Config { input: "binary_paths = [\"spoilt.bin\"]", ..Config::default() };
    run(dir.path(), &input).refuse(&["spoilt.bin", "window 3"]);
    let out = dir.path().join("out.nc.partial");
    assert!(!dir.path().join("out.nc").exists());
    assert_eq!(values(&out, "time").len(), 3, "the start and the ends of two windows");
    assert!(values(&out, "co2").iter().all(|v| (3.9e-4..4.5e-4).contains(v)));
}

#[test]
fn no_command_overwrites_what_it_reads_or_what_is_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    synth(dir.path(), "w.bin", &["--nc", "6", "--levels", "3", "--windows", "2"]);
    std::fs::hard_link(at("w.bin"), at("same.bin")).unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    let config = |output: &str, cadence: &str| {
        let text = format!(
            "[input]\nbinary_paths = [\"w.bin\"]\n[advection]\nscheme = \"upwind\"\n[tracers.co2]\n\
             [output]\npath = \"{output}\"\ncadence_hours = {cadence}\n"
        );
        std::fs::write(at("run.toml"), &text).unwrap();
        text
    };
    let winds = std::fs::read(at("w.bin")).unwrap();
    for output in ["w.bin", "same.bin", "run.toml", "folder", "/dev/null"] {
        let text = config(output, "1");
        let ended = atmostr(dir.path(), &["run.toml"]);
        assert_eq!(ended.code, Some(2), "{output}: {}", ended.stderr);
        assert!(ended.stderr.contains("output.path") || ended.stderr.contains(output), "{}", ended.stderr);
        assert!(std::fs::read(at("w.bin")).unwrap() == winds, "{output}");
        assert_eq!(std::fs::read_to_string(at("run.toml")).unwrap(), text, "{output}");
    }
    // A tiny interval is an error at once, not an endless list.
    config("out.nc", "1e-12");
    let ended = atmostr(dir.path(), &["run.toml"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("cadence_hours"), "{}", ended.stderr);

    config("out.nc", "1");
    atmostr(dir.path(), &["run.toml"]).succeed();
    let file = std::fs::read(at("out.nc")).unwrap();
    assert_eq!(atmostr(dir.path(), &["plot", "out.nc", "--var", "co2", "-o", "out.nc"]).code, Some(2));
    assert!(std::fs::read(at("out.nc")).unwrap() == file);
    for args in [&["synth", "folder", "--nc", "4"][..], &["inspect", "folder"], &["diff", "folder", "out.nc"]] {
        let ended = atmostr(dir.path(), args);
        assert!(ended.code != Some(0) && ended.stderr.contains("a folder"), "{args:?}: {}", ended.stderr);
    }
    let huge = ["decompose", "--nc", "90", "--ranks", "6", "--levels", "18446744073709551615"];
    assert_eq!(atmostr(dir.path(), &huge).code, Some(2));
}

/// Six hourly windows: the burden falls by exp(−λ t), whatever the cadence; other tracers keep theirs.
#[test]
fn radon_decays_and_nothing_else() {
    let dir = folder();
    let half_life = 330_350.4;
    for cadence in ["window", "substep", "symmetric"] {
        let tracers = format!(
            "[chemistry]\nkind = \"decay\"\nhalf_lives_seconds = {{ plume = {half_life} }}\n\
             decay_cadence = \"{cadence}\"\n{}",
            Config::default().tracers
        );
        run(dir.path(), &Config { tracers: &tracers, ..Config::default() }).succeed();
        let out = dir.path().join("out.nc");
        let totals = values(&out, "plume_total_mass");
        for (hour, total) in totals.iter().enumerate() {
            let expected = totals[0] * (-std::f64::consts::LN_2 / half_life * 3600.0 * hour as f64).exp();
            assert!((total / expected - 1.0).abs() < 1e-13, "{cadence}, hour {hour}: {total} instead of {expected}");
        }
        let uniform = values(&out, "uniform_total_mass");
        assert!(deviation(&uniform, uniform[0]) <= 1e-13);
    }
}
