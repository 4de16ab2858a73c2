//! Exact global totals: correctly rounded, whatever the ranks, tiles and threads.

use kernels::Scalar;

use super::{ExactSum, SumError};
use crate::comm::Communicator;
use crate::state::{PackedState, Slabs};

/// Correctly rounded sum over all ranks of everything added to their accumulators. Collective.
///
/// # Errors
/// NaN or infinite terms, or a sum beyond the range of f64.
pub fn exact_total(comm: &dyn Communicator, mut local: ExactSum) -> Result<f64, SumError> {
    comm.sum_i64(local.limbs_mut());
    local.round()
}

/// Adds the interior cells of one plane at all levels.
fn add_plane<R: Scalar>(slabs: &Slabs<R>, plane: usize, sum: &mut ExactSum) {
    for level in 0..slabs.levels() {
        for (tile, shape) in slabs.tile_set().shapes().iter().enumerate() {
            let values = slabs.plane(level, tile, plane);
            for j in 0..shape.nj {
                let start = shape.row_start(j);
                values[start..start + shape.ni].iter().for_each(|v| sum.add(v.to_f64()));
            }
        }
    }
}

/// Sum of each plane over the cells of this rank, in storage order.
pub fn local_sums<R: Scalar>(slabs: &Slabs<R>) -> Vec<ExactSum> {
    let sum = |plane| {
        let mut sum = ExactSum::new();
        add_plane(slabs, plane, &mut sum);
        sum
    };
    (0..slabs.planes()).map(sum).collect()
}

/// Correctly rounded sum of one plane over the cells of all ranks, in the unit of its values. Collective.
///
/// # Errors
/// As [`exact_total`].
pub fn plane_total<R: Scalar>(comm: &dyn Communicator, slabs: &Slabs<R>, plane: usize) -> Result<f64, SumError> {
    let mut sum = ExactSum::new();
    add_plane(slabs, plane, &mut sum);
    exact_total(comm, sum)
}

/// Total air mass (kg) and tracer totals (kg of carrier air), in storage order. Collective.
///
/// # Errors
/// The first plane (0 = air) whose total is not a finite number, with the reason.
pub fn tracer_totals<R: Scalar>(
    comm: &dyn Communicator,
    state: &PackedState<R>,
) -> Result<Vec<f64>, (usize, SumError)> {
    (0..state.slabs().planes())
        .map(|plane| plane_total(comm, state.slabs(), plane).map_err(|error| (plane, error)))
        .collect()
}
