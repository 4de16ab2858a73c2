//! The configurations that come with the program.

use std::path::Path;
use std::process::Command;

use crate::support::{alone, finish};

/// Each is accepted, and what it misses is its archive.
#[test]
fn shipped_configurations_ask_for_their_archives() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    std::fs::create_dir(dir.join("archive")).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/met");
    for (name, file) in [
        ("merra2_c90", "MERRA2.20220701.I3.05x0625.nc4"),
        ("geosit_c180", "GEOSIT.20220701.CTM_I1.C180.nc"),
        ("geosfp_c720_to_c180", "GEOS.fp.asm.tavg_1hr_ctm_c0720_v72.20220701_0030.V01.nc4"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
        command.arg("preprocess").arg(folder.join(format!("{name}.toml"))).args(["--day", "2022-07-01"]);
        for variable in ["MERRA2", "GEOSIT", "GEOSFP", "PHYSICS"] {
            command.env(variable, dir.join("archive"));
        }
        command.env("OUT", dir.join("out"));
        finish(command, dir).refuse(&["2022-07-01", file, "fetch it"]);
    }
}
