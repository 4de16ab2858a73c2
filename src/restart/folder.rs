//! The folder with the restart files of a run.

use std::fs;
use std::path::{Path, PathBuf};

use super::{RestartError, RestartFile};

/// Restart files of one run: `<stem>.restart-<model seconds>.nc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestartFolder {
    folder: PathBuf,
    stem: String,
}

/// Digits of the model time in names, so that names sort as times do.
const DIGITS: usize = 12;

impl RestartFolder {
    /// Files of the run `stem` in `folder`, which need not exist.
    pub fn new(folder: impl Into<PathBuf>, stem: impl Into<String>) -> Self {
        Self { folder: folder.into(), stem: stem.into() }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Path of the file of this model time, s since the start of the run.
    pub fn file_at(&self, seconds: f64) -> PathBuf {
        self.folder.join(format!("{}.restart-{:0DIGITS$}.nc", self.stem, seconds.round() as u64))
    }

    /// All files with the name of a complete restart file of the run, the latest first.
    ///
    /// # Errors
    /// The folder is there but cannot be read.
    pub fn files(&self) -> Result<Vec<PathBuf>, RestartError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(RestartError::io(&self.folder, "list the restart files of")(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(RestartError::io(&self.folder, "list the restart files of"))?;
            found.extend(self.time_of(&entry.file_name().to_string_lossy()).map(|seconds| (seconds, entry.path())));
        }
        found.sort_by(|a, b| b.cmp(a));
        Ok(found.into_iter().map(|(_, path)| path).collect())
    }

    /// The latest file that is whole, and what is wrong with later ones.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn latest(&self) -> Result<(Option<RestartFile>, Vec<RestartError>), RestartError> {
        let mut damaged = Vec::new();
        for path in self.files()? {
            match RestartFile::check(&path).and_then(|()| RestartFile::open(&path)) {
                Ok(file) => return Ok((Some(file), damaged)),
                Err(error) => damaged.push(error),
            }
        }
        Ok((None, damaged))
    }

    /// Removes all but the `keep` latest files up to and with `newest`, and those of later times: they belong to an earlier
    /// run, which has been further.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn prune(&self, newest: &Path, keep: usize) -> Result<(), RestartError> {
        let (older, later): (Vec<_>, Vec<_>) = self.files()?.into_iter().partition(|path| path.as_path() <= newest);
        let mut unwanted = older.into_iter().skip(keep).chain(later);
        unwanted.try_for_each(|path| fs::remove_file(&path).map_err(RestartError::io(&path, "remove")))
    }

    fn time_of(&self, name: &str) -> Option<u64> {
        let digits = name.strip_prefix(&self.stem)?.strip_prefix(".restart-")?.strip_suffix(".nc")?;
        (digits.len() >= DIGITS && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok())?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_the_order_of_their_times() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RestartFolder::new(dir.path().join("r"), "run");
        assert_eq!(folder.files().unwrap(), Vec::<PathBuf>::new());
        fs::create_dir(folder.path()).unwrap();
        let paths = [3600.0, 86_400.0, 1e9].map(|t| folder.file_at(t));
        for path in &paths {
            fs::write(path, "x").unwrap();
        }
        for other in ["run.restart-000000003600.nc.partial", "other.restart-000000003600.nc", "run.restart-x.nc"] {
            fs::write(folder.path().join(other), "x").unwrap();
        }
        assert_eq!(folder.files().unwrap(), [&paths[2], &paths[1], &paths[0]].map(Clone::clone));
        let (found, damaged) = folder.latest().unwrap();
        assert!(found.is_none() && damaged.len() == 3);
        folder.prune(&paths[1], 1).unwrap();
        assert_eq!(folder.files().unwrap(), [paths[1].clone()]);
    }
}
