//! Setting the carried air mass to the stored one at window boundaries.

use kernels::Scalar;
use kernels::numerics::content_at_kept_ratio;

use crate::config::AirMassReset;
use crate::state::{AIR, PackedState, Slabs};

/// Replaces the interior air mass of `state` by `target(level, tile, cell)` (kg).
///
/// With `PreserveTracerMass` only the air mass changes; with `PreserveVmr` tracers are scaled to keep their mixing ratio (0
/// where the old air mass is not above the machine epsilon); with `None` nothing happens.
fn reset_with<R: Scalar>(state: &mut PackedState<R>, mode: AirMassReset, target: impl Fn(usize, usize, usize) -> R) {
    if mode == AirMassReset::None {
        return;
    }
    let set = state.tile_set().clone();
    let slabs = state.slabs_mut();
    let (stride, planes) = (slabs.level_stride(), slabs.planes());
    let ranges = slabs.tile_ranges();
    for (level, slab) in slabs.data_mut().chunks_mut(stride).enumerate() {
        for (tile, shape) in set.shapes().iter().enumerate() {
            let (air, tracers) = slab[ranges[tile].clone()].split_at_mut((AIR + 1) * shape.plane_len());
            for j in 0..shape.nj {
                for cell in shape.row_start(j)..shape.row_start(j) + shape.ni {
                    let (old, new) = (air[cell], target(level, tile, cell));
                    air[cell] = new;
                    if mode == AirMassReset::PreserveVmr {
                        for plane in 0..planes - 1 {
                            let tracer = &mut tracers[plane * shape.plane_len() + cell];
                            *tracer = content_at_kept_ratio(*tracer, old, new, R::EPSILON);
                        }
                    }
                }
            }
        }
    }
}

/// Sets the air mass to the one stored at the start of a window.
pub(super) fn reset_to_start<R: Scalar>(state: &mut PackedState<R>, mode: AirMassReset, start: &Slabs<R>) {
    reset_with(state, mode, |level, tile, cell| start.plane(level, tile, 0)[cell]);
}

/// Sets the air mass to the end point of a window: start plus tendency.
pub(super) fn reset_to_end<R: Scalar>(
    state: &mut PackedState<R>,
    mode: AirMassReset,
    start: &Slabs<R>,
    tendency: &Slabs<R>,
) {
    reset_with(state, mode, |level, tile, cell| {
        start.plane(level, tile, 0)[cell] + tendency.plane(level, tile, 0)[cell]
    });
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
    fn the_three_modes_give_their_documented_results() {
        for (mode, at_start, at_end) in [
            (AirMassReset::None, [4.0, 2.0], [4.0, 2.0]),
            (AirMassReset::PreserveTracerMass, [5.0, 2.0], [8.0, 2.0]),
            (AirMassReset::PreserveVmr, [5.0, 2.5], [8.0, 4.0]),
        ] {
            let (mut state, start, tendency, cell) = case();
            reset_to_start(&mut state, mode, &start);
            assert_eq!(values(&state, cell), at_start, "{mode:?}");
            reset_to_end(&mut state, mode, &start, &tendency);
            assert_eq!(values(&state, cell), at_end, "{mode:?}");
        }
    }

    #[test]
    fn no_air_means_no_tracer_when_mixing_ratios_are_kept() {
        let (mut state, start, _, cell) = case();
        state.slabs_mut().plane_mut(0, 0, 0)[cell] = 0.0;
        reset_to_start(&mut state, AirMassReset::PreserveVmr, &start);
        assert_eq!(values(&state, cell), [5.0, 0.0]);
    }
}
