//! Weights and fields of CDO/YAC (parallels) and TempestRemap (great circles), from the reference collection.

use std::path::{Path, PathBuf};

use atmostr::regrid::{Mesh, Overlap};

use super::meshes::{cube, geos, global, great_circles, worst_row};

/// Folder of the collection: in `ATMOSTR_REFERENCE_DIR`, else beside the repository.
fn folder() -> Option<PathBuf> {
    let set = "conservative_regrid";
    match std::env::var_os("ATMOSTR_REFERENCE_DIR") {
        // Only the small cases are kept with the tests.
        Some(folder) if Path::new(&folder).join(set).exists() => Some(Path::new(&folder).join(set)),
        _ => Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reference").join(set)).filter(|p| p.exists()),
    }
}

/// The mesh that a file name means, e.g. `ll4x5` or `c24`.
fn mesh(name: &str, great_circle_sides: bool) -> Mesh {
    let latlon = match name {
        "ll4x5" => geos(72, 46),
        "ll2x2.5" => geos(144, 91),
        "ll1x1" => global(360, 180),
        _ => return cube(name.strip_prefix('c').and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("grid {name}"))),
    };
    if great_circle_sides { great_circles(latlon) } else { Mesh::LatLon(latlon) }
}

struct Case {
    name: String,
    file: netcdf::File,
    weights: Overlap,
}

impl Case {
    fn values(&self, name: &str) -> Vec<f64> {
        let variable = self.file.variable(name).unwrap_or_else(|| panic!("{}: no {name}", self.name));
        variable.get_values(..).unwrap()
    }
}

/// All cases of the collection.
fn cases() -> Vec<Case> {
    let Some(folder) = folder() else {
        println!("skipped: there is no collection of reference weights; ATMOSTR_REFERENCE_DIR names its folder");
        return Vec::new();
    };
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".nc") else { continue };
        let (sides, grids) = stem.split_once('_').unwrap_or_else(|| panic!("{name}"));
        let (from, to) = grids.split_once("_to_").unwrap_or_else(|| panic!("{name}"));
        let great_circle_sides = sides == "greatcircle";
        let weights = Overlap::new(&mesh(from, great_circle_sides), &mesh(to, great_circle_sides));
        cases.push(Case { name, file: netcdf::open(&path).unwrap(), weights });
    }
    assert!(!cases.is_empty(), "no weights in {}", folder.display());
    cases
}

/// Every weight of the files is found and there are no others. Tolerances of the collection's README; where CDO is
/// known to be off by more (next to the poles in 2x2.5, and by up to 3e-12 in cells of 1x1, both found by quadrature)
/// they are wider.
#[test]
fn weights_of_other_programs() {
    for case in cases() {
        let [sources, targets, expected] = ["src_index", "dst_index", "weight"].map(|name| case.values(name));
        let (weights, name) = (&case.weights, &case.name);
        assert_eq!(weights.len(), expected.len(), "{name}: number of weights");
        let found = (0..weights.dst_areas().len())
            .flat_map(|cell| weights.row(cell).map(move |(at, area)| (cell, at, area / weights.dst_areas()[cell])));
        let mut worst = 0.0f64;
        for (k, (cell, at, weight)) in found.enumerate() {
            assert_eq!((cell, at), (targets[k] as usize, sources[k] as usize), "{name}: weight {k}");
            let absolute = (weight - expected[k]).abs();
            let close = if name.contains("ll2x2.5") {
                absolute <= 1e-12 || absolute <= 3e-9 * weight
            } else if name.contains("to_ll1x1") {
                absolute <= 5e-12
            } else {
                absolute <= 1e-12
            };
            assert!(close, "{name}: {weight} instead of {} from {at} to {cell}", expected[k]);
            worst = worst.max(absolute);
        }
        println!("{name}: {} weights, largest difference {worst:.1e}", expected.len());
    }
}

/// Areas are given in steradian; the relative difference of those next to the poles is that of the files.
#[test]
fn areas_of_other_programs() {
    for case in cases() {
        for (name, areas) in [("src_area", case.weights.src_areas()), ("dst_area", case.weights.dst_areas())] {
            for (k, expected) in case.values(name).into_iter().enumerate() {
                assert!((areas[k] / expected - 1.0).abs() < 1e-12, "{}: {name} {k}: {}", case.name, areas[k]);
            }
        }
    }
}

#[test]
fn sums_are_kept_in_every_case() {
    for case in cases() {
        let rows = worst_row(&case.weights);
        assert!(rows <= 1e-14, "{}: row sums off by {rows:.1e}", case.name);
        let sources = worst_row(&case.weights.transposed());
        assert!(sources <= 2.5e-14, "{}: source sums off by {sources:.1e}", case.name);
        assert!(case.weights.is_global());
    }
}

#[test]
fn fields_of_other_programs() {
    for case in cases() {
        for field in ["constant", "smooth_y22", "cosine_bell", "random"] {
            let source = case.values(&format!("field_{field}"));
            let expected = case.values(&format!("regridded_{field}"));
            let mut found = vec![0.0; expected.len()];
            let coverage = case.weights.intensive(&source, &mut found);
            assert_eq!(coverage.uncovered, 0);
            let scale = source.iter().fold(0.0f64, |a, b| a.max(b.abs()));
            let tolerance = if case.name.contains("ll2x2.5") { 3e-9 } else { 5e-12 };
            for (cell, (a, b)) in found.iter().zip(&expected).enumerate() {
                assert!((a - b).abs() <= tolerance * scale, "{}: {field} in {cell}: {a}, not {b}", case.name);
            }
            if field == "constant" {
                assert!(found.iter().all(|value| (value / source[0] - 1.0).abs() <= 1e-14));
            }
        }
    }
}
