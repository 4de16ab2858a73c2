//! Whole-file tests: what is accepted, and that every error names its key, its line and a remedy.

use std::path::Path;

use kernels::scheme::{
    EdgeRule, Fusion, LinRood, LinRoodRule, PpmLimiter, Scheme, SeamGhost, Sign, SlopesLimiter, Vertical,
};

use super::*;
use crate::initial::{
    FieldFile, InitialState, LayerChoice, Negatives, RecordChoice, SurfacePressure, VerticalMapping, VerticalOrder,
};
use crate::met::FloatType;
use crate::output::{LayerSelection, Split, TracerFields, TracerSelection};

mod physics;
mod sources;
mod wrong;

/// Smallest valid file, four lines.
const MINIMAL: &str = "[advection]\nscheme = \"upwind\"\n[input.synthetic]\n[tracers.co2]\n";

fn parse(text: &str) -> Result<RunConfig, ConfigErrors> {
    RunConfig::parse(text, Path::new("run.toml"))
}

fn accepted(text: &str) -> RunConfig {
    parse(text).unwrap_or_else(|e| panic!("{}", e.plain()))
}

/// The errors of a file, each as `(line, message, help)`; line 0 if the error has no place.
fn errors(text: &str) -> Vec<(usize, String, String)> {
    let errors = parse(text).expect_err("the file is invalid");
    let line = |p: &Problem| errors.position(p).map_or(0, |(line, _)| line);
    errors.problems().map(|p| (line(p), p.message.clone(), p.help.clone().unwrap_or_default())).collect()
}

/// `MINIMAL` plus some lines; line numbers in expectations count from the first added line, which is 1.
fn one_error(added: &str, line: usize, parts: &[&str]) {
    let found = errors(&format!("{MINIMAL}{added}\n"));
    assert_eq!(found.len(), 1, "{added}\n{found:#?}");
    let (at, message, help) = &found[0];
    assert_eq!(*at, line + 4, "line of {message:?} for\n{added}");
    for part in parts {
        assert!(message.contains(part) || help.contains(part), "{part:?} not in\n{message}\nhelp: {help}");
    }
}

#[test]
fn the_minimal_file_has_the_documented_defaults() {
    let c = accepted(MINIMAL);
    let Source::Synthetic(winds) = &c.input.source else { panic!("synthetic") };
    assert_eq!((winds.nc, winds.levels, winds.windows), (24, 20, 24));
    assert_eq!(winds.window_seconds, 3600.0);
    assert_eq!(winds.start_time.unwrap().to_string(), "2000-01-01T00:00:00Z");
    assert_eq!(c.settings.float_type, FloatType::Float64);
    assert_eq!(c.settings.air_mass_reset, AirMassReset::PreserveTracerMass);
    assert_eq!(c.settings.physics_cadence, PhysicsCadence::Window);
    assert_eq!((c.settings.halo, c.settings.threads, c.settings.stop_window, c.settings.tiles), (1, None, None, None));
    assert_eq!(c.advection.scheme, Some(Scheme::Upwind));
    assert_eq!((c.advection.cfl_limit, c.advection.cfl_excess), (0.95, CflExcess::Report));
    assert_eq!(c.tracers.len(), 1);
    assert_eq!(c.tracers[0].initial, InitialState::Uniform { background: 0.0 });
    assert_eq!(c.tracers[0].molar_mass_kg_mol, Some(44.0095e-3));
    assert_eq!(c.output, None);
}

/// Every usable name of a choice stands for a value, and every value has its name: nothing falls back to a default.
pub(super) fn names_agree<T: Named>(section: &str, key: &str) {
    let key = keys::Section::at(section).and_then(|s| s.find(key)).expect("a known key");
    let keys::Kind::Choice(choices) = key.kind else { panic!("{} is no choice", key.name) };
    let usable = choices.iter().filter(|c| c.availability == keys::Availability::Now);
    let mut documented: Vec<_> = usable.map(|c| c.name).collect();
    let mut values: Vec<_> = T::ALL.iter().map(|(n, _)| *n).collect();
    documented.sort_unstable();
    values.sort_unstable();
    assert_eq!(documented, values, "{section}.{}", key.name);
}

#[test]
fn every_name_stands_for_a_value() {
    names_agree::<FloatType>("numerics", "float_type");
    names_agree::<FloatType>("input.synthetic", "float_type");
    names_agree::<crate::met::synth::SynthFlow>("input.synthetic", "flow");
    names_agree::<crate::met::synth::SynthPhysics>("input.synthetic", "physics");
    names_agree::<crate::grid::GeometryBundle>("input.synthetic", "convention");
    names_agree::<AirMassReset>("run", "air_mass_reset_mode");
    names_agree::<PhysicsCadence>("run", "physics_cadence");
    names_agree::<VerticalOrder>("tracers.<name>.init", "vertical_order");
    names_agree::<Split>("output", "split");
    names_agree::<LayerSelection>("output.fields", "layers");
    names_agree::<LayerSelection>("output.fields", "air_mass_layers");
    names_agree::<LayerSelection>("output.fields.per_tracer.<name>", "layers");
}

#[test]
fn schemes_limiters_and_halo_widths() {
    let with = |lines: &str| accepted(&MINIMAL.replace("scheme = \"upwind\"", lines));
    let linrood = |rule, edge| Some(Scheme::LinRood(LinRood { edge, ..LinRood::new(rule) }));
    let remapped = LinRood { ghost: SeamGhost::Remap, ..LinRood::new(LinRoodRule::Quasi) };
    for (lines, scheme, halo) in [
        ("scheme = \"none\"", None, 0),
        ("scheme = \"Slopes\"", Some(Scheme::Slopes(SlopesLimiter::Monotone)), 2),
        ("scheme = \"slopes\"\nlimiter = \"positivity\"", Some(Scheme::Slopes(SlopesLimiter::Positivity)), 2),
        ("scheme = \"ppm\"", Some(Scheme::Ppm(PpmLimiter::Monotone)), 3),
        ("scheme = \"ppm\"\nlimiter = \"default\"", Some(Scheme::Ppm(PpmLimiter::Monotone)), 3),
        ("scheme = \"ppm\"\nlimiter = \"none\"", Some(Scheme::Ppm(PpmLimiter::None)), 3),
        ("scheme = \"ppm\"\nlimiter = \"cw84\"", Some(Scheme::Ppm(PpmLimiter::Cw84)), 3),
        ("scheme = \"ppm\"\nlimiter = \"huynh_pd\"\nvertical = \"same\"", Some(Scheme::Ppm(PpmLimiter::HuynhPd)), 3),
        ("scheme = \"linrood\"", linrood(LinRoodRule::Quasi, EdgeRule::None), 3),
        ("scheme = \"linrood\"\nppm_order = 7", linrood(LinRoodRule::Quasi, EdgeRule::TwoSided), 3),
        (
            "scheme = \"linrood\"\nppm_order = 5\nedge = \"fv3\"\nlimiter = \"huynh_pd\"",
            linrood(LinRoodRule::HuynhPd, EdgeRule::Fv3),
            3,
        ),
        ("scheme = \"linrood\"\nseam_ghost = \"remap\"", Some(Scheme::LinRood(remapped)), 5),
        ("scheme = \"linrood\"\nlimiter = \"mono\"", linrood(LinRoodRule::Mono, EdgeRule::None), 3),
    ] {
        let c = with(lines);
        assert_eq!(c.advection.scheme, scheme, "{lines}");
        assert_eq!(c.settings.halo, halo, "{lines}");
        let usual = if lines.contains("linrood") { Vertical::Fv3Kord8 } else { Vertical::Same };
        assert_eq!(c.advection.vertical, usual, "{lines}");
    }
    assert_eq!(with("scheme = \"linrood\"\nvertical = \"same\"").advection.vertical, Vertical::Same);
    for (lines, limiter) in [("mono", PpmLimiter::Mono), ("pd", PpmLimiter::Pd)] {
        let c = with(&format!("scheme = \"ppm\"\nlimiter = \"{lines}\""));
        assert_eq!(c.advection.scheme, Some(Scheme::Ppm(limiter)));
    }
}

#[test]
fn vertical_schemes_and_signed_tracers() {
    let signed = MINIMAL.replace("scheme = \"upwind\"", "scheme = \"ppm\"\nvertical = \"fv3_kord8\"\nz_fuse = true");
    let c = accepted(&format!("{signed}[tracers.anomaly]\nsigned = true\n"));
    assert_eq!(c.advection.vertical, Vertical::Fv3Kord8);
    assert_eq!(c.advection.fusion, Fusion::WherePossible);
    assert_eq!(c.tracers[0].sign, Sign::Any);
    assert_eq!(c.tracers[1].sign, Sign::NonNegative);
    assert_eq!(c.advection.summary(&c.tracers), "ppm monotone, vertical fv3_kord8, z_fuse, signed: anomaly");
    let all = signed.replace("fv3_kord8", "fv3_kord8_signed").replace("z_fuse = true", "z_fuse = false");
    let c = accepted(&all);
    assert_eq!((c.advection.vertical, c.advection.fusion), (Vertical::Fv3Kord8Signed, Fusion::Never));
}

#[test]
fn tracers_are_sorted_and_initial_states_have_their_defaults() {
    let c = accepted(
        &format!(
            "{MINIMAL}\
         [tracers.sf6]\nkind = \"gaussian_blob\"\nbackground = 2e-12\nlon0_deg = -90\n\
         [tracers.Ab1]\ninit = {{ kind = \"hemisphere_step\", north = 1, molar = 1 }}\n"
        )
        .replace(", molar = 1", ""),
    );
    let names: Vec<_> = c.tracers.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["Ab1", "co2", "sf6"]);
    assert_eq!(c.tracers[0].initial, InitialState::LatitudeStep { south: 4e-4, north: 1.0, split_lat_deg: 0.0 });
    assert_eq!(c.tracers[0].molar_mass_kg_mol, None);
    let blob = InitialState::GaussianBlob {
        background: 2e-12,
        amplitude: 2e-12,
        lon0_deg: -90.0,
        lat0_deg: 0.0,
        sigma_lon_deg: 10.0,
        sigma_lat_deg: 10.0,
    };
    assert_eq!(c.tracers[2].initial, blob);
    let layer = accepted(&format!("{MINIMAL}init.kind = \"pressure_layer\"\nmolar_mass_kg_mol = 0.03\n"));
    let expected = InitialState::PressureLayer { layer: LayerChoice::NearestFraction(0.5), total_molecules: 1e22 };
    assert_eq!(layer.tracers[0].initial, expected);
    assert_eq!(layer.tracers[0].molar_mass_kg_mol, Some(0.03));
    let upper = accepted(&MINIMAL.replace("co2", "SF6"));
    assert_eq!(upper.tracers[0].molar_mass_kg_mol, Some(146.055e-3));
    let uniform = accepted(&format!("{MINIMAL}init.kind = \"uniform\"\n"));
    assert_eq!(uniform.tracers[0].initial, InitialState::Uniform { background: 4e-4 });
}

#[test]
fn output_settings_and_aliases() {
    let with = |lines: &str| accepted(&format!("{MINIMAL}[output]\n{lines}\n")).output;
    let o = with("snapshot_file = \"a/x.nc\"\nsnapshot_hours = [6, 0, 1.5]\nsplit = \"one-file\"").unwrap();
    assert_eq!(o.path, Path::new("a/x.nc"));
    assert_eq!(o.schedule, Schedule::Hours(vec![0.0, 1.5, 6.0]));
    assert_eq!((o.compression.level, o.compression.shuffle), (0, true));
    let o = with("filename = \"x_{day}.nc\"\nsplit = \"per_day\"\ninterval_seconds = 1800\nstart_hour = 2").unwrap();
    assert_eq!(o.schedule, Schedule::Every { hours: 0.5, start: 2.0, stop: None });
    assert_eq!(o.split, Split::Daily);
    assert_eq!(o.budget.as_deref(), Some(Path::new("x.budget.csv")));
    assert_eq!(with("path = \"x.nc\"\nhours = []\nbudget = false").unwrap().budget, None);
    assert_eq!(with("enabled = false"), None);
    assert_eq!(with("enabled = false\npath = \"x.nc\"\nhours = []"), None);
    assert_eq!(with("path = \"x.nc\"\nhours = []").unwrap().schedule, Schedule::Hours(vec![]));
    let o = with(
        "path = \"x.nc\"\ncadence_hours = 6\n[output.fields]\nlayers = false\nlevels = [20, 1]\ncolumn_mass = false\n\
         tracers = \"co2\"\ntracer_fields.co2 = { layers = \"select\", column_mean = false }",
    )
    .unwrap();
    assert_eq!(o.fields.layers, LayerSelection::None);
    assert_eq!(o.fields.levels, [1, 20]);
    assert!(!o.fields.column_mass_per_area && o.fields.column_mean);
    assert_eq!(o.fields.tracers, TracerSelection::Named(vec!["co2".into()]));
    let special = &o.fields.per_tracer["co2"];
    assert_eq!(
        *special,
        TracerFields { layers: Some(LayerSelection::Selected), column_mean: Some(false), ..Default::default() }
    );
}

/// Input tables that are wrong; `DIR` stands for a folder with files for 2021-12-01 and 2021-12-02.
#[test]
fn input_tables() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["m_20211201.bin", "m_20211202.bin"] {
        std::fs::write(dir.path().join(name), b"").unwrap();
    }
    let path = dir.path().join("run.toml");
    let parse = |input: &str| {
        let text = format!("{input}\n[advection]\nscheme = \"upwind\"\n[tracers.co2]\n");
        RunConfig::parse(&text, &path)
    };
    let files = |input: &str| match parse(input).unwrap_or_else(|e| panic!("{}", e.plain())).input.source {
        Source::Files { paths, start_date } => (paths.len(), start_date.map(|d| d.to_string())),
        Source::Synthetic(_) => panic!("files"),
    };
    // Relative paths are taken from the folder of the configuration file.
    assert_eq!(files("[input]\nbinary_paths = [\"m_20211202.bin\"]"), (1, None));
    assert_eq!(
        files("[input]\nbinary_paths = [\"./m_20211202.bin\"]\nstart_date = 2021-12-02"),
        (1, Some("2021-12-02".into()))
    );
    let folder = "[input]\nfolder = \".\"\nstart_date = \"2021-12-01\"\n";
    assert_eq!(files(&format!("{folder}end_date = 2021-12-02")), (2, Some("2021-12-01".into())));
    assert_eq!(files(&format!("{folder}end_date = \"2021-12-01\"\nfile_pattern = \"m_{{YYYYMMDD}}.bin\"")).0, 1);

    for (input, line, parts) in [
        ("[input]\nbinary_paths = []".to_owned(), 2, &["binary_paths", "at least one"][..]),
        ("[input]\nbinary_paths = \"m.bin\"".into(), 2, &["a list", "[\"m.bin\"]"]),
        ("[input]\nbinary_paths = [\"m_20211201.bin\",\n\"gone.bin\"]".into(), 3, &["gone.bin", "does not exist"]),
        ("[input]\nbinary_paths = [\".\"]".into(), 2, &["is a folder"]),
        ("[input]\nbinary_paths = [\"m_20211201.bin\", \"m_20211201.bin\"]".into(), 2, &["twice"]),
        (
            "[input]\nbinary_paths = [\"m_20211201.bin\"]\nend_date = 2021-12-01".into(),
            3,
            &["input.end_date", "remove"],
        ),
        ("[input]\nbinary_paths = [\"m_20211201.bin\"]\nfolder = \".\"".into(), 3, &["both given", "exactly one"]),
        ("[input]\nfolder = \".\"\n[input.synthetic]".into(), 3, &["both given", "exactly one"]),
        ("[input]\nexpected_nlevel = 3".into(), 1, &["no meteorology", "exactly one"]),
        (
            "[input]\nfolder = \"gone\"\nstart_date = 2021-12-01\nend_date = 2021-12-01".into(),
            2,
            &["gone", "does not exist"],
        ),
        (format!("{folder}\n"), 1, &["input.end_date", "missing"]),
        (format!("{folder}end_date = 2021-11-30"), 4, &["before", "exchange"]),
        (format!("{folder}end_date = \"2021-12-32\""), 4, &["input.end_date", "a date"]),
        (format!("{folder}end_date = 2021-12-01T00:00:00Z"), 4, &["input.end_date", "a date"]),
        (format!("{folder}end_date = 2021-12-04"), 2, &["no file for 2021-12-03 and 1 more", "exactly one file"]),
        (format!("{folder}end_date = 2021-12-02\nfile_pattern = \"x\""), 5, &["{YYYYMMDD}", "exactly once"]),
        ("[input.staging]\nenabled = true\ndir = \"x\"\n[input.synthetic]".into(), 1, &["input.staging", "no effect"]),
        (
            format!("{folder}end_date = 2021-12-02\n[input.staging]\nenabled = true"),
            5,
            &["input.staging.dir", "missing"],
        ),
        ("[input.synthetic]\nnc = 1".into(), 2, &["input.synthetic.nc", "from 2"]),
        ("[input.synthetic]\nflow = \"wether\"".into(), 2, &["did you mean \"weather\""]),
        ("[input.synthetic]\nangle_deg = 90".into(), 2, &["angle_deg", "flow \"weather\"", "solid-body"]),
        ("[input.synthetic]\nflow = \"hadley\"\nphysics = \"all\"".into(), 3, &["input.synthetic.physics", "weather"]),
        ("[input.synthetic]\nstart_time = \"noon\"".into(), 2, &["input.synthetic.start_time", "UTC"]),
        ("[input]\nstart_date = 2021-12-01\n[input.synthetic]".into(), 2, &["input.start_date", "start_time"]),
    ] {
        let errors = parse(&input).expect_err("the input table is wrong");
        let found: Vec<_> = errors.problems().collect();
        assert_eq!(found.len(), 1, "{input}:\n{}", errors.plain());
        assert_eq!(errors.position(found[0]).map(|p| p.0), Some(line), "{input}:\n{}", errors.plain());
        for part in parts {
            assert!(errors.plain().contains(part), "{part} not in\n{}", errors.plain());
        }
    }
}

#[test]
fn a_native_field_needs_its_keys() {
    let found = errors(&format!("{MINIMAL}kind = \"cs_native\"\n"));
    let missing: Vec<_> = found.iter().map(|f| f.1.as_str()).collect();
    assert_eq!(missing.len(), 3, "{found:?}");
    for key in ["file", "variable", "vertical_order"] {
        assert!(missing.iter().any(|m| m.contains(&format!("`tracers.co2.{key}` is missing"))), "{found:?}");
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("ic.nc"), b"").unwrap();
    let text = format!(
        "{MINIMAL}[tracers.co2.init]\nkind = \"cs_native\"\nfile = \"ic.nc\"\nvariable = \"CO2\"\n\
         vertical_order = \"surface_first\"\nclamp_negative = true\n"
    );
    let config = RunConfig::parse(&text, &dir.path().join("run.toml")).unwrap_or_else(|e| panic!("{}", e.plain()));
    let expected = InitialState::CsNative {
        file: dir.path().join("ic.nc"),
        variable: "CO2".into(),
        units: None,
        record: RecordChoice::Only,
        vertical_order: VerticalOrder::SurfaceFirst,
        negatives: Negatives::Clamp,
    };
    assert_eq!(config.tracers[0].initial, expected);
}

#[test]
fn fields_on_other_grids_have_their_keys() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("ic.nc"), b"").unwrap();
    let field = |lines: &str| {
        let text = format!("{MINIMAL}[tracers.co2.init]\nfile = \"ic.nc\"\n{lines}\n");
        let config = RunConfig::parse(&text, &dir.path().join("run.toml")).unwrap_or_else(|e| panic!("{}", e.plain()));
        match &config.tracers[0].initial {
            InitialState::Field(field) => field.clone(),
            other => panic!("{other:?}"),
        }
    };
    let plain = FieldFile {
        file: dir.path().join("ic.nc"),
        variable: "CO2".into(),
        units: None,
        record: RecordChoice::Only,
        surface_pressure: SurfacePressure::Known,
        vertical: VerticalMapping::LogPressure,
        vertical_order: None,
        negatives: Negatives::Keep,
    };
    assert_eq!(field("kind = \"catrine_co2\""), plain);
    for kind in ["file", "netcdf", "file_field"] {
        assert_eq!(field(&format!("kind = \"{kind}\"\nvariable = \"CO2\"")), plain);
    }
    let ppm = FieldFile { units: Some("ppm".into()), ..plain.clone() };
    assert_eq!(field("kind = \"catrine_co2\"\nunits = \"ppm\""), ppm);
    let model = FieldFile { surface_pressure: SurfacePressure::Model, ..plain.clone() };
    assert_eq!(field("kind = \"catrine_co2\"\nsurface_pressure = \"model\""), model);
    let all = FieldFile {
        variable: "q".into(),
        record: RecordChoice::Index(3),
        surface_pressure: SurfacePressure::Variable("sp".into()),
        vertical: VerticalMapping::Conservative,
        vertical_order: Some(VerticalOrder::TopFirst),
        negatives: Negatives::Clamp,
        ..plain
    };
    let lines = "kind = \"file\"\nvariable = \"q\"\ntime_index = 3\nsurface_pressure = \"sp\"\nvertical = \"conservative\"\n\
                 vertical_order = \"toa_first\"\nclamp_negative = true";
    assert_eq!(field(lines), all);
    let layers = accepted(&format!("{MINIMAL}kind = \"bl_enhanced\"\nenhancement = 1e-5\nn_layers = 2\n"));
    let expected = InitialState::BoundaryLayer { background: 4e-4, enhancement: 1e-5, layers: 2 };
    assert_eq!(layers.tracers[0].initial, expected);
    let cached = accepted(&format!("{MINIMAL}[run]\nregridder_cache_dir = \"weights\"\n"));
    assert_eq!(cached.settings.regridder_cache_dir.as_deref(), Some(Path::new("weights")));
}

#[test]
fn an_unreadable_file_is_an_error_with_a_remedy() {
    let errors = RunConfig::load(Path::new("no/such/run.toml")).unwrap_err();
    assert!(errors.plain().contains("no/such/run.toml: error: cannot be read"), "{}", errors.plain());
}

#[test]
fn the_explained_configuration_is_equivalent() {
    let text = format!(
        "{MINIMAL}kind = \"Gaussian_Blob\"\nlat0_deg = 5\n\
         [[tracers.co2.surface_flux]]\nkind = \"uniform\"\nrate = 2e-9\n\
         [[tracers.co2.surface_flux]]\nkind = \"uniform\"\nrate = 1\ninjection = {{ kind = \"heights\", z_top = 9 }}\n\
         [tracers.sf6]\nsurface_flux_kind = \"uniform\"\nsurface_flux_rate = 3\n\
         [diffusion]\nkind = \"profile\"\nkz = [1, 2]\nz = [0, 9]\n[convection]\nkind = \"cmfmc_matrix\"\n[output]\nfilename = \"x.nc\"\nhours = [0, 6]\n\
         [output.fields.per_tracer.co2]\nlayers = false\n"
    );
    let config = accepted(&text);
    let explained = explain(&config);
    assert!(explained.contains("lat0_deg = 5  # line 6\n"), "{explained}");
    assert!(explained.contains("cfl_limit = 0.95  # default\n"), "{explained}");
    assert!(explained.contains("sigma_lat_deg = 10  # default\n"), "{explained}");
    assert!(explained.contains("# [chemistry] is absent: none of it\n"), "{explained}");
    assert!(explained.contains("[output.fields]\n"), "{explained}");
    assert!(
        explained.contains("[tracers.sf6.init]\nkind = \"uniform\"  # default\nbackground = 0  # default\n"),
        "{explained}"
    );
    assert!(explained.contains("[[tracers.co2.surface_flux]]\n"), "{explained}");
    assert!(explained.contains("solve = \"delta\"  # default\n"), "{explained}");
    let again = accepted(&explained);
    assert_eq!(
        (again.input, again.settings, again.advection, again.physics, again.tracers, again.output),
        (config.input, config.settings, config.advection, config.physics, config.tracers, config.output)
    );
}
