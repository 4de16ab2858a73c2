//! NetCDF files that are read.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::classic::{HeaderFault, needed};
use super::regular_or_absent;

/// Why a file cannot be read as NetCDF. The text names no file: whoever opens one puts its path before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// There is no such file, or the system refuses it.
    #[error("cannot be read: {0}")]
    System(String),
    /// The file ends before its data.
    #[error("is truncated: {}", lengths(*.expected, *.found, .variable.as_deref()))]
    Truncated {
        /// Bytes that the data need, by the header of the file; `None` if it ends within its header.
        expected: Option<u64>,
        /// Bytes that there are.
        found: u64,
        /// The variable that reaches furthest, as far as the header tells.
        variable: Option<String>,
    },
    /// The number of records is not in the file.
    #[error("has records whose number was never written")]
    Streamed,
    /// The header contradicts itself, or the library refuses the file.
    #[error("cannot be opened as NetCDF: {0}")]
    Damaged(String),
    /// The first bytes are not those of a NetCDF file.
    #[error("cannot be opened as NetCDF: it begins neither as a classic file (CDF) nor as HDF5")]
    Other,
}

fn lengths(expected: Option<u64>, found: u64, variable: Option<&str>) -> String {
    match (expected, variable) {
        (Some(expected), Some(name)) => format!("'{name}' ends at byte {expected}, the file has {found} bytes"),
        (Some(expected), None) => format!("its header states {expected} bytes, the file has {found} bytes"),
        (None, _) => format!("the file has {found} bytes and ends within its header"),
    }
}

impl OpenError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::System(_) => "name a file that is there and can be read",
            Self::Truncated { .. } => "get the file again, or let the program that writes it finish",
            Self::Streamed => "let the program that writes the file finish, or get it again",
            Self::Damaged(_) => "the file is truncated, damaged or not NetCDF; get it again",
            Self::Other => "give a NetCDF file; if this should be one, get it again",
        }
    }
}

impl From<std::io::Error> for OpenError {
    fn from(error: std::io::Error) -> Self {
        Self::System(error.to_string())
    }
}

/// Opens a NetCDF file of any format for reading.
///
/// Files of the classic formats (CDF-1, CDF-2, CDF-5) are as long as their headers say: the library would read zeros where
/// they end too early.
///
/// # Errors
/// [`OpenError`] for a file that is absent, truncated, damaged or none of NetCDF.
pub fn open_netcdf(path: &Path) -> Result<netcdf::File, OpenError> {
    regular_or_absent(path)?;
    let mut file = File::open(path)?;
    let found = file.metadata()?.len();
    let classic = signature(&mut file, 0)?.starts_with(b"CDF");
    if found == 0 {
        return Err(OpenError::Truncated { expected: None, found, variable: None });
    }
    let known = match classic {
        true => check_classic(&mut file, found).map(|()| true),
        false => check_hdf5(&mut file, found),
    }?;
    drop(file);
    netcdf::open(path).map_err(|error| if known { OpenError::Damaged(error.to_string()) } else { OpenError::Other })
}

/// Refuses a file of the classic formats that ends before its data.
fn check_classic(file: &mut File, found: u64) -> Result<(), OpenError> {
    file.seek(SeekFrom::Start(0))?;
    let needed = needed(BufReader::new(file)).map_err(|fault| match fault {
        HeaderFault::Short => OpenError::Truncated { expected: None, found, variable: None },
        HeaderFault::Damaged(problem) => OpenError::Damaged(format!("its header is damaged: {problem}")),
        HeaderFault::Streamed => OpenError::Streamed,
        HeaderFault::Io(error) => error.into(),
    })?;
    if found < needed.bytes {
        return Err(OpenError::Truncated { expected: Some(needed.bytes), found, variable: needed.variable });
    }
    Ok(())
}

/// Up to eight bytes at a place.
fn signature(file: &mut File, at: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::with_capacity(8);
    file.take(8).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Refuses a file of HDF5 that ends before its end by the superblock, and finds out whether it is one (HDF5 file format
/// specification, version 3, section II.A). The library would refuse it too, with a page of its own on standard error.
fn check_hdf5(file: &mut File, found: u64) -> Result<bool, OpenError> {
    let mut place = 0;
    while signature(file, place)? != b"\x89HDF\r\n\x1a\n" {
        place = (2 * place).max(512);
        if place >= found {
            return Ok(false);
        }
    }
    let mut block = Vec::new();
    file.take(64).read_to_end(&mut block)?;
    // Bytes after the signature: size of addresses, and place of the first of them; the third is the end of the file.
    let (size_at, first) = match block.first() {
        None => return Err(OpenError::Truncated { expected: None, found, variable: None }),
        Some(0) => (5, 16),
        Some(1) => (5, 20),
        Some(2 | 3) => (1, 4),
        Some(version) => {
            return Err(OpenError::Damaged(format!("version {version} of the superblock of HDF5 is not known")));
        }
    };
    let size = usize::from(block.get(size_at).copied().unwrap_or(0));
    let start = first + 2 * size;
    let Some(bytes) = block.get(start..start + size) else {
        return Err(OpenError::Truncated { expected: None, found, variable: None });
    };
    let expected = bytes.iter().take(8).rev().fold(0, |n, byte| n << 8 | u64::from(*byte));
    if found < expected {
        return Err(OpenError::Truncated { expected: Some(expected), found, variable: None });
    }
    Ok(true)
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
