//! The eight cube vertices, where three panels meet.

use serde::{Deserialize, Serialize};

use crate::{AlongEdge, Edge, Panel, PanelConvention};

/// Corner of a panel or tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Corner {
    /// Low i, low j.
    SouthWest,
    /// High i, low j.
    SouthEast,
    /// High i, high j.
    NorthEast,
    /// Low i, high j.
    NorthWest,
}

impl Corner {
    /// All corners, anticlockwise from the south-west.
    pub const ALL: [Corner; 4] = [Corner::SouthWest, Corner::SouthEast, Corner::NorthEast, Corner::NorthWest];

    /// The N or S edge that ends here, then the E or W edge.
    pub fn edges(self) -> (Edge, Edge) {
        match self {
            Corner::SouthWest => (Edge::South, Edge::West),
            Corner::SouthEast => (Edge::South, Edge::East),
            Corner::NorthEast => (Edge::North, Edge::East),
            Corner::NorthWest => (Edge::North, Edge::West),
        }
    }

    /// Corner at which `edge` meets the perpendicular edge `end`.
    fn meeting(edge: Edge, end: Edge) -> Corner {
        let ends = |c: &Corner| c.edges() == (edge, end) || c.edges() == (end, edge);
        Corner::ALL.into_iter().find(ends).expect("perpendicular edges meet in one corner")
    }
}

/// A cube vertex: the three panel corners that coincide, in panel order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Vertex {
    /// Panels in ascending order, each with its corner.
    pub corners: [(Panel, Corner); 3],
}

impl PanelConvention {
    /// The eight cube vertices, ordered by their lowest panel and its corner (SW, SE, NE, NW).
    pub fn vertices(self) -> [Vertex; 8] {
        let mut lowest = Panel::ALL
            .into_iter()
            .flat_map(|panel| Corner::ALL.map(|corner| self.vertex_at(panel, corner)))
            .enumerate()
            .filter(|(position, vertex)| {
                let (panel, corner) = vertex.corners[0];
                panel.index() * 4 + corner as usize == *position
            })
            .map(|(_, vertex)| vertex);
        std::array::from_fn(|_| lowest.next().expect("24 panel corners meet in 8 vertices"))
    }

    fn vertex_at(self, panel: Panel, corner: Corner) -> Vertex {
        let (row, column) = corner.edges();
        let mut corners =
            [(panel, corner), self.corner_across(panel, row, column), self.corner_across(panel, column, row)];
        corners.sort();
        Vertex { corners }
    }

    /// Panel corner reached by crossing `edge` of `panel` at the end where it meets the perpendicular edge `end`.
    fn corner_across(self, panel: Panel, edge: Edge, end: Edge) -> (Panel, Corner) {
        let contact = self.contact(panel, edge);
        let high = end.is_outflow() == (contact.along == AlongEdge::Aligned);
        let other_end = match (contact.edge, high) {
            (Edge::North | Edge::South, true) => Edge::East,
            (Edge::North | Edge::South, false) => Edge::West,
            (Edge::East | Edge::West, true) => Edge::North,
            (Edge::East | Edge::West, false) => Edge::South,
        };
        (contact.panel, Corner::meeting(contact.edge, other_end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(vertex: &Vertex) -> String {
        let name = |&(panel, corner): &(Panel, Corner)| {
            let letters: String = format!("{corner:?}").chars().filter(char::is_ascii_uppercase).collect();
            format!("{panel}{letters}")
        };
        vertex.corners.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    /// Panel corners that coincide at longitudes 35/125/215/305 (GEOS) and 45/135/225/315, latitudes ±35.264 degrees.
    #[test]
    fn vertices_match_the_worked_lists() {
        let geos = [
            "P1NE P2NW P3SW",
            "P2NE P3SE P4SW",
            "P3NE P4NW P5SW",
            "P1NW P3NW P5NW",
            "P1SE P2SW P6NE",
            "P2SE P4SE P6SE",
            "P4NE P5SE P6SW",
            "P1SW P5NE P6NW",
        ];
        let gnomonic = [
            "P1NE P2NW P5SE",
            "P2NE P3NW P5NE",
            "P3NE P4NW P5NW",
            "P1NW P4NE P5SW",
            "P1SE P2SW P6NE",
            "P2SE P3SW P6SE",
            "P3SE P4SW P6SW",
            "P1SW P4SE P6NW",
        ];
        for (convention, list) in [(PanelConvention::GeosNative, geos), (PanelConvention::Gnomonic, gnomonic)] {
            let mut found = convention.vertices().map(|v| describe(&v)).to_vec();
            let mut expected = list.map(str::to_owned).to_vec();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{convention:?}");
        }
    }

    #[test]
    fn every_panel_corner_belongs_to_one_vertex() {
        for convention in [PanelConvention::GeosNative, PanelConvention::Gnomonic] {
            let vertices = convention.vertices();
            for panel in Panel::ALL {
                for corner in Corner::ALL {
                    assert_eq!(vertices.iter().filter(|v| v.corners.contains(&(panel, corner))).count(), 1);
                }
            }
        }
    }
}
