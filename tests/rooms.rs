//! Dependencies between the rooms of the house point one way, and numerics know neither messages nor files.

use std::path::{Path, PathBuf};

/// Rooms in the order of their dependencies: each may use itself and those before it.
const ROOMS: [&str; 24] = [
    "interrupt",
    "files",
    "grid",
    "regrid",
    "gridded",
    "spectral",
    "state",
    "device",
    "comm",
    "timers",
    "met",
    "closures",
    "sources",
    "preprocess",
    "operators",
    "diagnostics",
    "output",
    "restart",
    "initial",
    "config",
    "model",
    "bench",
    "verify",
    "cli",
];

fn sources(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_file() {
        found.push(path.to_path_buf());
    } else if let Ok(entries) = std::fs::read_dir(path) {
        entries.for_each(|entry| sources(&entry.unwrap().path(), found));
    }
}

fn texts(path: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(path), &mut found);
    found.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_room_uses_earlier_rooms_only() {
    for (n, room) in ROOMS.iter().enumerate() {
        let files = [texts(&format!("src/{room}")), texts(&format!("src/{room}.rs"))].concat();
        assert!(!files.is_empty(), "no room {room}");
        for (path, text) in files {
            for later in &ROOMS[n + 1..] {
                let used = text.contains(&format!("crate::{later}::"));
                assert!(!used, "{} uses the later room {later}", path.display());
            }
        }
    }
}

#[test]
fn every_room_is_in_the_order() {
    let (_, library) = &texts("src/lib.rs")[0];
    let named = library.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let unknown: Vec<_> = named.filter(|room| !ROOMS.contains(room)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn numerics_know_neither_messages_nor_files() {
    let rooms =
        ["kernels/src/columns", "kernels/src/cpu", "kernels/src/numerics", "kernels/src/scheme", "decomposition/src"];
    for (path, text) in rooms.into_iter().flat_map(texts) {
        for foreign in ["mpi::", "netcdf", "std::fs", "opencl", "cuda"] {
            assert!(!text.contains(foreign), "{} names {foreign}", path.display());
        }
    }
}

#[test]
fn devices_know_no_scheme() {
    for (path, text) in texts("src/device") {
        for foreign in ["Scheme", "scheme", "upwind", "ppm", "slopes"] {
            assert!(!text.contains(foreign), "{} names {foreign}", path.display());
        }
    }
}

/// The library reads zeros past the end of a truncated file, so what is read is opened where that is checked.
#[test]
fn netcdf_files_are_opened_for_reading_in_one_place() {
    for (path, text) in texts("src") {
        let place = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().to_string_lossy().into_owned();
        let allowed = place == "src/files/reading.rs" || place.contains("tests");
        let opened =
            ["netcdf::open(", "netcdf::open_with(", "netcdf::open_mem("].iter().any(|call| text.contains(call));
        assert!(allowed || !opened, "{place} opens files by itself; `files::open_netcdf` does it");
    }
}
