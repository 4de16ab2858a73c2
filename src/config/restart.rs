//! `[restart]`.

use std::path::{Path, PathBuf};

use super::Output;
use super::error::Problems;
use super::paths::Base;
use super::read::View;
use crate::restart::RestartFolder;

/// What signals do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnSignal {
    /// The run stops at the end of a window, with a restart file.
    Save,
    /// The run ends at once.
    End,
}

/// What happens to what rounding left over when a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carries {
    /// It is taken over.
    Kept,
    /// It is lost.
    Reset,
}

/// `[restart]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Restart {
    /// Hours between files; `None`: only at the end.
    pub every_hours: Option<f64>,
    /// Files that are kept.
    pub keep: usize,
    /// Where they are.
    pub folder: RestartFolder,
    /// What signals do.
    pub on_signal: OnSignal,
    /// What happens to carries when a run goes on.
    pub carries: Carries,
}

/// Reads `[restart]`; `None` without the table.
pub(super) fn read(
    root: &View<'_>,
    base: &Base,
    config: &Path,
    output: Option<&Output>,
    problems: &mut Problems,
) -> Option<Restart> {
    let view = root.table("restart");
    if !view.present() {
        return None;
    }
    let stem = config.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = match view.text("dir") {
        Some(text) => {
            let folder = base.resolve(&text, problems)?;
            if folder.exists() && !folder.is_dir() {
                let message = format!("`{}`: {} is a file, not a folder", text.key, folder.display());
                problems.add(&text.key, Some(text.span), message, "name a folder");
            }
            folder
        }
        None => {
            let beside = output.map_or(config, |output| &output.path);
            let parent = beside.parent().map(PathBuf::from).unwrap_or_default();
            parent.join(format!("{stem}.restart"))
        }
    };
    Some(Restart {
        every_hours: view.float("every").map(|hours| hours.value),
        keep: usize::try_from(view.int_or_default("keep")).unwrap_or(1),
        folder: RestartFolder::new(folder, stem),
        on_signal: if view.bool_or_default("on_signal") { OnSignal::Save } else { OnSignal::End },
        carries: if view.bool_or_default("reset_carries") { Carries::Reset } else { Carries::Kept },
    })
}
