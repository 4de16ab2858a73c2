//! Mass-flux convection on fewer or merged layers (spec 30 §6.5 T6).

use kernels::Scalar;
use kernels::columns::Ledger;
use kernels::columns::convection::ConvectionError;
use kernels::columns::convection::tm5::{Solve, Tm5, Tm5Options};

use crate::common::Random;
use crate::fixtures::{Clouds, Packed, assert_no_leak, cloudy_column, total, unpack};

const N: usize = 40;

fn clouds<R: Scalar>(top: usize) -> Packed<R> {
    let mut random = Random(6);
    let mut clouds = Clouds::default();
    for c in 0..16 {
        let air = (0..N).map(|_| 50.0 + 150.0 * random.unit()).collect();
        clouds.push(air, cloudy_column(N, top, if c % 2 == 0 { 0.0 } else { 0.01 }, &mut random));
    }
    clouds.packed()
}

fn start<R: Scalar>(packed: &Packed<R>) -> Vec<R> {
    let mut random = Random(7);
    packed.air.iter().map(|m| *m * random.between(0.1, 1.0)).collect()
}

fn convected<R: Scalar>(packed: &Packed<R>, options: Tm5Options, start: &[R]) -> (Vec<R>, Vec<R>) {
    let (mut tracer, mut carry) = (start.to_vec(), vec![R::lit(0.0); packed.width]);
    let mut work = Tm5::new(N, options).unwrap();
    assert_no_leak(work.convect(
        &packed.air(),
        &packed.forcing(),
        R::lit(1800.0),
        &mut tracer,
        Ledger::Carry(&mut carry),
    ));
    (tracer, carry)
}

fn fewer_layers<R: Scalar>() {
    let eps = R::EPSILON.to_f64();
    // Clouds reach layer 12; the uppermost 10 layers are free of forcing.
    let packed = clouds::<R>(12);
    let start = start(&packed);
    let (full, _) = convected(&packed, Tm5Options::default(), &start);
    let (part, _) = convected(&packed, Tm5Options { lmax_conv: N - 10, ..Default::default() }, &start);
    let largest = start.iter().map(|x| x.to_f64()).fold(0.0, f64::max);
    for (at, (a, b)) in full.iter().zip(&part).enumerate() {
        assert!((a.to_f64() - b.to_f64()).abs() <= 500.0 * eps * largest);
        if at < 10 * packed.width {
            assert_eq!(*b, start[at]);
        }
    }
    // A clipped cloud: its flux must not leave the block.
    let (options, mut emission) = (Tm5Options { lmax_conv: N - 16, ..Default::default() }, 0.0);
    let (mut tracer, mut carry) = (start.clone(), vec![R::lit(0.0); packed.width]);
    let mut work = Tm5::new(N, options).unwrap();
    for _ in 0..200 {
        for c in 0..packed.width {
            tracer[(N - 1) * packed.width + c] += R::lit(0.5);
        }
        emission += 0.5;
        assert_no_leak(work.convect(
            &packed.air(),
            &packed.forcing(),
            R::lit(1800.0),
            &mut tracer,
            Ledger::Carry(&mut carry),
        ));
    }
    for c in 0..16 {
        let (old, new) = (unpack(&start, packed.width, c), unpack(&tracer, packed.width, c));
        assert_eq!(old[..16], new[..16]);
        let expected = total(&old) + emission;
        // Adding the emission to the cell rounds as well, 200 times half an ulp of it.
        assert!((total(&new) / expected - 1.0).abs() < 200.0 * eps, "{}", total(&new) / expected - 1.0);
        assert!(new.iter().all(|x| *x >= 0.0 && *x < expected));
    }
}

#[test]
fn fewer_layers_end_the_cloud_at_their_top() {
    fewer_layers::<f32>();
    fewer_layers::<f64>();
}

fn merged<R: Scalar>() {
    let packed = clouds::<R>(4);
    let start = start(&packed);
    for solve in [Solve::Plain, Solve::Delta] {
        let base = Tm5Options { solve, ..Default::default() };
        assert_eq!(
            convected(&packed, Tm5Options { n_merge: 1, ..base }, &start),
            convected(&packed, Tm5Options { lmax_conv: N, ..base }, &start)
        );
        for merge in [2, 3] {
            let (tracer, carry) = convected(&packed, Tm5Options { n_merge: merge, ..base }, &start);
            for c in 0..16 {
                let (old, new) = (unpack(&start, packed.width, c), unpack(&tracer, packed.width, c));
                // Groups are counted from the surface: what is left over at the top stays.
                assert_eq!(old[..N % merge], new[..N % merge]);
                assert_ne!(old, new);
                let gap = total(&new) + carry[c].to_f64() - total(&old);
                assert!(gap.abs() <= 4.0 * f64::EPSILON * total(&old), "{gap}");
                // Within a group the shares stay.
                for k in (N % merge..N).step_by(merge) {
                    let (a, b) = (new[k] / old[k], new[k + 1] / old[k + 1]);
                    assert!((a / b - 1.0).abs() < 200.0 * R::EPSILON.to_f64());
                }
            }
        }
        // Nothing in a group: its share is even.
        let mut empty = start.clone();
        empty[..(N - 2) * packed.width].fill(R::lit(0.0));
        let (tracer, _) = convected(&packed, Tm5Options { n_merge: 2, ..base }, &empty);
        let new = unpack(&tracer, packed.width, 0);
        assert!(new[20] > 0.0 && new[20] == new[21]);
    }
}

#[test]
fn merged_layers_conserve_and_keep_their_shares() {
    merged::<f32>();
    merged::<f64>();
}

#[test]
fn impossible_layers_are_refused() {
    let refused =
        |lmax_conv, n_merge| Tm5::<f32>::new(N, Tm5Options { lmax_conv, n_merge, ..Default::default() }).unwrap_err();
    assert_eq!(refused(0, 0), ConvectionError::NoMerge);
    assert_eq!(refused(N + 1, 1), ConvectionError::Layers { layers: N + 1, merge: 1, nk: N });
    assert_eq!(refused(3, 4), ConvectionError::Layers { layers: 3, merge: 4, nk: N });
}
