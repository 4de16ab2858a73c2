//! Grid variables of a file, and the grid back from a file.

use decomposition::{Edge, Panel, PanelConvention};

use crate::grid::{CubedSphere, GeometryBundle};

/// Sides in the order of the variable `contacts`: from the left side, clockwise.
const CLOCKWISE: [Edge; 4] = [Edge::West, Edge::North, Edge::East, Edge::South];

/// Short description of a grid, e.g. `C90 cubed sphere, 6 x 90 x 90 cells, geos_native`.
pub(super) fn grid_label(grid: &CubedSphere) -> String {
    let nc = grid.nc();
    format!("C{nc} cubed sphere, 6 x {nc} x {nc} cells, {}", grid.convention().tag())
}

/// Longitudes and latitudes in degrees of all cell centres, `[nf][Ydim][Xdim]`.
pub(super) fn centers(grid: &CubedSphere) -> (Vec<f64>, Vec<f64>) {
    points(grid.nc(), |panel, i, j| grid.center_lonlat(panel, i, j))
}

/// Longitudes and latitudes in degrees of all cell corners, `[nf][Ycorner][Xcorner]`.
pub(super) fn corners(grid: &CubedSphere) -> (Vec<f64>, Vec<f64>) {
    points(grid.nc() + 1, |panel, i, j| grid.corner_lonlat(panel, i, j))
}

fn points(n: usize, point: impl Fn(Panel, usize, usize) -> (f64, f64)) -> (Vec<f64>, Vec<f64>) {
    let cells = Panel::ALL.into_iter().flat_map(|p| (0..n).flat_map(move |j| (0..n).map(move |i| (p, i, j))));
    cells.map(|(p, i, j)| point(p, i, j)).unzip()
}

/// Areas in m² of all cells, `[nf][Ydim][Xdim]`.
pub(super) fn areas(grid: &CubedSphere) -> Vec<f64> {
    let n = grid.nc();
    let panel: Vec<f64> = (0..n).flat_map(|j| (0..n).map(move |i| (i, j))).map(|(i, j)| grid.area(i, j)).collect();
    panel.repeat(6)
}

/// Variable `contacts`, `[nf][ncontact]`: the panel beyond each side.
pub(super) fn contacts(convention: PanelConvention) -> Vec<i32> {
    let sides = Panel::ALL.into_iter().flat_map(|p| CLOCKWISE.map(|e| (p, e)));
    sides.map(|(p, e)| convention.contact(p, e).panel.number() as i32).collect()
}

/// Variable `anchor`, `[nf][ncontact][4]`: the touching edge of the panel beyond each side, run through clockwise
/// around that panel, as first and last j, then first and last i. GEOS files hold the same numbers.
pub(super) fn anchors(convention: PanelConvention, nc: usize) -> Vec<i32> {
    let n = nc as i32;
    let sides = Panel::ALL.into_iter().flat_map(|p| CLOCKWISE.map(|e| (p, e)));
    sides
        .flat_map(|(p, e)| match convention.contact(p, e).edge {
            Edge::West => [1, n, 1, 1],
            Edge::North => [n, n, 1, n],
            Edge::East => [n, 1, n, n],
            Edge::South => [1, 1, n, 1],
        })
        .collect()
}

/// The grid described by the attributes of a file.
pub(super) fn grid_of(file: &netcdf::File) -> Result<CubedSphere, String> {
    let mapping =
        file.variable("cubed_sphere").ok_or("no variable `cubed_sphere`: not a cubed-sphere file of atmostr")?;
    let text = |name: &str| match mapping.attribute_value(name) {
        Some(Ok(netcdf::AttributeValue::Str(value))) => Ok(value),
        _ => Err(format!("no text attribute `cubed_sphere:{name}`")),
    };
    let number = |name: &str| match mapping.attribute_value(name) {
        Some(Ok(netcdf::AttributeValue::Double(value))) => Ok(value),
        _ => Err(format!("no number attribute `cubed_sphere:{name}`")),
    };
    let nc = file.dimension_len("Xdim").ok_or("no dimension `Xdim`")?;
    let bundle = GeometryBundle::from_tags(
        &text("panel_convention")?,
        &text("cs_definition")?,
        &text("cs_coordinate_law")?,
        &text("cs_center_law")?,
    )
    .map_err(|e| e.to_string())?;
    CubedSphere::new(nc, bundle, number("longitude_of_central_meridian")?, number("semi_major_axis")?)
        .map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variables of a C12 file written by GEOSgcm 11.5.2 on its native grid.
    #[test]
    fn contacts_and_anchors_are_those_of_geos() {
        let expected = [[5, 3, 2, 6], [1, 3, 4, 6], [1, 5, 4, 2], [3, 5, 6, 2], [3, 1, 6, 4], [5, 1, 2, 4]];
        assert_eq!(contacts(PanelConvention::GeosNative), expected.concat());
        let odd = [[12, 12, 1, 12], [1, 12, 1, 1], [1, 12, 1, 1], [12, 12, 1, 12]].concat();
        let even = [[12, 1, 12, 12], [1, 1, 12, 1], [1, 1, 12, 1], [12, 1, 12, 12]].concat();
        let expected = [odd.clone(), even.clone()].concat().repeat(3);
        assert_eq!(anchors(PanelConvention::GeosNative, 12), expected);
    }
}
