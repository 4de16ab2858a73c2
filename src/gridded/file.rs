//! Files.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::calendar::{TimeUnit, time_unit};
use super::stored::{Packing, Unusable, as_text, number, text};
use super::{AxisNames, GriddedError, GriddedVariable};
use crate::files::open_netcdf;

/// A NetCDF file that is open for reading. Variables of groups are called `group/name`.
#[derive(Debug)]
pub struct GriddedFile {
    path: PathBuf,
    file: netcdf::File,
}

impl GriddedFile {
    /// Opens a file.
    ///
    /// # Errors
    /// [`GriddedError::Open`].
    pub fn open(path: &Path) -> Result<Self, GriddedError> {
        let file = open_netcdf(path).map_err(|problem| GriddedError::Open { file: path.into(), problem })?;
        Ok(Self { path: path.into(), file })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names of all variables, those of groups last.
    pub fn variable_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.file.variables().map(|v| v.name()).collect();
        for group in self.file.groups().into_iter().flatten() {
            add_names(&group, "", &mut names);
        }
        names
    }

    /// Names of all dimensions, those of groups last.
    pub fn dimension_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.file.dimensions().map(|d| d.name()).collect();
        for group in self.file.groups().into_iter().flatten() {
            add_dimensions(&group, &mut names);
        }
        names
    }

    /// Whether there is such a variable.
    pub fn has(&self, variable: &str) -> bool {
        self.file.variable(variable).is_some()
    }

    /// A text attribute of a variable; `None` without the variable or the text.
    pub fn text(&self, variable: &str, attribute: &str) -> Option<String> {
        text(&self.file.variable(variable)?, attribute)
    }

    /// A text attribute of the file.
    pub fn file_text(&self, attribute: &str) -> Option<String> {
        as_text(self.file.attribute(attribute)?.value().ok()?)
    }

    /// An attribute of a variable that is a number; `None` without the variable or the number.
    pub fn number(&self, variable: &str, attribute: &str) -> Option<f64> {
        number(&self.file.variable(variable)?, attribute).ok()?
    }

    /// All values of a (small) variable, unpacked, in the order of the file.
    ///
    /// # Errors
    /// [`GriddedError::NoVariable`], [`GriddedError::File`], [`GriddedError::Attribute`], [`GriddedError::Value`].
    pub fn values(&self, variable: &str) -> Result<Vec<f64>, GriddedError> {
        let found = self.found(variable)?;
        let mut values = found.get_values::<f64, _>(..).map_err(|e| self.unreadable(variable, &e.to_string()))?;
        let unusable =
            |found: Unusable| GriddedError::value(&self.path, variable, &format!("value {}", found.at + 1), found);
        self.packing(&found)?.unpack(&mut values).map_err(unusable)?;
        Ok(values)
    }

    /// Values of a time coordinate in s since `origin`.
    ///
    /// # Errors
    /// As for [`GriddedFile::values`], and [`GriddedError::Times`] for units or calendars that are unknown and for times
    /// that do not increase.
    pub fn times(&self, variable: &str, origin: Timestamp) -> Result<Vec<f64>, GriddedError> {
        let values = self.values(variable)?;
        let refuse = |problem| GriddedError::Times { file: self.path.clone(), variable: variable.into(), problem };
        let unit = self.time_unit(variable, origin)?;
        if let Some(n) = (1..values.len()).find(|&n| values[n] <= values[n - 1]) {
            let (this, before) = (values[n], values[n - 1]);
            return Err(refuse(format!("does not increase: value {} is {this}, the one before it {before}", n + 1)));
        }
        Ok(values.iter().map(|v| unit.seconds(*v)).collect())
    }

    fn time_unit(&self, variable: &str, origin: Timestamp) -> Result<TimeUnit, GriddedError> {
        let refuse = |problem| GriddedError::Times { file: self.path.clone(), variable: variable.into(), problem };
        let units = self.text(variable, "units").ok_or_else(|| refuse("has no units".into()))?;
        let calendar = self.text(variable, "calendar");
        time_unit(&units, calendar.as_deref().unwrap_or("standard"), origin).map_err(refuse)
    }

    /// Intervals from the bounds of a time coordinate (attribute `bounds`), in s since `origin`; `None` if it has none.
    ///
    /// # Errors
    /// As for [`GriddedFile::times`]; [`GriddedError::Times`] also for bounds in another number than times, or whose end is
    /// not after their start.
    pub fn time_bounds(&self, variable: &str, origin: Timestamp) -> Result<Option<Vec<[f64; 2]>>, GriddedError> {
        let times = self.times(variable, origin)?;
        let beside = variable.rsplit_once('/').map_or(String::new(), |(group, _)| format!("{group}/"));
        let Some(name) = self.text(variable, "bounds").map(|name| format!("{beside}{name}")).filter(|n| self.has(n))
        else {
            return Ok(None);
        };
        let values = self.values(&name)?;
        let refuse = |problem| GriddedError::Times { file: self.path.clone(), variable: name.clone(), problem };
        if values.len() != 2 * times.len() {
            return Err(refuse(format!("has {} values for {} times", values.len(), times.len())));
        }
        let unit = self.time_unit(variable, origin)?;
        let pairs: Vec<[f64; 2]> = values.chunks_exact(2).map(|pair| [0, 1].map(|n| unit.seconds(pair[n]))).collect();
        match pairs.iter().position(|[from, to]| from >= to) {
            Some(n) => Err(refuse(format!("of record {} do not increase", n + 1))),
            None => Ok(Some(pairs)),
        }
    }

    /// A variable on a longitude-latitude grid.
    ///
    /// # Errors
    /// [`GriddedError::NoVariable`]; [`GriddedError::Dimensions`] if a dimension is unknown, twice there or absent;
    /// [`GriddedError::Axis`] for longitudes or latitudes that are no axis.
    pub fn variable(&self, name: &str, names: &AxisNames) -> Result<GriddedVariable<'_>, GriddedError> {
        GriddedVariable::find(self, name, names)
    }

    /// The variable of this name.
    pub(crate) fn found(&self, variable: &str) -> Result<netcdf::Variable<'_>, GriddedError> {
        self.file.variable(variable).ok_or_else(|| GriddedError::NoVariable {
            file: self.path.clone(),
            variable: variable.into(),
            held: self.variable_names().join(", "),
        })
    }

    /// Variables beside the variable `of` and in the groups around it, the nearest first, with their names.
    pub(super) fn around(&self, of: &str) -> Vec<(String, netcdf::Variable<'_>)> {
        let mut found = Vec::new();
        let mut path = of;
        while let Some((group, _)) = path.rsplit_once('/') {
            let inside = self.file.group(group).ok().flatten();
            let names: Vec<String> =
                inside.iter().flat_map(|g| g.variables().map(|v| v.name()).collect::<Vec<_>>()).collect();
            let named = names.into_iter().map(|name| format!("{group}/{name}"));
            found.extend(named.filter_map(|name| self.file.variable(&name).map(|v| (name, v))));
            path = group;
        }
        found.extend(self.file.variables().map(|v| (v.name(), v)));
        found
    }

    /// How the numbers of a variable stand for values.
    pub(super) fn packing(&self, variable: &netcdf::Variable<'_>) -> Result<Packing, GriddedError> {
        Packing::of(variable).map_err(|problem| GriddedError::Attribute { file: self.path.clone(), problem })
    }

    /// The error of a variable that cannot be read.
    pub(super) fn unreadable(&self, variable: &str, why: &str) -> GriddedError {
        GriddedError::File { file: self.path.clone(), problem: format!("'{variable}' cannot be read ({why})") }
    }
}

/// Adds the names of the dimensions of a group and of the groups in it.
fn add_dimensions(group: &netcdf::Group<'_>, names: &mut Vec<String>) {
    names.extend(group.dimensions().map(|d| d.name()));
    for inner in group.groups() {
        add_dimensions(&inner, names);
    }
}

/// Adds the names of the variables of a group and of the groups in it.
fn add_names(group: &netcdf::Group<'_>, path: &str, names: &mut Vec<String>) {
    let path = format!("{path}{}/", group.name());
    names.extend(group.variables().map(|v| format!("{path}{}", v.name())));
    for inner in group.groups() {
        add_names(&inner, &path, names);
    }
}
