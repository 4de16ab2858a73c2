//! Files of runs that can go on: written in parts, each complete and closed at a restart file, joined when the file is
//! complete.
//!
//! A file that is open for writing may be unreadable when the program is killed; one that is closed is not. A part is
//! called `<name>.part-<number of its first snapshot>`, so a run that goes on after `n` snapshots finds its parts and
//! drops those of a run that was further. Where the parts are gone because the file was complete, the file itself is
//! the part.

use std::path::{Path, PathBuf};

use kernels::Scalar;

use super::channel::{Channel, Values, storage};
use super::error::{Context, OutputError, open};
use super::schema::{Storage, TIME};
use super::selection::{AIR_TOTAL, Extent, TIME_BOUNDS, total_mass_name};
use super::spec::partial_path;
use super::writer::SnapshotWriter;
use crate::comm::{Communicator, agree};
use crate::files::SmallCaches;
use crate::timers;

/// A complete file with some of the snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub path: PathBuf,
    /// Snapshots that are taken from it, the first ones.
    pub frames: usize,
}

/// Path of the part of `path` that begins with snapshot `first`, from 0.
pub(super) fn part_path(path: &Path, first: usize) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".part-{first:06}"));
    path.with_file_name(name)
}

/// Snapshots that a closed file holds.
fn frames_of(path: &Path) -> Option<usize> {
    match open(path).ok()?.attribute("completed_snapshots")?.value().ok()? {
        netcdf::AttributeValue::Int(frames) => usize::try_from(frames).ok(),
        _ => None,
    }
}

/// The parts with the first `frames` snapshots of `path`; all others are removed.
fn find(path: &Path, frames: usize) -> Result<Vec<Part>, OutputError> {
    let mut parts: Vec<Part> = Vec::new();
    let mut first = 0;
    while first < frames {
        let part = part_path(path, first);
        let Some(count) = frames_of(&part).filter(|n| *n > 0 && first + n <= frames) else { break };
        parts.push(Part { path: part, frames: count });
        first += count;
    }
    if first < frames {
        let whole = frames_of(path).filter(|n| *n >= frames).ok_or_else(|| OutputError::Content {
            path: path.to_path_buf(),
            problem: format!(
                "snapshots {} to {frames}, which the run had written before the restart file, are neither here nor in parts \
                 beside it; put them back, or go on from an earlier restart file",
                first + 1
            ),
        });
        whole?;
        parts = vec![Part { path: path.to_path_buf(), frames }];
    }
    let io = |source| OutputError::Io { path: path.to_path_buf(), source };
    let prefix = format!("{}.part-", path.file_name().unwrap_or_default().to_string_lossy());
    let entries = match std::fs::read_dir(crate::files::folder(path)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(parts),
        Err(error) => return Err(io(error)),
    };
    for entry in entries {
        let entry = entry.map_err(io)?;
        let is_part = entry.file_name().to_string_lossy().starts_with(&prefix);
        if is_part && !parts.iter().any(|part| part.path.file_name() == Some(&entry.file_name())) {
            std::fs::remove_file(entry.path()).map_err(io)?;
        }
    }
    Ok(parts)
}

impl<R: Scalar> SnapshotWriter<R> {
    /// Goes on after the first `frames` snapshots that the file and its parts hold. Collective; before the first snapshot.
    ///
    /// # Errors
    /// They are not there.
    pub fn resume(&mut self, frames: usize, comm: &dyn Communicator) -> Result<(), OutputError> {
        let found = if comm.rank() == 0 { find(&self.path, frames) } else { Ok(Vec::new()) };
        self.parts = agree(comm, found)?;
        self.frames = frames;
        self.part_start = frames;
        Ok(())
    }

    /// Closes what was written since the last call as a part. Collective.
    ///
    /// # Errors
    /// Closing fails.
    pub fn set_aside(&mut self, comm: &dyn Communicator) -> Result<(), OutputError> {
        let Some(channel) = self.channel.take() else { return Ok(()) };
        let path = part_path(&self.path, self.part_start);
        agree(comm, channel.close().context(&path, || "close".into()))?;
        let frames = self.frames - self.part_start;
        self.part_start = self.frames;
        let synced = match comm.rank() {
            0 => std::fs::File::open(&path).and_then(|file| file.sync_all()),
            _ => Ok(()),
        };
        agree(comm, synced.map_err(|source| OutputError::Io { path: path.clone(), source }))?;
        // Other ranks do not read parts.
        if comm.rank() == 0 {
            self.parts.push(Part { path, frames });
        }
        Ok(())
    }

    /// Joins all parts under the final name. Collective.
    pub(super) fn join(&mut self, comm: &dyn Communicator) -> Result<(), OutputError> {
        self.set_aside(comm)?;
        // What rank 0 finds decides: one part that becomes the file, the file itself, or several parts.
        let single = match &self.parts[..] {
            [part] if part.path == self.path && frames_of(&part.path) == Some(part.frames) => 2.0,
            [part] if part.path != self.path => 1.0,
            _ => 0.0,
        };
        let mut single = [if comm.rank() == 0 { single } else { f64::NEG_INFINITY }];
        comm.max_f64(&mut single);
        if single[0] == 2.0 {
            return Ok(());
        }
        if single[0] == 1.0 {
            let renamed = self.parts.first().map_or(Ok(()), |part| std::fs::rename(&part.path, &self.path));
            return Ok(agree(comm, renamed.map_err(|source| OutputError::Io { path: self.path.clone(), source }))?);
        }
        let mut channel = self.open_at(&partial_path(&self.path), comm)?;
        let copied = self.copy_parts(&mut channel, comm);
        if let Err(error) = copied {
            channel.abandon();
            return Err(error);
        }
        agree(comm, channel.close().context(&self.path, || "close".into()))?;
        self.publish(comm)?;
        let parts = std::mem::take(&mut self.parts).into_iter().filter(|part| part.path != self.path);
        let removed = parts.into_iter().try_for_each(|part| std::fs::remove_file(&part.path));
        Ok(agree(comm, removed.map_err(|source| OutputError::Io { path: self.path.clone(), source }))?)
    }

    fn copy_parts(&self, channel: &mut Channel, comm: &dyn Communicator) -> Result<(), OutputError> {
        let mut counts: Vec<i64> = self.parts.iter().map(|part| part.frames as i64).collect();
        let mut number = [counts.len() as i64];
        comm.sum_i64(&mut number);
        counts.resize(number[0] as usize, 0);
        comm.sum_i64(&mut counts);
        let mut first = 0;
        for (n, frames) in counts.iter().map(|n| *n as usize).enumerate() {
            let part = self.parts.get(n);
            let caches = SmallCaches::set();
            let opened = part.map(|part| open(&part.path)).transpose();
            drop(caches);
            let file = agree(comm, opened)?;
            for frame in 0..frames {
                self.copy_frame(channel, file.as_ref(), frame, first + frame, comm)?;
            }
            first += frames;
        }
        let step =
            |result: Result<(), netcdf::Error>| agree(comm, result.context(&self.path, || "join its parts".into()));
        step(channel.put_attributes(&self.progress(self.frames)))?;
        step(channel.sync())?;
        Ok(())
    }

    /// Copies a snapshot; the ranks that do not read take part in the collective writes.
    fn copy_frame(
        &self,
        channel: &mut Channel,
        file: Option<&netcdf::File>,
        from: usize,
        to: usize,
        comm: &dyn Communicator,
    ) -> Result<(), OutputError> {
        timers::beat();
        let nc = self.grid.nc();
        for variable in &self.plan.variables {
            let levels = match variable.extent {
                Extent::Full => Some(self.plan.levels),
                Extent::Selected => Some(self.plan.selected.len()),
                Extent::Column => None,
            };
            for level in 0..levels.unwrap_or(1) {
                let region = |record: usize| {
                    let (mut start, mut count) = (vec![record, level, 0, 0, 0], vec![1, 1, 6, nc, nc]);
                    if levels.is_none() {
                        start.remove(1);
                        count.remove(1);
                    }
                    (start, count)
                };
                self.copy(channel, file, &variable.name, storage::<R>(), region(from), region(to), comm)?;
            }
        }
        if self.plan.has_intervals() {
            let region = |record: usize| (vec![record, 0], vec![1, 2]);
            self.copy(channel, file, TIME_BOUNDS, Storage::Double, region(from), region(to), comm)?;
        }
        let totals = self.plan.tracers.iter().map(|t| total_mass_name(t));
        let series = self.spec.series.iter().map(|s| s.name.clone());
        for name in [AIR_TOTAL.to_owned(), TIME.to_owned()].into_iter().chain(totals).chain(series) {
            let region = |record: usize| (vec![record], vec![1]);
            self.copy(channel, file, &name, Storage::Double, region(from), region(to), comm)?;
        }
        Ok(())
    }

    fn copy(
        &self,
        channel: &mut Channel,
        file: Option<&netcdf::File>,
        name: &str,
        kind: Storage,
        from: (Vec<usize>, Vec<usize>),
        to: (Vec<usize>, Vec<usize>),
        comm: &dyn Communicator,
    ) -> Result<(), OutputError> {
        let found = file.map(|file| file.variable(name).ok_or_else(|| netcdf::Error::NotFound(name.into())));
        let action = || format!("copy `{name}` from a part");
        let result = match kind {
            Storage::Float => {
                let values = found.map(|v| v.and_then(|v| v.get_values::<f32, _>(from))).transpose();
                let values = agree(comm, values.context(&self.path, action))?.unwrap_or_default();
                channel.put_root(name, to, Values::Float(&values), comm)
            }
            _ => {
                let values = found.map(|v| v.and_then(|v| v.get_values::<f64, _>(from))).transpose();
                let values = agree(comm, values.context(&self.path, action))?.unwrap_or_default();
                channel.put_root(name, to, Values::Double(&values), comm)
            }
        };
        Ok(agree(comm, result.context(&self.path, action))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &Path, frames: i32) {
        let mut file = netcdf::create(path).unwrap();
        file.add_attribute("completed_snapshots", frames).unwrap();
        file.close().unwrap();
    }

    #[test]
    fn parts_up_to_the_restart_file_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.nc");
        for (first, frames) in [(0, 2), (2, 3), (5, 1)] {
            file(&part_path(&path, first), frames);
        }
        std::fs::write(part_path(&path, 6), "cut off").unwrap();
        let parts = find(&path, 5).unwrap();
        assert_eq!(parts.iter().map(|p| p.frames).collect::<Vec<_>>(), [2, 3]);
        assert!(!part_path(&path, 5).exists() && !part_path(&path, 6).exists());
        // No part ends with snapshot 4.
        let missing = find(&path, 4).unwrap_err().to_string();
        assert!(missing.contains("snapshots 3 to 4"), "{missing}");
        file(&path, 9);
        assert_eq!(find(&path, 4).unwrap(), [Part { path: path.clone(), frames: 4 }]);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        assert_eq!(find(&path, 0).unwrap(), []);
    }
}
