//! Rates from archived convection (spec 30 §6.5 T8, T9).

use kernels::Scalar;
use kernels::columns::convection::ConvectionError;
use kernels::columns::convection::rates::{
    PlumeRates, RateCounters, RawConvection, cloud_base_from_rain, rates_from_cloud_flux, rates_from_raw,
};

use crate::common::Random;
use crate::fixtures::Column;

fn convert(
    fluxes: [&[f64]; 2],
    rates: [&[f64]; 2],
    dz: &[f64],
) -> Result<([Column; 4], RateCounters), ConvectionError> {
    let n = dz.len();
    // Results overwrite what was there.
    let [mut entu, mut detu, mut entd, mut detd] = core::array::from_fn(|_| vec![9.0; n]);
    let raw = RawConvection {
        updraft_flux: fluxes[0],
        downdraft_flux: fluxes[1],
        updraft_detrainment: rates[0],
        downdraft_detrainment: rates[1],
        thickness: dz,
    };
    let mut counters = RateCounters::default();
    let mut out = PlumeRates { entu: &mut entu, detu: &mut detu, entd: &mut entd, detd: &mut detd };
    rates_from_raw(&raw, &mut out, &mut counters)?;
    Ok(([entu, detu, entd, detd], counters))
}

const DZ: [f64; 6] = [200.0, 200.0, 200.0, 150.0, 120.0, 80.0];

#[test]
fn golden_column() {
    let up = [0.0, 0.0, 0.02, 0.05, 0.03, 0.0, 0.0];
    let down = [0.0, 0.0, 0.0, -0.01, -0.02, 0.0, 0.0];
    let (up_rate, down_rate) = ([0.0, 0.0, 1e-4, 2e-4, 1e-4, 0.0], [0.0, 0.0, 0.0, 5e-5, 1e-4, 0.0]);
    let (rates, counters) = convert([&up, &down], [&up_rate, &down_rate], &DZ).unwrap();
    let expected = [
        [0.0, 0.0, 0.0, 0.05, 0.042, 0.0],
        [0.0, 0.0, 0.03, 0.05, 0.012, 0.0],
        [0.0, 0.0, 0.0, 0.0275, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0075, 0.02, 0.0],
    ];
    for (rate, expected) in rates.iter().zip(expected) {
        rate.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-15, "{rates:?}"));
    }
    let expected = RateCounters {
        negative_entrainment: 2,
        closed_by_detrainment: 1,
        closed_by_entrainment: 1,
        ..Default::default()
    };
    assert_eq!(counters, expected);
}

#[test]
fn noise_is_cut_off_and_counted() {
    let (rates, counters) = convert([&[9e-7; 7], &[-9e-7; 7]], [&[9e-11; 6], &[9e-11; 6]], &DZ).unwrap();
    assert!(rates.iter().flatten().all(|rate| *rate == 0.0));
    let expected = RateCounters {
        updraft_flux_clipped: 7,
        downdraft_flux_clipped: 7,
        updraft_rate_clipped: 6,
        downdraft_rate_clipped: 6,
        without_updraft: 1,
        without_downdraft: 1,
        ..Default::default()
    };
    assert_eq!(counters, expected);
    // A flux through the surface alone is no plume.
    let surface = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5];
    let (rates, counters) = convert([&surface, &[0.0; 7]], [&[1e-4; 6], &[0.0; 6]], &DZ).unwrap();
    assert!(rates.iter().flatten().all(|rate| *rate == 0.0));
    assert_eq!(counters.without_updraft, 1);
}

#[test]
fn any_column_is_closed_and_positive() {
    let mut random = Random(8);
    let mut seen = RateCounters::default();
    for _ in 0..200 {
        let n = 30;
        let mut draw = |n: usize, scale: f64| -> Column {
            (0..n).map(|_| if random.unit() < 0.3 { 0.0 } else { scale * (random.unit() - 0.3) }).collect()
        };
        let (up, down) = (draw(n + 1, 0.1), draw(n + 1, -0.05));
        let (up_rate, down_rate) = (draw(n, 1e-4), draw(n, 1e-4));
        let dz = vec![150.0; n];
        let ([entu, detu, entd, detd], counters) = convert([&up, &down], [&up_rate, &down_rate], &dz).unwrap();
        for (ent, det) in [(&entu, &detu), (&entd, &detd)] {
            assert!(ent.iter().chain(det).all(|rate| *rate >= 0.0));
            assert!((ent.iter().sum::<f64>() - det.iter().sum::<f64>()).abs() < 1e-12);
        }
        seen.closed_by_entrainment += counters.closed_by_entrainment;
        seen.closed_by_detrainment += counters.closed_by_detrainment;
        seen.negative_entrainment += counters.negative_entrainment;
    }
    assert!(seen.closed_by_entrainment > 0 && seen.closed_by_detrainment > 0 && seen.negative_entrainment > 0);
}

#[test]
fn what_is_no_number_is_refused() {
    let mut up = [0.0, 0.0, 0.02, 0.05, 0.03, 0.0, 0.0];
    up[3] = f64::NAN;
    let error = convert([&up, &[0.0; 7]], [&[0.0; 6], &[0.0; 6]], &DZ).unwrap_err();
    assert!(matches!(error, ConvectionError::InvalidRate { .. }), "{error}");
}

#[test]
fn cloud_base_is_the_lowest_layer_with_rain() {
    assert_eq!(cloud_base_from_rain(&[0.0, 1e-9, 2e-9, 0.0, -1.0]), 3);
    assert_eq!(cloud_base_from_rain(&[0.0; 5]), 5);
}

fn balance_and_close<R: Scalar>() {
    let eps = R::EPSILON.to_f64();
    let mut random = Random(9);
    for top_flux in [0.0, 0.01] {
        let n = 20;
        let mut flux: Vec<R> = (0..=n).map(|_| random.between(0.0, 0.05)).collect();
        (flux[0], flux[n]) = (R::lit(top_flux), R::lit(0.0));
        let detrainment: Vec<R> = (0..n).map(|_| random.between(0.0, 0.01)).collect();
        let (mut entu, mut detu) = (vec![R::lit(0.0); n], vec![R::lit(0.0); n]);
        rates_from_cloud_flux(&flux, &detrainment, &mut entu, &mut detu);
        assert!(entu.iter().chain(&detu).all(|rate| *rate >= R::lit(0.0)));
        for k in 0..n - 1 {
            let balance = (entu[k] - detu[k] - (flux[k] - flux[k + 1])).to_f64();
            assert!(balance.abs() < 0.2 * eps, "{balance:e}");
        }
        let sum = |rates: &[R]| rates.iter().map(|rate| rate.to_f64()).sum::<f64>();
        assert!((sum(&entu) - sum(&detu)).abs() < 2.0 * eps);
    }
}

#[test]
fn rates_from_cloud_flux_balance_and_close() {
    balance_and_close::<f32>();
    balance_and_close::<f64>();
}
