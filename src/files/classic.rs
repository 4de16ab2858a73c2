//! How long a NetCDF file of the classic formats must be, by its header.
//!
//! The library reads zeros where such a file ends too early, so its length is compared with the header first. Format: NetCDF
//! file format specifications, "The NetCDF Classic Format Specification", with the 64-bit offsets of CDF-2 and the 64-bit
//! sizes of CDF-5.

use std::io::{ErrorKind, Read};

/// Tags of the lists in a header.
const DIMENSIONS: u32 = 10;
const VARIABLES: u32 = 11;
const ATTRIBUTES: u32 = 12;

/// Longest name that is believed; the library takes 256 bytes.
const LONGEST_NAME: u64 = 1 << 16;

/// What the data of a file need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needed {
    /// Bytes up to the end of the last value; padding after it does not count.
    pub bytes: u64,
    /// The variable that ends there; `None` without data.
    pub variable: Option<String>,
}

/// Why a header tells no length.
#[derive(Debug)]
pub(super) enum HeaderFault {
    /// The file ends within its header.
    Short,
    /// No header looks like this.
    Damaged(String),
    /// The number of records was never written.
    Streamed,
    /// The file cannot be read.
    Io(std::io::Error),
}

/// Sizes of the numbers of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Four,
    Eight,
}

struct Header<R> {
    from: R,
    /// Counts, and offsets into the file.
    counts: Width,
    offsets: Width,
}

/// A variable as its header describes it.
struct Variable {
    name: String,
    /// Bytes of its values: all, or those of one record.
    size: u64,
    begin: u64,
    of_records: bool,
}

/// Reads a header from its first byte on.
pub(super) fn needed(from: impl Read) -> Result<Needed, HeaderFault> {
    let mut header = Header { from, counts: Width::Four, offsets: Width::Four };
    match header.bytes()? {
        [b'C', b'D', b'F', 1] => {}
        [b'C', b'D', b'F', 2] => header.offsets = Width::Eight,
        [b'C', b'D', b'F', 5] => (header.counts, header.offsets) = (Width::Eight, Width::Eight),
        [_, _, _, version] => {
            return Err(HeaderFault::Damaged(format!("version {version} of the format is not known")));
        }
    }
    let records = header.number(header.counts)?;
    let streamed = match header.counts {
        Width::Four => u64::from(u32::MAX),
        Width::Eight => u64::MAX,
    };
    let mut dimensions = Vec::new();
    for _ in 0..header.list(DIMENSIONS, "dimensions")? {
        header.name()?;
        dimensions.push(header.number(header.counts)?);
    }
    if records == streamed && dimensions.contains(&0) {
        return Err(HeaderFault::Streamed);
    }
    header.skip_attributes()?;
    let mut variables = Vec::new();
    for _ in 0..header.list(VARIABLES, "variables")? {
        variables.push(header.variable(&dimensions)?);
    }
    last_byte(&variables, records)
}

/// End of the variable that ends last.
fn last_byte(variables: &[Variable], records: u64) -> Result<Needed, HeaderFault> {
    let too_large = |name: &str| HeaderFault::Damaged(format!("'{name}' is larger than any file"));
    // The only variable with records is not padded between them.
    let mut of_records = variables.iter().filter(|v| v.of_records);
    let record = match (of_records.next(), of_records.next()) {
        (None, _) => 0,
        (Some(only), None) => only.size,
        (Some(_), Some(_)) => variables.iter().filter(|v| v.of_records).try_fold(0u64, |sum, v| {
            padded(v.size).and_then(|size| sum.checked_add(size)).ok_or_else(|| too_large(&v.name))
        })?,
    };
    let mut needed = Needed::default();
    for variable in variables.iter().filter(|v| v.size > 0 && !(v.of_records && records == 0)) {
        let before = if variable.of_records { (records - 1).checked_mul(record) } else { Some(0) };
        let end = before
            .and_then(|before| variable.begin.checked_add(before)?.checked_add(variable.size))
            .ok_or_else(|| too_large(&variable.name))?;
        if end > needed.bytes {
            needed = Needed { bytes: end, variable: Some(variable.name.clone()) };
        }
    }
    Ok(needed)
}

/// A size filled up to a multiple of four.
fn padded(size: u64) -> Option<u64> {
    size.checked_next_multiple_of(4)
}

impl<R: Read> Header<R> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], HeaderFault> {
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => HeaderFault::Short,
            _ => HeaderFault::Io(error),
        })?;
        Ok(bytes)
    }

    fn number(&mut self, width: Width) -> Result<u64, HeaderFault> {
        match width {
            Width::Four => self.bytes().map(|b| u64::from(u32::from_be_bytes(b))),
            Width::Eight => self.bytes().map(u64::from_be_bytes),
        }
    }

    fn skip(&mut self, bytes: u64) -> Result<(), HeaderFault> {
        let skipped =
            std::io::copy(&mut (&mut self.from).take(bytes), &mut std::io::sink()).map_err(HeaderFault::Io)?;
        if skipped == bytes { Ok(()) } else { Err(HeaderFault::Short) }
    }

    /// The number of entries of a list of this kind.
    fn list(&mut self, tag: u32, what: &str) -> Result<u64, HeaderFault> {
        let (found, count) = (u32::from_be_bytes(self.bytes()?), self.number(self.counts)?);
        if found == tag || (found == 0 && count == 0) {
            return Ok(count);
        }
        Err(HeaderFault::Damaged(format!("the list of {what} begins with {found} instead of {tag}")))
    }

    fn name(&mut self) -> Result<String, HeaderFault> {
        let length = self.number(self.counts)?;
        if length > LONGEST_NAME {
            return Err(HeaderFault::Damaged(format!("a name has {length} bytes")));
        }
        let mut bytes = Vec::new();
        (&mut self.from).take(length).read_to_end(&mut bytes).map_err(HeaderFault::Io)?;
        if (bytes.len() as u64) < length {
            return Err(HeaderFault::Short);
        }
        self.skip(length.next_multiple_of(4) - length)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Bytes of a value of the next type.
    fn type_size(&mut self) -> Result<u64, HeaderFault> {
        match u32::from_be_bytes(self.bytes()?) {
            1 | 2 | 7 => Ok(1),
            3 | 8 => Ok(2),
            4 | 5 | 9 => Ok(4),
            6 | 10 | 11 => Ok(8),
            other => Err(HeaderFault::Damaged(format!("type {other} is not known"))),
        }
    }

    fn skip_attributes(&mut self) -> Result<(), HeaderFault> {
        for _ in 0..self.list(ATTRIBUTES, "attributes")? {
            let name = self.name()?;
            let size = self.type_size()?;
            let bytes = self.number(self.counts)?.checked_mul(size).and_then(padded);
            self.skip(
                bytes.ok_or_else(|| HeaderFault::Damaged(format!("attribute '{name}' is larger than any file")))?,
            )?;
        }
        Ok(())
    }

    fn variable(&mut self, dimensions: &[u64]) -> Result<Variable, HeaderFault> {
        let name = self.name()?;
        let damaged = |problem: &str| HeaderFault::Damaged(format!("'{name}' {problem}"));
        let (mut of_records, mut values) = (false, Some(1u64));
        for place in 0..self.number(self.counts)? {
            let id = self.number(self.counts)?;
            let length = usize::try_from(id).ok().and_then(|id| dimensions.get(id));
            match length.ok_or_else(|| damaged("has a dimension that is not there"))? {
                0 if place == 0 => of_records = true,
                0 => return Err(damaged("has records that are not its first dimension")),
                length => values = values.and_then(|n| n.checked_mul(*length)),
            }
        }
        self.skip_attributes()?;
        let size = self.type_size()?;
        // The stored size says nothing of variables of 4 GiB and more; that of the dimensions does.
        self.number(self.counts)?;
        let begin = self.number(self.offsets)?;
        let size = values.and_then(|n| n.checked_mul(size)).ok_or_else(|| damaged("is larger than any file"))?;
        Ok(Variable { name, size, begin, of_records })
    }
}

#[cfg(test)]
#[path = "classic_tests.rs"]
mod tests;
