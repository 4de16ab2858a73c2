//! Transport files that cannot be read.

use crate::injection::{EIO, Fault, library};
use crate::support::{alone, assert_same, atmostr};
use crate::{assert_told, configure, faulty, prepare, results};

#[test]
fn reads_that_fail_for_a_while_are_tried_again() {
    let Some(library) = library() else { return };
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir);
    for name in ["whole", "again"] {
        configure(dir, &format!("{name}.toml"), &format!("path = \"{name}.nc\""));
    }
    atmostr(dir, &["whole.toml"]).succeed();
    let eintr_estale_eagain_etimedout = ["4", "116", "11", "110"];
    for error in [EIO].into_iter().chain(eintr_estale_eagain_etimedout) {
        for first in [1, 100] {
            let fault = Fault { times: 2, ..Fault::from("winds_20000102.bin", "read", error, first) };
            let ended = faulty(library, dir, fault, &["again.toml"]).succeed();
            let tried =
                ended.stderr.lines().filter(|line| line.contains("winds_20000102.bin") && line.contains("tried again"));
            assert_eq!(tried.count(), 2, "{fault:?}\n{}", ended.stderr);
            assert_same(dir, "whole.nc", "again.nc", error);
        }
    }
    faulty(library, dir, Fault::from("winds_", "read", "short", 1), &["again.toml"]).succeed();
    assert_same(dir, "whole.nc", "again.nc", "short reads");
}

#[test]
fn reads_that_always_fail_are_told_with_their_window() {
    let Some(library) = library() else { return };
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir);
    configure(dir, "run.toml", "path = \"out.nc\"");
    atmostr(dir, &["run.toml"]).succeed();
    let before = results(dir);
    let reason = "Input/output error";
    let header = faulty(library, dir, Fault::from("winds_20000102.bin", "read", EIO, 1), &["run.toml"]);
    assert_told(&header, &["winds_20000102.bin", "cannot read the header", reason], "header");
    let first = faulty(library, dir, Fault::from("winds_20000102.bin", "read", EIO, 20), &["run.toml"]);
    assert_told(&first, &["winds_20000102.bin: window 1 cannot be read", reason, "5 times"], "first window");
    let refused = faulty(library, dir, Fault::from("winds_20000102.bin", "read", "13", 20), &["run.toml"]);
    assert_told(&refused, &["winds_20000102.bin: window 1 cannot be read", "Permission denied"], "refused");
    let absent = faulty(library, dir, Fault::from("winds_20000101.bin", "open", EIO, 1), &["run.toml"]);
    assert_told(&absent, &["winds_20000101.bin", "cannot open", reason], "open");
    assert!(results(dir) == before, "earlier results stay");
}
