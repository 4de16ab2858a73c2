//! Comparison of a synthesis with another library, in Python.

use std::path::Path;
use std::process::Command;

use atmostr::spectral::{Ring, Synthesis};

const RADIUS: f64 = 6_371_229.0;

/// Evaluates the spectra (one scalar; vorticity and divergence) and has `tests/python/check_synthesis.py` compare.
/// Skips with the reason where Python or pyshtools is absent.
pub fn compare_with_pyshtools(truncation: usize, scalar: &[f64], vorticity: &[f64], divergence: &[f64]) {
    let python = std::env::var("ATMOSTR_PYTHON").unwrap_or_else(|_| "python3".into());
    let ready = Command::new(&python).args(["-c", "import netCDF4, pyshtools"]).output();
    if !ready.is_ok_and(|output| output.status.success()) {
        println!("skipped: `{python}` has no pyshtools with netCDF4");
        return;
    }
    // Even and odd rings with room for all waves, in both hemispheres and at a pole.
    let ring = |n: usize| Ring {
        latitude: -90.0 + 12.5 * n as f64,
        points: 2 * truncation + 1 + n % 2,
        first_longitude: 0.37 * n as f64,
    };
    let rings: Vec<Ring> = (0..15).map(ring).collect();
    let synthesis = Synthesis::new(truncation, rings.clone()).unwrap();
    let mut values = vec![0.0; synthesis.points()];
    synthesis.scalars(&[scalar], &mut [&mut values]).unwrap();
    let points = rings.iter().flat_map(|ring| {
        let step = 360.0 / ring.points as f64;
        (0..ring.points).map(move |i| (ring.latitude, ring.first_longitude + i as f64 * step))
    });
    let (lat, lon): (Vec<f64>, Vec<f64>) = points.unzip();

    // The grid of pyshtools: 2(T + 1) latitudes from the north pole, twice as many longitudes from 0.
    let rows = 2 * (truncation + 1);
    let row =
        |n: usize| Ring { latitude: 90.0 - 180.0 * n as f64 / rows as f64, points: 2 * rows, first_longitude: 0.0 };
    let synthesis = Synthesis::new(truncation, (0..rows).map(row).collect()).unwrap();
    let [mut u, mut v] = [0, 1].map(|_| vec![0.0; synthesis.points()]);
    synthesis.winds(RADIUS, &[vorticity], &[divergence], &mut [&mut u], &mut [&mut v]).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("synthesis.nc");
    write(
        &path,
        &[("truncation", &[truncation as f64]), ("radius", &[RADIUS])],
        &[
            ("scalar_spectrum", scalar),
            ("vorticity_spectrum", vorticity),
            ("divergence_spectrum", divergence),
            ("lat", &lat),
            ("lon", &lon),
            ("scalar", &values),
            ("u", &u),
            ("v", &v),
        ],
    );
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/check_synthesis.py");
    let output = Command::new(&python).args([script, path.to_str().unwrap()]).output().unwrap();
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn write(path: &Path, numbers: &[(&str, &[f64])], lists: &[(&str, &[f64])]) {
    let mut file = netcdf::create(path).unwrap();
    for (name, value) in numbers {
        file.add_variable::<f64>(name, &[]).unwrap().put_values(value, ()).unwrap();
    }
    for (name, values) in lists {
        let dimension = format!("n_{name}");
        file.add_dimension(&dimension, values.len()).unwrap();
        file.add_variable::<f64>(name, &[&dimension]).unwrap().put_values(values, ..).unwrap();
    }
}
