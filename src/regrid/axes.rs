//! Edges of lat-lon grids from the centres that files store, and the way from their order to that of the mesh.

use super::{GaussianLatitudes, LatLonMesh, RegridError};

/// Parts of a cell by which a stored coordinate may be off.
const TOLERANCE: f64 = 1e-3;

/// Largest ratio of neighbouring spacings of latitudes that are neither even nor Gaussian.
const SMOOTH: f64 = 2.0;

/// Whether an axis runs as that of the mesh does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Upwards,
    Downwards,
}

/// A lat-lon grid as a file stores it: the mesh, and how to put its values into the order of the mesh.
///
/// - Spacing is taken from the whole span of an axis, so single precision of the file does not enter; edges within a
///   thousandth of a cell of ±90° or of a full turn are put there.
/// - Longitudes and latitudes may run either way; longitudes may start anywhere and jump by a turn once.
/// - Polar rows of half height are recognised, with their centres on the poles or a quarter of a row away.
/// - Latitudes may be Gaussian; then rows have the areas of the quadrature. Other uneven latitudes have their edges
///   half-way, if neighbouring spacings differ by no more than a factor of two.
#[derive(Clone, Debug, PartialEq)]
pub struct LatLonAxes {
    mesh: LatLonMesh,
    lon: Direction,
    lat: Direction,
    /// Centres in the order of the mesh, as stored: polar rows of half height may have theirs on the pole.
    lon_centres: Vec<f64>,
    lat_centres: Vec<f64>,
}

impl LatLonAxes {
    /// Grid with cells centred on `lon` and `lat`, in degrees and in the order of the file, at least two of each.
    ///
    /// # Errors
    /// [`RegridError::Axis`], with the centre at fault counted from 1, for centres that are not in order or not evenly
    /// spaced, for edges beyond a pole and for more than a turn.
    pub fn from_centres(lon: &[f64], lat: &[f64]) -> Result<Self, RegridError> {
        let (lon, lon_direction) = upwards("longitude", &unwrapped(lon))?;
        let (lat, lat_direction) = upwards("latitude", lat)?;
        let mesh = LatLonMesh::from_edges(lon_edges(&lon, lon_direction)?, lat_edges(&lat, lat_direction)?)?;
        Ok(Self { mesh, lon: lon_direction, lat: lat_direction, lon_centres: lon, lat_centres: lat })
    }

    /// The cells.
    pub fn mesh(&self) -> &LatLonMesh {
        &self.mesh
    }

    /// Centres in longitude as stored, degrees, in the order of the mesh.
    pub fn lon_centres(&self) -> &[f64] {
        &self.lon_centres
    }

    /// Centres in latitude as stored, degrees, from south to north.
    pub fn lat_centres(&self) -> &[f64] {
        &self.lat_centres
    }

    /// Puts one horizontal slice, `[lat][lon]` as stored, into the order of the mesh.
    ///
    /// # Panics
    /// If `stored` has not one value per cell.
    pub fn reorder(&self, stored: &[f64], out: &mut Vec<f64>) {
        let (nlon, nlat) = (self.mesh.nlon(), self.mesh.nlat());
        assert_eq!(stored.len(), nlon * nlat, "one value per cell");
        out.clear();
        out.reserve(stored.len());
        for j in 0..nlat {
            let row = match self.lat {
                Direction::Upwards => j,
                Direction::Downwards => nlat - 1 - j,
            };
            let row = &stored[row * nlon..(row + 1) * nlon];
            match self.lon {
                Direction::Upwards => out.extend_from_slice(row),
                Direction::Downwards => out.extend(row.iter().rev()),
            }
        }
    }

    /// Index along the stored axis of longitudes of column `i` of the mesh.
    pub fn stored_column(&self, i: usize) -> usize {
        match self.lon {
            Direction::Upwards => i,
            Direction::Downwards => self.mesh.nlon() - 1 - i,
        }
    }

    /// Index along the stored axis of latitudes of row `j` of the mesh.
    pub fn stored_row(&self, j: usize) -> usize {
        match self.lat {
            Direction::Upwards => j,
            Direction::Downwards => self.mesh.nlat() - 1 - j,
        }
    }
}

/// Longitudes without jumps of more than half a turn.
fn unwrapped(lon: &[f64]) -> Vec<f64> {
    let mut turns = 0.0;
    let mut out = Vec::with_capacity(lon.len());
    for (k, here) in lon.iter().enumerate() {
        if k > 0 {
            let step = here - lon[k - 1];
            if step.abs() > 180.0 {
                turns -= 360.0 * (step / 360.0).round();
            }
        }
        out.push(here + turns);
    }
    out
}

/// Centres in ascending order and how they are stored.
fn upwards(axis: &'static str, centres: &[f64]) -> Result<(Vec<f64>, Direction), RegridError> {
    let n = centres.len();
    if n < 2 {
        return RegridError::axis(axis, format!("{n} centres; at least two are needed"));
    }
    if let Some(k) = centres.iter().position(|c| !c.is_finite()) {
        return RegridError::axis(axis, format!("centre {} is {}", k + 1, centres[k]));
    }
    let direction = if centres[n - 1] > centres[0] { Direction::Upwards } else { Direction::Downwards };
    let ordered = |pair: &[f64]| match direction {
        Direction::Upwards => pair[1] > pair[0],
        Direction::Downwards => pair[1] < pair[0],
    };
    if let Some(k) = centres.windows(2).position(|pair| !ordered(pair)) {
        let (before, here) = (centres[k], centres[k + 1]);
        return RegridError::axis(axis, format!("centre {} at {here} follows {before}, out of order", k + 2));
    }
    let mut centres = centres.to_vec();
    if direction == Direction::Downwards {
        centres.reverse();
    }
    Ok((centres, direction))
}

/// Index from 1, as stored, of entry `k` of an axis put upwards.
fn stored_number(k: usize, n: usize, direction: Direction) -> usize {
    match direction {
        Direction::Upwards => k + 1,
        Direction::Downwards => n - k,
    }
}

/// First centre that is not where an even spacing over the whole span puts it.
fn uneven(centres: &[f64]) -> Option<usize> {
    let n = centres.len();
    let step = (centres[n - 1] - centres[0]) / (n - 1) as f64;
    (0..n).find(|k| (centres[*k] - (centres[0] + step * *k as f64)).abs() > TOLERANCE * step)
}

fn lon_edges(centres: &[f64], direction: Direction) -> Result<Vec<f64>, RegridError> {
    let n = centres.len();
    if let Some(k) = uneven(centres) {
        let number = stored_number(k, n, direction);
        let problem = format!("centre {number} lies at {}, not evenly between its neighbours", centres[k]);
        return RegridError::axis("longitude", problem);
    }
    let width = (centres[n - 1] - centres[0]) / (n - 1) as f64;
    let span = width * n as f64;
    if (centres[n - 1] - centres[0] - 360.0).abs() <= TOLERANCE * width {
        let (first, last) = (stored_number(0, n, direction), stored_number(n - 1, n, direction));
        let (first, last, at) = (first.min(last), first.max(last), centres[n - 1]);
        let problem = format!(
            "centres {first} and {last} are the same place, a turn apart ({} and {at}); leave out the last column of all \
             variables, as `ncks -d DIMENSION,0,{}` does",
            centres[0],
            n - 2
        );
        return RegridError::axis("longitude", problem);
    }
    if span > 360.0 + TOLERANCE * width {
        return RegridError::axis("longitude", format!("its cells span {span} degrees, more than a turn"));
    }
    if span < 360.0 - TOLERANCE * width {
        return Ok((0..=n).map(|k| centres[0] + width * (k as f64 - 0.5)).collect());
    }
    // The western edge snaps to half a cell, the rest follows from the turn.
    let start = snapped(centres[0] - 0.5 * width, 360.0 / n as f64);
    Ok((0..=n).map(|k| start + 360.0 * k as f64 / n as f64).collect())
}

/// The nearest multiple of half a cell, if it is as near as single precision allows.
fn snapped(edge: f64, width: f64) -> f64 {
    let near = 0.5 * width * (2.0 * edge / width).round();
    if (edge - near).abs() <= TOLERANCE * width { near } else { edge }
}

fn lat_edges(centres: &[f64], direction: Direction) -> Result<Vec<f64>, RegridError> {
    let n = centres.len();
    if let Some(edges) = gaussian_edges(centres) {
        return Ok(edges);
    }
    if uneven(centres).is_none() {
        return even_edges(centres[0], centres[n - 1], n);
    }
    if let Some(edges) = short_polar_rows(centres) {
        return Ok(edges);
    }
    let spacing: Vec<f64> = centres.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let rough = |pair: &[f64]| pair[0] > SMOOTH * pair[1] || pair[1] > SMOOTH * pair[0];
    if let Some(k) = spacing.windows(2).position(rough) {
        let number = stored_number(k + 1, n, direction);
        let problem = format!("centre {number} lies at {}, far from the middle of its neighbours", centres[k + 1]);
        return RegridError::axis("latitude", problem);
    }
    let mut edges = vec![0.0; n + 1];
    (1..n).for_each(|k| edges[k] = 0.5 * (centres[k - 1] + centres[k]));
    edges[0] = (centres[0] - 0.5 * spacing[0]).max(-90.0);
    edges[n] = (centres[n - 1] + 0.5 * spacing[n - 2]).min(90.0);
    for (at, height) in [(0, spacing[0]), (n, spacing[n - 2])] {
        if 90.0 - edges[at].abs() <= TOLERANCE * height {
            edges[at] = 90f64.copysign(edges[at]);
        }
    }
    Ok(edges)
}

/// Edges of `n` evenly spaced centres from `first` to `last`; rows that reach beyond a pole end there.
fn even_edges(first: f64, last: f64, n: usize) -> Result<Vec<f64>, RegridError> {
    let height = (last - first) / (n - 1) as f64;
    let mut edges: Vec<f64> = (0..=n).map(|k| first + height * (k as f64 - 0.5)).collect();
    for at in [0, n] {
        let beyond = edges[at].abs() - 90.0;
        if beyond.abs() <= TOLERANCE * height || (beyond - 0.5 * height).abs() <= TOLERANCE * height {
            edges[at] = 90f64.copysign(edges[at]);
        } else if beyond > 0.0 {
            return RegridError::axis(
                "latitude",
                format!("an edge of the cells lies at {} degrees, beyond the pole", edges[at]),
            );
        }
    }
    // With both poles the inner edges follow from them, unless polar rows are halves.
    let halves = (edges[n] - edges[0] - height * n as f64).abs() > 2.0 * TOLERANCE * height;
    if edges[0] == -90.0 && edges[n] == 90.0 {
        let (rows, shift) = if halves { ((n - 1) as f64, 0.5) } else { (n as f64, 0.0) };
        (1..n).for_each(|k| edges[k] = -90.0 + 180.0 * (k as f64 - shift) / rows);
    }
    Ok(edges)
}

/// Edges if the latitudes are the Gaussian ones.
fn gaussian_edges(centres: &[f64]) -> Option<Vec<f64>> {
    let n = centres.len();
    // The outermost latitude tells most sets apart without computing all of one: 2.4048 is the first zero of J₀.
    let first = 90.0 - (2.404_825_557_695_773 / (n as f64 + 0.5)).to_degrees();
    if (centres[n - 1] - first).abs() > 0.02 * 180.0 / n as f64 {
        return None;
    }
    let set = GaussianLatitudes::new(n);
    let off = |k: &usize| (centres[*k] - set.centres()[*k]).abs() > TOLERANCE * 180.0 / n as f64;
    (0..n).find(off).is_none().then(|| set.edges().to_vec())
}

/// Edges if all rows are even but those at the poles, which are half as high with their centres a quarter of a row from
/// the pole.
fn short_polar_rows(centres: &[f64]) -> Option<Vec<f64>> {
    let n = centres.len();
    if n < 4 || uneven(&centres[1..n - 1]).is_some() {
        return None;
    }
    let height = 180.0 / (n - 1) as f64;
    let quarter = |centre: f64| (90.0 - centre.abs() - 0.25 * height).abs() <= TOLERANCE * height;
    let inner = (centres[n - 2] - centres[1]) / (n - 3) as f64;
    if !quarter(centres[0]) || !quarter(centres[n - 1]) || (inner - height).abs() > TOLERANCE * height {
        return None;
    }
    even_edges(-90.0, 90.0, n).ok()
}

#[cfg(test)]
#[path = "axes_tests.rs"]
mod tests;
