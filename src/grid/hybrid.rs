//! Hybrid sigma-pressure coordinate.

use super::GridError;
use super::constants::REFERENCE_SURFACE_PRESSURE_PA;

/// Vertical coordinate: pressure at interface k is A\[k\] + B\[k\]·ps, interfaces counted from 0 at the model top.
///
/// Pressure grows downwards at the reference surface pressure; [`levels`](Self::levels) + 1 interfaces bound the layers.
#[derive(Clone, Debug, PartialEq)]
pub struct HybridCoordinate {
    a: Vec<f64>,
    b: Vec<f64>,
}

impl HybridCoordinate {
    /// Coordinate from its coefficients, `a` in Pa, from the model top to the surface.
    ///
    /// # Errors
    /// If the lists differ in length, have fewer than two entries, hold a value that is not finite, or if pressure at a
    /// surface pressure of 101325 Pa is negative at the top or does not grow downwards; the message names the interface.
    pub fn new(a: Vec<f64>, b: Vec<f64>) -> Result<Self, GridError> {
        if a.len() != b.len() || a.len() < 2 {
            return Err(GridError::HybridLength { a: a.len(), b: b.len() });
        }
        if let Some(k) = (0..a.len()).find(|&k| !(a[k].is_finite() && b[k].is_finite())) {
            return Err(GridError::HybridNotFinite { interface: k + 1, a: a[k], b: b[k] });
        }
        let coordinate = Self { a, b };
        let ps = REFERENCE_SURFACE_PRESSURE_PA;
        let top = coordinate.pressure_at(0, ps);
        let refuse = |interface: usize, pressure: f64, above: f64| GridError::HybridOrder {
            interface,
            pressure,
            above,
            surface_pressure: ps,
        };
        if top < 0.0 {
            return Err(refuse(1, top, 0.0));
        }
        for k in 1..=coordinate.levels() {
            let (above, pressure) = (coordinate.pressure_at(k - 1, ps), coordinate.pressure_at(k, ps));
            if pressure <= above {
                return Err(refuse(k + 1, pressure, above));
            }
        }
        Ok(coordinate)
    }

    /// Smooth built-in set of `levels` layers with its top at `top_pa`.
    ///
    /// Layers are thinnest near the ground and grow smoothly in height. Interfaces are isobaric above 10 % of the
    /// surface pressure and turn into pure sigma at the surface (dA/dp = 0 there). Meant for analytic flows; pressure
    /// grows downwards for any surface pressure above 50 kPa.
    ///
    /// # Errors
    /// [`GridError::HybridSet`] unless `levels` is in 1..=1000 and 0 < `top_pa` < 50000.
    pub fn smooth(levels: usize, top_pa: f64) -> Result<Self, GridError> {
        if !((1..=1000).contains(&levels) && top_pa > 0.0 && top_pa < 50_000.0) {
            return Err(GridError::HybridSet { levels, top_pa });
        }
        const NEAR_GROUND: f64 = 0.1;
        let p0 = REFERENCE_SURFACE_PRESSURE_PA;
        let eta_top = top_pa / p0;
        let turn = eta_top.max(0.1);
        let depth = -eta_top.ln();
        let (mut a, mut b) = (Vec::with_capacity(levels + 1), Vec::with_capacity(levels + 1));
        for k in 0..=levels {
            let y = (levels - k) as f64 / levels as f64;
            // Ends are set exactly: the top pressure, and sigma = 1 at the ground.
            let eta = match k {
                0 => eta_top,
                k if k == levels => 1.0,
                _ => (-depth * y * (NEAR_GROUND + (1.0 - NEAR_GROUND) * y * y)).exp(),
            };
            let s = ((eta - turn) / (1.0 - turn)).max(0.0);
            // Cubic from 0 with zero slope to 1 with the slope of pure sigma.
            let sigma = s * s * ((3.0 - 2.0 * s) + (1.0 - turn) * (s - 1.0));
            a.push((eta - sigma) * p0);
            b.push(sigma);
        }
        Self::new(a, b)
    }

    /// Sigma-type set through given interface `pressures` in Pa (model top to surface, the last is the surface pressure
    /// at which they hold): p\[k\] = top·(1 − B\[k\]) + B\[k\]·ps.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_pressures(pressures: &[f64]) -> Result<Self, GridError> {
        let (Some(&top), Some(&surface)) = (pressures.first(), pressures.last()) else {
            return Err(GridError::HybridLength { a: 0, b: 0 });
        };
        let b: Vec<f64> = pressures.iter().map(|p| (p - top) / (surface - top)).collect();
        let a = b.iter().map(|b| top * (1.0 - b)).collect();
        Self::new(a, b)
    }

    /// Number of layers.
    pub fn levels(&self) -> usize {
        self.a.len() - 1
    }

    /// A at the interfaces in Pa, model top first.
    pub fn a(&self) -> &[f64] {
        &self.a
    }

    /// B at the interfaces, model top first.
    pub fn b(&self) -> &[f64] {
        &self.b
    }

    /// Pressure in Pa at interface `k` (0 at the model top, `levels` at the surface) for surface pressure `ps` in Pa.
    pub fn pressure_at(&self, k: usize, ps: f64) -> f64 {
        self.a[k] + self.b[k] * ps
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn refuses_what_is_not_a_coordinate() {
        let make = |a: &[f64], b: &[f64]| HybridCoordinate::new(a.to_vec(), b.to_vec()).unwrap_err();
        assert_eq!(make(&[0.0], &[1.0]), GridError::HybridLength { a: 1, b: 1 });
        assert_eq!(make(&[0.0, 1.0], &[1.0]), GridError::HybridLength { a: 2, b: 1 });
        assert!(matches!(make(&[0.0, f64::NAN], &[0.0, 1.0]), GridError::HybridNotFinite { interface: 2, .. }));
        assert!(matches!(make(&[-1.0, 0.0], &[0.0, 1.0]), GridError::HybridOrder { interface: 1, .. }));
        // Given from the ground upwards.
        assert!(matches!(make(&[0.0, 5e4, 1.0], &[1.0, 0.0, 0.0]), GridError::HybridOrder { interface: 2, .. }));
        let error = make(&[0.0, 100.0, 100.0, 0.0], &[0.0, 0.0, 0.0, 1.0]);
        assert!(error.to_string().contains("interface 3"), "{error}");
        assert!(HybridCoordinate::smooth(0, 1.0).is_err());
        assert!(HybridCoordinate::smooth(10, 0.0).is_err());
        assert!(HybridCoordinate::from_pressures(&[]).is_err());
        assert!(HybridCoordinate::from_pressures(&[5.0, 5.0]).is_err());
    }

    #[test]
    fn given_pressures_are_met_at_their_surface_pressure() {
        let p = [25_494.0, 40_000.0, 71_000.0, 100_000.0];
        let coordinate = HybridCoordinate::from_pressures(&p).unwrap();
        for (k, p) in p.iter().enumerate() {
            assert!((coordinate.pressure_at(k, 1e5) - p).abs() < 1e-10);
        }
        assert_eq!((coordinate.a()[3], coordinate.b()[3]), (0.0, 1.0));
    }

    proptest! {
        #[test]
        fn smooth_sets_are_ordered_from_top_to_ground(
            levels in 1usize..200,
            top in 1.0f64..1000.0,
            ps in 50_000.0f64..110_000.0,
        ) {
            let coordinate = HybridCoordinate::smooth(levels, top).unwrap();
            prop_assert_eq!(coordinate.levels(), levels);
            prop_assert!((coordinate.pressure_at(0, ps) - top).abs() < 1e-9);
            prop_assert_eq!(coordinate.pressure_at(levels, ps), ps);
            prop_assert_eq!(coordinate.b()[0], 0.0);
            for k in 0..levels {
                prop_assert!(coordinate.pressure_at(k + 1, ps) > coordinate.pressure_at(k, ps));
                prop_assert!(coordinate.a()[k] >= 0.0 && coordinate.b()[k + 1] >= coordinate.b()[k]);
            }
        }
    }

    #[test]
    fn smooth_set_has_thin_layers_at_the_ground() {
        let coordinate = HybridCoordinate::smooth(66, 1.0).unwrap();
        let ps = REFERENCE_SURFACE_PRESSURE_PA;
        let lowest = ps - coordinate.pressure_at(65, ps);
        assert!(lowest > 500.0 && lowest < 2500.0, "{lowest} Pa");
    }
}
