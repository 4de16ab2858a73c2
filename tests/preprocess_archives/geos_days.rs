//! Whole days of GEOS-IT and GEOS-FP through the program.

use std::path::Path;

use atmostr::grid::constants::GRAVITY;
use atmostr::grid::vector::{add, cross, dot, normalise, scale, subtract};
use atmostr::met::{Section, TransportFile};
use decomposition::Panel;

use crate::checks::{passes, told, values};
use crate::geos_files::{Air, Archive, LAYERS, NC, Physics, Product, Weather, speed};
use crate::support::{alone, atmostr};
use crate::writer::{geos, stored};

/// A configuration with further lines in `[source]` and at the end.
pub fn configuration(product: Product, nc: usize, source: &str, rest: &str) -> String {
    let kind = if product == Product::It { "geos_it" } else { "geos_fp" };
    let numerics = if rest.contains("[numerics]") { "" } else { "[numerics]\nfloat_type = \"Float64\"\n" };
    format!(
        "[source]\nkind = \"{kind}\"\ndirectory = \"archive\"\nsource_nc = {NC}\n{source}\n[grid]\nnc = {nc}\n[vertical]\n\
         levels = \"smooth\"\nn_levels = {LAYERS}\ntop_pa = 1000\n[output]\ndirectory = \"out\"\n\
         file_pattern = \"{{YYYYMMDD}}.bin\"\n{numerics}{rest}"
    )
}

pub const PHYSICS: &str = "include_surface = true\ninclude_convection = true";
const DAY: [&str; 4] = ["preprocess", "met.toml", "--day", "2021-12-01"];

fn prepare(dir: &Path, archive: &Archive<'_>, days: usize, text: &str) {
    archive.write(days);
    std::fs::write(dir.join("met.toml"), text).unwrap();
}

/// Two days of GEOS-IT with all physics, on the archive's cells and on blocks of four: checks pass, days follow each other, a
/// day that is there is left.
#[test]
fn days_of_geos_it() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    let root = dir.join("archive");
    let source = format!("{PHYSICS}\ninclude_vdiff_fields = true");
    prepare(dir, &Archive::new(&root, Product::It, Weather::Waves), 2, &configuration(Product::It, NC, &source, ""));
    let range = ["preprocess", "met.toml", "--start", "2021-12-01", "--end", "2021-12-02"];
    atmostr(dir, &DAY).succeed();
    let ended = atmostr(dir, &range).succeed();
    assert_eq!(ended.count("already there"), 1, "{}", ended.stderr);
    let file = passes(dir, "20211201", Some("20211202"));
    for (key, expected) in [
        ("source_type", "geos_it"),
        ("winds_collection", "CTM_A1"),
        ("geos_cs_resolution_strategy", "identity"),
        ("geos_mass_endpoint", "dry_endpoint_global_mean_pinned"),
        ("geos_cm_closure", "endpoint"),
    ] {
        assert_eq!(told(&file, key), expected, "{key}");
    }
    assert_eq!((told(&file, "source_Nc"), told(&file, "source_steps_per_window")), (NC.into(), 8.0.into()));
    for section in [Section::Pblh, Section::Cmfmc, Section::Dtrain, Section::VdiffU, Section::VdiffQv] {
        assert!(file.header().has(section), "{section:?}");
    }
    assert!(!file.header().has(Section::CmfmcCloudBase));
    std::fs::write(dir.join("met.toml"), configuration(Product::It, NC / 2, &source, "")).unwrap();
    atmostr(dir, &DAY).refuse(&["20211201.bin", "another configuration"]);
    atmostr(dir, &[&range[..], &["--replace"]].concat()).succeed();
    let file = passes(dir, "20211201", Some("20211202"));
    assert_eq!(told(&file, "geos_cs_resolution_strategy"), "nested_block_coarsen_2x2");
    assert_eq!(file.header().nc(), NC / 2);
}

/// A day of GEOS-FP in single precision, with physics from longitudes and latitudes and from the cube.
#[test]
fn days_of_geos_fp() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    let root = dir.join("archive");
    let archive = Archive::new(&root, Product::Fp, Weather::Waves);
    let numerics = "[numerics]\nfloat_type = \"Float32\"\n";
    prepare(dir, &archive, 1, &configuration(Product::Fp, NC / 2, PHYSICS, numerics));
    atmostr(dir, &DAY).succeed();
    let latlon = passes(dir, "20211201", None);
    assert_eq!(told(&latlon, "winds_collection"), "tavg_1hr_ctm");
    for collection in ["A1", "A3mstE", "A3dyn"] {
        std::fs::remove_file(archive.path(collection, 0)).unwrap();
    }
    Archive { physics: Physics::Cube, ..archive }.write_physics(0);
    atmostr(dir, &[&DAY[..], &["--replace"]].concat()).succeed();
    let cube = passes(dir, "20211201", None);
    assert_eq!(values(&cube, 5, Section::FluxX), values(&latlon, 5, Section::FluxX));
    for section in [Section::Pblh, Section::Cmfmc, Section::Dtrain] {
        let (a, b) = (values(&cube, 5, section), values(&latlon, 5, section));
        let largest = a.iter().fold(0.0f64, |x, v| x.max(v.abs()));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 0.2 * largest), "{section:?}");
        assert_ne!(a, b);
    }
}

/// A file of the steady flow with `n` substeps in every window.
fn steady(dir: &Path, n: u32) -> TransportFile {
    let rest = format!(
        "[numerics]\nfloat_type = \"Float64\"\nsubstep_schedule = \"constant\"\nmin_steps_per_window = {n}\n[fluxes]\n\
         balance_mode = \"none\"\n[mass_fix]\nmode = \"none\"\n"
    );
    std::fs::write(dir.join("met.toml"), configuration(Product::It, NC, "", &rest)).unwrap();
    atmostr(dir, &[&DAY[..], &["--replace"]].concat()).succeed();
    passes(dir, "20211201", None)
}

/// Spec 40 §8, flux of GEOS: 450/(2 g) = 22.943614792 times MFXC/450 for eight substeps; 4, 8 and 16 move the same air. Pitfall
/// T40-1: the wind that moves it is the one that made it.
#[test]
fn substeps_share_the_transport_of_an_hour() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    let root = dir.join("archive");
    Archive::new(&root, Product::It, Weather::Steady).write(1);
    let air = Air::new(Weather::Steady, NC);
    let flux_scale = 450.0 / (2.0 * GRAVITY);
    assert!((flux_scale - 22.943_614_792f64).abs() < 5e-10, "{flux_scale}");
    let fluxes = |file: &TransportFile| (values(file, 3, Section::FluxX), values(file, 3, Section::FluxY));
    let eight = fluxes(&steady(dir, 8));
    let width = NC + 1;
    for c in 0..6 * NC * NC {
        let (panel, j, i) = (c / (NC * NC), c / NC % NC, c % NC);
        for k in 0..LAYERS {
            let block = (panel * LAYERS + k) * NC * width;
            for (axis, found) in
                [eight.0[block + j * width + i + 1], eight.1[block + (j + 1) * NC + i]].into_iter().enumerate()
            {
                let expected = stored(air.transport(axis, 3, k, c)) / 450.0 * flux_scale;
                assert!((found - expected).abs() <= 1e-14 * 1e9f64.max(expected.abs()), "{found} {expected}");
            }
        }
    }
    for n in [4, 16] {
        let others = fluxes(&steady(dir, n));
        for (a, b) in eight.0.iter().chain(&eight.1).zip(others.0.iter().chain(&others.1)) {
            let (eight, other) = (a * 16.0, b * 2.0 * f64::from(n));
            assert!((eight - other).abs() <= 1e-14 * eight.abs(), "{n}: {eight} {other}");
        }
    }
    // Wind through the western faces: am·2n·g/(3600 s·Δp·L) against the rotation about the axis of the flow.
    let (grid, axis) = (geos(NC), [0.48, -0.36, 0.8]);
    for panel in Panel::ALL {
        for (i, j) in [(2, 3), (4, 4), (6, 1)] {
            let (a, b) = (grid.corner(panel, i, j), grid.corner(panel, i, j + 1));
            let across = subtract(grid.center(panel, i, j), grid.center(panel, i - 1, j));
            let (middle, normal) = (normalise(add(a, b)), normalise(cross(a, b)));
            let normal = scale(normal, dot(normal, across).signum());
            let (k, thickness) = (1, 16_000.0);
            let am = eight.0[(panel.index() * LAYERS + k) * NC * width + j * width + i];
            let wind = am * 16.0 * GRAVITY / (3600.0 * thickness * grid.face_length_x(i, j));
            let equator = speed(k, thickness);
            let expected = equator * dot(cross(axis, middle), normal);
            assert!((wind - expected).abs() < 0.01 * equator, "{panel} ({i}, {j}): {wind} {expected}");
        }
    }
}
