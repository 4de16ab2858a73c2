//! What can be wrong with a grid.

use thiserror::Error;

/// Why a grid, a vertical coordinate or a location was refused.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum GridError {
    /// The cell count is outside 1..=[`CubedSphere::MAX_NC`](super::CubedSphere::MAX_NC).
    #[error("Nc = {nc} cells per panel edge is outside 1..={max}")]
    CellCount {
        /// Given value.
        nc: usize,
        /// Largest accepted value.
        max: usize,
    },
    /// The radius is not a positive finite number.
    #[error("planet radius {radius_m} m is not a positive finite number")]
    Radius {
        /// Given value in m.
        radius_m: f64,
    },
    /// The longitude offset is not finite.
    #[error("longitude offset {offset_deg} deg is not finite")]
    Offset {
        /// Given value in degrees.
        offset_deg: f64,
    },
    /// The four geometry tags do not form a known bundle.
    #[error("{key} = \"{found}\" does not fit panel_convention \"{convention}\" (expected \"{expected}\")")]
    Tag {
        /// Header key at fault.
        key: &'static str,
        /// Its value.
        found: String,
        /// Convention the other tags are measured against.
        convention: &'static str,
        /// The only legal value.
        expected: &'static str,
    },
    /// The panel convention is unknown.
    #[error("panel_convention = \"{found}\" is neither \"gnomonic\" nor \"geos_native\"")]
    UnknownConvention {
        /// Given value.
        found: String,
    },
    /// A longitude or latitude cannot be located.
    #[error("no cell at longitude {lon_deg} deg, latitude {lat_deg} deg: need |lat| <= 90 and |lon| <= 720")]
    Location {
        /// Longitude in degrees.
        lon_deg: f64,
        /// Latitude in degrees.
        lat_deg: f64,
    },
    /// The two coefficient lists differ in length or are too short.
    #[error("hybrid coefficients: A has {a} and B has {b} interfaces; both need the same number, at least 2")]
    HybridLength {
        /// Entries of A.
        a: usize,
        /// Entries of B.
        b: usize,
    },
    /// A coefficient is not finite.
    #[error("hybrid coefficients at interface {interface}: A = {a}, B = {b} must be finite")]
    HybridNotFinite {
        /// Interface counted from 1 at the model top.
        interface: usize,
        /// A in Pa.
        a: f64,
        /// B.
        b: f64,
    },
    /// Pressure does not grow downwards at the reference surface pressure, or is negative at the top.
    #[error(
        "hybrid coefficients: pressure at interface {interface} is {pressure} Pa, not above {above} Pa \
         (surface pressure {surface_pressure} Pa; interfaces run from the model top down)"
    )]
    HybridOrder {
        /// Interface counted from 1 at the model top.
        interface: usize,
        /// Its pressure in Pa.
        pressure: f64,
        /// What it must exceed, in Pa.
        above: f64,
        /// Surface pressure of the test in Pa.
        surface_pressure: f64,
    },
    /// A built-in vertical set was asked for with unusable parameters.
    #[error(
        "no built-in vertical set with {levels} levels and a top of {top_pa} Pa: need 1..=1000 levels and a top in (0, 50000) Pa"
    )]
    HybridSet {
        /// Asked number of levels.
        levels: usize,
        /// Asked top pressure in Pa.
        top_pa: f64,
    },
}
