//! Bilinear interpolation from longitudes and latitudes to the centres of a cube.

use crate::grid::CubedSphere;
use crate::regrid::LatLonAxes;

/// Where a centre lies among the points of the source.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Between {
    /// Columns west and east of it.
    lon: [u32; 2],
    /// Rows south and north of it.
    lat: [u32; 2],
    /// Weights of the eastern column and of the northern row.
    part: [f64; 2],
}

/// Interpolation of fields `[lat][lon]`, periodic in longitude; beyond the outermost rows those hold.
#[derive(Clone, Debug)]
pub(super) struct Bilinear {
    nlon: usize,
    cells: Vec<Between>,
}

impl Bilinear {
    /// From the centres of `axes`, which must go around the sphere, to those of all cells of `grid`.
    pub(super) fn new(axes: &LatLonAxes, grid: &CubedSphere) -> Self {
        let (lon, lat, nc) = (axes.lon_centres(), axes.lat_centres(), grid.nc());
        let width = 360.0 / lon.len() as f64;
        let at = |cell: usize| {
            let panel = decomposition::Panel::ALL[cell / (nc * nc)];
            let (east, north) = grid.center_lonlat(panel, cell % nc, cell / nc % nc);
            let x = (east - lon[0]).rem_euclid(360.0) / width;
            let west = (x as usize).min(lon.len() - 1);
            let row = lat.partition_point(|l| *l <= north);
            let (south, above) = (row.max(1) - 1, row.min(lat.len() - 1));
            let y = if above > south { (north - lat[south]) / (lat[above] - lat[south]) } else { 0.0 };
            Between {
                lon: [west as u32, ((west + 1) % lon.len()) as u32],
                lat: [south as u32, above as u32],
                part: [x - west as f64, y.clamp(0.0, 1.0)],
            }
        };
        Self { nlon: lon.len(), cells: (0..6 * nc * nc).map(at).collect() }
    }

    /// One level, `[lat][lon]` from south to north to `[panel][j][i]`.
    pub(super) fn level(&self, values: &[f64], out: &mut [f64]) {
        for (out, Between { lon, lat, part }) in out.iter_mut().zip(&self.cells) {
            let row = |j: u32| {
                let row = &values[j as usize * self.nlon..(j as usize + 1) * self.nlon];
                let (west, east) = (row[lon[0] as usize], row[lon[1] as usize]);
                west + part[0] * (east - west)
            };
            let (south, north) = (row(lat[0]), row(lat[1]));
            *out = south + part[1] * (north - south);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::GeometryBundle;

    fn axes(nlon: usize, nlat: usize) -> LatLonAxes {
        let lon: Vec<f64> = (0..nlon).map(|i| -180.0 + 360.0 * i as f64 / nlon as f64).collect();
        let lat: Vec<f64> = (0..nlat).map(|j| -90.0 + 180.0 * j as f64 / (nlat - 1) as f64).collect();
        LatLonAxes::from_centres(&lon, &lat).unwrap()
    }

    /// What is linear in latitude is met exactly, across the date line too; a smooth field to second order.
    #[test]
    fn fields_are_met_at_the_centres() {
        let bundle = GeometryBundle::GeosNative;
        let grid = CubedSphere::new(12, bundle, bundle.default_offset_deg(), 6_371_229.0).unwrap();
        let error = |nlon: usize, nlat: usize, field: fn(f64, f64) -> f64| {
            let axes = axes(nlon, nlat);
            let rows = axes.lat_centres().iter().flat_map(|lat| axes.lon_centres().iter().map(|lon| field(*lon, *lat)));
            let values: Vec<f64> = rows.collect();
            let mut out = vec![f64::NAN; 6 * 144];
            Bilinear::new(&axes, &grid).level(&values, &mut out);
            let at = |cell: usize| grid.center_lonlat(decomposition::Panel::ALL[cell / 144], cell % 12, cell / 12 % 12);
            out.iter().enumerate().map(|(c, v)| (v - field(at(c).0, at(c).1)).abs()).fold(0.0, f64::max)
        };
        assert!(error(36, 19, |_, lat| 3.0 * lat - 1.0) < 1e-11);
        let wave = |lon: f64, lat: f64| lon.to_radians().sin() * lat.to_radians().cos();
        let (coarse, fine) = (error(36, 19, wave), error(72, 37, wave));
        assert!(coarse < 0.01 && fine < 0.3 * coarse, "{coarse} {fine}");
    }
}
