//! How many substeps a window needs so that no cell gives away more air than it has.

use rayon::prelude::*;

use super::FaceTable;

/// Largest share of a cell's air that would leave it in a window of one substep, by the smaller of its masses at both ends:
/// 2·(out_x + out_y + out_z)/min(m, m_next) of the amounts of a half-sweep, which are half of those of the window. With n
/// substeps it is the n-th part.
///
/// `flux` is `[k][face]`, `cm` `[interface][cell]`, `m` and `m_next` `[k][cell]`, kg over the window. Infinite where a mass
/// is not positive or a value not finite.
pub fn outflow_ratio(faces: &FaceTable, flux: &[f64], cm: &[f64], m: &[f64], m_next: &[f64]) -> f64 {
    let cells = faces.cells();
    assert!(m.len() == m_next.len() && cm.len() == m.len() + cells, "air masses and vertical fluxes");
    assert!(flux.len() == m.len() / cells * faces.faces(), "fluxes of all layers");
    // Zero times the values makes everything that is not finite a NaN.
    let out = |low: f64, high: f64| (-low).max(0.0) + high.max(0.0) + 0.0 * (low + high);
    let layers = flux.par_chunks(faces.faces()).enumerate().map(|(k, flux)| {
        let mut worst = 0.0f64;
        faces.each_cell(flux, |cell, [west, east, south, north]| {
            let n = k * cells + cell;
            let (m, next) = (m[n], m_next[n]);
            let all = out(west, east) + out(south, north) + out(cm[n], cm[n + cells]);
            let legal = m > 0.0 && next > 0.0 && m.is_finite() && next.is_finite() && all.is_finite();
            worst = worst.max(if legal { all / m.min(next) } else { f64::INFINITY });
        });
        worst
    });
    layers.reduce(|| 0.0, f64::max)
}

/// Bounds of the number of substeps of a window, and the outflow they aim at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepRule {
    /// Fewest substeps, at least 1.
    pub least: u32,
    /// Most substeps, at least `least`.
    pub most: u32,
    /// Largest share of a cell's air that a substep may move out, above 0.
    pub target: f64,
}

impl StepRule {
    /// Substeps for a window whose [`outflow_ratio`] is `ratio`; the most if that is not finite.
    pub fn steps(self, ratio: f64) -> u32 {
        self.steps_after(1, ratio)
    }

    /// Substeps for a window whose outflow is `ratio` with `steps` of them: ceil(steps·ratio/target), never fewer than
    /// `steps`, within the bounds.
    pub fn steps_after(self, steps: u32, ratio: f64) -> u32 {
        let wanted = (f64::from(steps) * ratio / self.target).ceil();
        // A conversion from f64 keeps to the range of integers.
        let wanted = if wanted.is_finite() { wanted as u32 } else { self.most };
        wanted.max(steps).clamp(self.least, self.most.max(self.least))
    }
}

#[cfg(test)]
mod tests {
    use decomposition::PanelConvention;

    use super::super::testing::{Window, uneven};
    use super::*;

    #[test]
    fn substeps_follow_the_outflow() {
        let rule = StepRule { least: 1, most: 512, target: 0.95 };
        assert_eq!(rule.steps(3.2), 4);
        assert_eq!(rule.steps_after(4, 0.8), 4);
        assert_eq!(rule.steps_after(4, 0.1), 4);
        assert_eq!(rule.steps_after(4, 1.2), 6);
        assert_eq!(rule.steps(0.95), 1);
        assert_eq!((rule.steps(f64::INFINITY), rule.steps(f64::NAN), rule.steps(1e30)), (512, 512, 512));
        let rule = StepRule { least: 6, most: 16, target: 0.9 };
        assert_eq!((rule.steps(3.2), rule.steps(7.3), rule.steps(200.0)), (6, 9, 16));
    }

    /// By the definition, cell by cell, from the arrays as they are stored.
    #[test]
    fn outflow_is_that_of_the_worst_cell() {
        for seed in 0..8 {
            let (nc, layers) = (4, 3);
            let Window { faces, flux, m, m_next, .. } = Window::new(nc, layers, seed);
            let cells = faces.cells();
            let cm: Vec<f64> = uneven((layers + 1) * cells, seed + 9).map(|v| 1e8 * v).collect();
            let len = 6 * layers * nc * (nc + 1);
            let (mut am, mut bm) = (vec![0.0f64; len], vec![0.0f64; len]);
            faces.scatter_levels(&flux, layers, &mut am, &mut bm);
            let mut worst = 0.0f64;
            for cell in 0..cells {
                for k in 0..layers {
                    let (panel, i, j) = (cell / (nc * nc), cell % nc, cell / nc % nc);
                    let block = (panel * layers + k) * nc * (nc + 1);
                    let (x, y) = (block + j * (nc + 1) + i, block + j * nc + i);
                    let sides =
                        [-am[x], am[x + 1], -bm[y], bm[y + nc], -cm[k * cells + cell], cm[(k + 1) * cells + cell]];
                    let out: f64 = sides.iter().filter(|out| **out > 0.0).sum();
                    worst = worst.max(out / m[k * cells + cell].min(m_next[k * cells + cell]));
                }
            }
            let ratio = outflow_ratio(&faces, &flux, &cm, &m, &m_next);
            assert!((ratio / worst - 1.0).abs() < 1e-14, "{ratio} {worst}");
        }
    }

    #[test]
    fn what_is_no_air_mass_has_an_infinite_outflow() {
        let faces = FaceTable::new(2, PanelConvention::Gnomonic);
        let ratio = |flux: f64, cm: f64, m: f64, next: f64| {
            let mut values = (vec![0.0; 48], vec![0.0; 48], vec![1.0; 24], vec![1.0; 24]);
            (values.0[3], values.1[30], values.2[7], values.3[7]) = (flux, cm, m, next);
            outflow_ratio(&faces, &values.0, &values.1, &values.2, &values.3)
        };
        assert_eq!(ratio(0.5, 0.0, 1.0, 1.0), 0.5);
        assert_eq!(ratio(0.0, 0.25, 1.0, 1.0), 0.25);
        assert_eq!(ratio(0.0, 0.0, 1.0, 1.0), 0.0);
        let bad = [(f64::NAN, 0.0, 1.0, 1.0), (f64::NEG_INFINITY, 0.0, 1.0, 1.0), (0.0, f64::NAN, 1.0, 1.0)];
        let lost =
            [(0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, -1.0), (0.0, 0.0, f64::NAN, 1.0), (0.0, 0.0, 1.0, f64::INFINITY)];
        for (flux, cm, m, next) in bad.into_iter().chain(lost) {
            assert_eq!(ratio(flux, cm, m, next), f64::INFINITY, "{flux} {cm} {m} {next}");
        }
    }
}
