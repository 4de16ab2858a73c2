//! From the levels of a file to those of the run, in one column.

use super::VerticalMapping;
use super::levels::{Hybrid, Levels};
use crate::grid::HybridCoordinate;

/// Maps columns; its lists are used again for the next one.
pub(super) struct Columns<'a> {
    levels: &'a Levels,
    mapping: VerticalMapping,
    target: &'a HybridCoordinate,
    /// Values of the file and the pressures of their middles, or of their interfaces.
    values: Vec<f64>,
    pressures: Vec<f64>,
    /// Pressures at the interfaces of the run.
    interfaces: Vec<f64>,
    column: Vec<f64>,
}

impl<'a> Columns<'a> {
    pub(super) fn new(
        levels: &'a Levels,
        mapping: VerticalMapping,
        count: usize,
        target: &'a HybridCoordinate,
    ) -> Self {
        let (values, column) = (Vec::with_capacity(count), vec![0.0; target.levels()]);
        let (pressures, interfaces) = (Vec::with_capacity(count + 1), Vec::with_capacity(target.levels() + 1));
        Self { levels, mapping, target, values, pressures, interfaces, column }
    }

    /// Values of the run's layers, from the top down: `value(k)` are those of the file, likewise. `source` and `run` are
    /// the surface pressures of file and run, Pa. The error text says what is wrong with the pressures.
    pub(super) fn map(&mut self, value: impl Fn(usize) -> f64, source: f64, run: f64) -> Result<&[f64], String> {
        let Levels::Own { mids, interfaces, .. } = self.levels else {
            self.column.iter_mut().enumerate().for_each(|(k, out)| *out = value(k));
            return Ok(&self.column);
        };
        let (list, what) = match (self.mapping, interfaces) {
            (VerticalMapping::Conservative, Some(interfaces)) => (interfaces, "interface"),
            _ => (mids, "level"),
        };
        self.pressures.clear();
        self.pressures.extend(list.iter().map(|level| level.at(source)));
        if let Some(k) = (1..list.len()).find(|&k| self.pressures[k] <= self.pressures[k - 1]) {
            return Err(format!("pressure does not grow downwards at {what} {} from the top", k + 1));
        }
        self.values.clear();
        self.values.extend((0..mids.len()).map(value));
        self.interfaces.clear();
        self.interfaces.extend((0..=self.target.levels()).map(|k| self.target.pressure_at(k, run)));
        match self.mapping {
            VerticalMapping::LogPressure => {
                for (k, out) in self.column.iter_mut().enumerate() {
                    let middle = 0.5 * (self.interfaces[k] + self.interfaces[k + 1]);
                    *out = on_line(&self.pressures, &self.values, middle);
                }
            }
            VerticalMapping::Conservative => {
                shared(&mut self.pressures, &self.values, &self.interfaces, &mut self.column);
            }
        }
        Ok(&self.column)
    }

    /// Thickness of the file's layers from the top down, Pa; nothing if the file does not tell it.
    pub(super) fn thickness(&self, surface_pressure: f64) -> impl Iterator<Item = f64> {
        let interfaces = match self.levels {
            Levels::Own { interfaces: Some(interfaces), .. } => interfaces.as_slice(),
            _ => &[],
        };
        interfaces.windows(2).map(move |pair: &[Hybrid]| pair[1].at(surface_pressure) - pair[0].at(surface_pressure))
    }
}

/// Value at `pressure` on the straight lines in ln p through `values` at ascending `pressures`; constant beyond the ends.
fn on_line(pressures: &[f64], values: &[f64], pressure: f64) -> f64 {
    let below = pressures.partition_point(|p| *p < pressure);
    if below == 0 {
        return values[0];
    }
    let Some(&under) = pressures.get(below) else { return values[values.len() - 1] };
    let over = pressures[below - 1];
    let weight = (pressure / over).ln() / (under / over).ln();
    values[below - 1] + weight * (values[below] - values[below - 1])
}

/// Means over the layers between ascending `target` interfaces of values in the layers between ascending `source` ones,
/// whose ends are moved out to those of `target`.
fn shared(source: &mut [f64], values: &[f64], target: &[f64], out: &mut [f64]) {
    let (last, bottom) = (source.len() - 1, target[target.len() - 1]);
    source[0] = source[0].min(target[0]);
    source[last] = source[last].max(bottom);
    for (k, mean) in out.iter_mut().enumerate() {
        let (top, bottom) = (target[k], target[k + 1]);
        let first = source.partition_point(|p| *p <= top).saturating_sub(1);
        let mut sum = 0.0;
        for s in first..values.len() {
            if source[s] >= bottom {
                break;
            }
            sum += values[s] * (source[s + 1].min(bottom) - source[s].max(top));
        }
        *mean = sum / (bottom - top);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brackets are found for each level by itself: a straight line in ln p is met everywhere, ends hold beyond.
    #[test]
    fn straight_lines_are_met_between_and_clamped_beyond_the_ends() {
        let pressures = [100.0, 1_000.0, 20_000.0, 21_000.0, 90_000.0];
        let line = |p: f64| 3.0 + 2.0 * p.ln();
        let values = pressures.map(line);
        for p in [100.0, 130.0, 1_000.0, 5_000.0, 20_000.0, 20_500.0, 60_000.0, 90_000.0] {
            let found = on_line(&pressures, &values, p);
            assert!((found / line(p) - 1.0).abs() < 4.0 * f64::EPSILON, "{p}: {found}");
        }
        assert_eq!([on_line(&pressures, &values, 1.0), on_line(&pressures, &values, 1e5)], [values[0], values[4]]);
        assert_eq!(on_line(&[500.0], &[7.0], 1e5), 7.0);
    }

    #[test]
    fn shared_pressure_keeps_what_lies_in_both_columns() {
        let mut source = vec![0.0, 100.0, 400.0, 1000.0];
        let (values, target) = ([2.0, 5.0, 1.0], [0.0, 50.0, 250.0, 600.0, 1000.0]);
        let mut out = [0.0; 4];
        shared(&mut source, &values, &target, &mut out);
        assert_eq!(out[0], 2.0);
        assert_eq!(out[1], (50.0 * 2.0 + 150.0 * 5.0) / 200.0);
        let whole: f64 = out.iter().zip(target.windows(2)).map(|(q, p)| q * (p[1] - p[0])).sum();
        assert!((whole - (200.0 + 1500.0 + 600.0)).abs() < 1e-9, "{whole}");
        // What lies beyond the file's column takes the value of its last layer.
        let mut source = vec![10.0, 100.0, 900.0];
        let mut out = [0.0; 2];
        shared(&mut source, &[4.0, 6.0], &[5.0, 100.0, 1000.0], &mut out);
        assert_eq!(out, [4.0, 6.0]);
    }
}
