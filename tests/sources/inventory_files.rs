//! Files of inventories: what they leave open, what is refused, and real ones.

use std::path::{Path, PathBuf};

use atmostr::sources::{Conversion, Gaps, InventoryKind, SourceError};

use super::inventory::{
    CO2, DAY, NC, RADIUS, RADON, SF6, SIZE, Written, close, folder, inventory, problem, run, totals,
};

/// Areas of the file instead of those of the run's sphere.
#[test]
fn areas_may_come_from_the_file() {
    let dir = folder();
    let written = Written::default();
    let path = written.write(&dir.path().join("flux.nc"));
    let mut file = netcdf::append(&path).unwrap();
    let areas: Vec<f64> = (0..18).flat_map(|j| std::iter::repeat_n(0.99 * written.area(j), 36)).collect();
    file.add_variable::<f64>("cell_area", &["lat", "lon"]).unwrap().put_values(&areas, ..).unwrap();
    drop(file);
    let mut source = inventory(InventoryKind::File, std::slice::from_ref(&path), CO2);
    source.cell_area = Some("cell_area".into());
    close(totals::<f64>(&source, &run("2021-01-01", 1.0), NC, 1).1[0], 0.99 * written.integral(0), 1e-13);
    source.units = Some("t cell-1 yr-1".into());
    assert!(problem(&source, &run("2021-01-01", 1.0)).contains("remove `cell_area`"));
}

#[test]
fn missing_values_are_refused_or_nothing() {
    let dir = folder();
    // Half a unit below zero is stored in every eleventh cell or so.
    let written = Written { fill: Some(-0.5 * SIZE), ..Written::default() };
    let mut source = inventory(InventoryKind::File, &[written.write(&dir.path().join("flux.nc"))], CO2);
    let span = run("2021-01-01", 1.0);
    assert!(problem(&source, &span).contains("no value at latitude 1, longitude 1"), "{}", problem(&source, &span));
    source.gaps = Gaps::Zero;
    let rest = written.integral(0)
        + 0.5 * f64::from(SIZE) * {
            let gaps = |j: usize| (0..36).filter(|i| (3 * i + 7 * j).is_multiple_of(11)).count() as f64;
            (0..18).map(|j| gaps(j) * written.area(j)).sum::<f64>()
        };
    close(totals::<f64>(&source, &span, NC, 1).1[0], rest, 1e-13);
}

#[test]
fn files_that_do_not_fit_are_refused() {
    let dir = folder();
    let span = run("2021-12-01", 3.0);
    let stamped = |units: &'static str, values: Vec<f64>| Written {
        records: values.len(),
        time: Some(("time", units, values)),
        ..Written::default()
    };
    let cases: [(&str, Written<'_>, &[&str]); 9] = [
        (
            "units.nc",
            Written { units: Some("g m-2 s-1"), ..Written::default() },
            &["'g m-2 s-1'", "known are", "`units`"],
        ),
        ("none.nc", Written { units: None, ..Written::default() }, &["has no units", "`units`"]),
        ("gas.nc", Written { units: Some("kgSF6 m-2 s-1"), ..Written::default() }, &["not that of sf6"]),
        ("seven.nc", Written { records: 7, ..Written::default() }, &["7 records without times", "`time_index`"]),
        ("flux_2020_2021.nc", Written { records: 12, ..Written::default() }, &["2020, 2021", "`year`"]),
        ("months.nc", Written { records: 12, ..Written::default() }, &["no year", "`year`"]),
        ("month.nc", Written { units: Some("kg m-2 month-1"), ..Written::default() }, &["month and year", "`year`"]),
        ("back.nc", stamped("hours since 2021-12-01", vec![0.0, 3.0, 3.0]), &["'time' does not increase", "value 3"]),
        ("leap.nc", stamped("months since 2021-12-01", vec![0.0, 1.0]), &["months since", "days since"]),
    ];
    for (name, written, parts) in cases {
        let found = problem(&inventory(InventoryKind::File, &[written.write(&dir.path().join(name))], CO2), &span);
        assert!(parts.iter().all(|part| found.contains(part)), "{name}: {found}");
    }
    let file = Written::default().write(&dir.path().join("a_2021.nc"));
    let absent = problem(&inventory(InventoryKind::LmdzCo2, std::slice::from_ref(&file), CO2), &span);
    assert!(absent.contains("no variable 'flux_apos'; it holds lon, lat, flux"), "{absent}");
    let coarse = Written { nlon: 18, ..Written::default() }.write(&dir.path().join("b_2022.nc"));
    let other = problem(&inventory(InventoryKind::File, &[file, coarse], CO2), &span);
    assert!(other.contains("another grid"), "{other}");
    let dated = stamped("hours since 2021-12-01", vec![0.0, 3.0]);
    let mut source = inventory(InventoryKind::File, &[dated.write(&dir.path().join("d.nc"))], CO2);
    source.year = Some(2021);
    assert!(problem(&source, &span).contains("remove `year`"));
    let alone = inventory(InventoryKind::File, &[], CO2);
    assert_eq!(alone.check(&span).unwrap_err(), SourceError::NoSlice);
}

/// Marks of missing values that are not declared are known in any units; declared ones are missing values.
#[test]
fn undeclared_fill_values_are_refused() {
    let dir = folder();
    let span = run("2021-12-01", 1.0);
    for (n, mark) in [-999.0, -999.9, -9999.0, -99_999.0, 1e15, 1e20, -1e30, 1e36, 9.969_21e36].into_iter().enumerate()
    {
        for (m, units) in ["kg m-2 s-1", "atoms cm-2 s-1", "t cell-1 yr-1"].into_iter().enumerate() {
            let path = dir.path().join(format!("f{n}_{m}.nc"));
            let spoiled = Written { units: Some(units), spoiled: Some(mark), ..Written::default() };
            let mut source = inventory(InventoryKind::File, &[spoiled.write(&path)], CO2);
            for gaps in [Gaps::Refuse, Gaps::Zero] {
                source.gaps = gaps;
                let found = problem(&source, &span);
                let place = "'flux' is";
                for part in
                    [place, "record 1, row 4 from the south, column 3 from the west", "declare it as `_FillValue`"]
                {
                    assert!(found.contains(part), "{mark} {units}: {found}");
                }
                assert!(source.totals(&span, RADIUS).is_err());
            }
            let declared = Written { fill: Some(mark), ..spoiled };
            let mut source = inventory(InventoryKind::File, &[declared.write(&path)], CO2);
            assert!(problem(&source, &span).contains("no value"), "{mark}");
            source.gaps = Gaps::Zero;
            assert!(source.totals(&span, RADIUS).is_ok());
        }
    }
}

/// Values beyond any real flux of the species are refused with their place, in any units; `scale` counts.
#[test]
fn implausible_fluxes_are_refused() {
    let dir = folder();
    let span = run("2021-12-01", 1.0);
    let area = Written::default().area(14);
    // Species, units, a value that is believed, one that is not.
    for (n, (mass, units, most, beyond)) in [
        (CO2, "kg m-2 s-1", 9e-3, 1.1e-2),
        (CO2, "kgC m-2 s-1", 2.5e-3, -3e-3),
        (CO2, "kg m-2 day-1", 800.0, 900.0),
        (28.01e-3, "kg m-2 s-1", 9e-3, 1.1e-2),
        (SF6, "kg m-2 s-1", -9e-6, 1.1e-5),
        (SF6, "kg cell-1 s-1", 9e-6 * area, 1.1e-5 * area),
        (RADON, "kg m-2 s-1", 9e-16, -1.1e-15),
        (RADON, "atoms cm-2 s-1", 2.4e5, 2.8e5),
    ]
    .into_iter()
    .enumerate()
    {
        for (scale, times) in [(1.0, 1.0), (-1e-3, 1e3)] {
            let read = |value: f64| {
                let written =
                    Written { units: Some(units), spoiled: Some((value * times) as f32), ..Written::default() };
                let mut source =
                    inventory(InventoryKind::File, &[written.write(&dir.path().join(format!("f{n}.nc")))], mass);
                source.conversion = Conversion::new(scale, mass).unwrap();
                source
            };
            assert!(read(most).totals(&span, RADIUS).is_ok(), "{units} {most}");
            let found = problem(&read(beyond), &span);
            for part in
                ["'flux' is", "row 4 from the south, column 3 from the west", "no flux of this species", "`units`"]
            {
                assert!(found.contains(part), "{units}: {found}");
            }
        }
    }
}

/// Areas in other units than m2 would change every total.
#[test]
fn areas_of_the_archive_are_those_of_its_cells() {
    let dir = folder();
    let span = run("2021-12-01", 1.0);
    for (n, (factor, fits)) in
        [(1.0, true), (1.003, true), (1e-6, false), (1e4, false), (-1.0, false)].into_iter().enumerate()
    {
        let written = Written::default();
        let path = written.write(&dir.path().join(format!("f{n}.nc")));
        let mut file = netcdf::append(&path).unwrap();
        let areas: Vec<f64> = (0..written.nlat).flat_map(|j| vec![factor * written.area(j); written.nlon]).collect();
        file.add_variable::<f64>("area", &["lat", "lon"]).unwrap().put_values(&areas, ..).unwrap();
        drop(file);
        let mut source = inventory(InventoryKind::File, &[path], CO2);
        source.cell_area = Some("area".into());
        match source.totals(&span, RADIUS) {
            Ok(found) => {
                assert!(fits, "{factor}");
                close(found.totals[0], factor * written.integral(0), 1e-12);
            }
            Err(error) => {
                let found = format!("{error}; {}", error.help());
                assert!(!fits && found.contains("'area' is") && found.contains("in m2"), "{found}");
            }
        }
    }
}

/// The folder of a real archive, or `None`, said aloud, where it is absent.
fn real(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(name);
    if !path.exists() {
        println!("skipped: {} is absent", path.display());
    }
    path.exists().then_some(path)
}

/// Global totals in PgC/a on a sphere of 6371 km, as computed for the files when they were made.
#[test]
fn real_carbontracker_emits_what_it_holds() {
    let Some(path) = real("carbontracker_flux/ct2016_flux1x1_longterm_mean.nc") else { return };
    let nc = 24;
    let per_year = 1e-12 * 12.0 / 44.0 * 365.25 * DAY * (6_371_000.0f64 / RADIUS).powi(2);
    let mut sum = 0.0;
    for (variable, total) in
        [("bio_flux_opt", -4.00), ("ocn_flux_opt", -2.24), ("fossil_flux_imp", 8.61), ("fire_flux_imp", 2.09)]
    {
        let mut source = inventory(InventoryKind::CarbonTracker, std::slice::from_ref(&path), CO2);
        source.variables = vec![variable.into()];
        let found = totals::<f64>(&source, &run("2021-12-01", 1.0), nc, 1).1[0];
        // Given to two decimals, with another ratio of molar masses.
        assert!((found * per_year - total).abs() < 0.01, "{variable}: {}", found * per_year);
        sum += found;
        let single = totals::<f32>(&source, &run("2021-12-01", 1.0), nc, 2).1[0];
        println!("{variable}: Float32 differs by {:.1e}", single / found - 1.0);
        close(single, found, 1e-10);
    }
    let whole = inventory(InventoryKind::CarbonTracker, &[path], CO2);
    close(totals::<f64>(&whole, &run("2021-12-01", 1.0), nc, 1).1[0], sum, 1e-12);
}

/// A year that is asked for is the only one used, whenever the run is; a year that is not there is named.
#[test]
fn one_year_of_several_may_be_asked_for() {
    let Some(path) = real("cdiac_fossil_co2/cdiac_gridcar_1deg.nc") else { return };
    let mut source = inventory(InventoryKind::File, &[path], CO2);
    source.variables = vec!["emission".into()];
    source.units = Some("Tg C cell-1 year-1".into());
    let run = run("2005-06-15", 4.0);
    let between = source.check(&run).unwrap();
    assert!(between.gap(0.0, run.seconds).is_some(), "nothing stands for 2005");
    source.year = Some(2013);
    assert_eq!(source.check(&run).unwrap().times().times().len(), 1);
    source.year = Some(2001);
    let error = source.check(&run).unwrap_err().to_string();
    assert!(error.contains("no record lies in the year 2001; they lie in 2000 to 2013"), "{error}");
}

/// Carbon by cell and year: the sums of the source's own summary, emitted to the last digits. The attribute says thousand
/// tonnes, but 6506 and 9234 million tonnes are what the source states for these years.
#[test]
fn real_cdiac_emits_its_totals() {
    let Some(path) = real("cdiac_fossil_co2/cdiac_gridcar_1deg.nc") else { return };
    let mut source = inventory(InventoryKind::File, std::slice::from_ref(&path), CO2);
    source.variables = vec!["emission".into()];
    source.units = Some("Tg C cell-1 yr-1".into());
    let values: Vec<f64> = {
        let file = netcdf::open(&path).unwrap();
        file.variable("emission").unwrap().get_values::<f64, _>(..).unwrap()
    };
    for (n, (year, days, total)) in [(2000i16, 366.0, 6506.25), (2013, 365.0, 9233.63)].into_iter().enumerate() {
        let exact: f64 = values[n * 64_800..(n + 1) * 64_800].iter().sum();
        assert!((exact - total).abs() < 0.01, "{exact}");
        let start = format!("{year}-01-01");
        let span = run(&start, days);
        assert!(source.check(&span).unwrap().cover(0.0, span.seconds));
        for nc in [NC, 45] {
            let (times, found) = totals::<f64>(&source, &span, nc, 1);
            assert_eq!(times[0], 0.0);
            close(found[0] * days * DAY, exact * 1e9 * 44.0 / 12.0, 1e-13);
            let single = totals::<f32>(&source, &span, nc, 1).1[0];
            println!("{year} C{nc}: Float32 differs by {:.1e}", single / found[0] - 1.0);
            close(single, found[0], 1e-10);
        }
        let told = source.totals(&span, RADIUS).unwrap().over(span.seconds, CO2);
        close(told.carbon_per_year().unwrap() * days / 365.25, exact * 1e-3, 1e-12);
    }
}
