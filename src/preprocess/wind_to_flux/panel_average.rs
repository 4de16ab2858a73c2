//! Means of the wind components along a panel's axes.

use decomposition::{Axis, Panel};

use super::super::{FaceGeometry, FacePlace, FaceTable};
use super::FaceLengths;
use crate::grid::CubedSphere;
use crate::grid::vector::{add, cross, dot, east_north, normalise, scale};

/// Normal winds and thicknesses of faces from the cells of one panel.
#[derive(Clone, Debug)]
pub(super) struct PanelWinds {
    /// Unit vectors across the lines of constant i and of constant j at the centre of every cell.
    normals: Vec<[[f64; 3]; 2]>,
}

impl PanelWinds {
    pub fn new(grid: &CubedSphere) -> Self {
        let nc = grid.nc();
        let normals = Panel::ALL.into_iter().flat_map(|panel| {
            (0..nc * nc).map(move |c| {
                let (i, j) = (c % nc, c / nc);
                let center = grid.center(panel, i, j);
                let basis = grid.tangent_basis(panel, i, j);
                let (east, north) = east_north(center);
                let axis = |e, n| add(scale(east, e), scale(north, n));
                let (x, y) = (axis(basis.x_east, basis.x_north), axis(basis.y_east, basis.y_north));
                [normalise(cross(y, center)), normalise(cross(center, x))]
            })
        });
        Self { normals: normals.collect() }
    }

    /// Lengths of all faces on the unit sphere.
    pub fn lengths(grid: &CubedSphere, faces: &FaceTable, geometry: &FaceGeometry, lengths: FaceLengths) -> Vec<f64> {
        let last = grid.nc() - 1;
        let centre_line = |FacePlace { axis, i, j, .. }: FacePlace| match axis {
            Axis::X => grid.dy(i.min(last), j),
            Axis::Y => grid.dx(i, j.min(last)),
        };
        match lengths {
            FaceLengths::Edge => geometry.arcs().iter().map(|arc| arc.length).collect(),
            FaceLengths::CellCenterline => {
                (0..faces.faces()).map(|face| centre_line(faces.place(face)) / grid.radius_m()).collect()
            }
        }
    }

    /// Product of normal wind and thickness for all faces.
    pub fn fluxes(&self, faces: &FaceTable, wind: [&[f64]; 3], thickness: &[f64], out: &mut [f64]) {
        let nc = faces.nc();
        let inside = faces.faces() - 12 * nc;
        let normal_wind = |cell: usize, axis: Axis| {
            let normal = self.normals[cell][if axis == Axis::X { 0 } else { 1 }];
            dot(wind.map(|w| w[cell]), normal)
        };
        for panel in Panel::ALL {
            for across in 1..nc {
                for along in 0..nc {
                    for (axis, i, j) in [(Axis::X, across, along), (Axis::Y, along, across)] {
                        let (face, _) = faces.face_at(FacePlace { panel, axis, i, j });
                        let (l, r) = (faces.left(face), faces.right(face));
                        let wind = 0.5 * (normal_wind(l, axis) + normal_wind(r, axis));
                        out[face] = wind * (0.5 * (thickness[l] + thickness[r]));
                    }
                }
            }
        }
        for face in inside..faces.faces() {
            let FacePlace { panel, axis, i, j } = faces.place(face);
            let last = nc - 1;
            let cell = (panel.index() * nc + j.min(last)) * nc + i.min(last);
            out[face] = normal_wind(cell, axis) * thickness[cell];
        }
    }
}
