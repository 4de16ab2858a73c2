//! Panels, edges and panel conventions.

use serde::{Deserialize, Serialize};

/// Horizontal axis of a panel: `X` along i, `Y` along j.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Axis {
    /// Along i.
    X,
    /// Along j.
    Y,
}

/// One of the six cube faces, counted from 0; displayed and numbered in files from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Panel(u8);

impl Panel {
    /// All panels in order.
    pub const ALL: [Panel; 6] = [Panel(0), Panel(1), Panel(2), Panel(3), Panel(4), Panel(5)];

    /// Panel with zero-based `index` in 0..6.
    pub fn new(index: usize) -> Option<Self> {
        (index < 6).then_some(Panel(index as u8))
    }

    /// Zero-based index.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// One-based number as in files.
    pub fn number(self) -> usize {
        self.index() + 1
    }
}

impl std::fmt::Display for Panel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "P{}", self.number())
    }
}

impl Axis {
    /// The other horizontal axis.
    pub fn other(self) -> Axis {
        match self {
            Axis::X => Axis::Y,
            Axis::Y => Axis::X,
        }
    }
}

/// Edge of a panel or tile: N at j = nj side, S at j = 0, E at i = ni side, W at i = 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Edge {
    /// High-j side.
    North,
    /// Low-j side.
    South,
    /// High-i side.
    East,
    /// Low-i side.
    West,
}

impl Edge {
    /// All edges in table order (N, S, E, W).
    pub const ALL: [Edge; 4] = [Edge::North, Edge::South, Edge::East, Edge::West];

    /// Axis normal to the edge.
    pub fn axis(self) -> Axis {
        match self {
            Edge::North | Edge::South => Axis::Y,
            Edge::East | Edge::West => Axis::X,
        }
    }

    /// Position in table order: N 0, S 1, E 2, W 3.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Edge on the other side of the same panel or tile.
    pub fn opposite(self) -> Edge {
        match self {
            Edge::North => Edge::South,
            Edge::South => Edge::North,
            Edge::East => Edge::West,
            Edge::West => Edge::East,
        }
    }

    /// Whether a positive face flux through this edge leaves the panel (N, E).
    pub fn is_outflow(self) -> bool {
        matches!(self, Edge::North | Edge::East)
    }
}

/// Numbering and local axes of the six panels, which decide how their edges meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PanelConvention {
    /// Four equatorial panels, then the north and south caps.
    #[serde(rename = "gnomonic")]
    Gnomonic,
    /// File order of GEOS: north cap third, panels 4 and 5 turned.
    #[serde(rename = "geos_native")]
    GeosNative,
}

impl PanelConvention {
    /// Name in configuration files and headers.
    pub fn tag(self) -> &'static str {
        match self {
            PanelConvention::Gnomonic => "gnomonic",
            PanelConvention::GeosNative => "geos_native",
        }
    }
}
