//! Which cell of a map holds a point.

use crate::grid::CubedSphere;
use crate::regrid::LatLonMesh;

/// Cells of a map.
pub(super) enum Cells {
    /// Of the cubed sphere: `[nf][Ydim][Xdim]`.
    Cube(CubedSphere),
    /// Between meridians and latitudes: from south to north, from the first meridian eastwards.
    LatLon(LatLonMesh),
}

impl Cells {
    /// Position of the cell that holds a point, in degrees; `None` if there is none.
    pub(super) fn at(&self, longitude: f64, latitude: f64) -> Result<Option<usize>, String> {
        match self {
            Self::Cube(grid) => {
                let cell = grid.locate(longitude, latitude).map_err(|e| e.to_string())?;
                Ok(Some((cell.panel.index() * grid.nc() + cell.j) * grid.nc() + cell.i))
            }
            Self::LatLon(mesh) => {
                let west = mesh.lon_edges()[0];
                let turned = west + (longitude - west).rem_euclid(360.0);
                let column = between(mesh.lon_edges(), turned);
                Ok(column.zip(between(mesh.lat_edges(), latitude)).map(|(i, j)| j * mesh.nlon() + i))
            }
        }
    }
}

/// Interval between ascending edges in which a number lies; the last edge belongs to the last interval.
fn between(edges: &[f64], x: f64) -> Option<usize> {
    let last = edges.len() - 1;
    if !(edges[0]..=edges[last]).contains(&x) {
        return None;
    }
    Some(edges.partition_point(|edge| *edge <= x).clamp(1, last) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_lies_in_the_cell_whose_edges_are_around_it() {
        let lon: Vec<f64> = (0..=36).map(|i| -175.0 + 10.0 * f64::from(i)).collect();
        let lat: Vec<f64> = (0..=9).map(|j| -90.0 + 20.0 * f64::from(j)).collect();
        let cells = Cells::LatLon(LatLonMesh::from_edges(lon.clone(), lat.clone()).unwrap());
        for (i, j) in (0..36).flat_map(|i| (0..9).map(move |j| (i, j))) {
            let (x, y) = (0.5 * (lon[i] + lon[i + 1]), 0.5 * (lat[j] + lat[j + 1]));
            for turn in [-360.0, 0.0, 360.0] {
                assert_eq!(cells.at(x + turn, y), Ok(Some(j * 36 + i)));
            }
        }
        assert_eq!([cells.at(-175.0, -90.0), cells.at(-180.0, 90.0)], [Ok(Some(0)), Ok(Some(8 * 36 + 35))]);
        let part = Cells::LatLon(LatLonMesh::from_edges(vec![350.0, 360.0, 370.0], vec![0.0, 10.0]).unwrap());
        assert_eq!([part.at(-5.0, 5.0), part.at(5.0, 5.0)], [Ok(Some(0)), Ok(Some(1))]);
        assert_eq!([part.at(11.0, 5.0), part.at(0.0, -1.0), part.at(0.0, 11.0)], [Ok(None), Ok(None), Ok(None)]);
    }
}
