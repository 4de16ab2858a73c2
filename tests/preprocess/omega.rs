//! Vertical motion that follows from balanced horizontal winds against that of the model which made the winds.

use std::path::Path;

use atmostr::grid::constants::GRAVITY;
use atmostr::grid::{CubedSphere, GeometryBundle};
use atmostr::gridded::{AxisNames, GriddedFile, Missing};
use atmostr::met::{Section, TransportFile};
use atmostr::preprocess::FaceTable;
use atmostr::regrid::{Mesh, Overlap};

use crate::real::{data, files, prepare};
use crate::support::alone;

/// ω in Pa/s at interface `k` of every cell: the air through the interface, and the change of its pressure along the wind
/// where it follows the surface pressure.
fn omega(path: &Path, k: usize) -> Vec<f64> {
    let file = TransportFile::open(path).unwrap();
    let header = file.header();
    let (nc, nz) = (header.nc(), header.nlevel());
    let grid = CubedSphere::new(nc, GeometryBundle::GeosNative, -10.0, header.radius_m()).unwrap();
    let faces = FaceTable::new(nc, GeometryBundle::GeosNative.convention());
    let whole = |section: Section| file.section_values(0, section).unwrap();
    let [am, bm, cm, m, ps] =
        [Section::FluxX, Section::FluxY, Section::FluxZ, Section::AirMass, Section::SurfacePressure].map(whole);
    let seconds = header.dt_met_seconds() / (2.0 * f64::from(header.steps()[0]));
    let mut above = vec![0.0; faces.faces()];
    let mut below = vec![0.0; faces.faces()];
    faces.gather(&am, &bm, k - 1, nz, &mut above);
    faces.gather(&am, &bm, k, nz, &mut below);
    let (area, plane) = (|c: usize| grid.area(c % (nc * nc) % nc, c % (nc * nc) / nc), nc * nc);
    let mass = |c: usize, level: usize| m[(c / plane * nz + level) * plane + c % plane];
    let mut found: Vec<f64> = (0..faces.cells())
        .map(|c| cm[(c / plane * (nz + 1) + k) * plane + c % plane] / seconds * GRAVITY / area(c))
        .collect();
    // B V·∇ps, the wind of a face being its flux over the air beside it.
    let b = header.b_ifc()[k];
    for f in 0..faces.faces() {
        let (left, right) = (faces.left(f), faces.right(f));
        let air = |level: usize| mass(left, level) / area(left) + mass(right, level) / area(right);
        let wind = (above[f] / air(k - 1) + below[f] / air(k)) / seconds;
        let drop = 0.5 * (ps[right] - ps[left]);
        found[left] += b * wind * drop / area(left);
        found[right] += b * wind * drop / area(right);
    }
    found
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let product =
        |x: &[f64], mx: f64, y: &[f64], my: f64| x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum::<f64>();
    product(a, ma, b, mb) / (product(a, ma, a, ma) * product(b, mb, b, mb)).sqrt()
}

/// GFS 72 h forecast, ω at 500 hPa, on C24: the vertical motion of the steady winds is that of the model.
#[test]
fn vertical_motion_is_that_of_the_model() {
    let Some(data) = data() else { return };
    let (_guard, dir) = alone();
    prepare(dir.path(), &data, "ncep_gfs_2p5deg", ["2011-10-11"; 2], "Float64").succeed();
    let path = &files(dir.path())[0];
    let file = TransportFile::open(path).unwrap();
    let header = file.header();
    let pressure = |k: usize| header.a_ifc()[k] + header.b_ifc()[k] * 1.0e5;
    let given = GriddedFile::open(&data.join("ncep_gfs_2p5deg/gfs_20111008T00_f072.nc")).unwrap();
    let w = given.variable("w", &AxisNames::default()).unwrap();
    let levels = given.values("lev").unwrap();
    let grid = CubedSphere::new(header.nc(), GeometryBundle::GeosNative, -10.0, header.radius_m()).unwrap();
    let weights = Overlap::new(&Mesh::LatLon(w.axes().mesh().clone()), &Mesh::Cube(grid));
    for (hpa, least) in [(300.0, 0.7), (500.0, 0.65), (700.0, 0.55)] {
        let level = levels.iter().position(|p| *p == hpa).unwrap();
        let stored = w.read(0, level..level + 1, Missing::Refuse).unwrap();
        let mut expected = vec![0.0; 6 * header.nc() * header.nc()];
        weights.intensive(&stored, &mut expected);
        let near = |k: &usize| (pressure(*k) - 100.0 * hpa).abs();
        let k = (1..header.nlevel()).min_by(|a, b| near(a).total_cmp(&near(b))).unwrap();
        let r = correlation(&omega(path, k), &expected);
        println!("{hpa} hPa: r = {r:.3} with interface {k} at {:.0} Pa", pressure(k));
        assert!(r > least, "{hpa} hPa: r = {r}");
    }
}
