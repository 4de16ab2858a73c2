//! From the layers of an archive to those of a transport file: each output layer is a range of native ones.

mod presets;

use std::ops::Range;

use thiserror::Error;

use crate::grid::constants::REFERENCE_SURFACE_PRESSURE_PA;
use crate::grid::{GridError, HybridCoordinate};

pub use presets::Preset;

/// How layers are merged (spec 40 §1.5).
#[derive(Clone, Debug, PartialEq)]
pub enum Transform {
    /// The native layers.
    Identity,
    /// Explicit ranges of native layers, counted from 1 at the model top, first and last inclusive.
    MergeByIndex(Vec<(usize, usize)>),
    /// Layers are gathered from the top and from the ground until they are this thick, in Pa at a surface pressure of
    /// 101325 Pa.
    MergeThinnerThan(f64),
    /// Layers whose mid pressure is below `threshold_pa` are merged, up to `thickness_pa` each.
    MergeAbove {
        /// Pressure in Pa at a surface pressure of 101325 Pa.
        threshold_pa: f64,
        /// Thickness in Pa at which a merged layer is complete; infinite: one layer.
        thickness_pa: f64,
    },
    /// A named subset of the interfaces of the 137 layers of the IFS.
    Preset(Preset),
}

/// Why a transform does not fit its layers.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum LevelError {
    /// The ranges leave out, repeat or exceed native layers.
    #[error(
        "range {number} of the merged layers is {first} to {last}, but layer {expected} of {levels} comes next; \
         ranges must cover layers 1 to {levels} from the top down"
    )]
    Ranges {
        /// Number of the range, from 1.
        number: usize,
        /// Its first layer.
        first: usize,
        /// Its last layer.
        last: usize,
        /// The layer that must come first.
        expected: usize,
        /// Native layers.
        levels: usize,
    },
    /// The last range ends before the ground.
    #[error("the merged layers end with layer {last}, the archive has {levels}")]
    Short {
        /// Last layer of the last range.
        last: usize,
        /// Native layers.
        levels: usize,
    },
    /// A preset for other layers.
    #[error("preset {preset} takes interfaces of 137 layers, the archive has {levels}")]
    Preset {
        /// Its name.
        preset: &'static str,
        /// Native layers.
        levels: usize,
    },
    /// The layers that result are not a coordinate.
    #[error(transparent)]
    Grid(#[from] GridError),
}

/// Ranges of native layers (from 0 at the model top) that make up the layers of a file, and their coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelMap {
    native: usize,
    ranges: Vec<Range<usize>>,
    coordinate: HybridCoordinate,
}

impl LevelMap {
    /// The map of a transform of the layers of `native`.
    ///
    /// # Errors
    /// [`LevelError`] if the transform does not cover the native layers.
    pub fn new(transform: &Transform, native: &HybridCoordinate) -> Result<Self, LevelError> {
        let levels = native.levels();
        let interfaces = match transform {
            Transform::Identity => (0..=levels).collect(),
            Transform::MergeByIndex(ranges) => by_index(ranges, levels)?,
            Transform::MergeThinnerThan(least) => thick_layers(&reference_pressures(native), *least),
            Transform::MergeAbove { threshold_pa, thickness_pa } => {
                merged_above(&reference_pressures(native), *threshold_pa, *thickness_pa)
            }
            Transform::Preset(preset) => preset.interfaces(levels)?,
        };
        let pick = |values: &[f64]| interfaces.iter().map(|k| values[*k]).collect();
        let coordinate = HybridCoordinate::new(pick(native.a()), pick(native.b()))?;
        Ok(Self { native: levels, ranges: interfaces.windows(2).map(|w| w[0]..w[1]).collect(), coordinate })
    }

    /// Native layers.
    pub fn native_levels(&self) -> usize {
        self.native
    }

    /// Layers of the file.
    pub fn levels(&self) -> usize {
        self.ranges.len()
    }

    /// Coordinate of the layers of the file.
    pub fn coordinate(&self) -> &HybridCoordinate {
        &self.coordinate
    }

    /// Native layers of each layer of the file, from 0 at the model top.
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    /// Whether every layer is a native one.
    pub fn is_identity(&self) -> bool {
        self.levels() == self.native
    }

    /// Sums of `values` (`[native layer][n]`) over the layers of the file.
    pub fn sums(&self, values: Vec<f64>) -> Vec<f64> {
        self.merged(values, |values, n, range, out| {
            for k in range {
                out.iter_mut().zip(&values[k * n..(k + 1) * n]).for_each(|(sum, v)| *sum += v);
            }
        })
    }

    /// Means of `values` (`[native layer][n]`) with the weights of the native layers.
    pub fn means(&self, values: Vec<f64>, weights: &[f64]) -> Vec<f64> {
        self.merged(values, |values, n, range, out| {
            let mut total = vec![0.0; n];
            for k in range {
                let layer = values[k * n..(k + 1) * n].iter().zip(&weights[k * n..(k + 1) * n]);
                for ((mean, total), (v, w)) in out.iter_mut().zip(&mut total).zip(layer) {
                    *mean += v * w;
                    *total += w;
                }
            }
            out.iter_mut().zip(total).for_each(|(mean, total)| *mean /= total);
        })
    }

    /// The interfaces of the file among `values` (`[native interface][n]`).
    pub fn interfaces(&self, values: Vec<f64>) -> Vec<f64> {
        if self.is_identity() {
            return values;
        }
        let n = values.len() / (self.native + 1);
        let kept = self.ranges.iter().map(|r| r.start).chain([self.native]);
        kept.flat_map(|k| values[k * n..(k + 1) * n].iter().copied()).collect()
    }

    fn merged(&self, values: Vec<f64>, fill: impl Fn(&[f64], usize, Range<usize>, &mut [f64])) -> Vec<f64> {
        if self.is_identity() {
            return values;
        }
        let n = values.len() / self.native;
        let mut out = vec![0.0; self.levels() * n];
        for (range, out) in self.ranges.iter().zip(out.chunks_mut(n.max(1))) {
            fill(&values, n, range.clone(), out);
        }
        out
    }
}

/// Pressures in Pa of all interfaces at a surface pressure of 101325 Pa.
fn reference_pressures(native: &HybridCoordinate) -> Vec<f64> {
    (0..=native.levels()).map(|k| native.pressure_at(k, REFERENCE_SURFACE_PRESSURE_PA)).collect()
}

fn by_index(ranges: &[(usize, usize)], levels: usize) -> Result<Vec<usize>, LevelError> {
    let mut interfaces = vec![0];
    for (n, &(first, last)) in ranges.iter().enumerate() {
        let expected = interfaces[n] + 1;
        if first != expected || last < first || last > levels {
            return Err(LevelError::Ranges { number: n + 1, first, last, expected, levels });
        }
        interfaces.push(last);
    }
    match interfaces[ranges.len()] {
        last if last < levels => Err(LevelError::Short { last, levels }),
        _ => Ok(interfaces),
    }
}

/// Interfaces kept so that layers are at least `least` thick: greedy from the ground up, and from the top as far as the
/// first interface of the former. The topmost layer may be thinner.
fn thick_layers(p: &[f64], least: f64) -> Vec<usize> {
    let last = p.len() - 1;
    let mut lower = vec![last];
    for k in (0..last).rev() {
        if p[lower[lower.len() - 1]] - p[k] >= least {
            lower.push(k);
        }
    }
    lower.reverse();
    let mut upper = vec![0];
    for k in 1..lower[0] {
        if p[k] - p[upper[upper.len() - 1]] >= least {
            upper.push(k);
        }
    }
    upper.retain(|&k| k < lower[0]);
    upper.into_iter().chain(lower).collect()
}

fn merged_above(p: &[f64], threshold: f64, thickness: f64) -> Vec<usize> {
    let last = p.len() - 1;
    let above = (0..last).take_while(|&k| 0.5 * (p[k] + p[k + 1]) < threshold).count();
    let mut interfaces = vec![0];
    for k in 1..above {
        if p[k] - p[interfaces[interfaces.len() - 1]] >= thickness {
            interfaces.push(k);
        }
    }
    interfaces.extend(above.max(1)..=last);
    interfaces
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
