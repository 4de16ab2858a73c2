//! Lat-lon meshes.

use std::f64::consts::FRAC_PI_2;

use super::RegridError;

/// Degrees by which a turn or a pole may be missed and still be meant.
const ROUNDING: f64 = 1e-9;

/// Shape of the northern and southern sides of lat-lon cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LatLonSides {
    /// Parallels, as the cells of every lat-lon model have them.
    #[default]
    Parallels,
    /// Great circles between the corners.
    GreatCircles,
}

/// Cells between meridians and latitudes, row by row from south to north, each row from west to east.
#[derive(Clone, Debug, PartialEq)]
pub struct LatLonMesh {
    lon: Vec<f64>,
    lat: Vec<f64>,
    sides: LatLonSides,
}

impl LatLonMesh {
    /// Mesh with these edges in degrees, strictly ascending, one more than cells in each direction. Longitudes span at
    /// most 360 degrees; latitudes lie in −90..=90. The sides are parallels.
    ///
    /// # Errors
    /// [`RegridError::Axis`] naming the edge at fault, [`RegridError::Cells`] for too many cells.
    pub fn from_edges(lon: Vec<f64>, lat: Vec<f64>) -> Result<Self, RegridError> {
        let (mut lon, mut lat) = (lon, lat);
        ascending("longitude", &lon)?;
        ascending("latitude", &lat)?;
        let (west, east) = (lon[0], lon[lon.len() - 1]);
        if west.abs() > 720.0 || east.abs() > 720.0 {
            return RegridError::axis("longitude", format!("edges from {west} to {east} degrees, outside -720 to 720"));
        }
        let missed = east - west - 360.0;
        if missed > ROUNDING {
            return RegridError::axis("longitude", format!("cells span {} degrees, more than a turn", east - west));
        }
        if missed.abs() <= ROUNDING {
            *lon.last_mut().expect("two edges at least") = west + 360.0;
        }
        let last = lat.len() - 1;
        for at in [0, last] {
            let beyond = lat[at].abs() - 90.0;
            if beyond > ROUNDING {
                return RegridError::axis("latitude", format!("edge {} lies at {} degrees", at + 1, lat[at]));
            }
            if beyond.abs() <= ROUNDING {
                lat[at] = 90f64.copysign(lat[at]);
            }
        }
        super::mesh::countable((lon.len() - 1) * last)?;
        Ok(Self { lon, lat, sides: LatLonSides::Parallels })
    }

    /// The same edges with other northern and southern sides.
    ///
    /// # Errors
    /// [`RegridError::Axis`] for great circles between corners half a turn apart or more.
    pub fn with_sides(self, sides: LatLonSides) -> Result<Self, RegridError> {
        let wide = self.lon.windows(2).position(|w| w[1] - w[0] > 179.0);
        match (sides, wide) {
            (LatLonSides::GreatCircles, Some(cell)) => {
                let width = self.lon[cell + 1] - self.lon[cell];
                RegridError::axis("longitude", format!("cell {} is {width} degrees wide, over 179", cell + 1))
            }
            _ => Ok(Self { sides, ..self }),
        }
    }

    /// Edges in longitude, degrees.
    pub fn lon_edges(&self) -> &[f64] {
        &self.lon
    }

    /// Edges in latitude, degrees.
    pub fn lat_edges(&self) -> &[f64] {
        &self.lat
    }

    /// Shape of the northern and southern sides.
    pub fn sides(&self) -> LatLonSides {
        self.sides
    }

    /// Cells in a row.
    pub fn nlon(&self) -> usize {
        self.lon.len() - 1
    }

    /// Rows.
    pub fn nlat(&self) -> usize {
        self.lat.len() - 1
    }

    /// Whether the cells cover the sphere.
    pub fn covers_sphere(&self) -> bool {
        self.lon[self.nlon()] - self.lon[0] == 360.0 && self.lat[0] == -90.0 && self.lat[self.nlat()] == 90.0
    }
}

/// Refuses fewer than two edges, values that are not numbers and steps that are not upwards.
pub(super) fn ascending(axis: &'static str, edges: &[f64]) -> Result<(), RegridError> {
    if edges.len() < 2 {
        return RegridError::axis(axis, format!("{} edges; at least two are needed", edges.len()));
    }
    if let Some(k) = edges.iter().position(|e| !e.is_finite()) {
        return RegridError::axis(axis, format!("edge {} is {}", k + 1, edges[k]));
    }
    match edges.windows(2).position(|w| w[1] <= w[0]) {
        Some(k) => {
            RegridError::axis(axis, format!("edge {} at {} is not above {} before it", k + 2, edges[k + 1], edges[k]))
        }
        None => Ok(()),
    }
}

/// Difference of the sines of two latitudes in degrees, `north` above `south`, to full relative accuracy also next to
/// the poles.
pub(super) fn sine_difference(south: f64, north: f64) -> f64 {
    // From colatitudes of the nearer pole, which are exact differences of degrees.
    let (a, b) = if south + north >= 0.0 { (90.0 - north, 90.0 - south) } else { (90.0 + south, 90.0 + north) };
    let (a, b) = (a.to_radians(), b.to_radians());
    2.0 * (0.5 * (a + b)).min(FRAC_PI_2).sin() * (0.5 * (b - a)).sin()
}
