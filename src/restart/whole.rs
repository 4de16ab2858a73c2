//! Whether a file is the one that was written, told before a library interprets it: those for HDF5 do not survive every
//! damaged byte.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::RestartError;

/// What the last line of a file begins with. HDF5 ignores what lies behind its own end.
const LINE: &str = "atmostr restart file, crc32c of all before this line: ";
/// Length of the line: the text, eight hexadecimal digits, the end of the line.
const LENGTH: u64 = LINE.len() as u64 + 9;
/// Bytes read at a time.
const CHUNK: usize = 1 << 20;

/// Checksum of the first `length` bytes.
fn checksum(file: &mut File, length: u64) -> std::io::Result<u32> {
    file.seek(SeekFrom::Start(0))?;
    let (mut sum, mut left, mut bytes) = (0, length, vec![0; CHUNK]);
    while left > 0 {
        let n = CHUNK.min(usize::try_from(left).unwrap_or(CHUNK));
        file.read_exact(&mut bytes[..n])?;
        sum = crc32c::crc32c_append(sum, &bytes[..n]);
        left -= n as u64;
    }
    Ok(sum)
}

/// Adds the line to a file that is complete.
pub(super) fn seal(path: &Path) -> std::io::Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let length = file.metadata()?.len();
    let sum = checksum(&mut file, length)?;
    file.seek(SeekFrom::End(0))?;
    file.write_all(format!("{LINE}{sum:08x}\n").as_bytes())?;
    file.sync_all()
}

/// Refuses a file that is not, byte by byte, the one that was written.
pub(super) fn check(path: &Path) -> Result<(), RestartError> {
    let damaged = |problem: &str| RestartError::Damaged { path: path.into(), problem: problem.into() };
    crate::files::regular_or_absent(path).map_err(RestartError::io(path, "read"))?;
    let read = || -> std::io::Result<Option<bool>> {
        let mut file = File::open(path)?;
        let Some(length) = file.metadata()?.len().checked_sub(LENGTH) else { return Ok(None) };
        file.seek(SeekFrom::Start(length))?;
        let mut line = String::new();
        if file.read_to_string(&mut line).is_err() {
            return Ok(None);
        }
        let stated = line.strip_prefix(LINE).and_then(|rest| rest.strip_suffix('\n'));
        let Some(stated) = stated.map(str::to_owned) else { return Ok(None) };
        Ok(Some(stated == format!("{:08x}", checksum(&mut file, length)?)))
    };
    match read().map_err(RestartError::io(path, "read"))? {
        Some(true) => Ok(()),
        Some(false) => Err(damaged("its bytes are not those that were written")),
        None => Err(damaged("it does not end as restart files do: it is none, or it is cut off")),
    }
}
