//! FV3's operators put together from the numerics against the original (`fv3_tp_core` of the reference collection): rows of
//! one-dimensional operators and the two-dimensional one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

#[path = "common/classic.rs"]
mod classic;
#[path = "common/fv3.rs"]
mod fv3;

use fv3::{Along, Ends, Field, HALO, faces};

/// The cases: in `ATMOSTR_REFERENCE_DIR`, else beside the repository.
fn folder() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/reference");
    let folder = std::env::var_os("ATMOSTR_REFERENCE_DIR").map_or_else(beside, PathBuf::from).join("fv3_tp_core");
    if !folder.exists() {
        println!("skipped: there is no {}; ATMOSTR_REFERENCE_DIR names the folder of the collection", folder.display());
        return None;
    }
    Some(folder)
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn rows_are_those_of_fv3() {
    let Some(folder) = folder() else { return };
    let all: Value = serde_json::from_str(&std::fs::read_to_string(folder.join("rows_1d.json")).unwrap()).unwrap();
    let mut worst = BTreeMap::<i32, (f64, usize)>::new();
    for case in all["cases"].as_array().unwrap() {
        let (q, courant) = (numbers(&case["q_with_halo"]), numbers(&case["courant_at_interfaces"]));
        assert_eq!(q.len(), courant.len() - 1 + 2 * HALO);
        let widths = case.get("dxa_with_halo").filter(|widths| !widths.is_null()).map(numbers);
        let ends = match case["boundary"].as_str().unwrap() {
            "periodic" => Ends::Plain,
            "cube_edge" => Ends::FaceEdges(widths.as_deref().expect("cube edges have widths")),
            other => panic!("{other}"),
        };
        for (name, expected) in case["flux_value_by_hord"].as_object().unwrap() {
            let hord: i32 = name.parse().unwrap();
            let sensitive = &case["roundoff_sensitive_interfaces_by_hord"][name];
            let is_sensitive = |face: usize| {
                sensitive.as_array().is_some_and(|list| list.iter().any(|x| x.as_u64() == Some(face as u64)))
            };
            let found = faces(hord, &q, &courant, ends);
            let expected = numbers(expected);
            assert_eq!(found.len(), expected.len());
            let of = worst.entry(hord).or_default();
            for (face, (found, expected)) in found.iter().zip(&expected).enumerate() {
                if is_sensitive(face) {
                    continue;
                }
                let error = (found - expected).abs();
                assert!(error <= 1e-14, "{} hord {hord} interface {face}: {found} {expected}", case["id"]);
                *of = (of.0.max(error), of.1 + 1);
            }
        }
    }
    for (hord, (error, count)) in worst {
        println!("hord {hord}: {count} interfaces, largest difference {error:e}");
        assert!(count > 0);
    }
}

#[test]
fn the_two_dimensional_operator_is_that_of_fv3() {
    let Some(folder) = folder() else { return };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("tp2d_") && name.ends_with(".nc")
    });
    files.sort();
    for path in &files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let cube_face = name.starts_with("tp2d_cube_face_");
        let variables = classic::variables(path);
        let field = |name: &str| {
            let (lengths, values) = &variables[name];
            Field::new(lengths[0], lengths[1], values.clone())
        };
        let [q, area] = ["q", "area"].map(field);
        let (crx, xfx, ra_x, dxa) = (field("crx"), field("xfx"), field("ra_x"), field("dxa"));
        let [cry, yfx, ra_y, dya] = ["cry", "yfx", "ra_y", "dya"].map(|name| field(name).turned());
        let x = Along { courant: &crx, flux: &xfx, area_after: &ra_x, width: &dxa };
        let y = Along { courant: &cry, flux: &yfx, area_after: &ra_y, width: &dya };
        let mut compared = 0;
        for (n, hord) in variables["hord"].1.iter().enumerate() {
            let means = fv3::two_dimensional(*hord as i32, &q, &area, &x, &y, cube_face);
            let area_fluxes = [interior(&field("xfx"), [0, HALO]), interior(&field("yfx"), [HALO, 0])];
            let sets =
                [("fx", &means[0], &area_fluxes[0], field("mfx")), ("fy", &means[1], &area_fluxes[1], field("mfy"))];
            for (axis, mean, area_flux, mass_flux) in sets {
                let (_, sensitive) = &variables[&format!("sensitive_{axis}")];
                let (_, by_area) = &variables[&format!("{axis}_area")];
                let (_, by_mass) = &variables[&format!("{axis}_mass")];
                let first = n * mean.values.len();
                for (at, mean) in mean.values.iter().enumerate() {
                    if sensitive[first + at] != 0.0 {
                        continue;
                    }
                    for (found, expected) in [
                        (mean * area_flux.values[at], by_area[first + at]),
                        (mean * mass_flux.values[at], by_mass[first + at]),
                    ] {
                        let error = (found - expected).abs();
                        assert!(error <= 1e-14, "{name} hord {hord} {axis} {at}: {found} {expected}");
                        compared += 1;
                    }
                }
            }
        }
        println!("{name}: {compared} fluxes");
        assert!(compared > 0);
    }
    assert!(!files.is_empty());
}

/// A field without `halo` values at both ends of its axes.
fn interior(field: &Field, halo: [usize; 2]) -> Field {
    let (width, height) = (field.width - 2 * halo[0], field.height - 2 * halo[1]);
    let values = (0..width).flat_map(|x| (0..height).map(move |y| field.at(x + halo[0], y + halo[1])));
    Field::new(width, height, values.collect())
}
