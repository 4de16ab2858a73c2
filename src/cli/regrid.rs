//! `atmostr regrid` and `atmostr weights`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{CliError, Context, Exit};
use crate::grid::constants::FALLBACK_RADIUS_M;
use crate::output::{self, OutputError, RegridRequest};
use crate::regrid::{LatLonSides, WeightCache};

/// Northern and southern sides of lat-lon cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sides {
    /// Parallels
    Parallels,
    /// Great circles between the corners
    GreatCircles,
}

impl From<Sides> for LatLonSides {
    fn from(sides: Sides) -> Self {
        match sides {
            Sides::Parallels => LatLonSides::Parallels,
            Sides::GreatCircles => LatLonSides::GreatCircles,
        }
    }
}

/// What both commands take.
#[derive(Debug, Args)]
struct Shared {
    /// Northern and southern sides of lat-lon cells
    #[arg(long, value_enum, default_value_t = Sides::Parallels, value_name = "SIDES")]
    sides: Sides,
    /// Folder in which weights are kept for the next time
    #[arg(long, value_name = "DIR")]
    weights_dir: Option<PathBuf>,
    /// File to write (NetCDF)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl Shared {
    fn cache(&self) -> WeightCache {
        self.weights_dir.as_ref().map_or_else(WeightCache::none, WeightCache::at)
    }
}

/// Put variables of a NetCDF file on another grid, conservatively
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr regrid run.nc --to latlon:1x1 -o run_1x1.nc
  atmostr regrid run.nc --to geos:2x2.5 --var co2 --var air_mass -o co2.nc
  atmostr regrid flux_1x1.nc --to c24 -o flux_c24.nc
  atmostr regrid run.nc --to other.nc --weights-dir ~/weights -o on_the_grid_of_other.nc

Grids: c24 and c24:gnomonic are cubed spheres; latlon:1x1 has rows and columns of 1 degree, the first
edge at -180; geos:4x5 has rows of 4 degrees, those at the poles half as high, the first centre at
-180; gaussian:n80 has 160 Gaussian latitudes. The name of a file stands for the grid of that file.

Values are means over cells, or amounts per cell where units (kg, kg s-1, mol, ...) or cell_methods
(area: sum) say so: the sum of amounts and the area mean of the others are kept.")]
pub(super) struct RegridArgs {
    /// NetCDF file on the cubed sphere or with latitudes and longitudes
    file: PathBuf,
    /// New grid, or a file with that grid
    #[arg(long, value_name = "GRID")]
    to: String,
    /// Variable, may be given again [default: all that have a value per cell]
    #[arg(long = "var", value_name = "NAME")]
    variables: Vec<String>,
    /// Variable whose values are amounts per cell, may be given again
    #[arg(long = "amount", value_name = "NAME")]
    amounts: Vec<String>,
    /// Variable whose values are means over the cell, may be given again
    #[arg(long = "mean", value_name = "NAME")]
    means: Vec<String>,
    #[command(flatten)]
    shared: Shared,
}

impl RegridArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        if !self.file.exists() {
            return Err(CliError::input(format!("{}: no such file; name one that is there", self.file.display())));
        }
        let request = RegridRequest {
            target: &self.to,
            variables: &self.variables,
            amounts: &self.amounts,
            means: &self.means,
            sides: self.shared.sides.into(),
            cache: self.shared.cache(),
        };
        let report = output::regrid(&self.file, &request, &self.shared.output)?;
        ctx.print(&format!("{report}{}\n", self.shared.output.display()))?;
        Ok(Exit::Finished)
    }
}

/// Write conservative weights between two grids as ESMF and xESMF read them
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr weights --from latlon:1x1 --to c24 -o ll1x1_to_c24.nc
  atmostr weights --from run.nc --to geos:4x5 -o to_4x5.nc
  atmostr weights --from octahedral:o80 --to c48 -o o80_to_c48.nc

Grids are named as for `atmostr regrid`. Variables: S, row and col (from 1), area_a, area_b
(steradian), frac_a, frac_b, and the centres of the cells.")]
pub(super) struct WeightsArgs {
    /// Grid of the source, or a file with that grid
    #[arg(long, value_name = "GRID")]
    from: String,
    /// Grid of the destination, or a file with that grid
    #[arg(long, value_name = "GRID")]
    to: String,
    #[command(flatten)]
    shared: Shared,
}

impl WeightsArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        let Shared { sides, output: out, .. } = &self.shared;
        output::check_output(out, &[self.from.as_ref(), self.to.as_ref()])?;
        let mesh = |grid: &str| output::mesh_of(grid, (*sides).into(), FALLBACK_RADIUS_M);
        let (from, to) = (mesh(&self.from)?, mesh(&self.to)?);
        let cache = self.shared.cache();
        output::check_cache(&cache, &from, &to)?;
        let weights = cache.get(&from, &to).map_err(OutputError::Weights)?;
        weights.export_esmf(&from, &to, out).map_err(OutputError::Weights)?;
        ctx.print(&format!("{from} -> {to}: {} weights\n{}\n", weights.len(), out.display()))?;
        Ok(Exit::Finished)
    }
}
