//! Levels of the files: pressures of a column from its surface pressure.

use super::super::{Quantity, factor};
use super::{GriddedSource, LevelOrder, LevelSource};
use crate::grid::HybridCoordinate;
use crate::gridded::{GriddedFile, GriddedVariable};
use crate::preprocess::PreprocessError;

/// Greatest pressure of a level that is believed, Pa.
const HIGHEST_PA: f64 = 1.2e5;
/// Winds that end above this pressure are none of the lower atmosphere, Pa.
const LOWEST_PA: f64 = 3e4;

const LEVELS: &str = "describe the levels in [source.levels]";

/// Order found in the files, or asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Down,
    Up,
}

/// Levels of the files from the model top down: p = a + b·ps.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceLevels {
    a: Vec<f64>,
    b: Vec<f64>,
    direction: Direction,
    /// Whether levels keep their pressure where they lie below the ground.
    isobaric: Isobaric,
    interfaces: Option<HybridCoordinate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Isobaric {
    Yes,
    No,
}

impl SourceLevels {
    /// Reads the levels of `variable` in `file` (A and B may stand in any of `files`).
    pub(super) fn read(
        source: &GriddedSource,
        files: &[GriddedFile],
        file: &GriddedFile,
        variable: &GriddedVariable<'_>,
    ) -> Result<Self, PreprocessError> {
        let refuse = |problem: String| PreprocessError::file(file.path(), problem, LEVELS);
        let levels = variable.levels();
        let of = |name: &str| -> Result<(Vec<f64>, Option<String>), PreprocessError> {
            let holder = std::iter::once(file)
                .chain(files)
                .find(|f| f.has(name))
                .ok_or_else(|| refuse(format!("has no variable '{name}' for the levels of '{}'", variable.name())))?;
            Ok((holder.values(name)?, holder.text(name, "units")))
        };
        let axis = |given: &Option<String>| -> Result<String, PreprocessError> {
            let own = variable.level_axis().map(str::to_owned);
            given.clone().or(own).ok_or_else(|| {
                let name = variable.name();
                refuse(format!(
                    "the levels of '{name}' have no variable of their own; name theirs in `source.levels.variable`"
                ))
            })
        };
        let scaled = |values: Vec<f64>, by: f64| values.into_iter().map(|v| v * by).collect::<Vec<f64>>();
        let (a, b, isobaric, interfaces) = match &source.levels {
            LevelSource::Pressure { variable: given, units } => {
                let name = axis(given)?;
                let (values, stored) = of(&name)?;
                let by = factor(Quantity::Pressure, units.as_deref().or(stored.as_deref()))
                    .map_err(|problem| refuse(format!("'{name}' {problem}")))?;
                let zeros = vec![0.0; values.len()];
                (scaled(values, by), zeros, Isobaric::Yes, None)
            }
            LevelSource::Sigma { variable: given, interfaces } => {
                let sigma = of(&axis(given)?)?.0;
                let halves = interfaces.as_deref().map(|name| of(name).map(|(v, _)| v)).transpose()?;
                let halves = halves.map(|b| (vec![0.0; b.len()], b));
                (vec![0.0; sigma.len()], sigma, Isobaric::No, halves)
            }
            LevelSource::Hybrid { mid, interfaces, units, reference_pa } => {
                let pair = |[a, b]: &[String; 2]| -> Result<(Vec<f64>, Vec<f64>), PreprocessError> {
                    let (values, stored) = of(a)?;
                    let stated = units.as_deref().or(stored.as_deref());
                    // A as a part of a reference pressure has no units.
                    let by = match factor(Quantity::Pressure, stated) {
                        Ok(by) => by,
                        Err(_) if *reference_pa != 1.0 => *reference_pa,
                        Err(problem) => return Err(refuse(format!("'{a}' {problem}, or `reference_pressure_pa`"))),
                    };
                    Ok((scaled(values, by), of(b)?.0))
                };
                let halves = interfaces.as_ref().map(pair).transpose()?;
                let mids = match (mid, &halves) {
                    (Some(names), _) => pair(names)?,
                    (None, Some((a, b))) => {
                        let means = |v: &[f64]| v.windows(2).map(|w| 0.5 * (w[0] + w[1])).collect();
                        (means(a), means(b))
                    }
                    (None, None) => {
                        return Err(refuse("the levels have neither A and B nor those of interfaces".into()));
                    }
                };
                (mids.0, mids.1, Isobaric::No, halves)
            }
        };
        if a.len() != levels || b.len() != levels {
            let lengths =
                format!("'{}' has {levels} levels, their coordinates {} and {}", variable.name(), a.len(), b.len());
            return Err(refuse(lengths));
        }
        Self::ordered(a, b, isobaric, interfaces, source.order).map_err(refuse)
    }

    fn ordered(
        mut a: Vec<f64>,
        mut b: Vec<f64>,
        isobaric: Isobaric,
        interfaces: Option<(Vec<f64>, Vec<f64>)>,
        order: LevelOrder,
    ) -> Result<Self, String> {
        let pressures: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + b * 1e5).collect();
        if let Some(k) = pressures.iter().position(|p| !(*p > 0.0 && *p <= HIGHEST_PA)) {
            let what = format!("level {} lies at {} Pa at a surface pressure of 1000 hPa", k + 1, pressures[k]);
            return Err(format!("{what}; check kind and units of the levels"));
        }
        if pressures.len() < 2 {
            return Err("there is one level; at least two are needed".into());
        }
        if pressures.iter().all(|p| *p < LOWEST_PA) {
            return Err(format!("all levels lie above {} hPa; check the units of the levels", LOWEST_PA / 100.0));
        }
        let down = pressures.windows(2).all(|w| w[1] > w[0]);
        let up = pressures.windows(2).all(|w| w[1] < w[0]);
        let direction = match (down, up, order) {
            (true, true, LevelOrder::SurfaceFirst) => Direction::Up,
            (true, true, _) => Direction::Down,
            (true, false, LevelOrder::SurfaceFirst) => {
                return Err("level_order is \"surface_first\", but pressures grow along the levels".into());
            }
            (false, true, LevelOrder::TopFirst) => {
                return Err("level_order is \"toa_first\", but pressures fall along the levels".into());
            }
            (true, false, _) => Direction::Down,
            (false, true, _) => Direction::Up,
            (false, false, _) => {
                let k = (1..pressures.len() - 1)
                    .find(|&k| (pressures[k] - pressures[k - 1]) * (pressures[k + 1] - pressures[k]) <= 0.0)
                    .unwrap_or(0);
                return Err(format!("level {} lies at {} Pa, out of order", k + 2, pressures[k + 1]));
            }
        };
        if direction == Direction::Up {
            a.reverse();
            b.reverse();
        }
        let interfaces = interfaces
            .map(|(mut a, mut b)| {
                if a.len() > 1 && a[0] + b[0] * 1e5 > a[1] + b[1] * 1e5 {
                    a.reverse();
                    b.reverse();
                }
                HybridCoordinate::new(a, b).map_err(|e| e.to_string())
            })
            .transpose()?;
        if let Some(found) = interfaces.as_ref().filter(|i| i.levels() != pressures.len()) {
            return Err(format!("{} levels have {} interfaces", pressures.len(), found.levels() + 1));
        }
        Ok(Self { a, b, direction, isobaric, interfaces })
    }

    /// Whether others are the same levels in the same order; pressures may differ by what single precision loses.
    pub(super) fn are(&self, others: &Self) -> bool {
        let same = |k: usize| (self.pressure(k, 1e5) / others.pressure(k, 1e5) - 1.0).abs() < 1e-6;
        self.levels() == others.levels() && self.direction == others.direction && (0..self.levels()).all(same)
    }

    /// Number of levels.
    pub fn levels(&self) -> usize {
        self.a.len()
    }

    /// Coordinate of the layers between the interfaces, where the files tell them.
    pub fn coordinate(&self) -> Option<&HybridCoordinate> {
        self.interfaces.as_ref()
    }

    /// Position in the file of level `k`, counted from the model top.
    pub(super) fn stored(&self, k: usize) -> usize {
        match self.direction {
            Direction::Down => k,
            Direction::Up => self.levels() - 1 - k,
        }
    }

    /// Pressure in Pa of level `k` (from the model top) in a column with surface pressure `ps` in Pa.
    pub(super) fn pressure(&self, k: usize, ps: f64) -> f64 {
        self.a[k] + self.b[k] * ps
    }

    /// Whether level `k` lies in the atmosphere of that column.
    pub(super) fn above_ground(&self, k: usize, ps: f64) -> bool {
        self.isobaric == Isobaric::No || self.a[k] <= ps
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Isobaric levels.
    pub(in super::super) fn pressures(values: &[f64], order: LevelOrder) -> Result<SourceLevels, String> {
        SourceLevels::ordered(values.to_vec(), vec![0.0; values.len()], Isobaric::Yes, None, order)
    }

    /// Pitfall T40-2: both orders are recognised, and an order that the files contradict is refused.
    #[test]
    fn order_comes_from_pressures() {
        let up = pressures(&[1e5, 5e4, 1e4], LevelOrder::Auto).unwrap();
        let down = pressures(&[1e4, 5e4, 1e5], LevelOrder::Auto).unwrap();
        for k in 0..3 {
            assert_eq!(up.pressure(k, 0.0), down.pressure(k, 0.0));
            assert_eq!((up.stored(k), down.stored(k)), (2 - k, k));
        }
        assert!(pressures(&[1e5, 5e4], LevelOrder::TopFirst).unwrap_err().contains("toa_first"));
        assert!(pressures(&[5e4, 1e5], LevelOrder::SurfaceFirst).unwrap_err().contains("surface_first"));
    }

    #[test]
    fn levels_out_of_order_are_named() {
        let error = pressures(&[1e4, 5e4, 3e4, 1e5], LevelOrder::Auto).unwrap_err();
        assert!(error.contains("level 3") && error.contains("30000"), "{error}");
        assert!(pressures(&[1e4, 1e4, 3e4], LevelOrder::Auto).is_err());
        assert!(pressures(&[0.0, 1e4], LevelOrder::Auto).unwrap_err().contains("level 1"));
    }

    #[test]
    fn isobaric_levels_end_at_the_ground() {
        let levels = pressures(&[1e4, 8.5e4, 1e5], LevelOrder::Auto).unwrap();
        assert!(levels.above_ground(1, 9e4) && !levels.above_ground(2, 9e4));
    }
}
