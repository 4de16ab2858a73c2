//! Mixing of the columns of a real forecast by the non-local closure and the mass-space solve.

use atmostr::closures::constants::GRAVITY;
use atmostr::closures::{NonlocalColumn, NonlocalProfiles, NonlocalSurface, PblHeight, geoschem_nonlocal};
use kernels::Scalar;
use kernels::columns::{
    ColumnBlock, Dose, Ledger, MassSpaceFactors, Profile, TwoWord, deposit_by_profile, emission_amounts,
};
use kernels::numerics::{neumaier_add, sum_gap};

use crate::real::{Column, Forecast};

const STEP: f64 = 1800.0;
const STEPS: usize = 8;

/// Columns with one number of layers, in block form.
struct Block<R> {
    of: ColumnBlock,
    mass: Vec<R>,
    exchange: Vec<R>,
    profile: Vec<R>,
}

/// Masses per area, exchange and emission profiles of all columns of the forecast, grouped by the number of layers above
/// the ground.
fn blocks<R: Scalar>(file: &Forecast) -> Vec<Block<R>> {
    let mut groups = std::collections::BTreeMap::<usize, Vec<[Vec<f64>; 3]>>::new();
    for cell in 0..file.cells {
        let column = Column::new(file, cell);
        let n = column.thickness.len();
        let dry = |k: usize| (column.edges[k + 1] - column.edges[k]) / GRAVITY * (1.0 - column.humidity[k]);
        let mass: Vec<f64> = (0..n).map(dry).collect();
        let surface = NonlocalSurface {
            friction_velocity: column.friction_velocity(file, cell),
            sensible_heat: file.surface["shflx"][cell],
            latent_heat: file.surface["lhflx"][cell],
        };
        let of = NonlocalColumn {
            pressure_edges: &column.edges,
            temperature: &column.temperature,
            virtual_temperature: None,
            humidity: &column.humidity,
            wind: [&column.u, &column.v],
        };
        let allowed = column.edges.windows(2).filter(|e| 0.5 * (e[0] + e[1]) >= 4e4).count().max(1);
        let (mut profiles, mut exchange, mut profile) = (NonlocalProfiles::new(n), vec![0.0; n], vec![0.0; n]);
        let height = PblHeight::Archived(file.surface["hpbl"][cell]);
        geoschem_nonlocal(&of, &surface, height, allowed, 1.0, &mut profiles, &mut exchange, &mut profile);
        groups.entry(n).or_default().push([mass, exchange, profile]);
    }
    groups
        .into_iter()
        .map(|(n, columns)| {
            let of = ColumnBlock::new(columns.len(), n);
            let [mass, exchange, profile] = [0, 1, 2].map(|field| {
                let mut out = vec![R::lit(if field == 0 { 1.0 } else { 0.0 }); of.values()];
                for (c, column) in columns.iter().enumerate() {
                    (0..n).for_each(|k| out[k * of.width() + c] = R::from_f64(column[field][k]));
                }
                out
            });
            Block { of, mass, exchange, profile }
        })
        .collect()
}

/// Mixing ratio at first, and whether there is an emission.
const TRACERS: [(f64, bool); 3] = [(4e-4, false), (4e-4, true), (0.0, true)];

/// What the columns show after their steps: their number, emissions kept at the surface, what field and carry lack at most
/// (for each tracer, relative to what was emitted, else to the column), largest deviation of the uniform tracer in units of
/// epsilon.
#[derive(Debug, Default)]
struct Outcome {
    columns: usize,
    kept_at_surface: u64,
    lacking: [f64; 3],
    uniform: f64,
}

/// Emission by the profile, then mixing: what was emitted is there, nothing is negative, a uniform tracer stays so.
fn mixed<R: Scalar>() {
    let Some(file) = Forecast::open() else { return };
    let eps = R::EPSILON.to_f64();
    let mut out = Outcome::default();
    for block in blocks::<R>(&file) {
        let (of, width) = (block.of, block.of.width());
        let mut factors = MassSpaceFactors::new(width, of.nk());
        factors.prepare(of, &block.mass, &block.exchange, R::from_f64(STEP));
        for (tracer, (background, emits)) in TRACERS.into_iter().enumerate() {
            let start: Vec<R> = block.mass.iter().map(|m| *m * R::from_f64(background)).collect();
            let zeros = || vec![R::lit(0.0); width];
            let (mut field, mut carry, mut compensation, mut amounts) = (start.clone(), zeros(), zeros(), zeros());
            if emits {
                let rates = vec![R::from_f64(1e-7); width];
                emission_amounts(Dose { rates: &rates, seconds: TwoWord::new(STEP) }, None, &mut amounts);
            }
            for _ in 0..STEPS {
                if emits {
                    out.kept_at_surface += deposit_by_profile(
                        of,
                        &mut field,
                        &mut compensation,
                        &amounts,
                        &block.profile,
                        Profile::Lofting,
                    );
                }
                assert_eq!(factors.solve(&block.mass, &mut field, Ledger::Carry(&mut carry)).refused, 0);
            }
            for c in 0..of.columns() {
                let values = |field: &[R]| (0..of.nk()).map(|k| field[k * width + c].to_f64()).collect::<Vec<f64>>();
                let (old, new) = (values(&start), values(&field));
                assert!(new.iter().all(|x| *x >= 0.0), "column {c} of {} layers: {new:?}", of.nk());
                let sum = |of: &[f64]| of.iter().fold((0.0, 0.0), |s, x| neumaier_add(s.0, s.1, *x));
                let (mut due, emitted) = (sum(&old), STEPS as f64 * amounts[c].to_f64());
                due = neumaier_add(due.0, due.1, emitted);
                due = neumaier_add(due.0, due.1, compensation[c].to_f64());
                let held = {
                    let held = sum(&new);
                    neumaier_add(held.0, held.1, carry[c].to_f64())
                };
                let lacking = sum_gap(due, held).abs() / if emits { emitted } else { due.0 };
                out.lacking[tracer] = out.lacking[tracer].max(lacking);
                let largest = new.iter().fold(0.0, |a: f64, b| a.max(*b));
                assert!(carry[c].to_f64().abs() <= eps * largest);
                if !emits {
                    let deviation = |k: usize| (new[k] / old[k] - 1.0).abs() / eps;
                    out.uniform = (0..of.nk()).map(deviation).fold(out.uniform, f64::max);
                }
            }
        }
        out.columns += of.columns();
    }
    println!("{}: {out:?}", R::NAME);
    assert_eq!(out.columns, 73 * 144);
    // The ledger's sums keep twice the precision of the field. A deposit rounds once what the profile leaves for the surface,
    // in every step alike; with fractions below 0 that can be more than the emission.
    assert!(out.lacking[0] <= 1e3 * eps * eps, "{out:?}");
    assert!(out.lacking[1..].iter().all(|lacking| *lacking <= 2.0 * eps), "{out:?}");
    assert!(out.uniform <= 8.0, "{out:?}");
    assert!(out.kept_at_surface > 0, "clean columns keep what would take more than is there");
}

#[test]
fn real_columns_mix_without_loss_in_single_precision() {
    mixed::<f32>();
}

#[test]
fn real_columns_mix_without_loss_in_double_precision() {
    mixed::<f64>();
}
