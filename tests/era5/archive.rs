//! A small archive in the layout of ERA5: T21, a reduced Gaussian grid with odd and even rings, five layers.

use std::path::{Path, PathBuf};

use atmostr::grid::HybridCoordinate;
use atmostr::preprocess::grib::Draft;
use atmostr::preprocess::readers::era5::{Era5Faces, Era5Source};
use atmostr::preprocess::readers::{NextDay, PhysicsGroup};
use atmostr::regrid::GaussianLatitudes;
use atmostr::spectral::{coefficient_count, coefficient_index};
use jiff::civil::{Date, date};

pub const TRUNCATION: usize = 21;
pub const LEVELS: usize = 5;
pub const RADIUS: f64 = 6_371_229.0;
const A: [f64; LEVELS + 1] = [0.0, 2000.0, 8000.0, 10_000.0, 4000.0, 0.0];
/// Exact in single precision, as files have them.
const B: [f64; LEVELS + 1] = [0.0, 0.0, 0.0625, 0.3125, 0.6875, 1.0];

/// A zonal and a total wave with its coefficient.
pub type Wave = (usize, usize, [f64; 2]);

/// What the atmosphere is like: functions of level (from 0 at the top), hours since the start of the first day, longitude and
/// latitude in degrees.
#[derive(Clone, Copy)]
pub struct Atmosphere {
    pub vorticity: fn(usize, f64) -> Vec<Wave>,
    pub divergence: fn(usize, f64) -> Vec<Wave>,
    pub temperature: fn(usize, f64) -> Vec<Wave>,
    /// Logarithm of the surface pressure.
    pub log_pressure: fn(f64) -> Vec<Wave>,
    pub humidity: fn(usize, f64, f64, f64) -> f64,
    /// Updraught and downdraught at the top of a layer, detrainment of both in it, in the hour that begins at the time.
    pub convection: fn(usize, f64) -> [f64; 4],
    /// blh, zust, sshf, slhf, 2t; heat is that of the hour that ends at the time.
    pub surface: fn(f64, f64, f64) -> [f64; 5],
}

/// Coefficient of the mean of a constant.
pub fn constant(value: f64) -> Vec<Wave> {
    vec![(0, 0, [value, 0.0])]
}

/// Vorticity of a rotation of the air at `speed` m/s at its equator, about the earth's axis and, with `tilt`, about the x axis.
pub fn rotation(speed: f64, tilt: f64) -> Vec<Wave> {
    let omega = speed / RADIUS;
    vec![(0, 1, [2.0 * omega / 3f64.sqrt(), 0.0]), (1, 1, [tilt * omega / 1.5f64.sqrt(), 0.0])]
}

/// Still, dry and even air, with convection and a surface.
pub const STILL: Atmosphere = Atmosphere {
    vorticity: |_, _| Vec::new(),
    divergence: |_, _| Vec::new(),
    temperature: |k, _| constant(220.0 + 15.0 * k as f64),
    log_pressure: |_| constant(1e5f64.ln()),
    humidity: |_, _, _, _| 0.0,
    convection: |k, _| [[0.0, 0.0, 0.004, 0.016, 0.02][k], 0.0, [0.0, 4e-7, 2e-6, 1e-6, 0.0][k], 0.0],
    surface: |_, _, _| [800.0, 0.3, -36_000.0, -180_000.0, 285.0],
};

/// Weather enough for whole days: a rotation that grows, a wave of pressure that travels, moist air below.
pub const WEATHER: Atmosphere = Atmosphere {
    vorticity: |k, hours| rotation(5.0 + 3.0 * (LEVELS - k) as f64 + 0.1 * hours, 0.3),
    divergence: |k, hours| vec![(2, 4, [1e-7 * (k as f64 - 2.0), 1e-8 * hours])],
    temperature: |k, _| [constant(220.0 + 15.0 * k as f64), vec![(0, 2, [-8.0, 0.0])]].concat(),
    log_pressure: |hours| {
        let (sin, cos) = (0.05 * hours).sin_cos();
        [constant(1e5f64.ln()), vec![(2, 3, [0.004 * cos, 0.004 * sin])]].concat()
    },
    humidity: |k, _, lon, lat| {
        [0.0, 1e-5, 1e-4, 3e-3, 1e-2][k] * lat.to_radians().cos() * (1.0 + 0.2 * lon.to_radians().sin())
    },
    ..STILL
};

/// The archive.
pub struct Archive {
    pub root: PathBuf,
    pub atmosphere: Atmosphere,
    /// Latitudes between a pole and the equator.
    pub pairs: usize,
    /// Whether the surface is in NetCDF.
    pub netcdf: bool,
}

/// Day `n` of the archive.
pub fn day(n: i32) -> Date {
    date(2021, 12, 1).checked_add(jiff::Span::new().days(n)).unwrap()
}

/// Its day as in names of files.
pub fn stamp(n: i32) -> String {
    day(n).strftime("%Y%m%d").to_string()
}

impl Archive {
    /// An archive in a folder, nothing written yet.
    pub fn new(root: &Path, atmosphere: Atmosphere) -> Self {
        Self { root: root.to_path_buf(), atmosphere, pairs: 16, netcdf: false }
    }

    /// All of `days` days: the core of the day after, convection of the day before, the surface of the day after.
    pub fn write(&self, days: i32) {
        (0..days).for_each(|n| self.core(n, 0..24));
        self.core(days, 0..1);
        (-1..days).for_each(|n| self.convection(n));
        (0..=days).for_each(|n| self.surface(n));
    }

    /// How the reader is told of it.
    pub fn source(&self, physics: &[PhysicsGroup]) -> Era5Source {
        Era5Source {
            root: self.root.clone(),
            physics_root: self.root.clone(),
            faces: Era5Faces::LineIntegral,
            physics: physics.to_vec(),
            next_day: NextDay::Required,
        }
    }

    pub fn coordinate() -> HybridCoordinate {
        HybridCoordinate::new(A.to_vec(), B.to_vec()).unwrap()
    }

    /// Points of the rings from north to south; odd on every third.
    pub fn points(&self) -> Vec<i64> {
        let from_pole = |n: usize| n.min(2 * self.pairs - 1 - n);
        (0..2 * self.pairs).map(|n| 20 + 4 * from_pole(n) as i64 + i64::from(n % 3 == 0)).collect()
    }

    pub fn latitudes(&self) -> Vec<f64> {
        GaussianLatitudes::new(2 * self.pairs).centres().iter().rev().copied().collect()
    }

    fn put(&self, folder: &str, name: &str, messages: &[Vec<u8>]) {
        let folder = self.root.join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(name), messages.concat()).unwrap();
    }

    /// Core file of day `n` with some hours.
    pub fn core(&self, n: i32, hours: std::ops::Range<i64>) {
        let mut messages = Vec::new();
        for hour in hours {
            let at = (24 * i64::from(n) + hour) as f64;
            messages.push(self.spectral(152, n, hour, 1, &(self.atmosphere.log_pressure)(at)));
            for k in 0..LEVELS {
                for (parameter, waves) in [
                    (138, self.atmosphere.vorticity),
                    (155, self.atmosphere.divergence),
                    (130, self.atmosphere.temperature),
                ] {
                    messages.push(self.spectral(parameter, n, hour, k, &waves(k, at)));
                }
                messages.push(self.gaussian(133, n, hour, k, |lon, lat| (self.atmosphere.humidity)(k, at, lon, lat)));
            }
        }
        self.put("ml_an_native_core", &format!("era5_core_{}.grib", stamp(n)), &messages);
    }

    /// A message in spherical harmonics; all waves unpacked, as singles.
    pub fn spectral(&self, parameter: i64, n: i32, hour: i64, level: usize, waves: &[Wave]) -> Vec<u8> {
        let mut values = vec![0.0; coefficient_count(TRUNCATION)];
        for (m, n, c) in waves {
            let place = coefficient_index(TRUNCATION, *m, *n);
            values[place..place + 2].copy_from_slice(c);
        }
        let level = if parameter == 152 { 1 } else { level as i64 + 1 };
        let draft = at(Draft::from_sample("sh_ml_grib2").unwrap(), parameter, n, hour).long("level", level).unwrap();
        let truncated = ["J", "K", "M", "JS", "KS", "MS"];
        let draft = truncated.iter().try_fold(draft, |draft, key| draft.long(key, TRUNCATION as i64)).unwrap();
        draft.doubles("values", &values).and_then(|d| d.doubles("pv", &[A, B].concat())).unwrap().bytes().unwrap()
    }

    /// A message on the reduced Gaussian grid.
    pub fn gaussian(&self, parameter: i64, n: i32, hour: i64, k: usize, value: impl Fn(f64, f64) -> f64) -> Vec<u8> {
        let draft = at(Draft::from_sample("reduced_gg_ml_grib2").unwrap(), parameter, n, hour);
        self.rings(draft.long("level", k as i64 + 1).unwrap(), value)
    }

    fn rings(&self, draft: Draft, value: impl Fn(f64, f64) -> f64) -> Vec<u8> {
        let (points, latitudes) = (self.points(), self.latitudes());
        let values: Vec<f64> = latitudes
            .iter()
            .zip(&points)
            .flat_map(|(lat, n)| (0..*n).map(|i| value(360.0 * i as f64 / *n as f64, *lat)).collect::<Vec<_>>())
            .collect();
        draft
            .long("N", self.pairs as i64)
            .and_then(|d| d.long("Nj", points.len() as i64))
            .and_then(|d| d.longs("pl", &points))
            .and_then(|d| d.double("latitudeOfFirstGridPointInDegrees", latitudes[0]))
            .and_then(|d| d.double("latitudeOfLastGridPointInDegrees", -latitudes[0]))
            .and_then(|d| d.double("longitudeOfFirstGridPointInDegrees", 0.0))
            .and_then(|d| d.long("bitsPerValue", 24))
            .and_then(|d| d.doubles("values", &values))
            .unwrap()
            .bytes()
            .unwrap()
    }

    /// Convection of the forecasts that start on day `n`, at 6 and 18 UTC.
    pub fn convection(&self, n: i32) {
        let mut messages = Vec::new();
        for (base, step, k, field) in [6, 18]
            .into_iter()
            .flat_map(|base| (1..=12).map(move |step| (base, step)))
            .flat_map(|(base, step)| (0..LEVELS).flat_map(move |k| (0..4).map(move |f| (base, step, k, f))))
        {
            let at = (24 * i64::from(n) + base + step - 1) as f64;
            let value = (self.atmosphere.convection)(k, at)[field];
            messages.push(self.forecast(235_009 + field as i64, n, base, step, k, value));
        }
        self.put("ml_fc_convection", &format!("era5_convection_{}.grib", stamp(n)), &messages);
    }

    /// A mean over the hour that ends `step` hours after the start of a forecast, the same everywhere.
    pub fn forecast(&self, parameter: i64, n: i32, base: i64, step: i64, k: usize, value: f64) -> Vec<u8> {
        self.forecast_from(parameter, n, base, step - 1, step, k, value)
    }

    /// As [`forecast`](Self::forecast), over the time since `from` hours after the start.
    pub fn forecast_from(
        &self,
        parameter: i64,
        n: i32,
        base: i64,
        from: i64,
        step: i64,
        k: usize,
        value: f64,
    ) -> Vec<u8> {
        let draft =
            Draft::from_sample("reduced_gg_ml_grib2").unwrap().long("productDefinitionTemplateNumber", 8).unwrap();
        let draft = at(draft, parameter, n, base).text("stepRange", &format!("{from}-{step}")).unwrap();
        self.rings(draft.long("level", k as i64 + 1).unwrap(), |_, _| value)
    }

    /// Surface of day `n`, on 10 degrees.
    pub fn surface(&self, n: i32) {
        if self.netcdf {
            return self.surface_netcdf(n);
        }
        let mut messages = Vec::new();
        for hour in 0..24 {
            let at = (24 * i64::from(n) + hour) as f64;
            for (f, parameter) in [159, 228_003, 146, 147, 167].into_iter().enumerate() {
                let value = |lon: f64, lat: f64| (self.atmosphere.surface)(at, lon, lat)[f];
                messages.push(surface_message(parameter, n, hour, value));
            }
        }
        self.put("sfc_025", &format!("era5_surface_{}.grib", stamp(n)), &messages);
    }

    /// As the Climate Data Store gives it in NetCDF: north to south, seconds since 1970.
    fn surface_netcdf(&self, n: i32) {
        let folder = self.root.join("sfc_025");
        std::fs::create_dir_all(&folder).unwrap();
        let mut file = netcdf::create(folder.join(format!("era5_surface_{}.nc", stamp(n)))).unwrap();
        let start = jiff::tz::TimeZone::UTC.to_timestamp(day(n).at(0, 0, 0, 0)).unwrap().as_second();
        let times: Vec<f64> = (0..24).map(|h| (start + 3600 * h) as f64).collect();
        let (lon, lat) = (longitudes(), latitudes());
        for (name, units, values) in [
            ("valid_time", "seconds since 1970-01-01", &times),
            ("latitude", "degrees_north", &lat),
            ("longitude", "degrees_east", &lon),
        ] {
            file.add_dimension(name, values.len()).unwrap();
            let mut variable = file.add_variable::<f64>(name, &[name]).unwrap();
            variable.put_attribute("units", units).unwrap();
            variable.put_values(values, ..).unwrap();
        }
        let names = [("blh", "m"), ("zust", "m s**-1"), ("sshf", "J m**-2"), ("slhf", "J m**-2"), ("t2m", "K")];
        for (f, (name, units)) in names.into_iter().enumerate() {
            let mut variable = file.add_variable::<f32>(name, &["valid_time", "latitude", "longitude"]).unwrap();
            variable.put_attribute("units", units).unwrap();
            let mut values = Vec::new();
            for hour in 0..24 {
                let at = (24 * i64::from(n) + hour) as f64;
                let rows = lat.iter().flat_map(|lat| lon.iter().map(|lon| (*lon, *lat)));
                values.extend(rows.map(|(lon, lat)| (self.atmosphere.surface)(at, lon, lat)[f] as f32));
            }
            variable.put_values(&values, ..).unwrap();
        }
    }
}

/// Sets parameter and time.
fn at(draft: Draft, parameter: i64, n: i32, hour: i64) -> Draft {
    draft
        .long("paramId", parameter)
        .and_then(|d| d.long("dataDate", stamp(n).parse().unwrap()))
        .and_then(|d| d.long("dataTime", 100 * hour))
        .unwrap()
}

fn longitudes() -> Vec<f64> {
    (0..36).map(|i| -180.0 + 10.0 * f64::from(i)).collect()
}

fn latitudes() -> Vec<f64> {
    (0..19).map(|j| 90.0 - 10.0 * f64::from(j)).collect()
}

/// A field of the surface on longitudes and latitudes, in edition 1 as the archive has it. Heat comes from forecasts.
fn surface_message(parameter: i64, n: i32, hour: i64, value: impl Fn(f64, f64) -> f64) -> Vec<u8> {
    let draft = Draft::from_sample("regular_ll_sfc_grib1").unwrap();
    let draft = if [146, 147].contains(&parameter) {
        // The hour before 0 UTC belongs to the forecast of 18 UTC of the day before, as in convection.
        let (day, base) = match hour {
            0..7 => (n - 1, 18),
            7..19 => (n, 6),
            _ => (n, 18),
        };
        let step = (24 * i64::from(n - day) + hour) - base;
        at(draft, parameter, day, base)
            .text("stepType", "accum")
            .and_then(|d| d.text("stepRange", &format!("{}-{step}", step - 1)))
            .unwrap()
    } else {
        at(draft, parameter, n, hour)
    };
    let values: Vec<f64> = latitudes()
        .iter()
        .flat_map(|lat| longitudes().into_iter().map(|lon| value(lon, *lat)).collect::<Vec<_>>())
        .collect();
    draft
        .long("Ni", 36)
        .and_then(|d| d.long("Nj", 19))
        .and_then(|d| d.double("latitudeOfFirstGridPointInDegrees", 90.0))
        .and_then(|d| d.double("latitudeOfLastGridPointInDegrees", -90.0))
        .and_then(|d| d.double("longitudeOfFirstGridPointInDegrees", -180.0))
        .and_then(|d| d.double("longitudeOfLastGridPointInDegrees", 170.0))
        .and_then(|d| d.double("iDirectionIncrementInDegrees", 10.0))
        .and_then(|d| d.double("jDirectionIncrementInDegrees", 10.0))
        .and_then(|d| d.long("bitsPerValue", 24))
        .and_then(|d| d.doubles("values", &values))
        .unwrap()
        .bytes()
        .unwrap()
}
