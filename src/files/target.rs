//! Whether something can be written at a path, asked before work is done for it.

use std::io;
use std::path::{Path, PathBuf};

use super::{folder, regular_or_absent};

/// Why nothing can be written at a path, and what to do about it. The text names no file: its user puts the path before it.
#[derive(Debug, thiserror::Error)]
pub enum UnusableTarget {
    /// What is there is no regular file.
    #[error("cannot be written: {0}")]
    Odd(io::Error),
    /// There is no such folder.
    #[error("cannot be written: there is no folder {}; make it, or name another", .0.display())]
    NoFolder(PathBuf),
    /// A folder is needed where a file is.
    #[error("cannot be written: {} is no folder; name another", .0.display())]
    NotAFolder(PathBuf),
    /// The system lets nobody write there, or not this user.
    #[error("cannot be written: no file can be made in {} ({reason}); name another folder, or change its permissions", folder.display())]
    Refused {
        /// The folder.
        folder: PathBuf,
        /// Reason given by the system.
        reason: io::ErrorKind,
    },
}

/// Whether a file can be made or replaced at `path`, whose folder must be there. Leaves nothing behind.
///
/// # Errors
/// [`UnusableTarget`].
pub fn writable_file(path: &Path) -> Result<(), UnusableTarget> {
    let folder = folder(path);
    let there = nearest(folder).map_err(UnusableTarget::Odd)?;
    if there.is_dir() && !folder.exists() {
        return Err(UnusableTarget::NoFolder(folder.to_path_buf()));
    }
    takes_files(if folder.exists() { folder } else { &there })?;
    regular_or_absent(path).map_err(UnusableTarget::Odd)
}

/// Whether files can be made in the folder `path`, which is there or can be made. Leaves nothing behind.
///
/// # Errors
/// [`UnusableTarget`].
pub fn writable_folder(path: &Path) -> Result<(), UnusableTarget> {
    let there = nearest(path).map_err(UnusableTarget::Odd)?;
    takes_files(if path.exists() { path } else { &there })
}

/// What is there of a path: itself, or the first of the folders around it that exists.
fn nearest(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    let there = absolute.ancestors().find(|folder| folder.symlink_metadata().is_ok()).map(Path::to_path_buf);
    Ok(there.unwrap_or(absolute))
}

fn takes_files(folder: &Path) -> Result<(), UnusableTarget> {
    if !folder.is_dir() {
        return Err(UnusableTarget::NotAFolder(folder.to_path_buf()));
    }
    let made = tempfile::Builder::new().prefix(".atmostr.").suffix(".part").tempfile_in(folder);
    made.map(drop).map_err(|error| UnusableTarget::Refused { folder: folder.to_path_buf(), reason: error.kind() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_is_said_before() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "x").unwrap();
        let words = |error: Result<(), UnusableTarget>| error.unwrap_err().to_string();
        for (result, part) in [
            (writable_file(dir.path()), "a folder, not a regular file".to_owned()),
            (
                writable_file(&dir.path().join("no/such/x.nc")),
                format!("no folder {}/no/such; make it", dir.path().display()),
            ),
            (writable_file(&file.join("x.nc")), format!("{} is no folder", file.display())),
            (writable_folder(&file), format!("{} is no folder", file.display())),
            (writable_folder(&file.join("a/b")), format!("{} is no folder", file.display())),
        ] {
            let message = words(result);
            assert!(message.contains(&part) && !message.contains(".part"), "{message}");
        }
        writable_file(&file).unwrap();
        writable_file(&dir.path().join("new.nc")).unwrap();
        writable_folder(&dir.path().join("a/b/c")).unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left behind");
    }

    /// Pseudo file systems refuse new files to everybody, whoever runs the tests.
    #[cfg(target_os = "linux")]
    #[test]
    fn folders_that_take_no_files_are_named() {
        let folder = Path::new("/proc/self");
        for result in [writable_file(&folder.join("x.nc")), writable_folder(folder), writable_folder(&folder.join("w"))]
        {
            let message = result.unwrap_err().to_string();
            assert!(
                message.contains("no file can be made in /proc/self") && message.contains("permissions"),
                "{message}"
            );
        }
    }
}
