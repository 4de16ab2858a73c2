//! Files of weights.
//!
//! Little-endian: a tag of eight bytes; version and CRC-32C of all that follows, 32 bits each; seven lengths of 64 bits
//! (source description, destination description, source cells, destination cells, entries, and two zeros); the two
//! descriptions; entries per destination cell and source cell of each entry, 32 bits; areas, 64 bits. Areas of cells
//! follow from the meshes.

use std::io::{self, Write};
use std::path::Path;

use super::{Fingerprint, Mesh, Overlap};

const TAG: [u8; 8] = *b"ATMREGR\0";

/// Version of the format and of the method: files of another one are not used.
const VERSION: u32 = 1;

/// Bytes before the descriptions.
const HEAD: usize = 16 + 7 * 8;

/// Name of the file of a pair of meshes.
pub(super) fn file_name(src: &Mesh, dst: &Mesh) -> String {
    let both = [src.descriptor(), b" to ".to_vec(), dst.descriptor()].concat();
    format!("weights-v{VERSION}-{}.bin", Fingerprint::of(&both))
}

/// Writes a file next to `path` and puts it there when it is complete.
pub(super) fn write(path: &Path, src: &Mesh, dst: &Mesh, weights: &Overlap) -> io::Result<()> {
    let (from, to) = (src.descriptor(), dst.descriptor());
    let lengths = [from.len(), to.len(), src.cells(), dst.cells(), weights.len(), 0, 0];
    let mut bytes = Vec::with_capacity(HEAD + from.len() + to.len() + 4 * dst.cells() + 12 * weights.len());
    bytes.extend(TAG);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend([0; 4]);
    lengths.iter().for_each(|n| bytes.extend((*n as u64).to_le_bytes()));
    bytes.extend(from);
    bytes.extend(to);
    weights.rows.windows(2).for_each(|pair| bytes.extend(((pair[1] - pair[0]) as u32).to_le_bytes()));
    weights.sources.iter().for_each(|s| bytes.extend(s.to_le_bytes()));
    weights.areas.iter().for_each(|a| bytes.extend(a.to_le_bytes()));
    let crc = crc32c::crc32c(&bytes[16..]);
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());

    let mut staged = crate::files::staged(path)?;
    staged.write_all(&bytes)?;
    staged.publish(path)?;
    Ok(())
}

/// Reads a file of these meshes; says what is wrong with it otherwise.
pub(super) fn read(path: &Path, src: &Mesh, dst: &Mesh) -> Result<Overlap, String> {
    crate::files::regular_or_absent(path).map_err(|e| e.to_string())?;
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    let mut rest = Cursor(&bytes);
    let cut = || "cut short".to_owned();
    if rest.take(8).ok_or_else(cut)? != TAG {
        return Err("no file of weights".into());
    }
    let version = u32::from_le_bytes(rest.array().ok_or_else(cut)?);
    if version != VERSION {
        return Err(format!("weights of version {version}, not {VERSION}"));
    }
    let crc = u32::from_le_bytes(rest.array().ok_or_else(cut)?);
    if crc32c::crc32c(rest.0) != crc {
        return Err("the checksum does not fit".into());
    }
    let mut lengths = [0usize; 7];
    for length in &mut lengths {
        *length = usize::try_from(u64::from_le_bytes(rest.array().ok_or_else(cut)?)).map_err(|e| e.to_string())?;
    }
    let [from, to, src_cells, dst_cells, entries, ..] = lengths;
    let fits = rest.take(from).ok_or_else(cut)? == src.descriptor()
        && rest.take(to).ok_or_else(cut)? == dst.descriptor()
        && (src_cells, dst_cells) == (src.cells(), dst.cells());
    if !fits {
        return Err("weights of other meshes".into());
    }
    let counts = rest.take(4 * dst_cells).ok_or_else(cut)?;
    let mut rows = Vec::with_capacity(dst_cells + 1);
    rows.push(0);
    for count in counts.chunks_exact(4) {
        let count = u32::from_le_bytes(count.try_into().expect("four bytes"));
        rows.push(rows[rows.len() - 1] + count as usize);
    }
    let bytes_of = |n: usize| entries.checked_mul(n).ok_or_else(cut);
    let sources: Vec<u32> = rest
        .take(bytes_of(4)?)
        .ok_or_else(cut)?
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")))
        .collect();
    let areas = rest
        .take(bytes_of(8)?)
        .ok_or_else(cut)?
        .chunks_exact(8)
        .map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes")))
        .collect();
    if rows[dst_cells] != entries || sources.iter().any(|s| *s as usize >= src_cells) {
        return Err("entries that do not fit the cells".into());
    }
    Ok(Overlap { rows, sources, areas, src_area: src.areas(), dst_area: dst.areas() })
}

/// Bytes not read yet.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }
}
