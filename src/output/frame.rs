//! One snapshot of the model state, and the fields derived from it.

use kernels::Scalar;

use super::cells::TileCells;
use super::error::OutputError;
use super::met_field::MetField;
use super::selection::{FieldPlan, Quantity};
use crate::diagnostics::{ColumnSums, ColumnTransfers, StateSums, Transfer};
use crate::state::{Slabs, TileSet};

/// What a file takes of the state for a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameNeeds {
    /// Sums over columns only.
    Columns,
    /// Layers too.
    Layers,
}

/// The state at one time, as far as it is written.
#[derive(Clone, Copy, Debug)]
pub enum FrameContent<'a, R> {
    /// For files without layers: the column sums of the packed state.
    Columns(&'a ColumnSums<R>),
    /// For any file.
    Layers {
        /// Packed state: plane 0 is the air mass (kg), plane 1 + t tracer t (mixing ratio times air mass, kg).
        state: &'a Slabs<R>,
        /// Its column sums.
        columns: &'a ColumnSums<R>,
    },
}

/// Sums over the time since the snapshot before, as far as they are kept.
#[derive(Clone, Copy, Debug)]
pub struct IntervalSums<'a, R> {
    /// Hour at which the interval begins.
    pub since: f64,
    /// What horizontal transport has moved.
    pub transfers: Option<&'a ColumnTransfers<R>>,
    /// The state at the ends of windows.
    pub states: Option<&'a StateSums<R>>,
}

/// Column fields of the meteorology: one level, a plane for each of [`MetField::ALL`]; those that are not written hold
/// nothing of use.
pub type MetColumns<R> = Slabs<R>;

/// The state at one time. Every rank passes its own tiles; all else is the same on all ranks.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotFrame<'a, R> {
    /// Hours since the start of the run; finite, and larger than in the frame before.
    pub hours: f64,
    /// The state, or its column sums if the file has no layers.
    pub content: FrameContent<'a, R>,
    /// Sums since the snapshot before, for files that hold some.
    pub interval: Option<IntervalSums<'a, R>>,
    /// Column fields of the meteorology, for files that hold some.
    pub meteorology: Option<&'a MetColumns<R>>,
    /// Names of the tracers in the order of the planes.
    pub tracers: &'a [String],
    /// Global total of each plane over all ranks: air (kg), then tracers (kg of mixing ratio times air mass); finite.
    pub totals: &'a [f64],
    /// Value of each further series of the file.
    pub series: &'a [f64],
}

impl<'a, R: Scalar> SnapshotFrame<'a, R> {
    /// Whether the frame fits the plan of a file whose last frame was at `previous`.
    pub(super) fn check(&self, plan: &FieldPlan, tiles: &TileSet, previous: Option<f64>) -> Result<(), OutputError> {
        let fail = |problem: String| Err(OutputError::Frame { hours: self.hours, problem });
        if !self.hours.is_finite() {
            return fail("the time is not finite".into());
        }
        if let Some(previous) = previous.filter(|&p| self.hours <= p) {
            return fail(format!("times must increase, but the snapshot before was at {previous} h"));
        }
        if self.tracers != plan.tracers {
            return fail(format!("the tracers changed from {:?} to {:?}", plan.tracers, self.tracers));
        }
        let planes = plan.tracers.len() + 1;
        match (self.content, plan.needs()) {
            (FrameContent::Columns(_), FrameNeeds::Columns) => {}
            (FrameContent::Columns(_), FrameNeeds::Layers) => {
                return fail("the file has layers, but the frame has only column sums".into());
            }
            (FrameContent::Layers { state, .. }, _) => {
                let found = (state.levels(), state.planes());
                if found != (plan.levels, planes) {
                    return fail(format!(
                        "the state has {} levels and {} planes instead of {} and {planes}",
                        found.0, found.1, plan.levels
                    ));
                }
                if state.tile_set().tiles() != tiles.tiles() {
                    return fail("the state lives on other tiles than the file".into());
                }
            }
        }
        if plan.has_intervals() {
            match self.interval {
                Some(sums) if sums.since.is_nan() || sums.since > self.hours => {
                    return fail(format!("its sums begin at {} h", sums.since));
                }
                Some(IntervalSums { transfers, states, .. })
                    if (transfers.is_some() || !plan.has_fluxes()) && (states.is_some() || !plan.has_means()) => {}
                _ => return fail("the file has sums over time that the frame has not".into()),
            }
        }
        if plan.meteorology().next().is_some() && self.meteorology.is_none() {
            return fail("the file has fields of the meteorology, but the frame has none".into());
        }
        let columns = self.columns().parts();
        if columns.planes() != planes {
            return fail(format!("the column sums have {} planes instead of {planes}", columns.planes()));
        }
        if columns.tile_set().tiles() != tiles.tiles() {
            return fail("the column sums live on other tiles than the file".into());
        }
        if self.totals.len() != planes {
            return fail(format!("{} totals for {planes} planes", self.totals.len()));
        }
        let names = std::iter::once("air").chain(self.tracers.iter().map(String::as_str));
        for (name, total) in names.zip(self.totals) {
            if !total.is_finite() {
                return fail(format!("the total mass of `{name}` is {total}"));
            }
        }
        Ok(())
    }

    fn columns(&self) -> &'a ColumnSums<R> {
        match self.content {
            FrameContent::Columns(columns) | FrameContent::Layers { columns, .. } => columns,
        }
    }

    /// Appends the interior values of `quantity` on `tile` (i fastest) at `level`; columns ignore the level.
    ///
    /// `cells` are those of the tile. Quotients are rounded once.
    pub(super) fn derive(&self, quantity: Quantity, level: usize, tile: usize, cells: &TileCells, out: &mut Vec<R>) {
        let (round, areas) = (R::from_f64, &cells.areas);
        let moved = |what, t: usize| {
            let sums = self.interval.and_then(|sums| sums.transfers);
            sums.expect("files with sums take no frames without").sums(what).values(tile, 1 + t)
        };
        let columns = |plane| self.columns().values(tile, plane);
        match quantity {
            Quantity::AirMass => self.rows(level, tile, 0).for_each(|(air, _)| out.extend(air)),
            Quantity::AirMassPerArea => {
                let width = self.layers().tile_set().shapes()[tile].ni;
                for ((air, _), areas) in self.rows(level, tile, 0).zip(areas.chunks_exact(width)) {
                    out.extend(air.iter().zip(areas).map(|(m, area)| round(m.to_f64() / area)));
                }
            }
            Quantity::MixingRatio(t) => self.mixing_ratio(t, level, tile, out),
            Quantity::ColumnAirMassPerArea => out.extend(columns(0).zip(areas).map(|(m, area)| round(m / area))),
            Quantity::ColumnMean(t) => out.extend(columns(0).zip(columns(1 + t)).map(|(m, rm)| round(ratio(rm, m)))),
            Quantity::ColumnMassPerArea(t) => {
                out.extend(columns(1 + t).zip(areas).map(|(rm, area)| round(rm / area)));
            }
            Quantity::ColumnFluxEast(t) => {
                let along = moved(Transfer::AlongI, t).zip(moved(Transfer::AlongJ, t));
                out.extend(along.zip(&cells.fluxes).map(|((i, j), flux)| round(flux.east(i, j))));
            }
            Quantity::ColumnFluxNorth(t) => {
                let along = moved(Transfer::AlongI, t).zip(moved(Transfer::AlongJ, t));
                out.extend(along.zip(&cells.fluxes).map(|((i, j), flux)| round(flux.north(i, j))));
            }
            Quantity::ColumnFluxDivergence(t) => {
                // 0 − gain: nothing lost is 0, not −0.
                out.extend(moved(Transfer::Gain, t).zip(areas).map(|(gain, area)| round((0.0 - gain) / area)));
            }
            Quantity::IntervalMean(t) => self.interval_mean(t, level, tile, out),
            Quantity::Meteorology(field) => self.met_cells(field, tile, out),
        }
    }

    /// Mean mixing ratio at the ends of windows, weighted by air mass; of no window, the mixing ratio as it is.
    fn interval_mean(&self, tracer: usize, level: usize, tile: usize, out: &mut Vec<R>) {
        let sums = self.interval.and_then(|sums| sums.states).expect("files with sums take no frames without");
        if sums.windows() == 0 {
            return self.mixing_ratio(tracer, level, tile, out);
        }
        let shape = sums.parts()[0].tile_set().shapes()[tile];
        for at in (0..shape.nj).flat_map(|j| shape.row_start(j)..shape.row_start(j) + shape.ni) {
            let [air, tracer] = [0, 1 + tracer].map(|plane| sums.sum(level, tile, plane, at));
            out.push(R::from_f64(ratio(tracer, air)));
        }
    }

    fn met_cells(&self, field: MetField, tile: usize, out: &mut Vec<R>) {
        let columns = self.meteorology.expect("files with fields of the meteorology take no frames without");
        let (shape, values) = (columns.tile_set().shapes()[tile], columns.plane(0, tile, field as usize));
        (0..shape.nj).for_each(|j| out.extend(&values[shape.row_start(j)..][..shape.ni]));
    }

    fn mixing_ratio(&self, tracer: usize, level: usize, tile: usize, out: &mut Vec<R>) {
        let (zero, none) = (R::lit(0.0), R::from_f64(f64::NAN));
        for (air, amounts) in self.rows(level, tile, 1 + tracer) {
            out.extend(amounts.iter().zip(air).map(|(&rm, &m)| R::select(m.gt(zero), rm / m, none)));
        }
    }

    fn layers(&self) -> &'a Slabs<R> {
        let FrameContent::Layers { state, .. } = self.content else {
            unreachable!("files with layers take no frames without");
        };
        state
    }

    /// Air masses and values of `plane` of the interior cells, row by row.
    fn rows(&self, level: usize, tile: usize, plane: usize) -> impl Iterator<Item = (&'a [R], &'a [R])> {
        let state = self.layers();
        let shape = state.tile_set().shapes()[tile];
        let (air, values) = (state.plane(level, tile, 0), state.plane(level, tile, plane));
        (0..shape.nj).map(move |j| {
            let row = shape.row_start(j)..shape.row_start(j) + shape.ni;
            (&air[row.clone()], &values[row])
        })
    }
}

/// Mixing ratio; NaN where there is no air.
fn ratio(rm: f64, m: f64) -> f64 {
    if m > 0.0 { rm / m } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use decomposition::{Panel, Tile};

    use super::*;
    use crate::output::{FieldSelection, LayerSelection};

    fn state() -> Slabs<f32> {
        let tile = Tile { id: 0, panel: Panel::ALL[0], i0: 0, j0: 0, ni: 2, nj: 1, rank: 0 };
        let set = Arc::new(TileSet::new(vec![tile], 2));
        let mut state = Slabs::zeros(set.clone(), 2, 2);
        let at = |i| set.shapes()[0].index(i, 0);
        // Cell 0: 2 + 4 kg of air; cell 1: no air in level 0, negative tracer below.
        for (level, plane, i, value) in
            [(0, 0, 0, 2.0), (1, 0, 0, 4.0), (0, 1, 0, 1.0), (1, 1, 0, 0.1), (1, 0, 1, 3.0), (1, 1, 1, -1.0)]
        {
            state.plane_mut(level, 0, plane)[at(i)] = value;
        }
        state
    }

    fn columns(state: &Slabs<f32>) -> ColumnSums<f32> {
        let mut columns = ColumnSums::zeros(state.tile_set().clone(), state.planes());
        columns.add_up(state);
        columns
    }

    fn frame_of<'a>(
        hours: f64,
        content: FrameContent<'a, f32>,
        tracers: &'a [String],
        totals: &'a [f64],
    ) -> SnapshotFrame<'a, f32> {
        SnapshotFrame { hours, content, interval: None, meteorology: None, tracers, totals, series: &[] }
    }

    #[test]
    fn quantities_follow_their_definitions() {
        let (state, names) = (state(), ["co2".to_string()]);
        let content = FrameContent::Layers { state: &state, columns: &columns(&state) };
        let frame = frame_of(0.0, content, &names, &[0.0, 0.0]);
        let get = |quantity, level| {
            let mut out = Vec::new();
            let cells = TileCells { areas: vec![10.0, 3.0], fluxes: Vec::new() };
            frame.derive(quantity, level, 0, &cells, &mut out);
            out
        };
        let tenth = 0.1_f32 as f64;
        assert_eq!(get(Quantity::AirMass, 1), [4.0, 3.0]);
        assert_eq!(get(Quantity::AirMassPerArea, 1), [0.4, 1.0]);
        assert_eq!(get(Quantity::MixingRatio(0), 1), [(tenth / 4.0) as f32, (-1.0_f64 / 3.0) as f32]);
        let top = get(Quantity::MixingRatio(0), 0);
        assert!(top[0] == 0.5 && top[1].is_nan());
        assert_eq!(get(Quantity::ColumnAirMassPerArea, 0), [0.6, 1.0]);
        assert_eq!(get(Quantity::ColumnMean(0), 0), [((1.0 + tenth) / 6.0) as f32, (-1.0_f64 / 3.0) as f32]);
        assert_eq!(get(Quantity::ColumnMassPerArea(0), 0), [((1.0 + tenth) / 10.0) as f32, (-1.0_f64 / 3.0) as f32]);
    }

    #[test]
    fn frames_that_do_not_fit_are_refused() {
        let (state, names) = (state(), ["co2".to_string()]);
        let sums = columns(&state);
        let plan = FieldSelection::default().plan(&names, 2).unwrap();
        let content = FrameContent::Layers { state: &state, columns: &sums };
        let good = frame_of(3.0, content, &names, &[1.0, 1.0]);
        let tiles = state.tile_set().clone();
        let check = |frame: SnapshotFrame<f32>| frame.check(&plan, &tiles, Some(2.0)).map_err(|e| e.to_string());
        assert_eq!(check(good), Ok(()));
        let other = ["sf6".to_string()];
        let flat = Slabs::zeros(tiles.clone(), 1, 2);
        let elsewhere = Slabs::zeros(Arc::new(TileSet::new(vec![], 2)), 2, 2);
        let few = ColumnSums::zeros(tiles.clone(), 1);
        let layers = |state, columns| FrameContent::Layers { state, columns };
        for (frame, words) in [
            (SnapshotFrame { hours: f64::NAN, ..good }, "finite"),
            (SnapshotFrame { hours: 2.0, ..good }, "increase"),
            (SnapshotFrame { tracers: &other, ..good }, "sf6"),
            (SnapshotFrame { content: FrameContent::Columns(&sums), ..good }, "only column sums"),
            (SnapshotFrame { content: layers(&flat, &sums), ..good }, "levels"),
            (SnapshotFrame { content: layers(&elsewhere, &sums), ..good }, "state lives on other tiles"),
            (SnapshotFrame { content: layers(&state, &few), ..good }, "sums have 1 planes"),
            (SnapshotFrame { content: layers(&state, &columns(&elsewhere)), ..good }, "sums live on other tiles"),
            (SnapshotFrame { totals: &[1.0], ..good }, "totals"),
            (SnapshotFrame { totals: &[f64::NAN, 1.0], ..good }, "`air` is NaN"),
            (SnapshotFrame { totals: &[1.0, f64::INFINITY], ..good }, "`co2` is inf"),
        ] {
            let message = check(frame).unwrap_err();
            assert!(message.contains(words), "{message}");
        }
    }

    #[test]
    fn files_without_layers_take_column_sums_alone() {
        let (state, names) = (state(), ["co2".to_string()]);
        let sums = columns(&state);
        let mut selection = FieldSelection { layers: LayerSelection::None, ..FieldSelection::default() };
        let check = |selection: &FieldSelection, content| {
            let frame = frame_of(3.0, content, &names, &[1.0, 1.0]);
            frame.check(&selection.plan(&names, 2).unwrap(), state.tile_set(), None).is_ok()
        };
        assert!(check(&selection, FrameContent::Columns(&sums)));
        assert!(check(&selection, FrameContent::Layers { state: &state, columns: &sums }));
        selection.air_mass_layers = Some(LayerSelection::Full);
        assert!(!check(&selection, FrameContent::Columns(&sums)));
    }
}
