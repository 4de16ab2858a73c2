//! Records of the files of MERRA-2, from the model top down and in SI units.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use jiff::civil::Date;

use super::super::archive::{
    LayerOrder, Variable, absent, check_convection, check_times, check_units, check_values, find, flipped, from_ends,
};
use super::Merra2Source;
use super::layout::Collection;
use crate::gridded::{AxisNames, GriddedFile, GriddedVariable, Missing};
use crate::preprocess::PreprocessError;
use crate::regrid::LatLonAxes;

/// Files kept open: those of a day, and the states of the next one.
const OPEN: usize = 6;

/// A file of a day that is open, with the order of its layers once that is asked for or found.
struct Opened {
    day: Date,
    collection: Collection,
    file: GriddedFile,
    order: Cell<Option<LayerOrder>>,
}

/// The files of the archive.
pub(super) struct Files {
    source: Merra2Source,
    axes: LatLonAxes,
    names: AxisNames,
    layers: usize,
    open: Vec<Rc<Opened>>,
}

impl Files {
    /// The archive with the grid of the states of `day`, whose files must have `layers` layers.
    pub(super) fn new(source: Merra2Source, layers: usize, day: Date) -> Result<Self, PreprocessError> {
        let names = AxisNames::default();
        let file = open(&source, day, Collection::States)?;
        let axes = file.variable(Variable::Qv.name(), &names)?.axes().clone();
        if !axes.mesh().covers_sphere() {
            let problem = "'QV' does not cover the sphere".to_owned();
            return Err(PreprocessError::file(file.path(), problem, "fetch files of the whole globe"));
        }
        Ok(Self { source, axes, names, layers, open: Vec::new() })
    }

    /// Where the archive is and what is taken from it.
    pub(super) fn source(&self) -> &Merra2Source {
        &self.source
    }

    /// Longitudes and latitudes of all files.
    pub(super) fn axes(&self) -> &LatLonAxes {
        &self.axes
    }

    /// Whether there is a file.
    pub(super) fn has(&self, day: Date, collection: Collection) -> Result<bool, PreprocessError> {
        Ok(find(&self.source.root, &collection.candidates(self.source.layout, day))?.is_some())
    }

    /// Refuses a day without a file of a collection.
    pub(super) fn need(&self, day: Date, collection: Collection) -> Result<(), PreprocessError> {
        path(&self.source, day, collection).map(drop)
    }

    /// Whether the file of a day has a variable.
    pub(super) fn holds(
        &mut self,
        day: Date,
        collection: Collection,
        variable: Variable,
    ) -> Result<bool, PreprocessError> {
        Ok(self.opened(day, collection)?.file.has(variable.name()))
    }

    /// Record `n` of a variable of layers: `[layer][lat][lon]`, or `[interface][lat][lon]` for CMFMC.
    pub(super) fn layers(
        &mut self,
        day: Date,
        collection: Collection,
        variable: Variable,
        n: usize,
    ) -> Result<Vec<f64>, PreprocessError> {
        let levels = self.layers + usize::from(variable == Variable::Cmfmc);
        let order = self.order(day, collection)?;
        let opened = self.opened(day, collection)?;
        let mut values = self.read(&opened.file, variable, n, levels)?;
        values = flipped(values, levels, order);
        if matches!(variable, Variable::Cmfmc | Variable::Dtrain) {
            check_convection(opened.file.path(), variable.name(), &values, levels)?;
        }
        Ok(values)
    }

    /// Record `n` of a variable of the ground, `[lat][lon]`.
    pub(super) fn plane(
        &mut self,
        day: Date,
        collection: Collection,
        variable: Variable,
        n: usize,
    ) -> Result<Vec<f64>, PreprocessError> {
        let opened = self.opened(day, collection)?;
        self.read(&opened.file, variable, n, 1)
    }

    /// Order of the layers of a file: as asked for; by its own humidity; else as in the states of the day.
    fn order(&mut self, day: Date, collection: Collection) -> Result<LayerOrder, PreprocessError> {
        let opened = self.opened(day, collection)?;
        if let Some(order) = opened.order.get() {
            return Ok(order);
        }
        let order = if opened.file.has(Variable::Qv.name()) {
            let humidity = opened.file.variable(Variable::Qv.name(), &self.names)?;
            let mean = |k: usize| {
                let layer = humidity.read(0, k..k + 1, Missing::Refuse)?;
                Ok::<_, PreprocessError>(layer.iter().sum::<f64>() / layer.len() as f64)
            };
            from_ends(opened.file.path(), Variable::Qv.name(), mean(0)?, mean(humidity.levels() - 1)?)?
        } else {
            self.order(day, Collection::States)?
        };
        opened.order.set(Some(order));
        Ok(order)
    }

    /// The file of a collection of a day, its times checked.
    fn opened(&mut self, day: Date, collection: Collection) -> Result<Rc<Opened>, PreprocessError> {
        if let Some(at) = self.open.iter().position(|o| o.day == day && o.collection == collection) {
            return Ok(self.open[at].clone());
        }
        let file = open(&self.source, day, collection)?;
        let opened = Rc::new(Opened { day, collection, file, order: Cell::new(LayerOrder::asked(self.source.order)) });
        if self.open.len() == OPEN {
            self.open.remove(0);
        }
        self.open.push(opened.clone());
        Ok(opened)
    }

    fn read(
        &self,
        file: &GriddedFile,
        variable: Variable,
        n: usize,
        levels: usize,
    ) -> Result<Vec<f64>, PreprocessError> {
        let found = file.variable(variable.name(), &self.names)?;
        self.check_shape(file.path(), &found, levels)?;
        let by = check_units(file.path(), variable, found.units().as_deref())?;
        let mut values = found.read(n, 0..levels, Missing::Refuse)?;
        let (nlon, nlat, axes) = (self.axes.mesh().nlon(), self.axes.mesh().nlat(), found.axes());
        check_values(file.path(), variable, by, &mut values, |at| {
            let (level, cell) = (at / (nlon * nlat), at % (nlon * nlat));
            let level = if levels > 1 { format!("level {}, ", level + 1) } else { String::new() };
            let (lat, lon) = (axes.stored_row(cell / nlon) + 1, axes.stored_column(cell % nlon) + 1);
            format!("time {}, {level}latitude {lat}, longitude {lon}", n + 1)
        })?;
        Ok(values)
    }

    fn check_shape(&self, path: &Path, found: &GriddedVariable<'_>, levels: usize) -> Result<(), PreprocessError> {
        const HELP: &str = "all files of the archive have one grid and one set of layers (`vertical.levels`)";
        if found.axes().mesh() != self.axes.mesh() {
            let (here, there) = (found.axes().mesh(), self.axes.mesh());
            let words = format!(
                "'{}' lies on {} × {} longitudes and latitudes, the states of the first day on {} × {} (or elsewhere)",
                found.name(),
                here.nlon(),
                here.nlat(),
                there.nlon(),
                there.nlat()
            );
            return Err(PreprocessError::file(path, words, HELP));
        }
        if found.levels() != levels {
            let problem = format!("'{}' has {} levels, expected {levels}", found.name(), found.levels());
            return Err(PreprocessError::file(path, problem, HELP));
        }
        Ok(())
    }
}

/// Path of the file of a collection of a day.
fn path(source: &Merra2Source, day: Date, collection: Collection) -> Result<PathBuf, PreprocessError> {
    let candidates = collection.candidates(source.layout, day);
    find(&source.root, &candidates)?
        .ok_or_else(|| absent(day, collection.name(source.layout), &source.root, &candidates))
}

/// Opens the file of a collection of a day.
fn open(source: &Merra2Source, day: Date, collection: Collection) -> Result<GriddedFile, PreprocessError> {
    let file = GriddedFile::open(&path(source, day, collection)?)?;
    check_times(&file, day, collection.records(), collection.sampling())?;
    Ok(file)
}
