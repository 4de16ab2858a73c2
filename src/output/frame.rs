//! One snapshot of the model state, and the fields derived from it.

use kernels::Scalar;

use super::error::OutputError;
use super::selection::{FieldPlan, Quantity};
use crate::state::{Slabs, TileSet};

/// The state at one time. Every rank passes its own tiles; all else is the same on all ranks.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotFrame<'a, R> {
    /// Hours since the start of the run; finite, and larger than in the frame before.
    pub hours: f64,
    /// Packed state: plane 0 is the air mass (kg), plane 1 + t tracer t (mixing ratio times air mass, kg).
    pub state: &'a Slabs<R>,
    /// Names of the tracers in the order of the planes.
    pub tracers: &'a [String],
    /// Global total of each tracer over all ranks (kg of mixing ratio times air mass); finite.
    pub total_mass: &'a [f64],
}

impl<R: Scalar> SnapshotFrame<'_, R> {
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
        let (levels, planes) = (self.state.levels(), self.state.planes());
        if (levels, planes) != (plan.levels, plan.tracers.len() + 1) {
            return fail(format!(
                "the state has {levels} levels and {planes} planes instead of {} and {}",
                plan.levels,
                plan.tracers.len() + 1
            ));
        }
        if self.state.tile_set().tiles() != tiles.tiles() {
            return fail("the state lives on other tiles than the file".into());
        }
        if self.total_mass.len() != self.tracers.len() {
            return fail(format!("{} totals for {} tracers", self.total_mass.len(), self.tracers.len()));
        }
        for (name, total) in self.tracers.iter().zip(self.total_mass) {
            if !total.is_finite() {
                return fail(format!("the total mass of `{name}` is {total}"));
            }
        }
        Ok(())
    }

    /// Appends the interior values of `quantity` on `tile` (i fastest) at `level`; columns ignore the level.
    ///
    /// `areas` are the cell areas of the tile in m². Everything is computed in f64 and rounded once; columns are
    /// summed from the model top down.
    pub(super) fn derive(&self, quantity: Quantity, level: usize, tile: usize, areas: &[f64], out: &mut Vec<R>) {
        let round = R::from_f64;
        match quantity {
            Quantity::AirMass => self.for_cells(level, tile, 0, |_, m, _| out.push(m)),
            Quantity::AirMassPerArea => {
                self.for_cells(level, tile, 0, |cell, m, _| out.push(round(m.to_f64() / areas[cell])))
            }
            Quantity::MixingRatio(t) => {
                self.for_cells(level, tile, 1 + t, |_, m, rm| out.push(round(ratio(rm.to_f64(), m.to_f64()))))
            }
            Quantity::ColumnAirMassPerArea => {
                let (air, _) = self.columns(tile, 0);
                out.extend(air.iter().zip(areas).map(|(m, area)| round(m / area)));
            }
            Quantity::ColumnMean(t) => {
                let (air, tracer) = self.columns(tile, 1 + t);
                out.extend(air.iter().zip(&tracer).map(|(&m, &rm)| round(ratio(rm, m))));
            }
            Quantity::ColumnMassPerArea(t) => {
                let (_, tracer) = self.columns(tile, 1 + t);
                out.extend(tracer.iter().zip(areas).map(|(rm, area)| round(rm / area)));
            }
        }
    }

    /// Calls `visit(cell, air mass, value of plane)` for the interior cells.
    fn for_cells(&self, level: usize, tile: usize, plane: usize, mut visit: impl FnMut(usize, R, R)) {
        let shape = self.state.tile_set().shapes()[tile];
        let air = self.state.plane(level, tile, 0);
        let values = self.state.plane(level, tile, plane);
        for j in 0..shape.nj {
            let row = shape.row_start(j);
            for i in 0..shape.ni {
                visit(j * shape.ni + i, air[row + i], values[row + i]);
            }
        }
    }

    /// Column sums of air mass and of `plane`.
    fn columns(&self, tile: usize, plane: usize) -> (Vec<f64>, Vec<f64>) {
        let shape = self.state.tile_set().shapes()[tile];
        let (mut air, mut values) = (vec![0.0; shape.ni * shape.nj], vec![0.0; shape.ni * shape.nj]);
        for level in 0..self.state.levels() {
            self.for_cells(level, tile, plane, |cell, m, value| {
                air[cell] += m.to_f64();
                values[cell] += value.to_f64();
            });
        }
        (air, values)
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
    use crate::output::FieldSelection;

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

    #[test]
    fn quantities_follow_their_definitions() {
        let (state, names) = (state(), ["co2".to_string()]);
        let frame = SnapshotFrame { hours: 0.0, state: &state, tracers: &names, total_mass: &[0.0] };
        let get = |quantity, level| {
            let mut out = Vec::new();
            frame.derive(quantity, level, 0, &[10.0, 3.0], &mut out);
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
        let plan = FieldSelection::default().plan(&names, 2).unwrap();
        let good = SnapshotFrame { hours: 3.0, state: &state, tracers: &names, total_mass: &[1.0] };
        let tiles = state.tile_set().clone();
        let check = |frame: SnapshotFrame<f32>| frame.check(&plan, &tiles, Some(2.0)).map_err(|e| e.to_string());
        assert_eq!(check(good), Ok(()));
        let other = ["sf6".to_string()];
        let flat = Slabs::zeros(tiles.clone(), 1, 2);
        let elsewhere = Slabs::zeros(Arc::new(TileSet::new(vec![], 2)), 2, 2);
        for (frame, word) in [
            (SnapshotFrame { hours: f64::NAN, ..good }, "finite"),
            (SnapshotFrame { hours: 2.0, ..good }, "increase"),
            (SnapshotFrame { tracers: &other, ..good }, "sf6"),
            (SnapshotFrame { state: &flat, ..good }, "levels"),
            (SnapshotFrame { state: &elsewhere, ..good }, "tiles"),
            (SnapshotFrame { total_mass: &[], ..good }, "totals"),
            (SnapshotFrame { total_mass: &[f64::INFINITY], ..good }, "inf"),
        ] {
            let message = check(frame).unwrap_err();
            assert!(message.contains(word), "{message}");
        }
    }
}
