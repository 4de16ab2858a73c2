//! Order of the layers in a file (spec 40 §1.3 rule 2, pitfall T40-2).

use super::super::super::PreprocessError;
use super::super::gridded::LevelOrder;
use std::path::Path;

/// What to do about an order that cannot be told.
const HELP: &str = "state it: `source.level_order` = \"surface_first\" or \"toa_first\"";

/// Which end of a file's layers is the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum LayerOrder {
    /// The lowest layer comes first.
    SurfaceFirst,
    /// The highest layer comes first.
    TopFirst,
}

impl LayerOrder {
    /// The order asked for, if one is.
    pub(in super::super) fn asked(order: LevelOrder) -> Option<Self> {
        match order {
            LevelOrder::Auto => None,
            LevelOrder::SurfaceFirst => Some(Self::SurfaceFirst),
            LevelOrder::TopFirst => Some(Self::TopFirst),
        }
    }

    /// Position in a file of layer or interface `k` of `n`, counted from the model top.
    pub(in super::super) fn stored(self, k: usize, n: usize) -> usize {
        match self {
            Self::TopFirst => k,
            Self::SurfaceFirst => n - 1 - k,
        }
    }
}

/// The order told by means of the first and the last layer of a quantity that is larger at the ground: thickness in
/// pressure, or humidity.
pub(in super::super) fn from_ends(
    path: &Path,
    variable: &str,
    first: f64,
    last: f64,
) -> Result<LayerOrder, PreprocessError> {
    match first.partial_cmp(&last) {
        Some(std::cmp::Ordering::Less) => Ok(LayerOrder::TopFirst),
        Some(std::cmp::Ordering::Greater) => Ok(LayerOrder::SurfaceFirst),
        _ => {
            let problem = format!(
                "means of '{variable}' are {first} in the first and {last} in the last layer: no order is told"
            );
            Err(PreprocessError::file(path, problem, HELP))
        }
    }
}

/// Mean position (from 0) of a field among its `n` layers, and the middle.
fn centre(values: &[f64], n: usize) -> Option<(f64, f64)> {
    let plane = values.len() / n.max(1);
    let sums: Vec<f64> = values.chunks(plane.max(1)).map(|layer| layer.iter().sum()).collect();
    let total: f64 = sums.iter().sum();
    let mean = sums.iter().enumerate().map(|(k, s)| k as f64 * s).sum::<f64>() / total;
    (total > 0.0).then_some((mean, 0.5 * (n as f64 - 1.0)))
}

/// The order told by a convective field `[n][…]` as stored: convection lies in the lower half of the layers.
pub(in super::super) fn from_convection(
    path: &Path,
    variable: &str,
    values: &[f64],
    n: usize,
) -> Result<LayerOrder, PreprocessError> {
    match centre(values, n) {
        Some((mean, middle)) if mean > middle => Ok(LayerOrder::TopFirst),
        Some((mean, middle)) if mean < middle => Ok(LayerOrder::SurfaceFirst),
        _ => {
            let problem = format!("'{variable}' does not tell the order of the layers");
            Err(PreprocessError::file(path, problem, HELP))
        }
    }
}

/// Refuses a convective field `[n from the model top][…]` that lies in the upper half of the layers.
pub(in super::super) fn check_convection(
    path: &Path,
    variable: &str,
    values: &[f64],
    n: usize,
) -> Result<(), PreprocessError> {
    match centre(values, n) {
        Some((mean, middle)) if mean < middle => {
            let problem = format!(
                "'{variable}' has its centre at level {:.1} of {n} from the model top, in the upper half of the layers",
                mean + 1.0
            );
            Err(PreprocessError::file(
                path,
                problem,
                "the layers are upside down: check `source.level_order` and the file",
            ))
        }
        _ => Ok(()),
    }
}

/// Puts a field `[n][…]` as stored into the order from the model top down.
pub(in super::super) fn flipped(mut values: Vec<f64>, n: usize, order: LayerOrder) -> Vec<f64> {
    if order == LayerOrder::TopFirst || n < 2 {
        return values;
    }
    let plane = values.len() / n;
    for k in 0..n / 2 {
        let (low, high) = values.split_at_mut((n - 1 - k) * plane);
        low[k * plane..(k + 1) * plane].swap_with_slice(&mut high[..plane]);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "A3mstE.nc";

    #[test]
    fn thick_or_moist_layers_are_at_the_ground() {
        let told = |first, last| from_ends(Path::new(PATH), "DELP", first, last);
        assert_eq!(told(1.0, 1400.0).unwrap(), LayerOrder::TopFirst);
        assert_eq!(told(1e-2, 1e-6).unwrap(), LayerOrder::SurfaceFirst);
        for (first, last) in [(0.0, 0.0), (f64::NAN, 1.0)] {
            let error = told(first, last).unwrap_err().to_string();
            assert!(error.contains("'DELP'") && error.contains("level_order"), "{error}");
        }
    }

    #[test]
    fn layers_are_turned_over_at_most_once() {
        let stored: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(flipped(stored.clone(), 5, LayerOrder::TopFirst), stored);
        let turned = flipped(stored.clone(), 5, LayerOrder::SurfaceFirst);
        assert_eq!(turned, [8.0, 9.0, 6.0, 7.0, 4.0, 5.0, 2.0, 3.0, 0.0, 1.0]);
        for k in 0..5 {
            assert_eq!(turned[2 * k], stored[2 * LayerOrder::SurfaceFirst.stored(k, 5)]);
        }
        assert_eq!(flipped(turned, 5, LayerOrder::SurfaceFirst), stored);
    }

    /// Pitfall T40-2: convection upside down is recognised, and refused where the order is given.
    #[test]
    fn convection_lies_in_the_lower_half() {
        let top_first = [0.0, 0.0, 0.0, 0.0, 0.1, 0.3, 0.2, 0.0];
        let path = Path::new(PATH);
        assert_eq!(from_convection(path, "CMFMC", &top_first, 8).unwrap(), LayerOrder::TopFirst);
        check_convection(path, "CMFMC", &top_first, 8).unwrap();
        let turned = flipped(top_first.to_vec(), 8, LayerOrder::SurfaceFirst);
        assert_eq!(from_convection(path, "CMFMC", &turned, 8).unwrap(), LayerOrder::SurfaceFirst);
        let error = check_convection(path, "CMFMC", &turned, 8).unwrap_err().to_string();
        assert!(error.contains("'CMFMC' has its centre at level 2.8 of 8"), "{error}");
        assert!(from_convection(path, "CMFMC", &[0.0; 8], 8).is_err());
        check_convection(path, "CMFMC", &[0.0; 8], 8).unwrap();
    }
}
