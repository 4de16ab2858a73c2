//! Faces on panel edges, which both panels store.

use decomposition::{Axis, Edge};

use super::section::Section;

/// Section holding the faces of an edge.
pub(super) fn edge_section(edge: Edge) -> Section {
    match edge.axis() {
        Axis::X => Section::FluxX,
        Axis::Y => Section::FluxY,
    }
}

/// Position, within its section, of face `s` along an edge of a panel of `nc × nc` cells.
pub(super) fn edge_face(edge: Edge, s: usize, nc: usize) -> (usize, usize) {
    match edge {
        Edge::North => (s, nc),
        Edge::South => (s, 0),
        Edge::East => (nc, s),
        Edge::West => (0, s),
    }
}
