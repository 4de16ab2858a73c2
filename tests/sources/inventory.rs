//! Inventories on longitude-latitude grids: their archives, units and totals.

use std::path::{Path, PathBuf};

use atmostr::grid::constants::MOLAR_MASS_AIR;
use atmostr::gridded::Weights;
use atmostr::sources::{
    Conversion, Gaps, Inventory, InventoryFile, InventoryKind, RunSpan, Source, SourceError, Stamp, TimeScheme, TimeUse,
};
use kernels::Scalar;

use super::emission::{grid, tiles};

pub(crate) const CO2: f64 = 44.0095e-3;
pub(crate) const SF6: f64 = 146.055e-3;
pub(crate) const RADON: f64 = 222.0e-3;
pub(crate) const NC: usize = 12;
pub(crate) const DAY: f64 = 86_400.0;
pub(crate) const RADIUS: f64 = 6_371_229.0;

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
    /// Replaces the value of record 1, row 4 from the south, column 3 from the west.
    pub(crate) spoiled: Option<f32>,
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
            spoiled: None,
        }
    }
}

/// Unit of what is stored: a power of two, so that multiples are exact.
pub(crate) const SIZE: f32 = 1.0 / (1u64 << 60) as f32;

/// What is stored in a cell of a record: uneven, a little negative in places, and small enough for any species.
pub(crate) fn stored(record: usize, j: usize, i: usize) -> f32 {
    ((record + 1) as f32) * (((3 * i + 7 * j) % 11) as f32 - 0.5) * SIZE
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
        let mut values: Vec<f32> = (0..self.records)
            .flat_map(|t| (0..self.nlat).flat_map(move |j| (0..self.nlon).map(move |i| stored(t, j, i))))
            .collect();
        if let Some(value) = self.spoiled {
            values[(self.nlat - 4) * self.nlon + 2] = value;
        }
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
    pub(crate) fn area(&self, j: usize) -> f64 {
        let edge = |k: usize| (std::f64::consts::FRAC_PI_2 * (1.0 - 2.0 * k as f64 / self.nlat as f64)).sin();
        RADIUS * RADIUS * std::f64::consts::TAU / self.nlon as f64 * (edge(j) - edge(j + 1))
    }

    /// Sum over all cells of a record, each multiplied by `weight` of its row.
    pub(crate) fn sum(&self, record: usize, weight: impl Fn(usize) -> f64) -> f64 {
        let row = |j: usize| (0..self.nlon).map(|i| f64::from(stored(record, j, i))).sum::<f64>() * weight(j);
        (0..self.nlat).map(row).sum()
    }

    /// Integral of a record over the sphere.
    pub(crate) fn integral(&self, record: usize) -> f64 {
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

pub(crate) fn run(start: &str, days: f64) -> RunSpan {
    RunSpan { start: format!("{start}T00:00:00Z").parse().unwrap(), seconds: days * DAY }
}

/// Totals of the slices in kg of the species per second, over all ranks.
pub(crate) fn totals<R: Scalar>(inventory: &Inventory, run: &RunSpan, nc: usize, ranks: usize) -> (Vec<f64>, Vec<f64>) {
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

pub(crate) fn problem(inventory: &Inventory, run: &RunSpan) -> String {
    match inventory.read::<f64>(run, &grid(NC), &tiles(NC, 1, 0), &Weights::new(None)).unwrap_err() {
        SourceError::File { problem, help, .. } => format!("{problem}; {help}"),
        other => panic!("{other}"),
    }
}

pub(crate) fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{found} instead of {expected}: {:e}", found / expected - 1.0);
}

pub(crate) fn folder() -> tempfile::TempDir {
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

/// What a check tells is what a run emits: sums over the cells of the archive.
#[test]
fn totals_are_told_without_regridding() {
    let dir = folder();
    for (units, kind) in [("kg m-2 s-1", InventoryKind::File), ("t cell-1 yr-1", InventoryKind::EdgarSf6)] {
        let variables: &[&str] = if kind == InventoryKind::File { &["flux"] } else { &["emissions"] };
        let written = Written {
            variables,
            units: Some(units),
            records: 3,
            time: Some(("time", "days since 2021-12-01", vec![0.0, 1.0, 2.0])),
            ..Written::default()
        };
        for (scheme, n) in [(TimeScheme::Stepwise, 0), (TimeScheme::Conservative, 1), (TimeScheme::Linear, 2)] {
            let path = written.write(&dir.path().join(format!("flux_{n}.nc")));
            let mut source = inventory(kind, &[path], SF6);
            source.conversion = Conversion::new(-0.5, SF6).unwrap();
            source.scheme = scheme;
            let span = run("2021-12-01", 2.0);
            let told = source.totals(&span, RADIUS).unwrap();
            let (times, emitted) = totals::<f64>(&source, &span, NC, 1);
            assert_eq!(told.times.times(), times);
            told.totals.iter().zip(&emitted).for_each(|(told, emitted)| close(*told, *emitted, 1e-12));
            // Two steps, or two straight lines between three records.
            let [a, b, c] = [0, 1, 2].map(|n| told.totals[n.min(told.totals.len() - 1)]);
            let kg = if scheme == TimeScheme::Stepwise { a + b } else { 0.5 * (a + 2.0 * b + c) } * DAY;
            close(told.over(span.seconds, SF6).kg, kg, 1e-14);
            close(told.over(span.seconds, SF6).kg_per_year(), kg * 365.25 / 2.0, 1e-14);
        }
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
