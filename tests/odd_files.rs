//! What every reader and writer must bear: names that no variable can have, dimensions of length 0, results whose place is
//! that of an input, and ends that come too early.

mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::{Config, Ended, alone, atmostr, finish, synth};

const LENGTHS: [(&str, usize); 4] = [("time", 3), ("lev", 4), ("lat", 18), ("lon", 36)];

/// A file with winds, a tracer and a flux, in which one dimension may have length 0.
fn write(path: &Path, empty: Option<&str>) {
    let mut file = netcdf::create(path).unwrap();
    let length = |name: &str| LENGTHS.iter().find(|(known, _)| *known == name).map_or(0, |(_, n)| *n);
    let length = |name: &str| if empty == Some(name) { 0 } else { length(name) };
    let coordinate = |name: &str, n: usize| match name {
        "time" => n as f64,
        "lev" => [1000.0, 700.0, 400.0, 100.0][n],
        "lat" => -85.0 + 10.0 * n as f64,
        _ => 5.0 + 10.0 * n as f64,
    };
    for (name, units) in
        [("time", "days since 2021-12-01"), ("lev", "hPa"), ("lat", "degrees_north"), ("lon", "degrees_east")]
    {
        // The library makes a dimension of length 0 an unlimited one.
        file.add_dimension(name, length(name)).unwrap();
        let mut variable = file.add_variable::<f64>(name, &[name]).unwrap();
        variable.put_attribute("units", units).unwrap();
        let values: Vec<f64> = (0..length(name)).map(|n| coordinate(name, n)).collect();
        if !values.is_empty() {
            variable.put_values(&values, ..).unwrap();
        }
    }
    let all = LENGTHS.map(|(name, _)| name);
    let surface = ["time", "lat", "lon"];
    for (name, units, dims, value) in [
        ("u", "m s-1", &all[..], 5.0),
        ("v", "m s-1", &all, 0.0),
        ("ps", "Pa", &surface, 1e5),
        ("q", "mol mol-1", &all, 4e-4),
        ("flux", "kg m-2 s-1", &surface, 1e-9),
    ] {
        let mut variable = file.add_variable::<f64>(name, dims).unwrap();
        variable.put_attribute("units", units).unwrap();
        let size: usize = dims.iter().map(|dim| length(dim)).product();
        if size > 0 {
            variable.put_values(&vec![value; size], ..).unwrap();
        }
    }
}

/// A text as TOML has it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\0', "\\u0000"))
}

fn fluxes(dir: &Path, config: &str, folder: &str, file: &str, variable: &str) {
    let text = format!(
        "[grid]\nnc = 8\n[output]\nfolder = {}\n[[flux]]\nname = \"co2\"\nfrom_date = 2021-12-01\nuntil_date = 2021-12-02\n\
         kind = \"file\"\nfile = {}\nvariable = {}\n",
        quoted(folder),
        quoted(file),
        quoted(variable)
    );
    std::fs::write(dir.join(config), text).unwrap();
}

fn preprocess(dir: &Path, config: &str, files: &str, wind: &str, output: &str) {
    let text = format!(
        "[source]\nkind = \"gridded\"\nfiles = [{}]\n[source.variables]\nu = {}\n[grid]\nnc = 8\n[vertical]\n\
         levels = \"smooth\"\nn_levels = 4\ntop_pa = 5000\n[output]\n{output}\n",
        quoted(files),
        quoted(wind)
    );
    std::fs::write(dir.join(config), text).unwrap();
}

/// Runs everything that reads variables by name from `file`: winds, tracers and fluxes of these names.
fn read_by_all(dir: &Path, file: &str, cube: &str, wind: &str, tracer: &str, flux: &str) -> Vec<(String, Ended)> {
    let mut ended = Vec::new();
    if !wind.contains('\0') {
        for (file, var) in [(file, wind), (file, tracer), (file, flux), (cube, flux)] {
            for args in [
                &["plot", file, "--var", var, "-o", "map.png"][..],
                &["regrid", file, "--to", "latlon:30x30", "--var", var, "-o", "new.nc"],
                &["regrid", file, "--to", "latlon:30x30", "--amount", var, "-o", "new.nc"],
            ] {
                ended.push((format!("{args:?}"), atmostr(dir, args)));
            }
        }
    }
    fluxes(dir, "fluxes.toml", "out", file, flux);
    ended.push(("prepare-fluxes".into(), atmostr(dir, &["prepare-fluxes", "fluxes.toml"])));
    preprocess(dir, "met.toml", file, wind, "directory = \"out\"");
    ended.push(("preprocess".into(), atmostr(dir, &["preprocess", "met.toml", "--day", "2021-12-01"])));
    let (flux, tracer) = (quoted(flux), quoted(tracer));
    for tracers in [
        format!("[tracers.co2.surface_flux]\nkind = \"file\"\nfile = \"{file}\"\nvariable = {flux}\n"),
        format!("[tracers.co2.surface_flux]\nkind = \"cs_native\"\nfile = \"{cube}\"\nvariable = {flux}\n"),
        format!("[tracers.co2.init]\nkind = \"file\"\nfile = \"{file}\"\nvariable = {tracer}\n"),
        format!(
            "[tracers.co2.init]\nkind = \"cs_native\"\nfile = \"{cube}\"\nvariable = {tracer}\n\
             vertical_order = \"toa_first\"\n"
        ),
    ] {
        Config { tracers: &tracers, ..Config::default() }.write(dir, "run.toml");
        for args in [&["check", "run.toml"][..], &["run.toml"]] {
            ended.push((format!("{args:?}\n{tracers}"), atmostr(dir, args)));
        }
    }
    ended
}

fn winds(dir: &Path) {
    let grid = ["--nc", "8", "--levels", "4", "--windows", "2", "--float", "Float64"];
    synth(dir, "winds.bin", &[&grid[..], &["--start-time", "2021-12-01"]].concat());
}

/// A file on the cubed sphere.
fn cube(dir: &Path) {
    fluxes(dir, "fluxes.toml", ".", "all.nc", "flux");
    atmostr(dir, &["prepare-fluxes", "fluxes.toml"]).succeed();
    std::fs::rename(dir.join("co2_c8.nc"), dir.join("cube.nc")).unwrap();
}

#[test]
fn names_that_no_variable_can_have_are_refused_by_every_reader() {
    let (_alone, dir) = alone();
    winds(dir.path());
    write(&dir.path().join("all.nc"), None);
    cube(dir.path());
    let long = "x".repeat(257);
    for name in ["/u", "/", "//", "./u", "../../x", "u/", "+u/v", &long, "u\0"] {
        for (what, ended) in read_by_all(dir.path(), "all.nc", "cube.nc", name, name, name) {
            let words = &ended.stderr;
            assert!(ended.code == Some(2) && !words.contains("internal error"), "{name:?} {what}\n{words}");
            assert!(words.contains("no variable"), "{name:?} {what}\n{words}");
        }
    }
}

#[test]
fn dimensions_of_length_0_are_refused_by_every_reader() {
    let (_alone, dir) = alone();
    winds(dir.path());
    write(&dir.path().join("all.nc"), None);
    cube(dir.path());
    for (empty, _) in LENGTHS {
        write(&dir.path().join("empty.nc"), Some(empty));
        for (what, ended) in read_by_all(dir.path(), "empty.nc", "empty.nc", "u", "q", "flux") {
            let words = &ended.stderr;
            assert!(!words.contains("internal error"), "{empty} {what}\n{words}");
            // Regridding no record is no fault, and a flux has no level.
            let may_succeed = what.contains("regrid") && empty != "lat" && empty != "lon" || empty == "lev";
            assert!(ended.code == Some(2) || may_succeed && ended.code == Some(0), "{empty} {what}\n{words}");
            let needs_all = what == "preprocess" || what.contains("init");
            assert!(!needs_all || ended.code == Some(2), "{empty} {what}\n{words}");
        }
    }
}

#[test]
fn prepared_files_never_take_the_place_of_what_is_read() {
    let (_alone, dir) = alone();
    let path = |name: &str| dir.path().join(name);
    let unharmed = |name: &str, args: &[&str], words: &[&str]| {
        let before = std::fs::read(path(name)).unwrap();
        atmostr(dir.path(), args).refuse(&[&["would overwrite", name], words].concat());
        assert!(std::fs::read(path(name)).unwrap() == before, "{name} has changed");
    };
    write(&path("co2_c8.nc"), None);
    fluxes(dir.path(), "fluxes.toml", ".", "co2_c8.nc", "flux");
    for more in [&[][..], &["--check"]] {
        unharmed("co2_c8.nc", &[&["prepare-fluxes", "fluxes.toml"], more].concat(), &["output.folder"]);
    }
    std::fs::rename(path("co2_c8.nc"), path("all.nc")).unwrap();
    fluxes(dir.path(), "co2_c8.nc", ".", "all.nc", "flux");
    unharmed("co2_c8.nc", &["prepare-fluxes", "co2_c8.nc"], &["output.folder"]);
    // Of meteorology, with the pattern of a day.
    let output = "directory = \".\"\nfile_pattern = \"{YYYYMMDD}.bin\"";
    let day = |config, day| ["preprocess", config, "--day", day, "--replace"];
    std::fs::rename(path("all.nc"), path("20211201.bin")).unwrap();
    preprocess(dir.path(), "met.toml", "20211201.bin", "u", output);
    unharmed("20211201.bin", &day("met.toml", "2021-12-01"), &["output.file_pattern"]);
    preprocess(dir.path(), "20211202.bin", "20211201.bin", "u", output);
    unharmed("20211202.bin", &day("20211202.bin", "2021-12-02"), &["output.file_pattern"]);
}

/// Files in a folder whose work is not done.
fn unfinished(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with('.')).collect()
}

#[test]
fn a_signal_leaves_no_unfinished_fluxes() {
    let (_alone, dir) = alone();
    write(&dir.path().join("all.nc"), None);
    fluxes(dir.path(), "fluxes.toml", ".", "all.nc", "flux");
    let text = std::fs::read_to_string(dir.path().join("fluxes.toml")).unwrap();
    // Large enough that the work lasts.
    std::fs::write(dir.path().join("fluxes.toml"), text.replace("nc = 8", "nc = 360")).unwrap();
    for signal in ["TERM", "INT", "HUP"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
        command.current_dir(dir.path()).args(["prepare-fluxes", "fluxes.toml"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        while unfinished(dir.path()).is_empty() {
            assert!(child.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_secs(100), "nothing begun");
            std::thread::sleep(Duration::from_millis(2));
        }
        let killed = Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status().unwrap();
        assert!(killed.success());
        assert_eq!(child.wait().unwrap().code(), None, "{signal}");
        assert_eq!(unfinished(dir.path()), [""; 0], "{signal}");
        assert!(!dir.path().join("co2_c360.nc").exists());
    }
}

#[test]
fn a_picture_that_cannot_be_written_leaves_the_old_one() {
    let (_alone, dir) = alone();
    write(&dir.path().join("all.nc"), None);
    atmostr(dir.path(), &["plot", "all.nc", "--var", "flux", "-o", "map.png"]).succeed();
    let before = std::fs::read(dir.path().join("map.png")).unwrap();
    assert!(before.len() > 4096);
    // No file may grow beyond a kilobyte or two.
    let mut limited = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_atmostr");
    limited.args(["-c", "ulimit -f 2; exec \"$0\" plot all.nc --var flux -o map.png", program]);
    let ended = finish(limited, dir.path());
    assert!(ended.code == Some(1) && ended.stderr.contains("map.png"), "{ended:?}");
    assert!(std::fs::read(dir.path().join("map.png")).unwrap() == before);
    assert_eq!(unfinished(dir.path()), [""; 0]);
    let refused = atmostr(dir.path(), &["plot", "all.nc", "--var", "flux", "-o", "no/such.png"]);
    refused.refuse(&["no/such.png", "no folder no", "make it"]);
}

/// The library calls any failure to write "Permission denied" or an error of HDF; the system knows better.
#[test]
fn the_system_says_why_no_more_can_be_written() {
    let (_alone, dir) = alone();
    write(&dir.path().join("all.nc"), None);
    fluxes(dir.path(), "fluxes.toml", "out", "all.nc", "flux");
    for args in [
        "regrid all.nc --to c24 --var q -o new.nc",
        "weights --from latlon:10x10 --to c24 -o new.nc",
        "prepare-fluxes fluxes.toml",
    ] {
        let mut limited = Command::new("sh");
        // With no block at all, messages go through a pipe.
        limited.args(["-c", &format!("ulimit -f 0; exec \"$0\" {args}"), env!("CARGO_BIN_EXE_atmostr")]);
        let output = limited.current_dir(dir.path()).stdin(Stdio::null()).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(1 | 2)), "{args}: {words}");
        assert!(words.contains("File too large"), "{args}: {words}");
        assert_eq!(unfinished(dir.path()), [""; 0], "{args}");
    }
}
