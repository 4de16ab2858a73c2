//! The archives of the protocol in small: fluxes and initial states on 10 degrees, under their own names.

use std::path::Path;

const NLON: usize = 36;
const NLAT: usize = 18;

fn longitude(i: usize) -> f64 {
    10.0 * i as f64 + 5.0
}

fn latitude(j: usize) -> f64 {
    10.0 * j as f64 - 85.0
}

fn create(path: &Path) -> netcdf::FileMut {
    let mut file = netcdf::create(path).unwrap();
    let axes: [(&str, usize, fn(usize) -> f64); 2] = [("lat", NLAT, latitude), ("lon", NLON, longitude)];
    for (name, n, place) in axes {
        file.add_dimension(name, n).unwrap();
        let values: Vec<f64> = (0..n).map(place).collect();
        file.add_variable::<f64>(name, &[name]).unwrap().put_values(&values, ..).unwrap();
    }
    file
}

/// A flux whose record `t` is `value(t, longitude, latitude)`; hours of the records since 2021-12-01, if they have times.
fn flux(
    path: &Path,
    name: &str,
    units: &str,
    records: usize,
    hours: Option<f64>,
    value: impl Fn(usize, f64, f64) -> f64,
) {
    let mut file = create(path);
    file.add_dimension("time", records).unwrap();
    if let Some(hours) = hours {
        let mut time = file.add_variable::<f64>("time", &["time"]).unwrap();
        time.put_attribute("units", "hours since 2021-12-01").unwrap();
        let times: Vec<f64> = (0..records).map(|n| n as f64 * hours).collect();
        time.put_values(&times, ..).unwrap();
    }
    let cells = |t| (0..NLAT).flat_map(move |j| (0..NLON).map(move |i| (t, longitude(i), latitude(j))));
    let values: Vec<f32> = (0..records).flat_map(cells).map(|(t, lon, lat)| value(t, lon, lat) as f32).collect();
    let mut variable = file.add_variable::<f32>(name, &["time", "lat", "lon"]).unwrap();
    variable.put_attribute("units", units).unwrap();
    variable.put_values(&values, ..).unwrap();
}

/// More where people live: a bell at 40° N.
fn inhabited(lon: f64, lat: f64) -> f64 {
    (-((lat - 40.0) / 20.0).powi(2)).exp() * (1.0 + 0.5 * (2.0 * lon).to_radians().cos())
}

/// Fluxes of all tracers.
pub fn fluxes(dir: &Path) {
    // About 10 Pg C a year by day and night, in kg C m⁻² s⁻¹.
    let co2 = |t: usize, lon: f64, lat: f64| {
        let hour = (lon / 15.0 + 3.0 * t as f64) / 24.0 * std::f64::consts::TAU;
        1e-8 * (inhabited(lon, lat) - lat.to_radians().cos() * hour.cos())
    };
    let name = "z_cams_l_cams55_202112_FT24r2_ra_sfc_3h_co2_flux.nc";
    flux(&dir.join(name), "flux_apos", "kgC m-2 s-1", 31 * 8, Some(3.0), co2);
    for year in [2021, 2022, 2023] {
        let month = |t: usize, lon: f64, lat: f64| (1.0 + 0.1 * t as f64) * 0.02 * inhabited(lon, lat);
        flux(&dir.join(format!("GCP-GridFEDv2024.0_{year}.short.nc")), "TOTAL", "kgCO2/month/m2", 12, None, month);
    }
    let radon = |t: usize, lon: f64, lat: f64| (1.0 + 0.02 * t as f64) * 3e-21 * inhabited(lon, lat);
    flux(&dir.join("Rn222_Emis_Zhang_Liu_et_al_05x05_mass.nc"), "rnemis", "kg/m2/s", 12, None, radon);
    let name = "v8.0_FT2022_GHG_SF6_2022_TOTALS_emi.nc";
    flux(&dir.join(name), "emissions", "Tonnes", 1, None, |_, lon, lat| 30.0 * inhabited(lon, lat));
    std::fs::write(dir.join("sf6_gr_gl.txt"), "# year ppt/yr unc\n2021 0.36 0.02\n2022 0.37 0.02\n2023 0.38 0.02\n")
        .unwrap();
}

/// A state on four layers, surface first: `value(longitude, latitude)` at the ground, `aloft` of it above.
fn state(path: &Path, name: &str, units: &str, aloft: f64, value: impl Fn(f64, f64) -> f64) {
    let mut file = create(path);
    file.add_dimension("lev", 4).unwrap();
    file.add_dimension("ilev", 5).unwrap();
    for (name, values) in [("ap", [0.0, 5e3, 1.5e4, 8e3, 0.0]), ("bp", [1.0, 0.75, 0.3, 0.0, 0.0])] {
        file.add_variable::<f64>(name, &["ilev"]).unwrap().put_values(&values, ..).unwrap();
    }
    let mut ps = file.add_variable::<f64>("Psurf", &["lat", "lon"]).unwrap();
    ps.put_attribute("units", "Pa").unwrap();
    ps.put_values(&[98_500.0; NLAT * NLON], ..).unwrap();
    let layer = |k: usize| 1.0 + (aloft - 1.0) * k as f64 / 3.0;
    let cells = |k| (0..NLAT).flat_map(move |j| (0..NLON).map(move |i| (k, longitude(i), latitude(j))));
    let values: Vec<f64> = (0..4).flat_map(cells).map(|(k, lon, lat)| layer(k) * value(lon, lat)).collect();
    let mut q = file.add_variable::<f64>(name, &["lev", "lat", "lon"]).unwrap();
    q.put_attribute("units", units).unwrap();
    q.put_values(&values, ..).unwrap();
}

/// Initial states of carbon dioxide and SF6.
pub fn states(dir: &Path) {
    state(&dir.join("startCO2_202112010000.nc"), "CO2", "ppm", 0.98, |_, lat| 415.0 + 4.0 * lat.to_radians().sin());
    state(&dir.join("startSF6_202112010000.nc"), "SF6", "ppt", 0.9, |_, lat| 10.8 + 0.2 * lat.to_radians().sin());
}
