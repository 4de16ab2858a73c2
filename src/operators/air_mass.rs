//! Setting the carried air mass to the stored one at window boundaries.

use kernels::Scalar;
use kernels::numerics::content_at_kept_ratio;

use crate::state::{AIR, PackedState, Slabs};

/// What happens to tracers when the air mass is replaced by that of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracersAtReset {
    /// Their masses stay.
    KeepMass,
    /// Their mixing ratios stay; 0 where the old air mass is not above the machine epsilon.
    KeepRatio,
}

/// Which air mass of a window a reset takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowEnd {
    /// That at the start.
    Start,
    /// That at the end: start plus tendency.
    End,
}

/// Replaces the interior air mass of `state` by `start` (kg), plus `tendency` (kg) if one is given.
pub fn reset_air_mass<R: Scalar>(
    state: &mut PackedState<R>,
    tracers: TracersAtReset,
    start: &Slabs<R>,
    tendency: Option<&Slabs<R>>,
) {
    let set = state.tile_set().clone();
    let slabs = state.slabs_mut();
    let (stride, planes) = (slabs.level_stride(), slabs.planes());
    let ranges = slabs.tile_ranges();
    for (level, slab) in slabs.data_mut().chunks_mut(stride).enumerate() {
        for (tile, shape) in set.shapes().iter().enumerate() {
            let (air, tracer) = slab[ranges[tile].clone()].split_at_mut((AIR + 1) * shape.plane_len());
            let start = start.plane(level, tile, 0);
            let tendency = tendency.map(|t| t.plane(level, tile, 0));
            for j in 0..shape.nj {
                for cell in shape.row_start(j)..shape.row_start(j) + shape.ni {
                    let before = air[cell];
                    let after = tendency.map_or(start[cell], |t| start[cell] + t[cell]);
                    air[cell] = after;
                    if tracers == TracersAtReset::KeepRatio {
                        for plane in 0..planes - 1 {
                            let content = &mut tracer[plane * shape.plane_len() + cell];
                            *content = content_at_kept_ratio(*content, before, after, R::EPSILON);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use decomposition::{Panel, Tile};

    use super::*;
    use crate::state::TileSet;

    fn case() -> (PackedState<f64>, Slabs<f64>, Slabs<f64>, usize) {
        let tile = Tile { id: 0, panel: Panel::ALL[0], i0: 0, j0: 0, ni: 1, nj: 1, rank: 0 };
        let set = Arc::new(TileSet::new(vec![tile], 1));
        let cell = set.shapes()[0].index(0, 0);
        let mut state = PackedState::zeros(set.clone(), 1, vec!["a".into()]);
        state.slabs_mut().plane_mut(0, 0, 0)[cell] = 4.0;
        state.slabs_mut().plane_mut(0, 0, 1)[cell] = 2.0;
        let mut start = Slabs::zeros(set.clone(), 1, 1);
        start.plane_mut(0, 0, 0)[cell] = 5.0;
        let mut tendency = Slabs::zeros(set, 1, 1);
        tendency.plane_mut(0, 0, 0)[cell] = 3.0;
        (state, start, tendency, cell)
    }

    fn values(state: &PackedState<f64>, cell: usize) -> [f64; 2] {
        [state.slabs().plane(0, 0, 0)[cell], state.slabs().plane(0, 0, 1)[cell]]
    }

    #[test]
    fn both_modes_give_their_documented_results() {
        for (mode, at_start, at_end) in
            [(TracersAtReset::KeepMass, [5.0, 2.0], [8.0, 2.0]), (TracersAtReset::KeepRatio, [5.0, 2.5], [8.0, 4.0])]
        {
            let (mut state, start, tendency, cell) = case();
            reset_air_mass(&mut state, mode, &start, None);
            assert_eq!(values(&state, cell), at_start, "{mode:?}");
            reset_air_mass(&mut state, mode, &start, Some(&tendency));
            assert_eq!(values(&state, cell), at_end, "{mode:?}");
        }
    }

    #[test]
    fn no_air_means_no_tracer_when_mixing_ratios_are_kept() {
        let (mut state, start, _, cell) = case();
        state.slabs_mut().plane_mut(0, 0, 0)[cell] = 0.0;
        reset_air_mass(&mut state, TracersAtReset::KeepRatio, &start, None);
        assert_eq!(values(&state, cell), [5.0, 0.0]);
    }
}
