use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn sum_of(values: &[f64]) -> ExactSum {
    let mut sum = ExactSum::new();
    sum.add_slice(values);
    sum
}

fn exact(values: &[f64]) -> BigRational {
    values.iter().map(|x| BigRational::from_float(*x).unwrap()).fold(BigRational::zero(), |a, b| a + b)
}

/// Whether `rounded` is the double nearest to `value`, ties to even, by comparison with its neighbours.
fn is_nearest(rounded: f64, value: &BigRational) -> bool {
    let error = |x: f64| (BigRational::from_float(x).unwrap() - value).abs();
    let own = error(rounded);
    [rounded.next_up(), rounded.next_down()].into_iter().filter(|x| x.is_finite()).all(|neighbour| {
        let other = error(neighbour);
        own < other || (own == other && rounded.to_bits() & 1 == 0)
    })
}

/// Any finite number, all exponents alike.
fn any_finite() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite())
}

/// Numbers of similar size with both signs, so that sums cancel and tie.
fn similar() -> impl Strategy<Value = f64> {
    (any::<i32>(), -3i32..60).prop_map(|(mantissa, exponent)| f64::from(mantissa) * 2f64.powi(exponent))
}

/// Subnormal numbers and their neighbourhood.
fn tiny() -> impl Strategy<Value = f64> {
    (any::<bool>(), 0u64..1 << 55).prop_map(|(negative, bits)| {
        let x = f64::from_bits(bits);
        if negative { -x } else { x }
    })
}

proptest! {
    #[test]
    fn rounds_the_exact_sum(values in prop_oneof![vec(any_finite(), 0..20), vec(similar(), 0..60), vec(tiny(), 0..20)]) {
        let value = exact(&values);
        match sum_of(&values).round() {
            Ok(rounded) => prop_assert!(is_nearest(rounded, &value), "{rounded:e}"),
            Err(error) => {
                prop_assert_eq!(error, SumError::Overflow);
                // Half a step beyond the largest double is where rounding leaves the range.
                let limit = BigInt::from((1u64 << 54) - 1) << 970;
                prop_assert!(value.abs() >= BigRational::from(limit));
            }
        }
    }

    #[test]
    fn order_and_split_do_not_matter(
        values in vec(prop_oneof![any_finite(), similar(), tiny()], 1..40).prop_shuffle(),
        ranks in 1usize..7,
    ) {
        let mut whole = sum_of(&values);
        let mut backwards = ExactSum::new();
        values.iter().rev().for_each(|x| backwards.add(*x));
        // Integer sum of the limbs, as over ranks.
        let mut limbs = [0i64; ExactSum::LIMBS];
        let mut merged = ExactSum::new();
        for rank in 0..ranks {
            let mut part = ExactSum::new();
            values.iter().skip(rank).step_by(ranks).for_each(|x| part.add(*x));
            merged.merge(&part);
            limbs.iter_mut().zip(part.limbs_mut().iter()).for_each(|(all, one)| *all += one);
        }
        let mut reduced = ExactSum::new();
        *reduced.limbs_mut() = limbs;
        for mut other in [backwards, merged, reduced] {
            prop_assert_eq!(other.round().map(f64::to_bits), whole.round().map(f64::to_bits));
            prop_assert_eq!(other.limbs_mut(), whole.limbs_mut());
        }
    }

    #[test]
    fn everything_cancels(values in vec(prop_oneof![any_finite(), tiny()], 0..40).prop_shuffle()) {
        let mut sum = sum_of(&values);
        values.iter().rev().for_each(|x| sum.add(-x));
        prop_assert_eq!(sum.round().map(f64::to_bits), Ok(0));
    }

    #[test]
    fn single_values_come_back(x in any_finite()) {
        prop_assert_eq!(sum_of(&[x]).round(), Ok(x));
    }

    #[test]
    fn products_are_not_rounded(pairs in vec((similar(), similar()), 0..20)) {
        let mut sum = ExactSum::new();
        pairs.iter().for_each(|(a, b)| sum.add_product(*a, *b));
        let rational = |x: f64| BigRational::from_float(x).unwrap();
        let value = pairs.iter().fold(BigRational::zero(), |all, (a, b)| all + rational(*a) * rational(*b));
        prop_assert!(is_nearest(sum.round().unwrap(), &value));
    }
}

#[test]
fn ties_go_to_even() {
    let (even, odd) = (2f64.powi(53), 2f64.powi(53) + 2.0);
    assert_eq!(sum_of(&[even, 1.0]).round(), Ok(even));
    assert_eq!(sum_of(&[odd, 1.0]).round(), Ok(odd + 2.0));
    // The smallest addition breaks the tie.
    assert_eq!(sum_of(&[even, 1.0, f64::from_bits(1)]).round(), Ok(odd));
    assert_eq!(sum_of(&[odd, 1.0, -f64::from_bits(1)]).round(), Ok(odd));
    // Rounding up to the next power of two.
    assert_eq!(sum_of(&[2f64.powi(54) - 2.0, 1.0]).round(), Ok(2f64.powi(54)));
}

#[test]
fn known_hard_sums() {
    assert_eq!(sum_of(&[1e308, 1.0, -1e308]).round(), Ok(1.0));
    assert_eq!(sum_of(&[f64::MAX, f64::MAX, -f64::MAX]).round(), Ok(f64::MAX));
    assert_eq!(sum_of(&[-f64::MAX, -1.0]).round(), Ok(-f64::MAX));
    assert_eq!(sum_of(&[f64::MIN_POSITIVE, -f64::from_bits(1)]).round(), Ok(f64::MIN_POSITIVE.next_down()));
    let tenths = vec![0.1; 1_000_000];
    let value = exact(&[0.1]) * BigRational::from(BigInt::from(1_000_000));
    assert_eq!(sum_of(&tenths).round().unwrap(), value.to_f64().unwrap());
}

#[test]
fn overflow_is_reported() {
    assert_eq!(sum_of(&[f64::MAX, f64::MAX]).round(), Err(SumError::Overflow));
    let half_step = 2f64.powi(970);
    assert_eq!(sum_of(&[f64::MAX, half_step]).round(), Err(SumError::Overflow));
    assert_eq!(sum_of(&[f64::MAX, half_step.next_down()]).round(), Ok(f64::MAX));
    // A sum of many of the largest numbers still has room, and comes back into range.
    let mut sum = sum_of(&vec![f64::MAX; 100_000]);
    assert_eq!(sum.round(), Err(SumError::Overflow));
    sum.add_slice(&vec![-f64::MAX; 99_999]);
    assert_eq!(sum.round(), Ok(f64::MAX));
}

#[test]
fn exceptional_values_are_counted_and_merged() {
    let mut sum = sum_of(&[1.0, f64::NAN, f64::NAN, f64::INFINITY]);
    sum.merge(&sum_of(&[f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY]));
    assert_eq!(sum.round(), Err(SumError::NotFinite { nan: 2, positive: 1, negative: 3 }));
    let mut sum = ExactSum::new();
    sum.add_product(f64::MAX, 2.0);
    assert_eq!(sum.round(), Err(SumError::NotFinite { nan: 0, positive: 1, negative: 0 }));
}

#[test]
fn single_precision_values_are_exact() {
    let mut sum = ExactSum::new();
    sum.add_slice(&[f32::MAX, 1.0f32, -f32::MAX, f32::from_bits(1)]);
    assert_eq!(sum.round(), Ok(1.0));
    sum.add(-1.0);
    assert_eq!(sum.round(), Ok(f64::from(f32::from_bits(1))));
}

/// Limbs at the edge of the head room are carried in time.
#[test]
fn head_room_is_watched() {
    let mut sum = ExactSum::new();
    let largest_digits = f64::from_bits(0x43ef_ffff_ffff_ffff);
    sum.add(largest_digits);
    for doubling in 0..60 {
        let copy = sum.clone();
        sum.merge(&copy);
        assert_eq!(sum.round(), Ok(largest_digits * 2f64.powi(doubling + 1)));
    }
    sum.pending = HEAD_ROOM;
    sum.add(1.0);
    assert_eq!(sum.pending, 2);
    sum.pending = HEAD_ROOM - 1;
    sum.add_slice(&[1.0, 1.0]);
    assert_eq!(sum.pending, 3);
}
