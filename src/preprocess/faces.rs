//! The faces between cells of the cube, each counted once, and their places in the arrays of a transport file.

use std::sync::Arc;

use decomposition::{AlongEdge, Axis, Edge, Panel, PanelConvention};
use kernels::Scalar;
use rayon::prelude::*;

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
struct EdgeFaces {
    /// First face of the seam.
    first: usize,
    along: AlongEdge,
    /// Value stored on this edge over the value of the face.
    sign: f64,
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

/// Values of the faces along a line of a panel.
#[derive(Clone, Copy)]
struct Side<'a> {
    values: &'a [f64],
    along: AlongEdge,
    sign: f64,
}

impl Side<'_> {
    /// Value as stored at along-edge index `s`.
    fn at(&self, s: usize) -> f64 {
        self.sign * self.values[self.along.map(s, self.values.len())]
    }
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

    /// Writes the values of the faces at level `k` of `nz` into the arrays of a file, both copies of seam faces.
    pub fn scatter<R: Scalar>(&self, level: &[f64], k: usize, nz: usize, am: &mut [R], bm: &mut [R]) {
        let len = self.panel_level();
        assert!(k < nz && am.len() == 6 * nz * len && bm.len() == am.len(), "arrays of {nz} levels");
        for panel in Panel::ALL {
            let place = (panel.index() * nz + k) * len..(panel.index() * nz + k + 1) * len;
            self.fill_x(level, panel, &mut am[place.clone()]);
            self.fill_y(level, panel, &mut bm[place]);
        }
    }

    /// [`scatter`](Self::scatter) of all levels `[k][face]`, in parallel.
    pub fn scatter_levels<R: Scalar>(&self, levels: &[f64], nz: usize, am: &mut [R], bm: &mut [R]) {
        let len = self.panel_level();
        assert!(levels.len() == nz * self.faces(), "faces of {nz} levels");
        assert!(am.len() == 6 * nz * len && bm.len() == am.len(), "arrays of {nz} levels");
        let arrays = am.par_chunks_mut(len).zip(bm.par_chunks_mut(len));
        arrays.enumerate().for_each(|(n, (am, bm))| {
            let level = &levels[n % nz * self.faces()..(n % nz + 1) * self.faces()];
            self.fill_x(level, Panel::ALL[n / nz], am);
            self.fill_y(level, Panel::ALL[n / nz], bm);
        });
    }

    /// Reads the values of the faces at level `k` of `nz` from the arrays of a file; on seams the owner's copy.
    pub fn gather<R: Scalar>(&self, am: &[R], bm: &[R], k: usize, nz: usize, level: &mut [f64]) {
        let (nc, len) = (self.nc, self.panel_level());
        assert!(k < nz && am.len() == 6 * nz * len && bm.len() == am.len(), "arrays of {nz} levels");
        assert!(level.len() == self.faces(), "faces of a level");
        for panel in Panel::ALL {
            let place = (panel.index() * nz + k) * len..(panel.index() * nz + k + 1) * len;
            let (am, bm) = (&am[place.clone()], &bm[place]);
            let faces = &mut level[self.first_x(panel)..self.first_y(panel)];
            for (row, from) in faces.chunks_mut((nc - 1).max(1)).zip(am.chunks(nc + 1)) {
                row.iter_mut().zip(&from[1..]).for_each(|(to, from)| *to = from.to_f64());
            }
            let faces = &mut level[self.first_y(panel)..self.first_y(panel) + nc * (nc - 1)];
            faces.iter_mut().zip(&bm[nc..]).for_each(|(to, from)| *to = from.to_f64());
        }
        for face in self.inside()..self.faces() {
            let FacePlace { panel, axis, i, j } = self.place(face);
            let start = (panel.index() * nz + k) * len;
            level[face] = match axis {
                Axis::X => am[start + j * (nc + 1) + i].to_f64(),
                Axis::Y => bm[start + j * nc + i].to_f64(),
            };
        }
    }

    /// Net outflow of every cell, (east − west) + (north − south), in the order of the gates that check a file.
    pub fn divergence(&self, level: &[f64], out: &mut [f64]) {
        let nc = self.nc;
        assert!(level.len() == self.faces() && out.len() == self.cells(), "lengths of a level");
        for (panel, out) in Panel::ALL.into_iter().zip(out.chunks_mut(nc * nc)) {
            let (west, east) = (self.side(level, panel, Edge::West), self.side(level, panel, Edge::East));
            for (j, row) in out.chunks_mut(nc).enumerate() {
                let inner = self.inner_x(level, panel, j);
                let (south, north) = (self.side_y(level, panel, j), self.side_y(level, panel, j + 1));
                let mut low = west.at(j);
                for i in 0..nc {
                    let high = if i + 1 < nc { inner[i] } else { east.at(j) };
                    row[i] = (high - low) + (north.at(i) - south.at(i));
                    low = high;
                }
            }
        }
    }

    /// Writes the values of the faces normal to i of one panel.
    fn fill_x<R: Scalar>(&self, level: &[f64], panel: Panel, am: &mut [R]) {
        let nc = self.nc;
        let (west, east) = (self.side(level, panel, Edge::West), self.side(level, panel, Edge::East));
        for (j, row) in am.chunks_mut(nc + 1).enumerate() {
            row[0] = R::from_f64(west.at(j));
            let inner = self.inner_x(level, panel, j);
            row[1..nc].iter_mut().zip(inner).for_each(|(to, from)| *to = R::from_f64(*from));
            row[nc] = R::from_f64(east.at(j));
        }
    }

    /// Writes the values of the faces normal to j of one panel.
    fn fill_y<R: Scalar>(&self, level: &[f64], panel: Panel, bm: &mut [R]) {
        for (j, row) in bm.chunks_mut(self.nc).enumerate() {
            let side = self.side_y(level, panel, j);
            row.iter_mut().enumerate().for_each(|(i, to)| *to = R::from_f64(side.at(i)));
        }
    }

    /// Values along a panel edge, in the panel's own sense.
    fn side<'a>(&self, level: &'a [f64], panel: Panel, edge: Edge) -> Side<'a> {
        let EdgeFaces { first, along, sign } = self.edge(panel, edge);
        Side { values: &level[first..first + self.nc], along, sign }
    }

    /// Values of the faces normal to j at index `j` in 0..=nc.
    fn side_y<'a>(&self, level: &'a [f64], panel: Panel, j: usize) -> Side<'a> {
        match j {
            0 => self.side(level, panel, Edge::South),
            j if j == self.nc => self.side(level, panel, Edge::North),
            j => {
                let first = self.first_y(panel) + (j - 1) * self.nc;
                Side { values: &level[first..first + self.nc], along: AlongEdge::Aligned, sign: 1.0 }
            }
        }
    }

    /// Values of the faces inside a panel that are normal to i, in row j.
    fn inner_x<'a>(&self, level: &'a [f64], panel: Panel, j: usize) -> &'a [f64] {
        let first = self.first_x(panel) + j * (self.nc - 1);
        &level[first..first + self.nc - 1]
    }

    /// Faces inside panels.
    fn inside(&self) -> usize {
        12 * self.nc * (self.nc - 1)
    }

    /// Values per panel and level of `am` and of `bm`.
    fn panel_level(&self) -> usize {
        self.nc * (self.nc + 1)
    }

    fn first_x(&self, panel: Panel) -> usize {
        panel.index() * 2 * self.nc * (self.nc - 1)
    }

    fn first_y(&self, panel: Panel) -> usize {
        self.first_x(panel) + self.nc * (self.nc - 1)
    }

    fn edge(&self, panel: Panel, edge: Edge) -> EdgeFaces {
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
