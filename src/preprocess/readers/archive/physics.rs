//! Physics as the archives of GEOS hold it, to that of dry air (spec 40 §1.4).

use rayon::prelude::*;

use crate::met::Section;

/// Sections of physics that come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PhysicsGroup {
    /// Height of the boundary layer, friction velocity, heat fluxes, temperature at 2 m.
    Surface,
    /// Convective fluxes.
    Convection,
    /// Winds, temperature and humidity of the layers.
    Vdiff,
    /// Exchange of air by the boundary-layer scheme of TM5.
    Tm5Exchange,
}

impl PhysicsGroup {
    /// Sections that every archive of GEOS with the group has.
    pub(in super::super) fn sections(self) -> &'static [Section] {
        match self {
            Self::Surface => &[Section::Pblh, Section::Ustar, Section::SensibleHeatFlux, Section::T2m],
            Self::Convection => &[Section::Cmfmc, Section::Dtrain],
            Self::Vdiff => &[Section::VdiffU, Section::VdiffV, Section::VdiffT, Section::VdiffQv],
            Self::Tm5Exchange => &[Section::Dkg],
        }
    }
}

/// Detrainment of dry air, in place: `dtrain` of all air in kg m⁻² s⁻¹ and humidity `q` at both ends of the window, kg/kg,
/// `[layer][cell]`.
pub(in super::super) fn dry_detrainment(dtrain: &mut [f64], q: [&[f64]; 2]) {
    dtrain.par_iter_mut().enumerate().for_each(|(n, d)| *d *= 1.0 - 0.5 * (q[0][n] + q[1][n]));
}

/// Updraft of dry air, in place: `cmfmc` of all air in kg m⁻² s⁻¹, `[interface][cell]`; humidity as in
/// [`dry_detrainment`]. Humidity of an interface is the mean of the layers beside it, of the one there is at both ends.
pub(in super::super) fn dry_updraft(cmfmc: &mut [f64], q: [&[f64]; 2], cells: usize) {
    let layers = q[0].len() / cells;
    cmfmc.par_chunks_mut(cells).enumerate().for_each(|(k, interface)| {
        let (above, below) = (k.max(1) - 1, k.min(layers - 1));
        for (c, flux) in interface.iter_mut().enumerate() {
            let sum = |q: &[f64]| q[above * cells + c] + q[below * cells + c];
            *flux *= 1.0 - 0.25 * (sum(q[0]) + sum(q[1]));
        }
    });
}

/// Layer of the cloud base of every cell, counted from 1 at the model top: the lowest layer with a positive tendency of
/// condensate `dqrcu` (`[layer][cell]`), the lowest of all without one.
pub(in super::super) fn cloud_base(dqrcu: &[f64], cells: usize) -> Vec<f64> {
    let layers = dqrcu.len() / cells;
    let lowest = |c: usize| (0..layers).rev().find(|k| dqrcu[k * cells + c] > 0.0);
    (0..cells).into_par_iter().map(|c| lowest(c).map_or(layers, |k| k + 1) as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec 40 §8: profiles of DQRCU, including none.
    #[test]
    fn cloud_bases() {
        // Four cells, three layers: base in the lowest layer, in the first, none, in the second below a gap.
        let dqrcu = [0.0, 1e-9, 0.0, 1e-9, 1e-9, 0.0, 0.0, 1e-8, 1e-7, 0.0, 0.0, 0.0];
        assert_eq!(cloud_base(&dqrcu, 4), [3.0, 1.0, 3.0, 2.0]);
        assert_eq!(cloud_base(&[0.0, -1e-9], 2), [1.0, 1.0]);
    }

    /// Spec 40 §1.4 and pitfall T40-4, column by hand.
    #[test]
    fn convection_of_dry_air() {
        let (q0, q1) = ([0.001, 0.002, 0.01], [0.003, 0.004, 0.03]);
        let mut dtrain = [1.0, 2.0, 3.0];
        dry_detrainment(&mut dtrain, [&q0, &q1]);
        for (found, expected) in dtrain.iter().zip([1.0 - 0.002, 2.0 * (1.0 - 0.003), 3.0 * (1.0 - 0.02)]) {
            assert!((found / expected - 1.0f64).abs() < 1e-15);
        }
        let mut cmfmc = [1.0; 4];
        dry_updraft(&mut cmfmc, [&q0, &q1], 1);
        for (found, expected) in cmfmc.iter().zip([1.0 - 0.002, 1.0 - 0.0025, 1.0 - 0.0115, 1.0 - 0.02]) {
            assert!((found / expected - 1.0f64).abs() < 1e-15, "{found} {expected}");
        }
    }
}
