//! Columns computed by TM5 and GEOS-Chem; the folders' own descriptions say how.

use std::path::{Path, PathBuf};
use std::slice::from_ref;

use kernels::columns::Ledger;
use kernels::columns::convection::cmfmc::{
    BaseExchange, CloudBase, CmfmcOptions, Negative, Update, largest_courant, substeps,
};
use kernels::columns::convection::rates::cloud_base_from_rain;
use kernels::columns::convection::tm5::{Factors, LowerPart, Solve, Tm5, Tm5Options, cloud_indices};
use serde_json::Value;

use crate::cmfmc::Plumes;
use crate::fixtures::{Clouds, Column, pack, total, unpack};
use crate::tm5::matrix;

/// A file of the reference folder: `ATMOSTR_REFERENCE_DIR`, else the small cases kept with the tests.
fn cases(path: &str) -> Vec<Value> {
    let kept = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/reference");
    let folder = std::env::var_os("ATMOSTR_REFERENCE_DIR").map_or_else(kept, PathBuf::from);
    let text = std::fs::read_to_string(folder.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file: Value = serde_json::from_str(&text).unwrap();
    file["cases"].as_array().unwrap().clone()
}

/// A column of the file, surface first there, top first here.
fn column(value: &Value) -> Column {
    value.as_array().unwrap().iter().rev().map(|x| x.as_f64().unwrap()).collect()
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

/// Difference in units of the largest value of the column.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let largest = b.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest
}

fn clouds(inputs: &Value) -> Clouds {
    let rate = |name: &str| column(&inputs[format!("{name}_kg_m2_s")]);
    let mut clouds = Clouds::default();
    clouds.push(column(&inputs["air_mass_kg_m2"]), ["entu", "detu", "entd", "detd"].map(rate));
    clouds
}

fn assert_matrix(rows: &[Vec<f64>], expected: &Value) -> f64 {
    let n = rows.len();
    let mut worst = 0.0_f64;
    for (i, row) in rows.iter().enumerate() {
        for (j, element) in row.iter().enumerate() {
            let expected = expected[n - 1 - i][n - 1 - j].as_f64().unwrap();
            worst = worst.max((element - expected).abs());
        }
    }
    worst
}

#[test]
fn tm5_matrices_and_solutions() {
    let all = cases("tm5_convection/cases.json");
    assert!(!all.is_empty());
    for case in all {
        let (id, n) = (case["id"].as_str().unwrap(), number(&case["n_levels"]));
        let (inputs, outputs) = (&case["inputs"], &case["outputs"]);
        let clouds = clouds(inputs);
        let packed = clouds.packed::<f64>();
        let dt = case["timestep_s"].as_f64().unwrap();
        let (rows, first, lower) = matrix(&packed, 0, dt);
        let matrix_error = assert_matrix(&rows, &outputs["matrix_rows"]);
        assert!(matrix_error <= 1e-13, "{id}: matrix {matrix_error:e}");
        // Levels count from the surface, 0 is none. TM5 drops layers that turn out not to take part.
        let block = number(&outputs["lmc"]);
        assert!(n - first >= block && (n - first == 0) == (block == 0), "{id}");
        for (i, row) in rows[..n - block].iter().enumerate() {
            assert!(row.iter().enumerate().all(|(j, x)| *x == f64::from(u8::from(i == j))), "{id}: row {i}");
        }
        let indices = cloud_indices(&clouds.detu[0], &clouds.entd[0]);
        let level = |k: Option<usize>| k.map_or(0, |k| n - k);
        assert_eq!(level(indices.map(|i| i.cloud_top)), number(&outputs["cloud_top"]), "{id}");
        assert_eq!(level(indices.map(|i| i.cloud_base)), number(&outputs["cloud_base"]), "{id}");
        assert_eq!(level(indices.and_then(|i| i.free_sinking)), number(&outputs["level_free_sinking"]), "{id}");

        let mut worst = [0.0_f64; 3];
        for (name, before) in inputs["mixing_ratio_before"].as_object().unwrap() {
            let air = &clouds.air[0];
            let start: Column = column(before).iter().zip(air).map(|(q, m)| q * m).collect();
            let expected = column(&outputs["tracer_mass_after_kg_m2"][name]);
            for (s, solve) in [Solve::Plain, Solve::Delta].into_iter().enumerate() {
                let mut work = Tm5::new(n, Tm5Options { solve, ..Default::default() }).unwrap();
                let (mut tracer, mut carry) = (pack::<f64>(from_ref(&start)), vec![0.0; packed.width]);
                work.convect(&packed.air(), &packed.forcing(), dt, &mut tracer, Ledger::Carry(&mut carry));
                let after = unpack(&tracer, packed.width, 0);
                worst[s] = worst[s].max(difference(&after, &expected));
                assert!(after.iter().all(|x| *x >= 0.0), "{id} {name}");
            }
            let mut factors = Factors::new(n);
            factors.reset(n - first);
            for i in first..n {
                factors.row_mut(i - first).copy_from_slice(&rows[i][first..]);
            }
            factors.factor(lower);
            let mut adjoint = start.clone();
            factors.solve_transposed(&mut adjoint[first..]);
            worst[2] = worst[2].max(difference(&adjoint, &column(&outputs["tracer_mass_adjoint_kg_m2"][name])));
        }
        println!(
            "{id}: matrix {matrix_error:.1e} plain {:.1e} delta {:.1e} adjoint {:.1e}",
            worst[0], worst[1], worst[2]
        );
        assert!(worst.iter().all(|error| *error <= 1e-12), "{id}: {worst:?}");
    }
}

/// Convection and diffusion in one matrix: exchange through the top of layer k added to the fluxes.
#[test]
fn tm5_convection_with_diffusion() {
    let all = cases("tm5_convection/convdiff_cases.json");
    assert!(!all.is_empty());
    for case in all {
        let (id, n) = (case["id"].as_str().unwrap(), number(&case["n_levels"]));
        let (inputs, outputs) = (&case["inputs"], &case["outputs"]);
        let clouds = clouds(inputs);
        let dt = case["timestep_s"].as_f64().unwrap();
        let (mut rows, _, _) = matrix(&clouds.packed::<f64>(), 0, dt);
        let (air, exchange) = (&clouds.air[0], column(&inputs["dkg_kg_m2_s"]));
        for k in 1..n {
            for (j, part) in [(k, exchange[k] / air[k]), (k - 1, -exchange[k] / air[k - 1])] {
                rows[k][j] += dt * part;
                rows[k - 1][j] -= dt * part;
            }
        }
        let scale = rows.iter().flatten().fold(1.0, |m: f64, x| m.max(x.abs()));
        let matrix_error = assert_matrix(&rows, &outputs["matrix_rows"]) / scale;
        assert!(matrix_error <= 1e-13, "{id}: {matrix_error:e}");
        let mut factors = Factors::new(n);
        factors.reset(n);
        rows.iter().enumerate().for_each(|(i, row)| factors.row_mut(i).copy_from_slice(row));
        factors.factor(LowerPart::Full);
        let mut worst = 0.0_f64;
        for (name, before) in inputs["tracer_mass_before_kg_m2"].as_object().unwrap() {
            let mut rhs: Vec<[f64; 1]> = column(before).iter().map(|x| [*x]).collect();
            factors.solve(&mut rhs);
            let after: Column = rhs.iter().map(|x| x[0]).collect();
            worst = worst.max(difference(&after, &column(&outputs["tracer_mass_after_kg_m2"][name])));
        }
        println!("{id}: matrix {matrix_error:.1e} of the largest element, solution {worst:.1e}");
        assert!(worst <= 1e-12, "{id}: {worst:e}");
    }
}

#[test]
fn geoschem_columns() {
    let all = cases("geoschem_convection/cases.json");
    assert!(!all.is_empty());
    for case in all {
        let (id, n) = (case["id"].as_str().unwrap(), number(&case["n_levels"]));
        let inputs = &case["inputs"];
        let air: Column = column(&inputs["delp_dry_hPa"]).iter().map(|dp| dp * 100.0 / 9.80665).collect();
        let (flux, detrainment) = (column(&inputs["cmfmc_edge_kg_m2_s"]), column(&inputs["dtrain_kg_m2_s"]));
        let mut plumes = Plumes::<f64>::new(from_ref(&air), 1.0, &[flux], Some(&[detrainment]));
        let level = number(&case["cloud_base_level_1based"]);
        plumes.base = Some(vec![(n + 1 - level) as f64; plumes.width]);
        assert_eq!(cloud_base_from_rain(&column(&inputs["dqrcu_kg_kg_s"])), n + 1 - level, "{id}");
        let (dt, steps) = (case["timestep_s"].as_f64().unwrap(), number(&case["substeps"]));
        for (scheme, cloud_base) in [("ras", CloudBase::Archived), ("gf", CloudBase::None)] {
            for update in [Update::MixingRatio, Update::MassFlux] {
                let options =
                    CmfmcOptions { cloud_base, update, exchange: BaseExchange::WithPlume, ..Default::default() };
                let mut worst = 0.0_f64;
                for (name, before) in inputs["mixing_ratio_before"].as_object().unwrap() {
                    let start: Column = column(before).iter().zip(&air).map(|(q, m)| q * m).collect();
                    let convected = |steps: usize| {
                        let mut tracer = pack::<f64>(from_ref(&start));
                        plumes.convect(options, dt, steps, &mut tracer, Ledger::Off).unwrap();
                        unpack(&tracer, plumes.width, 0)
                    };
                    if id.starts_with("clip") {
                        // GEOS-Chem's clip multiplies mass here; our own sub-steps keep mass and sign.
                        let courant = largest_courant(&plumes.air(), &plumes.flux, dt);
                        let own = convected(substeps(courant, Negative::Kept).unwrap());
                        assert!((total(&own) / total(&start) - 1.0).abs() < 1e-13, "{id} {name}");
                        assert!(own.iter().all(|x| *x >= 0.0), "{id} {name}");
                        continue;
                    }
                    let after: Column = convected(steps).iter().zip(&air).map(|(x, m)| x / m).collect();
                    let expected = column(&case["outputs"][scheme]["mixing_ratio_after"][name]);
                    worst = worst.max(difference(&after, &expected));
                }
                println!("{id} {scheme} {update:?}: {worst:.1e}");
                // GEOS-Chem loses what fluxes at its threshold carry, we do not.
                let tolerance = if id.starts_with("tiny_flux") { 3e-14 } else { 1e-14 };
                assert!(worst <= tolerance, "{id} {scheme}: {worst:e}");
            }
        }
    }
}

/// Our own order at cloud base, exchange before the plume, against GEOS-Chem's: how far a deliberate choice moves a step.
#[test]
fn exchange_before_the_plume_stays_near_geoschem() {
    let mut largest = 0.0_f64;
    for case in cases("geoschem_convection/cases.json") {
        let (id, n) = (case["id"].as_str().unwrap(), number(&case["n_levels"]));
        if id.starts_with("clip") {
            continue;
        }
        let inputs = &case["inputs"];
        let air: Column = column(&inputs["delp_dry_hPa"]).iter().map(|dp| dp * 100.0 / 9.80665).collect();
        let (flux, detrainment) = (column(&inputs["cmfmc_edge_kg_m2_s"]), column(&inputs["dtrain_kg_m2_s"]));
        let mut plumes = Plumes::<f64>::new(from_ref(&air), 1.0, &[flux], Some(&[detrainment]));
        plumes.base = Some(vec![(n + 1 - number(&case["cloud_base_level_1based"])) as f64; plumes.width]);
        let options = CmfmcOptions { cloud_base: CloudBase::Archived, ..Default::default() };
        assert_eq!(options.exchange, BaseExchange::BeforePlume);
        let (dt, steps) = (case["timestep_s"].as_f64().unwrap(), number(&case["substeps"]));
        let mut worst = 0.0_f64;
        for (name, before) in inputs["mixing_ratio_before"].as_object().unwrap() {
            let start: Column = column(before).iter().zip(&air).map(|(q, m)| q * m).collect();
            let mut tracer = pack::<f64>(from_ref(&start));
            plumes.convect(options, dt, steps, &mut tracer, Ledger::Off).unwrap();
            let after: Column = unpack(&tracer, plumes.width, 0).iter().zip(&air).map(|(x, m)| x / m).collect();
            let expected = column(&case["outputs"]["ras"]["mixing_ratio_after"][name]);
            worst = worst.max(difference(&after, &expected));
        }
        println!("{id}: the other order moves a step by {worst:.1e} of the largest mixing ratio");
        largest = largest.max(worst);
    }
    assert!(largest > 1e-6 && largest < 0.05, "{largest:e}");
}
