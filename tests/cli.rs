//! The command line as a user meets it: outputs, exit codes, and the ready configurations.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use kernels::device::{Dialect, GroupShapes, KernelName, KernelSet, Precision, program};
use kernels::scheme::{Scheme, SlopesLimiter};

fn atmostr(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("atmostr").unwrap();
    command.current_dir(dir).env_remove("RUST_BACKTRACE").args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Standard output of a command that must succeed.
fn stdout_of(dir: &Path, args: &[&str]) -> String {
    let output = atmostr(dir, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}\n{}", text(&output.stderr));
    text(&output.stdout)
}

/// Exit code and standard error of a command.
fn failure(dir: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = atmostr(dir, args);
    (output.status.code(), text(&output.stderr))
}

/// Every file in `configs/` is valid once the transport files that its first lines tell how to make are there.
#[test]
fn every_ready_configuration_is_valid() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("met")).unwrap();
    for day in ["01", "02"] {
        let (out, start) = (format!("met/winds_202112{day}.bin"), format!("2021-12-{day}"));
        stdout_of(dir.path(), &["synth", &out, "--nc", "4", "--windows", "24", "--start-time", &start]);
    }
    let configs = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    let mut count = 0;
    for entry in std::fs::read_dir(configs).unwrap() {
        let path = entry.unwrap().path();
        // Folders hold configurations for archives, which other tests read.
        if path.is_dir() {
            continue;
        }
        let copy = dir.path().join(path.file_name().unwrap());
        std::fs::copy(&path, &copy).unwrap();
        let name = copy.to_str().unwrap();
        let out = stdout_of(dir.path(), &["check", name]);
        assert!(out.contains("the configuration is valid"), "{out}");
        // What is explained is itself a configuration with the same meaning.
        let explained = stdout_of(dir.path(), &["check", "--explain", name]);
        let again = dir.path().join("explained.toml");
        std::fs::write(&again, explained).unwrap();
        stdout_of(dir.path(), &["check", again.to_str().unwrap()]);
        count += 1;
    }
    assert!(count >= 4);
}

#[test]
fn a_bad_configuration_reports_everything_and_exits_with_2() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("bad.toml"), "[advection]\nsheme = \"ppm\"\n[tracers.co2]\nkind = \"uniform\"\n")
        .unwrap();
    let (code, stderr) = failure(dir.path(), &["check", "bad.toml"]);
    assert_eq!(code, Some(2));
    for part in ["bad.toml:2:1: error: unknown key `sheme`", "did you mean `scheme`", "[input]", "3 errors"] {
        assert!(stderr.contains(part), "{part} not in\n{stderr}");
    }
    assert!(!stderr.contains('\u{1b}'), "no colours in a pipe");
    let (code, json) = failure(dir.path(), &["--log", "json", "check", "bad.toml"]);
    assert_eq!((code, json.lines().count()), (Some(2), 3), "{json}");
    assert_eq!(failure(dir.path(), &["check", "absent.toml"]).0, Some(2));
    assert_eq!(failure(dir.path(), &["chek", "bad.toml"]).0, Some(2));
    assert_eq!(failure(dir.path(), &[]).0, Some(2));
}

#[test]
fn winds_are_made_and_inspected() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    let out = stdout_of(d, &["synth", "w.bin", "--nc", "6", "--levels", "3", "--windows", "2", "--float", "float64"]);
    assert!(out.contains("w.bin: C6, 3 levels, 2 windows of 3600 s"), "{out}");
    let report = stdout_of(d, &["inspect", "w.bin", "--stats"]);
    assert!(report.contains("C6") && report.contains("Float64"), "{report}");
    assert_eq!(
        report.lines().filter(|l| l.trim_start().starts_with("2  ")).count(),
        6,
        "sections of window 2\n{report}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&stdout_of(d, &["inspect", "w.bin", "--stats", "--json"])).unwrap();
    assert_eq!((&json["nc"], &json["nwindow"]), (&6.into(), &2.into()));
    assert!(json["stats"].as_array().is_some_and(|s| !s.is_empty()));

    let bytes = std::fs::read(d.join("w.bin")).unwrap();
    std::fs::write(d.join("cut.bin"), &bytes[..bytes.len() - 1]).unwrap();
    let (code, stderr) = failure(d, &["inspect", "cut.bin"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("truncated"), "{stderr}");
    assert_eq!(failure(d, &["inspect", "absent.bin"]).0, Some(2));
    let (code, stderr) = failure(d, &["synth", "x.bin", "--nc", "6", "--flow", "hadley", "--physics", "all"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert_eq!(failure(d, &["synth", "x.bin", "--nc", "6", "--flow", "storm"]).0, Some(2));
    std::fs::write(d.join("file"), "x").unwrap();
    for folder in ["no/such/folder", "file", "/proc"] {
        let target = format!("{folder}/x.bin");
        let (code, stderr) = failure(d, &["synth", &target, "--nc", "4", "--windows", "1"]);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.starts_with(&format!("error: {target}: cannot ")), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[test]
fn what_does_not_fit_on_the_disk_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    // About 4 EB: 5 fields of 6·5760² cells, 1000 layers and 4 bytes in each of 1 000 000 windows.
    let (code, stderr) = failure(d, &["synth", "x.bin", "--nc", "5760", "--levels", "1000", "--windows", "1000000"]);
    assert_eq!((code, stderr.lines().count()), (Some(2), 1), "{stderr}");
    assert!(stderr.contains("x.bin: the file does not fit on its disk: 39"), "{stderr}");
    assert!(stderr.contains(" TB are needed, ") && stderr.trim_end().ends_with(" are free"), "{stderr}");
    let text = "[input.synthetic]\nnc = 5760\nlevels = 1000\nwindows = 1000000\n[advection]\nscheme = \"upwind\"\n\
                [tracers.co2]\n[output]\npath = \"o.nc\"\nhours = [0]\n";
    std::fs::write(d.join("run.toml"), text).unwrap();
    let (code, stderr) = failure(d, &["run", "run.toml"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("run.toml:9:1: error: the output of the run does not fit on the disk of"), "{stderr}");
    assert_eq!(std::fs::read_dir(d).unwrap().count(), 1, "only the configuration is there");
}

#[test]
fn odd_values_are_refused_before_any_work() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    let synthetic = "[input.synthetic]\nnc = 4\nlevels = 2\nwindows = 1\n[advection]\nscheme = \"upwind\"\n";
    for (rest, parts) in [
        ("[tracers.co2]\nbackground = 1e308", ["run.toml:8:", "from -1 to 1 (mol/mol)"]),
        ("[tracers.co2]\nbackground = 400", ["run.toml:8:", "400 ppm is 4e-4"]),
        ("[tracers.co2]\ninit = { kind = \"latitude_step\", north_value = -1.01 }", ["run.toml:8:", "mol/mol"]),
        ("[tracers.co2]\n[architecture]\nthreads = 65536", ["run.toml:9:", "from 1 to 1024"]),
        ("[tracers.co2]\n[output]\nhours = [0]\npath = \"a\\u0000b.nc\"", ["run.toml:10:", "character NUL"]),
    ] {
        std::fs::write(d.join("run.toml"), format!("{synthetic}{rest}\n")).unwrap();
        let (code, stderr) = failure(d, &["run", "run.toml"]);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(parts.iter().all(|p| stderr.contains(p)) && stderr.contains("1 error in"), "{stderr}");
        assert_eq!(std::fs::read_dir(d).unwrap().count(), 1, "only the configuration is there");
    }
}

#[test]
fn errors_of_the_command_line_are_json_if_that_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    for args in [&["--log", "json", "chek"][..], &["synth", "x.bin", "--nc", "ten", "--log=json"]] {
        let (code, stderr) = failure(dir.path(), args);
        assert_eq!((code, stderr.lines().count()), (Some(2), 1), "{stderr}");
        let event: serde_json::Value = serde_json::from_str(&stderr).unwrap();
        assert_eq!(event["event"], "error");
        assert!(event["message"].as_str().is_some_and(|m| m.contains("chek") || m.contains("ten")), "{event}");
    }
    assert!(failure(dir.path(), &["chek"]).1.starts_with("error: "));
}

#[test]
fn files_of_another_kind_are_named_as_such() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    netcdf::create(d.join("a.nc")).unwrap();
    netcdf::create_with(d.join("classic.nc"), netcdf::Options::empty()).unwrap();
    std::fs::write(d.join("text.nc"), "no netCDF\n").unwrap();
    for name in ["a.nc", "classic.nc"] {
        let (code, stderr) = failure(d, &["inspect", name]);
        assert_eq!((code, stderr.lines().count()), (Some(2), 1), "{stderr}");
        assert!(stderr.contains("this is a NetCDF file") && stderr.contains("ncdump"), "{stderr}");
    }
    // The libraries below keep their own messages to themselves.
    for args in [&["diff", "a.nc", "text.nc"][..], &["plot", "text.nc", "--var", "v", "-o", "x.png"]] {
        let (code, stderr) = failure(d, args);
        assert_eq!((code, stderr.lines().count()), (Some(2), 1), "{stderr}");
        assert!(stderr.starts_with("error: text.nc: cannot be opened as NetCDF: "), "{stderr}");
    }
}

#[test]
fn layouts_are_shown() {
    let dir = tempfile::tempdir().unwrap();
    let out = stdout_of(dir.path(), &["decompose", "--nc", "90", "--ranks", "24"]);
    assert!(out.contains("2 x 2 per panel, 24 in all"), "{out}");
    assert!(out.lines().any(|l| l.trim_start().starts_with("23  P6 (46,46) 45×45")), "{out}");
    let json = stdout_of(dir.path(), &["decompose", "--nc", "90", "--ranks", "4", "--tiles", "2,1", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["tiles"].as_array().map(Vec::len), Some(12));
    let (code, stderr) = failure(dir.path(), &["decompose", "--nc", "6", "--ranks", "1000"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("largest usable number"), "{stderr}");
}

#[test]
fn kernels_are_listed_and_printed() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    let list = stdout_of(d, &["kernels", "--nc", "180"]);
    let row = |name: &str| list.lines().find(|l| l.starts_with(name)).unwrap_or_else(|| panic!("{name}\n{list}"));
    for kernel in KernelName::ALL {
        assert!(row(&format!("{} ", kernel.name())).split_whitespace().count() == 4, "{list}");
    }
    // 180 cells and two neighbours, in units of 32.
    assert_eq!(row("sweep_x ").split_whitespace().collect::<Vec<_>>(), ["sweep_x", "192", "192x2", "192"]);

    let options = ["--scheme", "slopes", "--limiter", "positivity", "--float", "float64", "--nc", "24"];
    for (kind, compiler_option) in [("cuda", "--fmad=false"), ("opencl", "-cl-std=CL1.2")] {
        let text = stdout_of(d, &[&["kernels", "--emit", kind], &options[..]].concat());
        let dialect = if kind == "cuda" { Dialect::Cuda } else { Dialect::OpenCl };
        let scheme = Scheme::Slopes(SlopesLimiter::Positivity);
        let shapes = GroupShapes::usual(dialect, 24);
        let program = program(Precision::Float64, scheme, &shapes, &KernelSet::transport());
        let comment = text.strip_suffix(&program).expect("the text that a run compiles");
        assert!(comment.starts_with("/* ") && comment.ends_with(". */\n"), "{comment}");
        assert!(comment.contains("slopes positivity, Float64") && comment.contains(compiler_option), "{comment}");
    }
    let metal = stdout_of(d, &["kernels", "--emit", "metal"]);
    assert!(metal.contains("ppm cw84, Float32") && metal.contains("mathMode = safe"), "{metal}");
    assert!(metal.contains("#define REAL float\n"));
    for (options, part) in [
        (&["--emit", "metal", "--float", "Float64"][..], "Metal has no double precision"),
        (&["--emit", "cuda", "--scheme", "upwind", "--limiter", "cw84"], "scheme upwind has no limiter"),
        (&["--emit", "cuda", "--scheme", "slopes", "--limiter", "cw84"], "there are none, monotone, positivity"),
        (&["--limiter", "cw84"], "--emit"),
        (&["--emit", "vulkan"], "vulkan"),
    ] {
        let (code, stderr) = failure(d, &[&["kernels"], options].concat());
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(part), "{stderr}");
    }
}

#[test]
fn files_are_compared_by_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    for (name, value) in [("a.nc", 1.0), ("b.nc", 1.0), ("c.nc", 2.0)] {
        let mut file = netcdf::create(d.join(name)).unwrap();
        file.add_dimension("x", 1).unwrap();
        file.add_variable::<f64>("v", &["x"]).unwrap().put_values(&[value], ..).unwrap();
    }
    assert!(stdout_of(d, &["diff", "a.nc", "b.nc"]).contains("no differences"));
    let output = atmostr(d, &["diff", "a.nc", "c.nc"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("variable `v`: 1 of 1 values differ"));
    assert_eq!(failure(d, &["diff", "a.nc", "absent.nc"]).0, Some(2));
    assert_eq!(failure(d, &["plot", "absent.nc", "--var", "v", "-o", "x.png"]).0, Some(2));
    assert_eq!(failure(d, &["plot", "a.nc", "--var", "v", "-o", "x.png"]).0, Some(2), "no cubed sphere");
}

#[test]
fn help_teaches() {
    let dir = tempfile::tempdir().unwrap();
    let help = stdout_of(dir.path(), &["--help"]);
    for part in ["Examples:", "Exit codes:", "atmostr check run.toml", "NO_COLOR"] {
        assert!(help.contains(part), "{part} not in\n{help}");
    }
    assert!(stdout_of(dir.path(), &["check", "--help"]).contains("--explain"));
    let keys = stdout_of(dir.path(), &["config-keys"]);
    assert!(keys.contains("## `[advection]`") && keys.contains("`huynh_pd`"), "{keys}");
}
