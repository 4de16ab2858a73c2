//! Ledgers that book what they return: every operator, both precisions (spec 30 §3.4, §7 item 10).

mod common;

#[path = "common/columns.rs"]
mod columns;
#[path = "common/extended.rs"]
mod extended;
#[path = "convection/fixtures.rs"]
mod fixtures;
#[path = "common/vertical.rs"]
mod vertical;

use columns::packed;
use common::{Random, bits};
use extended::Extended;
use fixtures::{Clouds, cloudy_column};
use kernels::Scalar;
use kernels::columns::convection::ColumnAir;
use kernels::columns::convection::cmfmc::{Cmfmc, CmfmcForcing, CmfmcOptions, Update};
use kernels::columns::convection::tm5::{Solve, Tm5, Tm5Options};
use kernels::columns::{ColumnBlock, FluxFormFactors, Ledger, LedgerStats, MassSpaceFactors};
use vertical::random_exchange;

const COLUMNS: usize = 37;
const LAYERS: usize = 30;
const STEPS: usize = 12;
/// The column without exchange or convection.
const QUIET: usize = 5;

/// One solve of a block in place.
type Solver<'a, R> = dyn FnMut(&mut [R], Ledger<R>) -> LedgerStats + 'a;

/// Solves of each operator on blocks of [`COLUMNS`] columns whose masses are between 1 and 31: its name, the block, and
/// the solve.
fn for_each_operator<R: Scalar>(mut check: impl FnMut(&str, ColumnBlock, &mut Solver<R>)) {
    let mut random = Random(41);
    let block = ColumnBlock::new(COLUMNS, LAYERS);
    let mut fixture = random_exchange::<R>(COLUMNS, LAYERS, 0.7, &mut random);
    for mass in fixture.mass.iter_mut().flatten() {
        *mass *= R::lit(1e-10);
    }
    for exchange in fixture.exchange.iter_mut().flatten() {
        *exchange *= R::lit(1e-10);
    }
    fixture.exchange[QUIET].fill(R::lit(0.0));
    let [mass, exchange] = [packed(block, &fixture.mass, 1.0), packed(block, &fixture.exchange, 0.0)];
    let mut mass_space = MassSpaceFactors::new(block.width(), LAYERS);
    mass_space.prepare(block, &mass, &exchange, R::lit(1.0));
    check("mass space", block, &mut |field, ledger| mass_space.solve(&mass, field, ledger));
    let mut flux_form = FluxFormFactors::new(block.width(), LAYERS);
    flux_form.prepare(block, &mass, &exchange, R::lit(1.0));
    check("flux form", block, &mut |field, ledger| flux_form.solve(&mass, field, ledger));

    let mut clouds = Clouds::default();
    for c in 0..COLUMNS {
        let air = (0..LAYERS).map(|_| 1.0 + 30.0 * random.unit()).collect();
        let rates = cloudy_column(LAYERS, 3, if c % 3 == 0 { 0.01 } else { 0.0 }, &mut random);
        clouds.push(air, if c == QUIET { core::array::from_fn(|_| vec![0.0; LAYERS]) } else { rates });
    }
    let packed = clouds.packed::<R>();
    for solve in [Solve::Plain, Solve::Delta] {
        let mut tm5 = Tm5::new(LAYERS, Tm5Options { solve, ..Default::default() }).unwrap();
        check("TM5", packed.block, &mut |field, ledger| {
            tm5.convect(&packed.air(), &packed.forcing(), R::lit(300.0), field, ledger)
        });
    }
    // The cloud mass flux of the updraught, closed at the top.
    let mut flux = vec![R::lit(0.0); (LAYERS + 1) * block.width()];
    for c in (0..COLUMNS).filter(|c| *c != QUIET) {
        (4 + c % 5..LAYERS - 2).for_each(|e| flux[e * block.width() + c] = random.between(0.01, 0.02));
    }
    let area = vec![R::lit(1.0); block.width()];
    let air = ColumnAir { block, mass: &mass, area: &area };
    let forcing = CmfmcForcing { cloud_flux: &flux, detrainment: None, cloud_base: None };
    for update in [Update::MixingRatio, Update::MassFlux] {
        let mut cmfmc = Cmfmc::new(block, CmfmcOptions { update, ..Default::default() });
        cmfmc.prepare(&air, &forcing, R::lit(20.0), 1).unwrap();
        check("CMFMC", block, &mut |field, ledger| cmfmc.convect(&air, field, ledger));
    }
}

fn start<R: Scalar>(block: ColumnBlock, random: &mut Random) -> Vec<R> {
    let mut field = vec![R::lit(0.0); block.values()];
    for row in field.chunks_exact_mut(block.width()) {
        row[..COLUMNS].iter_mut().for_each(|x| *x = random.between(0.5, 2.0));
    }
    field
}

fn column<R: Scalar>(field: &[R], width: usize, c: usize) -> impl Iterator<Item = R> {
    field.chunks_exact(width).map(move |row| row[c])
}

fn all_bits<R: Scalar>(values: &[R]) -> Vec<u64> {
    values.iter().map(|&x| bits(x)).collect()
}

/// Field and carry are those of a ledger that does not book; what is booked are the residuals of the plain solves.
fn books_are_residuals<R: Scalar>() {
    let eps = R::EPSILON.to_f64();
    for_each_operator::<R>(|name, block, solve| {
        let (width, mut random) = (block.width(), Random(42));
        let mut field = start::<R>(block, &mut random);
        let zeros = vec![R::lit(0.0); width];
        let (mut carry, mut returned) = (zeros.clone(), zeros);
        let mut residuals = vec![Extended::ZERO; COLUMNS];
        let (mut nonzero, mut tolerance) = (0, vec![0.0; COLUMNS]);
        for step in 0..STEPS {
            let (mut plain, mut other, mut other_carry) = (field.clone(), field.clone(), carry.clone());
            solve(&mut plain, Ledger::Off);
            assert_eq!(solve(&mut other, Ledger::Carry(&mut other_carry)), LedgerStats::default());
            let before = (field.clone(), carry.clone());
            let ledger = Ledger::Booked { carry: &mut carry, returned: &mut returned };
            assert_eq!(solve(&mut field, ledger), LedgerStats::default());
            assert!(all_bits(&field) == all_bits(&other) && all_bits(&carry) == all_bits(&other_carry), "{name}");
            for c in 0..COLUMNS {
                let sum = |field: &[R]| Extended::sum(column(field, width, c));
                let (old, new) = (sum(&before.0), sum(&field));
                residuals[c] = residuals[c] + old - sum(&plain);
                // A rounding of the book and of the residual each; the sums of the ledger keep twice the precision.
                tolerance[c] += eps * returned[c].to_f64().abs() + eps * residuals[c].abs();
                tolerance[c] += LAYERS as f64 * eps * eps * old.to_f64();
                let gap = Extended::new(returned[c]) - residuals[c];
                assert!(gap.abs() <= tolerance[c], "{name} column {c} step {step}: {:e}", gap.to_f64());
                // Nothing is booked twice: field and carries hold what they held before.
                let held = new + Extended::new(carry[c]) - old - Extended::new(before.1[c]);
                assert!(held.abs() <= LAYERS as f64 * eps * eps * old.to_f64(), "{name} {:e}", held.to_f64());
                nonzero += usize::from(c != QUIET && returned[c] != R::lit(0.0));
            }
        }
        assert!(nonzero > STEPS * COLUMNS / 2, "{name}: {nonzero}");
        assert_eq!((bits(returned[QUIET]), bits(carry[QUIET])), (0, 0), "{name}: a quiet column has no ledger");
    });
}

#[test]
fn what_is_booked_are_the_residuals_returned() {
    books_are_residuals::<f32>();
    books_are_residuals::<f64>();
}

/// What is refused is not booked: a column that holds what is no number, and a quiet one, keep book and carry.
fn refusals_are_not_booked<R: Scalar>() {
    const BROKEN: usize = 7;
    for_each_operator::<R>(|name, block, solve| {
        let (width, mut random) = (block.width(), Random(43));
        let mut field = start::<R>(block, &mut random);
        field[20 * width + BROKEN] = R::lit(f64::NAN);
        let (book, rest) = (R::lit(0.125), R::EPSILON * R::lit(0.25));
        let (mut carry, mut returned) = (vec![rest; width], vec![book; width]);
        let stats = solve(&mut field, Ledger::Booked { carry: &mut carry, returned: &mut returned });
        assert_eq!(stats.refused, 1, "{name}");
        assert_eq!(bits(returned[BROKEN]), bits(book), "{name}");
        assert_eq!((bits(returned[QUIET]), bits(carry[QUIET])), (bits(book), bits(rest)), "{name}");
        let changed = (0..COLUMNS).filter(|&c| bits(returned[c]) != bits(book)).count();
        assert!(changed > 0, "{name}");
    });
}

#[test]
fn what_is_refused_is_not_booked() {
    refusals_are_not_booked::<f32>();
    refusals_are_not_booked::<f64>();
}

#[test]
#[should_panic(expected = "a value for each tracer and column")]
fn books_of_tm5_need_a_value_for_each_tracer() {
    let mut clouds = Clouds::default();
    clouds.push(vec![100.0; 8], cloudy_column(8, 1, 0.0, &mut Random(44)));
    let packed = clouds.packed::<f64>();
    let mut tm5 = Tm5::new(8, Tm5Options::default()).unwrap();
    let mut field = vec![1.0; 2 * packed.block.values()];
    let (mut carry, mut returned) = (vec![0.0; 2 * packed.width], vec![0.0; packed.width]);
    let ledger = Ledger::Booked { carry: &mut carry, returned: &mut returned };
    tm5.convect(&packed.air(), &packed.forcing(), 300.0, &mut field, ledger);
}
