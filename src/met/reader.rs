//! Reading transport files: checked when opened, mapped into memory, converted tile by tile.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::convert::extend_f64;
use super::error::MetError;
use super::header::{Header, parse_header_bytes, read_header_bytes};
use super::section::Section;
use crate::files::regular_or_absent;

/// First bytes of netCDF files: HDF5 (netCDF-4), classic, 64-bit offset, 64-bit data.
const NETCDF_SIGNATURES: [&[u8]; 4] = [b"\x89HDF\r\n\x1a\n", b"CDF\x01", b"CDF\x02", b"CDF\x05"];

/// Bytes that are verified at a time.
pub(crate) const VERIFIED_BYTES: usize = 4 << 20;

/// An open, valid transport file.
///
/// The file is mapped, not copied. It must not be changed or shortened by others while it is open.
#[derive(Debug)]
pub struct TransportFile {
    path: PathBuf,
    header: Header,
    map: Mmap,
}

impl TransportFile {
    /// Opens a file and checks its header against the whole contract and its size.
    ///
    /// # Errors
    /// An unreadable file, a header that breaks the contract, or a size that differs from the header's.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, MetError> {
        let path = path.as_ref().to_path_buf();
        regular_or_absent(&path).map_err(MetError::io(&path, "open"))?;
        let mut file = File::open(&path).map_err(MetError::io(&path, "open"))?;
        let bytes = read_header_bytes(&mut file).map_err(MetError::io(&path, "read the header of"))?;
        if NETCDF_SIGNATURES.iter().any(|signature| bytes.starts_with(signature)) {
            return Err(MetError::NetCdf { path });
        }
        let header = parse_header_bytes(&bytes).map_err(|source| MetError::Header { path: path.clone(), source })?;
        let found = file.metadata().map_err(MetError::io(&path, "find the size of"))?.len();
        let expected = header.file_bytes();
        if found != expected {
            return Err(MetError::FileSize { path, expected, found });
        }
        // SAFETY: the map is read only. A file that others change while it is open can change the values seen or, if it
        // shrinks, end the process by a signal; the type documents that it must stay as it is.
        let map = unsafe { Mmap::map(&file) }.map_err(MetError::io(&path, "map"))?;
        Ok(Self { path, header, map })
    }

    /// Path given to [`TransportFile::open`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Whether the model can be driven with this file.
    ///
    /// # Errors
    /// [`MetError::NotRunnable`] with all reasons.
    pub fn check_runnable(&self) -> Result<(), MetError> {
        let reasons = self.header.check_runnable();
        if reasons.is_empty() { Ok(()) } else { Err(MetError::NotRunnable { path: self.path.clone(), reasons }) }
    }

    pub(super) fn window_range(&self, window: usize) -> Result<Range<usize>, MetError> {
        let nwindow = self.header.nwindow();
        if window >= nwindow {
            return Err(MetError::NoSuchWindow { path: self.path.clone(), window, nwindow });
        }
        // Sizes fit: the file size was found equal to the end of the last window.
        let bytes = self.header.window_bytes() as usize;
        let start = self.header.header_bytes() as usize + window * bytes;
        Ok(start..start + bytes)
    }

    /// Bytes of a section of a window, as stored.
    ///
    /// # Errors
    /// A window beyond the last one, or a section the file lacks.
    pub fn section_bytes(&self, window: usize, section: Section) -> Result<&[u8], MetError> {
        let window = &self.map[self.window_range(window)?];
        let Some(offset) = self.header.section_offset(section) else {
            return Err(MetError::MissingSection { path: self.path.clone(), section });
        };
        let size = self.header.float_type().bytes();
        let elems = section.elems(self.header.nc(), self.header.nlevel());
        Ok(&window[offset * size..(offset + elems) * size])
    }

    /// All values of a section of a window in f64: six panels, each with i fastest, then j, then k.
    ///
    /// # Errors
    /// A window beyond the last one, or a section the file lacks.
    pub fn section_values(&self, window: usize, section: Section) -> Result<Vec<f64>, MetError> {
        let bytes = self.section_bytes(window, section)?;
        let mut values = Vec::with_capacity(bytes.len() / self.header.float_type().bytes());
        extend_f64(bytes, self.header.float_type(), &mut values);
        Ok(values)
    }

    /// Checksum of a window's payload bytes (CRC-32C).
    ///
    /// # Errors
    /// A window beyond the last one.
    pub fn window_crc32c(&self, window: usize) -> Result<u32, MetError> {
        let range = self.window_range(window)?;
        let mut sum = 0;
        for first in range.clone().step_by(VERIFIED_BYTES) {
            let block = first..(first + VERIFIED_BYTES).min(range.end);
            sum = crc32c::crc32c_append(sum, &self.map[block.clone()]);
            // A whole window need not lie in memory at once.
            self.release_range(block);
        }
        Ok(sum)
    }

    /// Compares a window's payload with the checksum in the header, if there is one.
    ///
    /// # Errors
    /// [`MetError::Checksum`] if they differ; a window beyond the last one.
    pub fn verify(&self, window: usize) -> Result<(), MetError> {
        let Some(expected) = self.header.crc32c().and_then(|words| words.get(window).copied()) else {
            return self.window_range(window).map(|_| ());
        };
        let found = self.window_crc32c(window)?;
        if found == expected {
            return Ok(());
        }
        Err(MetError::Checksum { path: self.path.clone(), window, expected, found })
    }

    /// Appends one level of one panel of a section in f64.
    ///
    /// # Errors
    /// A window beyond the last one, or a section the file lacks.
    pub(super) fn extend_level(
        &self,
        window: usize,
        section: Section,
        panel: usize,
        k: usize,
        values: &mut Vec<f64>,
    ) -> Result<(), MetError> {
        let bytes = self.section_bytes(window, section)?;
        let shape = section.shape(self.header.nc(), self.header.nlevel());
        let len = shape.level_len() * self.header.float_type().bytes();
        let start = (panel * shape.nk + k) * len;
        extend_f64(&bytes[start..start + len], self.header.float_type(), values);
        Ok(())
    }

    /// Lets the system take back the memory behind a window; reading it again is slower but gives the same values.
    pub fn release_window(&self, window: usize) {
        if let Ok(range) = self.window_range(window) {
            self.release_range(range);
        }
    }

    /// Lets the system take back the memory behind a section of a window.
    pub(super) fn release_section(&self, window: usize, section: Section) {
        let offset = self.header.section_offset(section);
        if let (Ok(range), Some(offset)) = (self.window_range(window), offset) {
            let size = self.header.float_type().bytes();
            let start = range.start + offset * size;
            self.release_range(start..start + section.elems(self.header.nc(), self.header.nlevel()) * size);
        }
    }

    /// Lets the system take back the memory behind the whole file.
    pub fn release(&self) {
        self.release_range(0..self.map.len());
    }

    fn release_range(&self, range: Range<usize>) {
        #[cfg(unix)]
        {
            // SAFETY: dropping pages of a read-only shared file map loses nothing; the next access reads them again.
            let advised = unsafe {
                self.map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, range.start, range.len())
            };
            // Only a hint: a system that refuses it keeps the pages, with no other effect.
            if let Err(error) = advised {
                tracing::debug!("{}: pages not released: {error}", self.path.display());
            }
        }
        #[cfg(not(unix))]
        drop(range);
    }
}
