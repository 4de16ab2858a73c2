//! Every function of the numerics on a device gives the bits it gives in Rust.

#[path = "support/device.rs"]
mod device;

use atmostr::device::{Argument, Device, Launch};
use device::{Random, open_device, same};
use kernels::Scalar;
use kernels::device::conformance::{NUMERICS_CASES, NumericsCase, conformance_source};
use kernels::device::{Dialect, Precision, preamble};

/// Items per function.
const ITEMS: usize = 200_000;
/// Lanes of a group.
const LANES: usize = 256;

/// A precision and what the numerics are in it.
trait Reference: Scalar {
    const PRECISION: Precision;
    fn of(case: &NumericsCase) -> fn(&[Self], &mut [Self]);
}

impl Reference for f32 {
    const PRECISION: Precision = Precision::Float32;
    fn of(case: &NumericsCase) -> fn(&[f32], &mut [f32]) {
        case.float32
    }
}

impl Reference for f64 {
    const PRECISION: Precision = Precision::Float64;
    fn of(case: &NumericsCase) -> fn(&[f64], &mut [f64]) {
        case.float64
    }
}

/// The arguments of one item. Its numbers are of one kind, so that they meet their likes, now and then with another one.
fn arguments<R: Scalar>(random: &mut Random, out: &mut [R]) {
    let kind = random.below(9);
    let base = R::from_f64(400.0 * random.unit());
    for x in out {
        *x = match if random.once_in(24) { random.below(9) } else { kind } {
            0 | 1 => R::from_f64(random.unit()),
            2 => R::from_f64(random.unit() * (random.below(80) as f64 - 40.0).exp2()),
            3 => R::from_f64(random.below(9) as f64 - 4.0),
            // Neighbours a few units in the last place apart.
            4 => base + R::from_f64(random.below(7) as f64) * R::EPSILON * R::from_f64(128.0),
            5 => random.bits(),
            6 => random.denormal(),
            7 => R::from_f64(random.unit() * if size_of::<R>() == 4 { 3e38 } else { 1.7e308 }),
            _ => random.special(),
        };
    }
}

/// What a comparison has found.
#[derive(Default)]
struct Found {
    numbers: usize,
    differences: usize,
    example: Option<String>,
}

fn compare<R: Reference>(device: &mut dyn Device, case: &NumericsCase, items: usize) -> Found {
    let (inputs, outputs) = (case.inputs, case.outputs);
    let mut random = Random(case.name.bytes().fold(0, |seed, byte| seed.rotate_left(7) ^ u64::from(byte)));
    let mut given = vec![R::default(); items * inputs];
    given.chunks_exact_mut(inputs).for_each(|item| arguments(&mut random, item));
    // Items beyond the last are the business of nobody.
    let mut results = vec![R::from_f64(-7.0); (items + 1) * outputs];
    let from = device.allocate(size_of_val(&given[..])).unwrap();
    let to = device.allocate(size_of_val(&results[..])).unwrap();
    device.write((from, 0), bytemuck::cast_slice(&given)).unwrap();
    device.write((to, 0), bytemuck::cast_slice(&results)).unwrap();
    let kernel = device.kernel(&case.kernel()).unwrap();
    let launch = Launch { groups: [items.div_ceil(LANES), 1, 1], lanes: [LANES, 1, 1] };
    let arguments = [Argument::Memory(from), Argument::Memory(to), Argument::Int(items as i32)];
    device.launch(kernel, launch, &arguments).unwrap();
    device.read((to, 0), bytemuck::cast_slice_mut(&mut results)).unwrap();
    let (results, beyond) = results.split_at(items * outputs);
    assert!(beyond.iter().all(|x| x.to_f64() == -7.0), "{}: writes beyond its items", case.name);
    let mut expected = vec![R::default(); outputs];
    let mut found = Found::default();
    for (x, y) in given.chunks_exact(inputs).zip(results.chunks_exact(outputs)) {
        R::of(case)(x, &mut expected);
        found.numbers += expected.iter().filter(|a| !a.to_f64().is_nan()).count();
        let different = expected.iter().zip(y).filter(|(a, b)| !same(**a, **b)).count();
        found.differences += different;
        if different > 0 && found.example.is_none() {
            found.example = Some(format!("{x:?}: {expected:?}, on the device {y:?}"));
        }
    }
    found
}

/// Compiles the functions; `None` without a device.
fn compiled<R: Reference>(change: impl Fn(Dialect, &str) -> Option<String>) -> Option<Box<dyn Device>> {
    let mut device = open_device::<R>()?;
    let text = preamble(R::PRECISION) + conformance_source();
    device.compile(&change(device.info().dialect, &text)?).unwrap();
    Some(device)
}

fn every_function<R: Reference>() {
    let Some(mut device) = compiled::<R>(|_, text| Some(text.to_owned())) else { return };
    for case in &NUMERICS_CASES {
        let found = compare::<R>(&mut *device, case, ITEMS);
        assert_eq!(found.differences, 0, "{} {}: {:?}", case.name, R::NAME, found.example);
        assert!(2 * found.numbers > ITEMS * case.outputs, "{}: mostly NaN", case.name);
    }
}

#[test]
fn single_precision_has_the_same_bits() {
    every_function::<f32>();
}

#[test]
fn double_precision_has_the_same_bits() {
    every_function::<f64>();
}

/// Differences of all functions where the text is spoilt.
fn differences<R: Reference>(change: impl Fn(Dialect, &str) -> Option<String>) -> Option<usize> {
    let mut device = compiled::<R>(change)?;
    Some(NUMERICS_CASES.iter().map(|case| compare::<R>(&mut *device, case, ITEMS / 20).differences).sum())
}

fn replaced(text: &str, from: &str, to: &str) -> Option<String> {
    assert!(text.contains(from), "the text has no {from}");
    Some(text.replace(from, to))
}

#[test]
fn contracted_arithmetic_is_found() {
    // Only OpenCL is told so by the text; a device without fused units has nothing to contract.
    let contracted = |dialect, text: &str| match dialect {
        Dialect::OpenCl => replaced(text, "FP_CONTRACT OFF", "FP_CONTRACT ON"),
        _ => None,
    };
    #[cfg(target_arch = "x86_64")]
    if !std::arch::is_x86_feature_detected!("fma") {
        return println!("skipped: no fused units here");
    }
    for found in [differences::<f32>(contracted), differences::<f64>(contracted)].into_iter().flatten() {
        println!("{found} differences");
        assert!(found > 1000, "{found}");
    }
}

#[test]
fn library_minima_are_found() {
    let library = |_, text: &str| replaced(text, "return b < a ? b : a;", "return fmin(a, b);");
    for found in [differences::<f32>(library), differences::<f64>(library)].into_iter().flatten() {
        println!("{found} differences");
        assert!(found > 1000, "{found}");
    }
}
