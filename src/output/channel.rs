//! The open file: written by rank 0 alone, or by all ranks through MPI.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use kernels::Scalar;
use netcdf::{AttributeValue, FileMut};

use super::background::Background;
use super::definitions::define;
use super::error::{Context, OutputError};
use super::grouped::Grouped;
use super::pieces::Pieces;
use super::schema::{Attributes, Storage, VariableDef};
use super::sharing::Sharing;
use super::spec::Compression;
use crate::comm::{Communicator, FileAccess, agree, fail_alone};
#[cfg(feature = "mpi")]
use crate::files::meet_only_when_flushed;
use crate::files::{CHUNKS_BETWEEN_FLUSHES, SmallCaches, cause};

/// Values of one write.
#[derive(Clone, Copy)]
pub(crate) enum Values<'a> {
    Int(&'a [i32]),
    Float(&'a [f32]),
    Double(&'a [f64]),
}

impl<'a> Values<'a> {
    /// Values of the run precision.
    pub(crate) fn of<R: Scalar>(values: &'a [R]) -> Self {
        match storage::<R>() {
            Storage::Float => Values::Float(bytemuck::cast_slice(values)),
            _ => Values::Double(bytemuck::cast_slice(values)),
        }
    }
}

/// Storage type of the run precision.
pub(crate) fn storage<R: Scalar>() -> Storage {
    if size_of::<R>() == 4 { Storage::Float } else { Storage::Double }
}

/// First index and length along each dimension.
pub(crate) type Region = (Vec<usize>, Vec<usize>);

/// Whether some file was left open after a failed write.
static LEFT_OPEN: AtomicBool = AtomicBool::new(false);

/// Whether some file was left open after a failed write. The process must then end without the library's work at exit.
pub fn left_files_open() -> bool {
    LEFT_OPEN.load(Ordering::Relaxed)
}

/// Who writes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// All ranks together while the run waits; where that is not possible, rank 0 what it gathers.
    Collective,
    /// One rank of each group, what that gathers, together while the run waits: groups of so many consecutive ranks, or the
    /// ranks of a machine. Where that is not possible, rank 0 what it gathers.
    Grouped(Option<usize>),
    /// A thread of rank 0, what that gathers, while the run goes on.
    Background {
        /// Bytes of values that wait at most; more only for a single write that is larger.
        limit: usize,
    },
}

/// A file being written. On ranks that do not write it only takes part in collective calls.
///
/// Only [`Channel::close`] completes it. Dropped after a failed write, or while several processes share it, the file is left
/// as it is: closing it would write again, and the library does not survive that failing a second time; where all close
/// together, one that failed would be waited for. The system closes it when the process ends.
pub(crate) struct Channel {
    writer: Writer,
    shared: bool,
    grouped: Option<Grouped>,
    path: PathBuf,
    failed: bool,
    /// Chunks added to a shared file since what has changed was brought to it.
    changed: usize,
}

/// Who holds the file of this rank.
enum Writer {
    /// Another rank.
    Elsewhere,
    Here(FileMut),
    Thread(Background),
}

impl Channel {
    /// Collective: creates `path`, replacing what is there.
    pub(crate) fn create(path: &Path, mode: WriteMode, comm: &dyn Communicator) -> Result<Self, OutputError> {
        let channel = match (comm.file_access(), mode) {
            (FileAccess::Gathered, _) => Self::gathered(path, comm),
            #[cfg(feature = "mpi")]
            (FileAccess::Parallel(_), WriteMode::Background { .. }) => Self::gathered(path, comm),
            #[cfg(feature = "mpi")]
            (FileAccess::Parallel(communicator), WriteMode::Collective) => {
                // All that fails on one rank alone must fail before the collective call.
                agree(comm, if comm.rank() == 0 { prepare(path) } else { Ok(()) })?;
                let file = create_on_all(path, communicator);
                Ok(Self::new(Writer::Here(agree(comm, file)?), Access::Shared, path))
            }
            #[cfg(feature = "mpi")]
            (FileAccess::Parallel(_), WriteMode::Grouped(ranks)) => match comm.file_group(ranks) {
                None => Self::gathered(path, comm),
                Some(group) => {
                    agree(comm, if comm.rank() == 0 { prepare(path) } else { Ok(()) })?;
                    let file = match group.file_access() {
                        FileAccess::Parallel(writers) => create_on_all(path, writers).map(Writer::Here),
                        FileAccess::Gathered => Ok(Writer::Elsewhere),
                    };
                    let mut channel = Self::new(agree(comm, file)?, Access::Shared, path);
                    channel.grouped = Some(Grouped::new(group, comm));
                    Ok(channel)
                }
            },
        }?;
        cause::listen();
        Ok(channel)
    }

    fn new(writer: Writer, access: Access, path: &Path) -> Self {
        Self {
            writer,
            shared: access != Access::Single,
            grouped: None,
            path: path.to_path_buf(),
            failed: false,
            changed: 0,
        }
    }

    /// A file of rank 0.
    fn gathered(path: &Path, comm: &dyn Communicator) -> Result<Self, OutputError> {
        let file = match comm.rank() {
            0 => prepare(path)
                .and_then(|()| cause::told(path, || netcdf::create(path)).context(path, || "create".into()))
                .map(Some),
            _ => Ok(None),
        };
        Ok(Self::new(agree(comm, file)?.map_or(Writer::Elsewhere, Writer::Here), Access::Single, path))
    }

    /// From now on a thread of its own writes a file that rank 0 holds; at most `limit` bytes of values wait for it.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(crate) fn in_background(&mut self, limit: usize) -> std::io::Result<()> {
        if let Writer::Here(file) = std::mem::replace(&mut self.writer, Writer::Elsewhere) {
            self.writer = Writer::Thread(Background::start(file, &self.path, limit)?);
        }
        Ok(())
    }

    /// Leaves a file as it is because some rank failed.
    pub(crate) fn abandon(mut self) {
        self.failed = true;
    }

    /// Notes a failure. Of a shared file other ranks may wait for this one inside the library.
    fn noted<T>(&mut self, result: Result<T, netcdf::Error>) -> Result<T, netcdf::Error> {
        result.inspect_err(|error| {
            self.failed = true;
            if self.shared {
                fail_alone(&format!("{}: {error}", self.path.display()));
            }
        })
    }

    /// Whether all ranks write.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }

    /// Writes the definitions; the same on all ranks.
    pub(crate) fn define(
        &mut self,
        dims: &[(&'static str, Option<usize>)],
        variables: &[VariableDef],
        globals: &Attributes,
        compression: Compression,
        chunk: (usize, usize),
    ) -> Result<(), netcdf::Error> {
        let Self { writer: Writer::Here(file), shared, path, .. } = self else { return Ok(()) };
        let _caches = SmallCaches::set();
        let defined = cause::told(path, || define(file, *shared, dims, variables, globals, compression, chunk));
        self.noted(defined)
    }

    /// Collective when shared: writes a region that rank 0 provides; scalars are written by all.
    pub(crate) fn put_root(
        &mut self,
        name: &str,
        (start, count): Region,
        values: Values,
        comm: &dyn Communicator,
    ) -> Result<(), netcdf::Error> {
        let chunks = count.iter().rev().skip(2).product();
        if comm.rank() == 0 || start.is_empty() {
            self.put(name, (start, count), values)?;
            return self.has_changed(chunks);
        }
        let nothing = match values {
            Values::Int(_) => Values::Int(&[]),
            Values::Float(_) => Values::Float(&[]),
            Values::Double(_) => Values::Double(&[]),
        };
        self.put(name, empty(start.len()), nothing)?;
        self.has_changed(chunks)
    }

    /// Notes that chunks were added, the same number on all ranks.
    fn has_changed(&mut self, chunks: usize) -> Result<(), netcdf::Error> {
        self.changed += chunks;
        if self.shared && self.changed > CHUNKS_BETWEEN_FLUSHES { self.sync() } else { Ok(()) }
    }

    fn put(&mut self, name: &str, region: Region, values: Values) -> Result<(), netcdf::Error> {
        let written = match &mut self.writer {
            Writer::Elsewhere => Ok(()),
            Writer::Here(file) => cause::told(&self.path, || put(file, name, region, values)),
            Writer::Thread(background) => background.put(name, region, values),
        };
        self.noted(written)
    }

    /// Collective: writes the pieces of all ranks into `[lead…, levels, nf, Ydim, Xdim]`, where `lead` starts the region
    /// (time, and the first level if the variable has levels) and `levels` is the number of levels of the pieces.
    ///
    /// `own` are the values of this rank.
    pub(crate) fn put_pieces<R: Scalar>(
        &mut self,
        name: &str,
        lead: &[usize],
        levels: Option<usize>,
        own: &mut Pieces<R>,
        sharing: &Sharing,
        nc: usize,
        comm: &dyn Communicator,
    ) -> Result<(), netcdf::Error> {
        let region = |panel: (usize, usize), rows: (usize, usize), columns: (usize, usize)| -> Region {
            let tail = [panel, rows, columns];
            let start = lead.iter().copied().chain(tail.iter().map(|t| t.0)).collect();
            let count = [1].into_iter().chain(levels).chain(tail.iter().map(|t| t.1)).collect();
            (start, count)
        };
        if self.shared {
            let of_group = self.grouped.as_ref().map(|grouped| grouped.gather(own, levels.unwrap_or(1)));
            let (own, slots) = match (&of_group, &self.grouped) {
                (Some(all), Some(grouped)) => (all, grouped.slots(sharing)),
                _ => (&*own, sharing.max_tiles),
            };
            let mut pieces = own.iter(levels.unwrap_or(1));
            let mut result = Ok(());
            for _ in 0..slots {
                let written = match pieces.next() {
                    Some((r, values)) => {
                        self.put(name, region((r.panel, 1), (r.j0, r.nj), (r.i0, r.ni)), Values::of(values))
                    }
                    None => self.put(name, empty(lead.len() + 3), Values::of::<R>(&[])),
                };
                result = result.and(written);
            }
            result?;
            return self.has_changed(6 * levels.unwrap_or(1));
        }
        let levels = levels.unwrap_or(1);
        let room = match &self.writer {
            Writer::Thread(background) => background.room(),
            Writer::Here(_) | Writer::Elsewhere => Vec::new(),
        };
        let Some(whole) = own.gather(room, levels, sharing, nc, comm) else { return Ok(()) };
        let region = region((0, 6), (0, nc), (0, nc));
        let written = match &mut self.writer {
            Writer::Elsewhere => Ok(()),
            Writer::Here(file) => cause::told(&self.path, || put(file, name, region, Values::of(&whole))),
            Writer::Thread(background) => background.put_owned(name, region, whole),
        };
        self.noted(written)
    }

    /// Sets global attributes; the same on all ranks.
    pub(crate) fn put_attributes(&mut self, attributes: &[(&str, AttributeValue)]) -> Result<(), netcdf::Error> {
        let written = match &mut self.writer {
            Writer::Elsewhere => Ok(()),
            Writer::Here(file) => cause::told(&self.path, || {
                attributes.iter().try_for_each(|(key, value)| file.add_attribute(key, value.clone()).map(drop))
            }),
            Writer::Thread(background) => background.put_attributes(attributes),
        };
        self.noted(written)
    }

    /// Brings everything written so far to the file.
    pub(crate) fn sync(&mut self) -> Result<(), netcdf::Error> {
        self.changed = 0;
        let written = match &self.writer {
            Writer::Elsewhere => Ok(()),
            Writer::Here(file) => cause::told(&self.path, || file.sync()),
            Writer::Thread(background) => background.sync(),
        };
        self.noted(written)
    }

    /// Closes the file, after all is written. After a failed write it is left as it is.
    pub(crate) fn close(mut self) -> Result<(), netcdf::Error> {
        match std::mem::replace(&mut self.writer, Writer::Elsewhere) {
            Writer::Elsewhere => Ok(()),
            Writer::Here(file) => {
                let closed = close(file, &self.path);
                self.noted(closed)
            }
            Writer::Thread(background) => {
                let failed = background.has_failed();
                match background.finish() {
                    (Some(file), Ok(())) if !failed => close(file, &self.path),
                    (file, result) => {
                        leave_open(file);
                        result.and(Err(netcdf::Error::Str("the thread that writes it has failed".into())))
                    }
                }
            }
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        let failed = self.failed || self.shared;
        match std::mem::replace(&mut self.writer, Writer::Elsewhere) {
            Writer::Elsewhere => {}
            Writer::Here(file) if failed => leave_open(Some(file)),
            Writer::Here(file) => drop(close(file, &self.path)),
            Writer::Thread(background) => match background.finish() {
                (Some(file), Ok(())) if !failed => drop(close(file, &self.path)),
                (file, _) => leave_open(file),
            },
        }
    }
}

/// How many processes write a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Single,
    #[cfg(feature = "mpi")]
    Shared,
}

fn close(file: FileMut, path: &Path) -> Result<(), netcdf::Error> {
    let closed = cause::told(path, || file.close());
    if closed.is_err() {
        LEFT_OPEN.store(true, Ordering::Relaxed);
    }
    closed
}

fn leave_open(file: Option<FileMut>) {
    LEFT_OPEN.store(true, Ordering::Relaxed);
    std::mem::forget(file);
}

/// Creates a file that all ranks of a communicator write.
#[cfg(feature = "mpi")]
fn create_on_all(path: &Path, communicator: mpi::ffi::MPI_Comm) -> Result<FileMut, OutputError> {
    // SAFETY: reads a constant handle that the MPI library defines before any of its functions run.
    let info = unsafe { mpi::ffi::RSMPI_INFO_NULL };
    let create = || netcdf::create_par_with(path, communicator, info, netcdf::Options::NETCDF4);
    let file = cause::told(path, create).context(path, || "create on all ranks".into())?;
    meet_only_when_flushed();
    Ok(file)
}

/// Writes a region of a variable.
pub(super) fn put(file: &mut FileMut, name: &str, region: Region, values: Values) -> Result<(), netcdf::Error> {
    let mut variable = file.variable_mut(name).ok_or_else(|| netcdf::Error::NotFound(name.into()))?;
    match values {
        Values::Int(values) => variable.put_values(values, region),
        Values::Float(values) => variable.put_values(values, region),
        Values::Double(values) => variable.put_values(values, region),
    }
}

/// The part of a rank that has nothing to write.
fn empty(dims: usize) -> Region {
    (vec![0; dims], vec![0; dims])
}

/// Checks the directory and removes an incomplete file of an earlier run.
fn prepare(path: &Path) -> Result<(), OutputError> {
    let io = |source| OutputError::Io { path: path.to_path_buf(), source };
    match std::fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(io(error)),
    }
    // The library reports a missing or read-only directory in less clear words.
    std::fs::File::create(path).map(drop).map_err(io)
}
