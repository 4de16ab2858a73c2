//! Rates of an inventory in the cells of the model.

use std::sync::Arc;

use kernels::Scalar;

use super::open::Opened;
use super::plan::{Part, Plan};
use super::{Gaps, Inventory, Spread};
use crate::grid::CubedSphere;
use crate::gridded::{AxisNames, GriddedFile, Missing, Weights};
use crate::regrid::Mesh;
use crate::sources::error::{Refusal, help};
use crate::sources::plausible::{self, largest_flux};
use crate::sources::{CoveredTimes, RunSpan, Source, SourceError, SourceTotals};
use crate::state::TileSet;

impl Inventory {
    /// Reads the slices that the run needs and puts them on the cells of `set`, every cell of the sphere being computed
    /// in f64 and rounded once: the sum over all cells is the total of the inventory.
    ///
    /// # Errors
    /// [`SourceError::File`] if a file cannot be read, has other units, variables or times than an inventory, another
    /// grid than the first, or a value that is missing or larger than any flux of the species; [`SourceError::Weights`].
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
    pub fn check(&self, run: &RunSpan) -> Result<CoveredTimes, SourceError> {
        self.open(run).map(|(_, plan)| plan.times)
    }

    /// What the archive holds for a run on a sphere of `radius` m, in kg of the species s⁻¹ with the scale, slice by slice:
    /// sums over its own cells.
    ///
    /// # Errors
    /// As for [`Inventory::read`], weights aside.
    pub fn totals(&self, run: &RunSpan, radius: f64) -> Result<SourceTotals, SourceError> {
        let (opened, plan) = self.open(run)?;
        let times = plan.times.times();
        let needed = times.needed(0.0, run.seconds);
        let mut fields = Fields::new(self, &opened, radius);
        let mut totals = Vec::with_capacity(needed.len());
        for slice in needed.clone() {
            let spread = fields.fill(&plan.slices[slice])?;
            let sum: f64 = match spread {
                Spread::Area => fields.field.iter().zip(&fields.areas).map(|(flux, area)| flux * area).sum(),
                Spread::Cell => fields.field.iter().sum(),
            };
            totals.push(sum * self.conversion.scale());
        }
        Ok(SourceTotals { times: times.limited(needed), totals })
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
    fields: Fields<'a>,
    overlap: Arc<crate::regrid::Overlap>,
    radius: f64,
}

impl<'a> Amounts<'a> {
    fn new(
        inventory: &'a Inventory,
        opened: &'a [Opened],
        grid: &CubedSphere,
        weights: &Weights,
    ) -> Result<Self, SourceError> {
        let overlap = weights.to_cube(opened[0].axes.mesh(), grid)?;
        let radius = grid.radius_m();
        Ok(Self { fields: Fields::new(inventory, opened, radius), overlap, radius })
    }

    /// Sets kg of the species s⁻¹ in every cell of the sphere.
    fn fill(&mut self, parts: &[Part], cells: &mut [f64]) -> Result<(), SourceError> {
        match self.fields.fill(parts)? {
            Spread::Area => self.overlap.totals(&self.fields.field, self.radius, cells),
            Spread::Cell => self.overlap.extensive(&self.fields.field, cells),
        }
        Ok(())
    }
}

/// Reads records on the grid of the files.
struct Fields<'a> {
    inventory: &'a Inventory,
    opened: &'a [Opened],
    /// Areas of the cells on the sphere of the run, m².
    areas: Vec<f64>,
    /// Largest flux that is believed, kg m⁻² s⁻¹.
    largest: f64,
    /// The file that was read last.
    file: Option<(usize, GriddedFile)>,
    /// Fluxes, from south to north.
    field: Vec<f64>,
}

/// Part of the area on the sphere that areas of the archive may have, and how many times as much: they may be those of an
/// ellipsoid or of other edges, but not in other units.
const AREAS: std::ops::RangeInclusive<f64> = 0.2..=5.0;

impl<'a> Fields<'a> {
    fn new(inventory: &'a Inventory, opened: &'a [Opened], radius: f64) -> Self {
        let mesh = Mesh::LatLon(opened[0].axes.mesh().clone());
        let areas: Vec<f64> = mesh.areas().into_iter().map(|area| area * (radius * radius)).collect();
        let (largest, field) = (largest_flux(inventory.conversion.molar_mass()), vec![0.0; areas.len()]);
        Self { inventory, opened, areas, largest, file: None, field }
    }

    /// Sets the field to the sum of `parts`, in kg of the species s⁻¹ by what is returned.
    fn fill(&mut self, parts: &[Part]) -> Result<Spread, SourceError> {
        self.field.fill(0.0);
        let mut spread = Spread::Area;
        for part in parts {
            let path = &self.inventory.files[part.file].path;
            spread = self.add(part).map_err(|r| r.of(path))?;
        }
        Ok(spread)
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
        let width = opened.axes.mesh().nlon();
        let place = |n: usize| format!("row {} from the south, column {} from the west", n / width + 1, n % width + 1);
        let names = AxisNames::default();
        let (stored_by, mut areas) = (opened.units.spread(), None);
        if let (Spread::Area, Some(name)) = (stored_by, &self.inventory.cell_area) {
            let area = file.variable(name, &names)?;
            if area.axes() != &opened.axes {
                return Err(Refusal::with(help::LATLON)(format!("'{name}' is on another grid than the flux")));
            }
            let found = area.read(0, 0..1, Missing::Refuse)?;
            let odd = |n: &usize| found[*n] != 0.0 && !AREAS.contains(&(found[*n] / self.areas[*n]));
            if let Some(n) = (0..found.len()).find(odd) {
                let (is, has) = (found[n], self.areas[n]);
                let problem = format!("'{name}' is {is} at {}, a cell of {has:.4e} m2", place(n));
                return Err(Refusal::with(help::AREAS)(problem));
            }
            areas = Some(found);
        }
        let scale = self.inventory.conversion.scale();
        for name in &opened.variables {
            let values = file.variable(name, &names)?.read(part.record, 0..1, missing)?;
            for (n, (sum, value)) in self.field.iter_mut().zip(values).enumerate() {
                if value.is_nan() {
                    continue;
                }
                let flux = value * part.factor;
                let by_area = match stored_by {
                    Spread::Area => flux,
                    Spread::Cell => flux / self.areas[n],
                };
                let place = || format!("record {}, {}", part.record + 1, place(n));
                plausible::check(name, value, by_area * scale, self.largest, place)?;
                *sum += areas.as_ref().map_or(flux, |areas| flux * areas[n]);
            }
        }
        Ok(if areas.is_some() { Spread::Cell } else { stored_by })
    }
}
