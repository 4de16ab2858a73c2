//! Physics of GEOS-FP, which lies on longitudes and latitudes or on the cube of the archive.

use std::cell::Cell;

use super::super::archive::{
    LayerOrder, Variable, check_convection, check_units, check_values, flipped, from_convection,
};
use super::bilinear::Bilinear;
use crate::gridded::{AxisNames, GriddedFile, GriddedVariable, Missing};
use crate::preprocess::PreprocessError;
use crate::regrid::LatLonAxes;

/// A file on longitudes and latitudes.
pub(super) struct LatLonFile {
    file: GriddedFile,
}

impl LatLonFile {
    /// An open file.
    pub(super) fn new(file: GriddedFile) -> Self {
        Self { file }
    }

    /// Whether there is a variable.
    pub(super) fn has(&self, variable: Variable) -> bool {
        self.file.has(variable.name())
    }

    /// Longitudes and latitudes of a variable.
    ///
    /// # Errors
    /// [`PreprocessError::File`] if they do not go around the sphere.
    pub(super) fn axes(&self, which: Variable) -> Result<LatLonAxes, PreprocessError> {
        let found = self.file.variable(which.name(), &AxisNames::default())?;
        if !found.axes().mesh().covers_sphere() {
            let problem = format!("'{}' does not cover the sphere", which.name());
            return Err(PreprocessError::file(self.file.path(), problem, "fetch files of the whole globe"));
        }
        Ok(found.axes().clone())
    }

    /// Record `record` of a variable of `levels` levels, from the model top down, `[level][lat][lon]` in SI units. An `order` that
    /// is not known is found by the variable, which must be one of convection.
    pub(super) fn record(
        &self,
        which: Variable,
        record: usize,
        levels: usize,
        order: &Cell<Option<LayerOrder>>,
        axes: &LatLonAxes,
    ) -> Result<Vec<f64>, PreprocessError> {
        let found = self.file.variable(which.name(), &AxisNames::default())?;
        self.check_shape(&found, levels, axes)?;
        let by = check_units(self.file.path(), which, found.units().as_deref())?;
        let mut values = found.read(record, 0..levels, Missing::Refuse)?;
        let nlon = axes.mesh().nlon();
        let plane = values.len() / levels;
        check_values(self.file.path(), which, by, &mut values, |n| {
            let level = if levels > 1 { format!("level {}, ", n / plane + 1) } else { String::new() };
            let (row, column) = (n % plane / nlon, n % nlon);
            let (lat, lon) = (found.axes().stored_row(row) + 1, found.axes().stored_column(column) + 1);
            format!("time {}, {level}latitude {lat}, longitude {lon}", record + 1)
        })?;
        if levels == 1 {
            return Ok(values);
        }
        let found = match order.get() {
            Some(order) => order,
            None => from_convection(self.file.path(), which.name(), &values, levels)?,
        };
        order.set(Some(found));
        let values = flipped(values, levels, found);
        check_convection(self.file.path(), which.name(), &values, levels)?;
        Ok(values)
    }

    fn check_shape(
        &self,
        found: &GriddedVariable<'_>,
        levels: usize,
        axes: &LatLonAxes,
    ) -> Result<(), PreprocessError> {
        const HELP: &str = "all files of the physics have one grid, and the layers of the archive";
        let problem = if found.axes().mesh() != axes.mesh() {
            format!("'{}' lies on other longitudes and latitudes than the files before", found.name())
        } else if found.levels() != levels {
            format!("'{}' has {} levels, expected {levels}", found.name(), found.levels())
        } else {
            return Ok(());
        };
        Err(PreprocessError::file(self.file.path(), problem, HELP))
    }
}

/// Grid of the physics, and how it gets to the archive's cells.
pub(super) struct LatLonPhysics {
    pub axes: LatLonAxes,
    pub bilinear: Bilinear,
}
