//! What a path leads to, asked before a file is read or replaced.

use std::fs;
use std::io;
use std::path::Path;

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

/// Whether two paths lead to the same existing file, through links of any kind.
pub fn same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (fs::metadata(a), fs::metadata(b)) {
        use std::os::unix::fs::MetadataExt;
        return (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

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
