//! Deposit of emissions at the surface and by a profile.

mod common;

use common::Random;
use kernels::Scalar;
use kernels::columns::{ColumnBlock, Dose, Profile, TwoWord, deposit_by_profile, deposit_in_layer, emission_amounts};
use kernels::numerics::{content_after_loss, deposit_part, deposit_rest, kahan_add};

/// A block with the same column everywhere.
fn block<R: Scalar>(columns: usize, column: &[f64]) -> (ColumnBlock, Vec<R>) {
    let block = ColumnBlock::new(columns, column.len());
    let values = column.iter().flat_map(|v| vec![R::from_f64(*v); block.width()]).collect();
    (block, values)
}

fn constant_rates<R: Scalar>(rate: f64, seconds: f64, width: usize) -> Vec<R> {
    let mut amounts = vec![R::from_f64(f64::NAN); width];
    let rates = vec![R::from_f64(rate); width];
    emission_amounts(Dose { rates: &rates, seconds: TwoWord::new(seconds) }, None, &mut amounts);
    amounts
}

fn profile_deposit<R: Scalar>() {
    let width = ColumnBlock::new(5, 4).width();
    let amounts: Vec<R> = constant_rates(2.0, 10.0, width);
    // 20 kg by fractions 0, 0.2, 0.3, 0.5.
    let (of, mut contents) = block::<R>(5, &[100.0; 4]);
    let (_, fractions) = block::<R>(5, &[0.0, 0.2, 0.3, 0.5]);
    let mut compensation = vec![R::from_f64(0.0); width];
    assert_eq!(deposit_by_profile(of, &mut contents, &mut compensation, &amounts, &fractions, Profile::Lofting), 0);
    for (k, expected) in [100.0, 104.0, 106.0, 110.0].into_iter().enumerate() {
        let found = contents[k * width].to_f64();
        assert!((found - expected).abs() <= expected * R::EPSILON.to_f64(), "{found}");
    }
    // The middle layer would become negative: all 20 kg stay at the surface, the others keep their bits.
    let (of, mut contents) = block::<R>(5, &[1.0; 3]);
    let (_, fractions) = block::<R>(5, &[0.2, -0.5, 1.3]);
    assert_eq!(deposit_by_profile(of, &mut contents, &mut compensation, &amounts, &fractions, Profile::Lofting), 5);
    let found: Vec<f64> = (0..3).map(|k| contents[k * width].to_f64()).collect();
    assert!(found[..2] == [1.0, 1.0] && (found[2] - 21.0).abs() <= 21.0 * R::EPSILON.to_f64(), "{found:?}");
    // What enters an empty column at height takes nothing from its surface; lofted, it would.
    let (_, fractions) = block::<R>(5, &[0.25, 0.5, 0.25]);
    for (profile, refused, lowest) in [(Profile::Injection, 0, 5.0), (Profile::Lofting, 5, 20.0)] {
        let (of, mut contents) = block::<R>(5, &[0.0; 3]);
        let mut compensation = vec![R::lit(0.0); of.width()];
        assert_eq!(deposit_by_profile(of, &mut contents, &mut compensation, &amounts, &fractions, profile), refused);
        assert_eq!(contents[2 * width].to_f64(), lowest);
    }
    // A sink at height takes from where it is, even what is not there.
    let sinks = vec![R::lit(-16.0); of.width()];
    let (of, mut contents) = block::<R>(5, &[0.0; 3]);
    let (_, fractions) = block::<R>(5, &[0.25, 0.75, 0.0]);
    let mut compensation = vec![R::lit(0.0); of.width()];
    let refused = deposit_by_profile(of, &mut contents, &mut compensation, &sinks, &fractions, Profile::Injection);
    let found: Vec<f64> = (0..3).map(|k| contents[k * width].to_f64()).collect();
    assert_eq!((refused, found), (0, vec![-4.0, -12.0, 0.0]));
}

#[test]
fn emissions_follow_their_profile_or_stay_at_the_surface() {
    profile_deposit::<f32>();
    profile_deposit::<f64>();
}

/// Single precision, 240 steps on contents of 2e6 kg: the column gains what was emitted, less the last compensation.
/// Plain additions do not, except at a rate whose roundings happen to cancel.
#[test]
fn columns_gain_what_was_emitted() {
    const N: usize = 40;
    let mut fractions = vec![0.0; N];
    fractions[N - 5..].copy_from_slice(&[0.1, 0.15, 0.2, 0.25, 0.3]);
    let mut plain_misses = 0;
    for rate in [0.01, 0.0091, 0.0123, 0.003] {
        let (of, mut contents) = block::<f32>(3, &[2e6; N]);
        let (_, shares) = block::<f32>(3, &fractions);
        let (width, mut plain) = (of.width(), [2e6f32; N]);
        let amounts = constant_rates::<f32>(rate, 450.0, width);
        let mut compensation = vec![0.0f32; width];
        for _ in 0..240 {
            assert_eq!(
                deposit_by_profile(of, &mut contents, &mut compensation, &amounts, &shares, Profile::Lofting),
                0
            );
            (0..N).for_each(|k| plain[k] += amounts[0] * fractions[k] as f32);
        }
        let emitted = 240.0 * f64::from(amounts[0]);
        let gained = |column: &mut dyn Iterator<Item = f32>| column.map(|v| f64::from(v) - 2e6).sum::<f64>();
        for i in 0..3 {
            let added = gained(&mut (0..N).map(|k| contents[k * width + i]));
            let error = (added - (emitted + f64::from(compensation[i]))).abs();
            assert!(error < 1e-7 * emitted, "{rate}: {error:e}");
        }
        let error = (gained(&mut plain.into_iter()) - emitted).abs() / emitted;
        println!("{rate} kg/s: plain additions miss {error:.1e}");
        plain_misses += usize::from(error > 1e-3);
    }
    assert!(plain_misses >= 3);
}

/// 100 000 additions far below half a unit in the last place.
#[test]
fn small_emissions_are_not_lost_at_the_surface() {
    let (mut contents, mut compensation, amounts) = ([2e6f32; 21], [0.0f32; 21], [0.0371f32; 21]);
    for _ in 0..100_000 {
        deposit_in_layer(&mut contents, &mut compensation, &amounts);
    }
    let emitted = 100_000.0 * f64::from(0.0371f32);
    for i in 0..21 {
        let gained = f64::from(contents[i]) - 2e6;
        let error = (gained - (emitted + f64::from(compensation[i]))).abs() / emitted;
        assert!(error <= 1e-7, "{error:e}");
    }
    assert_eq!(2e6f32 + 0.0371, 2e6);
}

fn blocks_give_the_bits_of_scalars<R: Scalar>() {
    let mut random = Random(31);
    for (columns, nk) in [(1, 1), (35, 7), (64, 72)] {
        let of = ColumnBlock::new(columns, nk);
        let mut draw = |n: usize, scale: f64, shift: f64| -> Vec<R> {
            (0..n).map(|_| R::from_f64(scale * (random.unit() - shift))).collect()
        };
        let (contents, fractions) = (draw(of.values(), 10.0, 0.0), draw(of.values(), 0.3, 0.2));
        let (first, second) = (draw(of.width(), 1e-2, 0.5), draw(of.width(), 1e-2, 0.5));
        let compensation = draw(of.width(), 1e-7, 0.5);
        let seconds = [TwoWord::new(1000.0 / 3.0), TwoWord::new(500.0 / 7.0)];
        let dose = |n: usize| Dose { rates: [&first[..], &second][n], seconds: seconds[n] };
        let mut amounts = vec![R::default(); of.width()];
        emission_amounts(dose(0), Some(dose(1)), &mut amounts);
        let (mut block, mut kept) = (contents.clone(), compensation.clone());
        let refused = deposit_by_profile(of, &mut block, &mut kept, &amounts, &fractions, Profile::Lofting);
        let (mut layer, mut layer_kept) = (contents[..columns].to_vec(), compensation[..columns].to_vec());
        deposit_in_layer(&mut layer, &mut layer_kept, &amounts[..columns]);
        let mut counted = 0;
        for i in 0..columns {
            let amount = seconds[0].amount(first[i]) + seconds[1].amount(second[i]);
            assert_eq!(amount, amounts[i]);
            assert_eq!((layer[i], layer_kept[i]), kahan_add(contents[i], compensation[i], amount));
            let at = |k: usize| k * of.width() + i;
            let lofted = |k: usize| fractions[at(k)] - R::from_f64(if k + 1 == nk { 1.0 } else { 0.0 });
            let zero = R::from_f64(0.0);
            let fails = (0..nk).any(|k| content_after_loss(contents[at(k)], amount, lofted(k)) < zero);
            counted += u64::from(fails);
            let (mut landed, mut errors) = (zero, zero);
            for k in 0..nk - 1 {
                let mut after = contents[at(k)];
                if !fails {
                    (after, landed, errors) = deposit_part(after, amount, fractions[at(k)], landed, errors);
                }
                assert_eq!(block[at(k)], after, "column {i}, layer {k}");
            }
            let surface = deposit_rest(contents[at(nk - 1)], compensation[i], amount, landed, errors);
            assert_eq!((block[at(nk - 1)], kept[i]), surface, "column {i}");
        }
        assert_eq!(counted, refused);
        if columns == 64 {
            assert!(counted > 5 && counted < 60, "{counted}");
        }
    }
}

#[test]
fn blocks_and_scalars_agree() {
    blocks_give_the_bits_of_scalars::<f32>();
    blocks_give_the_bits_of_scalars::<f64>();
}
