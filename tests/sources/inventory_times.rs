//! Times of inventories.

use std::path::PathBuf;

use atmostr::sources::{FilePeriod, InventoryFile, InventoryKind, Record, Stamp, TimeScheme, TimeUse};

use super::inventory::{CO2, DAY, NC, Written, close, folder, inventory, problem, run, totals};

/// Two monthly files of three-hourly slices stamped at the start: absolute times, in order, across files.
#[test]
fn lmdz_slices_follow_an_absolute_clock() {
    let dir = folder();
    let month = |name: &str, units: &'static str, days: usize| {
        let hours: Vec<f64> = (0..8 * days).map(|n| 3.0 * n as f64).collect();
        Written {
            variables: &["flux_apos"],
            units: Some("kgC m-2 s-1"),
            records: hours.len(),
            time: Some(("time", units, hours)),
            ..Written::default()
        }
        .write(&dir.path().join(name))
    };
    let files = [
        month("z_cams_l_cams55_202112_FT24r2_ra_sfc_3h_co2_flux.nc", "hours since 2021-12-01 00:00:00", 31),
        month("z_cams_l_cams55_202201_FT24r2_ra_sfc_3h_co2_flux.nc", "hours since 2022-01-01 00:00:00", 31),
    ];
    let source = inventory(InventoryKind::LmdzCo2, &files, CO2);
    let written = Written::default();
    let (times, found) = totals::<f64>(&source, &run("2021-12-30", 3.0), NC, 1);
    assert_eq!(times, (0..25).map(|n| 10_800.0 * f64::from(n)).collect::<Vec<_>>());
    for (n, total) in found.iter().enumerate() {
        // The run starts with slice 232 of December; January begins anew with slice 0.
        let record = if n < 16 { 232 + n } else { n - 16 };
        close(*total, 44.0 / 12.0 * written.integral(record), 1e-13);
    }
    let swapped = inventory(InventoryKind::LmdzCo2, &[files[1].clone(), files[0].clone()], CO2);
    assert!(problem(&swapped, &run("2021-12-30", 3.0)).contains("order of their times"));
    // What is the same always is the mean of the file: record n has n + 1 times the first.
    let mut mean = inventory(InventoryKind::LmdzCo2, &files[..1], CO2);
    mean.time = TimeUse::Constant(Record::Mean);
    let (times, found) = totals::<f64>(&mean, &run("2021-12-30", 3.0), NC, 1);
    assert_eq!(times, [0.0]);
    close(found[0], 44.0 / 12.0 * written.integral(0) * 249.0 / 2.0, 1e-13);
}

/// Daily files stamped in the middle of three hours, their four variables added up, or some of them.
#[test]
fn carbontracker_variables_are_added_and_stamps_are_centres() {
    let dir = folder();
    let all = ["bio_flux_opt", "ocn_flux_opt", "fire_flux_imp", "fossil_flux_imp"];
    let files: Vec<InventoryFile> = (1..=3)
        .map(|day| {
            let written = Written {
                variables: &all,
                units: Some("mol m-2 s-1"),
                records: 8,
                time: Some((
                    "time",
                    "days since 2000-01-01 00:00:00 UTC",
                    (0..8).map(|n| 7671.0 + f64::from(day - 1) + (1.5 + 3.0 * f64::from(n)) / 24.0).collect(),
                )),
                ..Written::default()
            };
            let path = written.write(&dir.path().join(format!("CT2022.flux1x1.2021010{day}.nc")));
            let day = jiff::civil::date(2021, 1, day as i8);
            InventoryFile { path, period: Some(FilePeriod::Day(day)) }
        })
        .collect();
    let mut source = inventory(InventoryKind::CarbonTracker, &[], CO2);
    source.files = files;
    let span = run("2020-12-31", 4.0);
    let (times, found) = totals::<f64>(&source, &span, NC, 1);
    assert_eq!(times.len(), 24);
    for (n, (time, total)) in times.iter().zip(&found).enumerate() {
        // Days since 2000 carry the middle of an hour to some microseconds.
        assert!((time - (DAY + 10_800.0 * n as f64)).abs() < 1e-4, "{time}");
        close(*total, 4.0 * CO2 * Written::default().integral(n % 8), 1e-13);
    }
    source.variables = vec!["bio_flux_opt".into(), "fire_flux_imp".into()];
    close(totals::<f64>(&source, &span, NC, 1).1[0], 2.0 * CO2 * Written::default().integral(0), 1e-13);
    // Straight lines run through the stamps themselves.
    source.scheme = TimeScheme::Linear;
    let linear = source.check(&span).unwrap();
    assert!((linear.times().times()[0] - (DAY + 5400.0)).abs() < 1e-4);
    source.scheme = TimeScheme::Stepwise;
    for (stamp, shift) in [(Stamp::Start, 5400.0), (Stamp::Centre, 0.0), (Stamp::End, -5400.0)] {
        source.stamp = stamp;
        assert!((source.check(&span).unwrap().times().times()[1] - (DAY + 10_800.0 + shift)).abs() < 1e-4, "{stamp:?}");
    }
}

/// A record of a month or a year holds for that month or year, wherever in it the time lies; bounds come first.
#[test]
fn months_and_years_hold_from_their_first_day() {
    let dir = folder();
    let write = |name: &str, times: Vec<f64>, bounds: Option<Vec<f64>>| {
        let time = Some(("time", "days since 2021-01-01", times.clone()));
        Written { records: times.len(), time, bounds, ..Written::default() }.write(&dir.path().join(name))
    };
    let starts = |path: PathBuf, stamp| {
        let mut source = inventory(InventoryKind::File, &[path], CO2);
        source.stamp = stamp;
        let times = source.check(&run("2021-01-01", 10.0)).unwrap();
        let days: Vec<f64> = times.times().times().iter().map(|t| t / DAY).collect();
        (days, times.until() / DAY)
    };
    let middles = write("middles.nc", vec![15.5, 45.0, 74.5], None);
    assert_eq!(starts(middles.clone(), Stamp::Auto), (vec![0.0, 31.0, 59.0], 90.0));
    assert_eq!(starts(middles.clone(), Stamp::Centre), (vec![0.0, 31.0, 59.0], 90.0));
    assert_eq!(starts(middles, Stamp::Start), (vec![15.5, 45.0, 74.5], 104.0));
    let ends = write("ends.nc", vec![31.0, 59.0, 90.0], None);
    assert_eq!(starts(ends, Stamp::End), (vec![0.0, 31.0, 59.0], 90.0));
    let years = write("years.nc", vec![182.0, 547.0, 912.0], None);
    assert_eq!(starts(years, Stamp::Auto), (vec![0.0, 365.0, 730.0], 1095.0));
    let bounded = write("bounds.nc", vec![5.0, 12.0], Some(vec![1.0, 9.0, 9.0, 17.0]));
    assert_eq!(starts(bounded, Stamp::Auto), (vec![1.0, 9.0], 17.0));
    let noon = write("noon.nc", vec![0.5, 1.5, 2.5], None);
    assert_eq!(starts(noon, Stamp::Auto), (vec![0.0, 1.0, 2.0], 3.0));
}

/// Files without times in a series: a year each, told by their names, by the series or not at all.
#[test]
fn files_of_years_hold_for_their_year() {
    let dir = folder();
    let write =
        |name: &str| Written { units: Some("kgC m-2 yr-1"), ..Written::default() }.write(&dir.path().join(name));
    let files = [write("flux_2021.nc"), write("flux_2022.nc"), write("flux_2024.nc")];
    let source = inventory(InventoryKind::File, &files, CO2);
    let times = source.check(&run("2021-01-01", 10.0)).unwrap();
    assert_eq!(times.times().times(), [0.0, 365.0 * DAY, 1095.0 * DAY]);
    assert_eq!(times.until(), (1095.0 + 366.0) * DAY);
    let found = totals::<f64>(&source, &run("2021-01-01", 1461.0), NC, 1).1;
    let emitted = 44.0 / 12.0 * Written::default().integral(0);
    // By the real length of each year.
    for (total, days) in found.iter().zip([365.0, 365.0, 366.0]) {
        close(total * days * DAY, emitted, 1e-13);
    }
    // One file alone is the same always, and a year has 365.25 days.
    let alone = inventory(InventoryKind::File, &files[..1], CO2);
    close(totals::<f64>(&alone, &run("2021-01-01", 10.0), NC, 1).1[0] * 365.25 * DAY, emitted, 1e-13);
    let unnamed = inventory(InventoryKind::File, &[write("a.nc"), write("b.nc")], CO2);
    assert!(problem(&unnamed, &run("2021-01-01", 10.0)).contains("no year"));
    let mut series = inventory(InventoryKind::File, &[write("a.nc"), write("b.nc")], CO2);
    for (file, month) in series.files.iter_mut().zip([2, 3]) {
        file.period = Some(FilePeriod::Month(2024, month));
    }
    let times = series.check(&run("2024-02-01", 10.0)).unwrap();
    assert_eq!((times.times().times(), times.until()), (&[0.0, 29.0 * DAY][..], 60.0 * DAY));
}

#[test]
fn records_are_chosen_by_number_or_month() {
    let dir = folder();
    let written = Written { units: Some("kgCO2 month-1 m-2"), records: 12, ..Written::default() };
    let mut source = inventory(InventoryKind::File, &[written.write(&dir.path().join("flux_2024.nc"))], CO2);
    let span = run("2030-01-01", 1.0);
    for record in [Record::Index(2), Record::Month(2)] {
        source.time = TimeUse::Constant(record);
        close(totals::<f64>(&source, &span, NC, 1).1[0] * 29.0 * DAY, written.integral(1), 1e-13);
    }
    source.time = TimeUse::Constant(Record::Mean);
    let year: f64 = (0..12).map(|month| written.integral(month)).sum();
    close(totals::<f64>(&source, &span, NC, 1).1[0] * 366.0 * DAY, year, 1e-13);
    source.time = TimeUse::Constant(Record::Index(13));
    assert!(problem(&source, &span).contains("no record 13; there are 12"));
    // Before the first and after the last record the flux stays as it is.
    source.time = TimeUse::Varying;
    let before = source.check(&run("2023-12-01", 10.0)).unwrap();
    assert!(!before.cover(0.0, 10.0 * DAY));
    assert!(source.check(&run("2024-12-01", 31.0)).unwrap().cover(0.0, 31.0 * DAY));
}
