//! A layer that holds a given number of molecules.

use kernels::Scalar;

use super::{InitialContext, LayerChoice, fill};
use crate::diagnostics::{ExactSum, SumError, exact_total};
use crate::grid::HybridCoordinate;
use crate::grid::constants::MOLAR_MASS_AIR;
use crate::state::{AIR, PackedState};

/// Avogadro constant (1/mol), exact by the definition of the mole (SI 2019).
const AVOGADRO_PER_MOL: f64 = 6.022_140_76e23;

/// Layer of a column with surface pressure `ps` (Pa); the first of equally near ones.
fn layer_of(choice: LayerChoice, vertical: &HybridCoordinate, ps: f64) -> usize {
    let LayerChoice::NearestFraction(fraction) = choice else {
        return vertical.levels() - 1;
    };
    let distance = |k: usize| {
        let mean = (vertical.pressure_at(k, ps) * vertical.pressure_at(k + 1, ps)).sqrt();
        (mean - fraction * ps).abs()
    };
    (1..vertical.levels()).fold(0, |best, k| if distance(k) < distance(best) { k } else { best })
}

/// One mixing ratio in the chosen layer of every column, such that the globe holds `total_molecules`.
pub(super) fn fill_layer<R: Scalar>(
    state: &mut PackedState<R>,
    index: usize,
    choice: LayerChoice,
    total_molecules: f64,
    context: &InitialContext<'_, R>,
) -> Result<(), SumError> {
    let set = state.tile_set().clone();
    let layers: Vec<Vec<usize>> = set
        .shapes()
        .iter()
        .enumerate()
        .map(|(tile, shape)| {
            let ps = context.surface_pressure.plane(0, tile, 0);
            (0..shape.nj * shape.ni)
                .map(|n| {
                    let ps = ps[shape.row_start(n / shape.ni) + n % shape.ni].to_f64();
                    layer_of(choice, context.vertical, ps)
                })
                .collect()
        })
        .collect();
    let mut mass = ExactSum::new();
    for (tile, shape) in set.shapes().iter().enumerate() {
        for (n, &level) in layers[tile].iter().enumerate() {
            let cell = shape.row_start(n / shape.ni) + n % shape.ni;
            mass.add(state.slabs().plane(level, tile, AIR)[cell].to_f64());
        }
    }
    let mass = exact_total(context.comm, mass)?;
    let mixing_ratio = total_molecules / AVOGADRO_PER_MOL * MOLAR_MASS_AIR / mass;
    fill(
        state,
        index,
        |level, tile, i, j| {
            if layers[tile][j * set.shapes()[tile].ni + i] == level { mixing_ratio } else { 0.0 }
        },
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_layer_by_geometric_mean() {
        let vertical = HybridCoordinate::from_pressures(&[100.0, 10_000.0, 40_000.0, 62_500.0, 100_000.0]).unwrap();
        // Geometric means 1000, 20000, 50000, 79057 Pa.
        let layer = |fraction| layer_of(LayerChoice::NearestFraction(fraction), &vertical, 100_000.0);
        assert_eq!([layer(0.01), layer(0.3), layer(0.5), layer(1.0)], [0, 1, 2, 3]);
        // 35000 lies midway between 20000 and 50000: the first wins.
        assert_eq!(layer(0.35), 1);
        assert_eq!(layer_of(LayerChoice::Lowest, &vertical, 100_000.0), 3);
    }
}
