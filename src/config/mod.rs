//! Run configuration (TOML).
//!
//! [`RunConfig::load`] reads, checks and types a file. Everything wrong with it is reported together, before any
//! work, each problem with its line and a remedy: unknown keys (with the nearest known name), keys and values that
//! are not part of this version, wrong types and ranges, and keys that contradict or do not belong to each other.
//! No key is ever ignored.

mod advection;
mod check;
mod chemistry;
mod emissions;
mod error;
mod explain;
pub mod fluxes;
mod input;
mod inventories;
pub mod keys;
mod output;
mod paths;
mod physics;
mod preflight;
pub mod preprocess;
mod read;
mod records;
mod restart;
mod settings;
mod source_files;
mod tracers;

use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::DeTable;

mod targets;

pub use advection::{Advection, CflExcess};
pub use chemistry::{Chemistry, DecayCadence};
pub use emissions::{EmissionConfig, EmissionSource};
pub use error::{ConfigErrors, Problem};
pub use explain::{explain, explain_fluxes, explain_preprocessing};
pub use input::{Expectations, Input, Source};
pub use output::{Output, Schedule};
pub use physics::Physics;
pub use preflight::Preflight;
pub use read::{Named, parse_utc};
pub use restart::{Carries, OnSignal, Restart};
pub use settings::{AirMassReset, PhysicsCadence, Settings};
pub use tracers::Tracer;

use error::Problems;
use read::View;

/// A complete, checked run configuration. Paths are expanded; relative ones are taken from the configuration file's
/// folder.
#[derive(Debug, Clone, PartialEq)]
pub struct RunConfig {
    /// The file it came from.
    pub path: PathBuf,
    /// Text of the file, for provenance.
    pub text: String,
    /// Meteorology.
    pub input: Input,
    /// `[architecture]`, `[numerics]`, `[run]` and `[decomposition]`.
    pub settings: Settings,
    /// Advection.
    pub advection: Advection,
    /// Diffusion and convection.
    pub physics: Physics,
    /// Decay.
    pub chemistry: Chemistry,
    /// Tracers in the order in which they are carried: ascending names.
    pub tracers: Vec<Tracer>,
    /// Snapshots; `None` if nothing is written.
    pub output: Option<Output>,
    /// Restart files; `None` if none are written.
    pub restart: Option<Restart>,
}

impl RunConfig {
    /// Reads and checks a configuration file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is not TOML, or breaks a rule; all broken rules are listed.
    pub fn load(path: &Path) -> Result<Self, ConfigErrors> {
        let text = read_file(path)?;
        Self::parse(&text, path)
    }

    /// Checks the text of a configuration file; `path` names it in messages and is the base of relative paths.
    ///
    /// # Errors
    ///
    /// As for [`RunConfig::load`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigErrors> {
        let mut problems = Problems::default();
        let root = parsed(text, path)?;
        let top = keys::Section::at("").expect("the top level is a section");
        check::document(top, root.get_ref(), &mut problems);
        let view = View::root(top, root.get_ref());
        let base = paths::Base::of(path);
        let input = input::read(&view, &base, &mut problems);
        let advection = advection::read(&view, &mut problems);
        let settings = settings::read(&view, &base, &advection, &input, &mut problems);
        let physics = physics::read(&view, &mut problems);
        let tracers = tracers::read(&view, &base, &input, &advection, &mut problems);
        let chemistry = chemistry::read(&view, &tracers, settings.physics_cadence, &mut problems);
        let output = output::read(&view, &base, &tracers, &mut problems);
        let restart = restart::read(&view, &base, path, output.as_ref(), &mut problems);
        let problems = problems.into_vec();
        if !problems.is_empty() {
            return Err(ConfigErrors::new(path, text, problems));
        }
        Ok(Self {
            path: path.to_path_buf(),
            text: text.to_owned(),
            input,
            settings,
            advection,
            physics,
            chemistry,
            tracers,
            output,
            restart,
        })
    }
}

/// The document in `text`, or all errors of its syntax.
fn parsed<'a>(text: &'a str, path: &Path) -> Result<Spanned<DeTable<'a>>, ConfigErrors> {
    let (root, syntax) = DeTable::parse_recoverable(text);
    if syntax.is_empty() {
        return Ok(root);
    }
    let mut problems = Problems::default();
    for e in &syntax {
        problems.add("", e.span(), format!("not valid TOML: {}", e.message()), "");
    }
    Err(ConfigErrors::new(path, text, problems.into_vec()))
}

fn read_file(path: &Path) -> Result<String, ConfigErrors> {
    let bytes = std::fs::read(path).map_err(|e| ConfigErrors::unreadable(path, format!("cannot be read: {e}")))?;
    String::from_utf8(bytes).map_err(|_| ConfigErrors::unreadable(path, "is not a text file in UTF-8".into()))
}

#[cfg(test)]
mod tests;
