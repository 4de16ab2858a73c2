//! `[tracers.<name>.surface_flux]`: forms, values, files, and what does not fit.

use super::*;
use crate::sources::{
    Conversion, FilePeriod, Gaps, Injection, Inventory, InventoryKind, NativeFiles, Record, Stamp, TimeScheme, TimeUse,
};

const CO2: f64 = 44.0095e-3;

fn uniform(density: f64, scale: f64, molar_mass: f64) -> EmissionSource {
    EmissionSource::Uniform { density, conversion: Conversion::new(scale, molar_mass).unwrap() }
}

/// Sources of the first tracer of `MINIMAL` with these lines after its heading.
fn emissions(lines: &str) -> Vec<EmissionConfig> {
    accepted(&format!("{MINIMAL}{lines}\n")).tracers.swap_remove(0).emissions
}

#[test]
fn a_tracer_has_none_one_or_several_sources() {
    let one = |source| EmissionConfig { source, injection: Injection::Surface };
    for none in
        ["", "surface_flux = []", "surface_flux = {}", "surface_flux.kind = \"none\"", "surface_flux_kind = \"none\""]
    {
        assert_eq!(emissions(none), [], "{none}");
    }
    let single = [one(uniform(2e-9, 1.0, CO2))];
    for lines in [
        "[tracers.co2.surface_flux]\nkind = \"uniform\"\nrate = 2e-9",
        "surface_flux = { kind = \"Uniform\", rate = 2e-9 }",
        "surface_flux = [{ kind = \"none\" }, { kind = \"uniform\", rate = 2e-9 }]",
        "surface_flux_kind = \"uniform\"\nsurface_flux_rate = 2e-9",
    ] {
        assert_eq!(emissions(lines), single, "{lines}");
    }
    let scaled = [one(uniform(2.0, -0.5, CO2))];
    assert_eq!(emissions("surface_flux_kind = \"uniform\"\nsurface_flux_rate = 2\nsurface_flux_scale = -0.5"), scaled);
    // In the order of the file, each with its own molar mass and layers.
    let several = emissions(
        "[[tracers.co2.surface_flux]]\nkind = \"uniform\"\nrate = 3\nmolar_mass_kg_mol = 0.012\n\
         [[tracers.co2.surface_flux]]\nkind = \"uniform\"\nrate = -1\n\
         [tracers.co2.surface_flux.injection]\nkind = \"heights\"\nz_top = 500\n\
         [[tracers.co2.surface_flux]]\nkind = \"uniform\"\nrate = 0\ninjection = { kind = \"levels\", weights = [1, 3] }",
    );
    let raised =
        EmissionConfig { source: uniform(-1.0, 1.0, CO2), injection: Injection::Heights { bottom: 0.0, top: 500.0 } };
    let weighted = EmissionConfig { source: uniform(0.0, 1.0, CO2), injection: Injection::Levels(vec![0.25, 0.75]) };
    assert_eq!(several, [one(uniform(3.0, 1.0, 0.012)), raised, weighted]);
    let own = accepted(&format!(
        "{MINIMAL}[tracers.x]\nmolar_mass_kg_mol = 0.03\nsurface_flux = {{ kind = \"uniform\", rate = 1 }}\n"
    ));
    assert_eq!(own.tracers[1].emissions, [one(uniform(1.0, 1.0, 0.03))]);
}

#[test]
fn sources_are_told_in_words() {
    assert_eq!(accepted(MINIMAL).source_summaries(), [""; 0]);
    let config = accepted(&format!(
        "{MINIMAL}surface_flux = {{ kind = \"uniform\", rate = 2e-9, scale = 0.5 }}\n\
         [tracers.sf6]\nsurface_flux = {{ kind = \"uniform\", rate = 1, injection = {{ kind = \"heights\", z_top = 9 }} }}\n"
    ));
    let expected = ["co2: uniform 1e-9 kg m-2 s-1", "sf6: uniform 1e0 kg m-2 s-1, from 0 to 9 m"];
    assert_eq!(config.source_summaries(), expected);
    assert_eq!(config.source_records(), ["", ""]);
}

/// Parses `MINIMAL` with lines for its tracer in a folder with the (empty) files `names`.
fn beside(names: &[&str], lines: &str) -> (tempfile::TempDir, Result<RunConfig, ConfigErrors>) {
    let dir = tempfile::tempdir().unwrap();
    for name in names {
        std::fs::write(dir.path().join(name), b"").unwrap();
    }
    let parsed = RunConfig::parse(&format!("{MINIMAL}{lines}\n"), &dir.path().join("run.toml"));
    (dir, parsed)
}

/// Names of the twelve files of a year.
fn months(year: &str) -> Vec<String> {
    (1..=12).map(|month| format!("f_{year}{month:02}.nc")).collect()
}

#[test]
fn native_files_are_named_in_three_ways() {
    let one = "[tracers.co2.surface_flux]\nkind = \"cs_native\"\nvariable = \"flux\"\n";
    let year = |year| months(year).iter().map(String::as_str).map(str::to_owned).collect::<Vec<_>>();
    for (lines, expected) in [
        (format!("{one}file = \"a.nc\""), vec!["a.nc".to_owned()]),
        (format!("{one}files = [\"b.nc\", \"a.nc\"]\ntime_varying = true"), vec!["b.nc".into(), "a.nc".into()]),
        (format!("{one}file_pattern = \"f_{{YYYYMM}}.nc\"\nyear = 2021"), year("2021")),
        // Synthetic winds start in 2000.
        (format!("{one}file_pattern = \"f_{{YYYYMM}}.nc\""), year("2000")),
        (
            "surface_flux_kind = \"cs_native\"\nsurface_flux_file = \"a.nc\"\nsurface_flux_variable = \"flux\"".into(),
            vec!["a.nc".into()],
        ),
    ] {
        let names: Vec<String> = [year("2000"), year("2021"), vec!["a.nc".into(), "b.nc".into()]].concat();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let (dir, parsed) = beside(&names, &lines);
        let config = parsed.unwrap_or_else(|e| panic!("{}", e.plain()));
        let native = NativeFiles {
            files: expected.iter().map(|name| dir.path().join(name)).collect(),
            variable: "flux".into(),
            scheme: TimeScheme::Stepwise,
            conversion: Conversion::new(1.0, CO2).unwrap(),
        };
        assert_eq!(config.tracers[0].emissions[0].source, EmissionSource::Native(native), "{lines}");
    }
}

#[test]
fn time_schemes_have_the_names_of_other_models() {
    for (scheme, names) in [
        (TimeScheme::Stepwise, &["stepwise", "block", "piecewise_constant"][..]),
        (TimeScheme::Linear, &["linear", "interp", "interpolate"]),
        (TimeScheme::Conservative, &["conservative", "window_mean", "integral", "mass_conserving"]),
    ] {
        for name in names {
            let table = format!(
                "surface_flux = {{ kind = \"cs_native\", file = \"a.nc\", variable = \"f\", temporal_scheme = \"{name}\" }}"
            );
            let flat = format!(
                "surface_flux_kind = \"cs_native\"\nsurface_flux_file = \"a.nc\"\nsurface_flux_variable = \"f\"\n\
                 surface_flux_temporal_scheme = \"{name}\""
            );
            for lines in [table, flat] {
                let (_dir, parsed) = beside(&["a.nc"], &lines);
                let config = parsed.unwrap_or_else(|e| panic!("{}", e.plain()));
                let EmissionSource::Native(native) = &config.tracers[0].emissions[0].source else { panic!("{lines}") };
                assert_eq!(native.scheme, scheme, "{lines}");
                assert_eq!(config.source_summaries(), [format!("co2: cs_native f of a.nc, {}", names[0])]);
                assert_eq!(config.source_records(), ["a.nc (0 bytes)"]);
            }
        }
    }
}

const WRONG: &[(&str, usize, &[&str])] = &[
    ("surface_flux = 3", 1, &["tracers.co2.surface_flux", "a table or a list of tables"]),
    ("surface_flux = [3]", 1, &["tracers.co2.surface_flux", "a list of tables, not of an integer"]),
    ("surface_flux.kind = \"non\"", 1, &["did you mean \"none\""]),
    ("surface_flux.kind = \"edgar_sf7\"", 1, &["did you mean \"edgar_sf6\"", "\"uniform\""]),
    ("surface_flux_kind = \"lmdz_co2\"", 0, &["surface_flux_file", "missing", "exactly one"]),
    ("surface_flux_month = 3", 1, &["surface_flux_month", "no meaning with kind \"none\""]),
    ("surface_flux = { kind = \"uniform\" }", 1, &["surface_flux.rate", "missing"]),
    ("surface_flux = { rate = 1.0 }", 1, &["surface_flux.rate", "no meaning with kind \"none\""]),
    ("surface_flux = { kind = \"uniform\", rate = 1, file = \"x\" }", 1, &["surface_flux.file", "\"cs_native\""]),
    (
        "surface_flux = { kind = \"uniform\", rate = 1, temporal_scheme = \"linear\" }",
        1,
        &["temporal_scheme", "no meaning"],
    ),
    ("surface_flux = { kind = \"uniform\", rate = nan }", 1, &["surface_flux.rate", "a number"]),
    ("surface_flux = { kind = \"uniform\", rate = 1, molar_mass_kg_mol = 44 }", 1, &["molar_mass_kg_mol", "< 1"]),
    ("surface_flux_kind = \"uniform\"", 0, &["surface_flux_rate", "missing"]),
    (
        "surface_flux_kind = \"uniform\"\nsurface_flux_rate = 1\nsurface_flux_temporal_scheme = \"linear\"",
        3,
        &["surface_flux_temporal_scheme", "no meaning"],
    ),
    (
        "surface_flux_temporal_scheme = \"linear\"",
        1,
        &["surface_flux_temporal_scheme", "no meaning with kind \"none\""],
    ),
    ("surface_flux_rate = 1.0", 1, &["surface_flux_rate", "no meaning with kind \"none\""]),
    ("surface_flux_kind = \"none\"\n[tracers.co2.surface_flux]", 1, &["surface_flux_kind", "both describe", "move"]),
    ("[tracers.x]\nsurface_flux = { kind = \"uniform\", rate = 1 }", 2, &["tracers.x.molar_mass_kg_mol", "missing"]),
    ("surface_flux = { kind = \"uniform\", rate = 1, injection = {} }", 1, &["injection.kind", "missing"]),
    (
        "surface_flux = { kind = \"uniform\", rate = 1, injection = { kind = \"heights\" } }",
        1,
        &["injection.z_top", "missing"],
    ),
    (
        "surface_flux = { kind = \"uniform\", rate = 1, injection = { kind = \"levels\" } }",
        1,
        &["injection.weights", "missing"],
    ),
    (
        "surface_flux = { kind = \"uniform\", rate = 1, injection = { kind = \"heights\", z_bottom = 9, z_top = 9 } }",
        1,
        &["injection.z_top", "z_bottom < z_top", "the lower one first"],
    ),
    (
        "surface_flux = { kind = \"uniform\", rate = 1, injection = { kind = \"levels\", weights = [0, 0] } }",
        1,
        &["injection.weights", "all weights are zero"],
    ),
    (
        "surface_flux = { kind = \"uniform\", rate = 1, injection = { kind = \"levels\", weights = [-1] } }",
        1,
        &["injection.weights", "≥ 0"],
    ),
    (
        "surface_flux = { kind = \"uniform\", rate = 1, injection = { kind = \"levels\", weights = [1], z_top = 3 } }",
        1,
        &["injection.z_top", "no meaning", "\"heights\""],
    ),
    (
        "surface_flux = { kind = \"none\", injection = { kind = \"heights\", z_top = 3 } }",
        1,
        &["injection", "no meaning"],
    ),
];

#[test]
fn wrong_sources() {
    for (added, line, parts) in WRONG {
        one_error(added, *line, parts);
    }
    let text = "[advection]\nscheme = \"none\"\n[input.synthetic]\n[tracers.co2]\nsurface_flux = { kind = \"uniform\", rate = 1 }\n";
    let found = errors(text);
    assert_eq!((found.len(), found[0].0), (1, 5), "{found:?}");
    assert!(found[0].1.contains("advection.scheme"), "{found:?}");
}

#[test]
fn wrong_files_of_sources() {
    let table = "[tracers.co2.surface_flux]\nkind = \"cs_native\"\n";
    let with = |lines: &str| format!("{table}variable = \"flux\"\n{lines}");
    for (lines, line, parts) in [
        (format!("{table}file = \"a.nc\""), 1, &["surface_flux.variable", "missing"][..]),
        (with(""), 1, &["surface_flux.file", "missing", "exactly one"]),
        (with("file = \"gone.nc\""), 4, &["gone.nc", "does not exist"]),
        (with("files = [\"a.nc\", \"gone.nc\"]"), 4, &["gone.nc", "does not exist"]),
        (with("files = []"), 4, &["surface_flux.files", "at least one"]),
        (with("files = [\"a.nc\", \"./a.nc\"]"), 4, &["twice"]),
        (with("file = \"a.nc\"\nfiles = [\"a.nc\"]"), 5, &["both given", "exactly one"]),
        (with("file = \"a.nc\"\nyear = 2021"), 5, &["surface_flux.year", "without `file_pattern`"]),
        (with("file = \"a.nc\"\ntime_varying = false"), 5, &["time_varying", "not possible"]),
        (with("file_pattern = \"f.nc\""), 4, &["{YYYYMM}", "exactly once"]),
        (with("file_pattern = \"f_{YYYYMM}.nc\"\nyear = 1899"), 5, &["surface_flux.year", "from 1900"]),
        (with("file_pattern = \"f_{YYYYMM}.nc\"\nyear = 2021"), 4, &["f_202112.nc", "does not exist"]),
        (
            with("file = \"a.nc\"\nregridding = \"conservative\""),
            5,
            &["regridding", "no meaning with kind", "\"file\""],
        ),
        (with("file = \"a.nc\"\nunits = \"kg m-2 s-1\""), 5, &["units", "no meaning with kind"]),
        (with("file = \"a.nc\"\nlast_date = 2021-01-01"), 5, &["last_date", "without `file_pattern`"]),
        (with("file_pattern = \"f_{YYYY}_{YYYYMM}.nc\""), 4, &["exactly once"]),
        (with("file_pattern = \"f_{YYYYMM}.nc\"\nfirst_date = 2021-01-01"), 5, &["first_date", "given alone"]),
        (
            with("file_pattern = \"f_{YYYYMM}.nc\"\nfirst_date = 2021-02-01\nlast_date = 2021-01-01"),
            6,
            &["last_date", "lies before"],
        ),
        (
            with("file_pattern = \"f_{YYYYMM}.nc\"\nyear = 2021\nfirst_date = 2021-02-01\nlast_date = 2021-03-01"),
            5,
            &["year", "both tell"],
        ),
        (with("file = \"a.nc\"\ntemporal_scheme = \"lin\""), 5, &["temporal_scheme", "\"linear\""]),
    ] {
        let names: Vec<String> = months("2021").into_iter().take(11).chain(["a.nc".into()]).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let errors = beside(&names, &lines).1.expect_err("the source is wrong");
        let found: Vec<_> = errors.problems().collect();
        assert_eq!(found.len(), 1, "{lines}\n{}", errors.plain());
        assert_eq!(errors.position(found[0]).map(|p| p.0), Some(line + 4), "{}", errors.plain());
        assert!(parts.iter().all(|part| errors.plain().contains(part)), "{parts:?} not in\n{}", errors.plain());
    }
}

/// The inventory of the first source of `lines`, beside the (empty) files `names`.
fn inventory(names: &[&str], lines: &str) -> Inventory {
    let (_dir, parsed) = beside(names, &format!("[tracers.co2.surface_flux]\n{lines}"));
    let config = parsed.unwrap_or_else(|e| panic!("{}", e.plain()));
    match &config.tracers[0].emissions[0].source {
        EmissionSource::Inventory(inventory) => inventory.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn inventories_have_what_their_archives_need() {
    let every = [
        ("file", InventoryKind::File, "variable = \"v\"\n"),
        ("lmdz_co2", InventoryKind::LmdzCo2, ""),
        ("gridfed_fossil_co2", InventoryKind::GridfedFossilCo2, ""),
        ("edgar_sf6", InventoryKind::EdgarSf6, ""),
        ("zhang_rn222", InventoryKind::ZhangRn222, ""),
        ("carbontracker", InventoryKind::CarbonTracker, ""),
    ];
    for (name, kind, more) in every {
        let found = inventory(&["a.nc"], &format!("kind = \"{name}\"\nfile = \"a.nc\"\n{more}"));
        let cyclic = kind == InventoryKind::ZhangRn222;
        assert_eq!(found.kind, kind);
        assert_eq!(found.variables.is_empty(), more.is_empty());
        assert_eq!(found.time, if cyclic { TimeUse::Cyclic } else { TimeUse::Varying });
        assert_eq!((found.stamp, found.gaps, found.year), (Stamp::Auto, Gaps::Refuse, None));
        assert_eq!((found.units, found.cell_area), (None, None));
    }
    let found = inventory(
        &["a.nc", "b.nc"],
        "kind = \"file\"\nfiles = [\"a.nc\", \"b.nc\"]\nvariables = [\"x\", \"g/y\"]\nunits = \"kg m-2 s-1\"\nscale = 2\n\
         year = 2021\ntime_stamp = \"center\"\nmissing = \"zero\"\ncell_area = \"area\"\nregridding = \"conservative\"\n\
         temporal_scheme = \"linear\"\nmolar_mass_kg_mol = 0.146055",
    );
    assert_eq!(found.variables, ["x", "g/y"]);
    assert_eq!((found.units.as_deref(), found.year, found.files.len()), (Some("kg m-2 s-1"), Some(2021), 2));
    assert_eq!((found.stamp, found.gaps, found.scheme), (Stamp::Centre, Gaps::Zero, TimeScheme::Linear));
    assert_eq!(found.cell_area.as_deref(), Some("area"));
    assert_eq!(found.conversion, Conversion::new(2.0, 0.146055).unwrap());
}

#[test]
fn records_act_along_their_times_every_year_or_always() {
    use TimeUse::{Constant, Cyclic, Varying};
    for (kind, lines, time) in [
        ("lmdz_co2", "", Varying),
        ("lmdz_co2", "time_varying = true", Varying),
        ("lmdz_co2", "time_varying = false", Constant(Record::Mean)),
        ("lmdz_co2", "time_index = 3", Constant(Record::Index(3))),
        ("lmdz_co2", "time_varying = false\nmonth = 12", Constant(Record::Month(12))),
        ("lmdz_co2", "cyclic = true", Cyclic),
        ("zhang_rn222", "", Cyclic),
        ("zhang_rn222", "cyclic = false", Varying),
        ("zhang_rn222", "month = 2", Constant(Record::Month(2))),
        ("zhang_rn222", "time_varying = false", Constant(Record::Mean)),
    ] {
        let found = inventory(&["a.nc"], &format!("kind = \"{kind}\"\nfile = \"a.nc\"\n{lines}"));
        assert_eq!(found.time, time, "{kind} {lines}");
    }
    let flat = "surface_flux_kind = \"lmdz_co2\"\nsurface_flux_file = \"a.nc\"\n";
    for (key, record) in [("time_index = 4", Record::Index(4)), ("month = 4", Record::Month(4))] {
        let (_dir, parsed) = beside(&["a.nc"], &format!("{flat}surface_flux_{key}"));
        let EmissionSource::Inventory(found) = &parsed.unwrap().tracers[0].emissions[0].source else { panic!("{key}") };
        assert_eq!(found.time, Constant(record));
    }
}

#[test]
fn patterns_stand_for_years_months_and_days() {
    let names = |digits: &[&str]| digits.iter().map(|d| format!("f_{d}.nc")).collect::<Vec<_>>();
    for (place, lines, digits) in [
        ("{YYYY}", "year = 2021", &["2021"][..]),
        ("{YYYY}", "first_date = 2021-12-31\nlast_date = 2023-01-01", &["2021", "2022", "2023"]),
        ("{YYYYMM}", "first_date = 2021-12-15\nlast_date = \"2022-01-01\"", &["202112", "202201"]),
        ("{YYYYMMDD}", "first_date = 2024-02-28\nlast_date = 2024-03-01", &["20240228", "20240229", "20240301"]),
    ] {
        let files = names(digits);
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let found = inventory(&files, &format!("kind = \"carbontracker\"\nfile_pattern = \"f_{place}.nc\"\n{lines}"));
        let paths = found.files.iter().map(|file| file.path.file_name().unwrap().to_str().unwrap());
        assert_eq!(paths.collect::<Vec<_>>(), files);
        let last = found.files.last().unwrap().period.unwrap();
        let expected = match place {
            "{YYYY}" => FilePeriod::Year(digits[digits.len() - 1].parse().unwrap()),
            "{YYYYMM}" => FilePeriod::Month(2022, 1),
            _ => FilePeriod::Day(jiff::civil::date(2024, 3, 1)),
        };
        assert_eq!(last, expected);
        assert_eq!(found.year, None);
    }
}

#[test]
fn wrong_inventories() {
    let table = "[tracers.co2.surface_flux]\n";
    for (lines, line, parts) in [
        ("kind = \"file\"\nfile = \"a.nc\"", 1, &["surface_flux.variable", "missing"][..]),
        ("kind = \"file\"\nfile = \"a.nc\"\nvariable = \"x\"\nvariables = [\"y\"]", 4, &["both given"]),
        ("kind = \"file\"\nfile = \"a.nc\"\nvariables = \"y\"", 4, &["a list of strings", "[\"y\"]"]),
        ("kind = \"file\"\nfile = \"a.nc\"\nvariables = []", 4, &["at least one name"]),
        ("kind = \"file\"\nfile = \"a.nc\"\nvariables = [\"y\", \"y\"]", 4, &["twice"]),
        ("kind = \"lmdz_co2\"\nfile = \"a.nc\"\ntime_index = 0", 4, &["time_index", "≥ 1"]),
        ("kind = \"lmdz_co2\"\nfile = \"a.nc\"\nmonth = 13", 4, &["month", "from 1 to 12"]),
        ("kind = \"lmdz_co2\"\nfile = \"a.nc\"\nmonth = 1\ntime_index = 2", 4, &["contradicts", "time_index"]),
        ("kind = \"lmdz_co2\"\nfile = \"a.nc\"\nmonth = 1\ntime_varying = true", 4, &["contradicts", "time_varying"]),
        ("kind = \"lmdz_co2\"\nfile = \"a.nc\"\nmonth = 1\ncyclic = true", 4, &["contradicts", "cyclic"]),
        ("kind = \"lmdz_co2\"\nfile = \"a.nc\"\ncyclic = true\ntime_varying = false", 4, &["contradicts"]),
        ("kind = \"lmdz_co2\"\nfile = \"a.nc\"\nmonth = 1\ntemporal_scheme = \"linear\"", 5, &["same always"]),
        ("kind = \"lmdz_co2\"\nfiles = [\"a.nc\", \"b.nc\"]\ntime_index = 1", 4, &["2 files"]),
        ("kind = \"zhang_rn222\"\nfile = \"a.nc\"\nyear = 2021", 4, &["surface_flux.year", "every year"]),
        ("kind = \"file\"\nfile = \"a.nc\"\nvariable = \"x\"\ntime_stamp = \"middle\"", 5, &["\"centre\""]),
        ("kind = \"file\"\nfile = \"a.nc\"\nvariable = \"x\"\nmissing = 0", 5, &["missing", "\"zero\""]),
        ("kind = \"file\"\nfile = \"a.nc\"\nvariable = \"x\"\nregridding = \"bilinear\"", 5, &["\"conservative\""]),
        ("kind = \"file\"\nfile = \"a.nc\"\nvariable = \"x\"\nvertical_order = \"toa_first\"", 5, &["unknown key"]),
    ] {
        let errors = beside(&["a.nc", "b.nc"], &format!("{table}{lines}")).1.expect_err("the source is wrong");
        let found: Vec<_> = errors.problems().collect();
        assert_eq!(found.len(), 1, "{lines}\n{}", errors.plain());
        assert_eq!(errors.position(found[0]).map(|p| p.0), Some(line + 4), "{}", errors.plain());
        assert!(parts.iter().all(|part| errors.plain().contains(part)), "{parts:?} not in\n{}", errors.plain());
    }
}
