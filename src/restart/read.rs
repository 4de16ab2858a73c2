//! Reading a restart file.

use std::path::{Path, PathBuf};

use kernels::Scalar;

use super::{CHECKSUM, Checksum, FieldLevels, LAYOUT, RestartError, STATE, VERSION, state_attribute, whole};
use crate::comm::{Communicator, agree};
use crate::files::{SmallCaches, open_netcdf};
use crate::output::Rectangle;
use crate::state::Slabs;

/// A restart file, open for reading.
#[derive(Debug)]
pub struct RestartFile {
    path: PathBuf,
    file: netcdf::File,
    state: String,
}

impl RestartFile {
    /// Refuses a file that is not, byte by byte, the one that was written. To be asked once, by one rank, before any opens it.
    ///
    /// # Errors
    /// The file cannot be read, is no restart file, or is damaged.
    pub fn check(path: &Path) -> Result<(), RestartError> {
        whole::check(path)
    }

    /// Opens a file that [`RestartFile::check`] has found whole, and reads the state that is no field.
    ///
    /// # Errors
    /// The file cannot be read, or is no restart file of this version.
    pub fn open(path: &Path) -> Result<Self, RestartError> {
        let damaged = |problem: String| RestartError::Damaged { path: path.into(), problem };
        let _caches = SmallCaches::set();
        let file = open_netcdf(path).map_err(|e| damaged(e.to_string()))?;
        let attribute = |name: &str| file.attribute(name).and_then(|a| a.value().ok());
        match attribute(VERSION) {
            Some(netcdf::AttributeValue::Int(LAYOUT)) => {}
            Some(netcdf::AttributeValue::Int(other)) => {
                return Err(damaged(format!("its layout is version {other}, this program knows version {LAYOUT}")));
            }
            _ => return Err(damaged(format!("it has no attribute `{VERSION}`: this is no restart file"))),
        }
        let mut state = String::new();
        for n in 0.. {
            match attribute(&state_attribute(n)) {
                Some(netcdf::AttributeValue::Str(piece)) => state += &piece,
                _ => break,
            }
        }
        if state.is_empty() {
            return Err(damaged(format!("it has no attribute `{STATE}`")));
        }
        Ok(Self { path: path.into(), file, state })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The state that is no field, JSON.
    pub fn state(&self) -> &str {
        &self.state
    }

    /// Whether there is a field.
    pub fn has(&self, name: &str) -> bool {
        self.file.variable(name).is_some()
    }

    /// An error of this file.
    pub fn damaged(&self, problem: impl Into<String>) -> RestartError {
        RestartError::Damaged { path: self.path.clone(), problem: problem.into() }
    }

    /// Reads this rank's cells of a field into a plane of a storage for a grid of `nc` cells per panel edge. Collective.
    ///
    /// # Errors
    /// The field is not there, has another shape, or is not what was written.
    pub fn read_plane<R: Scalar>(
        &self,
        name: &str,
        (slabs, plane, levels): (&mut Slabs<R>, usize, FieldLevels),
        nc: usize,
        comm: &dyn Communicator,
    ) -> Result<(), RestartError> {
        agree(comm, self.read_own(name, slabs, plane, levels, nc))?;
        let mut sum = Checksum::default();
        sum.add_plane(slabs, plane, levels.count(slabs), nc);
        let sum = Checksum::reduce(&[sum], comm)[0];
        let variable = self.file.variable(name).ok_or_else(|| self.absent(name))?;
        self.compare(&variable, sum)
    }

    fn read_own<R: Scalar>(
        &self,
        name: &str,
        slabs: &mut Slabs<R>,
        plane: usize,
        levels: FieldLevels,
        nc: usize,
    ) -> Result<(), RestartError> {
        let variable = self.file.variable(name).ok_or_else(|| self.absent(name))?;
        let shape: Vec<usize> = variable.dimensions().iter().map(netcdf::Dimension::len).collect();
        let expected = match levels {
            FieldLevels::All => vec![1, slabs.levels(), 6, nc, nc],
            FieldLevels::One => vec![1, 6, nc, nc],
        };
        if shape != expected {
            return Err(self.damaged(format!("`{name}` has the shape {shape:?}, expected {expected:?}")));
        }
        let set = slabs.tile_set().clone();
        for (tile, (place, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
            let r = Rectangle::of(place);
            for level in 0..levels.count(slabs) {
                let (mut start, mut count) = (vec![0, level, r.panel, r.j0, r.i0], vec![1, 1, 1, r.nj, r.ni]);
                if levels == FieldLevels::One {
                    start.remove(1);
                    count.remove(1);
                }
                let values = variable.get_values::<f64, _>((start, count)).map_err(|e| self.unreadable(name, e))?;
                let into = slabs.plane_mut(level, tile, plane);
                for (j, row) in values.chunks_exact(r.ni).enumerate() {
                    let start = shape.row_start(j);
                    into[start..start + r.ni].iter_mut().zip(row).for_each(|(into, value)| *into = R::from_f64(*value));
                }
            }
        }
        Ok(())
    }

    fn absent(&self, name: &str) -> RestartError {
        self.damaged(format!("it has no variable `{name}`"))
    }

    fn unreadable(&self, name: &str, source: netcdf::Error) -> RestartError {
        self.damaged(format!("`{name}` cannot be read ({source})"))
    }

    fn compare(&self, variable: &netcdf::Variable<'_>, sum: Checksum) -> Result<(), RestartError> {
        let stored = variable.attribute(CHECKSUM).and_then(|a| a.value().ok());
        match stored {
            Some(netcdf::AttributeValue::Str(text)) if text == sum.to_text() => Ok(()),
            _ => Err(self.damaged(format!("the values of `{}` are not those that were written", variable.name()))),
        }
    }
}
