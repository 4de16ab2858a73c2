//! What the variables of a NetCDF file say about themselves.

mod packing;

pub(crate) use packing::{ATTRIBUTES, Packing, Unusable};

use netcdf::AttributeValue;
use netcdf::types::{FloatType, IntType, NcVariableType};

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

/// All numbers of an attribute; the error text says that they are none.
fn numbers(variable: &netcdf::Variable<'_>, key: &str) -> Result<Option<Numbers>, String> {
    let Some(value) = attribute(variable, key) else { return Ok(None) };
    let (kind, values) =
        all_numbers(value).ok_or_else(|| format!("'{key}' of '{}' is not a number", variable.name()))?;
    Ok(Some(Numbers { kind, values }))
}

/// The values of an attribute, and their type.
struct Numbers {
    kind: NcVariableType,
    values: Vec<f64>,
}

fn all_numbers(value: AttributeValue) -> Option<(NcVariableType, Vec<f64>)> {
    use AttributeValue as A;
    use NcVariableType::{Float, Int};
    fn each<T: Copy>(values: &[T], as_f64: impl Fn(T) -> f64) -> Vec<f64> {
        values.iter().map(|value| as_f64(*value)).collect()
    }
    Some(match value {
        A::Schar(x) => (Int(IntType::I8), vec![x.into()]),
        A::Schars(x) => (Int(IntType::I8), each(&x, f64::from)),
        A::Uchar(x) => (Int(IntType::U8), vec![x.into()]),
        A::Uchars(x) => (Int(IntType::U8), each(&x, f64::from)),
        A::Short(x) => (Int(IntType::I16), vec![x.into()]),
        A::Shorts(x) => (Int(IntType::I16), each(&x, f64::from)),
        A::Ushort(x) => (Int(IntType::U16), vec![x.into()]),
        A::Ushorts(x) => (Int(IntType::U16), each(&x, f64::from)),
        A::Int(x) => (Int(IntType::I32), vec![x.into()]),
        A::Ints(x) => (Int(IntType::I32), each(&x, f64::from)),
        A::Uint(x) => (Int(IntType::U32), vec![x.into()]),
        A::Uints(x) => (Int(IntType::U32), each(&x, f64::from)),
        A::Longlong(x) => (Int(IntType::I64), vec![x as f64]),
        A::Longlongs(x) => (Int(IntType::I64), each(&x, |x| x as f64)),
        A::Ulonglong(x) => (Int(IntType::U64), vec![x as f64]),
        A::Ulonglongs(x) => (Int(IntType::U64), each(&x, |x| x as f64)),
        A::Float(x) => (Float(FloatType::F32), vec![x.into()]),
        A::Floats(x) => (Float(FloatType::F32), each(&x, f64::from)),
        A::Double(x) => (Float(FloatType::F64), vec![x]),
        A::Doubles(x) => (Float(FloatType::F64), x),
        A::Str(_) | A::Strs(_) => return None,
    })
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
