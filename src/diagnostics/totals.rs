//! Exact global totals: correctly rounded, whatever the ranks, tiles and threads.

use kernels::Scalar;
use rayon::prelude::*;

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

/// Sum of the interior cells of one plane at all levels.
fn plane_sum<R: Scalar>(slabs: &Slabs<R>, plane: usize) -> ExactSum {
    let levels = (0..slabs.levels()).into_par_iter();
    levels.map(|level| level_sum(slabs, level, plane)).reduce(ExactSum::new, |mut a, b| {
        a.merge(&b);
        a
    })
}

/// Sum of the interior cells of one plane at one level of this rank.
pub fn level_sum<R: Scalar>(slabs: &Slabs<R>, level: usize, plane: usize) -> ExactSum {
    let mut sum = ExactSum::new();
    for (tile, shape) in slabs.tile_set().shapes().iter().enumerate() {
        let values = slabs.plane(level, tile, plane);
        for j in 0..shape.nj {
            let start = shape.row_start(j);
            values[start..start + shape.ni].iter().for_each(|v| sum.add(v.to_f64()));
        }
    }
    sum
}

/// Sum of each plane over the cells of this rank, in storage order.
pub fn local_sums<R: Scalar>(slabs: &Slabs<R>) -> Vec<ExactSum> {
    (0..slabs.planes()).map(|plane| plane_sum(slabs, plane)).collect()
}

/// Correctly rounded sum of one plane over the cells of all ranks, in the unit of its values. Collective.
///
/// # Errors
/// As [`exact_total`].
pub fn plane_total<R: Scalar>(comm: &dyn Communicator, slabs: &Slabs<R>, plane: usize) -> Result<f64, SumError> {
    exact_total(comm, plane_sum(slabs, plane))
}

/// Total air mass (kg) and tracer totals (kg of carrier air), in storage order. Collective.
///
/// # Errors
/// The first plane (0 = air) whose total is not a finite number, with the reason.
pub fn tracer_totals<R: Scalar>(
    comm: &dyn Communicator,
    state: &PackedState<R>,
) -> Result<Vec<f64>, (usize, SumError)> {
    let mut totals = Vec::new();
    tracer_totals_into(comm, state, &mut totals).map(|()| totals)
}

/// As [`tracer_totals`], into a vector whose former content is dropped.
///
/// # Errors
/// As [`tracer_totals`].
pub fn tracer_totals_into<R: Scalar>(
    comm: &dyn Communicator,
    state: &PackedState<R>,
    into: &mut Vec<f64>,
) -> Result<(), (usize, SumError)> {
    into.clear();
    for plane in 0..state.slabs().planes() {
        into.push(plane_total(comm, state.slabs(), plane).map_err(|error| (plane, error))?);
    }
    Ok(())
}
