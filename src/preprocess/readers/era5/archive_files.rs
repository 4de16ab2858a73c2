//! Files of the archive and the fields in them.

use std::path::Path;
use std::rc::Rc;

use jiff::civil::Date;

use super::super::archive::{absent, find};
use super::Era5Source;
use super::parameters::Parameter;
use crate::preprocess::PreprocessError;
use crate::preprocess::grib::{GribEntry, GribField, GribFile, GribGrid, GribWanted};

/// Files kept open: core, convection and surface of two days.
const OPEN: usize = 6;

/// Files that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Collection {
    /// Winds, temperature, humidity and surface pressure of a day, hours 0 to 23.
    Core,
    /// Convection of the forecasts that start on a day, at 6 and 18 UTC.
    Convection,
    /// The surface, of a day.
    Surface,
}

impl Collection {
    /// Name in messages.
    fn name(self) -> &'static str {
        match self {
            Self::Core => "winds, humidity and pressure",
            Self::Convection => "convection",
            Self::Surface => "the surface",
        }
    }

    /// Paths below the folder at which a day's file may be.
    pub(super) fn candidates(self, day: Date) -> Vec<String> {
        let (folder, stem) = match self {
            Self::Core => ("ml_an_native_core", "era5_core"),
            Self::Convection => ("ml_fc_convection", "era5_convection"),
            Self::Surface => ("sfc_025", "era5_surface"),
        };
        let file = format!("{stem}_{}", day.strftime("%Y%m%d"));
        let endings: &[&str] = if self == Self::Surface { &["grib", "nc"] } else { &["grib"] };
        endings.iter().flat_map(|ending| [format!("{folder}/{file}.{ending}"), format!("{file}.{ending}")]).collect()
    }
}

/// The files of the archive.
pub(super) struct Files {
    source: Era5Source,
    open: Vec<(Collection, Date, Rc<GribFile>)>,
}

impl Files {
    pub(super) fn new(source: Era5Source) -> Self {
        Self { source, open: Vec::new() }
    }

    /// Where the archive is and what is taken from it.
    pub(super) fn source(&self) -> &Era5Source {
        &self.source
    }

    fn root(&self, collection: Collection) -> &Path {
        if collection == Collection::Core { &self.source.root } else { &self.source.physics_root }
    }

    /// Path of the file of a day.
    ///
    /// # Errors
    /// [`PreprocessError::Day`] if it is not there, [`PreprocessError::File`] if it is there twice.
    pub(super) fn path(&self, day: Date, collection: Collection) -> Result<std::path::PathBuf, PreprocessError> {
        let (root, candidates) = (self.root(collection), collection.candidates(day));
        find(root, &candidates)?.ok_or_else(|| absent(day, collection.name(), root, &candidates))
    }

    /// Whether there is a file.
    pub(super) fn has(&self, day: Date, collection: Collection) -> Result<bool, PreprocessError> {
        Ok(find(self.root(collection), &collection.candidates(day))?.is_some())
    }

    /// The GRIB file of a day, indexed.
    pub(super) fn file(&mut self, day: Date, collection: Collection) -> Result<Rc<GribFile>, PreprocessError> {
        if let Some((_, _, file)) = self.open.iter().find(|(c, d, _)| (*c, *d) == (collection, day)) {
            return Ok(file.clone());
        }
        let file = Rc::new(GribFile::open(&self.path(day, collection)?)?);
        if self.open.len() == OPEN {
            self.open.remove(0);
        }
        self.open.push((collection, day, file.clone()));
        Ok(file)
    }
}

/// The message with a field, and its values.
pub(super) fn read<'a>(file: &'a GribFile, wanted: &GribWanted) -> Result<(&'a GribEntry, GribField), PreprocessError> {
    let entry = file.find(wanted)?;
    Ok((entry, file.field(entry)?))
}

/// Spectrum of a field truncated at `truncation`.
pub(super) fn spectrum(file: &GribFile, wanted: &GribWanted, truncation: usize) -> Result<Vec<f64>, PreprocessError> {
    let (entry, field) = read(file, wanted)?;
    match field.grid {
        GribGrid::Spectral { truncation: found } if found == truncation => Ok(field.values),
        GribGrid::Spectral { truncation: found } => {
            let problem =
                format!("message {} ({wanted}) is truncated at {found}, others at {truncation}", entry.message);
            Err(PreprocessError::file(file.path(), problem, "fetch all fields at one resolution"))
        }
        _ => {
            let problem = format!("message {} ({wanted}) is on a grid", entry.message);
            Err(PreprocessError::file(file.path(), problem, "fetch it in spherical harmonics, as it is archived"))
        }
    }
}

/// Refuses values that a field does not take.
pub(super) fn believe(
    path: &Path,
    parameter: Parameter,
    what: impl std::fmt::Display,
    values: &[f64],
) -> Result<(), PreprocessError> {
    let Parameter { least, most, .. } = parameter;
    match values.iter().position(|v| !(*v >= least && *v <= most)) {
        None => Ok(()),
        Some(n) => {
            let problem = format!("{what} is {} at point {} of {}", values[n], n + 1, values.len());
            Err(PreprocessError::file(
                path,
                problem,
                "no atmosphere has that: check units and field, or fetch the file again",
            ))
        }
    }
}
