//! Files that follow one another in a run must describe the same grid and carry the same sections.

use std::sync::Arc;

use crate::met::error::{MetError, Violation};
use crate::met::reader::TransportFile;
use crate::met::section::Section;

/// Checks that each file can follow the one before it: grid, geometry, levels, mass basis, radius, substep contract and
/// section list alike, and contiguous start times where stated.
///
/// # Errors
/// The first pair that does not fit, with all keys that differ.
pub fn check_chain(files: &[Arc<TransportFile>]) -> Result<(), MetError> {
    files.windows(2).try_for_each(|pair| check_pair(&pair[0], &pair[1]))
}

pub(super) fn check_pair(previous: &TransportFile, file: &TransportFile) -> Result<(), MetError> {
    let (a, b) = (previous.header(), file.header());
    let mut problems = Vec::new();
    let mut differ = |key: &str, alike: bool, before: &dyn std::fmt::Display, now: &dyn std::fmt::Display| {
        if !alike {
            problems.push(Violation { key: key.to_string(), message: format!("is {now}, was {before}") });
        }
    };
    differ("Nc", a.nc() == b.nc(), &a.nc(), &b.nc());
    differ("nlevel", a.nlevel() == b.nlevel(), &a.nlevel(), &b.nlevel());
    let (ga, gb) = (a.geometry().panel_convention, b.geometry().panel_convention);
    differ("panel_convention", ga == gb, &ga, &gb);
    let (oa, ob) = (a.longitude_offset_deg(), b.longitude_offset_deg());
    differ("longitude_offset_deg", oa == ob, &oa, &ob);
    differ("planet_radius_m", a.radius_m() == b.radius_m(), &a.radius_m(), &b.radius_m());
    differ("mass_basis", a.mass_basis() == b.mass_basis(), &a.mass_basis(), &b.mass_basis());
    let contract = |declared: bool| if declared { "binary_schedule" } else { "absent" };
    let (ca, cb) = (a.has_binary_schedule(), b.has_binary_schedule());
    differ("runtime_substep_contract", ca == cb, &contract(ca), &contract(cb));
    for (key, x, y) in [("A_ifc", a.a_ifc(), b.a_ifc()), ("B_ifc", a.b_ifc(), b.b_ifc())] {
        if let Some(n) = x.iter().zip(y).position(|(x, y)| x != y) {
            let at = |v: f64| format!("{v} at interface {}", n + 1);
            differ(key, false, &at(x[n]), &at(y[n]));
        }
    }
    for section in Section::ALL {
        let word = |has: bool| format!("{} `{section}`", if has { "with" } else { "without" });
        differ("payload_sections", a.has(section) == b.has(section), &word(a.has(section)), &word(b.has(section)));
    }
    if let (Some(start), Some(found)) = (a.start_time_utc(), b.start_time_utc()) {
        // To the millisecond, so that window lengths need not be exact in binary.
        let length = (a.nwindow() as f64 * a.dt_met_seconds() * 1e3).round();
        let gap = found.as_millisecond().saturating_sub(start.as_millisecond());
        if gap as f64 != length {
            let message = format!("is {found}, but the file before starts at {start} and covers {} s", length / 1e3);
            problems.push(Violation { key: "start_time_utc".to_string(), message });
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(MetError::Chain { path: file.path().to_path_buf(), previous: previous.path().to_path_buf(), problems })
}
