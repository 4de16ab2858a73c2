//! Fields of messages and the grids they are on.

use super::codes::{CodesError, Message};
use crate::grid::HybridCoordinate;
use crate::regrid::GaussianLatitudes;

/// Where the values of a field lie.
#[derive(Clone, Debug, PartialEq)]
pub enum GribGrid {
    /// Spherical harmonics in the order of [`coefficient_index`](crate::spectral::coefficient_index).
    Spectral {
        /// Highest total wave of the triangular truncation.
        truncation: usize,
    },
    /// Gaussian latitudes around the globe, reduced or full. Values run ring by ring from north to south, each ring
    /// eastwards from 0°.
    Gaussian {
        /// Points of each ring, north to south.
        points: Vec<usize>,
    },
    /// Longitudes and latitudes. Values are `[lat][lon]`.
    LatLon {
        /// Degrees east, as stored.
        longitudes: Vec<f64>,
        /// Degrees north, as stored; often north to south.
        latitudes: Vec<f64>,
    },
}

impl GribGrid {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Spectral { truncation } => crate::spectral::coefficient_count(*truncation),
            Self::Gaussian { points } => points.iter().sum(),
            Self::LatLon { longitudes, latitudes } => longitudes.len() * latitudes.len(),
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A decoded field.
#[derive(Clone, Debug, PartialEq)]
pub struct GribField {
    /// Where the values lie.
    pub grid: GribGrid,
    /// Values in the units of the archive.
    pub values: Vec<f64>,
}

/// Why a message gives no field.
#[derive(Debug)]
pub(super) enum Fault {
    Key(CodesError),
    Grid(String),
    Value { point: usize, points: usize, value: String },
}

impl From<CodesError> for Fault {
    fn from(error: CodesError) -> Self {
        Self::Key(error)
    }
}

pub(super) fn field(message: &Message<'_>) -> Result<GribField, Fault> {
    let grid = grid(message)?;
    let values = message.doubles(c"values")?;
    let points = values.len();
    if points != grid.len() {
        return Err(Fault::Grid(format!("{points} values on a grid of {}", grid.len())));
    }
    let refuse = |n: usize, value: String| Err(Fault::Value { point: n + 1, points, value });
    if let Some(n) = values.iter().position(|v| !v.is_finite()) {
        return refuse(n, values[n].to_string());
    }
    // Spectra have no gaps, and no key that says so.
    if !matches!(grid, GribGrid::Spectral { .. }) && message.long(c"bitmapPresent")? != 0 {
        let missing = message.double(c"missingValue")?;
        if let Some(n) = values.iter().position(|v| *v == missing) {
            return refuse(n, "missing".into());
        }
    }
    Ok(GribField { grid, values })
}

fn grid(message: &Message<'_>) -> Result<GribGrid, Fault> {
    let refuse = |problem: String| Err(Fault::Grid(problem));
    let kind = message.text(c"gridType")?;
    match kind.as_str() {
        "sh" => {
            let [j, k, m] = [message.long(c"J")?, message.long(c"K")?, message.long(c"M")?];
            if j != k || k != m {
                return refuse(format!("a truncation at J = {j}, K = {k}, M = {m} is not triangular"));
            }
            Ok(GribGrid::Spectral { truncation: count(j, "J")? })
        }
        "reduced_gg" | "regular_gg" => gaussian(message, &kind),
        "regular_ll" => latlon(message),
        other => refuse(format!("its grid is of type {other}")),
    }
}

fn count(value: i64, key: &str) -> Result<usize, Fault> {
    usize::try_from(value).map_err(|_| Fault::Grid(format!("{key} = {value}")))
}

/// Refuses points that do not run eastwards, row by row.
fn check_order(message: &Message<'_>) -> Result<(), Fault> {
    for (key, name) in [
        (c"iScansNegatively", "points run westwards"),
        (c"jPointsAreConsecutive", "points run along meridians first"),
        (c"alternativeRowScanning", "rows run in turns"),
    ] {
        if message.long(key)? != 0 {
            return Err(Fault::Grid(name.into()));
        }
    }
    Ok(())
}

fn gaussian(message: &Message<'_>, kind: &str) -> Result<GribGrid, Fault> {
    let refuse = |problem: String| Err(Fault::Grid(problem));
    check_order(message)?;
    if message.long(c"jScansPositively")? != 0 {
        return refuse("rings run from south to north".into());
    }
    let rings = 2 * count(message.long(c"N")?, "N")?;
    let points: Vec<usize> = if kind == "reduced_gg" {
        message.longs(c"pl")?.into_iter().map(|n| count(n, "pl")).collect::<Result<_, _>>()?
    } else {
        vec![count(message.long(c"Ni")?, "Ni")?; count(message.long(c"Nj")?, "Nj")?]
    };
    if points.len() != rings || points.contains(&0) {
        return refuse(format!(
            "{} rings with points where a global grid has {rings}",
            points.iter().filter(|n| **n > 0).count()
        ));
    }
    let west = message.double(c"longitudeOfFirstGridPointInDegrees")?;
    if west != 0.0 {
        return refuse(format!("rings start at {west} degrees east"));
    }
    let (north, expected) = (message.double(c"latitudeOfFirstGridPointInDegrees")?, northern_latitude(rings));
    if (north - expected).abs() > 2e-3 {
        return refuse(format!("the first ring lies at {north} degrees north, that of N{} at {expected}", rings / 2));
    }
    Ok(GribGrid::Gaussian { points })
}

/// Latitude next to the north pole of a Gaussian grid.
fn northern_latitude(rings: usize) -> f64 {
    GaussianLatitudes::new(rings).centres()[rings - 1]
}

fn latlon(message: &Message<'_>) -> Result<GribGrid, Fault> {
    check_order(message)?;
    let axis = |points: i64, key: &str, first: f64, span: f64| -> Result<Vec<f64>, Fault> {
        let points = count(points, key)?;
        Ok((0..points).map(|n| first + if n == 0 { 0.0 } else { span * n as f64 / (points - 1) as f64 }).collect())
    };
    let [west, east, first, last] = [
        c"longitudeOfFirstGridPointInDegrees",
        c"longitudeOfLastGridPointInDegrees",
        c"latitudeOfFirstGridPointInDegrees",
        c"latitudeOfLastGridPointInDegrees",
    ]
    .map(|key| message.double(key));
    let (west, first) = (west?, first?);
    // A row may cross the meridian where longitudes start anew.
    let longitudes = axis(message.long(c"Ni")?, "Ni", west, (east? - west).rem_euclid(360.0))?;
    let latitudes = axis(message.long(c"Nj")?, "Nj", first, last? - first)?;
    Ok(GribGrid::LatLon { longitudes, latitudes })
}

/// Hybrid coefficients stored with a field, if there are any.
pub(super) fn hybrid(message: &Message<'_>) -> Result<Option<HybridCoordinate>, Fault> {
    if message.long(c"PVPresent")? == 0 {
        return Ok(None);
    }
    let pv = message.doubles(c"pv")?;
    let (a, b) = pv.split_at(pv.len() / 2);
    let coordinate = HybridCoordinate::new(a.to_vec(), b.to_vec());
    coordinate.map(Some).map_err(|error| Fault::Grid(format!("coefficients of its levels: {error}")))
}
