//! Reports.

use super::*;

#[test]
fn the_report_tells_what_the_file_holds() {
    let sections = [&Section::CORE[..], &[Section::Cmfmc, Section::Dtrain]].concat();
    let mut spec = HeaderSpec { sections, steps: vec![2, 8], ..spec(3, 2, PanelConvention::GeosNative, 2) };
    spec.extra.insert("vertical_Nz_output".to_string(), serde_json::json!(72));
    let (_dir, path, _) = sample(&spec, 1);
    let report = TransportFile::open(&path).unwrap().inspect();
    let c = report.capabilities;
    assert!(c.advection && c.cmfmc_convection && c.surface_pressure);
    assert!(
        !(c.replay_gate || c.tm5_convection || c.pbl_diffusion || c.gchp_vdiff || c.cmfmc_cloud_base || c.humidity)
    );
    let text = report.to_string();
    for part in [
        "C3, panels=6, 2 levels, radius 6371229 m",
        "dt=3600 s, steps/window=8 max (per-window 2:8)",
        "m, am, bm, cm, ps, cmfmc, dtrain",
        "✓ CMFMC convection",
        "✗ replay gate",
        "mass_basis  dry",
        "other keys  vertical_Nz_output",
    ] {
        assert!(text.contains(part), "missing `{part}` in\n{text}");
    }
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["steps_per_window"], 8);
    assert_eq!(json["vertical_Nz_output"], 72);
    assert_eq!(json["flux_kind"], "substep_mass_amount");
    assert_eq!(json["payload_sections"][5], "cmfmc");
    assert_eq!(json["capabilities"]["advection"], true);
}

#[test]
fn statistics_cover_every_section() {
    let spec = HeaderSpec { float_type: FloatType::Float64, ..spec(3, 2, PanelConvention::Gnomonic, 2) };
    let (_dir, path, windows) = sample(&spec, 1);
    let file = TransportFile::open(&path).unwrap();
    let stats = file.stats().unwrap();
    assert_eq!(stats.len(), 2 * spec.sections.len());
    for s in stats {
        let values = windows[s.window].get(s.section);
        assert_eq!(s.min, values.iter().copied().fold(f64::INFINITY, f64::min));
        assert_eq!(s.max, values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        let magnitude: f64 = values.iter().map(|v| v.abs()).sum();
        assert!((s.sum - values.iter().sum::<f64>()).abs() <= 1e-13 * magnitude);
        assert_eq!(s.not_finite, 0);
    }
}
