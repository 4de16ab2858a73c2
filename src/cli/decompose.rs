//! `atmostr decompose`.

use std::fmt::Write as _;

use clap::Args;
use decomposition::{Layout, LayoutReport, Machine, Payload, TileGrid};

use super::values::{self, Convention, Float};
use super::{CliError, Context, Exit};
use crate::files::size_words;
use crate::grid::GeometryBundle;
use crate::met::FloatType;

/// Show how panels are cut into tiles for a number of ranks, and the predicted cost
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr decompose --nc 90 --ranks 24
  atmostr decompose --nc 180 --ranks 96 --levels 72 --tracers 10 --float Float32
  atmostr decompose --nc 90 --ranks 12 --tiles 2,2 --json

The layout never changes a result; times are predictions for a generic machine.")]
pub(super) struct DecomposeArgs {
    /// Cells per panel edge
    #[arg(long, value_name = "N")]
    nc: usize,
    /// Number of ranks
    #[arg(long, value_name = "N")]
    ranks: usize,
    /// Tiles per panel along i and j, instead of the automatic choice
    #[arg(long, value_name = "PX,PY", value_parser = values::tiles)]
    tiles: Option<TileGrid>,
    /// Halo width in cells (3 for ppm, 2 for slopes, 1 for upwind)
    #[arg(long, default_value_t = 3, value_name = "N")]
    halo: usize,
    /// Panel numbering and orientation
    #[arg(long, value_enum, default_value = "geos_native", value_name = "NAME")]
    convention: Convention,
    /// Number of layers
    #[arg(long, default_value_t = 72, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    levels: u32,
    /// Number of tracers
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    tracers: u32,
    /// Precision of the state
    #[arg(long, value_enum, ignore_case = true, default_value = "Float64", value_name = "TYPE")]
    float: Float,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

impl DecomposeArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        let convention = GeometryBundle::from(self.convention).convention();
        let layout = Layout::new(self.nc, convention, self.ranks, self.halo, self.tiles).map_err(CliError::input)?;
        let bytes_per_value = FloatType::from(self.float).bytes();
        let payload = Payload { levels: self.levels as usize, tracers: self.tracers as usize, bytes_per_value };
        let report = LayoutReport::new(&layout, payload, Machine::default());
        if self.json {
            ctx.print_json(&report)?;
        } else {
            ctx.print(&text(&layout, &report))?;
        }
        Ok(Exit::Finished)
    }
}

fn text(layout: &Layout, report: &LayoutReport) -> String {
    let mut out = String::new();
    let r = report;
    let _ = writeln!(out, "C{} {}, {} ranks, halo {}", r.nc, r.convention.tag(), r.ranks, r.halo);
    let _ = writeln!(out, "  tiles            {} per panel, {} in all", r.tile_grid, r.tile_grid.tiles());
    let _ = writeln!(out, "  imbalance        {:.3} (busiest rank over the mean)", r.imbalance);
    let _ = writeln!(out, "  usable ranks     up to {}", r.max_usable_ranks);
    for e in &r.exchanges {
        let _ = writeln!(
            out,
            "  {:?} exchange       {} messages, {} in all; busiest rank {} messages, {}",
            e.axis,
            e.messages,
            size_words(e.bytes as u64),
            e.max_messages,
            size_words(e.max_bytes as u64)
        );
    }
    let efficiency = 100.0 * r.efficiency;
    let _ = writeln!(out, "  predicted step   {:.3e} s, parallel efficiency {efficiency:.0} %", r.step_s);
    let _ = writeln!(out, "\n  rank  tiles (panel, first cell, extent)");
    for rank in 0..layout.ranks() {
        let tiles: Vec<_> = layout
            .tiles_of(rank)
            .iter()
            .map(|t| format!("{} ({},{}) {}×{}", t.panel, t.i0 + 1, t.j0 + 1, t.ni, t.nj))
            .collect();
        let _ = writeln!(out, "  {rank:>4}  {}", tiles.join("; "));
    }
    out
}
