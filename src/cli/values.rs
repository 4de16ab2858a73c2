//! Values shared by several subcommands.

use clap::ValueEnum;
use decomposition::TileGrid;
use jiff::Timestamp;

use crate::config::parse_utc;
use crate::grid::GeometryBundle;
use crate::met::FloatType;

/// Precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Float {
    /// 32-bit floats
    #[value(name = "Float32", alias = "float32")]
    Float32,
    /// 64-bit floats
    #[value(name = "Float64", alias = "float64")]
    Float64,
}

impl From<Float> for FloatType {
    fn from(float: Float) -> Self {
        match float {
            Float::Float32 => FloatType::Float32,
            Float::Float64 => FloatType::Float64,
        }
    }
}

/// Geometry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Convention {
    /// Panels as in GEOS files, turned by -10 degrees
    #[value(name = "geos_native")]
    GeosNative,
    /// Equiangular panels, four equatorial ones first
    #[value(name = "gnomonic")]
    Gnomonic,
}

impl From<Convention> for GeometryBundle {
    fn from(convention: Convention) -> Self {
        match convention {
            Convention::GeosNative => GeometryBundle::GeosNative,
            Convention::Gnomonic => GeometryBundle::Gnomonic,
        }
    }
}

/// A UTC time.
pub(super) fn utc(text: &str) -> Result<Timestamp, String> {
    parse_utc(text).ok_or_else(|| "a UTC time looks like 2021-12-01T00:00:00Z or 2021-12-01".into())
}

/// Tiles per panel, `px,py`.
pub(super) fn tiles(text: &str) -> Result<TileGrid, String> {
    let counts: Option<Vec<usize>> = text.split(',').map(|n| n.trim().parse().ok().filter(|n| *n > 0)).collect();
    match counts.as_deref() {
        Some(&[px, py]) => Ok(TileGrid { px, py }),
        _ => Err("tiles per panel are two numbers, e.g. 2,2".into()),
    }
}

/// Length of a window in s.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|s: &f64| s.is_finite() && *s > 0.0).ok_or_else(|| "must be a number > 0".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_parsed_or_refused() {
        assert_eq!(tiles("2,3"), Ok(TileGrid { px: 2, py: 3 }));
        assert!(["2", "2,0", "2,2,2", "a,b", ""].iter().all(|t| tiles(t).is_err()));
        assert_eq!(seconds("1800"), Ok(1800.0));
        assert!(["0", "-1", "nan", "x"].iter().all(|t| seconds(t).is_err()));
        assert_eq!(utc("2021-12-01").unwrap().to_string(), "2021-12-01T00:00:00Z");
        assert!(utc("yesterday").is_err());
    }
}
