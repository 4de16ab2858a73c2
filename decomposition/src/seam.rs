//! The twelve seams of the cube and the sign rule of face fluxes stored on both sides.

use serde::{Deserialize, Serialize};

use crate::{AlongEdge, Axis, Edge, Panel, PanelConvention};

/// How a flux stored on one side of a seam reads on the other side.
///
/// A face flux is positive toward larger i or j of its own panel. It keeps its sign when one side is an outflow edge
/// (N, E) and the other an inflow edge (S, W), and changes it when both are of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SeamSign {
    /// Both copies are equal.
    Same,
    /// The copies are each other's negative.
    Opposite,
}

impl SeamSign {
    /// +1 or −1, the factor between the copies on both sides.
    pub fn factor(self) -> f64 {
        match self {
            SeamSign::Same => 1.0,
            SeamSign::Opposite => -1.0,
        }
    }
}

/// Side of a seam.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SeamSide {
    /// The lower-numbered panel, whose orientation defines the seam flux.
    Owner,
    /// The higher-numbered panel.
    Other,
}

/// A shared edge of two panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Seam {
    /// Position in 0..12: owners in panel order, edges of one owner in the order N, S, E, W.
    pub number: usize,
    /// Lower-numbered panel and its edge.
    pub owner: (Panel, Edge),
    /// Higher-numbered panel and its edge.
    pub other: (Panel, Edge),
    /// Sense of the along-edge index.
    pub along: AlongEdge,
    /// Sign between the flux copies of both sides.
    pub sign: SeamSign,
    /// Sweep during which the seam is crossed: the axis normal to the owner's edge.
    pub axis: Axis,
}

impl Seam {
    /// Panel and edge of one side.
    pub fn edge_of(&self, side: SeamSide) -> (Panel, Edge) {
        match side {
            SeamSide::Owner => self.owner,
            SeamSide::Other => self.other,
        }
    }
}

impl PanelConvention {
    /// The twelve seams, in table order.
    pub fn seams(self) -> [Seam; 12] {
        let mut owned = Panel::ALL
            .into_iter()
            .flat_map(|panel| Edge::ALL.map(|edge| (panel, edge)))
            .filter(|&(panel, edge)| panel < self.contact(panel, edge).panel);
        std::array::from_fn(|number| {
            let (panel, edge) = owned.next().expect("24 mutual edges form 12 pairs");
            self.seam_owned_by(number, panel, edge)
        })
    }

    /// The seam along `edge` of `panel`, and the side on which that panel lies.
    pub fn seam_at(self, panel: Panel, edge: Edge) -> (Seam, SeamSide) {
        let contact = self.contact(panel, edge);
        let side = if panel < contact.panel { SeamSide::Owner } else { SeamSide::Other };
        let owner = match side {
            SeamSide::Owner => (panel, edge),
            SeamSide::Other => (contact.panel, contact.edge),
        };
        let earlier = |p: Panel, e: Edge| (p, e.index()) < (owner.0, owner.1.index()) && p < self.contact(p, e).panel;
        let number = Panel::ALL.into_iter().map(|p| Edge::ALL.into_iter().filter(|&e| earlier(p, e)).count()).sum();
        (self.seam_owned_by(number, owner.0, owner.1), side)
    }

    fn seam_owned_by(self, number: usize, panel: Panel, edge: Edge) -> Seam {
        let contact = self.contact(panel, edge);
        let same_kind = edge.is_outflow() == contact.edge.is_outflow();
        Seam {
            number,
            owner: (panel, edge),
            other: (contact.panel, contact.edge),
            along: contact.along,
            sign: if same_kind { SeamSign::Opposite } else { SeamSign::Same },
            axis: edge.axis(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "owner-other orientation sigma group/axis on the other panel".
    fn describe(seam: &Seam) -> String {
        let letter = |e: Edge| format!("{e:?}").remove(0);
        let along = match seam.along {
            AlongEdge::Aligned => "aln",
            AlongEdge::Reversed => "rev",
        };
        format!(
            "{}{}-{}{} {along} {} {:?}/{:?}",
            seam.owner.0,
            letter(seam.owner.1),
            seam.other.0,
            letter(seam.other.1),
            if seam.sign.factor() > 0.0 { '+' } else { '-' },
            seam.axis,
            seam.other.1.axis()
        )
    }

    /// Seams of the GEOS file order and of the equatorial-belt order; sign by the mirror rule of `SeamSign`.
    #[test]
    fn seams_match_the_worked_lists() {
        let geos = [
            "P1N-P3W rev + Y/X",
            "P1S-P6N aln + Y/Y",
            "P1E-P2W aln + X/X",
            "P1W-P5N rev + X/Y",
            "P2N-P3S aln + Y/Y",
            "P2S-P6E rev + Y/X",
            "P2E-P4S rev + X/Y",
            "P3N-P5W rev + Y/X",
            "P3E-P4W aln + X/X",
            "P4N-P5S aln + Y/Y",
            "P4E-P6S rev + X/Y",
            "P5E-P6W aln + X/X",
        ];
        let gnomonic = [
            "P1N-P5S aln + Y/Y",
            "P1S-P6N aln + Y/Y",
            "P1E-P2W aln + X/X",
            "P1W-P4E aln + X/X",
            "P2N-P5E aln - Y/X",
            "P2S-P6E rev + Y/X",
            "P2E-P3W aln + X/X",
            "P3N-P5N rev - Y/Y",
            "P3S-P6S rev - Y/Y",
            "P3E-P4W aln + X/X",
            "P4N-P5W rev + Y/X",
            "P4S-P6W aln - Y/X",
        ];
        for (convention, list) in [(PanelConvention::GeosNative, geos), (PanelConvention::Gnomonic, gnomonic)] {
            let seams = convention.seams();
            for (number, (seam, text)) in seams.iter().zip(list).enumerate() {
                assert_eq!(seam.number, number);
                assert_eq!(describe(seam), text, "{convention:?} seam {}", number + 1);
                assert_eq!(convention.seam_at(seam.owner.0, seam.owner.1), (*seam, SeamSide::Owner));
                assert_eq!(convention.seam_at(seam.other.0, seam.other.1), (*seam, SeamSide::Other));
                assert_eq!(seam.edge_of(SeamSide::Other), seam.other);
            }
        }
    }
}
