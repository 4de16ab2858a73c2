//! Snapshot files as other programs see them.

mod output_support;

use std::process::Command;
use std::sync::{Mutex, MutexGuard};

use atmostr::output::Compression;
use output_support::written;

/// A directory, and the guarantee that no other test has a file open: a child process started meanwhile would inherit
/// its descriptor, and with it the lock that keeps readers off.
fn alone() -> (MutexGuard<'static, ()>, tempfile::TempDir) {
    static ALONE: Mutex<()> = Mutex::new(());
    let guard = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    (guard, tempfile::tempdir().unwrap())
}

/// Runs a program if the machine has it; otherwise says so.
fn foreign(program: &str, arguments: &[&str]) -> Option<std::process::Output> {
    match Command::new(program).args(arguments).output() {
        Ok(output) => Some(output),
        Err(error) => {
            println!("skipped: `{program}` cannot be run ({error})");
            None
        }
    }
}

#[test]
fn cdo_reads_times_and_columns() {
    let (_alone, dir) = alone();
    let path = written::<f32>(dir.path(), |_| {});
    let Some(output) = foreign("cdo", &["-s", "sinfon", path.to_str().unwrap()]) else { return };
    let (seen, complaints) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{complaints}");
    for word in ["co2_column_mean", "sf6_total_mass", "2021-12-01 00:00:00", "2021-12-01 03:00:00"] {
        assert!(seen.contains(word), "{word} is missing in {seen}");
    }
    // CDO has no grids of three dimensions: it says so for every cubed-sphere file, those of GEOS included.
    let known = ["5 dimensional variables are not supported", "has too many dimensions (3), skipped"];
    let unknown: Vec<_> = complaints.lines().filter(|l| !known.iter().any(|k| l.contains(k))).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn ncdump_reads_the_header() {
    let (_alone, dir) = alone();
    let path = written::<f32>(dir.path(), |_| {});
    let Some(output) = foreign("ncdump", &["-h", path.to_str().unwrap()]) else { return };
    let seen = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(seen.contains("float co2(time, lev, nf, Ydim, Xdim)"), "{seen}");
}

#[test]
fn xarray_decodes_the_file() {
    let (_alone, dir) = alone();
    // Which interpreter has xarray is a matter of the test machine.
    let python = std::env::var("ATMOSTR_PYTHON").unwrap_or_else(|_| "python3".into());
    let ready = foreign(&python, &["-c", "import xarray, netCDF4"]);
    if !ready.is_some_and(|output| output.status.success()) {
        println!("skipped: `{python}` has no xarray with netCDF4");
        return;
    }
    let path = written::<f32>(dir.path(), |s| s.compression = Compression { level: 1, shuffle: true });
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/check_output.py");
    let output = foreign(&python, &[script, path.to_str().unwrap()]).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
