//! Whether a header is the one that was written.

use serde_json::{Map, Value};

use super::error::HeaderError;

/// Key with the checksum of the header: CRC-32C of its JSON text in which the eight digits of this very value are zeros.
pub(super) const KEY: &str = "header_crc32c";
/// The value before it is known.
pub(super) const BLANK: &str = "00000000";

/// Where the eight digits are.
fn digits(json: &[u8]) -> Option<usize> {
    let start = format!("\"{KEY}\":\"");
    let place = json.windows(start.len()).position(|bytes| bytes == start.as_bytes())? + start.len();
    (json.get(place + BLANK.len()) == Some(&b'"')).then_some(place)
}

fn checksum(json: &[u8], place: usize) -> String {
    let (before, after) = (&json[..place], &json[place + BLANK.len()..]);
    let sum = [BLANK.as_bytes(), after].iter().fold(crc32c::crc32c(before), |sum, b| crc32c::crc32c_append(sum, b));
    format!("{sum:08x}")
}

/// The checksum of a header whose JSON text holds [`BLANK`].
pub(super) fn of(json: &[u8]) -> Option<String> {
    digits(json).map(|place| checksum(json, place))
}

/// Compares a header with its checksum, if it has one.
pub(super) fn check(json: &[u8], map: &Map<String, Value>) -> Result<(), HeaderError> {
    let Some(Value::String(stated)) = map.get(KEY) else { return Ok(()) };
    let found = digits(json).map_or_else(|| "of another form".to_owned(), |place| checksum(json, place));
    if found == *stated { Ok(()) } else { Err(HeaderError::Altered { stated: stated.clone(), found }) }
}
