//! Initial fields stored on the model's own cubed sphere.

use std::path::Path;

use kernels::Scalar;

use super::units::check_units;
use super::{Negatives, VerticalOrder, fill};
use crate::files::open_netcdf;
use crate::gridded::stored::{ATTRIBUTES, Packing, check_dimensions, sizes, text};
use crate::state::PackedState;

/// Dimensions of a field, with their spellings.
const DIMENSIONS: [&[&str]; 5] = [&["time"], &["lev", "level"], &["nf", "face"], &["Ydim"], &["Xdim"]];

/// What to read.
pub(super) struct Request<'a> {
    pub(super) file: &'a Path,
    pub(super) variable: &'a str,
    pub(super) time_index: usize,
    pub(super) vertical_order: VerticalOrder,
    pub(super) negatives: Negatives,
}

/// Fills a tracer from the tiles of a (time, lev, nf, Ydim, Xdim) variable; the error text says what does not fit.
pub(super) fn fill_from_file<R: Scalar>(
    state: &mut PackedState<R>,
    index: usize,
    request: &Request<'_>,
    nc: usize,
) -> Result<(), String> {
    let file = open_netcdf(request.file).map_err(|e| format!("{e}; {}", e.help()))?;
    let variable = file.variable(request.variable).ok_or_else(|| {
        let names: Vec<String> = file.variables().map(|v| v.name()).collect();
        format!("has no variable '{}'; it holds {}", request.variable, names.join(", "))
    })?;
    let levels = state.levels();
    check_dimensions(&variable, &DIMENSIONS)?;
    let sizes = sizes(&variable);
    let [records, layers, 6, ydim, xdim] = sizes[..] else {
        return Err(format!("'{}' has shape {sizes:?}, expected (time, lev, 6, {nc}, {nc})", request.variable));
    };
    if (layers, ydim, xdim) != (levels, nc, nc) {
        let found = format!("{layers} levels of C{xdim}");
        return Err(format!("'{}' holds {found}, the winds need {levels} levels of C{nc}", request.variable));
    }
    if request.time_index == 0 || request.time_index > records {
        return Err(format!("time_index = {} lies outside 1..{records}", request.time_index));
    }
    if let Some(units) = text(&variable, "units") {
        check_units(&units).map_err(|problem| format!("'{}' {problem}", request.variable))?;
    }
    let packing = Packing::of(&variable).map_err(|problem| format!("{problem}; {ATTRIBUTES}"))?;
    let set = state.tile_set().clone();
    let mut values: Vec<Vec<f64>> = Vec::with_capacity(set.len());
    for tile in set.tiles() {
        let extents = [
            (request.time_index - 1..request.time_index).into(),
            (0..levels).into(),
            (tile.panel.index()..tile.panel.index() + 1).into(),
            (tile.j0..tile.j0 + tile.nj).into(),
            (tile.i0..tile.i0 + tile.ni).into(),
        ];
        let extents: [netcdf::Extent; 5] = extents;
        let mut field = variable.get_values::<f64, _>(extents).map_err(|e| format!("cannot be read ({e})"))?;
        packing.unpack(&mut field).map_err(|found| {
            let (level, cell) = (found.at / (tile.ni * tile.nj) + 1, found.at % (tile.ni * tile.nj));
            let (i, j) = (tile.i0 + cell % tile.ni + 1, tile.j0 + cell / tile.ni + 1);
            let place = format!("level {level}, {} ({i}, {j})", tile.panel);
            format!("{}; {}", found.problem(request.variable, &place), found.help())
        })?;
        values.push(field);
    }
    fill(state, index, |level, tile, i, j| {
        let shape = &set.shapes()[tile];
        let k = match request.vertical_order {
            VerticalOrder::SurfaceFirst => levels - 1 - level,
            VerticalOrder::TopFirst => level,
        };
        let q = values[tile][(k * shape.nj + j) * shape.ni + i];
        match request.negatives {
            Negatives::Clamp => q.max(0.0),
            Negatives::Keep => q,
        }
    });
    Ok(())
}

#[cfg(test)]
#[path = "cs_native_tests.rs"]
mod tests;
