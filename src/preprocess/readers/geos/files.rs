//! Which file holds what, and fields of the archive on the target's cells.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use jiff::{SignedDuration, civil::Date};
use rayon::prelude::*;

use super::super::archive::{
    LayerOrder, PhysicsGroup, Sampling, Variable, absent, check_interval, check_times, day_after, find, start_of,
};
use super::bilinear::Bilinear;
use super::cube::CubeFile;
use super::fallback::{LatLonFile, LatLonPhysics};
use super::layout::{Collection, GeosProduct, fp_candidates, fp_cube_candidates, fp_latlon_candidates, it_candidates};
use super::mapping::Mapping;
use super::{GeosSource, HOURS};
use crate::gridded::GriddedFile;
use crate::preprocess::{PreprocessError, Target};

/// Files kept open.
const OPEN: usize = 8;

/// Where the values of a file lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lies {
    Cube,
    LatLon,
}

/// What a file is.
enum Kind {
    Cube(CubeFile),
    LatLon(LatLonFile),
}

/// An open file, with the order of its layers once that is asked for or found.
pub(super) struct Opened {
    path: PathBuf,
    kind: Kind,
    order: Cell<Option<LayerOrder>>,
}

impl Opened {
    /// Whether there is a variable.
    pub(super) fn has(&self, variable: Variable) -> bool {
        match &self.kind {
            Kind::Cube(file) => file.has(variable),
            Kind::LatLon(file) => file.has(variable),
        }
    }

    /// The file as one of the archive's cube; those with transport and states are.
    pub(super) fn cube(&self) -> &CubeFile {
        match &self.kind {
            Kind::Cube(file) => file,
            Kind::LatLon(_) => unreachable!("transport and states lie on the cube"),
        }
    }
}

/// The files of the archive.
pub(super) struct Files<'a> {
    pub source: GeosSource,
    pub target: &'a Target,
    pub mapping: Mapping,
    layers: usize,
    /// Grid of physics that lie on longitudes and latitudes.
    latlon: Option<LatLonPhysics>,
    open: Vec<Rc<Opened>>,
}

impl<'a> Files<'a> {
    /// The archive, with `layers` layers; where physics lie is told by the files of `day`.
    pub(super) fn new(
        target: &'a Target,
        source: GeosSource,
        layers: usize,
        day: Date,
    ) -> Result<Self, PreprocessError> {
        let mapping = Mapping::new(target, source.nc)?;
        let mut files = Self { source, target, mapping, layers, latlon: None, open: Vec::new() };
        let (states, _) = files.states(day, 0)?;
        states.cube().check_centres(files.mapping.grid())?;
        if files.source.product == GeosProduct::Fp && !files.source.physics.is_empty() {
            files.latlon = files.latlon_physics(day)?;
        }
        Ok(files)
    }

    /// Layers of the archive.
    pub(super) fn layers(&self) -> usize {
        self.layers
    }

    /// The grid of the physics of `day`, unless they lie on the cube.
    fn latlon_physics(&mut self, day: Date) -> Result<Option<LatLonPhysics>, PreprocessError> {
        let (collection, variable) = match self.source.physics.contains(&PhysicsGroup::Surface) {
            true => (Collection::Surface, Variable::Pblh),
            false => (Collection::Interfaces, Variable::Cmfmc),
        };
        let root = self.source.physics_root.clone();
        if find(&root, &fp_cube_candidates(collection, self.source.nc, day))?.is_some() {
            return Ok(None);
        }
        let candidates = fp_latlon_candidates(collection, day);
        let Some(path) = find(&root, &candidates)? else {
            let cube = fp_cube_candidates(collection, self.source.nc, day);
            return Err(absent(day, collection.name(), &root, &[candidates, cube].concat()));
        };
        let axes = LatLonFile::new(GriddedFile::open(&path)?).axes(variable)?;
        let bilinear = Bilinear::new(&axes, self.mapping.grid());
        Ok(Some(LatLonPhysics { axes, bilinear }))
    }

    /// File and record with the transport of an hour.
    pub(super) fn transport(&mut self, day: Date, hour: usize) -> Result<(Rc<Opened>, usize), PreprocessError> {
        match self.source.product {
            GeosProduct::It => Ok((self.of_day(Collection::Transport, day)?, hour)),
            GeosProduct::Fp => Ok((self.of_hour(day, hour)?, 0)),
        }
    }

    /// File and record with the states at the start of an hour.
    pub(super) fn states(&mut self, day: Date, hour: usize) -> Result<(Rc<Opened>, usize), PreprocessError> {
        match self.source.product {
            GeosProduct::It => Ok((self.of_day(Collection::States, day)?, hour)),
            GeosProduct::Fp => Ok((self.of_hour(day, hour)?, 0)),
        }
    }

    /// File with physics of a day.
    pub(super) fn physics(&mut self, day: Date, collection: Collection) -> Result<Rc<Opened>, PreprocessError> {
        self.of_day(collection, day)
    }

    /// Refuses a day some file of which is not there.
    pub(super) fn need(&self, day: Date) -> Result<(), PreprocessError> {
        let next = day_after(day)?;
        match self.source.product {
            GeosProduct::It => {
                self.path_of_day(Collection::Transport, day)?;
                [day, next].into_iter().try_for_each(|day| self.path_of_day(Collection::States, day).map(drop))?;
            }
            GeosProduct::Fp => {
                (0..HOURS).try_for_each(|hour| self.path_of_hour(day, hour).map(drop))?;
                self.path_of_hour(next, 0)?;
            }
        }
        let groups: [(PhysicsGroup, &[Collection]); 3] = [
            (PhysicsGroup::Surface, &[Collection::Surface]),
            (PhysicsGroup::Convection, &[Collection::Interfaces, Collection::Dynamics]),
            (PhysicsGroup::Vdiff, &[Collection::Dynamics, Collection::Temperature]),
        ];
        let wanted = groups.into_iter().filter(|(group, _)| self.source.physics.contains(group));
        wanted.flat_map(|(_, files)| files).try_for_each(|which| self.path_of_day(*which, day).map(drop))
    }

    fn path_of_hour(&self, day: Date, hour: usize) -> Result<PathBuf, PreprocessError> {
        let (root, candidates) = (&self.source.root, fp_candidates(self.source.nc, day, hour));
        find(root, &candidates)?
            .ok_or_else(|| absent(day, &format!("tavg_1hr_ctm at hour {hour:02}"), root, &candidates))
    }

    fn path_of_day(&self, collection: Collection, day: Date) -> Result<PathBuf, PreprocessError> {
        let source = &self.source;
        let (root, candidates) = match (source.product, &self.latlon) {
            (GeosProduct::It, _) => (&source.root, it_candidates(collection, source.nc, day)),
            (GeosProduct::Fp, None) => (&source.physics_root, fp_cube_candidates(collection, source.nc, day)),
            (GeosProduct::Fp, Some(_)) => (&source.physics_root, fp_latlon_candidates(collection, day)),
        };
        find(root, &candidates)?.ok_or_else(|| absent(day, collection.name(), root, &candidates))
    }

    fn of_hour(&mut self, day: Date, hour: usize) -> Result<Rc<Opened>, PreprocessError> {
        let path = self.path_of_hour(day, hour)?;
        self.opened(path, Lies::Cube, |file| {
            let start = start_of(day) + SignedDuration::from_hours(hour as i64);
            check_interval(file, start, 1, 3600.0, Sampling::Means)
        })
    }

    fn of_day(&mut self, collection: Collection, day: Date) -> Result<Rc<Opened>, PreprocessError> {
        let path = self.path_of_day(collection, day)?;
        let lies = if self.latlon.is_some() { Lies::LatLon } else { Lies::Cube };
        self.opened(path, lies, |file| check_times(file, day, collection.records(), collection.sampling()))
    }

    /// The file at `path`, checked when it is opened.
    fn opened(
        &mut self,
        path: PathBuf,
        lies: Lies,
        check: impl FnOnce(&GriddedFile) -> Result<(), PreprocessError>,
    ) -> Result<Rc<Opened>, PreprocessError> {
        if let Some(at) = self.open.iter().position(|o| o.path == path) {
            return Ok(self.open[at].clone());
        }
        let file = GriddedFile::open(&path)?;
        check(&file)?;
        let kind = match lies {
            Lies::LatLon => Kind::LatLon(LatLonFile::new(file)),
            Lies::Cube => Kind::Cube(CubeFile::new(file, self.source.nc)),
        };
        let order = Cell::new(LayerOrder::asked(self.source.order));
        let opened = Rc::new(Opened { path, kind, order });
        if self.open.len() == OPEN {
            self.open.remove(0);
        }
        self.open.push(opened.clone());
        Ok(opened)
    }

    /// Order of the layers of a file on the cube: as asked for; by its own thickness or humidity; as in the transport of the
    /// day; for physics of GEOS-FP by convection.
    pub(super) fn order(
        &mut self,
        opened: &Opened,
        day: Date,
        convective: Option<Variable>,
    ) -> Result<LayerOrder, PreprocessError> {
        if let Some(order) = opened.order.get() {
            return Ok(order);
        }
        let order = match (opened.cube().own_order()?, self.source.product, convective) {
            (Some(order), ..) => order,
            (None, GeosProduct::Fp, Some(variable)) => opened.cube().convective_order(variable)?,
            (None, ..) => {
                let (transport, _) = self.transport(day, 0)?;
                self.order(&transport, day, None)?
            }
        };
        opened.order.set(Some(order));
        Ok(order)
    }

    /// Means over the target's cells of a variable of the ground.
    pub(super) fn ground(&mut self, day: Date, which: Variable, record: usize) -> Result<Vec<f64>, PreprocessError> {
        let opened = self.physics(day, Collection::Surface)?;
        let fine = match (&opened.kind, &self.latlon) {
            (Kind::LatLon(file), Some(LatLonPhysics { axes, bilinear })) => {
                let stored = file.record(which, record, 1, &opened.order, axes)?;
                let mut fine = vec![0.0; self.mapping.cells()];
                bilinear.level(&stored, &mut fine);
                fine
            }
            _ => opened.cube().plane(which, record)?,
        };
        let mut out = vec![0.0; self.target.cells()];
        self.mapping.means(&fine, &mut out);
        Ok(out)
    }

    /// Means over the target's cells of a variable of layers, or of interfaces for CMFMC, `[layer][cell]`.
    pub(super) fn means(
        &mut self,
        day: Date,
        collection: Collection,
        which: Variable,
        record: usize,
    ) -> Result<Vec<f64>, PreprocessError> {
        let opened = self.physics(day, collection)?;
        self.means_of(&opened, day, which, record)
    }

    /// The same for a file that is open.
    pub(super) fn means_of(
        &mut self,
        opened: &Opened,
        day: Date,
        which: Variable,
        record: usize,
    ) -> Result<Vec<f64>, PreprocessError> {
        let levels = self.layers + usize::from(which == Variable::Cmfmc);
        let cells = self.target.cells();
        let mut out = vec![0.0; levels * cells];
        if let (Kind::LatLon(file), Some(LatLonPhysics { axes, bilinear })) = (&opened.kind, &self.latlon) {
            let stored = file.record(which, record, levels, &opened.order, axes)?;
            let mapping = &self.mapping;
            let plane = stored.len() / levels;
            let pairs = out.par_chunks_mut(cells).zip(stored.par_chunks(plane));
            pairs.for_each_init(
                || vec![0.0; mapping.cells()],
                |fine, (out, level)| {
                    bilinear.level(level, fine);
                    mapping.means(fine, out);
                },
            );
            return Ok(out);
        }
        let convective = matches!(which, Variable::Cmfmc | Variable::Dtrain);
        let order = self.order(opened, day, convective.then_some(which))?;
        let (file, mapping) = (opened.cube(), &self.mapping);
        for range in file.slabs(which, levels)? {
            let values = file.slab(which, record, range.clone(), levels, order)?;
            let out = out[range.start * cells..range.end * cells].par_chunks_mut(cells);
            out.zip(values.par_chunks(mapping.cells())).for_each(|(out, level)| mapping.means(level, out));
        }
        if convective {
            let means: Vec<f64> = out.chunks(cells).map(|level| level.iter().sum::<f64>() / cells as f64).collect();
            file.check_convection(which, &means)?;
        }
        Ok(out)
    }

    /// Winds of layers towards east and north over the target's cells, `[layer][cell]` each.
    pub(super) fn winds(&mut self, day: Date, record: usize) -> Result<[Vec<f64>; 2], PreprocessError> {
        let opened = self.physics(day, Collection::Dynamics)?;
        let order = self.order(&opened, day, None)?;
        let (file, mapping, target) = (opened.cube(), &self.mapping, self.target);
        let (layers, cells) = (self.layers, target.cells());
        let (mut east, mut north) = (vec![0.0; layers * cells], vec![0.0; layers * cells]);
        for range in file.slabs(Variable::U, layers)? {
            let read = |which| file.slab(which, record, range.clone(), layers, order);
            let (u, v) = (read(Variable::U)?, read(Variable::V)?);
            let span = range.start * cells..range.end * cells;
            let out = east[span.clone()].par_chunks_mut(cells).zip(north[span].par_chunks_mut(cells));
            let stored = u.par_chunks(mapping.cells()).zip(v.par_chunks(mapping.cells()));
            out.zip(stored).for_each(|((east, north), (u, v))| mapping.winds([u, v], target, [east, north]));
        }
        Ok([east, north])
    }

    /// Folder of the archive.
    pub(super) fn root(&self) -> &Path {
        &self.source.root
    }
}
