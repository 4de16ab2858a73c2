//! Rates of an inventory in the cells of the model.

use std::sync::Arc;

use kernels::Scalar;

use super::open::Opened;
use super::plan::{Part, Plan};
use super::{Gaps, Inventory, InventoryTimes, Spread};
use crate::grid::CubedSphere;
use crate::gridded::{AxisNames, GriddedFile, Missing, Weights};
use crate::sources::error::{Refusal, help};
use crate::sources::native::LARGEST_FLUX;
use crate::sources::{RunSpan, Source, SourceError};
use crate::state::TileSet;

impl Inventory {
    /// Reads the slices that the run needs and puts them on the cells of `set`, every cell of the sphere being computed
    /// in f64 and rounded once: the sum over all cells is the total of the inventory.
    ///
    /// # Errors
    /// [`SourceError::File`] if a file cannot be read, has other units, variables or times than an inventory, another
    /// grid than the first, or a value that is missing or beyond ±1e6 kg m⁻² s⁻¹; [`SourceError::Weights`].
    pub fn read<R: Scalar>(
        &self,
        run: &RunSpan,
        grid: &CubedSphere,
        set: &Arc<TileSet>,
        weights: &Weights,
    ) -> Result<Source<R>, SourceError> {
        let (opened, plan) = self.open(run)?;
        let times = plan.times.times();
        let needed = times.needed(0.0, run.seconds);
        let mut amounts = Amounts::new(self, &opened, grid, weights)?;
        let slices = &plan.slices[needed.clone()];
        Source::from_amounts(set.clone(), grid, times.limited(needed), &self.conversion, |slice, cells| {
            amounts.fill(&slices[slice], cells)
        })
    }

    /// Checks variables, units, grids and times of the files without reading values.
    ///
    /// # Errors
    /// As for [`Inventory::read`], values and weights aside.
    pub fn check(&self, run: &RunSpan) -> Result<InventoryTimes, SourceError> {
        self.open(run).map(|(_, plan)| plan.times)
    }

    /// Amounts of the slices that act in a run, in kg of the species s⁻¹ times `scale` in every cell of the sphere, panel by
    /// panel; each slice is handed over with its time in s since the start of the run.
    ///
    /// # Errors
    /// As for [`Inventory::read`], and those of `take`.
    pub fn for_each_slice<E: From<SourceError>>(
        &self,
        run: &RunSpan,
        grid: &CubedSphere,
        weights: &Weights,
        mut take: impl FnMut(f64, &[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (opened, plan) = self.open(run)?;
        let mut amounts = Amounts::new(self, &opened, grid, weights)?;
        let mut cells = vec![0.0; 6 * grid.nc() * grid.nc()];
        let (times, scale) = (plan.times.times(), self.conversion.scale());
        for slice in times.needed(0.0, run.seconds) {
            let seconds = times.times()[slice];
            if seconds < run.seconds {
                amounts.fill(&plan.slices[slice], &mut cells)?;
                cells.iter_mut().for_each(|amount| *amount *= scale);
                take(seconds, &cells)?;
            }
        }
        Ok(())
    }

    fn open(&self, run: &RunSpan) -> Result<(Vec<Opened>, Plan), SourceError> {
        let mut opened: Vec<Opened> = Vec::with_capacity(self.files.len());
        for file in &self.files {
            let one = Opened::new(self, file, run.start).map_err(|r| r.of(&file.path))?;
            if opened.first().is_some_and(|first| first.axes.mesh() != one.axes.mesh()) {
                let problem = format!("'{}' is on another grid than that of the first file", one.variables[0]);
                return Err(Refusal::with(help::LATLON)(problem).of(&file.path));
            }
            opened.push(one);
        }
        if opened.is_empty() {
            return Err(SourceError::NoSlice);
        }
        let plan = Plan::new(self, &opened, run)?;
        Ok((opened, plan))
    }
}

/// Puts records on the cells of the sphere.
struct Amounts<'a> {
    inventory: &'a Inventory,
    opened: &'a [Opened],
    overlap: Arc<crate::regrid::Overlap>,
    radius: f64,
    /// The file that was read last.
    file: Option<(usize, GriddedFile)>,
    /// Fluxes on the grid of the files.
    field: Vec<f64>,
}

impl<'a> Amounts<'a> {
    fn new(
        inventory: &'a Inventory,
        opened: &'a [Opened],
        grid: &CubedSphere,
        weights: &Weights,
    ) -> Result<Self, SourceError> {
        let mesh = opened[0].axes.mesh();
        let overlap = weights.to_cube(mesh, grid)?;
        let field = vec![0.0; mesh.nlon() * mesh.nlat()];
        Ok(Self { inventory, opened, overlap, radius: grid.radius_m(), file: None, field })
    }

    /// Sets kg of the species s⁻¹ in every cell of the sphere.
    fn fill(&mut self, parts: &[Part], cells: &mut [f64]) -> Result<(), SourceError> {
        self.field.fill(0.0);
        let mut spread = Spread::Area;
        for part in parts {
            let path = &self.inventory.files[part.file].path;
            spread = self.add(part).map_err(|r| r.of(path))?;
        }
        match spread {
            Spread::Area => self.overlap.totals(&self.field, self.radius, cells),
            Spread::Cell => self.overlap.extensive(&self.field, cells),
        }
        Ok(())
    }

    /// Adds a record to the field, and tells whether that is by area or by cell.
    fn add(&mut self, part: &Part) -> Result<Spread, Refusal> {
        let opened = &self.opened[part.file];
        if self.file.as_ref().is_none_or(|(n, _)| *n != part.file) {
            self.file = Some((part.file, GriddedFile::open(&self.inventory.files[part.file].path)?));
        }
        let Some((_, file)) = &self.file else { unreachable!("the file has just been opened") };
        let missing = match self.inventory.gaps {
            Gaps::Refuse => Missing::Refuse,
            Gaps::Zero => Missing::AsNan,
        };
        let names = AxisNames::default();
        let (mut spread, mut areas) = (opened.units.spread(), None);
        if let (Spread::Area, Some(name)) = (spread, &self.inventory.cell_area) {
            let area = file.variable(name, &names)?;
            if area.axes() != &opened.axes {
                return Err(Refusal::with(help::LATLON)(format!("'{name}' is on another grid than the flux")));
            }
            areas = Some(area.read(0, 0..1, Missing::Refuse)?);
            spread = Spread::Cell;
        }
        for name in &opened.variables {
            let values = file.variable(name, &names)?.read(part.record, 0..1, missing)?;
            for (n, (sum, value)) in self.field.iter_mut().zip(values).enumerate() {
                let flux = if value.is_nan() { 0.0 } else { value * part.factor };
                if flux.abs() > largest(opened.units.spread()) {
                    let width = opened.axes.mesh().nlon();
                    let place = format!("row {} from the south, column {} from the west", n / width + 1, n % width + 1);
                    return Err(Refusal::with(help::VALUES)(format!(
                        "'{name}' is {value:e} in record {}, {place}; a missing value without `_FillValue` looks like this",
                        part.record + 1
                    )));
                }
                *sum += areas.as_ref().map_or(flux, |areas| flux * areas[n]);
            }
        }
        Ok(spread)
    }
}

/// Largest flux that is believed, kg s⁻¹ by m² or by cell.
fn largest(spread: Spread) -> f64 {
    match spread {
        Spread::Area => LARGEST_FLUX,
        // A degree at the equator.
        Spread::Cell => LARGEST_FLUX * 1.2e10,
    }
}
