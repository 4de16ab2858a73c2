//! Which panel edge meets which, for both panel conventions.
//!
//! The two tables below are the only literal connectivity of the crate; seams, vertices and plans follow from them.

use serde::{Deserialize, Serialize};

use crate::{Edge, Panel, PanelConvention};

/// Sense in which the along-edge indices of two touching edges run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AlongEdge {
    /// Index s meets index s.
    Aligned,
    /// Index s meets index Nc − 1 − s (counted from 0).
    Reversed,
}

impl AlongEdge {
    /// Along-edge index on the other panel that meets `s`, both in 0..`nc`.
    pub fn map(self, s: usize, nc: usize) -> usize {
        match self {
            AlongEdge::Aligned => s,
            AlongEdge::Reversed => nc - 1 - s,
        }
    }
}

/// The panel edge that touches a given panel edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Contact {
    /// Neighbouring panel.
    pub panel: Panel,
    /// Edge of the neighbouring panel.
    pub edge: Edge,
    /// Sense of the along-edge index.
    pub along: AlongEdge,
}

const fn aligned(number: usize, edge: Edge) -> Contact {
    Contact { panel: Panel::ALL[number - 1], edge, along: AlongEdge::Aligned }
}

const fn reversed(number: usize, edge: Edge) -> Contact {
    Contact { panel: Panel::ALL[number - 1], edge, along: AlongEdge::Reversed }
}

use Edge::{East, North, South, West};

/// Rows: panels 1..6; columns: edges N, S, E, W.
#[rustfmt::skip]
const GEOS_NATIVE: [[Contact; 4]; 6] = [
    [reversed(3, West),  aligned(6, North), aligned(2, West),   reversed(5, North)],
    [aligned(3, South),  reversed(6, East), reversed(4, South), aligned(1, East)],
    [reversed(5, West),  aligned(2, North), aligned(4, West),   reversed(1, North)],
    [aligned(5, South),  reversed(2, East), reversed(6, South), aligned(3, East)],
    [reversed(1, West),  aligned(4, North), aligned(6, West),   reversed(3, North)],
    [aligned(1, South),  reversed(4, East), reversed(2, South), aligned(5, East)],
];

/// Rows: panels 1..6; columns: edges N, S, E, W.
#[rustfmt::skip]
const GNOMONIC: [[Contact; 4]; 6] = [
    [aligned(5, South),  aligned(6, North),  aligned(2, West),  aligned(4, East)],
    [aligned(5, East),   reversed(6, East),  aligned(3, West),  aligned(1, East)],
    [reversed(5, North), reversed(6, South), aligned(4, West),  aligned(2, East)],
    [reversed(5, West),  aligned(6, West),   aligned(1, West),  aligned(3, East)],
    [reversed(3, North), aligned(1, North),  aligned(2, North), reversed(4, North)],
    [aligned(1, South),  reversed(3, South), reversed(2, South), aligned(4, South)],
];

impl PanelConvention {
    /// The panel edge that touches `edge` of `panel`. Applying it twice leads back.
    pub fn contact(self, panel: Panel, edge: Edge) -> Contact {
        let table = match self {
            PanelConvention::GeosNative => &GEOS_NATIVE,
            PanelConvention::Gnomonic => &GNOMONIC,
        };
        table[panel.index()][edge.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_are_mutual() {
        for convention in [PanelConvention::GeosNative, PanelConvention::Gnomonic] {
            for panel in Panel::ALL {
                let mut neighbours = [false; 6];
                for edge in Edge::ALL {
                    let contact = convention.contact(panel, edge);
                    let back = convention.contact(contact.panel, contact.edge);
                    assert_eq!((back.panel, back.edge, back.along), (panel, edge, contact.along));
                    // Two panels share at most one edge, and none touches itself.
                    assert!(!std::mem::replace(&mut neighbours[contact.panel.index()], true));
                    assert_ne!(contact.panel, panel);
                }
            }
        }
    }

    #[test]
    fn along_edge_maps_back_to_itself() {
        assert_eq!(AlongEdge::Aligned.map(2, 7), 2);
        assert_eq!(AlongEdge::Reversed.map(2, 7), 4);
        for s in 0..7 {
            assert_eq!(AlongEdge::Reversed.map(AlongEdge::Reversed.map(s, 7), 7), s);
        }
    }
}
