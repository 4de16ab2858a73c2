//! The cube, cell by cell: formulas of their own, sharing only the contact table with the crate.

use decomposition::{AlongEdge, Edge, Panel, PanelConvention};

/// A cell of the sphere: panel and (i, j), counted from 0.
pub type Cell = (Panel, isize, isize);

/// Interior cell of a panel at depth `d` from `edge` and along-edge index `s`, both counted from 1.
pub fn interior(nc: isize, panel: Panel, edge: Edge, d: isize, s: isize) -> Cell {
    let (i, j) = match edge {
        Edge::North => (s, nc + 1 - d),
        Edge::South => (s, d),
        Edge::East => (nc + 1 - d, s),
        Edge::West => (d, s),
    };
    (panel, i - 1, j - 1)
}

/// The cell that lies at (`i`, `j`) of `panel`, where one index may be outside 0..nc; nothing beyond a vertex.
pub fn cell_at(convention: PanelConvention, nc: isize, panel: Panel, i: isize, j: isize) -> Option<Cell> {
    let inside = 0..nc;
    let (edge, d, s) = match (inside.contains(&i), inside.contains(&j)) {
        (true, true) => return Some((panel, i, j)),
        (false, false) => return None,
        (true, false) if j >= nc => (Edge::North, j - nc + 1, i + 1),
        (true, false) => (Edge::South, -j, i + 1),
        (false, true) if i >= nc => (Edge::East, i - nc + 1, j + 1),
        (false, true) => (Edge::West, -i, j + 1),
    };
    let contact = convention.contact(panel, edge);
    let s = match contact.along {
        AlongEdge::Aligned => s,
        AlongEdge::Reversed => nc + 1 - s,
    };
    Some(interior(nc, contact.panel, contact.edge, d, s))
}

/// Source of corner cell (`a`, `b`) of a panel with `nc` cells, all counted from 1, for sweeps along X, then along Y:
/// the copy-corner rule of the finite-volume cubed-sphere core (Putman & Lin 2007), written out per corner.
pub fn corner_sources(nc: isize, a: isize, b: isize) -> [(isize, isize); 2] {
    match (a > nc, b > nc) {
        (false, false) => [(b, 1 - a), (1 - b, a)],
        (true, false) => [(nc + 1 - b, a - nc), (nc + b, nc + 1 - a)],
        (true, true) => [(b, 2 * nc + 1 - a), (2 * nc + 1 - b, a)],
        (false, true) => [(nc + 1 - b, a + nc), (b - nc, nc + 1 - a)],
    }
}
