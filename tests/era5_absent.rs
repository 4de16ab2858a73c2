//! ERA5 asked of a program that was built without GRIB.
#![cfg(not(feature = "grib"))]

#[path = "support/mod.rs"]
mod support;

use support::{alone, atmostr};

#[test]
fn the_feature_is_named() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    let text = "[source]\nkind = \"era5\"\ndirectory = \".\"\n[grid]\nnc = 6\n[output]\ndirectory = \"out\"\n";
    std::fs::write(dir.join("met.toml"), text).unwrap();
    let ended = atmostr(dir, &["preprocess", "met.toml", "--day", "2021-12-01"]);
    ended.refuse(&["met.toml", "built without GRIB", "libeccodes-dev", "--features grib"]);
}
