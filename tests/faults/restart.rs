//! Restart files, and the output of runs in pieces, that cannot be written: the run goes on later from what was there.

use std::path::Path;

use crate::injection::{EIO, ENOSPC, EROFS, Fault, library};
use crate::support::{alone, assert_same, atmostr};
use crate::{assert_told, configure, contents, faulty, prepare};

const GO_ON: [&str; 4] = ["run", "pieces.toml", "--restart", "auto"];

/// Restart files in the folder of a run.
fn restart_files(dir: &Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    contents(&dir.join("pieces.restart")).into_iter().filter(|(name, _)| name.ends_with(".nc")).collect()
}

#[test]
fn a_run_goes_on_after_a_disk_has_failed() {
    let Some(library) = library() else { return };
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir);
    for (split, outputs, part, writer) in [
        ("single", &["pieces.nc"][..], "pieces.nc", "background"),
        ("daily", &["pieces_20000101.nc", "pieces_20000102.nc"], "pieces_2000", "collective"),
    ] {
        for run in ["whole", "pieces"] {
            let output = format!(
                "path = \"{run}.nc\"\nsplit = \"{split}\"\nwriter = \"{writer}\"\n[restart]\nevery = 2\nkeep = 9"
            );
            configure(dir, &format!("{run}.toml"), &output);
        }
        atmostr(dir, &["run", "whole.toml", "--restart", "none"]).succeed();
        let faults = [
            Fault::from("pieces.restart-000000007200", "write", ENOSPC, 1),
            Fault::from("pieces.restart-000000014400", "write", ENOSPC, 2),
            Fault { times: 1, ..Fault::from("pieces.restart-000000014400", "write", EIO, 20) },
            Fault::from("pieces.restart-000000014400", "write", ENOSPC, 30),
            Fault::from("pieces.restart-000000014400", "sync", EIO, 1),
            Fault::from("pieces.restart-000000014400", "rename", EROFS, 1),
            Fault::from("pieces.restart-000000021600", "open", EROFS, 1),
            Fault::from(part, "write", ENOSPC, 3),
            Fault::from(part, "write", EIO, 70),
            Fault::from(part, "sync", EIO, 2),
            Fault::from(part, "rename", EROFS, 1),
            Fault::from("pieces.budget.csv", "write", ENOSPC, 4),
        ];
        for fault in faults {
            for name in contents(dir).into_keys().filter(|name| name.starts_with("pieces") && !name.ends_with(".toml"))
            {
                std::fs::remove_file(dir.join(name)).unwrap();
            }
            let what = format!("{split}, {writer}, {fault:?}");
            // Something is there already: the run stops after its second window and goes on.
            let stopped = atmostr(dir, &[&GO_ON[..], &["--wall-limit", "0"]].concat());
            assert_eq!(stopped.code, Some(3), "{what}\n{}", stopped.stderr);
            let before = restart_files(dir);
            let ended = faulty(library, dir, fault, &GO_ON);
            assert_told(&ended, &[fault.path, fault.reason()], &what);
            let after = restart_files(dir);
            for (name, bytes) in &before {
                assert!(after[name] == *bytes, "{what}: {name} has changed");
            }
            atmostr(dir, &GO_ON).succeed();
            for output in outputs {
                assert_same(dir, &output.replace("pieces", "whole"), output, &what);
            }
            let found = contents(dir);
            assert!(found["pieces.budget.csv"] == found["whole.budget.csv"], "{what}");
            let last = |run: &str| format!("{run}.restart/{run}.restart-000000021600.nc");
            assert_same(dir, &last("whole"), &last("pieces"), &what);
            let left: Vec<_> = found.keys().filter(|name| name.contains(".part")).collect();
            assert!(left.is_empty(), "{what}: {left:?}");
        }
    }
}
