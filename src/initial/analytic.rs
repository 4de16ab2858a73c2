//! Initial states that depend on longitude and latitude only.

use kernels::Scalar;

use super::{InitialState, fill};
use crate::grid::CubedSphere;
use crate::state::PackedState;

/// Fills a tracer whose mixing ratio is a function of the cell centre.
pub(super) fn fill_horizontal<R: Scalar>(
    state: &mut PackedState<R>,
    index: usize,
    initial: &InitialState,
    grid: &CubedSphere,
) {
    let set = state.tile_set().clone();
    let maps: Vec<Vec<f64>> = set
        .tiles()
        .iter()
        .map(|tile| {
            (0..tile.nj * tile.ni)
                .map(|n| {
                    let (lon, lat) = grid.center_lonlat(tile.panel, tile.i0 + n % tile.ni, tile.j0 + n / tile.ni);
                    value(initial, lon, lat)
                })
                .collect()
        })
        .collect();
    fill(state, index, |_, tile, i, j| maps[tile][j * set.tiles()[tile].ni + i]);
}

fn value(initial: &InitialState, lon: f64, lat: f64) -> f64 {
    match *initial {
        InitialState::LatitudeStep { south, north, split_lat_deg } => {
            if lat >= split_lat_deg {
                north
            } else {
                south
            }
        }
        InitialState::GaussianBlob { background, amplitude, lon0_deg, lat0_deg, sigma_lon_deg, sigma_lat_deg } => {
            let dlon = (lon - lon0_deg + 180.0).rem_euclid(360.0) - 180.0;
            let (x, y) = (dlon / sigma_lon_deg, (lat - lat0_deg) / sigma_lat_deg);
            background + amplitude * (-0.5 * (x * x + y * y)).exp()
        }
        InitialState::Uniform { background } => background,
        InitialState::PressureLayer { .. }
        | InitialState::CsNative { .. }
        | InitialState::Field(_)
        | InitialState::BoundaryLayer { .. } => unreachable!("these states depend on more than the position"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blob_wraps_in_longitude() {
        let blob = InitialState::GaussianBlob {
            background: 1.0,
            amplitude: 2.0,
            lon0_deg: 350.0,
            lat0_deg: 10.0,
            sigma_lon_deg: 20.0,
            sigma_lat_deg: 10.0,
        };
        assert_eq!(value(&blob, 350.0, 10.0), 3.0);
        assert!((value(&blob, 10.0, 10.0) - value(&blob, 330.0, 10.0)).abs() < 1e-15);
        assert!((value(&blob, 10.0, 10.0) - (1.0 + 2.0 * (-0.5_f64).exp())).abs() < 1e-15);
    }

    #[test]
    fn the_split_latitude_belongs_to_the_north() {
        let step = InitialState::LatitudeStep { south: 1.0, north: 2.0, split_lat_deg: -5.0 };
        assert_eq!((value(&step, 0.0, -5.0), value(&step, 0.0, -5.001)), (2.0, 1.0));
    }
}
