//! Inventories on longitude-latitude grids: units, times, totals, and what is refused.

use std::path::{Path, PathBuf};

use atmostr::grid::constants::MOLAR_MASS_AIR;
use atmostr::gridded::Weights;
use atmostr::sources::{
    Conversion, FilePeriod, Gaps, Inventory, InventoryFile, InventoryKind, Record, RunSpan, Source, SourceError, Stamp,
    TimeScheme, TimeUse,
};
use kernels::Scalar;

use super::emission::{grid, tiles};

const CO2: f64 = 44.0095e-3;
const SF6: f64 = 146.055e-3;
const RADON: f64 = 222.0e-3;
const NC: usize = 12;
const DAY: f64 = 86_400.0;
const RADIUS: f64 = 6_371_229.0;

/// A file that is written for a test.
pub(crate) struct Written<'a> {
    pub(crate) variables: &'a [&'a str],
    pub(crate) units: Option<&'a str>,
    /// Units and values of the time axis, if there is one.
    pub(crate) time: Option<(&'a str, &'a str, Vec<f64>)>,
    /// Bounds of the times.
    pub(crate) bounds: Option<Vec<f64>>,
    /// Records; more than one without a time axis get a dimension without coordinates.
    pub(crate) records: usize,
    pub(crate) nlon: usize,
    pub(crate) nlat: usize,
    pub(crate) fill: Option<f32>,
}

impl Default for Written<'_> {
    fn default() -> Self {
        Self {
            variables: &["flux"],
            units: Some("kg m-2 s-1"),
            time: None,
            bounds: None,
            records: 1,
            nlon: 36,
            nlat: 18,
            fill: None,
        }
    }
}

/// What is stored in a cell of a record: uneven, and a little negative in places.
fn stored(record: usize, j: usize, i: usize) -> f32 {
    ((record + 1) as f32) * (((3 * i + 7 * j) % 11) as f32 - 0.5)
}

impl Written<'_> {
    /// Centres from the date line eastwards and from north to south, in single precision as archives have them.
    fn axes(&self) -> [Vec<f32>; 2] {
        let centres =
            |n: usize, from: f64, span: f64| (0..n).map(move |k| (from + span * (k as f64 + 0.5) / n as f64) as f32);
        [centres(self.nlon, -180.0, 360.0).collect(), centres(self.nlat, 90.0, -180.0).collect()]
    }

    pub(crate) fn write(&self, path: &Path) -> PathBuf {
        let mut file = netcdf::create(path).unwrap();
        let with_time = self.time.is_some() || self.records > 1;
        if with_time {
            file.add_dimension("time", self.records).unwrap();
        }
        for (name, values) in ["lon", "lat"].into_iter().zip(self.axes()) {
            file.add_dimension(name, values.len()).unwrap();
            file.add_variable::<f32>(name, &[name]).unwrap().put_values(&values, ..).unwrap();
        }
        if let Some((name, units, values)) = &self.time {
            let mut time = file.add_variable::<f64>(name, &["time"]).unwrap();
            if !units.is_empty() {
                time.put_attribute("units", *units).unwrap();
            }
            time.put_values(values, ..).unwrap();
            if let Some(bounds) = &self.bounds {
                time.put_attribute("bounds", "time_bnds").unwrap();
                file.add_dimension("bnds", 2).unwrap();
                file.add_variable::<f64>("time_bnds", &["time", "bnds"]).unwrap().put_values(bounds, ..).unwrap();
            }
        }
        let values: Vec<f32> = (0..self.records)
            .flat_map(|t| (0..self.nlat).flat_map(move |j| (0..self.nlon).map(move |i| stored(t, j, i))))
            .collect();
        let dimensions: &[&str] = if with_time { &["time", "lat", "lon"] } else { &["lat", "lon"] };
        for name in self.variables {
            let mut add = |values: &[f32]| match name.split_once('/') {
                Some((group, name)) => {
                    let mut group = file.add_group(group).unwrap();
                    self.finish(group.add_variable::<f32>(name, dimensions).unwrap(), values);
                }
                None => self.finish(file.add_variable::<f32>(name, dimensions).unwrap(), values),
            };
            add(&values);
        }
        path.to_path_buf()
    }

    fn finish(&self, mut variable: netcdf::VariableMut<'_>, values: &[f32]) {
        if let Some(fill) = self.fill {
            variable.set_fill_value(fill).unwrap();
        }
        if let Some(units) = self.units {
            variable.put_attribute("units", units).unwrap();
        }
        variable.put_values(values, ..).unwrap();
    }

    /// Area of a cell of row `j`, m².
    fn area(&self, j: usize) -> f64 {
        let edge = |k: usize| (std::f64::consts::FRAC_PI_2 * (1.0 - 2.0 * k as f64 / self.nlat as f64)).sin();
        RADIUS * RADIUS * std::f64::consts::TAU / self.nlon as f64 * (edge(j) - edge(j + 1))
    }

    /// Sum over all cells of a record, each multiplied by `weight` of its row.
    fn sum(&self, record: usize, weight: impl Fn(usize) -> f64) -> f64 {
        let row = |j: usize| (0..self.nlon).map(|i| f64::from(stored(record, j, i))).sum::<f64>() * weight(j);
        (0..self.nlat).map(row).sum()
    }

    /// Integral of a record over the sphere.
    fn integral(&self, record: usize) -> f64 {
        self.sum(record, |j| self.area(j))
    }
}

pub(crate) fn inventory(kind: InventoryKind, files: &[PathBuf], molar_mass: f64) -> Inventory {
    Inventory {
        kind,
        files: files.iter().map(|path| InventoryFile { path: path.clone(), period: None }).collect(),
        variables: if kind == InventoryKind::File { vec!["flux".into()] } else { Vec::new() },
        units: None,
        time: TimeUse::Varying,
        stamp: Stamp::Auto,
        year: None,
        gaps: Gaps::Refuse,
        cell_area: None,
        scheme: TimeScheme::Stepwise,
        conversion: Conversion::new(1.0, molar_mass).unwrap(),
    }
}

fn run(start: &str, days: f64) -> RunSpan {
    RunSpan { start: format!("{start}T00:00:00Z").parse().unwrap(), seconds: days * DAY }
}

/// Totals of the slices in kg of the species per second, over all ranks.
fn totals<R: Scalar>(inventory: &Inventory, run: &RunSpan, nc: usize, ranks: usize) -> (Vec<f64>, Vec<f64>) {
    let weights = Weights::new(None);
    let (mut times, mut sums) = (Vec::new(), Vec::new());
    for rank in 0..ranks {
        let source: Source<R> = inventory.read(run, &grid(nc), &tiles(nc, ranks, rank), &weights).unwrap();
        times = source.times().times().to_vec();
        sums.resize(times.len(), 0.0);
        let rates = source.rates();
        for (slice, sum) in sums.iter_mut().enumerate() {
            for (n, shape) in rates.tile_set().shapes().iter().enumerate() {
                let plane = rates.plane(slice, n, 0);
                let row = |j: usize| &plane[shape.row_start(j)..shape.row_start(j) + shape.ni];
                *sum += (0..shape.nj).flat_map(row).map(|rate| rate.to_f64()).sum::<f64>();
            }
        }
    }
    let to_species = inventory.conversion.molar_mass() / MOLAR_MASS_AIR;
    (times, sums.iter().map(|sum| sum * to_species).collect())
}

fn problem(inventory: &Inventory, run: &RunSpan) -> String {
    match inventory.read::<f64>(run, &grid(NC), &tiles(NC, 1, 0), &Weights::new(None)).unwrap_err() {
        SourceError::File { problem, help, .. } => format!("{problem}; {help}"),
        other => panic!("{other}"),
    }
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{found} instead of {expected}: {:e}", found / expected - 1.0);
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Axes in single precision: the edges are found from the whole span, and no mass is lost on the way.
#[test]
fn totals_are_those_of_the_archive() {
    let dir = folder();
    for (nlon, nlat) in [(36, 18), (72, 36), (400, 200)] {
        let written = Written { nlon, nlat, ..Written::default() };
        let path = written.write(&dir.path().join("flux.nc"));
        let source = inventory(InventoryKind::File, &[path], CO2);
        for ranks in [1, 2] {
            close(totals::<f64>(&source, &run("2021-12-01", 1.0), NC, ranks).1[0], written.integral(0), 1e-13);
            close(totals::<f32>(&source, &run("2021-12-01", 1.0), NC, ranks).1[0], written.integral(0), 1e-10);
        }
    }
}

/// On another sphere a flux by area emits as the area grows, an amount by cell does not.
#[test]
fn the_radius_of_the_run_is_that_of_fluxes_by_area() {
    let dir = folder();
    let bundle = atmostr::grid::GeometryBundle::GeosNative;
    let other = atmostr::grid::CubedSphere::new(NC, bundle, bundle.default_offset_deg(), 6_371_000.0).unwrap();
    for (units, power) in [("kg m-2 s-1", 2), ("t cell-1 yr-1", 0)] {
        let path = Written { units: Some(units), ..Written::default() }.write(&dir.path().join("flux.nc"));
        let source = inventory(InventoryKind::File, &[path], CO2);
        let sum = |grid| {
            let rates: Source<f64> =
                source.read(&run("2021-12-01", 1.0), grid, &tiles(NC, 1, 0), &Weights::new(None)).unwrap();
            rates.rates().data().iter().sum::<f64>()
        };
        close(sum(&other) / sum(&grid(NC)), (6_371_000.0f64 / 6_371_229.0).powi(power), 1e-13);
    }
}

/// Monthly amounts by area of the calendar's own months; no time axis, the year in the name, after a version.
#[test]
fn gridfed_months_have_their_real_lengths() {
    let dir = folder();
    for (name, variable, start, february) in [
        ("GCP-GridFEDv2024.0_2021.short.nc", "TOTAL", "2021-01-01", 28.0),
        ("GCP-GridFEDv2024.1_2024.nc", "CO2/TOTAL", "2024-01-01", 29.0),
    ] {
        let written =
            Written { variables: &[variable], units: Some("kg CO2 month-1 m-2"), records: 12, ..Written::default() };
        let source = inventory(InventoryKind::GridfedFossilCo2, &[written.write(&dir.path().join(name))], CO2);
        let (times, found) = totals::<f64>(&source, &run(start, 366.0), NC, 1);
        let lengths = [31.0, february, 31.0, 30.0, 31.0, 30.0, 31.0, 31.0, 30.0, 31.0, 30.0, 31.0];
        let mut start = 0.0;
        for month in 0..12 {
            assert_eq!(times[month], start * DAY);
            close(found[month] * lengths[month] * DAY, written.integral(month), 1e-13);
            start += lengths[month];
        }
        assert!(source.check(&run("2021-01-01", 365.0)).unwrap().until().is_finite());
    }
}

/// Tonnes by cell and a year of 365.25 days, with or without units.
#[test]
fn edgar_tonnes_become_rates() {
    let dir = folder();
    for units in [Some("Tonnes"), None, Some("t cell-1 yr-1")] {
        let written = Written { variables: &["emissions"], units, ..Written::default() };
        let path = written.write(&dir.path().join("v8.0_FT2022_GHG_SF6_2022_TOTALS_emi.nc"));
        let source = inventory(InventoryKind::EdgarSf6, &[path], SF6);
        let (times, found) = totals::<f64>(&source, &run("2022-07-01", 30.0), NC, 1);
        assert_eq!(times.len(), 1);
        close(found[0], 1e3 * written.sum(0, |_| 1.0) / (365.25 * DAY), 1e-13);
    }
}

/// Twelve months serve every year, from before the start to after the end of a run.
#[test]
fn zhang_months_come_back_every_year() {
    let dir = folder();
    let names = "Rn222_Emis_Zhang_Liu_et_al_05x05_mass.nc";
    for units in ["kg/m2/s", "atoms cm-2 s-1"] {
        let written = Written { variables: &["rnemis"], units: Some(units), records: 12, ..Written::default() };
        let mut source = inventory(InventoryKind::ZhangRn222, &[written.write(&dir.path().join(names))], RADON);
        source.time = TimeUse::Cyclic;
        let span = run("2021-12-15", 400.0);
        assert!(source.check(&span).unwrap().cover(0.0, span.seconds));
        let (times, found) = totals::<f64>(&source, &span, NC, 1);
        // December 2021 begins 14 days before the run; February 2023 begins after its end.
        assert_eq!((times.len(), times[0], times[1]), (15, -14.0 * DAY, 17.0 * DAY));
        let factor = if units == "kg/m2/s" { 1.0 } else { 1e4 * RADON / 6.022_140_76e23 };
        for (n, total) in found.iter().enumerate() {
            close(*total, factor * written.integral((n + 11) % 12), 1e-13);
        }
    }
    let short = Written { variables: &["rnemis"], records: 11, ..Written::default() };
    let mut source = inventory(InventoryKind::ZhangRn222, &[short.write(&dir.path().join("s.nc"))], RADON);
    source.time = TimeUse::Cyclic;
    assert!(problem(&source, &run("2021-12-15", 3.0)).contains("12 months, not 11 records"));
}

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
    // 0.5 is stored in every eleventh cell or so.
    let written = Written { fill: Some(-0.5), ..Written::default() };
    let mut source = inventory(InventoryKind::File, &[written.write(&dir.path().join("flux.nc"))], CO2);
    let span = run("2021-01-01", 1.0);
    assert!(problem(&source, &span).contains("no value at latitude 1, longitude 1"), "{}", problem(&source, &span));
    source.gaps = Gaps::Zero;
    let rest = written.integral(0)
        + 0.5 * {
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
    let huge = Written { units: Some("t m-2 s-1"), ..Written::default() };
    let mut source = inventory(InventoryKind::File, &[huge.write(&dir.path().join("h.nc"))], CO2);
    source.units = Some("Tg m-2 s-1".into());
    let found = problem(&source, &span);
    assert!(found.contains("looks like this") && found.contains("row"), "{found}");
    let dated = stamped("hours since 2021-12-01", vec![0.0, 3.0]);
    let mut source = inventory(InventoryKind::File, &[dated.write(&dir.path().join("d.nc"))], CO2);
    source.year = Some(2021);
    assert!(problem(&source, &span).contains("remove `year`"));
    let alone = inventory(InventoryKind::File, &[], CO2);
    assert_eq!(alone.check(&span).unwrap_err(), SourceError::NoSlice);
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
    }
}
