//! What whole runs with vertical physics do.

use atmostr::met::FloatType;

use crate::case::{GEOS, How, LOCAL, PLAIN, TM5, make_winds, run_text};

const ALL: [crate::case::Operators; 4] = [TM5, GEOS, PLAIN, LOCAL];

/// In Float64 nothing but rounding is lost, whatever the operators, and sources and decay are what the budget says.
#[test]
fn budgets_close_in_double_precision() {
    let dir = tempfile::tempdir().unwrap();
    make_winds(dir.path(), "winds.bin", 12, 20, 4, 3.0, FloatType::Float64);
    for operators in ALL {
        let (report, warnings) = operators.run(dir.path(), FloatType::Float64, How::default(), "out", 12.0);
        // What is emitted into air that holds nothing yet cannot be lofted.
        let expected = |warning: &String| operators.name == "geos" && warning.contains("lofting");
        assert!(warnings.iter().all(expected), "{}: {warnings:?}", operators.name);
        for budget in &report.budgets[1..] {
            let tracer = budget.tracer.unwrap();
            assert!(budget.residual().abs() < 2e-14, "{}: {budget:?}", operators.name);
            let change = budget.last - budget.initial - (tracer.emitted - tracer.decayed + tracer.residual);
            assert!(change.abs() <= 1e-12 * budget.last.abs(), "{}: {budget:?}", operators.name);
        }
        let fossil = report.budgets.iter().find(|b| b.name == "fossil_co2").unwrap();
        // 3.1e-9 kg m⁻² s⁻¹ on the sphere for half a day, in carrier air.
        let sphere = 4.0 * std::f64::consts::PI * 6.371e6_f64.powi(2);
        let emitted = 3.1e-9 * sphere * 43_200.0 * 28.9644 / 44.0095;
        assert!((fossil.last / emitted - 1.0).abs() < 1e-12, "{} {emitted}", fossil.last);
        assert_eq!(report.ledger_refused, [0, 0], "{}", operators.name);
    }
}

/// Without advection the columns still mix, and nothing may be emitted.
#[test]
fn columns_mix_without_advection() {
    let dir = tempfile::tempdir().unwrap();
    make_winds(dir.path(), "winds.bin", 8, 20, 2, 1.0, FloatType::Float64);
    let still = crate::case::Operators { sources: false, ..TM5 };
    let text =
        still.text(FloatType::Float64, How::default(), "out", 1.0).replace("scheme = \"ppm\"", "scheme = \"none\"");
    let text = text.replace(
        "[tracers.sf6]\ninit = { kind = \"gaussian_blob\", background = 1e-11, amplitude = 1e-12, lat0_deg = 40 }",
        "[tracers.sf6]\ninit = { kind = \"pressure_layer\", lowest_layer = true, total_molecules = 1.0e30 }",
    );
    let (report, _) = run_text(&text, dir.path(), 1).unwrap();
    assert!(report.budgets.iter().all(|b| b.residual().abs() < 1e-14), "{:?}", report.budgets);
    let file = netcdf::open(dir.path().join("out.nc")).unwrap();
    let sf6 = file.variable("sf6").unwrap().get_values::<f64, _>(..).unwrap();
    let layer = 6 * 64;
    let (first, last) = (&sf6[..20 * layer], &sf6[sf6.len() - 20 * layer..]);
    let filled = |field: &[f64]| field.chunks(layer).filter(|l| l.iter().any(|x| *x > 0.0)).count();
    assert_eq!(filled(first), 1, "one layer at first");
    assert!(filled(last) > 10, "mixed upwards");
}

/// A cloud mass flux in the wrong unit is an error that names file and window, before anything is written.
#[test]
fn convection_that_cannot_be_computed_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    make_winds(dir.path(), "winds.bin", 8, 20, 2, 3000.0, FloatType::Float64);
    let text = LOCAL.text(FloatType::Float64, How::default(), "out", 3000.0);
    let error = run_text(&text, dir.path(), 1).unwrap_err().to_string();
    for part in ["winds.bin", "window 1", "sub-steps"] {
        assert!(error.contains(part), "{error}");
    }
}

/// The diagnostic form does not conserve, and its run says so.
#[test]
fn the_matrix_form_shows_in_the_budget() {
    let dir = tempfile::tempdir().unwrap();
    make_winds(dir.path(), "winds.bin", 12, 20, 2, 6.0, FloatType::Float32);
    let drift = |update: &str| {
        let mut operators = LOCAL;
        operators.convection = "kind = \"none\"";
        operators.sources = false;
        let diffusion = format!("kind = \"tm5_beljaars_viterbo_local_kz\"\nkz_update = \"{update}\"");
        let text = operators.text(FloatType::Float32, How::default(), "out", 12.0);
        let text = text.replace("kind = \"tm5_beljaars_viterbo_local_kz\"", &diffusion).replace("\"ppm\"", "\"none\"");
        let (report, _) = run_text(&text, dir.path(), 1).unwrap();
        report.budgets.iter().map(|b| b.residual().abs()).fold(0.0, f64::max)
    };
    let [mass_space, flux, matrix] = ["mass_space", "flux", "matrix"].map(drift);
    assert!(mass_space < 2e-10 && flux < 2e-10 && matrix > 1e-9, "{mass_space} {flux} {matrix}");
}
