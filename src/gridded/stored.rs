//! What the variables of a NetCDF file say about themselves.

use netcdf::AttributeValue;
use netcdf::types::{FloatType, NcVariableType};

/// Lengths of the dimensions of a variable.
pub(crate) fn sizes(variable: &netcdf::Variable<'_>) -> Vec<usize> {
    variable.dimensions().iter().map(netcdf::Dimension::len).collect()
}

/// A text attribute.
pub(crate) fn text(variable: &netcdf::Variable<'_>, key: &str) -> Option<String> {
    as_text(attribute(variable, key)?)
}

/// The value of an attribute, if it is a text.
pub(super) fn as_text(value: AttributeValue) -> Option<String> {
    match value {
        AttributeValue::Str(text) => Some(text),
        AttributeValue::Strs(texts) => <[String; 1]>::try_from(texts).ok().map(|[text]| text),
        _ => None,
    }
}

/// An attribute that is a number; the error text says that it is none.
pub(crate) fn number(variable: &netcdf::Variable<'_>, key: &str) -> Result<Option<f64>, String> {
    let Some(value) = attribute(variable, key) else { return Ok(None) };
    f64::try_from(value).map(Some).map_err(|_| format!("'{key}' of '{}' is not a number", variable.name()))
}

fn attribute(variable: &netcdf::Variable<'_>, key: &str) -> Option<AttributeValue> {
    variable.attribute_value(key)?.ok()
}

/// Compares the names of the dimensions with the `expected` ones, each of which may have several spellings, in any
/// case. Lengths alone cannot tell a transposed panel.
pub(crate) fn check_dimensions(variable: &netcdf::Variable<'_>, expected: &[&[&str]]) -> Result<(), String> {
    let found: Vec<String> = variable.dimensions().iter().map(netcdf::Dimension::name).collect();
    let fits = |(name, spellings): (&String, &&[&str])| spellings.iter().any(|s| s.eq_ignore_ascii_case(name));
    if found.len() == expected.len() && found.iter().zip(expected).all(fits) {
        return Ok(());
    }
    let expected: Vec<String> = expected.iter().map(|spellings| spellings.join(" or ")).collect();
    let (name, found, expected) = (variable.name(), found.join(", "), expected.join(", "));
    Err(format!("'{name}' has the dimensions ({found}), expected ({expected}) in this order"))
}

/// How stored numbers stand for values: `_FillValue` and `missing_value` are stored numbers, all others are values once
/// multiplied by `scale_factor` and added to `add_offset` (NetCDF users guide, attribute conventions).
pub(crate) struct Packing {
    missing: Vec<f64>,
    scale_and_offset: Option<(f64, f64)>,
}

impl Packing {
    /// The packing of a variable; the error text says which attribute is no number.
    pub(crate) fn of(variable: &netcdf::Variable<'_>) -> Result<Self, String> {
        let number = |key| number(variable, key);
        let mut missing: Vec<f64> = [number("_FillValue")?, number("missing_value")?].into_iter().flatten().collect();
        // A value such as -999.9 may be stated in more digits than the variable keeps.
        if variable.vartype() == NcVariableType::Float(FloatType::F32) {
            missing.iter_mut().for_each(|value| *value = f64::from(*value as f32));
        }
        let scale_and_offset = match (number("scale_factor")?, number("add_offset")?) {
            (None, None) => None,
            (scale, offset) => Some((scale.unwrap_or(1.0), offset.unwrap_or(0.0))),
        };
        Ok(Self { missing, scale_and_offset })
    }

    /// Turns stored numbers into values, up to the first one that is missing or not finite: its index is the error.
    pub(crate) fn unpack(&self, stored: &mut [f64]) -> Result<(), usize> {
        for (n, number) in stored.iter_mut().enumerate() {
            *number = self.value(*number).ok_or(n)?;
        }
        Ok(())
    }

    /// Turns stored numbers into values, those that are missing or not finite into NaN.
    pub(crate) fn unpack_all(&self, stored: &mut [f64]) {
        stored.iter_mut().for_each(|number| *number = self.value(*number).unwrap_or(f64::NAN));
    }

    /// The value of a stored number, unless it is missing or not finite.
    fn value(&self, stored: f64) -> Option<f64> {
        let value = self.scale_and_offset.map_or(stored, |(scale, offset)| stored * scale + offset);
        (!self.missing.contains(&stored) && value.is_finite()).then_some(value)
    }
}
