use super::*;
use crate::preprocess::readers::geos::GeosProduct;
use crate::preprocess::readers::gridded::{LevelSource, StateTimes};
use crate::preprocess::readers::merra2::Merra2Layout;
use crate::preprocess::readers::{NextDay, PhysicsGroup};
use crate::preprocess::{ColumnWeights, FaceFluxes, FaceInterpolation, Preset, Thickness, WindRegrid};

const MINIMAL: &str =
    "[source]\nkind = \"gridded\"\nfiles = [\"winds.nc\"]\n[grid]\nnc = 24\n[output]\ndirectory = \"out\"\n";

/// A folder with the files and the folder that the configurations name.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["winds.nc", "more.nc"] {
        std::fs::write(dir.path().join(name), "").unwrap();
    }
    std::fs::create_dir(dir.path().join("archive")).unwrap();
    dir
}

fn accepted(text: &str) -> PreprocessConfig {
    let dir = folder();
    PreprocessConfig::parse(text, &dir.path().join("met.toml")).unwrap_or_else(|e| panic!("{}", e.plain()))
}

fn problems(text: &str) -> String {
    let dir = folder();
    PreprocessConfig::parse(text, &dir.path().join("met.toml")).expect_err("must be refused").plain()
}

/// Defaults are the choices that spec 40 §1.6 and §1.9 found better.
#[test]
fn defaults() {
    let config = accepted(MINIMAL);
    assert_eq!((config.nc, config.windows, config.float), (24, 24, FloatType::Float32));
    assert_eq!(config.fluxes.faces, FaceFluxes::Vector(FaceInterpolation::Fv3));
    assert_eq!((config.fluxes.wind_regrid, config.fluxes.thickness), (WindRegrid::Cartesian, Thickness::Dry));
    assert_eq!(config.balance, BalanceMode::Column(ColumnWeights::HybridMass));
    assert_eq!((config.steps.least, config.steps.most, config.steps.target), (1, 512, 0.95));
    assert!(matches!(&config.pin, PinConfig::Measured(path) if path.ends_with("out/campaign.toml")));
    let file = config.file_of(jiff::civil::date(2021, 12, 1));
    assert!(file.ends_with("out/gridded_transport_20211201_float32.bin"), "{}", file.display());
    let SourceConfig::Gridded(source) = &config.source else { panic!("gridded") };
    assert_eq!(source.time, StateTimes::Series { first_day: None });
    assert!(matches!(source.levels, LevelSource::Pressure { variable: None, units: None }));
}

#[test]
fn layers_and_transforms() {
    let with = |lines: &str| accepted(&format!("{MINIMAL}[vertical]\n{lines}\n"));
    assert_eq!(
        with("levels = \"ifs_l137\"\ntransform = \"level_selection\"\npreset = \"85L\"").transform,
        Transform::Preset(Preset::Cfl85)
    );
    assert_eq!(
        with("transform = \"merge_by_index\"\nmerge_ends = [2, 3, 7]").transform,
        Transform::MergeByIndex(vec![(1, 2), (3, 3), (4, 7)])
    );
    assert_eq!(
        with("transform = \"merge_layers_thinner_than\"\nmin_thickness_Pa = 100").transform,
        Transform::MergeThinnerThan(100.0)
    );
    let Layers::Given(smooth) = with("levels = \"smooth\"\nn_levels = 12").layers else { panic!("given layers") };
    assert_eq!(smooth.levels(), 12);
}

#[test]
fn coefficients_of_a_file() {
    let dir = folder();
    let text = format!("{MINIMAL}[vertical]\nlevels = \"file\"\ncoefficients = \"levels.toml\"\n");
    let parse = || PreprocessConfig::parse(&text, &dir.path().join("met.toml"));
    assert!(parse().unwrap_err().plain().contains("does not exist"));
    std::fs::write(dir.path().join("levels.toml"), "[coefficients]\na = [100.0, 50.0, 0.0]\nb = [0.0, 0.5, 1.0]\n")
        .unwrap();
    assert!(matches!(parse().unwrap().layers, Layers::Given(found) if found.levels() == 2));
    std::fs::write(dir.path().join("levels.toml"), "[coefficients]\na = [0.0]\nb = [1.0]\n").unwrap();
    assert!(parse().unwrap_err().plain().contains("at least 2"));
}

/// One variable cannot be two fields.
#[test]
fn fields_have_variables_of_their_own() {
    for (lines, parts) in [
        ("v = \"u\"", ["`source.variables.u` and `source.variables.v`", "variable \"u\""]),
        ("u = \"v\"", ["`source.variables.u` and `source.variables.v`", "variable \"v\""]),
        ("surface_pressure = \"v\"", ["`source.variables.v` and `source.variables.surface_pressure`", "\"v\""]),
        ("log_surface_pressure = \"u\"", ["`source.variables.log_surface_pressure`", "\"u\""]),
        ("humidity = \"q\"\ntemperature = \"q\"", ["humidity` and `source.variables.temperature`", "\"q\""]),
        ("time = \"ps\"", ["surface_pressure` and `source.variables.time`", "\"ps\""]),
    ] {
        let text = problems(&MINIMAL.replace("[grid]", &format!("[source.variables]\n{lines}\n[grid]")));
        for part in parts.into_iter().chain(["name a variable of its own", "met.toml:"]) {
            assert!(text.contains(part), "{part} not in\n{text}");
        }
    }
    let levels = "[source.levels]\nkind = \"hybrid\"\na = \"hya\"\nb = \"hya\"\n[grid]";
    let text = problems(&MINIMAL.replace("[grid]", levels));
    assert!(text.contains("are both the variable \"hya\"") && !text.contains("is missing"), "{text}");
}

/// Pitfall T40-20: every key that would be ignored is an error, with a suggestion where there is one.
#[test]
fn nothing_is_ignored() {
    for (lines, parts) in [
        ("[grid2]\n", &["unknown key `grid2`", "did you mean `grid`"][..]),
        ("[numerics]\nfloat_typ = \"Float64\"\n", &["unknown key `float_typ`", "`float_type`"]),
        ("[numerics]\nwind_regrid = \"scalar\"\n", &["unknown key `wind_regrid`", "belongs in [fluxes]"]),
        ("[numerics]\ngeos_cm_closure = \"endpoint\"\n", &["not a valid key", "always close"]),
        ("[numerics]\ndt_met_seconds = 5000\n", &["not a whole number of windows"]),
        ("[numerics]\nmin_steps_per_window = 9\nmax_steps_per_window = 3\n", &["is below"]),
        ("[numerics]\nsubstep_cfl_target = 0.99\n", &["lies above"]),
        ("[numerics]\nsubstep_schedule = \"constant\"\n", &["`numerics.min_steps_per_window` is missing"]),
        ("[mass_fix]\nmode = \"initial_endpoint\"\n", &["cannot be used", "measured"]),
        ("[mass_fix]\nmode = \"target_ps_dry\"\n", &["`mass_fix.target_ps_dry_pa` is missing"]),
        ("[mass_fix]\ntarget_ps_dry_pa = 98726\n", &["only has a meaning with mode = \"target_ps_dry\""]),
        ("[vertical]\npreset = \"ml137_66L\"\n", &["only has a meaning with transform = \"level_selection\""]),
        ("[vertical]\ntransform = \"merge_above_pressure\"\n", &["`vertical.threshold_pa` is missing"]),
        ("[fluxes]\nface_lengths = \"edge\"\n", &["only has a meaning with face_fluxes = \"panel_average\""]),
        (
            "[fluxes]\nbalance_mode = \"per_layer\"\ncolumn_balance_weights = \"mass\"\n",
            &["only has a meaning with balance_mode"],
        ),
        ("[fluxes]\nface_fluxes = \"vectr\"\n", &["did you mean \"vector\""]),
    ] {
        let text = problems(&format!("{MINIMAL}{lines}"));
        for part in parts {
            assert!(text.contains(part), "{part} not in\n{text}");
        }
    }
    let text = problems(&MINIMAL.replace("winds.nc", "none.nc").replace("nc = 24", "").replace("\"out\"", "3"));
    for part in ["none.nc does not exist", "`grid.nc` is missing", "`output.directory` must be a path"] {
        assert!(text.contains(part), "{part} not in\n{text}");
    }
    let text = problems(&format!("{MINIMAL}file_pattern = \"winds.bin\"\n"));
    assert!(text.contains("{YYYYMMDD}"), "{text}");
}

#[test]
fn gridded_files_need_a_consistent_description() {
    let with = |source: &str| MINIMAL.replace("[grid]", &format!("{source}\n[grid]"));
    for (lines, part) in [
        ("time_index = 2", "has no meaning with time = \"series\""),
        ("time = \"steady\"\nfirst_day = 2000-01-01", "has no meaning with time = \"steady\""),
        ("[source.levels]\nkind = \"hybrid\"", "`source.levels.a` is missing"),
        ("[source.levels]\nkind = \"hybrid\"\na = \"hyam\"", "is missing beside `a`"),
        ("[source.levels]\na = \"hyam\"\nb = \"hybm\"", "has no meaning with kind \"pressure\""),
        ("[source.variables]\nps = \"PS\"\nlog_surface_pressure = \"lnsp\"", "are both given"),
        ("include_surface = true", "has no meaning with kind \"gridded\""),
    ] {
        let text = problems(&with(lines));
        assert!(text.contains(part), "{part} not in\n{text}");
    }
    let twice = problems(&MINIMAL.replace("[\"winds.nc\"]", "[\"winds.nc\", \"winds.nc\"]"));
    assert!(twice.contains("twice"), "{twice}");
    let config =
        accepted(&with("[source.levels]\nkind = \"hybrid\"\na = \"hyam\"\nb = \"hybm\"\nreference_pressure_pa = 1e5"));
    let SourceConfig::Gridded(source) = config.source else { panic!("gridded") };
    assert!(matches!(source.levels, LevelSource::Hybrid { mid: Some(_), interfaces: None, reference_pa: 1e5, .. }));
}

/// What archives take without further keys, and that sections come in groups.
#[test]
fn archives_by_date() {
    let of = |kind: &str, source: &str, nc: usize| {
        let source = format!("[source]\nkind = \"{kind}\"\ndirectory = \"archive\"\n{source}\n");
        accepted(&format!("{source}[grid]\nnc = {nc}\n[output]\ndirectory = \"out\"\n")).source
    };
    let SourceConfig::Merra2(merra2) = of("merra2", "include_convection = true", 90) else { panic!("MERRA-2") };
    assert_eq!((merra2.layout, merra2.next_day), (Merra2Layout::GeosChem, NextDay::Required));
    assert_eq!(merra2.physics, [PhysicsGroup::Convection]);
    let SourceConfig::Geos(it) = of("geos_it", "include_vdiff_fields = true\ninclude_surface = true", 60) else {
        panic!("GEOS-IT")
    };
    assert_eq!((it.product, it.nc, it.physics_root == it.root), (GeosProduct::It, 180, true));
    assert_eq!(it.physics, [PhysicsGroup::Surface, PhysicsGroup::Vdiff]);
    let SourceConfig::Geos(fp) = of("geos_fp", "", 180) else { panic!("GEOS-FP") };
    assert_eq!((fp.product, fp.nc, fp.physics), (GeosProduct::Fp, 720, Vec::new()));
    let text = problems("[source]\nkind = \"merra2\"\n[grid]\nnc = 24\n[output]\ndirectory = \"out\"\n");
    assert!(text.contains("`source.directory` is missing"), "{text}");
}

/// What is explained is itself a configuration with the same meaning; tables and keys of other archives are left out.
#[test]
fn the_explained_configuration_is_equivalent() {
    let merra2 =
        "[source]\nkind = \"merra2\"\ndirectory = \"archive\"\n[grid]\nnc = 90\n[output]\ndirectory = \"out\"\n";
    let levels = MINIMAL.replace("[grid]", "[source.levels]\nkind = \"sigma\"\nvariable = \"s\"\n[grid]");
    for text in [MINIMAL, &levels, merra2] {
        let dir = folder();
        let parse = |text: &str| {
            PreprocessConfig::parse(text, &dir.path().join("met.toml"))
                .unwrap_or_else(|e| panic!("{}\n{text}", e.plain()))
        };
        let config = parse(text);
        let explained = crate::config::explain_preprocessing(&config);
        assert!(explained.contains("# float_type: Float32 by default\n"), "{explained}");
        assert!(explained.contains("  # line 2\n"), "{explained}");
        assert_eq!(explained.contains("[source.variables]"), text != merra2, "{explained}");
        assert_eq!(explained.contains("include_convection"), text == merra2, "{explained}");
        assert_eq!(PreprocessConfig { text: text.into(), ..parse(&explained) }, config);
    }
}
