//! Reading a file whose storage refuses for a passing reason.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;
use std::time::Duration;

/// Pauses before a read is tried again.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(20), Duration::from_millis(100), Duration::from_millis(500), Duration::from_millis(2500)];

/// Times a read is tried.
pub(super) const TRIES: usize = PAUSES.len() + 1;

/// Whether the same read may succeed later: servers of files that are busy, restarted or lose a connection.
pub(super) fn may_pass(error: &Error) -> bool {
    #[cfg(unix)]
    if matches!(error.raw_os_error(), Some(libc::EIO | libc::ESTALE)) {
        return true;
    }
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Tries a read again after growing pauses as long as it fails for a reason that may pass, and says so in the log.
///
/// # Errors
/// Of the last try.
pub(super) fn patiently<T>(path: &Path, mut read: impl FnMut() -> Result<T>) -> Result<T> {
    for pause in PAUSES {
        match read() {
            Err(error) if may_pass(&error) => {
                tracing::warn!(
                    "{}: a read failed ({error}); it is tried again in {} ms",
                    path.display(),
                    pause.as_millis()
                );
                std::thread::sleep(pause);
            }
            result => return result,
        }
    }
    read()
}

/// Fills `into` with the bytes from `at` on. Reads that yield less go on.
///
/// # Errors
/// Of the system; [`ErrorKind::UnexpectedEof`] if the file ends before.
pub(super) fn read_at(file: &File, path: &Path, at: u64, into: &mut [u8]) -> Result<()> {
    let mut done = 0;
    while done < into.len() {
        match patiently(path, || piece_at(file, at + done as u64, &mut into[done..]))? {
            0 => {
                let text =
                    format!("the file ends {} bytes too early; it was longer when it was opened", into.len() - done);
                return Err(Error::new(ErrorKind::UnexpectedEof, text));
            }
            n => done += n,
        }
    }
    Ok(())
}

#[cfg(unix)]
fn piece_at(file: &File, at: u64, into: &mut [u8]) -> Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, at)
}

#[cfg(windows)]
fn piece_at(file: &File, at: u64, into: &mut [u8]) -> Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, at)
}

/// A file read from its start.
pub(super) struct Patient<'a> {
    pub(super) file: &'a File,
    pub(super) path: &'a Path,
}

impl Read for Patient<'_> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let mut file = self.file;
        patiently(self.path, || file.read(into))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reasons_that_may_pass_are_waited_for() {
        let attempts = |fails: usize, code: i32| {
            let mut n = 0;
            let result = patiently(Path::new("x"), || {
                n += 1;
                if n > fails { Ok(n) } else { Err(Error::from_raw_os_error(code)) }
            });
            (n, result.ok())
        };
        for code in [libc::EIO, libc::ESTALE, libc::EAGAIN, libc::ETIMEDOUT, libc::EINTR] {
            assert_eq!(attempts(2, code), (3, Some(3)), "{code}");
        }
        assert_eq!(attempts(9, libc::EACCES), (1, None));
        assert_eq!(attempts(9, libc::EIO), (TRIES, None));
    }

    #[test]
    fn a_file_that_ends_too_early_is_no_silent_zero() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "abcdef").unwrap();
        let file = File::open(&path).unwrap();
        let mut four = [0; 4];
        read_at(&file, &path, 1, &mut four).unwrap();
        assert_eq!(&four, b"bcde");
        let error = read_at(&file, &path, 4, &mut four).unwrap_err();
        assert!(error.kind() == ErrorKind::UnexpectedEof && error.to_string().contains("2 bytes too early"), "{error}");
    }
}
