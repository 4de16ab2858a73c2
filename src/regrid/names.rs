//! Meshes by name.

use super::{GaussianLatitudes, LatLonMesh, Mesh, ReducedMesh, RegridError, RingStart};
use crate::grid::{CubedSphere, GeometryBundle};

/// What names there are.
pub(super) const HELP: &str = "grids are c24 and c24:gnomonic (cubed spheres), latlon:1x1 (rows x columns in degrees, \
     first edge at -180), geos:4x5 (first centre at -180, polar rows of half height), gaussian:n80 and octahedral:o80";

impl Mesh {
    /// The mesh of a name; cubes have the radius `radius_m`.
    ///
    /// | name | mesh |
    /// |---|---|
    /// | `c24`, `c24:geos_native` | cubed sphere as in GEOS, turned by −10° |
    /// | `c24:gnomonic` | equiangular cubed sphere |
    /// | `latlon:1x1` | rows of 1°, columns of 1°, first edge at −180 |
    /// | `geos:4x5` | rows of 4°, those at the poles half as high, columns of 5°, first centre at −180 |
    /// | `gaussian:n80` | 160 Gaussian latitudes, 320 longitudes, first centre at 0 |
    /// | `octahedral:o80` | 160 Gaussian latitudes, 20 longitudes next to the poles and four more per ring |
    ///
    /// # Errors
    /// [`RegridError::Name`] for other names and sizes that do not fit the sphere.
    pub fn named(name: &str, radius_m: f64) -> Result<Self, RegridError> {
        let refuse = |problem: String| RegridError::Name { name: name.to_owned(), problem };
        let lower = name.trim().to_lowercase();
        let (kind, rest) = lower.split_once(':').unwrap_or((&lower, ""));
        let size = |letter: char| -> Result<usize, RegridError> {
            let number = rest.strip_prefix(letter).unwrap_or(rest).parse().ok().filter(|n| (1..=8000).contains(n));
            number.ok_or_else(|| refuse(format!("'{rest}' is no size; sizes are like {letter}80")))
        };
        let mesh = match kind {
            "latlon" | "geos" => Mesh::LatLon(latlon(kind, rest).map_err(refuse)?),
            "gaussian" => {
                let n = size('n')?;
                let lon = (0..=4 * n).map(|i| 360.0 * (i as f64 - 0.5) / (4 * n) as f64).collect();
                let lat = GaussianLatitudes::new(2 * n).edges().to_vec();
                Mesh::LatLon(LatLonMesh::from_edges(lon, lat)?)
            }
            "octahedral" => {
                let n = size('o')?;
                let points = (0..2 * n).map(|ring| 20 + 4 * ring.min(2 * n - 1 - ring)).collect();
                Mesh::Reduced(ReducedMesh::gaussian(points, RingStart::Centre(0.0))?)
            }
            _ => Mesh::Cube(cube(kind, rest, radius_m).map_err(refuse)?),
        };
        Ok(mesh)
    }
}

/// `4x5` as rows and columns in degrees.
fn latlon(kind: &str, steps: &str) -> Result<LatLonMesh, String> {
    let step = |text: &str| text.parse().ok().filter(|step: &f64| *step > 0.0 && step.is_finite());
    let steps = steps.split_once('x').and_then(|(rows, columns)| step(rows).zip(step(columns)));
    let (height, width) = steps.ok_or("the steps of rows and columns are given in degrees, like 4x5")?;
    let count = |span: f64, step: f64, what: &str| {
        let n = (span / step).round();
        let fits = (1.0..1e6).contains(&n) && (n * step - span).abs() <= 1e-6 * step;
        fits.then_some(n as usize).ok_or(format!("{step} degrees do not divide the {span} degrees of {what}"))
    };
    let (nlon, rows) = (count(360.0, width, "a row")?, count(180.0, height, "a column")?);
    let (half, nlat) = if kind == "geos" { (0.5, rows + 1) } else { (0.0, rows) };
    let lon = (0..=nlon).map(|i| -180.0 + 360.0 * (i as f64 - half) / nlon as f64).collect();
    let lat = (0..=nlat).map(|j| (-90.0 + 180.0 * (j as f64 - half) / rows as f64).clamp(-90.0, 90.0)).collect();
    LatLonMesh::from_edges(lon, lat).map_err(|e| e.to_string())
}

fn cube(kind: &str, bundle: &str, radius_m: f64) -> Result<CubedSphere, String> {
    let nc = kind.strip_prefix('c').and_then(|n| n.parse().ok()).ok_or("there is no such grid")?;
    let bundle = match bundle {
        "" | "geos_native" => GeometryBundle::GeosNative,
        "gnomonic" => GeometryBundle::Gnomonic,
        other => return Err(format!("there is no cubed sphere '{other}'")),
    };
    CubedSphere::new(nc, bundle, bundle.default_offset_deg(), radius_m).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latlon_of(name: &str) -> LatLonMesh {
        match Mesh::named(name, 1.0).unwrap() {
            Mesh::LatLon(mesh) => mesh,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn names_mean_meshes() {
        let mesh = latlon_of("latlon:1x1");
        assert_eq!((mesh.nlon(), mesh.nlat(), mesh.lon_edges()[0], mesh.lat_edges()[1]), (360, 180, -180.0, -89.0));
        let mesh = latlon_of("GEOS:2x2.5");
        assert_eq!((mesh.nlon(), mesh.nlat(), mesh.lon_edges()[0], mesh.lat_edges()[1]), (144, 91, -181.25, -89.0));
        assert!(mesh.covers_sphere());
        let mesh = latlon_of("latlon:0.1x0.1");
        assert_eq!((mesh.nlon(), mesh.nlat()), (3600, 1800));
        let mesh = latlon_of("gaussian:n32");
        assert_eq!((mesh.nlon(), mesh.nlat(), mesh.covers_sphere()), (128, 64, true));
        for (name, words) in [
            ("c24", "cubed sphere C24, geos_native"),
            ("C12:gnomonic", "cubed sphere C12, gnomonic"),
            ("octahedral:o80", "reduced 160 rings, 28480 cells"),
        ] {
            assert_eq!(Mesh::named(name, 6.371e6).unwrap().to_string(), words);
        }
    }

    #[test]
    fn other_names_are_refused() {
        for (name, part) in [
            ("c0", "Nc = 0"),
            ("c24:fv3", "no cubed sphere 'fv3'"),
            ("cube", "no such grid"),
            ("latlon:7x5", "7 degrees do not divide the 180 degrees"),
            ("latlon:1", "like 4x5"),
            ("latlon:-1x1", "like 4x5"),
            ("gaussian:x", "no size"),
            ("", "no such grid"),
        ] {
            let error = Mesh::named(name, 1.0).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
            assert!(error.help().contains("latlon:1x1"));
        }
    }
}
