//! Layers into which a source emits.

use super::SourceError;

/// Where a source enters the column.
#[derive(Clone, Debug, PartialEq)]
pub enum Injection {
    /// The lowest layer.
    Surface,
    /// Fixed weights of the layers, top first.
    Levels(Vec<f64>),
    /// Evenly over a range of heights above the surface, m.
    Heights {
        /// Lower end.
        bottom: f64,
        /// Upper end.
        top: f64,
    },
}

impl Injection {
    /// Weights of `levels` layers, top first, scaled so that they sum to 1.
    ///
    /// # Errors
    /// [`SourceError::Injection`] for another number of weights, negative ones, none above 0 or an infinite sum.
    pub fn by_levels(weights: &[f64], levels: usize) -> Result<Self, SourceError> {
        let refuse = |problem| Err(SourceError::Injection { problem });
        if weights.len() != levels {
            return refuse(format!("{} weights for {levels} levels", weights.len()));
        }
        if let Some(k) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            return refuse(format!("weight {} is {}; weights must not be negative", k + 1, weights[k]));
        }
        let sum: f64 = weights.iter().sum();
        if sum <= 0.0 {
            return refuse("all weights are zero".into());
        }
        if !sum.is_finite() {
            return refuse("the sum of the weights is not finite; give smaller ones".into());
        }
        Ok(Self::Levels(weights.iter().map(|w| w / sum).collect()))
    }

    /// A range of heights above the surface, m.
    ///
    /// # Errors
    /// [`SourceError::Injection`] unless 0 ≤ bottom < top.
    pub fn by_heights(bottom: f64, top: f64) -> Result<Self, SourceError> {
        if bottom >= 0.0 && top > bottom && top.is_finite() {
            return Ok(Self::Heights { bottom, top });
        }
        let problem = format!("z_bottom = {bottom} m and z_top = {top} m; expected 0 <= z_bottom < z_top");
        Err(SourceError::Injection { problem })
    }

    /// Fractions of the emission by layer, top first, from the thickness of the layers in m. What would lie above the
    /// model top enters the top layer.
    ///
    /// # Panics
    /// If lengths differ or there is no layer.
    pub fn fill_profile(&self, thickness: &[f64], profile: &mut [f64]) {
        assert!(!profile.is_empty() && thickness.len() == profile.len());
        match self {
            Self::Surface => {
                profile.fill(0.0);
                profile[thickness.len() - 1] = 1.0;
            }
            Self::Levels(weights) => profile.copy_from_slice(weights),
            Self::Heights { bottom, top } => {
                let mut below = 0.0;
                for k in (0..thickness.len()).rev() {
                    let above = if k == 0 { f64::INFINITY } else { below + thickness[k] };
                    profile[k] = (above.min(*top) - below.max(*bottom)).max(0.0) / (top - bottom);
                    below = above;
                }
            }
        }
    }
}

/// Spreads the part of an emission that enters the lowest layer by a lofting profile: `injected` becomes the profile of
/// both.
///
/// # Panics
/// If lengths differ or there is no layer.
pub fn loft_surface_part(injected: &mut [f64], lofting: &[f64]) {
    assert!(!injected.is_empty() && lofting.len() == injected.len());
    let surface = std::mem::take(&mut injected[lofting.len() - 1]);
    injected.iter_mut().zip(lofting).for_each(|(part, fraction)| *part += surface * fraction);
}
