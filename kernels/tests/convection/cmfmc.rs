//! Explicit plume: Courant scan, cloud base, ledger rules, positivity (spec 30 §6.6 C1, C2, C4, C5).

use kernels::Scalar;
use kernels::columns::convection::cmfmc::{
    BaseExchange, CloudBase, Cmfmc, CmfmcForcing, CmfmcOptions, Negative, Update, largest_courant, substeps,
};
use kernels::columns::convection::{ColumnAir, ConvectionError};
use kernels::columns::{ColumnBlock, Ledger, LedgerStats};

use crate::common::{Random, bits};
use crate::fixtures::{Column, pack, total, unpack};

/// Air, fluxes and detrainment of a block, for 1 m² columns unless said otherwise.
pub struct Plumes<R> {
    pub block: ColumnBlock,
    pub width: usize,
    pub mass: Vec<R>,
    pub area: Vec<R>,
    pub flux: Vec<R>,
    pub detrainment: Option<Vec<R>>,
    pub base: Option<Vec<R>>,
}

impl<R: Scalar> Plumes<R> {
    pub fn new(mass: &[Column], area: f64, flux: &[Column], detrainment: Option<&[Column]>) -> Self {
        let block = ColumnBlock::new(mass.len(), mass[0].len());
        let width = block.width();
        Self {
            block,
            width,
            mass: pack(mass),
            area: vec![R::lit(area); width],
            flux: pack(flux),
            detrainment: detrainment.map(pack),
            base: None,
        }
    }

    pub fn air(&self) -> ColumnAir<'_, R> {
        ColumnAir { block: self.block, mass: &self.mass, area: &self.area }
    }

    pub fn forcing(&self) -> CmfmcForcing<'_, R> {
        CmfmcForcing {
            cloud_flux: &self.flux,
            detrainment: self.detrainment.as_deref(),
            cloud_base: self.base.as_deref(),
        }
    }

    pub fn convect(
        &self,
        options: CmfmcOptions,
        dt: f64,
        steps: usize,
        tracer: &mut [R],
        ledger: Ledger<R>,
    ) -> Result<LedgerStats, ConvectionError> {
        let mut work = Cmfmc::new(self.block, options);
        work.prepare(&self.air(), &self.forcing(), R::lit(dt), steps)?;
        Ok(work.convect(&self.air(), tracer, ledger))
    }
}

/// Random plumes on `columns` columns: some without convection, cloud bases at several heights.
pub fn random_plumes<R: Scalar>(columns: usize, n: usize, random: &mut Random) -> Plumes<R> {
    let (mut mass, mut flux, mut detrainment) = (Vec::new(), Vec::new(), Vec::new());
    for c in 0..columns {
        mass.push((0..n).map(|_| 50.0 + 200.0 * random.unit()).collect());
        let (top, base) = (2 + (random.unit() * 5.0) as usize, n - 1 - (random.unit() * 5.0) as usize);
        let inside = |e: usize| c % 4 != 1 && e > top && e <= base;
        flux.push((0..=n).map(|e| if inside(e) { 0.01 + 0.05 * random.unit() } else { 0.0 }).collect());
        detrainment.push((0..n).map(|k| if inside(k + 1) { 0.01 * random.unit() } else { 0.0 }).collect::<Column>());
    }
    Plumes::new(&mass, 1.0, &flux, Some(&detrainment))
}

fn scan<R: Scalar>() {
    let (n, columns, dt) = (6, 16, 600.0);
    let mut random = Random(10);
    for edge in [0, 3, n] {
        for column in [0, 5, 15] {
            let mut plumes = random_plumes::<R>(columns, n, &mut random);
            plumes.flux[edge * plumes.width + column] = R::lit(-50.0);
            // Layers without air and a mass that is no number, away from the large flux.
            plumes.mass[2 * plumes.width + 9] = R::lit(0.0);
            plumes.mass[4 * plumes.width + 10] = R::lit(f64::NAN);
            let mut expected = R::lit(0.0);
            for c in 0..columns {
                for e in 0..=n {
                    let mass = |k: usize| plumes.mass[k * plumes.width + c];
                    let (above, below) = (mass(e.max(1) - 1), mass(e.min(n - 1)));
                    let usable = above > R::lit(0.0) && below > R::lit(0.0);
                    let smaller = if below < above { below } else { above };
                    let flux = kernels::Real::abs(plumes.flux[e * plumes.width + c]);
                    let courant = flux * R::lit(dt) / (smaller / plumes.area[c]);
                    if usable && courant > expected {
                        expected = courant;
                    }
                }
            }
            let found = largest_courant(&plumes.air(), &plumes.flux, R::lit(dt));
            assert_eq!(bits(found), bits(expected));
            assert!(found > R::lit(100.0));
            plumes.flux[edge * plumes.width + (column + 1) % 16] = R::lit(f64::NAN);
            let found = largest_courant(&plumes.air(), &plumes.flux, R::lit(dt)).to_f64();
            assert!(found.is_nan());
            assert_eq!(substeps(found, Negative::Kept), Err(ConvectionError::NotFinite));
            assert_eq!(substeps(found, Negative::Clamped), Err(ConvectionError::NotFinite));
        }
    }
    assert_eq!((substeps(0.0, Negative::Kept), substeps(0.5, Negative::Kept)), (Ok(1), Ok(1)));
    assert_eq!((substeps(0.51, Negative::Kept), substeps(512.0, Negative::Kept)), (Ok(2), Ok(1024)));
    let error = substeps(512.1, Negative::Kept).unwrap_err();
    assert_eq!(error, ConvectionError::TooManySubsteps { needed: 1025.0, limit: 1024 });
    assert_eq!((substeps(512.1, Negative::Clamped), substeps(24.0, Negative::Clamped)), (Ok(48), Ok(48)));
}

#[test]
fn courant_scan_is_the_scalar_one() {
    scan::<f32>();
    scan::<f64>();
}

const UPDATES: [Update; 2] = [Update::MixingRatio, Update::MassFlux];

fn substeps_are_steps<R: Scalar>() {
    let mut random = Random(12);
    let plumes = random_plumes::<R>(40, 30, &mut random);
    for update in UPDATES {
        for exchange in [BaseExchange::BeforePlume, BaseExchange::WithPlume] {
            let options = CmfmcOptions { update, exchange, ..Default::default() };
            let start: Vec<R> = plumes.mass.iter().map(|m| *m * random.between(0.0, 1.0)).collect();
            let (mut together, mut carry) = (start.clone(), vec![R::lit(0.0); plumes.width]);
            plumes.convect(options, 900.0, 3, &mut together, Ledger::Carry(&mut carry)).unwrap();
            let (mut apart, mut carry_apart) = (start.clone(), vec![R::lit(0.0); plumes.width]);
            for _ in 0..3 {
                plumes.convect(options, 300.0, 1, &mut apart, Ledger::Carry(&mut carry_apart)).unwrap();
            }
            assert_eq!((together, carry), (apart, carry_apart));
        }
    }
}

#[test]
fn substeps_are_separate_steps() {
    substeps_are_steps::<f32>();
    substeps_are_steps::<f64>();
}

/// Fixture of C2.
fn base_fixture<R: Scalar>() -> (Plumes<R>, Vec<R>) {
    let flux = (0..9).map(|e| if (2..8).contains(&e) { 0.02 } else { 0.0 }).collect();
    let mut detrainment = vec![0.0; 8];
    detrainment[1] = 0.02;
    let plumes = Plumes::new(&[vec![1e15; 8]], 1e12, &[flux], Some(&[detrainment]));
    let q = vec![400.0, 400.0, 400.0, 400.0, 401.0, 402.0, 405.0, 410.0];
    let tracer = pack::<R>(&[q]).iter().zip(&plumes.mass).map(|(q, m)| *q * *m).collect();
    (plumes, tracer)
}

fn bases<R: Scalar>(tolerance: f64, mass_tolerance: f64) {
    let (mut plumes, start) = base_fixture::<R>();
    for update in UPDATES {
        for (cloud_base, mixed) in [(CloudBase::Archived, true), (CloudBase::CloudFlux, false)] {
            let options = CmfmcOptions { cloud_base, update, ..Default::default() };
            plumes.base = None;
            let (mut tracer, mut carry) = (start.clone(), vec![R::lit(0.0); plumes.width]);
            let missing = plumes.convect(options, 600.0, 1, &mut tracer, Ledger::Carry(&mut carry));
            assert_eq!(missing.is_err(), cloud_base == CloudBase::Archived);
            plumes.base = Some(vec![R::lit(5.0); plumes.width]);
            let (mut tracer, mut carry) = (start.clone(), vec![R::lit(0.0); plumes.width]);
            plumes.convect(options, 600.0, 1, &mut tracer, Ledger::Carry(&mut carry)).unwrap();
            let (old, new) = (unpack(&start, plumes.width, 0), unpack(&tracer, plumes.width, 0));
            assert!((total(&new) / total(&old) - 1.0).abs() < mass_tolerance);
            let apart = (new[5] / new[7] - 1.0).abs();
            assert_eq!(apart < tolerance && (new[6] / new[7] - 1.0).abs() < tolerance, mixed, "{new:?}");
        }
    }
    // Outside of the column: clamped to it.
    for (base, same_as) in [(0.0, 1.0), (99.0, 8.0)] {
        let results: Vec<_> = [base, same_as]
            .iter()
            .map(|base| {
                plumes.base = Some(vec![R::lit(*base); plumes.width]);
                let options = CmfmcOptions { cloud_base: CloudBase::Archived, ..Default::default() };
                let (mut tracer, mut carry) = (start.clone(), vec![R::lit(0.0); plumes.width]);
                plumes.convect(options, 600.0, 1, &mut tracer, Ledger::Carry(&mut carry)).unwrap();
                tracer
            })
            .collect();
        assert_eq!(results[0], results[1]);
    }
}

#[test]
fn cloud_base_rules() {
    bases::<f64>(1e-8, 1e-14);
    bases::<f32>(1e-6, 1e-7);
}

fn ledger_rules<R: Scalar>() {
    let mut random = Random(13);
    let mut plumes = random_plumes::<R>(16, 20, &mut random);
    // Column 0: flux through the top. 2: a layer without air. 3: quiet by rule, since 1 convects nowhere.
    plumes.flux[0] = R::lit(0.01);
    plumes.mass[5 * plumes.width + 2] = R::lit(1e-20);
    let start: Vec<R> = plumes.mass.iter().map(|m| *m * random.between(0.5, 1.0)).collect();
    let seed = R::EPSILON * R::lit(0.25);
    for update in UPDATES {
        let run = |negative| {
            let options = CmfmcOptions { update, negative, ..Default::default() };
            let (mut tracer, mut carry) = (start.clone(), vec![seed; plumes.width]);
            plumes.convect(options, 300.0, 1, &mut tracer, Ledger::Carry(&mut carry)).unwrap();
            (tracer, carry)
        };
        let (tracer, carry) = run(Negative::Kept);
        for c in 0..16 {
            let (old, new) = (unpack(&start, plumes.width, c), unpack(&tracer, plumes.width, c));
            let quiet = c % 4 == 1;
            assert_eq!(old == new, quiet, "{c}");
            if quiet || c == 0 || c == 2 {
                assert_eq!(carry[c], seed);
            } else {
                // Field and carry together hold what they held.
                let gap = total(&new) - total(&old) + carry[c].to_f64() - seed.to_f64();
                assert!(gap.abs() < 4.0 * f64::EPSILON * total(&old), "{gap}");
            }
        }
        assert_eq!(run(Negative::Clamped).1, vec![seed; plumes.width]);
    }
}

#[test]
fn ledger_only_for_closed_columns() {
    ledger_rules::<f32>();
    ledger_rules::<f64>();
}

fn positive<R: Scalar>() {
    let mut random = Random(14);
    for round in 0..20 {
        let plumes = random_plumes::<R>(32, 40, &mut random);
        let courant = largest_courant(&plumes.air(), &plumes.flux, R::lit(3600.0)).to_f64();
        let steps = substeps(courant, Negative::Kept).unwrap();
        assert!(steps > 1);
        // Mostly empty, with layers full.
        let start: Vec<R> = plumes
            .mass
            .iter()
            .map(|m| if random.unit() < 0.7 { R::lit(0.0) } else { *m * random.between(0.0, 1.0) })
            .collect();
        for update in UPDATES {
            let exchange = if round % 2 == 0 { BaseExchange::BeforePlume } else { BaseExchange::WithPlume };
            let options = CmfmcOptions { update, exchange, ..Default::default() };
            let (mut tracer, mut carry) = (start.clone(), vec![R::lit(0.0); plumes.width]);
            plumes.convect(options, 3600.0, steps, &mut tracer, Ledger::Carry(&mut carry)).unwrap();
            assert!(tracer.iter().all(|x| *x >= R::lit(0.0)), "{update:?}");
            // Far too long a step: the clamp keeps both sign and mass.
            let options = CmfmcOptions { negative: Negative::Clamped, ..options };
            let (mut tracer, mut carry) = (start.clone(), vec![R::lit(0.0); plumes.width]);
            plumes.convect(options, 3600.0, 1, &mut tracer, Ledger::Carry(&mut carry)).unwrap();
            assert!(tracer.iter().all(|x| *x >= R::lit(0.0)));
            for c in 0..32 {
                let (old, new) = (unpack(&start, plumes.width, c), unpack(&tracer, plumes.width, c));
                assert!((total(&new) / total(&old) - 1.0).abs() < 8.0 * R::EPSILON.to_f64());
            }
            let options = CmfmcOptions { negative: Negative::Kept, ..options };
            let mut unclamped = start.clone();
            plumes.convect(options, 3600.0, 1, &mut unclamped, Ledger::Off).unwrap();
            assert!(unclamped.iter().any(|x| *x < R::lit(0.0)), "the step is not too long");
        }
    }
}

#[test]
fn the_courant_rule_and_the_clamp_keep_the_sign() {
    positive::<f32>();
    positive::<f64>();
}

/// A uniform tracer stays uniform where the lowest edges carry less than counts (spec 30 §7 item 18).
#[test]
fn noise_below_the_cloud_keeps_a_uniform_tracer() {
    let mut random = Random(15);
    let mut plumes = random_plumes::<f32>(16, 20, &mut random);
    for e in 15..21 {
        for c in 0..16 {
            if plumes.flux[e * plumes.width + c] == 0.0 {
                plumes.flux[e * plumes.width + c] = 5e-7;
            }
        }
    }
    let start: Vec<f32> = plumes.mass.iter().map(|m| m * 4e-4).collect();
    let options = CmfmcOptions { update: Update::MassFlux, ..Default::default() };
    let (mut tracer, mut carry) = (start.clone(), vec![0.0; plumes.width]);
    plumes.convect(options, 600.0, 4, &mut tracer, Ledger::Carry(&mut carry)).unwrap();
    for (new, old) in tracer.iter().zip(&start) {
        assert!((new - old).abs() <= 4.0 * f32::EPSILON * old, "{new} {old}");
    }
}

/// What a column without convection holds does not depend on the columns beside it: not even the sign of a zero changes.
#[test]
fn a_still_column_is_left_alone_beside_others() {
    let (mass, flux) = (vec![vec![1e3; 3]; 2], [vec![0.0, 0.02, 0.03, 0.0], vec![0.0; 4]]);
    let plumes = Plumes::<f64>::new(&mass, 1.0, &flux, None);
    for negative in [Negative::Kept, Negative::Clamped] {
        for update in [Update::MixingRatio, Update::MassFlux] {
            let options = CmfmcOptions { negative, update, ..CmfmcOptions::default() };
            let mut tracer = pack::<f64>(&[vec![1.0, 2.0, 3.0], vec![-0.0, -2.0, 3.0]]);
            let before = tracer.clone();
            plumes.convect(options, 600.0, 2, &mut tracer, Ledger::Off).unwrap();
            let column = |values: &[f64], c: usize| {
                unpack(values, plumes.width, c).iter().map(|x| x.to_bits()).collect::<Vec<_>>()
            };
            assert_eq!(column(&tracer, 1), column(&before, 1), "{options:?}");
            assert_ne!(column(&tracer, 0), column(&before, 0), "{options:?}");
        }
    }
}
