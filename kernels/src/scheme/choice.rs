//! What sweeps do, as one choice: scheme, vertical scheme, fusion of vertical sweeps.

use super::Scheme;

/// Scheme of the vertical sweeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Vertical {
    /// The profile of the horizontal sweeps, upwind near the top and the bottom.
    #[default]
    Same,
    /// Spline profile over layers of any thickness with the limiters of FV3's `kord = 8`, positive-definite but for tracers
    /// that may be negative.
    Fv3Kord8,
    /// The same without the positive-definite limiters, for all tracers.
    Fv3Kord8Signed,
}

impl Vertical {
    /// Every choice.
    pub const ALL: [Vertical; 3] = [Vertical::Same, Vertical::Fv3Kord8, Vertical::Fv3Kord8Signed];

    /// Name in configuration files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Vertical::Same => "same",
            Vertical::Fv3Kord8 => "fv3_kord8",
            Vertical::Fv3Kord8Signed => "fv3_kord8_signed",
        }
    }

    /// Fewest layers of a column it can sweep.
    pub fn least_layers(self) -> usize {
        match self {
            Vertical::Same => 0,
            Vertical::Fv3Kord8 | Vertical::Fv3Kord8Signed => 4,
        }
    }

    /// How a tracer of this sign is limited: as it is, or signed where all tracers are.
    pub fn sign(self, tracer: Sign) -> Sign {
        match self {
            Vertical::Fv3Kord8Signed => Sign::Any,
            Vertical::Same | Vertical::Fv3Kord8 => tracer,
        }
    }
}

/// Values a tracer may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sign {
    /// None below 0: it is kept so.
    #[default]
    NonNegative,
    /// Of any sign, such as an anomaly.
    Any,
}

/// Whether two vertical sweeps that follow one another become one of twice the flux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fusion {
    /// No.
    #[default]
    Never,
    /// In columns whose fluxes allow it, if nothing acts between the sweeps.
    WherePossible,
}

/// What the sweeps of a run do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// Scheme of the horizontal sweeps.
    pub scheme: Scheme,
    /// Scheme of the vertical sweeps.
    pub vertical: Vertical,
    /// Whether vertical sweeps are fused.
    pub fusion: Fusion,
}

impl From<Scheme> for Choice {
    /// The scheme in all directions.
    fn from(scheme: Scheme) -> Self {
        Self { scheme, vertical: Vertical::Same, fusion: Fusion::Never }
    }
}

impl Choice {
    /// The same with another vertical scheme.
    pub fn with_vertical(self, vertical: Vertical) -> Self {
        Self { vertical, ..self }
    }

    /// The same with or without fusion.
    pub fn with_fusion(self, fusion: Fusion) -> Self {
        Self { fusion, ..self }
    }
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.scheme.name())?;
        if self.vertical != Vertical::Same {
            write!(f, ", vertical {}", self.vertical.name())?;
        }
        match self.fusion {
            Fusion::Never => Ok(()),
            Fusion::WherePossible => f.write_str(", z_fuse"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::PpmLimiter;

    #[test]
    fn only_what_is_chosen_is_named() {
        let scheme = Choice::from(Scheme::Ppm(PpmLimiter::Cw84));
        assert_eq!(scheme.to_string(), "ppm cw84");
        let all = scheme.with_vertical(Vertical::Fv3Kord8).with_fusion(Fusion::WherePossible);
        assert_eq!(all.to_string(), "ppm cw84, vertical fv3_kord8, z_fuse");
    }

    #[test]
    fn signed_columns_are_signed_for_all_tracers() {
        assert_eq!(Vertical::Fv3Kord8.sign(Sign::NonNegative), Sign::NonNegative);
        assert_eq!(Vertical::Fv3Kord8.sign(Sign::Any), Sign::Any);
        assert_eq!(Vertical::Fv3Kord8Signed.sign(Sign::NonNegative), Sign::Any);
    }
}
