//! Output that cannot be written.

use crate::injection::{EIO, ENOSPC, Fault, library};
use crate::support::{alone, assert_same, atmostr};
use crate::{assert_told, configure, contents, faulty, prepare, results};

const WRITERS: [&str; 2] = ["background", "collective"];

/// Wherever a write fails, the file and the reason are told, and a result of an earlier run stays.
#[test]
fn disks_that_fail_end_the_run_and_spare_earlier_files() {
    let Some(library) = library() else { return };
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir);
    let mut told = 0;
    for writer in WRITERS {
        for (split, file) in [("single", "out.nc"), ("daily", "out_20000101.nc")] {
            configure(dir, "run.toml", &format!("path = \"out.nc\"\nsplit = \"{split}\"\nwriter = \"{writer}\""));
            atmostr(dir, &["run.toml"]).succeed();
            let before = results(dir);
            let faults = [
                Fault::from(file, "write", ENOSPC, 1),
                Fault::from(file, "write", ENOSPC, 2),
                Fault::from(file, "write", EIO, 25),
                Fault { times: 1, ..Fault::from(file, "write", ENOSPC, 40) },
                Fault::from(file, "sync", EIO, 1),
                Fault::from(file, "rename", EIO, 1),
                Fault::from(file, "open", EIO, 1),
                Fault::from("out.budget.csv", "write", ENOSPC, 2),
                Fault::from("out.budget.csv", "sync", EIO, 1),
                Fault::from("out.budget.csv", "rename", EIO, 1),
            ];
            for fault in faults {
                let what = format!("{writer}, {split}, {fault:?}");
                let ended = faulty(library, dir, fault, &["run.toml"]);
                assert_told(&ended, &[fault.path, fault.reason()], &what);
                let after = results(dir);
                for (name, bytes) in &before {
                    // The files of one day may be complete when those of the next fail, or the table of budgets.
                    if !name.ends_with(".nc") || fault.path == file {
                        assert!(after[name] == *bytes, "{what}: {name} has changed");
                    }
                }
                assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>(), "{what}");
                told += 1;
            }
        }
    }
    assert_eq!(told, 40);
}

/// Calls that write less than they were given go on, with the same result.
#[test]
fn short_writes_go_on() {
    let Some(library) = library() else { return };
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir);
    for writer in WRITERS {
        let rest = format!("writer = \"{writer}\"\n[restart]\nevery = 2\nkeep = 9");
        configure(dir, "whole.toml", &format!("path = \"whole.nc\"\n{rest}"));
        configure(dir, "short.toml", &format!("path = \"short.nc\"\n{rest}"));
        atmostr(dir, &["run", "whole.toml", "--restart", "none"]).succeed();
        let fault = Fault::from("short.", "write", "short", 1);
        faulty(library, dir, fault, &["run", "short.toml", "--restart", "none"]).succeed();
        assert_same(dir, "whole.nc", "short.nc", writer);
        for hour in [2, 4, 6] {
            let name = |run: &str| format!("{run}.restart/{run}.restart-{:012}.nc", 3600 * hour);
            assert_same(dir, &name("whole"), &name("short"), writer);
        }
        let found = contents(dir);
        assert!(found["whole.budget.csv"] == found["short.budget.csv"], "{writer}");
    }
}
