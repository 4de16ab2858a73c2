//! The toy chemistry of Lauritzen et al. (2015): two species whose chlorine must stay together at the terminator.

use kernels::Scalar;

use super::super::bed::Bed;
use super::super::flows::deformation;
use super::super::norms::{largest, weighted_sum};
use super::super::plane::{AtHalf, PlaneCase, PlaneTracer, not_finite};
use super::super::report::CaseReport;
use super::super::{Job, VerifyError};
use crate::diagnostics::SumError;
use crate::grid::vector::{dot, from_lonlat};

/// Chlorine of both species together.
const TOTAL: f64 = 4e-6;

/// Seconds of a period: rates are per second.
const PERIOD_S: f64 = 12.0 * 86_400.0;

/// Rate of the reaction that joins atoms, s⁻¹.
const JOINING: f64 = 1.0;

/// Rate of photolysis at a point, s⁻¹: the cosine of the zenith angle of a sun that stands still.
fn photolysis(p: [f64; 3]) -> f64 {
    dot(p, from_lonlat(300.0, 20.0)).max(0.0)
}

/// Ratio r = k1/(4·k2) and D = √(r² + 2·r·total).
fn balance(p: [f64; 3], total: f64) -> (f64, f64) {
    let r = photolysis(p) / (4.0 * JOINING);
    (r, (r * r + 2.0 * r * total).sqrt())
}

/// Atoms in equilibrium.
fn atoms(p: [f64; 3]) -> f64 {
    let (r, d) = balance(p, TOTAL);
    d - r
}

/// Molecules in equilibrium.
fn molecules(p: [f64; 3]) -> f64 {
    0.5 * (TOTAL - atoms(p))
}

/// Exact change over `dt` s of a pair of species. Undershoots of the transport take no part: a negative amount of atoms
/// would run away.
fn react(p: [f64; 3], species: [f64; 2], dt: f64) -> [f64; 2] {
    let [atoms, molecules] = species.map(|amount| amount.max(0.0));
    let (r, d) = balance(p, atoms + 2.0 * molecules);
    let e = (-4.0 * JOINING * d * dt).exp();
    let el = if d * dt * 4.0 * JOINING > 1e-16 { (1.0 - e) / (d * dt) } else { 4.0 * JOINING };
    let change = -dt * el * (atoms - d + r) * (atoms + d + r) / (1.0 + e + dt * el * (atoms + r));
    [species[0] + change, species[1] - 0.5 * change]
}

/// The deformational flow with the chemistry after every step.
pub(super) fn terminator<R: Scalar>(job: &mut Job<'_>, nc: usize) -> Result<CaseReport, VerifyError> {
    // Extremes over all steps, and l2 after the last one.
    let mut sums = [TOTAL; 2];
    let mut last = Vec::new();
    let mut weights = Vec::new();
    let comm = job.comm;
    let chemistry = |bed: &mut Bed<'_, R>, dt: f64| {
        let (mut first, mut second) = (bed.ratios(0, 0), bed.ratios(1, 0));
        weights.clone_from(&bed.weights);
        last.clear();
        for ((cell, a), b) in bed.cells.iter().zip(&mut first).zip(&mut second) {
            let sum = *a + 2.0 * *b;
            last.push(sum / TOTAL - 1.0);
            sums = [sums[0].min(sum), sums[1].max(sum)];
            [*a, *b] = react(bed.grid.center(cell.panel, cell.i, cell.j), [*a, *b], dt * PERIOD_S);
        }
        bed.set_ratios(0, 0, &first);
        bed.set_ratios(1, 0, &second);
    };
    let mut report = PlaneCase::<R> {
        suite: "terminator",
        case: "terminator".into(),
        nc,
        stream: deformation(),
        tracers: vec![PlaneTracer::returning("cl", atoms), PlaneTracer::returning("cl2", molecules)],
        steps: job.steps(nc, 20.0)?,
        periods: 1.0,
        half: AtHalf::Nothing,
        chemistry: Some(Box::new(chemistry)),
    }
    .run(job)?;
    let error = largest(comm, sums.iter().map(|sum| sum / TOTAL - 1.0));
    report.figures.push(("sum error".into(), error));
    let finite = |sum: Result<f64, SumError>| sum.map_err(|source| not_finite("cl", source));
    let squares = finite(weighted_sum(comm, &weights, last.iter().map(|d| d * d)))?;
    let area = finite(weighted_sum(comm, &weights, weights.iter().map(|_| 1.0)))?;
    report.figures.push(("sum l2 at the end".into(), (squares / area).sqrt()));
    // The species have no exact solution to be compared with.
    report.norms.clear();
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chemistry_keeps_chlorine_and_its_equilibrium() {
        for (lon, lat) in [(300.0, 20.0), (30.0, 0.0), (200.0, 70.0), (120.0, -20.0)] {
            let p = from_lonlat(lon, lat);
            let still = react(p, [atoms(p), molecules(p)], 1800.0);
            assert!((still[0] - atoms(p)).abs() < 1e-20 && (still[1] - molecules(p)).abs() < 1e-20);
            let moved = react(p, [1e-6, 1.5e-6], 1800.0);
            assert!((moved[0] + 2.0 * moved[1] - TOTAL).abs() < 1e-20);
            // Where the sun shines half an hour is enough; both are differences of numbers up to 0.25.
            if photolysis(p) > 0.1 {
                assert!((moved[0] - atoms(p)).abs() < 0.25 * f64::EPSILON, "{moved:?} {}", atoms(p));
            }
        }
    }

    #[test]
    fn undershoots_do_not_run_away() {
        let mut species = [-1e-6, 2.5e-6];
        for _ in 0..600 {
            species = react(from_lonlat(120.0, -20.0), species, 1728.0);
        }
        assert!(species[0] >= -1.1e-6 && (species[0] + 2.0 * species[1] - TOTAL).abs() < 1e-18, "{species:?}");
    }

    /// Small steps of the reaction equations dCl/dt = 2·k1·Cl2 − 2·k2·Cl² lead to the same place.
    #[test]
    fn the_exact_change_solves_the_reaction_equations() {
        let p = from_lonlat(40.0, 10.0);
        let k1 = photolysis(p);
        let start = [3e-6, 0.5e-6];
        let (mut a, steps, dt) = (start[0], 200_000, 2000.0);
        for _ in 0..steps {
            let rate = |a: f64| k1 * (TOTAL - a) - 2.0 * JOINING * a * a;
            let h = dt / f64::from(steps);
            a += h * rate(a + 0.5 * h * rate(a));
        }
        assert!((react(p, start, dt)[0] - a).abs() < 1e-13, "{a:e}");
    }
}
