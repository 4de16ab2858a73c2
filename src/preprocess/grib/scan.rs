//! Where messages begin and end.

use std::ops::Range;

/// A message that does not end where it says.
#[derive(Debug, PartialEq)]
pub(super) struct Damage {
    pub(super) message: usize,
    pub(super) offset: usize,
    pub(super) problem: String,
}

/// Places of all messages in a file. What lies between them (padding, headers of bulletins) is passed over.
pub(super) fn messages(file: &[u8]) -> Result<Vec<Range<usize>>, Damage> {
    let mut found = Vec::new();
    let mut place = 0;
    while let Some(gap) = find_start(&file[place..]) {
        let offset = place + gap;
        let refuse = |problem| Damage { message: found.len() + 1, offset, problem };
        let length = length(&file[offset..]).map_err(refuse)?;
        let rest = file.len() - offset;
        if length > rest {
            return Err(refuse(format!("has {length} bytes, of which the file holds {rest}")));
        }
        if length < 16 || file[offset + length - 4..offset + length] != *b"7777" {
            return Err(refuse(format!("does not end after its {length} bytes")));
        }
        place = offset + length;
        found.push(offset..place);
    }
    Ok(found)
}

fn find_start(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|word| word == b"GRIB")
}

/// Length of the message at the start of `bytes`, as it says.
fn length(bytes: &[u8]) -> Result<usize, String> {
    let number = |at: usize, width: usize| -> Result<usize, String> {
        let word = bytes.get(at..at + width).ok_or("is cut off in its first sections")?;
        let value = word.iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        usize::try_from(value).map_err(|_| format!("states a length of {value} bytes"))
    };
    match number(7, 1)? {
        1 => {
            const LONG: usize = 0x80_0000;
            let stated = number(4, 3)?;
            if stated & LONG == 0 {
                return Ok(stated);
            }
            // ECMWF's rule for messages of 8 MiB and more: units of 120 bytes; the length of section 4 holds the excess.
            let mut section = 8;
            let flags = number(section + 7, 1)?;
            section += number(section, 3)?;
            for present in [0x80, 0x40] {
                if flags & present != 0 {
                    section += number(section, 3)?;
                }
            }
            let excess = number(section, 3)?;
            ((stated & !LONG) * 120 + 4).checked_sub(excess).ok_or_else(|| "states a length below zero".into())
        }
        2 => number(8, 8),
        edition => Err(format!("is of edition {edition}, neither 1 nor 2")),
    }
}

/// Bytes that fix the parameter of a message, equal for messages that differ in time, level and grid only. `None` where a
/// message is of a kind whose parameter depends on more.
pub(super) fn identity(message: &[u8]) -> Option<Vec<u8>> {
    let byte = |at: usize| message.get(at).copied();
    match byte(7)? {
        // Table and centre, process, parameter and kind of level, sub-centre of section 1.
        1 => [8 + 3, 8 + 4, 8 + 8, 8 + 9, 8 + 25].into_iter().map(byte).collect(),
        2 => {
            let section1 = message.get(16..)?;
            let mut section = section1;
            while section.get(4)? != &4 {
                let length = u32::from_be_bytes(section.get(..4)?.try_into().ok()?) as usize;
                section = section.get(length.max(5)..)?;
            }
            // Templates of fields at a time (0, 1) and over an interval (8, 11): what is named first is in the same place.
            let template = u16::from_be_bytes(section.get(7..9)?.try_into().ok()?);
            let statistics = match template {
                0 | 1 => 0,
                8 => *section.get(46)?,
                11 => *section.get(49)?,
                _ => return None,
            };
            let mut identity = vec![byte(6)?, template as u8, statistics];
            identity.extend(section1.get(5..11)?);
            identity.extend(section.get(9..12)?);
            identity.extend([*section.get(22)?, *section.get(28)?]);
            Some(identity)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of edition 2 that holds nothing.
    fn message(length: usize) -> Vec<u8> {
        let mut bytes = b"GRIB\0\0\0\x02".to_vec();
        bytes.extend((length as u64).to_be_bytes());
        bytes.resize(length - 4, 1);
        bytes.extend(b"7777");
        bytes
    }

    #[test]
    fn padding_between_messages_is_passed_over() {
        let mut file = vec![0; 5];
        file.extend(message(40));
        file.extend(b"\0\0GRI");
        file.extend(message(24));
        file.extend([0; 3]);
        assert_eq!(messages(&file).unwrap(), [5..45, 50..74]);
        assert!(messages(b"netCDF or so").unwrap().is_empty());
        assert!(messages(b"").unwrap().is_empty());
    }

    #[test]
    fn what_ends_early_is_refused_with_its_place() {
        let mut file = message(40);
        file.extend(&message(60)[..50]);
        let damage = messages(&file).unwrap_err();
        assert_eq!((damage.message, damage.offset), (2, 40));
        assert!(damage.problem.contains("60 bytes, of which the file holds 50"), "{}", damage.problem);
        let mut file = message(40);
        file[38] = b'8';
        assert!(messages(&file).unwrap_err().problem.contains("does not end"));
        let mut file = message(40);
        file[7] = 3;
        assert!(messages(&file).unwrap_err().problem.contains("edition 3"));
        assert!(messages(b"GRIB").unwrap_err().problem.contains("cut off"));
        assert!(messages(b"GRIB\xff\xff\xff\x01abc").unwrap_err().problem.contains("cut off"));
    }

    #[test]
    fn long_messages_of_edition_1_count_in_units_of_120_bytes() {
        // Section 1 of 28 bytes with both optional sections, section 2 of 32, section 3 of 6, excess 11.
        let mut bytes = b"GRIB\x80\x00\x64\x01".to_vec();
        let mut section = |length: usize, flags: u8| {
            let start = bytes.len();
            bytes.extend([0, 0, length as u8]);
            bytes.resize(start + length, 0);
            bytes[start + 7.min(length - 1)] = flags;
        };
        section(28, 0xC0);
        section(32, 0);
        section(6, 0);
        section(11, 0);
        assert_eq!(length(&bytes).unwrap(), 100 * 120 - 11 + 4);
    }
}
