use decomposition::PanelConvention;
use proptest::prelude::*;

use super::*;

const CONVENTIONS: [PanelConvention; 2] = [PanelConvention::Gnomonic, PanelConvention::GeosNative];

/// Repeatable values in −0.4..0.6 (congruential generator, Knuth's MMIX constants).
fn uneven(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.4
    };
    (0..count).map(|_| next()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn corrections_close_every_cell(nc in 1usize..13, seed in any::<u64>(), geos in any::<bool>()) {
        let faces = FaceTable::new(nc, CONVENTIONS[usize::from(geos)]);
        let solver = Poisson::new(&faces);
        let mut scratch = PoissonScratch::default();
        let rhs = uneven(faces.cells(), seed);
        let (mut psi, mut change) = (vec![0.0; faces.cells()], vec![0.0; faces.faces()]);

        let solved = solver.correction(&rhs, &mut change, &mut scratch);
        prop_assert!(solved.relative() <= 2e-15, "{:?}", solved);
        let mut out = vec![0.0; faces.cells()];
        faces.divergence(&change, &mut out);
        for (out, rhs) in out.iter().zip(&rhs) {
            prop_assert!((out + (rhs - solved.mean)).abs() <= 4e-15 * solved.largest);
        }

        // The same by the definition of the operator, cell by cell.
        let solved = solver.solve(&rhs, &mut psi, &mut scratch);
        prop_assert!(solved.relative() <= 1e-14, "{:?}", solved);
        prop_assert!(psi.iter().sum::<f64>().abs() <= 1e-13 * psi.len() as f64);
        for (cell, neighbours) in neighbours_of(&faces).iter().enumerate() {
            let applied = 4.0 * psi[cell] - neighbours.iter().map(|n| psi[*n as usize]).sum::<f64>();
            prop_assert!((applied - (rhs[cell] - solved.mean)).abs() <= 2e-14 * solved.largest);
        }
        for (face, change) in change.iter().enumerate() {
            prop_assert!((psi[faces.right(face)] - psi[faces.left(face)] - change).abs() <= 1e-13 * solved.largest);
        }
    }
}

/// The potential of a smooth field is larger than the field by nc², its rounding is what limits the potential; the
/// fluxes are larger by nc only.
#[test]
fn smooth_fields_are_closed_to_the_rounding_of_the_fluxes() {
    let nc = 24;
    let faces = FaceTable::new(nc, PanelConvention::GeosNative);
    let solver = Poisson::new(&faces);
    let mut scratch = PoissonScratch::default();
    let rhs: Vec<f64> = (0..faces.cells()).map(|cell| (cell / (nc * nc)) as f64 / 3.0).collect();
    let (mut psi, mut change) = (vec![0.0; faces.cells()], vec![0.0; faces.faces()]);
    assert!(solver.solve(&rhs, &mut psi, &mut scratch).relative() < 4e-13);
    let solved = solver.correction(&rhs, &mut change, &mut scratch);
    let largest = change.iter().fold(0.0f64, |a, c| a.max(c.abs()));
    assert!(solved.residual <= 2.0 * f64::EPSILON * largest, "{solved:?}");
    assert!(solved.relative() < 1e-14, "{solved:?}");
}

#[test]
fn a_mean_alone_needs_no_correction() {
    let faces = FaceTable::new(3, PanelConvention::Gnomonic);
    let mut change = vec![1.0; faces.faces()];
    let solved = Poisson::new(&faces).correction(&vec![0.7; 54], &mut change, &mut PoissonScratch::default());
    assert!((solved.mean - 0.7).abs() < 1e-15 && solved.residual <= solved.largest && solved.largest < 1e-15);
    assert!(change.iter().all(|c| c.abs() < 1e-15));
}

#[test]
fn values_that_are_not_finite_are_told_by_the_residual() {
    let faces = FaceTable::new(4, PanelConvention::Gnomonic);
    let mut rhs = vec![0.5; faces.cells()];
    rhs[17] = f64::NAN;
    let mut change = vec![0.0; faces.faces()];
    let solved = Poisson::new(&faces).correction(&rhs, &mut change, &mut PoissonScratch::default());
    assert!(solved.residual.is_nan() && solved.relative().is_nan());
}

/// Same factor, same bits: scratch that was used before changes nothing.
#[test]
fn used_scratch_changes_nothing() {
    let faces = FaceTable::new(5, PanelConvention::GeosNative);
    let solver = Poisson::new(&faces);
    let rhs = uneven(faces.cells(), 5);
    let solve = |scratch: &mut PoissonScratch| {
        let mut change = vec![f64::NAN; faces.faces()];
        solver.correction(&rhs, &mut change, scratch);
        change
    };
    let mut scratch = PoissonScratch::default();
    let first = solve(&mut scratch);
    assert_eq!(first, solve(&mut scratch));
    assert_eq!(first, {
        let again = Poisson::new(&faces);
        let mut change = vec![0.0; faces.faces()];
        again.correction(&rhs, &mut change, &mut PoissonScratch::default());
        change
    });
}

/// Nested dissection keeps the factor of a planar graph at O(n log n) entries.
#[test]
fn factors_stay_sparse() {
    let faces = FaceTable::new(24, PanelConvention::GeosNative);
    let solver = Poisson::new(&faces);
    assert!(solver.entries() < 32 * faces.cells(), "{} entries", solver.entries());
    assert!(solver.bytes() > 8 * solver.entries());
    let least = Poisson::least_bytes(faces.cells());
    assert!(least < solver.bytes() as u64 && solver.bytes() as u64 <= 4 * least, "{least} of {}", solver.bytes());
}
