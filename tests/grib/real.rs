//! Messages of ECMWF, against values decoded independently.

use std::path::{Path, PathBuf};

use atmostr::grid::HybridCoordinate;
use atmostr::preprocess::grib::{GribEntry, GribFile, GribGrid, GribTime, GribWanted};
use atmostr::spectral::{Ring, Synthesis};

const RADIUS: f64 = 6_371_229.0;

/// A file of shared data, if it is there.
fn data(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not there", path.display());
    None
}

/// Rings through the points of 5 degrees, with twice as many points: at 72 a ring has no room for all waves.
fn rings(south_to_north: &[f64]) -> Vec<Ring> {
    south_to_north.iter().map(|&latitude| Ring { latitude, points: 144, first_longitude: 0.0 }).collect()
}

fn spectrum(file: &GribFile, entry: &GribEntry) -> (usize, Vec<f64>) {
    let field = file.field(entry).unwrap();
    match field.grid {
        GribGrid::Spectral { truncation } => (truncation, field.values),
        other => panic!("{other:?}"),
    }
}

/// Values at every second point of [`rings`].
fn scalar(latitudes: &[f64], truncation: usize, spectrum: &[f64]) -> Vec<f64> {
    let synthesis = Synthesis::new(truncation, rings(latitudes)).unwrap();
    let mut values = vec![0.0; synthesis.points()];
    synthesis.scalars(&[spectrum], &mut [&mut values]).unwrap();
    values.into_iter().step_by(2).collect()
}

struct Decoded(netcdf::File);

impl Decoded {
    fn open() -> Option<Self> {
        Some(Self(netcdf::open(data("spectral_grib/decoded_5deg.nc")?).unwrap()))
    }

    fn values(&self, name: &str) -> Vec<f64> {
        self.0.variable(name).unwrap().get_values(..).unwrap()
    }
}

/// Largest difference, and largest value.
fn difference(found: &[f64], expected: &[f64]) -> (f64, f64) {
    assert_eq!(found.len(), expected.len());
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0f64, |a, b| a.max(b.abs()));
    let difference = largest(&mut found.iter().zip(expected).map(|(a, b)| a - b));
    (difference, largest(&mut expected.iter().copied()))
}

#[test]
fn surface_pressure_of_the_logarithm_equals_the_decoded_one() {
    let Some(decoded) = Decoded::open() else { return };
    let file = GribFile::open(&data("spectral_grib/erai_20160410_lnsp_t63.grib").unwrap()).unwrap();
    assert_eq!(file.entries().len(), 4);
    let (latitudes, ps, hours) = (decoded.values("lat"), decoded.values("ps"), decoded.values("time"));
    let start: jiff::Timestamp = "2016-04-10T00:00:00Z".parse().unwrap();
    for (n, hour) in hours.iter().enumerate() {
        let time = start + jiff::SignedDuration::from_hours(*hour as i64);
        let wanted = GribWanted { parameter: 152, name: "lnsp", level: None, time: GribTime::Valid(time) };
        let entry = file.find(&wanted).unwrap();
        let (truncation, spectrum) = spectrum(&file, entry);
        assert_eq!((truncation, entry.name.as_str(), entry.level), (63, "lnsp", 1));
        let found: Vec<f64> = scalar(&latitudes, truncation, &spectrum).iter().map(|lnsp| lnsp.exp()).collect();
        let points = found.len();
        let (error, _) = difference(&found, &ps[n * points..(n + 1) * points]);
        println!("ps at hour {hour}: largest difference {error:e} Pa");
        assert!(error <= 1e-6, "{error} Pa");
    }
}

#[test]
fn vorticity_and_divergence_equal_the_decoded_ones() {
    let Some(decoded) = Decoded::open() else { return };
    let latitudes = decoded.values("lat");
    for (path, name, variable) in [
        ("spectral_grib/ifs_20230222_vo_d_ml1_t20.grib2", "vo", "ml1_vo"),
        ("spectral_grib/ifs_20230222_vo_d_ml1_t20.grib2", "d", "ml1_d"),
        ("spectral_grib/ifs_20191110_vo300_t63.grib1", "vo", "vo300"),
    ] {
        let file = GribFile::open(&data(path).unwrap()).unwrap();
        let entry = file.entries().iter().find(|e| e.name == name).unwrap();
        let (truncation, spectrum) = spectrum(&file, entry);
        let (error, largest) = difference(&scalar(&latitudes, truncation, &spectrum), &decoded.values(variable));
        println!("{variable}: largest difference {:e} of the largest value", error / largest);
        assert!(error <= 1e-13 * largest, "{variable}: {error} of {largest}");
    }
}

/// ln ps of ERA-Interim as the scalar; vorticity of the IFS, and once more in place of a divergence.
#[test]
fn truncation_63_equals_an_independent_transform() {
    let Some(path) = data("spectral_grib/erai_20160410_lnsp_t63.grib") else { return };
    let lnsp = GribFile::open(&path).unwrap();
    let vorticity = GribFile::open(&data("spectral_grib/ifs_20191110_vo300_t63.grib1").unwrap()).unwrap();
    let [(_, lnsp), (truncation, vorticity)] = [lnsp, vorticity].map(|file| spectrum(&file, &file.entries()[0]));
    crate::synthesis::compare_with_pyshtools(truncation, &lnsp, &vorticity, &vorticity);
}

/// The decoded wind comes from central differences of the streamfunction over 1e-4 rad, off by (1e-4 n)²/6 for total wave n
/// ≤ 63; its pole rows are empty.
#[test]
fn rotational_wind_of_the_vorticity_equals_the_decoded_one() {
    let Some(decoded) = Decoded::open() else { return };
    let latitudes = decoded.values("lat");
    let inner = 72..latitudes.len() * 72 - 72;
    let file = GribFile::open(&data("spectral_grib/ifs_20191110_vo300_t63.grib1").unwrap()).unwrap();
    let (truncation, vorticity) = spectrum(&file, &file.entries()[0]);
    let divergence = vec![0.0; vorticity.len()];
    let synthesis = Synthesis::new(truncation, rings(&latitudes)).unwrap();
    let [mut u, mut v] = [0, 1].map(|_| vec![0.0; synthesis.points()]);
    synthesis.winds(RADIUS, &[&vorticity], &[&divergence], &mut [&mut u], &mut [&mut v]).unwrap();
    for (name, field) in [("u300_nondiv", u), ("v300_nondiv", v)] {
        let found: Vec<f64> = field.into_iter().step_by(2).collect();
        let (error, largest) = difference(&found[inner.clone()], &decoded.values(name)[inner.clone()]);
        println!("{name}: largest difference {error:e} m/s of {largest} m/s");
        assert!(error <= 1e-6 * largest, "{name}: {error} of {largest}");
    }
}

#[test]
fn hybrid_levels_come_with_the_messages() {
    let Some(era) = data("spectral_grib/erai_20160410_lnsp_t63.grib") else { return };
    let file = GribFile::open(&era).unwrap();
    let levels = file.hybrid(&file.entries()[0]).unwrap().unwrap();
    // ERA-Interim: 60 levels, the first interface below the top at 20 Pa, pure pressure there, pure sigma at the ground.
    assert_eq!((levels.levels(), levels.a()[0], levels.b()[0]), (60, 0.0, 0.0));
    assert!((levels.a()[1] - 20.0).abs() < 1e-3 && levels.b()[1] == 0.0, "{}", levels.a()[1]);
    assert_eq!((levels.a()[60], levels.b()[60]), (0.0, 1.0));
    let ifs = GribFile::open(&data("spectral_grib/ifs_20230222_vo_d_ml1_t20.grib2").unwrap()).unwrap();
    let levels = ifs.hybrid(&ifs.entries()[1]).unwrap().unwrap();
    // Those of the program, which come from a table with six decimals.
    let ours = HybridCoordinate::ifs_l137();
    assert_eq!(levels.levels(), ours.levels());
    for k in 0..=137 {
        let (a, b) = (levels.a()[k] - ours.a()[k], levels.b()[k] - ours.b()[k]);
        assert!(a.abs() <= 1e-6 && b.abs() <= 5e-7, "interface {k}: {a} {b}");
    }
    // Fields on pressure levels bring none.
    let pressure = GribFile::open(&data("spectral_grib/ifs_20180228_t1000_t20.grib1").unwrap()).unwrap();
    assert_eq!(pressure.hybrid(&pressure.entries()[0]).unwrap(), None);
}

#[test]
fn reduced_gaussian_humidity_has_its_rings() {
    let Some(path) = data("spectral_grib/erai_20160410_q_ml1_n32.grib") else { return };
    let file = GribFile::open(&path).unwrap();
    for entry in file.entries() {
        assert_eq!((entry.parameter, entry.name.as_str(), entry.level), (133, "q", 1));
        let field = file.field(entry).unwrap();
        let GribGrid::Gaussian { points } = &field.grid else { panic!("{:?}", field.grid) };
        // ECMWF's N32: 20 points next to the poles, 128 at the equator, 6114 in all.
        assert_eq!((points.len(), points[0], points[31], points[63]), (64, 20, 128, 20));
        assert_eq!(field.values.len(), 6114);
        // The stratosphere at 0.1 hPa holds 2 to 8 mg of water per kg.
        assert!(field.values.iter().all(|q| (1e-6..1e-5).contains(q)));
    }
    let times: Vec<String> = file.entries().iter().map(|e| e.valid().to_string()).collect();
    let expected = ["2016-04-10T03:00:00Z", "2016-04-10T09:00:00Z", "2016-04-10T15:00:00Z", "2016-04-10T21:00:00Z"];
    assert_eq!(times, expected);
}

#[test]
fn longitudes_and_latitudes_equal_their_netcdf_copy() {
    let Some(path) = data("ecmwf_uv_6hourly_5deg/ifs_20190508T12_uv_500_1000.grib") else { return };
    let copy = netcdf::open(path.with_extension("nc")).unwrap();
    let file = GribFile::open(&path).unwrap();
    let get = |name: &str| -> Vec<f64> { copy.variable(name).unwrap().get_values(..).unwrap() };
    let (lat, lon) = (get("lat"), get("lon"));
    let mut compared = 0;
    for (n, entry) in file.entries().iter().enumerate() {
        assert_eq!(entry.message, n + 1);
        let field = file.field(entry).unwrap();
        let GribGrid::LatLon { longitudes, latitudes } = &field.grid else { panic!("{:?}", field.grid) };
        assert!(longitudes.iter().zip(&lon).all(|(a, b)| (a - b).abs() < 1e-12));
        let flipped: Vec<f64> = latitudes.iter().rev().copied().collect();
        assert!(flipped.iter().zip(&lat).all(|(a, b)| (a - b).abs() < 1e-12));
        let variable = copy.variable(&entry.name).unwrap();
        let levels: Vec<f64> = get("lev");
        let level = levels.iter().position(|l| *l == f64::from(entry.level)).unwrap();
        let time = (entry.steps[1] / 6) as usize;
        let stored: Vec<f64> = variable.get_values((time, level, .., ..)).unwrap();
        let rows: Vec<f64> = field.values.chunks(72).rev().flatten().copied().collect();
        let (error, largest) = difference(&rows, &stored);
        assert!(error <= 1e-6 * largest, "message {}: {error} of {largest}", entry.message);
        compared += 1;
    }
    assert_eq!(compared, 16);
}
