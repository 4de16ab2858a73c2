//! What is believed of a stored flux.
//!
//! Bounds lie far above the largest value of any cell and far below the usual slips of units and marks of what is
//! missing. The largest values, kg m⁻² s⁻¹:
//!
//! - Carbon dioxide 1e-3: a power station of 1000 kg s⁻¹ (32 Mt a⁻¹) in a cell of 1 km²; a fire that burns 10 kg of carbon
//!   per m² within a day has 4e-4, photosynthesis 3e-6. No other species that is carried is emitted more densely.
//! - SF6 3e-7: all that the world emits (9 kt a⁻¹, the growth observed by NOAA) from 1 km².
//! - Radon-222 2e-18: uranium tailings of 10 Bq m⁻² s⁻¹ (10 / λ atoms m⁻² s⁻¹, λ = 2.1e-6 s⁻¹); soils have 4e-21.

use super::error::{Refusal, help};
use super::species::is_molar_mass_of;

/// Marks of missing values that archives use, as they are stored in double precision: large ones occur with both signs.
const NEGATIVE_MARKS: [f64; 5] = [-999.0, -999.9, -9999.0, -9999.9, -99_999.0];
/// The last one is the default fill value of the NetCDF library.
const LARGE_MARKS: [f64; 6] = [1e15, 1e20, 1e30, 1e35, 1e36, 9.969_209_968_386_869e36];

/// Largest flux that is believed of a species of `molar_mass` kg mol⁻¹, kg m⁻² s⁻¹.
pub(super) fn largest_flux(molar_mass: f64) -> f64 {
    if is_molar_mass_of("sf6", molar_mass) {
        1e-5
    } else if is_molar_mass_of("rn222", molar_mass) {
        1e-15
    } else {
        1e-2
    }
}

/// Refuses the `value` of a variable `name`, as the file has it, if it marks what is missing, or if the `flux` that it
/// stands for, kg m⁻² s⁻¹, is beyond `largest`.
pub(super) fn check(
    name: &str,
    value: f64,
    flux: f64,
    largest: f64,
    place: impl FnOnce() -> String,
) -> Result<(), Refusal> {
    if is_mark(value) {
        let problem = format!("'{name}' is {} at {}, which marks a missing value", number(value), place());
        return Err(Refusal::with(help::FILL)(problem));
    }
    if flux.abs() > largest {
        let problem = format!(
            "'{name}' is {} at {}, that is {flux:.3e} kg m-2 s-1; no flux of this species is beyond {largest:e}",
            number(value),
            place()
        );
        return Err(Refusal::with(help::SIZE)(problem));
    }
    Ok(())
}

/// Whether a value is one of the marks, in single or double precision.
fn is_mark(value: f64) -> bool {
    let is = |mark: f64| value == mark || value == f64::from(mark as f32);
    NEGATIVE_MARKS.into_iter().any(is) || LARGE_MARKS.into_iter().any(|mark| is(mark) || is(-mark))
}

fn number(value: f64) -> String {
    if (1e-3..1e6).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_known_in_both_precisions_and_near_values_are_none() {
        for mark in NEGATIVE_MARKS.into_iter().chain(LARGE_MARKS) {
            for value in [mark, f64::from(mark as f32)] {
                assert!(is_mark(value), "{value}");
                assert!(!is_mark(value * 1.001), "{value}");
            }
            assert_eq!(is_mark(-mark), mark > 0.0, "{mark}");
        }
        assert!(![0.0, -1.0, 999.0, -998.0, 1e10, 9999.0].into_iter().any(is_mark));
    }

    #[test]
    fn bounds_leave_room_above_the_largest_cells_and_stop_slips_of_units() {
        // What the head of this file names, and a thousand times as much of the densest ones.
        for (mass, largest) in [(44.0095e-3, 1e-3), (28.01e-3, 4e-4), (146.055e-3, 3e-7), (222e-3, 2e-18)] {
            let bound = largest_flux(mass);
            assert!(check("f", largest, largest, bound, String::new).is_ok());
            assert!(bound / largest >= 10.0);
            let refused = check("f", -1e3 * largest, -1e3 * largest, bound, || "here".into()).is_err();
            assert_eq!(refused, bound < 1e3 * largest);
            assert!(check("f", 1.0, 1.0, bound, || "here".into()).is_err());
        }
    }
}
