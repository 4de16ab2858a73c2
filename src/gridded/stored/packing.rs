//! How stored numbers stand for values (NetCDF users guide, appendix A "Attribute Conventions"; CF conventions 1.8,
//! sections 2.5.1 and 8.1).

use netcdf::Variable;
use netcdf::types::{FloatType, IntType, NcVariableType};

use super::{Numbers, numbers, text};

/// What a stored number is instead of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// `_FillValue`, `missing_value` or not a number.
    Missing,
    /// Beyond these limits (`valid_range`, `valid_min`, `valid_max`).
    Invalid([f64; 2]),
    /// Infinite, or so large once unpacked.
    Infinite,
}

/// A stored number that is no value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unusable {
    /// Index into the numbers that were read.
    pub(crate) at: usize,
    stored: f64,
    fault: Fault,
}

impl Unusable {
    /// What is wrong, with the name of the variable and the place of the number.
    pub(crate) fn problem(&self, variable: &str, place: &str) -> String {
        let stored = self.stored;
        match self.fault {
            Fault::Missing => format!("'{variable}' has no value at {place}: {stored}"),
            Fault::Invalid([least, most]) => {
                format!("'{variable}' has no value at {place}: {stored} is outside its valid range {least} to {most}")
            }
            Fault::Infinite if stored.is_infinite() => format!("'{variable}' is {stored} at {place}"),
            Fault::Infinite => format!("'{variable}' is infinite at {place}: {stored} overflows when it is unpacked"),
        }
    }

    /// What to do about it, for a field that needs a value everywhere.
    pub(crate) fn help(&self) -> &'static str {
        match self.fault {
            Fault::Missing => "give every cell a value, 0 where there is nothing",
            Fault::Invalid(_) => "give every cell a valid value, or mend `valid_range`, `valid_min` and `valid_max`",
            Fault::Infinite => INFINITE,
        }
    }
}

/// What to do about infinite numbers.
const INFINITE: &str =
    "mend the file: only `_FillValue`, `missing_value`, NaN and what is outside a valid range count as missing";

/// What to do about attributes that contradict themselves.
pub(crate) const ATTRIBUTES: &str = "mend the attribute, or get the file again";

/// How stored numbers stand for values.
///
/// - `_Unsigned` turns signed integers into unsigned ones (and the other way round); the other attributes follow.
/// - `_FillValue`, `missing_value` and NaN are missing; so is what lies outside `valid_range`, `valid_min`, `valid_max`.
///   Those are stored numbers, or values if the variable is packed and they are of the wider type of values.
/// - All others are values once multiplied by `scale_factor` and added to `add_offset`.
/// - What is infinite is an error of its own.
#[derive(Clone, Debug)]
pub(crate) struct Packing {
    missing: Vec<f64>,
    /// Limits of stored numbers, and of values.
    stored_limits: [f64; 2],
    value_limits: [f64; 2],
    scale_and_offset: Option<(f64, f64)>,
    turn: Turn,
}

/// What is done to integers whose sign is not that of their type.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turn {
    None,
    /// Negative numbers stand for those larger by this.
    Unsigned(f64),
    /// Numbers from half of this on stand for those smaller by this.
    Signed(f64),
}

impl Turn {
    fn of(variable: &Variable<'_>) -> Result<Self, String> {
        let Some(given) = text(variable, "_Unsigned") else { return Ok(Self::None) };
        let unsigned = match given.trim().to_ascii_lowercase().as_str() {
            "true" => true,
            "false" => false,
            _ => {
                return Err(format!(
                    "'_Unsigned' of '{}' is \"{given}\", expected \"true\" or \"false\"",
                    variable.name()
                ));
            }
        };
        let span = |bits: i32| 2f64.powi(bits);
        Ok(match (variable.vartype(), unsigned) {
            (NcVariableType::Int(IntType::I8), true) => Self::Unsigned(span(8)),
            (NcVariableType::Int(IntType::I16), true) => Self::Unsigned(span(16)),
            (NcVariableType::Int(IntType::I32), true) => Self::Unsigned(span(32)),
            (NcVariableType::Int(IntType::I64), true) => Self::Unsigned(span(64)),
            (NcVariableType::Int(IntType::U8), false) => Self::Signed(span(8)),
            (NcVariableType::Int(IntType::U16), false) => Self::Signed(span(16)),
            (NcVariableType::Int(IntType::U32), false) => Self::Signed(span(32)),
            (NcVariableType::Int(IntType::U64), false) => Self::Signed(span(64)),
            (NcVariableType::Int(_), _) => Self::None,
            (_, true) => {
                return Err(format!("'_Unsigned' of '{}' is \"true\", but it holds no integers", variable.name()));
            }
            (_, false) => Self::None,
        })
    }

    fn turned(self, number: f64) -> f64 {
        match self {
            Self::Unsigned(span) if number < 0.0 => number + span,
            Self::Signed(span) if number >= 0.5 * span => number - span,
            _ => number,
        }
    }
}

/// How much a type holds, in bytes, floating point beyond integers.
fn width(kind: &NcVariableType) -> u32 {
    match kind {
        NcVariableType::Int(IntType::I8 | IntType::U8) => 1,
        NcVariableType::Int(IntType::I16 | IntType::U16) => 2,
        NcVariableType::Int(IntType::I32 | IntType::U32) => 4,
        NcVariableType::Int(IntType::I64 | IntType::U64) => 8,
        NcVariableType::Float(FloatType::F32) => 16,
        NcVariableType::Float(FloatType::F64) => 32,
        _ => 0,
    }
}

impl Packing {
    /// The packing of a variable; the error text says which attribute cannot be used.
    pub(crate) fn of(variable: &Variable<'_>) -> Result<Self, String> {
        let name = variable.name();
        let turn = Turn::of(variable)?;
        let kind = variable.vartype();
        // A value such as -999.9 may be stated in more digits than the variable keeps.
        let kept = |number: f64| match kind {
            NcVariableType::Float(FloatType::F32) => f64::from(number as f32),
            _ => turn.turned(number),
        };
        let given = |key| numbers(variable, key);
        let one = |key| match given(key)? {
            None => Ok(None),
            Some(Numbers { kind, values }) => match values[..] {
                [value] => Ok(Some((kind, value))),
                _ => Err(format!("'{key}' of '{name}' has {} numbers, expected one", values.len())),
            },
        };
        let [fill, other] = [given("_FillValue")?, given("missing_value")?];
        let missing = fill.into_iter().chain(other).flat_map(|n| n.values).map(kept).collect();
        let (scale, offset) = (one("scale_factor")?, one("add_offset")?);
        let mut packed_width = None;
        for (key, attribute) in [("scale_factor", &scale), ("add_offset", &offset)] {
            let Some((kind, value)) = attribute else { continue };
            if !value.is_finite() || (key == "scale_factor" && *value == 0.0) {
                return Err(format!("'{key}' of '{name}' is {value}: no value can be made of stored numbers"));
            }
            packed_width = packed_width.max(Some(width(kind)));
        }
        let number = |attribute: Option<(_, f64)>| attribute.map(|(_, value)| value);
        let scale_and_offset = packed_width.map(|_| (number(scale).unwrap_or(1.0), number(offset).unwrap_or(0.0)));

        let mut packing = Self {
            missing,
            stored_limits: [f64::NEG_INFINITY, f64::INFINITY],
            value_limits: [f64::NEG_INFINITY, f64::INFINITY],
            scale_and_offset,
            turn,
        };
        // Of the type of unpacked values, or a floating-point number for packed integers (users guide, `valid_range`).
        let is_float = |kind: &NcVariableType| matches!(kind, NcVariableType::Float(_));
        let of_values = |limit: &NcVariableType| {
            packed_width.is_some_and(|packed| {
                width(limit) > width(&kind) && (width(limit) == packed || is_float(limit) && !is_float(&kind))
            })
        };
        let mut limit = |key: &str, kind: &NcVariableType, end: usize, value: f64| {
            if value.is_nan() {
                return Err(format!("'{key}' of '{name}' is {value}"));
            }
            let limits = if of_values(kind) { &mut packing.value_limits } else { &mut packing.stored_limits };
            let value = if of_values(kind) { value } else { kept(value) };
            limits[end] = if end == 0 { limits[0].max(value) } else { limits[1].min(value) };
            Ok(())
        };
        if let Some(Numbers { kind, values }) = given("valid_range")? {
            let [least, most] = values[..] else {
                return Err(format!("'valid_range' of '{name}' has {} numbers, expected two", values.len()));
            };
            limit("valid_range", &kind, 0, least)?;
            limit("valid_range", &kind, 1, most)?;
        }
        for (end, key) in ["valid_min", "valid_max"].into_iter().enumerate() {
            if let Some((kind, value)) = one(key)? {
                limit(key, &kind, end, value)?;
            }
        }
        for [least, most] in [packing.stored_limits, packing.value_limits] {
            if least > most {
                return Err(format!("the valid range of '{name}' runs from {least} to {most}: no number is valid"));
            }
        }
        // What is unpacked may miss a limit by rounding of half a step.
        if let (Some((scale, _)), true) = (scale_and_offset, packed_width.is_some() && !is_float(&kind)) {
            packing.value_limits[0] -= 0.5 * scale.abs();
            packing.value_limits[1] += 0.5 * scale.abs();
        }
        Ok(packing)
    }

    /// Turns stored numbers into values, up to the first one that is none.
    pub(crate) fn unpack(&self, stored: &mut [f64]) -> Result<(), Unusable> {
        for (at, number) in stored.iter_mut().enumerate() {
            *number = self.value(*number).map_err(|fault| Unusable { at, stored: *number, fault })?;
        }
        Ok(())
    }

    /// Turns stored numbers into values, those that are missing into NaN, up to the first one that is infinite.
    pub(crate) fn unpack_all(&self, stored: &mut [f64]) -> Result<(), Unusable> {
        for (at, number) in stored.iter_mut().enumerate() {
            *number = match self.value(*number) {
                Ok(value) => value,
                Err(Fault::Missing | Fault::Invalid(_)) => f64::NAN,
                Err(fault) => return Err(Unusable { at, stored: *number, fault }),
            };
        }
        Ok(())
    }

    fn value(&self, stored: f64) -> Result<f64, Fault> {
        let stored = self.turn.turned(stored);
        if stored.is_nan() || self.missing.contains(&stored) {
            return Err(Fault::Missing);
        }
        let value = self.scale_and_offset.map_or(stored, |(scale, offset)| stored * scale + offset);
        if !value.is_finite() {
            return Err(Fault::Infinite);
        }
        for (number, [least, most]) in [(stored, self.stored_limits), (value, self.value_limits)] {
            if !(least..=most).contains(&number) {
                return Err(Fault::Invalid([least, most]));
            }
        }
        Ok(value)
    }
}

#[cfg(test)]
#[path = "packing_tests.rs"]
mod tests;
