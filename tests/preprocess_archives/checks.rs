//! What every transport file has to fulfil.

use std::path::Path;

use atmostr::met::gates::{replay_tolerance, validate_replay};
use atmostr::met::{Section, TransportFile};

/// Opens the file of a day and checks all its windows, and that the next file begins where it ends.
pub fn passes(dir: &Path, stamp: &str, next: Option<&str>) -> TransportFile {
    let open = |stamp: &str| TransportFile::open(dir.join("out").join(format!("{stamp}.bin"))).unwrap();
    let (file, next) = (open(stamp), next.map(open));
    let windows = file.header().nwindow();
    let tolerance = match replay_tolerance(file.header().float_type()) {
        t if t > 1e-8 => 1e-6,
        _ => 1e-10,
    };
    validate_replay(&file, 0..windows, tolerance, next.as_ref()).unwrap();
    for window in 0..windows {
        file.verify(window).unwrap();
    }
    if let Some(next) = next {
        let (m, dm) =
            (values(&file, windows - 1, Section::AirMass), values(&file, windows - 1, Section::AirMassTendency));
        for ((m, dm), next) in m.iter().zip(&dm).zip(values(&next, 0, Section::AirMass)) {
            assert!((m + dm - next).abs() <= tolerance * next, "{m} + {dm}, next day {next}");
        }
    }
    file
}

/// All values of a section.
pub fn values(file: &TransportFile, window: usize, section: Section) -> Vec<f64> {
    file.section_values(window, section).unwrap()
}

/// A key of the header that only tells where the file comes from.
pub fn told(file: &TransportFile, key: &str) -> serde_json::Value {
    file.header().extra_keys().find(|(name, _)| *name == key).map(|(_, value)| value.clone()).unwrap_or_default()
}
