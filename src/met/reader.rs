//! Reading transport files: checked when opened, read piece by piece.

use std::cell::RefCell;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use super::convert::extend_f64;
use super::error::MetError;
use super::header::{Header, parse_header_bytes, read_header_bytes};
use super::patience::{Patient, patiently, read_at};
use super::section::Section;
use super::staging::{Stamp, copy_of};
use crate::files::regular_or_absent;

/// First bytes of netCDF files: HDF5 (netCDF-4), classic, 64-bit offset, 64-bit data.
const NETCDF_SIGNATURES: [&[u8]; 4] = [b"\x89HDF\r\n\x1a\n", b"CDF\x01", b"CDF\x02", b"CDF\x05"];

/// Bytes read at a time for a checksum.
pub(crate) const CHUNK_BYTES: usize = 1 << 20;

thread_local! {
    static CHUNK: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static LEVEL: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// An open, valid transport file.
///
/// Bytes are read when they are asked for. Reads that fail for a reason that may pass (EIO, ESTALE, EAGAIN, ETIMEDOUT) are
/// tried again after growing pauses, which the log tells. A file that was changed since it was first opened is refused.
#[derive(Debug)]
pub struct TransportFile {
    path: PathBuf,
    header: Header,
    /// What the file was like when it was first opened.
    stamp: Stamp,
    /// Folder with copies of files, see [`Stager`](super::Stager).
    copies: Option<PathBuf>,
    /// Open while it is read: a run may have more files than a process may have open.
    file: RwLock<Option<File>>,
}

impl TransportFile {
    /// Opens a file and checks its header against the whole contract and its size.
    ///
    /// # Errors
    /// An unreadable file, a header that breaks the contract, or a size that differs from the header's.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, MetError> {
        let path = path.as_ref().to_path_buf();
        regular_or_absent(&path).map_err(MetError::io(&path, "open"))?;
        let file = File::open(&path).map_err(MetError::io(&path, "open"))?;
        let bytes = read_header_bytes(&mut Patient { file: &file, path: &path })
            .map_err(MetError::io(&path, "read the header of"))?;
        if NETCDF_SIGNATURES.iter().any(|signature| bytes.starts_with(signature)) {
            return Err(MetError::NetCdf { path });
        }
        let header = parse_header_bytes(&bytes).map_err(|source| MetError::Header { path: path.clone(), source })?;
        let facts = file.metadata().map_err(MetError::io(&path, "find the size of"))?;
        let (found, expected) = (facts.len(), header.file_bytes());
        if found != expected {
            return Err(MetError::FileSize { path, expected, found });
        }
        let stamp = Stamp::of(&facts);
        Ok(Self { path, header, stamp, copies: None, file: RwLock::new(None) })
    }

    /// Reads copies in a folder where they are whole.
    pub fn with_copies_in(self, copies: Option<PathBuf>) -> Self {
        Self { copies, ..self }
    }

    /// Does something with the open file; opens it, or its copy, if need be.
    fn with_file<T>(&self, act: impl FnOnce(&File) -> Result<T, MetError>) -> Result<T, MetError> {
        loop {
            if let Some(file) = &*self.file.read().unwrap_or_else(PoisonError::into_inner) {
                return act(file);
            }
            let mut open = self.file.write().unwrap_or_else(PoisonError::into_inner);
            if open.is_none() {
                *open = Some(self.open_again()?);
            }
        }
    }

    fn open_again(&self) -> Result<File, MetError> {
        let copy = self.copies.as_ref().and_then(|folder| copy_of(folder, &self.path, &self.stamp));
        // A copy may go at any time.
        let copy = copy.and_then(|copy| File::open(copy).ok());
        let whole = |file: &File| file.metadata().is_ok_and(|facts| facts.len() == self.header.file_bytes());
        if let Some(copy) = copy.filter(whole) {
            return Ok(copy);
        }
        // The path is copied only if something fails.
        let failed = |what| move |source| MetError::io(&self.path, what)(source);
        let file = patiently(&self.path, || File::open(&self.path)).map_err(failed("open"))?;
        let facts = file.metadata().map_err(failed("find the size of"))?;
        if Stamp::of(&facts) == self.stamp { Ok(file) } else { Err(MetError::Changed { path: self.path.clone() }) }
    }

    /// Closes the file until it is read again.
    pub fn close(&self) {
        *self.file.write().unwrap_or_else(PoisonError::into_inner) = None;
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

    pub(super) fn window_range(&self, window: usize) -> Result<Range<u64>, MetError> {
        let nwindow = self.header.nwindow();
        if window >= nwindow {
            return Err(MetError::NoSuchWindow { path: self.path.clone(), window, nwindow });
        }
        // Sizes fit: the file size was found equal to the end of the last window.
        let bytes = self.header.window_bytes();
        let start = self.header.header_bytes() + window as u64 * bytes;
        Ok(start..start + bytes)
    }

    /// Place of the first byte of a section of a window.
    pub(super) fn section_start(&self, window: usize, section: Section) -> Result<u64, MetError> {
        let start = self.window_range(window)?.start;
        let Some(offset) = self.header.section_offset(section) else {
            return Err(MetError::MissingSection { path: self.path.clone(), section });
        };
        Ok(start + (offset * self.header.float_type().bytes()) as u64)
    }

    /// Fills `into` with bytes of a window, from place `at` of the file on.
    pub(super) fn read(&self, window: usize, at: u64, into: &mut [u8]) -> Result<(), MetError> {
        let failed = |source| MetError::Read { path: self.path.clone(), window, source };
        self.with_file(|file| read_at(file, &self.path, at, into).map_err(failed))
    }

    /// Bytes of a section of a window, as stored.
    ///
    /// # Errors
    /// A window beyond the last one, a section the file lacks, or a read that fails.
    pub fn section_bytes(&self, window: usize, section: Section) -> Result<Vec<u8>, MetError> {
        let at = self.section_start(window, section)?;
        let elems = section.elems(self.header.nc(), self.header.nlevel());
        let mut bytes = vec![0; elems * self.header.float_type().bytes()];
        self.read(window, at, &mut bytes)?;
        Ok(bytes)
    }

    /// All values of a section of a window in f64: six panels, each with i fastest, then j, then k.
    ///
    /// # Errors
    /// A window beyond the last one, a section the file lacks, or a read that fails.
    pub fn section_values(&self, window: usize, section: Section) -> Result<Vec<f64>, MetError> {
        let bytes = self.section_bytes(window, section)?;
        let mut values = Vec::with_capacity(bytes.len() / self.header.float_type().bytes());
        extend_f64(&bytes, self.header.float_type(), &mut values);
        Ok(values)
    }

    /// Checksum of a window's payload bytes (CRC-32C).
    ///
    /// # Errors
    /// A window beyond the last one, or a read that fails.
    pub fn window_crc32c(&self, window: usize) -> Result<u32, MetError> {
        let Range { mut start, end } = self.window_range(window)?;
        CHUNK.with_borrow_mut(|chunk| {
            chunk.resize(CHUNK_BYTES, 0);
            let mut sum = 0;
            while start < end {
                let n = CHUNK_BYTES.min(usize::try_from(end - start).unwrap_or(CHUNK_BYTES));
                self.read(window, start, &mut chunk[..n])?;
                sum = crc32c::crc32c_append(sum, &chunk[..n]);
                start += n as u64;
            }
            Ok(sum)
        })
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
    /// A window beyond the last one, a section the file lacks, or a read that fails.
    pub(super) fn extend_level(
        &self,
        window: usize,
        section: Section,
        panel: usize,
        k: usize,
        values: &mut Vec<f64>,
    ) -> Result<(), MetError> {
        let at = self.section_start(window, section)?;
        let shape = section.shape(self.header.nc(), self.header.nlevel());
        let len = shape.level_len() * self.header.float_type().bytes();
        LEVEL.with_borrow_mut(|level| {
            level.resize(len, 0);
            self.read(window, at + ((panel * shape.nk + k) * len) as u64, level)?;
            extend_f64(level, self.header.float_type(), values);
            Ok(())
        })
    }
}
