//! Dry air from surface pressure and humidity.

use rayon::prelude::*;

use super::Target;
use crate::grid::HybridCoordinate;
use crate::grid::constants::GRAVITY;

/// Pressure thickness in Pa of the dry air of every layer, `[layer][cell]`: (1 − q)·(ΔA + ΔB·ps), with the surface pressure
/// `ps` in Pa of all air and its specific humidity `q` in kg/kg (`[layer][cell]`; dry without).
pub fn dry_thickness(coordinate: &HybridCoordinate, ps: &[f64], q: Option<&[f64]>) -> Vec<f64> {
    let (a, b, cells) = (coordinate.a(), coordinate.b(), ps.len());
    let mut thickness = vec![0.0; coordinate.levels() * cells];
    thickness.par_chunks_mut(cells).enumerate().for_each(|(k, layer)| {
        let (da, db) = (a[k + 1] - a[k], b[k + 1] - b[k]);
        layer.iter_mut().zip(ps).for_each(|(dp, ps)| *dp = da + db * ps);
        if let Some(q) = q {
            layer.iter_mut().zip(&q[k * cells..]).for_each(|(dp, q)| *dp *= 1.0 - q);
        }
    });
    thickness
}

/// Mass in kg of a thickness in Pa, in place.
pub fn thickness_to_mass(target: &Target, thickness: &mut [f64]) {
    let areas = target.areas();
    thickness.par_chunks_mut(areas.len()).for_each(|layer| {
        layer.iter_mut().zip(areas).for_each(|(m, area)| *m *= area / GRAVITY);
    });
}
