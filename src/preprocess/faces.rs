//! The faces between cells of the cube, each counted once, and their places in the arrays of a transport file.

use std::sync::Arc;

use decomposition::{AlongEdge, Axis, Edge, Panel, PanelConvention};

/// Place of a face in the flux arrays of a panel: the side of cell (i, j) toward smaller i (axis X) or smaller j
/// (axis Y). The index along the axis runs to `nc`, the other one to `nc − 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FacePlace {
    /// Panel.
    pub panel: Panel,
    /// Axis normal to the face: X for `am`, Y for `bm`.
    pub axis: Axis,
    /// Index along i.
    pub i: usize,
    /// Index along j.
    pub j: usize,
}

/// Faces along one panel edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdgeFaces {
    /// First face of the seam.
    pub first: usize,
    /// Sense of the panel's along-edge index against that of the seam.
    pub along: AlongEdge,
    /// Value stored on this edge over the value of the face.
    pub sign: f64,
}

/// Faces that follow each other along a grid line of a panel or along a seam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FaceLine {
    /// Its first face.
    pub first: usize,
    /// From one face to the next.
    pub step: usize,
}

impl EdgeFaces {
    fn face(&self, s: usize, nc: usize) -> usize {
        self.first + self.along.map(s, nc)
    }
}

/// The 12·nc² faces of a cube of `nc` × `nc` cells per panel.
///
/// Faces inside the panels come first, panel by panel: those normal to i (`[j][i]`, i = 1..nc), then those normal to j
/// (`[j][i]`, j = 1..nc). The faces of the twelve seams follow, in table order, each seam by the along-edge index of its
/// owner, the panel with the lower number.
///
/// A flux is positive from the `left` to the `right` cell: toward larger i or j on a panel, and in the sense of the owner
/// on a seam, so that its value is the one the owner stores. Cells are numbered `(panel·nc + j)·nc + i`. Arrays of a
/// transport file are `[panel][k][j][i]` with nc + 1 values along i in `am` and along j in `bm`; both panels of a seam
/// store its faces.
///
/// Clones share their tables. Methods panic on indices and lengths that do not fit.
#[derive(Clone, Debug)]
pub struct FaceTable {
    nc: usize,
    convention: PanelConvention,
    left: Arc<[u32]>,
    right: Arc<[u32]>,
    /// Per panel in the order N, S, E, W.
    edges: [[EdgeFaces; 4]; 6],
}

impl FaceTable {
    /// Faces of a cube with `nc` (1..=8192) cells per panel edge.
    pub fn new(nc: usize, convention: PanelConvention) -> Self {
        assert!((1..=8192).contains(&nc), "{nc} cells per panel edge");
        let seams = convention.seams();
        let first = |number: usize| 12 * nc * (nc - 1) + number * nc;
        let edges = Panel::ALL.map(|panel| {
            Edge::ALL.map(|edge| {
                let (seam, side) = convention.seam_at(panel, edge);
                match side {
                    decomposition::SeamSide::Owner => {
                        EdgeFaces { first: first(seam.number), along: AlongEdge::Aligned, sign: 1.0 }
                    }
                    decomposition::SeamSide::Other => {
                        EdgeFaces { first: first(seam.number), along: seam.along, sign: seam.sign.factor() }
                    }
                }
            })
        });
        let cell = |panel: Panel, i: usize, j: usize| ((panel.index() * nc + j) * nc + i) as u32;
        let mut left = Vec::with_capacity(12 * nc * nc);
        let mut right = Vec::with_capacity(12 * nc * nc);
        for panel in Panel::ALL {
            for j in 0..nc {
                left.extend((1..nc).map(|i| cell(panel, i - 1, j)));
                right.extend((1..nc).map(|i| cell(panel, i, j)));
            }
            for j in 1..nc {
                left.extend((0..nc).map(|i| cell(panel, i, j - 1)));
                right.extend((0..nc).map(|i| cell(panel, i, j)));
            }
        }
        for seam in &seams {
            let inside = |(panel, edge): (Panel, Edge), s: usize| {
                let (i, j) = edge_cell(edge, s, nc);
                cell(panel, i, j)
            };
            let owners = (0..nc).map(|s| inside(seam.owner, s));
            let others = (0..nc).map(|s| inside(seam.other, seam.along.map(s, nc)));
            if seam.owner.1.is_outflow() {
                left.extend(owners);
                right.extend(others);
            } else {
                left.extend(others);
                right.extend(owners);
            }
        }
        Self { nc, convention, left: left.into(), right: right.into(), edges }
    }

    /// Cells per panel edge.
    pub fn nc(&self) -> usize {
        self.nc
    }

    /// Numbering and orientation of the panels.
    pub fn convention(&self) -> PanelConvention {
        self.convention
    }

    /// Number of cells, 6·nc².
    pub fn cells(&self) -> usize {
        6 * self.nc * self.nc
    }

    /// Number of faces, 12·nc².
    pub fn faces(&self) -> usize {
        self.left.len()
    }

    /// Cell from which a positive flux comes.
    pub fn left(&self, face: usize) -> usize {
        self.left[face] as usize
    }

    /// Cell into which a positive flux goes.
    pub fn right(&self, face: usize) -> usize {
        self.right[face] as usize
    }

    /// Left cells of all faces.
    pub fn lefts(&self) -> &[u32] {
        &self.left
    }

    /// Right cells of all faces.
    pub fn rights(&self) -> &[u32] {
        &self.right
    }

    /// Seam (0..12, table order) on which a face lies and its along-edge index on the owner; `None` inside panels.
    pub fn seam(&self, face: usize) -> Option<(usize, usize)> {
        assert!(face < self.faces(), "face {face} of {}", self.faces());
        let beyond = face.checked_sub(self.inside())?;
        Some((beyond / self.nc, beyond % self.nc))
    }

    /// Place where the value of a face is stored unchanged: on its panel, or on the owner of its seam.
    pub fn place(&self, face: usize) -> FacePlace {
        if let Some((seam, s)) = self.seam(face) {
            let (panel, edge) = self.convention.seams()[seam].owner;
            return edge_place(panel, edge, s, self.nc);
        }
        let per_axis = self.nc * (self.nc - 1);
        let (panel, n) = (Panel::ALL[face / (2 * per_axis)], face % (2 * per_axis));
        if n < per_axis {
            FacePlace { panel, axis: Axis::X, i: 1 + n % (self.nc - 1), j: n / (self.nc - 1) }
        } else {
            let n = n - per_axis;
            FacePlace { panel, axis: Axis::Y, i: n % self.nc, j: 1 + n / self.nc }
        }
    }

    /// Second place of a seam face, on the panel with the higher number, and the factor (1 or −1) of the value there.
    pub fn mirror(&self, face: usize) -> Option<(FacePlace, f64)> {
        let (seam, s) = self.seam(face)?;
        let seam = self.convention.seams()[seam];
        let (panel, edge) = seam.other;
        Some((edge_place(panel, edge, seam.along.map(s, self.nc), self.nc), seam.sign.factor()))
    }

    /// Face stored at a place, and the factor (1 or −1) of the value stored there.
    pub fn face_at(&self, place: FacePlace) -> (usize, f64) {
        let FacePlace { panel, axis, i, j } = place;
        let nc = self.nc;
        let (along, across) = if axis == Axis::X { (i, j) } else { (j, i) };
        assert!(along <= nc && across < nc, "side ({i}, {j}) outside the panel");
        if along == 0 || along == nc {
            let edge = match (axis, along == 0) {
                (Axis::X, true) => Edge::West,
                (Axis::X, false) => Edge::East,
                (Axis::Y, true) => Edge::South,
                (Axis::Y, false) => Edge::North,
            };
            let edge = self.edge(panel, edge);
            return (edge.face(across, nc), edge.sign);
        }
        let face = match axis {
            Axis::X => self.first_x(panel) + j * (nc - 1) + i - 1,
            Axis::Y => self.first_y(panel) + (j - 1) * nc + i,
        };
        (face, 1.0)
    }

    /// The west, east, south and north face of a cell, each with the factor (1 or −1) that makes its flux an outflow.
    pub fn cell_faces(&self, cell: usize) -> [(usize, f64); 4] {
        assert!(cell < self.cells(), "cell {cell} of {}", self.cells());
        let (i, j) = (cell % self.nc, cell / self.nc % self.nc);
        let panel = Panel::ALL[cell / (self.nc * self.nc)];
        let at = |axis, i, j, outward: f64| {
            let (face, sign) = self.face_at(FacePlace { panel, axis, i, j });
            (face, sign * outward)
        };
        [at(Axis::X, i, j, -1.0), at(Axis::X, i + 1, j, 1.0), at(Axis::Y, i, j, -1.0), at(Axis::Y, i, j + 1, 1.0)]
    }

    /// The nc faces normal to `axis` at index `across` (1..nc) of that axis.
    pub(super) fn line(&self, panel: Panel, axis: Axis, across: usize) -> FaceLine {
        debug_assert!((1..self.nc).contains(&across), "line {across} inside a panel");
        match axis {
            Axis::X => FaceLine { first: self.first_x(panel) + across - 1, step: self.nc - 1 },
            Axis::Y => FaceLine { first: self.first_y(panel) + (across - 1) * self.nc, step: 1 },
        }
    }

    /// The nc faces of a seam (0..12).
    pub(super) fn seam_line(&self, seam: usize) -> FaceLine {
        FaceLine { first: self.inside() + seam * self.nc, step: 1 }
    }

    /// Number of faces inside panels; those of the seams follow.
    pub(super) fn inside(&self) -> usize {
        12 * self.nc * (self.nc - 1)
    }

    /// First face of a panel that is normal to i.
    pub(super) fn first_x(&self, panel: Panel) -> usize {
        panel.index() * 2 * self.nc * (self.nc - 1)
    }

    /// First face of a panel that is normal to j.
    pub(super) fn first_y(&self, panel: Panel) -> usize {
        self.first_x(panel) + self.nc * (self.nc - 1)
    }

    /// Faces along a panel edge.
    pub(super) fn edge(&self, panel: Panel, edge: Edge) -> EdgeFaces {
        self.edges[panel.index()][edge.index()]
    }
}

/// Cell inside a panel edge.
fn edge_cell(edge: Edge, s: usize, nc: usize) -> (usize, usize) {
    match edge {
        Edge::North => (s, nc - 1),
        Edge::South => (s, 0),
        Edge::East => (nc - 1, s),
        Edge::West => (0, s),
    }
}

/// Place of the faces along a panel edge.
fn edge_place(panel: Panel, edge: Edge, s: usize, nc: usize) -> FacePlace {
    let (i, j) = match edge {
        Edge::North => (s, nc),
        Edge::South => (s, 0),
        Edge::East => (nc, s),
        Edge::West => (0, s),
    };
    FacePlace { panel, axis: edge.axis(), i, j }
}

#[cfg(test)]
#[path = "faces_tests.rs"]
mod tests;
