//! Configurations of flux preparation.

use super::*;

/// Parses a text beside these (empty) files and a table of growth.
fn beside(names: &[&str], text: &str) -> (tempfile::TempDir, Result<FluxConfig, ConfigErrors>) {
    let dir = tempfile::tempdir().unwrap();
    for name in names {
        std::fs::write(dir.path().join(name), b"").unwrap();
    }
    std::fs::write(dir.path().join("growth.txt"), "2021 0.3 0.01\n2022 0.4 0.01\n2023 0.4 0.01\n").unwrap();
    let parsed = FluxConfig::parse(text, &dir.path().join("fluxes.toml"));
    (dir, parsed)
}

const TABLES: &str = "[grid]\nnc = 12\n[output]\nfolder = \"out\"\n";

#[test]
fn the_protocol_has_three_series() {
    let text = format!(
        "{TABLES}float_type = \"Float64\"\n[catrine]\ngridfed = [\"g_2022.nc\", \"g_2023.nc\"]\nzhang = \"z.nc\"\n\
         edgar = \"e.nc\"\nsf6_growth = \"growth.txt\"\n"
    );
    let (dir, parsed) = beside(&["g_2022.nc", "g_2023.nc", "z.nc", "e.nc"], &text);
    let config = parsed.unwrap_or_else(|e| panic!("{}", e.plain()));
    assert_eq!(config.grid, FluxGrid::Cells { nc: 12, bundle: GeometryBundle::GeosNative });
    assert_eq!((config.folder, config.float, config.cache), (dir.path().join("out"), FloatType::Float64, None));
    let stems: Vec<_> = config.series.iter().map(|series| series.stem.as_str()).collect();
    assert_eq!(stems, ["catrine_fossil_co2", "catrine_rn222", "catrine_sf6"]);
    for series in &config.series {
        assert_eq!((series.from, series.until), (date(2021, 12, 1), date(2023, 12, 31)));
    }
    assert_eq!(config.series[0].rule, SeriesRule::ZeroFirstMonth);
    assert_eq!(config.series[1].inventory.time, TimeUse::Cyclic);
    assert!(matches!(&config.series[2].rule, SeriesRule::Growth { table, .. } if table.growth(2022) == Some(0.4)));
}

#[test]
fn any_archive_becomes_a_file() {
    let text = format!(
        "{TABLES}[[flux]]\nname = \"co2\"\nfrom_date = 2021-01-01\nuntil_date = 2021-01-31\nkind = \"carbontracker\"\n\
         file = \"c.nc\"\nscale = 0.5\n[[flux]]\nname = \"soot\"\nfrom_date = 2021-01-01\nuntil_date = 2021-01-31\n\
         kind = \"file\"\nfile = \"s.nc\"\nvariable = \"v\"\nmonth = 3\nmolar_mass_kg_mol = 0.012\n"
    );
    let config = beside(&["c.nc", "s.nc"], &text).1.unwrap_or_else(|e| panic!("{}", e.plain()));
    let [co2, soot] = &config.series[..] else { panic!("{:?}", config.series) };
    assert_eq!((co2.name.as_str(), co2.stem.as_str(), &co2.rule), ("co2", "co2", &SeriesRule::Plain));
    assert_eq!(co2.inventory.conversion, Conversion::new(0.5, 44.0095e-3).unwrap());
    assert_eq!(soot.inventory.conversion.molar_mass(), 0.012);
}

#[test]
fn wrong_preparations() {
    let flux = "[[flux]]\nname = \"co2\"\nfrom_date = 2021-01-01\nuntil_date = 2021-01-31\nkind = \"carbontracker\"\n\
                file = \"c.nc\"\n";
    for (text, line, parts) in [
        (TABLES.into(), 0, &["nothing to write", "[catrine]"][..]),
        ("[output]\nfolder = \"out\"\n[catrine]\nzhang = \"c.nc\"\n".into(), 0, &["[grid] is missing"]),
        (format!("[grid]\n[output]\nfolder = \"out\"\n{flux}"), 1, &["names no cells", "`nc`"]),
        (format!("[grid]\nnc = 12\ntransport_file = \"c.nc\"\n[output]\nfolder = \"o\"\n{flux}"), 2, &["both given"]),
        (
            format!("[grid]\ntransport_file = \"c.nc\"\nconvention = \"gnomonic\"\n[output]\nfolder = \"o\"\n{flux}"),
            3,
            &["grid.convention", "no meaning"],
        ),
        (format!("{TABLES}[catrine]\n"), 5, &["names no archive"]),
        (format!("{TABLES}[catrine]\nedgar = \"c.nc\"\n"), 6, &["sf6_growth", "missing", "NOAA"]),
        (format!("{TABLES}[catrine]\nzhang = \"c.nc\"\nsf6_growth = \"growth.txt\"\n"), 7, &["without `edgar`"]),
        (
            format!("{TABLES}[catrine]\nedgar = \"c.nc\"\nsf6_growth = \"c.nc\"\n"),
            7,
            &["holds no year", "lines of year"],
        ),
        (format!("{TABLES}[catrine]\nzhang = \"c.nc\"\nlast_date = 2020-01-01\n"), 7, &["before 2021-12-01"]),
        (format!("{TABLES}{flux}{flux}"), 12, &["two files would be called co2_c<N>.nc"]),
        (
            format!("{TABLES}{}molar_mass_kg_mol = 0.044\n", flux.replace("\"co2\"", "\"2co\"")),
            6,
            &["cannot be the name of a variable"],
        ),
        (format!("{TABLES}{}", flux.replace("\"co2\"", "\"x\"")), 5, &["molar_mass_kg_mol", "missing"]),
        (format!("{TABLES}{}", flux.replace("\"carbontracker\"", "\"cs_native\"")), 9, &["longitude-latitude"]),
        (format!("{TABLES}{}", flux.replace("2021-01-31", "2020-01-31")), 8, &["lies before"]),
        (format!("{TABLES}{flux}temporal_scheme = \"linear\"\n"), 11, &["temporal_scheme", "the run that reads"]),
        (
            format!("{TABLES}{flux}injection = {{ kind = \"heights\", z_top = 3 }}\n"),
            11,
            &["injection", "the run that"],
        ),
        (format!("{TABLES}{flux}nc = 3\n"), 11, &["unknown key `nc`", "belongs in [grid]"]),
        (format!("{TABLES}{flux}rate = 3\n"), 11, &["rate", "no meaning with kind"]),
    ] {
        let errors = beside(&["c.nc"], &text).1.expect_err("the configuration is wrong");
        let found: Vec<_> = errors.problems().collect();
        assert_eq!(found.len(), 1, "{text}\n{}", errors.plain());
        assert_eq!(errors.position(found[0]).map_or(0, |p| p.0), line, "{}", errors.plain());
        assert!(parts.iter().all(|part| errors.plain().contains(part)), "{parts:?} not in\n{}", errors.plain());
    }
}

#[test]
fn the_explained_configuration_is_equivalent() {
    let text = format!(
        "{TABLES}[catrine]\nzhang = \"z.nc\"\n[[flux]]\nname = \"co2\"\nfrom_date = 2021-01-01\nuntil_date = 2021-01-31\n\
         kind = \"file\"\nvariable = \"v\"\nfile = \"c.nc\"\nscale = 0.5\n"
    );
    let (dir, parsed) = beside(&["c.nc", "z.nc"], &text);
    let config = parsed.unwrap_or_else(|e| panic!("{}", e.plain()));
    let explained = crate::config::explain_fluxes(&config);
    for line in
        ["[[flux]]", "scale = 0.5  # line 14", "missing = \"refuse\"  # default", "float_type = \"Float32\"  # default"]
    {
        assert!(explained.lines().any(|found| found == line), "{line} not in\n{explained}");
    }
    let again =
        FluxConfig::parse(&explained, &dir.path().join("fluxes.toml")).unwrap_or_else(|e| panic!("{}", e.plain()));
    assert_eq!(FluxConfig { text, ..again }, config);
}
