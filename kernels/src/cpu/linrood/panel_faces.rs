//! Faces at and near panel edges whose edge values follow a rule of their own.

use crate::numerics::{edge_one_sided, edge_two_sided};
use crate::real::Real;
use crate::scheme::EdgeRule;
use crate::shape::TileShape;

/// How the value of an edge follows from the four cells around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeValue {
    /// At the panel edge.
    TwoSided,
    /// One face above the panel edge.
    FromBelow,
    /// One face below it.
    FromAbove,
}

impl EdgeValue {
    /// Value of the edge between `a` and `b`, with `aa` and `bb` next to them.
    #[inline(always)]
    pub(crate) fn of<R: Real>(self, aa: R, a: R, b: R, bb: R) -> R {
        match self {
            EdgeValue::TwoSided => edge_two_sided(aa, a, b, bb),
            EdgeValue::FromBelow => edge_one_sided(a, b, bb),
            EdgeValue::FromAbove => edge_one_sided(b, a, aa),
        }
    }
}

/// One such face: its row or column in the padded plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EdgeStencil {
    pub(crate) face: usize,
    pub(crate) value: EdgeValue,
}

/// The faces of one tile, its halo included, whose edge values follow an [`EdgeRule`].
///
/// Tiles that do not touch the panel edge but reach it with their halo have them as well, so that results do not depend on
/// how a panel is cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PanelFaces {
    along_i: Vec<EdgeStencil>,
    along_j: Vec<EdgeStencil>,
}

impl PanelFaces {
    /// Faces of a tile of this shape whose first cell is cell `first` (i, j) of a panel of `nc` × `nc` cells.
    pub fn new(shape: &TileShape, rule: EdgeRule, first: (usize, usize), nc: usize) -> Self {
        let along = |n: usize, first: usize| {
            let mut stencils = Vec::new();
            for panel_edge in [0, nc as isize] {
                let edge = panel_edge - first as isize;
                let mut add = |face: isize, value| {
                    // Profiles of the cells -1..=n need the edges -1..=n + 1.
                    if (-1..=n as isize + 1).contains(&face) {
                        stencils.push(EdgeStencil { face: (face + shape.halo as isize) as usize, value });
                    }
                };
                match rule {
                    EdgeRule::None => {}
                    EdgeRule::TwoSided => add(edge, EdgeValue::TwoSided),
                    EdgeRule::Fv3 => {
                        add(edge - 1, EdgeValue::FromAbove);
                        add(edge, EdgeValue::TwoSided);
                        add(edge + 1, EdgeValue::FromBelow);
                    }
                }
            }
            stencils
        };
        Self { along_i: along(shape.ni, first.0), along_j: along(shape.nj, first.1) }
    }

    pub(crate) fn along_i(&self) -> &[EdgeStencil] {
        &self.along_i
    }

    pub(crate) fn along_j(&self) -> &[EdgeStencil] {
        &self.along_j
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_know_the_panel_edges_they_reach() {
        let faces = |n, first, rule| {
            let shape = TileShape::new(n, n, 3);
            let found = PanelFaces::new(&shape, rule, (first, first), 12);
            assert_eq!(found.along_i, found.along_j);
            found.along_i.iter().map(|s| s.face as isize - 3).collect::<Vec<_>>()
        };
        assert_eq!(faces(12, 0, EdgeRule::None), []);
        assert_eq!(faces(12, 0, EdgeRule::TwoSided), [0, 12]);
        assert_eq!(faces(12, 0, EdgeRule::Fv3), [-1, 0, 1, 11, 12, 13]);
        assert_eq!(faces(4, 1, EdgeRule::Fv3), [-1, 0]);
        assert_eq!(faces(4, 2, EdgeRule::Fv3), [-1]);
        assert_eq!(faces(4, 3, EdgeRule::Fv3), []);
        assert_eq!(faces(4, 7, EdgeRule::TwoSided), [5]);
    }
}
