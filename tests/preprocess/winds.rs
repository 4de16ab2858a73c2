//! Small NetCDF files of winds, and configurations for them.

use std::path::Path;

/// Winds of a test, as a file holds them.
pub struct Winds {
    pub lon: Vec<f64>,
    pub lat: Vec<f64>,
    /// hPa.
    pub levels: Vec<f64>,
    /// Hours since 2000-01-01.
    pub times: Vec<f64>,
    /// Wind towards east and north in m/s at longitude, latitude (degrees), level (hPa) and hour.
    pub wind: fn(f64, f64, f64, f64) -> [f64; 2],
    /// Surface pressure in Pa at longitude, latitude and hour.
    pub pressure: fn(f64, f64, f64) -> f64,
}

/// Solid-body rotation about the pole, 20 m/s at the equator.
fn rotation(_: f64, lat: f64, _: f64, _: f64) -> [f64; 2] {
    [20.0 * lat.to_radians().cos(), 0.0]
}

impl Default for Winds {
    /// Two days of solid-body rotation, 6-hourly, 10 x 10 degrees with the poles, 4 levels.
    fn default() -> Self {
        Self {
            lon: (0..36).map(|i| 10.0 * f64::from(i)).collect(),
            lat: (0..19).map(|j| -90.0 + 10.0 * f64::from(j)).collect(),
            levels: vec![1000.0, 700.0, 400.0, 100.0],
            times: (0..9).map(|n| 6.0 * f64::from(n)).collect(),
            wind: rotation,
            pressure: |_, _, _| 1.0e5,
        }
    }
}

/// Names of the variables that a test may want to change.
pub const U: &str = "u";
pub const PS: &str = "ps";

impl Winds {
    /// Writes the file, then lets `change` spoil it.
    pub fn write(&self, path: &Path, change: impl FnOnce(&mut netcdf::FileMut)) {
        let mut file = netcdf::create(path).unwrap();
        for (name, units, values) in [
            ("time", "hours since 2000-01-01 00:00:00", &self.times),
            ("lev", "hPa", &self.levels),
            ("lat", "degrees_north", &self.lat),
            ("lon", "degrees_east", &self.lon),
        ] {
            file.add_dimension(name, values.len()).unwrap();
            let mut variable = file.add_variable::<f64>(name, &[name]).unwrap();
            variable.put_attribute("units", units).unwrap();
            variable.put_values(values, ..).unwrap();
        }
        let columns: Vec<(f64, f64)> =
            self.lat.iter().flat_map(|lat| self.lon.iter().map(|lon| (*lon, *lat))).collect();
        for (c, name) in [U, "v"].into_iter().enumerate() {
            let level = |time: f64, p: f64| columns.iter().map(move |(lon, lat)| (self.wind)(*lon, *lat, p, time)[c]);
            let values: Vec<f64> =
                self.times.iter().flat_map(|t| self.levels.iter().flat_map(move |p| level(*t, *p))).collect();
            let mut variable = file.add_variable::<f64>(name, &["time", "lev", "lat", "lon"]).unwrap();
            variable.put_attribute("units", "m s-1").unwrap();
            variable.put_values(&values, ..).unwrap();
        }
        let plane = |time: f64| columns.iter().map(move |(lon, lat)| (self.pressure)(*lon, *lat, time));
        let values: Vec<f64> = self.times.iter().flat_map(|t| plane(*t)).collect();
        let mut variable = file.add_variable::<f64>(PS, &["time", "lat", "lon"]).unwrap();
        variable.put_attribute("units", "Pa").unwrap();
        variable.put_values(&values, ..).unwrap();
        change(&mut file);
    }
}

/// Rewrites a file of variables in double precision in a classic format.
pub fn as_classic(path: &Path, options: netcdf::Options) {
    let classic = path.with_extension("classic");
    let (from, mut to) = (netcdf::open(path).unwrap(), netcdf::create_with(&classic, options).unwrap());
    for dimension in from.dimensions() {
        to.add_dimension(&dimension.name(), dimension.len()).unwrap();
    }
    for variable in from.variables() {
        let dimensions: Vec<String> = variable.dimensions().iter().map(netcdf::Dimension::name).collect();
        let dimensions: Vec<&str> = dimensions.iter().map(String::as_str).collect();
        let mut copy = to.add_variable::<f64>(&variable.name(), &dimensions).unwrap();
        for attribute in variable.attributes().filter(|a| a.name() != "_FillValue") {
            copy.put_attribute(attribute.name(), attribute.value().unwrap()).unwrap();
        }
    }
    to.enddef().unwrap();
    for variable in from.variables() {
        let values = variable.get_values::<f64, _>(..).unwrap();
        to.variable_mut(&variable.name()).unwrap().put_values(&values, ..).unwrap();
    }
    to.close().unwrap();
    drop(from);
    std::fs::rename(classic, path).unwrap();
}

/// A configuration of C12 with 6 layers and Float64 for `winds.nc`, with further lines in `[source]` and at the end.
pub fn configuration(source: &str, rest: &str) -> String {
    let numerics = if rest.contains("[numerics]") { "" } else { "[numerics]\nfloat_type = \"Float64\"\n" };
    format!(
        "[source]\nkind = \"gridded\"\n{}{source}\n[grid]\nnc = 12\n[vertical]\nlevels = \"smooth\"\nn_levels = 6\n\
         top_pa = 5000\n[output]\ndirectory = \"out\"\nfile_pattern = \"{{YYYYMMDD}}.bin\"\n{numerics}{rest}",
        if source.contains("files") { "" } else { "files = [\"winds.nc\"]\n" },
    )
}

/// Puts winds and a configuration into `dir`.
pub fn prepare(dir: &Path, winds: &Winds, source: &str, rest: &str) {
    winds.write(&dir.join("winds.nc"), |_| {});
    std::fs::write(dir.join("met.toml"), configuration(source, rest)).unwrap();
}
