//! Sources in files on the model's own grid.

use std::path::PathBuf;

use atmostr::grid::constants::MOLAR_MASS_AIR;
use atmostr::sources::{Conversion, NativeFiles, RunSpan, Source, SourceError, TimeScheme};
use decomposition::Panel;
use kernels::Scalar;

use super::emission::{grid, tiles};

const NC: usize = 8;

/// What a written file holds; the default fits.
struct Written {
    units: &'static str,
    time_units: &'static str,
    calendar: &'static str,
    hours: Vec<f64>,
    /// Slices in files before this one.
    before: usize,
    /// Replaces the value of panel 3, cell (2, 5), second slice.
    spoiled: Option<f32>,
    fill_value: Option<f32>,
    /// Factor of the areas, if they are stored.
    areas: Option<f64>,
    /// Shift of the centres in longitude and latitude, degrees, if they are stored.
    centres: Option<(f64, f64)>,
    /// Dimensions of the flux.
    dimensions: [&'static str; 4],
    /// Factor and offset of packed values.
    packing: Option<(f64, f64)>,
    nc: usize,
}

impl Default for Written {
    fn default() -> Self {
        Self {
            units: "kg m-2 s-1",
            time_units: "hours since 2021-12-01 06:00:00",
            calendar: "standard",
            hours: vec![-6.0, 0.0, 6.0, 12.0, 18.0],
            before: 0,
            spoiled: None,
            fill_value: None,
            areas: Some(1.0 + 5e-5),
            centres: Some((0.005, -0.005)),
            dimensions: ["time", "nf", "Ydim", "Xdim"],
            packing: None,
            nc: NC,
        }
    }
}

/// Stored density: tells panel, cell and slice (all from 1) apart, and is negative everywhere.
fn density(slice: usize, panel: usize, i: usize, j: usize) -> f64 {
    -((i + 10 * j + 100 * panel + 1000 * slice) as f64) * 1e-10
}

impl Written {
    fn write(&self, path: PathBuf) -> PathBuf {
        let mut file = netcdf::create(&path).unwrap();
        for (name, len) in self.dimensions.iter().zip([self.hours.len(), 6, self.nc, self.nc]) {
            file.add_dimension(name, len).unwrap();
        }
        let cell_dimensions = &self.dimensions[1..];
        let mut time = file.add_variable::<f64>("time", &self.dimensions[..1]).unwrap();
        time.put_attribute("units", self.time_units).unwrap();
        time.put_attribute("calendar", self.calendar).unwrap();
        time.put_values(&self.hours, ..).unwrap();
        let cells = || {
            let nc = self.nc;
            (0..6 * nc * nc).map(move |n| (n / (nc * nc) + 1, n % nc + 1, n / nc % nc + 1))
        };
        let mut values = Vec::new();
        for slice in 1..=self.hours.len() {
            for (panel, i, j) in cells() {
                let spoiled = self.spoiled.filter(|_| (slice, panel, i, j) == (2, 3, 2, 5));
                values.push(spoiled.unwrap_or(density(self.before + slice, panel, i, j) as f32));
            }
        }
        let mut flux = file.add_variable::<f32>("flux", &self.dimensions).unwrap();
        if let Some(value) = self.fill_value {
            flux.set_fill_value(value).unwrap();
        }
        flux.put_attribute("units", self.units).unwrap();
        if let Some((scale, offset)) = self.packing {
            flux.put_attribute("scale_factor", scale).unwrap();
            flux.put_attribute("add_offset", offset).unwrap();
        }
        flux.put_values(&values, ..).unwrap();
        if let Some(factor) = self.areas {
            let grid = grid(self.nc);
            let areas: Vec<f64> = cells().map(|(_, i, j)| factor * grid.area(i - 1, j - 1)).collect();
            let mut area = file.add_variable::<f64>("cell_area", cell_dimensions).unwrap();
            area.put_values(&areas, ..).unwrap();
        }
        if let Some((east, north)) = self.centres {
            let grid = grid(self.nc);
            let centre = |(panel, i, j)| {
                let (lon, lat) = grid.center_lonlat(Panel::ALL[panel - 1], i - 1, j - 1);
                // At a pole the longitude says nothing.
                let turned = if lat.abs() > 89.95 { 77.0 } else { 0.0 };
                (lon + east + turned - 360.0, lat + north)
            };
            let (lons, lats): (Vec<f64>, Vec<f64>) = cells().map(centre).unzip();
            for (name, values) in [("lons", lons), ("lats", lats)] {
                file.add_variable::<f64>(name, cell_dimensions).unwrap().put_values(&values, ..).unwrap();
            }
        }
        path
    }

    fn read<R: Scalar>(&self, molar_mass: f64, rank: usize) -> Result<Source<R>, SourceError> {
        read(&[self], molar_mass, rank)
    }

    fn problem(&self, molar_mass: f64) -> String {
        // The spoiled cell lies on panel 3, which the first of two ranks holds.
        match self.read::<f32>(molar_mass, 0).unwrap_err() {
            SourceError::File { problem, .. } => problem,
            other => panic!("{other}"),
        }
    }
}

/// Writes the files and reads them for 12 hours from 2021-12-01 00 UTC as one of two ranks, scale 2.
fn read<R: Scalar>(files: &[&Written], molar_mass: f64, rank: usize) -> Result<Source<R>, SourceError> {
    let folder = tempfile::tempdir().unwrap();
    let path = |n: usize| folder.path().join(format!("flux{n}.nc"));
    let native = NativeFiles {
        files: files.iter().enumerate().map(|(n, written)| written.write(path(n))).collect(),
        variable: "flux".into(),
        scheme: TimeScheme::Stepwise,
        conversion: Conversion::new(2.0, molar_mass).unwrap(),
    };
    let run = RunSpan { start: "2021-12-01T00:00:00Z".parse().unwrap(), seconds: 43_200.0 };
    native.read(&run, &grid(NC), &tiles(NC, 2, rank))
}

const CO2: f64 = 44.0095e-3;

fn check<R: Scalar>(written: &Written, molar_mass: f64, factor: f64, tolerance: f64) {
    let mut cells = 0;
    for rank in 0..2 {
        let source: Source<R> = written.read(molar_mass, rank).unwrap();
        // Slices at 0, 6 and 12 hours: from the last at the start to the first at the end.
        assert_eq!(source.times().times(), [0.0, 21_600.0, 43_200.0]);
        let set = source.rates().tile_set();
        for (n, (tile, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
            for (j, i) in (0..tile.nj).flat_map(|j| (0..tile.ni).map(move |i| (j, i))) {
                for slice in 0..3 {
                    let rate = source.rates().plane(slice, n, 0)[shape.row_start(j) + i].to_f64();
                    let (at_i, at_j) = (tile.i0 + i, tile.j0 + j);
                    let stored = density(slice + 1, tile.panel.number(), at_i + 1, at_j + 1) as f32;
                    let area = grid(NC).area(at_i, at_j);
                    let (scale, offset) = written.packing.unwrap_or((1.0, 0.0));
                    let exact =
                        (f64::from(stored) * scale + offset) * area * 2.0 * factor * MOLAR_MASS_AIR / molar_mass;
                    assert!(rate < 0.0 && (rate / exact - 1.0).abs() < tolerance, "{rate} {exact}");
                    cells += 1;
                }
            }
        }
    }
    assert_eq!(cells, 3 * 6 * NC * NC);
}

#[test]
fn rates_follow_from_densities() {
    check::<f32>(&Written::default(), CO2, 1.0, 3e-7);
    check::<f64>(&Written::default(), CO2, 1.0, 1e-15 * 4.0);
    check::<f64>(&Written { units: "kgC m-2 s-1", ..Written::default() }, CO2, 44.0 / 12.0, 4e-15);
    check::<f32>(&Written { units: "kg[SF6]/m2/s", areas: None, ..Written::default() }, 146.055e-3, 1.0, 3e-7);
    let seconds: Vec<f64> = (0..5).map(|n| 21_600.0 * f64::from(n)).collect();
    let unit = "seconds since 2021-12-1";
    check::<f32>(&Written { time_units: unit, hours: seconds, ..Written::default() }, CO2, 1.0, 3e-7);
    let dimensions = ["Time", "face", "ydim", "XDIM"];
    check::<f32>(&Written { dimensions, centres: None, ..Written::default() }, CO2, 1.0, 3e-7);
    for time_units in
        ["Hours SINCE 2021-12-01T06:00:00z", "h since 2021-12-1 6:0:0.0 +00:00", "hours since 2021-12-01 6"]
    {
        check::<f32>(&Written { time_units, ..Written::default() }, CO2, 1.0, 3e-7);
    }
}

#[test]
fn packed_values_are_unpacked() {
    let packed = |scale, offset| Written { packing: Some((scale, offset)), ..Written::default() };
    check::<f64>(&packed(2.0, -1e-7), CO2, 1.0, 4e-15);
    check::<f64>(&Written { units: "kgC m-2 s-1", ..packed(0.5, -3e-8) }, CO2, 44.0 / 12.0, 4e-15);
    // A fill value is a stored number: here it is twice the third slice of panel 1, cell (1, 1), and stored nowhere.
    let fill_value = Some((2.0 * density(3, 1, 1, 1)) as f32);
    check::<f64>(&Written { fill_value, ..packed(2.0, 0.0) }, CO2, 1.0, 4e-15);
    let missing = Written { fill_value, spoiled: fill_value, ..packed(2.0, 0.0) }.problem(CO2);
    assert!(missing.contains("no value at time 2"), "{missing}");
    let infinite = Written { spoiled: Some(f32::INFINITY), ..packed(2.0, 0.0) }.problem(CO2);
    assert!(infinite.contains("'flux' is inf at time 2"), "{infinite}");
    let none = packed(0.0, 0.0).problem(CO2);
    assert!(none.contains("'scale_factor' of 'flux' is 0"), "{none}");
}

/// With an odd number of cells one centre is a pole.
#[test]
fn longitudes_at_a_pole_say_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let native = NativeFiles {
        files: vec![Written { nc: 5, ..Written::default() }.write(folder.path().join("flux.nc"))],
        variable: "flux".into(),
        scheme: TimeScheme::Stepwise,
        conversion: Conversion::new(1.0, CO2).unwrap(),
    };
    let run = RunSpan { start: "2021-12-01T00:00:00Z".parse().unwrap(), seconds: 43_200.0 };
    native.read::<f64>(&run, &grid(5), &tiles(5, 1, 0)).unwrap();
}

#[test]
fn files_that_do_not_fit_are_refused() {
    let default = Written::default;
    for (written, molar_mass, words) in [
        (Written { units: "mol m-2 s-1", ..default() }, CO2, ["units 'mol", "expected kg"]),
        (Written { units: "g m-2 s-1", ..default() }, CO2, ["units 'g m-2", "expected kg"]),
        (Written { units: "kg m-2", ..default() }, CO2, ["units", "expected kg"]),
        (Written { units: "kgC m-2 s-1", ..default() }, 0.222, ["kgC", "only carbon dioxide"]),
        (Written { spoiled: Some(f32::NAN), ..default() }, CO2, ["time 2", "(2, 5)"]),
        (
            Written { spoiled: Some(1e20), fill_value: Some(1e20), ..default() },
            CO2,
            ["time 2", "100000002004087730000"],
        ),
        (Written { hours: vec![-6.0, 6.0, 0.0], ..default() }, CO2, ["time 3", "increase"]),
        (Written { hours: vec![-6.0, f64::NAN, 9.0], ..default() }, CO2, ["time 2", "increase"]),
        (Written { areas: Some(1.0 + 2e-4), ..default() }, CO2, ["cell_area", "(1, 1)"]),
        (Written { centres: Some((0.02, 0.0)), ..default() }, CO2, ["(1, 1)", "another panel convention"]),
        (Written { centres: Some((0.0, -0.02)), ..default() }, CO2, ["(1, 1)", "another panel convention"]),
        (
            Written { dimensions: ["time", "nf", "Xdim", "Ydim"], ..default() },
            CO2,
            ["(time, nf, Xdim, Ydim)", "expected (time, nf or face, Ydim, Xdim)"],
        ),
        (Written { spoiled: Some(-9.97e36), ..default() }, CO2, ["time 2", "no flux of this species"]),
        (Written { spoiled: Some(6e-3), ..default() }, CO2, ["time 2", "is beyond 1e-2"]),
        (Written { spoiled: Some(-6e-6), ..default() }, 146.055e-3, ["time 2", "is beyond 1e-5"]),
        (Written { spoiled: Some(9.969_21e36), ..default() }, CO2, ["(2, 5)", "marks a missing value"]),
        (Written { spoiled: Some(-9999.0), ..default() }, CO2, ["(2, 5)", "marks a missing value"]),
        (Written { time_units: "hours since 2021-12-01 06:00:00 +02:00", ..default() }, CO2, ["+02:00", "must be UTC"]),
        (Written { time_units: "hours since 2021-12-01 06:00:00 CET", ..default() }, CO2, ["06:00:00 CET", "in UTC"]),
        (Written { nc: 6, ..default() }, CO2, ["6 × 6", "C8"]),
        (Written { time_units: "months since 2021-12-01", ..default() }, CO2, ["months", "days since"]),
        (Written { time_units: "hours since yesterday", ..default() }, CO2, ["yesterday", "days since"]),
        (Written { calendar: "noleap", ..default() }, CO2, ["noleap", "gregorian"]),
    ] {
        let problem = written.problem(molar_mass);
        assert!(words.iter().all(|word| problem.contains(word)), "{words:?} in {problem}");
    }
}

#[test]
fn slices_in_several_files_are_those_of_one() {
    let whole = Written::default();
    let part = |hours: &[f64], before| Written { hours: hours.to_vec(), before, ..Written::default() };
    for parts in [
        [part(&[-6.0, 0.0], 0), part(&[6.0, 12.0, 18.0], 2)],
        [part(&[-6.0, 0.0, 6.0, 12.0], 0), part(&[18.0], 4)],
        [part(&[-6.0], 0), part(&[0.0, 6.0, 12.0, 18.0], 1)],
    ] {
        for rank in 0..2 {
            let expected: Source<f64> = whole.read(CO2, rank).unwrap();
            let found: Source<f64> = read(&[&parts[0], &parts[1]], CO2, rank).unwrap();
            assert_eq!(found.times(), expected.times());
            for (slice, tile) in
                (0..3).flat_map(|slice| (0..expected.rates().tile_set().len()).map(move |t| (slice, t)))
            {
                assert_eq!(found.rates().plane(slice, tile, 0), expected.rates().plane(slice, tile, 0));
            }
        }
        let reversed = read::<f64>(&[&parts[1], &parts[0]], CO2, 0).unwrap_err().to_string();
        assert!(reversed.contains("flux1.nc") && reversed.contains("the file before ends"), "{reversed}");
    }
}

/// What a check tells of a file is what all ranks emit of it.
#[test]
fn totals_are_those_of_all_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let native = NativeFiles {
        files: vec![Written::default().write(folder.path().join("flux.nc"))],
        variable: "flux".into(),
        scheme: TimeScheme::Stepwise,
        conversion: Conversion::new(2.0, CO2).unwrap(),
    };
    let run = RunSpan { start: "2021-12-01T00:00:00Z".parse().unwrap(), seconds: 43_200.0 };
    let told = native.totals(&run, &grid(NC)).unwrap();
    assert_eq!(told.times.times(), [0.0, 21_600.0, 43_200.0]);
    for (slice, told) in told.totals.iter().enumerate() {
        let of_rank = |rank| {
            let source = native.read::<f64>(&run, &grid(NC), &tiles(NC, 2, rank)).unwrap();
            let rates = source.rates();
            (0..rates.tile_set().len()).map(|tile| rates.plane(slice, tile, 0).iter().sum::<f64>()).sum::<f64>()
        };
        let emitted = (of_rank(0) + of_rank(1)) * CO2 / MOLAR_MASS_AIR;
        assert!((told / emitted - 1.0).abs() < 1e-13, "{told} {emitted}");
    }
    assert_eq!(told.over(run.seconds, CO2).kg, 21_600.0 * (told.totals[0] + told.totals[1]));
    let spoiled = Written { spoiled: Some(1e20), ..Written::default() }.write(folder.path().join("flux.nc"));
    let error = NativeFiles { files: vec![spoiled], ..native }.totals(&run, &grid(NC)).unwrap_err();
    assert!(error.to_string().contains("time 2, P3 (2, 5)") && error.help().contains("_FillValue"), "{error}");
}

#[test]
fn a_check_reads_times_but_no_values() {
    let folder = tempfile::tempdir().unwrap();
    let spoiled = Written { spoiled: Some(f32::NAN), ..Written::default() };
    let native = |written: &Written| NativeFiles {
        files: vec![written.write(folder.path().join("flux.nc"))],
        variable: "flux".into(),
        scheme: TimeScheme::Linear,
        conversion: Conversion::new(1.0, CO2).unwrap(),
    };
    let run = RunSpan { start: "2021-12-01T00:00:00Z".parse().unwrap(), seconds: 43_200.0 };
    let times = native(&spoiled).check(NC, &run).unwrap();
    assert_eq!(times.times().times(), [0.0, 21_600.0, 43_200.0, 64_800.0, 86_400.0]);
    assert_eq!((times.from(), times.until(), times.lone()), (0.0, 86_400.0, None));
    let wrong = native(&Written { units: "mol m-2 s-1", ..Written::default() }).check(NC, &run).unwrap_err();
    assert!(wrong.to_string().contains("expected kg"), "{wrong}");
    assert!(wrong.help().contains("kgC m-2 s-1") && !wrong.help().contains("grid"), "{}", wrong.help());
}
