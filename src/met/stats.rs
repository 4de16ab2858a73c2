//! Extremes and sums of every section of every window.

use rayon::prelude::*;
use serde::Serialize;

use super::error::MetError;
use super::reader::TransportFile;
use super::section::Section;

/// Extremes and sum of one section of one window, over the stored values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SectionStats {
    /// Window, from 0.
    pub window: usize,
    /// Section.
    pub section: Section,
    /// Smallest finite value; infinity if there is none.
    pub min: f64,
    /// Largest finite value; minus infinity if there is none.
    pub max: f64,
    /// Sum of the finite values; the same for any number of threads.
    pub sum: f64,
    /// Number of values that are not finite.
    pub not_finite: usize,
}

impl TransportFile {
    /// Statistics of all windows and sections. Checksums are verified where the file has them.
    ///
    /// # Errors
    /// A window whose checksum differs.
    pub fn stats(&self) -> Result<Vec<SectionStats>, MetError> {
        let mut all = Vec::new();
        for window in 0..self.header().nwindow() {
            self.verify(window)?;
            for section in self.header().sections() {
                all.push(self.section_stats(window, *section)?);
            }
        }
        Ok(all)
    }

    fn section_stats(&self, window: usize, section: Section) -> Result<SectionStats, MetError> {
        let header = self.header();
        let nk = section.shape(header.nc(), header.nlevel()).nk;
        let none =
            SectionStats { window, section, min: f64::INFINITY, max: f64::NEG_INFINITY, sum: 0.0, not_finite: 0 };
        let level = |values: &mut Vec<f64>, n: usize| -> Result<SectionStats, MetError> {
            values.clear();
            self.extend_level(window, section, n / nk, n % nk, values)?;
            Ok(values.iter().fold(none, |mut s, v| {
                if v.is_finite() {
                    s.min = s.min.min(*v);
                    s.max = s.max.max(*v);
                    s.sum += v;
                } else {
                    s.not_finite += 1;
                }
                s
            }))
        };
        let levels: Vec<SectionStats> =
            (0..6 * nk).into_par_iter().map_init(Vec::new, level).collect::<Result<_, _>>()?;
        Ok(levels.iter().fold(none, |a, b| SectionStats {
            min: a.min.min(b.min),
            max: a.max.max(b.max),
            sum: a.sum + b.sum,
            not_finite: a.not_finite + b.not_finite,
            ..a
        }))
    }
}

impl std::fmt::Display for SectionStats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let SectionStats { window, section, min, max, sum, not_finite } = self;
        write!(f, "window {:>4}  {:<16} min {min:.6e}  max {max:.6e}  sum {sum:.12e}", window + 1, section.name())?;
        write!(f, " {}", section.units())?;
        if *not_finite > 0 {
            write!(f, "  {not_finite} values not finite")?;
        }
        Ok(())
    }
}
