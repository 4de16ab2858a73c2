//! Every wrong key or value is reported with its line and a remedy.

use super::*;

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
    ("[chemistry]\nkind = \"none\"\nhalf_lives_seconds = { co2 = 1 }", 3, &["has no meaning", "decay"]),
    ("[chemistry]\nkind = \"none\"\ndecay_cadence = \"window\"", 3, &["decay_cadence", "no meaning"]),
    ("[chemistry]\nkind = \"none\"\n[chemistry.half_lives_seconds]\nrn222 = 330350", 3, &["half_lives_seconds"]),
    ("[tracers.x]\nkind = \"file\"\nvariable = \"q\"", 1, &["tracers.x.file", "missing", "needs `file`"]),
    ("[tracers.x]\nkind = \"catrine_co2\"\nfile = \"gone.nc\"", 3, &["tracers.x.file", "does not exist"]),
    ("[tracers.x]\nkind = \"bl_enhanced\"\nn_layers = 0", 3, &["n_layers", "≥ 1"]),
    ("[tracers.x]\nkind = \"uniform\"\nvertical = \"conservative\"", 3, &["vertical", "no meaning", "\"file\""]),
    ("[tracers.x]\nkind = \"bl_enhanced\"\nfile = \"a.nc\"", 3, &["tracers.x.file", "no meaning"]),
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
    ("[architecture]\nbackend = \"metal\"", 2, &["double precision", "Float32"]),
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
    ("[tracers.x]\nkind = \"latitude_step\"\nnorth = 1\nnorth_value = 0.5", 4, &["the same key", "north_value"]),
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
        (
            "scheme = \"linrood\"\nlimiter = \"positivity\"",
            3,
            &["advection.limiter", "linrood", "\"quasi\"", "\"mono\""],
        ),
        (
            "scheme = \"linrood\"\n[architecture]\nbackend = \"opencl\"",
            4,
            &["architecture.backend", "linrood", "processor only", "huynh_pd"],
        ),
        ("scheme = \"linrood\"\nppm_order = 6", 3, &["advection.ppm_order", "only the orders 5 and 7"]),
        ("scheme = \"linrood\"\nppm_order = 4", 3, &["advection.ppm_order", "5", "7"]),
        (
            "scheme = \"linrood\"\nppm_order = 7\nedge = \"fv3\"",
            3,
            &["advection.ppm_order", "contradict", "remove one"],
        ),
        ("scheme = \"linrood\"\nedge = \"two-sided\"", 3, &["advection.edge", "two_sided"]),
        ("scheme = \"upwnd\"", 2, &["upwnd", "did you mean \"upwind\""]),
        ("scheme = \"upwind\"\nlimiter = \"none\"", 3, &["advection.limiter", "upwind", "remove it"]),
        ("scheme = \"none\"\nlimiter = \"none\"", 3, &["advection.limiter", "no meaning"]),
        ("scheme = \"slopes\"\nlimiter = \"cw84\"", 3, &["advection.limiter", "slopes", "\"positivity\""]),
        ("scheme = \"ppm\"\nlimiter = \"positivity\"", 3, &["advection.limiter", "ppm", "\"huynh_pd\""]),
        ("scheme = \"ppm\"\nlimiter = \"monoton\"", 3, &["did you mean \"monotone\""]),
        ("scheme = \"ppm\"\nppm_order = 5", 3, &["advection.ppm_order", "no meaning", "linrood"]),
        ("scheme = \"ppm\"\nlimiter = \"quasi\"", 3, &["advection.limiter", "ppm", "\"huynh_pd\""]),
        ("scheme = \"upwind\"\nvertical = \"fv3_kord8\"", 3, &["advection.vertical", "upwind", "\"ppm\""]),
        ("scheme = \"slopes\"\nvertical = \"fv3_kord8_signed\"", 3, &["advection.vertical", "slopes", "\"ppm\""]),
        ("scheme = \"ppm\"\nvertical = \"fv3_kord9\"", 3, &["advection.vertical", "did you mean"]),
        ("scheme = \"ppm\"\ncfl_limit = 0", 3, &["advection.cfl_limit", "> 0"]),
        ("scheme = \"ppm\"\ncfl_limit = 1.5", 3, &["advection.cfl_limit", "≤ 1"]),
        ("scheme = \"ppm\"\nstrict_cfl = 1", 3, &["advection.strict_cfl", "true or false"]),
        ("scheme = \"ppm\"\nseam_ghost = \"remap\"", 3, &["advection.seam_ghost", "no meaning", "linrood"]),
        ("scheme = \"ppm\"\nseam_mode = \"mean\"", 3, &["advection.seam_mode", "not part of this version", "owner"]),
        ("scheme = \"ppm\"\nedge = \"fv3\"", 3, &["advection.edge", "no meaning", "linrood"]),
        ("scheme = \"ppm\"\nz_fuse = 1", 3, &["advection.z_fuse", "true or false"]),
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
