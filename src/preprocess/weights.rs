//! How a change of a whole column is shared out over its layers.

/// Kind of weights of the layers of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnWeights {
    /// Air mass.
    Mass,
    /// Difference of the hybrid coefficient B across the layer: nothing above the highest sloping interface.
    HybridB,
    /// Air mass where B changes across the layer, nothing elsewhere.
    HybridMass,
}

impl ColumnWeights {
    /// All kinds.
    pub const ALL: [ColumnWeights; 3] = [ColumnWeights::Mass, ColumnWeights::HybridB, ColumnWeights::HybridMass];

    /// Name in configurations and headers.
    pub fn name(self) -> &'static str {
        match self {
            ColumnWeights::Mass => "mass",
            ColumnWeights::HybridB => "hybrid_b",
            ColumnWeights::HybridMass => "hybrid_mass",
        }
    }

    /// Kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Weights of the layers of a hybrid coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerWeights {
    kind: ColumnWeights,
    /// B(k + 1) − B(k).
    delta_b: Vec<f64>,
}

impl LayerWeights {
    /// Weights for layers between interfaces with coefficients `b`, from the top, at least two.
    pub fn new(kind: ColumnWeights, b: &[f64]) -> Self {
        assert!(b.len() > 1, "{} interfaces", b.len());
        Self { kind, delta_b: b.windows(2).map(|pair| pair[1] - pair[0]).collect() }
    }

    /// Kind of the weights.
    pub fn kind(&self) -> ColumnWeights {
        self.kind
    }

    /// Number of layers.
    pub fn layers(&self) -> usize {
        self.delta_b.len()
    }

    /// Weight, never negative, of layer `k` in a cell with `mass` (kg) of air in it. Weights of a column mean something
    /// relative to each other only; that of a face is the sum of those of its two cells.
    #[inline]
    pub fn of(&self, k: usize, mass: f64) -> f64 {
        let delta_b = self.delta_b[k].max(0.0);
        match self.kind {
            ColumnWeights::Mass => mass.max(0.0),
            ColumnWeights::HybridB => delta_b,
            ColumnWeights::HybridMass if delta_b > 0.0 => mass.max(0.0),
            ColumnWeights::HybridMass => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weights follow the change of B across a layer, not B: layers of constant B take nothing.
    #[test]
    fn hybrid_weights_are_differences() {
        let b = [0.0, 0.0, 0.2, 0.2, 0.7, 1.0];
        let of = |kind, mass| {
            let weights = LayerWeights::new(kind, &b);
            (0..weights.layers()).map(|k| weights.of(k, mass)).collect::<Vec<f64>>()
        };
        let hybrid_b = of(ColumnWeights::HybridB, 3.0);
        assert!(hybrid_b.iter().zip([0.0, 0.2, 0.0, 0.5, 0.3]).all(|(w, expected)| (w - expected).abs() < 1e-15));
        assert!((hybrid_b.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        assert_eq!(of(ColumnWeights::HybridMass, 3.0), [0.0, 3.0, 0.0, 3.0, 3.0]);
        assert_eq!(of(ColumnWeights::Mass, 3.0), [3.0; 5]);
    }

    #[test]
    fn weights_are_not_negative() {
        for kind in ColumnWeights::ALL {
            let weights = LayerWeights::new(kind, &[0.0, 0.3, 0.2, 1.0]);
            assert!((0..3).all(|k| weights.of(k, -1.0) >= 0.0 && weights.of(1, 1.0) == weights.of(1, 1.0).max(0.0)));
        }
        assert_eq!(LayerWeights::new(ColumnWeights::HybridB, &[0.0, 0.3, 0.2]).of(1, 1.0), 0.0);
    }

    #[test]
    fn names_lead_back() {
        for kind in ColumnWeights::ALL {
            assert_eq!(ColumnWeights::from_name(kind.name()), Some(kind));
        }
        assert_eq!(ColumnWeights::from_name("hybrid"), None);
    }
}
