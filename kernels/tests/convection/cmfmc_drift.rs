//! 200 explicit steps of the same columns (spec 30 §6.6 C3, fixture CM-P).

use core::f64::consts::PI;

use kernels::Scalar;
use kernels::columns::convection::cmfmc::{Cmfmc, CmfmcOptions, Negative, Update, largest_courant, substeps};

use crate::cmfmc::Plumes;
use crate::common::Random;
use crate::fixtures::{Column, LedgerUse, pack, total, unpack};

const COLUMNS: usize = 64;
const N: usize = 72;
const STEPS: usize = 200;
const DT: f64 = 300.0;
const AREA: f64 = 1e10;

/// Air, cloud mass flux and detrainment of the columns.
fn fixture() -> [Vec<Column>; 3] {
    let mut random = Random(9);
    let [mut mass, mut fluxes, mut detrainments] = core::array::from_fn(|_| Vec::new());
    for _ in 0..COLUMNS {
        mass.push(
            (0..N).map(|k| AREA * (40.0 + 220.0 * (k + 1) as f64 / N as f64) * (1.0 + 0.2 * random.unit())).collect(),
        );
        let (top, base) = (25 + (15.0 * random.unit()) as usize, N - 7);
        let mut flux = vec![0.0; N + 1];
        for k in top + 1..=base {
            flux[k + 1] = 0.01 + 0.02 * random.unit() * (PI * ((base - k) as f64 + 0.5) / (base - top) as f64).sin();
        }
        let detrainment = (0..N)
            .map(|k| {
                f64::max(0.0, flux[k + 1] - flux[k]) + if k >= top && k <= base { 0.002 * random.unit() } else { 0.0 }
            })
            .collect();
        fluxes.push(flux);
        detrainments.push(detrainment);
    }
    [mass, fluxes, detrainments]
}

fn run<R: Scalar>(plumes: &Plumes<R>, options: CmfmcOptions, ledger: LedgerUse, start: &[R]) -> (Vec<R>, Vec<R>) {
    let (mut tracer, mut carry) = (start.to_vec(), vec![R::lit(0.0); plumes.width]);
    let courant = largest_courant(&plumes.air(), &plumes.flux, R::lit(DT)).to_f64();
    let mut work = Cmfmc::new(plumes.block, options);
    work.prepare(&plumes.air(), &plumes.forcing(), R::lit(DT), substeps(courant, Negative::Kept).unwrap()).unwrap();
    for _ in 0..STEPS {
        assert_eq!(work.convect(&plumes.air(), &mut tracer, ledger.of(&mut carry)).refused, 0);
    }
    (tracer, carry)
}

fn widen<R: Scalar>(values: &[R]) -> Vec<f64> {
    values.iter().map(|x| x.to_f64()).collect()
}

fn repeated<R: Scalar>() {
    let [mass, flux, detrainment] = fixture();
    let plumes = Plumes::<R>::new(&mass, AREA, &flux, Some(&detrainment));
    let exact = Plumes::<f64> {
        block: plumes.block,
        width: plumes.width,
        mass: widen(&plumes.mass),
        area: widen(&plumes.area),
        flux: widen(&plumes.flux),
        detrainment: plumes.detrainment.as_deref().map(widen),
        base: None,
    };
    let eps = R::EPSILON.to_f64();
    let peaked: Column = (0..N).map(|k| 2e-5 * (-((N - 1 - k) as f64) / 8.0).exp() + 1e-8).collect();
    for (name, q) in [("peaked", peaked), ("uniform", vec![4e-4; N])] {
        let start: Vec<R> = pack::<R>(&vec![q; COLUMNS]).iter().zip(&plumes.mass).map(|(q, m)| *q * *m).collect();
        for update in [Update::MixingRatio, Update::MassFlux] {
            let (reference, _) =
                run(&exact, CmfmcOptions { update, ..Default::default() }, LedgerUse::Kept, &widen(&start));
            for ledger in [LedgerUse::Omitted, LedgerUse::Kept] {
                let (after, carry) = run(&plumes, CmfmcOptions { update, ..Default::default() }, ledger, &start);
                let (mut cell, mut mean, mut worst, mut with_carry) = (0.0, 0.0, 0.0, 0.0);
                for c in 0..COLUMNS {
                    let column = |x: &[R]| unpack(x, plumes.width, c);
                    let (old, new) = (column(&start), column(&after));
                    let expected = unpack(&reference, plumes.width, c);
                    for k in 0..N {
                        cell = f64::max(cell, (new[k] / expected[k] - 1.0).abs());
                    }
                    let (before, change) = (total(&old), total(&new) - total(&old));
                    mean += change / before / COLUMNS as f64;
                    worst = f64::max(worst, (change / before).abs());
                    with_carry = f64::max(with_carry, ((change + carry[c].to_f64()) / before).abs());
                }
                println!(
                    "{} {name} {update:?} ledger {ledger:?}: cell {cell:.2e} ({:.1} eps) mean {mean:.1e} worst {worst:.1e} with carry {with_carry:.1e}",
                    R::NAME,
                    cell / eps
                );
                if ledger == LedgerUse::Kept {
                    assert!(mean.abs() <= 1e-9 && worst <= 1.5e-8 && with_carry <= 1e-14);
                    // 4e-6 in single precision.
                    assert!(cell <= if name == "uniform" { 20.0 } else { 34.0 } * eps, "{cell}");
                } else if update == Update::MixingRatio && name == "peaked" && eps > 1e-10 {
                    assert!(mean.abs() > 1e-8, "the fixture does not drift");
                }
            }
        }
    }
}

#[test]
fn repeated_steps_drift_by_the_carry_only() {
    repeated::<f32>();
    repeated::<f64>();
}
