//! Edges of regular longitude-latitude grids of inventories.

use super::SourceError;

/// Parts of a cell by which a stored coordinate may be off.
const TOLERANCE: f64 = 1e-3;

/// Cell edges, in degrees, of a regular grid given by its centres. Spacing is taken from the whole span, so single
/// precision of the file does not enter; edges within a thousandth of a cell of ±90° or of a full turn are put there.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceGrid {
    lon: Vec<f64>,
    lat: Vec<f64>,
    whole_sphere: WholeSphere,
}

/// Whether the edges reach around and to both poles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WholeSphere {
    Covered,
    Part,
}

impl SourceGrid {
    /// Grid with centres at `lon` and `lat` (degrees; increasing or decreasing, at least two of each). Cells centred on
    /// a pole end there.
    ///
    /// # Errors
    /// [`SourceError::Axis`] for centres that are not evenly spaced, for edges beyond a pole and for more than a turn.
    pub fn from_centres(lon: &[f64], lat: &[f64]) -> Result<Self, SourceError> {
        let (mut lon, width) = edges("longitude", lon)?;
        let (mut lat, height) = edges("latitude", lat)?;
        let span = lon[lon.len() - 1] - lon[0];
        let refuse = |axis, problem| Err(SourceError::Axis { axis, problem });
        if span.abs() > 360.0 + TOLERANCE * width {
            return refuse("longitude", format!("its cells span {} degrees, more than a turn", span.abs()));
        }
        let around = (span.abs() - 360.0).abs() <= TOLERANCE * width;
        if around {
            // The western edge snaps to a thousandth of a cell, the rest follows from the turn.
            let cells = (lon.len() - 1) as f64;
            let start = snapped(lon[0], 360.0 / cells);
            lon.iter_mut().enumerate().for_each(|(n, edge)| *edge = start + 360.0f64.copysign(span) * n as f64 / cells);
        }
        let last = lat.len() - 1;
        for at in [0, last] {
            let pole = 90.0f64.copysign(lat[at]);
            let beyond = lat[at].abs() - 90.0;
            let half_cell_beyond = (beyond - 0.5 * height).abs() <= TOLERANCE * height;
            if beyond.abs() <= TOLERANCE * height || half_cell_beyond {
                lat[at] = pole;
            } else if beyond > 0.0 {
                return refuse("latitude", format!("an edge lies at {} degrees", lat[at]));
            }
        }
        // With both poles the inner edges follow from them, unless polar cells are halves.
        let halves = ((lat[last] - lat[0]).abs() - height * last as f64).abs() > 2.0 * TOLERANCE * height;
        let poles = lat[0].abs() == 90.0 && lat[last].abs() == 90.0;
        if poles && !halves {
            let (south, step) = (lat[0], (lat[last] - lat[0]) / last as f64);
            (1..last).for_each(|n| lat[n] = south + step * n as f64);
        }
        let whole_sphere = if around && poles { WholeSphere::Covered } else { WholeSphere::Part };
        Ok(Self { lon, lat, whole_sphere })
    }

    /// Edges in longitude, degrees, one more than cells.
    pub fn lon_edges(&self) -> &[f64] {
        &self.lon
    }

    /// Edges in latitude, degrees, one more than cells.
    pub fn lat_edges(&self) -> &[f64] {
        &self.lat
    }

    /// Whether the cells cover the sphere.
    pub fn covers_sphere(&self) -> bool {
        self.whole_sphere == WholeSphere::Covered
    }
}

/// The nearest multiple of half a cell, if it is as near as single precision allows.
fn snapped(edge: f64, width: f64) -> f64 {
    let halves = (2.0 * edge / width).round();
    let near = 0.5 * halves * width;
    if (edge - near).abs() <= TOLERANCE * width { near } else { edge }
}

/// Edges of evenly spaced centres, and the size of a cell.
fn edges(axis: &'static str, centres: &[f64]) -> Result<(Vec<f64>, f64), SourceError> {
    let refuse = |problem| Err(SourceError::Axis { axis, problem });
    let n = centres.len();
    if n < 2 {
        return refuse(format!("{n} centres; at least two are needed"));
    }
    let step = (centres[n - 1] - centres[0]) / (n - 1) as f64;
    if !(step.is_finite() && step != 0.0) {
        return refuse(format!("centres run from {} to {}", centres[0], centres[n - 1]));
    }
    let uneven = |k: &usize| (centres[*k] - (centres[0] + step * *k as f64)).abs() <= TOLERANCE * step.abs();
    if let Some(k) = (0..n).find(|k| !uneven(k)) {
        return refuse(format!("centre {} lies at {}, not evenly between its neighbours", k + 1, centres[k]));
    }
    Ok(((0..=n).map(|k| centres[0] + step * (k as f64 - 0.5)).collect(), step.abs()))
}
