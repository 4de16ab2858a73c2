//! Whole-file tests: what is accepted, and that every error names its key, its line and a remedy.

use std::path::Path;

use kernels::scheme::{PpmLimiter, Scheme, SlopesLimiter};

use super::*;
use crate::initial::{InitialState, LayerChoice, Negatives, VerticalOrder};
use crate::met::FloatType;
use crate::output::{LayerSelection, Split, TracerFields, TracerSelection};

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
    for (lines, scheme, halo) in [
        ("scheme = \"none\"", None, 0),
        ("scheme = \"Slopes\"", Some(Scheme::Slopes(SlopesLimiter::Monotone)), 2),
        ("scheme = \"slopes\"\nlimiter = \"positivity\"", Some(Scheme::Slopes(SlopesLimiter::Positivity)), 2),
        ("scheme = \"ppm\"", Some(Scheme::Ppm(PpmLimiter::Monotone)), 3),
        ("scheme = \"ppm\"\nlimiter = \"default\"", Some(Scheme::Ppm(PpmLimiter::Monotone)), 3),
        ("scheme = \"ppm\"\nlimiter = \"none\"", Some(Scheme::Ppm(PpmLimiter::None)), 3),
        ("scheme = \"ppm\"\nlimiter = \"cw84\"", Some(Scheme::Ppm(PpmLimiter::Cw84)), 3),
        ("scheme = \"ppm\"\nlimiter = \"huynh_pd\"\nvertical = \"same\"", Some(Scheme::Ppm(PpmLimiter::HuynhPd)), 3),
    ] {
        let c = with(lines);
        assert_eq!(c.advection.scheme, scheme, "{lines}");
        assert_eq!(c.settings.halo, halo, "{lines}");
    }
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

/// Added lines (after the minimal file), line of the error among them, words of the message or of the help.
const WRONG: &[(&str, usize, &[&str])] = &[
    // Unknown keys and tables, with suggestions.
    ("[outputt]\npath = \"x\"", 1, &["`outputt`", "top level", "did you mean `output`"]),
    ("[run]\nstop_windw = 3", 2, &["`stop_windw`", "[run]", "did you mean `stop_window`"]),
    ("[run]\nfloat_type = \"Float32\"", 2, &["`float_type`", "[numerics]"]),
    ("[numerics]\nprecision = 3", 2, &["`precision`", "keys here: float_type"]),
    ("[tracers.x.init]\nbackgrund = 1", 2, &["`backgrund`", "tracers.x.init", "`background`"]),
    ("[output]\npath=\"x.nc\"\nhours=[1]\nfields.layer = \"full\"", 4, &["`layer`", "`layers`"]),
    // Not part of this version.
    ("[diffusion]\nkind = \"tm5_dkg\"", 2, &["diffusion.kind", "not part of this version", "\"none\""]),
    ("[diffusion]\nkind = \"none\"\nvalue = 1.0", 3, &["diffusion.value", "not part of this version"]),
    (
        "[chemistry]\nkind = \"decay\"\nhalf_lives_seconds = { rn = 1.0 }",
        3,
        &["half_lives_seconds.rn", "no tracer `rn`"],
    ),
    ("[chemistry]\nkind = \"decay\"\nhalf_lives_seconds = { co2 = 0 }", 3, &["half_lives_seconds", "numbers > 0"]),
    (
        "[chemistry]\nkind = \"decay\"\nhalf_lives_seconds = { x = true }",
        3,
        &["half_lives_seconds", "table of numbers"],
    ),
    ("[chemistry]\nkind = \"none\"\nhalf_lives_seconds = { co2 = 1 }", 3, &["has no effect", "decay"]),
    ("[convection]\nkind = \"cmfmc\"", 2, &["convection.kind", "not part of this version"]),
    ("[chemistry]\nkind = \"none\"\n[chemistry.half_lives_seconds]\nrn222 = 330350", 4, &["half_lives_seconds"]),
    ("[tracers.x]\nsurface_flux.kind = \"edgar_sf6\"", 2, &["surface_flux.kind", "not part of this version"]),
    ("[tracers.x]\nsurface_flux_file = \"f.nc\"", 2, &["surface_flux_file", "not part of this version"]),
    ("[tracers.x]\nkind = \"file\"\nfile = \"f.nc\"", 2, &["tracers.x.kind", "not part of this version"]),
    ("[tracers.x]\nkind = \"bl_enhanced\"", 2, &["not part of this version"]),
    (
        "[output]\npath=\"x\"\nhours=[1]\n[output.observations]\npath = \"o\"",
        4,
        &["output.observations", "not part of this version"],
    ),
    ("[output]\npath=\"x\"\nhours=[1]\nformat = \"mmap\"", 4, &["output.format", "not part of this version"]),
    // Removed and legacy keys.
    ("[grid]\ntype = \"cubed_sphere\"", 1, &["`grid`", "transport file decides"]),
    ("[init]\nkind = \"uniform\"", 1, &["`init`", "[tracers.<name>.init]"]),
    ("[run]\nreset_air_mass_each_window = true", 2, &["reset_air_mass_each_window", "air_mass_reset_mode"]),
    ("[run]\nscheme = \"ppm\"", 2, &["run.scheme", "[advection]"]),
    ("[run]\ntracer_name = \"CO2\"", 2, &["run.tracer_name", "[tracers.CO2]"]),
    ("[diffusion]\nkind = \"none\"\ntype = \"none\"", 3, &["diffusion.type", "`kind`"]),
    ("[diffusion]", 1, &["diffusion.kind", "missing", "\"none\""]),
    // Types and ranges.
    ("[architecture]\nbackend = \"hip\"", 2, &["architecture.backend", "\"cuda\"", "\"opencl\""]),
    ("[architecture]\nbackend = \"cpu\"\nuse_gpu = true", 3, &["architecture.use_gpu", "contradict", "backend"]),
    ("[architecture]\nhalo = \"staged\"", 2, &["architecture.halo", "no effect", "backend"]),
    ("[architecture]\nthreads = true", 2, &["architecture.threads", "an integer", "not a boolean"]),
    ("[architecture]\nthreads = 0", 2, &["architecture.threads", "from 1"]),
    ("[architecture]\nthreads = 1.0", 2, &["architecture.threads", "not a float", "without a decimal point"]),
    ("[architecture]\nthreads = \"4\"", 2, &["architecture.threads", "not a string", "remove the quotes"]),
    ("[run]\nstart_window = true", 2, &["run.start_window", "not a boolean"]),
    ("[run]\nstart_window = 2", 2, &["run.start_window", "must be 1"]),
    ("[run]\nstop_window = 0", 2, &["run.stop_window", "≥ 1"]),
    ("[run]\nstop_window = 25", 2, &["run.stop_window", "24 windows"]),
    ("[run]\nair_mass_reset_mode = \"preserve_mass\"", 2, &["preserve_mass", "one of", "preserve_tracer_mass"]),
    ("[run]\nphysics_cadence = \"windw\"", 2, &["windw", "did you mean \"window\"", "substep"]),
    ("[run]\nHp = 0", 2, &["run.Hp", "upwind", "at least 1"]),
    ("[run]\nHp = 25", 2, &["run.Hp", "wider than a panel"]),
    ("[run]\nHp = 2\nhalo_padding = 3", 3, &["run.Hp", "run.halo_padding", "differ"]),
    ("[numerics]\nfloat_type = \"Float16\"", 2, &["Float16", "\"Float32\", \"Float64\""]),
    ("[decomposition]\ntiles = [2]", 2, &["decomposition.tiles", "two integers"]),
    ("[decomposition]\ntiles = [0, 2]", 2, &["decomposition.tiles", "≥ 1"]),
    ("[decomposition]\ntiles = [25, 2]", 2, &["decomposition.tiles", "24 cells"]),
    ("[tracers]\nx = 3", 2, &["tracers.x", "must be a table"]),
    // Tracers.
    ("[tracers.1x]", 1, &["1x", "a letter"]),
    ("[tracers.\"a b\"]", 1, &["a b", "letters, digits"]),
    ("[tracers.air_mass]", 1, &["air_mass", "rename"]),
    ("[tracers.lons]", 1, &["lons", "rename"]),
    ("[tracers.co2_column_mean]", 1, &["co2_column_mean", "tracer `co2`"]),
    ("[tracers.x]\nkind = \"gaussian\"", 2, &["gaussian", "gaussian_blob"]),
    ("[tracers.x]\nkind = \"gaussian_blob\"\nsigma_lon_deg = 0", 3, &["sigma_lon_deg", "> 0"]),
    ("[tracers.x]\nkind = \"gaussian_blob\"\nlat0_deg = 91", 3, &["lat0_deg", "from -90 to 90"]),
    ("[tracers.x]\nkind = \"uniform\"\nbackground = nan", 3, &["background", "a number"]),
    ("[tracers.x]\nkind = \"uniform\"\nnorth = 1.0", 3, &["tracers.x.north", "uniform", "latitude_step"]),
    ("[tracers.x]\nkind = \"pressure_layer\"\npsurf_fraction = 1.5", 3, &["psurf_fraction", "≤ 1"]),
    (
        "[tracers.x]\nkind = \"pressure_layer\"\nlowest_layer = true\npsurf_fraction = 1",
        4,
        &["psurf_fraction", "lowest"],
    ),
    ("[tracers.x]\nbackground = 1\ninit = {}", 2, &["tracers.x.background", "tracers.x.init", "move"]),
    ("[tracers.x]\nmolar_mass_kg_mol = 44.0", 2, &["molar_mass_kg_mol", "< 1"]),
    ("[tracers.x]\nsurface_flux.kind = \"non\"", 2, &["did you mean \"none\""]),
    ("[tracers.x]\nkind = \"latitude_step\"\nnorth = 1\nnorth_value = 2", 4, &["the same key", "north_value"]),
    // Output.
    ("[output]\npath = \"x.nc\"", 2, &["output", "no times", "cadence_hours"]),
    ("[output]\nhours = [1]", 1, &["no path"]),
    ("[output]", 1, &["neither a path nor times"]),
    ("[output]\npath = \"x.nc\"\nfilename = \"y.nc\"\nhours = []", 3, &["`path` and `filename` are the same key"]),
    ("[output]\npath = \"x.nc\"\nhours = [1, 1.0]", 3, &["output.hours", "hour 1 twice"]),
    ("[output]\npath = \"x.nc\"\nhours = [-1]", 3, &["output.hours", "≥ 0"]),
    ("[output]\npath = \"x.nc\"\nhours = 6", 3, &["output.hours", "a list", "brackets"]),
    ("[output]\npath = \"x.nc\"\nhours = [6]\ncadence_hours = 1", 4, &["output.hours", "output.cadence_hours"]),
    ("[output]\npath = \"x.nc\"\nhours = [6]\nstart_hour = 1", 4, &["start_hour", "list of hours"]),
    ("[output]\npath = \"x.nc\"\ncadence_hours = 0", 3, &["cadence_hours", "> 0"]),
    ("[output]\npath = \"x.nc\"\ncadence_hours = 1\nstart_hour = 5\nstop_hour = 4", 5, &["stop_hour", "before"]),
    ("[output]\npath = \"x_{date}.nc\"\nhours = []", 2, &["output.path", "split = \"daily\""]),
    ("[output]\npath = \"x_{dat}.nc\"\nsplit = \"daily\"\nhours = []", 2, &["output.path", "{date}"]),
    (
        "[output]\npath = \"$NO_SUCH_VARIABLE_7/x.nc\"\nhours = []",
        2,
        &["output.path", "`NO_SUCH_VARIABLE_7` is not set"],
    ),
    ("[output]\npath = \"out/\"\nhours = []", 2, &["output.path", "is a folder"]),
    ("[output]\npath = \"\"\nhours = []", 2, &["output.path", "empty"]),
    ("[output]\npath = \"x.nc\"\nhours = []\ndeflate_level = 10", 4, &["deflate_level", "from 0 to 9"]),
    ("[output]\npath = \"x.nc\"\nhours = []\nfields.layers = \"selected\"", 4, &["fields.levels", "missing"]),
    (
        "[output]\npath = \"x.nc\"\nhours = []\nfields.levels = [1]",
        4,
        &["fields.levels", "no field is written on selected"],
    ),
    ("[output]\npath = \"x.nc\"\nhours = []\nfields.layers = 1", 4, &["fields.layers", "\"full\""]),
    (
        "[output]\npath = \"x.nc\"\nhours = []\n[output.fields]\nlayers=\"selected\"\nlevels = [1, 1]",
        6,
        &["level 1 twice"],
    ),
    ("[output]\npath = \"x.nc\"\nhours = []\n[output.fields]\nlayers=\"selected\"\nlevels = [0]", 6, &["≥ 1"]),
    ("[output]\npath = \"x.nc\"\nhours = []\nfields.tracers = [\"co3\"]", 4, &["`co3`", "did you mean `co2`"]),
    ("[output]\npath = \"x.nc\"\nhours = []\n[output.fields.per_tracer.sf6]", 4, &["`sf6`", "the tracers are co2"]),
    (
        "[output]\npath = \"x.nc\"\nhours = []\n[output.fields]\ntracers = \"none\"\n[output.fields.per_tracer.co2]",
        6,
        &["`co2` is not among"],
    ),
];

#[test]
fn every_wrong_key_or_value_is_reported_with_its_line_and_a_remedy() {
    for (added, line, parts) in WRONG {
        one_error(added, *line, parts);
    }
}

#[test]
fn wrong_advection_tables() {
    for (lines, line, parts) in [
        ("", 1, &["advection.scheme", "missing", "upwind"][..]),
        ("scheme = \"linrood\"", 2, &["advection.scheme", "not part of this version"]),
        ("scheme = \"upwnd\"", 2, &["upwnd", "did you mean \"upwind\""]),
        ("scheme = \"upwind\"\nlimiter = \"none\"", 3, &["advection.limiter", "upwind", "remove it"]),
        ("scheme = \"none\"\nlimiter = \"none\"", 3, &["advection.limiter", "no meaning"]),
        ("scheme = \"slopes\"\nlimiter = \"cw84\"", 3, &["advection.limiter", "slopes", "\"positivity\""]),
        ("scheme = \"ppm\"\nlimiter = \"positivity\"", 3, &["advection.limiter", "ppm", "\"huynh_pd\""]),
        ("scheme = \"ppm\"\nlimiter = \"monoton\"", 3, &["did you mean \"monotone\""]),
        ("scheme = \"ppm\"\nppm_order = 5", 3, &["advection.ppm_order", "not part of this version", "linrood"]),
        ("scheme = \"ppm\"\nvertical = \"fv3_kord8\"", 3, &["advection.vertical", "not part of this version"]),
        ("scheme = \"ppm\"\ncfl_limit = 0", 3, &["advection.cfl_limit", "> 0"]),
        ("scheme = \"ppm\"\ncfl_limit = 1.5", 3, &["advection.cfl_limit", "≤ 1"]),
        ("scheme = \"ppm\"\nstrict_cfl = 1", 3, &["advection.strict_cfl", "true or false"]),
        ("scheme = \"ppm\"\nseam_ghost = \"remap\"", 3, &["advection.seam_ghost", "not part of this version", "copy"]),
        ("scheme = \"ppm\"\nseam_mode = \"mean\"", 3, &["advection.seam_mode", "not part of this version", "owner"]),
        ("scheme = \"ppm\"\nedge = \"fv3\"", 3, &["advection.edge", "not part of this version"]),
        ("scheme = \"ppm\"\nz_fuse = false", 3, &["advection.z_fuse", "not part of this version"]),
    ] {
        let found = errors(&format!("[advection]\n{lines}\n[input.synthetic]\n[tracers.co2]\n"));
        assert_eq!(found.len(), 1, "{lines}: {found:#?}");
        assert_eq!(found[0].0, line, "{lines}: {found:?}");
        for part in parts {
            assert!(found[0].1.contains(part) || found[0].2.contains(part), "{part} not in {found:?}");
        }
    }
}

#[test]
fn absent_tables_are_all_named() {
    let found = errors("");
    for table in ["[input]", "[advection]", "[tracers]"] {
        assert!(found.iter().any(|(_, m, _)| m.contains(table)), "{table}: {found:?}");
    }
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|(_, _, help)| !help.is_empty()));
}

#[test]
fn all_errors_of_a_file_are_reported_in_the_order_of_lines() {
    let found = errors(
        "[input]\nbinary_paths = [\"no.bin\"]\nvalidate = true\n[advection]\nscheme = \"pmm\"\n[tracers.co2]\n\
         kind = \"uniform\"\nbackground = \"x\"\n[run]\nHp = 0.5\n[output]\nhours = [1]\n",
    );
    let lines: Vec<_> = found.iter().map(|f| f.0).collect();
    assert_eq!(lines, [2, 3, 5, 8, 10, 11], "{found:#?}");
}

#[test]
fn syntax_errors_have_their_line() {
    let found = errors("[advection]\nscheme = \n[x");
    assert!(found.len() >= 2, "{found:?}");
    assert_eq!(found[0].0, 2);
    assert!(found[0].1.contains("not valid TOML"), "{found:?}");
    let twice = errors("[run]\nHp = 1\nHp = 2\n");
    assert_eq!(twice[0].0, 3, "{twice:?}");
    assert!(twice[0].1.contains("duplicate"), "{twice:?}");
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
        (
            "[input.staging]\nenabled = true\n[input.synthetic]".into(),
            1,
            &["input.staging", "not part of this version"],
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
        time_index: 1,
        vertical_order: VerticalOrder::SurfaceFirst,
        negatives: Negatives::Clamp,
    };
    assert_eq!(config.tracers[0].initial, expected);
}

#[test]
fn an_unreadable_file_is_an_error_with_a_remedy() {
    let errors = RunConfig::load(Path::new("no/such/run.toml")).unwrap_err();
    assert!(errors.plain().contains("no/such/run.toml: error: cannot be read"), "{}", errors.plain());
}

#[test]
fn the_explained_configuration_is_equivalent() {
    let text = format!(
        "{MINIMAL}kind = \"Gaussian_Blob\"\nlat0_deg = 5\n[output]\nfilename = \"x.nc\"\nhours = [0, 6]\n\
         [output.fields.per_tracer.co2]\nlayers = false\n"
    );
    let config = accepted(&text);
    let explained = explain(&config);
    assert!(explained.contains("lat0_deg = 5  # line 6\n"), "{explained}");
    assert!(explained.contains("cfl_limit = 0.95  # default\n"), "{explained}");
    assert!(explained.contains("sigma_lat_deg = 10  # default\n"), "{explained}");
    assert!(!explained.contains("[diffusion]"), "{explained}");
    let again = accepted(&explained);
    assert_eq!(
        (again.input, again.settings, again.advection, again.tracers, again.output),
        (config.input, config.settings, config.advection, config.tracers, config.output)
    );
}
