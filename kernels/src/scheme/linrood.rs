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

/// The two-dimensional operator of Lin & Rood (1996).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinRood {
    /// Profile of a cell.
    pub rule: LinRoodRule,
    /// Edge values at panel edges.
    pub edge: EdgeRule,
}

impl LinRood {
    /// Halo width in cells.
    pub const HALO: usize = 3;

    /// Every rule with edges as everywhere, and one example of the others.
    pub const ALL: [LinRood; 7] = [
        LinRood { rule: LinRoodRule::None, edge: EdgeRule::None },
        LinRood { rule: LinRoodRule::Quasi, edge: EdgeRule::None },
        LinRood { rule: LinRoodRule::Mono, edge: EdgeRule::None },
        LinRood { rule: LinRoodRule::Cw84, edge: EdgeRule::None },
        LinRood { rule: LinRoodRule::HuynhPd, edge: EdgeRule::None },
        LinRood { rule: LinRoodRule::Quasi, edge: EdgeRule::TwoSided },
        LinRood { rule: LinRoodRule::HuynhPd, edge: EdgeRule::Fv3 },
    ];

    /// Name for messages and reports.
    pub fn name(self) -> &'static str {
        match (self.edge, self.rule) {
            (EdgeRule::None, LinRoodRule::None) => "linrood none",
            (EdgeRule::None, LinRoodRule::Quasi) => "linrood quasi",
            (EdgeRule::None, LinRoodRule::Mono) => "linrood mono",
            (EdgeRule::None, LinRoodRule::Cw84) => "linrood cw84",
            (EdgeRule::None, LinRoodRule::HuynhPd) => "linrood huynh_pd",
            (EdgeRule::TwoSided, LinRoodRule::None) => "linrood none, two-sided edges",
            (EdgeRule::TwoSided, LinRoodRule::Quasi) => "linrood quasi, two-sided edges",
            (EdgeRule::TwoSided, LinRoodRule::Mono) => "linrood mono, two-sided edges",
            (EdgeRule::TwoSided, LinRoodRule::Cw84) => "linrood cw84, two-sided edges",
            (EdgeRule::TwoSided, LinRoodRule::HuynhPd) => "linrood huynh_pd, two-sided edges",
            (EdgeRule::Fv3, LinRoodRule::None) => "linrood none, fv3 edges",
            (EdgeRule::Fv3, LinRoodRule::Quasi) => "linrood quasi, fv3 edges",
            (EdgeRule::Fv3, LinRoodRule::Mono) => "linrood mono, fv3 edges",
            (EdgeRule::Fv3, LinRoodRule::Cw84) => "linrood cw84, fv3 edges",
            (EdgeRule::Fv3, LinRoodRule::HuynhPd) => "linrood huynh_pd, fv3 edges",
        }
    }
}
