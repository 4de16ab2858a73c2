//! What sources should have added, for the mass balance of a tracer.

use super::{Decay, SourceTimes};

/// Mass (kg) that a source adds in the step of `length` seconds from `start` (s since the start of the run): the
/// model's own segments times the global totals of the slices (kg s⁻¹).
///
/// # Panics
/// If there are fewer totals than slices.
pub fn emitted(times: &SourceTimes, totals: &[f64], start: f64, length: f64) -> f64 {
    let part = |s: super::Segment| s.first_seconds * totals[s.first] + s.second_seconds * totals[s.second];
    times.segments(start, length).map(part).sum()
}

/// Burden (kg) after a window of `seconds` at whose end the tracer decays: what was there and what was emitted decay
/// alike.
pub fn decayed_burden(before: f64, emitted: f64, decay: Decay, seconds: f64) -> f64 {
    (before + emitted) * decay.survival(seconds)
}
