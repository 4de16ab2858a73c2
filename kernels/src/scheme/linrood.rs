//! Choices of the two-dimensional operator of Lin & Rood.

/// Profile of a cell in the Lin–Rood operator, the same in its inner and outer steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinRoodRule {
    /// Fourth-order edges as they are.
    None,
    /// Fourth-order edges, flat at extrema.
    Quasi,
    /// Monotone parabolas of FV3's `hord = 8`.
    Mono,
    /// Monotone parabolas of Colella & Woodward 1984.
    Cw84,
    /// Huynh's constraint and positive-definite cells.
    HuynhPd,
}

impl LinRoodRule {
    /// Whether contents stay non-negative: amounts that leave a cell are then limited to what it has.
    pub fn is_positive(self) -> bool {
        match self {
            LinRoodRule::None | LinRoodRule::Quasi => false,
            LinRoodRule::Mono | LinRoodRule::Cw84 | LinRoodRule::HuynhPd => true,
        }
    }
}

/// Edge values where the grid lines have a kink: at the edges of panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EdgeRule {
    /// As everywhere (`ppm_order = 5`).
    None,
    /// Mean of the linear extrapolations from either side at the faces of panel edges (`ppm_order = 7`).
    TwoSided,
    /// The same, and one-sided values at the faces next to them, as FV3 has them.
    Fv3,
}

/// Values of the cells beyond a panel edge, as the operator sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SeamGhost {
    /// Those of the neighbour's cells.
    #[default]
    Copy,
    /// Those of the neighbour at the places to which this panel's grid lines lead.
    Remap,
}

/// The two-dimensional operator of Lin & Rood (1996).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinRood {
    /// Profile of a cell.
    pub rule: LinRoodRule,
    /// Edge values at panel edges.
    pub edge: EdgeRule,
    /// Cells beyond panel edges.
    pub ghost: SeamGhost,
}

impl LinRood {
    /// Cells that the faces of a tile need on each side.
    pub const HALO: usize = 3;
    /// Halo width with remapped ghosts: in the third row beyond an edge, places are off by up to 2½ cells, and their values
    /// need two cells on either side.
    const REMAP_HALO: usize = 5;

    /// Every rule with edges and ghosts as everywhere, and examples of the others.
    pub const ALL: [LinRood; 9] = [
        LinRood::new(LinRoodRule::None),
        LinRood::new(LinRoodRule::Quasi),
        LinRood::new(LinRoodRule::Mono),
        LinRood::new(LinRoodRule::Cw84),
        LinRood::new(LinRoodRule::HuynhPd),
        LinRood { edge: EdgeRule::TwoSided, ..LinRood::new(LinRoodRule::Quasi) },
        LinRood { edge: EdgeRule::Fv3, ..LinRood::new(LinRoodRule::HuynhPd) },
        LinRood { ghost: SeamGhost::Remap, ..LinRood::new(LinRoodRule::HuynhPd) },
        LinRood { ghost: SeamGhost::Remap, edge: EdgeRule::TwoSided, ..LinRood::new(LinRoodRule::Quasi) },
    ];

    /// The operator with this rule, edges and ghosts as everywhere.
    pub const fn new(rule: LinRoodRule) -> Self {
        Self { rule, edge: EdgeRule::None, ghost: SeamGhost::Copy }
    }

    /// Halo width in cells.
    pub fn halo(self) -> usize {
        match self.ghost {
            SeamGhost::Copy => Self::HALO,
            SeamGhost::Remap => Self::REMAP_HALO,
        }
    }

    /// Name for messages and reports.
    pub fn name(self) -> &'static str {
        macro_rules! names {
            ($rule:literal) => {
                match (self.edge, self.ghost) {
                    (EdgeRule::None, SeamGhost::Copy) => concat!("linrood ", $rule),
                    (EdgeRule::TwoSided, SeamGhost::Copy) => concat!("linrood ", $rule, ", two-sided edges"),
                    (EdgeRule::Fv3, SeamGhost::Copy) => concat!("linrood ", $rule, ", fv3 edges"),
                    (EdgeRule::None, SeamGhost::Remap) => concat!("linrood ", $rule, ", remapped ghosts"),
                    (EdgeRule::TwoSided, SeamGhost::Remap) => {
                        concat!("linrood ", $rule, ", two-sided edges, remapped ghosts")
                    }
                    (EdgeRule::Fv3, SeamGhost::Remap) => concat!("linrood ", $rule, ", fv3 edges, remapped ghosts"),
                }
            };
        }
        match self.rule {
            LinRoodRule::None => names!("none"),
            LinRoodRule::Quasi => names!("quasi"),
            LinRoodRule::Mono => names!("mono"),
            LinRoodRule::Cw84 => names!("cw84"),
            LinRoodRule::HuynhPd => names!("huynh_pd"),
        }
    }
}
