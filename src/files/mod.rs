//! What a path leads to, and how much fits there, asked before a file is read or written; files that appear at once;
//! NetCDF files that are read.

mod caches;
pub mod cause;
mod classic;
mod lookup;
mod metadata;
mod reading;
mod target;

use std::fs;
use std::io::{self, Seek, Write};
use std::path::Path;

use crate::interrupt::Temporary;
pub use caches::{SMALL_CACHE_BYTES, SmallCaches};
pub use lookup::variable;
pub use metadata::{CHUNKS_BETWEEN_FLUSHES, meet_only_when_flushed};
pub use reading::{OpenError, open_netcdf};
pub use target::{UnusableTarget, writable_file, writable_folder};

/// Refuses what exists but is no regular file: opening a pipe waits for ever, and replacing a device destroys it.
/// A path that leads nowhere is accepted.
///
/// # Errors
/// What the path is instead.
pub fn regular_or_absent(path: &Path) -> io::Result<()> {
    let kind = match fs::metadata(path) {
        Ok(found) => found.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if kind.is_file() {
        return Ok(());
    }
    let what = if kind.is_dir() { "a folder" } else { "a device or pipe" };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("this is {what}, not a regular file; name a file")))
}

/// A file under a temporary name in the folder where it will lie. It goes with this, or with a signal that ends the
/// program.
#[derive(Debug)]
pub struct Staged {
    file: tempfile::NamedTempFile,
    _guard: Temporary,
}

impl Staged {
    /// Gives the complete file its name, in the place of an earlier one. Its content is on the disk before, its name after.
    ///
    /// # Errors
    /// Of the system; an earlier file is unharmed unless only the folder could not be brought to the disk.
    pub fn publish(self, path: &Path) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist(path).map_err(|error| error.error)?;
        sync_folder(folder(path))
    }

    /// The same unless there is a file of that name; whether there was none.
    ///
    /// # Errors
    /// Of the system.
    pub fn publish_if_absent(self, path: &Path) -> io::Result<bool> {
        self.file.as_file().sync_all()?;
        match self.file.persist_noclobber(path) {
            Ok(_) => sync_folder(folder(path)).map(|()| true),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.error),
        }
    }

    /// Why the system takes no more of this file, if it does not: libraries call a full disk what they like. The file is of
    /// no use afterwards.
    pub fn refusal(&self) -> Option<io::Error> {
        let mut file = self.file.as_file();
        let more = [0; 1 << 16];
        file.seek(io::SeekFrom::End(0)).and_then(|_| file.write_all(&more)).and_then(|()| file.sync_data()).err()
    }
}

/// Brings the names of a folder to the disk.
///
/// # Errors
/// Of the system.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}

impl std::ops::Deref for Staged {
    type Target = tempfile::NamedTempFile;

    fn deref(&self) -> &Self::Target {
        &self.file
    }
}

impl std::ops::DerefMut for Staged {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.file
    }
}

/// A temporary file in the folder of `path`, with the permissions of an ordinary new file. Once complete it is given the
/// name `path` with [`Staged::publish`].
///
/// # Errors
/// Of the system; the text names the folder rather than the temporary file.
pub fn staged(path: &Path) -> io::Result<Staged> {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let prefix = format!(".{name}.");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".part");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder(path)).map_err(|error| {
        let reason = error.kind();
        io::Error::new(reason, format!("no file can be made in {} ({reason})", folder(path).display()))
    })?;
    let guard = Temporary::new(file.path());
    Ok(Staged { file, _guard: guard })
}

/// The folder in which `path` lies.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether two paths lead to the same existing file, through links of any kind.
pub fn same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (fs::metadata(a), fs::metadata(b)) {
        use std::os::unix::fs::MetadataExt;
        return (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

/// Bytes that can still be written to the file system on which `path` lies or will lie; `None` where the system does not
/// tell.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let absolute = std::path::absolute(path).ok()?;
    let existing = absolute.ancestors().find(|folder| folder.exists())?;
    #[cfg(unix)]
    {
        // File systems that hold nothing on a disk state no size.
        let found = rustix::fs::statvfs(existing).ok().filter(|found| found.f_blocks > 0)?;
        found.f_bavail.checked_mul(found.f_frsize)
    }
    #[cfg(not(unix))]
    {
        let _ = existing;
        None
    }
}

/// The two sizes in words if `bytes` do not fit where `path` lies: "10.0 TB are needed, 71.5 GB are free".
pub fn lacks_room(path: &Path, bytes: u64) -> Option<String> {
    let free = free_bytes(path).filter(|free| *free < bytes)?;
    Some(format!("{} are needed, {} are free", size_words(bytes), size_words(free)))
}

/// The two sizes in words if `bytes` are more than the whole memory of the machine.
pub fn lacks_memory(bytes: u64) -> Option<String> {
    #[cfg(target_os = "linux")]
    {
        let found = rustix::system::sysinfo();
        let whole = found.totalram.checked_mul(u64::from(found.mem_unit))?;
        (whole < bytes).then(|| format!("{} are needed, the machine has {}", size_words(bytes), size_words(whole)))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = bytes;
        None
    }
}

/// Bytes in words.
pub fn size_words(bytes: u64) -> String {
    match bytes as f64 {
        b if b < 1e4 => format!("{bytes} B"),
        b if b < 1e7 => format!("{:.1} kB", b / 1e3),
        b if b < 1e10 => format!("{:.1} MB", b / 1e6),
        b if b < 1e13 => format!("{:.1} GB", b / 1e9),
        b => format!("{:.1} TB", b / 1e12),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_that_of_the_folder_that_exists() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("not/yet/there.bin");
        assert_eq!(lacks_room(&file, 1), None);
        #[cfg(unix)]
        {
            assert!(free_bytes(&file).is_some_and(|free| free > 0));
            let message = lacks_room(&file, u64::MAX).unwrap();
            assert!(message.starts_with("18446744.1 TB are needed, ") && message.ends_with(" are free"), "{message}");
        }
    }

    #[test]
    fn sizes_are_given_in_words() {
        for (bytes, words) in
            [(9_999, "9999 B"), (10_000, "10.0 kB"), (8_398_100, "8398.1 kB"), (42_000_000_000_000, "42.0 TB")]
        {
            assert_eq!(size_words(bytes), words);
        }
    }

    #[test]
    fn links_lead_to_the_same_file_and_folders_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let [a, b, hard, other] = ["a", "b", "hard", "other"].map(|name| dir.path().join(name));
        fs::write(&a, "x").unwrap();
        fs::write(&other, "x").unwrap();
        fs::hard_link(&a, &hard).unwrap();
        assert!(same_file(&a, &a) && same_file(&a, &hard) && !same_file(&a, &other) && !same_file(&a, &b));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&a, &b).unwrap();
            assert!(same_file(&a, &b));
        }
        assert!(regular_or_absent(&a).is_ok() && regular_or_absent(&dir.path().join("none")).is_ok());
        assert!(regular_or_absent(dir.path()).unwrap_err().to_string().contains("a folder"));
        #[cfg(unix)]
        assert!(regular_or_absent(Path::new("/dev/null")).unwrap_err().to_string().contains("device or pipe"));
    }
}
