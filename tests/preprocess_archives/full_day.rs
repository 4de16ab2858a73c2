//! A day of MERRA-2 in its full size, 576 × 361 × 72 with all physics, to C90: how long each stage takes and how much memory.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::merra2_files::{Archive, Layout, WAVES, Weather};
use crate::support::alone;
use crate::writer::{Grid, Order, Storage};

/// Most memory that the work may take, GiB.
const MOST_MEMORY: f64 = 6.0;

/// Writes the archive unless it is there from an earlier time.
fn archive(root: &Path) {
    let weather = Weather { layers: 72, ..WAVES };
    let grid = Grid::with_poles(576, 361);
    let order = Order::SurfaceFirst;
    let archive = Archive { root, layout: Layout::GeosChem, order, grid, weather, storage: Storage::Compressed };
    if !archive.path("I3", 1).exists() {
        archive.write(1);
    }
}

/// The largest memory that a process has had so far, GiB.
fn peak(pid: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? / f64::from(1 << 20))
}

/// Needs 3 GB of disk and some minutes: `cargo test --release --test preprocess_archives full_size -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes"]
fn full_size_day_fits_into_memory() {
    let (_guard, _) = alone();
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("merra2_full_day");
    archive(&dir.join("archive"));
    let configuration = "[source]\nkind = \"merra2\"\ndirectory = \"archive\"\ninclude_surface = true\n\
        include_convection = true\ninclude_vdiff_fields = true\n[grid]\nnc = 90\n[output]\ndirectory = \"out\"\n";
    std::fs::write(dir.join("met.toml"), configuration).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_atmostr"))
        .current_dir(&dir)
        .args(["preprocess", "met.toml", "--day", "2021-12-01", "--replace"])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mut most = 0.0f64;
    let status = loop {
        most = peak(child.id()).map_or(most, |now| most.max(now));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    assert!(status.success());
    println!("largest memory {most:.2} GiB");
    assert!(most <= MOST_MEMORY, "{most:.2} GiB");
}
