//! Does a device compute what the host computes? Asked of every device before a run, since drivers differ in what they
//! contract, flush and round.

use kernels::Scalar;
use kernels::numerics::two_sum;

use super::select::require_precision;
use super::{Argument, Device, DeviceError, DeviceResult, Launch};

const PORTABLE: &str = include_str!("../../kernels/src/device/portable.h");
const KERNEL: &str = include_str!("self_test.h");

/// Operand triples of each kind.
const COUNT: usize = 1024;

/// Lanes of a group.
const LANES: usize = 64;

/// Computes some thousand results of each operation that kernels use, on bit patterns of all kinds, and compares them with
/// the host's. Compiles a program and keeps half a megabyte of the device; compile the program of the run afterwards.
///
/// # Errors
/// [`DeviceError::Arithmetic`] with the operation and an example, [`DeviceError::Unsuitable`] without the precision, or a
/// failed call.
pub fn self_test<R: Scalar>(device: &mut dyn Device) -> DeviceResult<()> {
    check::<R>(device, &source::<R>())
}

fn source<R: Scalar>() -> String {
    let precision = if size_of::<R>() == 8 {
        "#ifdef __OPENCL_VERSION__\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#endif\n\
         #define REAL_IS_FLOAT64\n#define REAL double\n"
    } else {
        "#define REAL float\n"
    };
    [precision, PORTABLE, KERNEL].concat()
}

fn check<R: Scalar>(device: &mut dyn Device, source: &str) -> DeviceResult<()> {
    require_precision::<R>(device.info())?;
    device.compile(source)?;
    let kernel = device.kernel("self_test")?;
    let operands = operands::<R>();
    let (n, operations) = (operands.len(), operations::<R>());
    let mut results = vec![R::default(); operations.len() * n];
    let mut bits = vec![R::default(); n];
    let given = device.allocate(size_of_val(&operands[..]))?;
    let of_results = device.allocate(size_of_val(&results[..]))?;
    let of_bits = device.allocate(size_of_val(&bits[..]))?;
    device.write((given, 0), bytemuck::cast_slice(operands.as_flattened()))?;
    let arguments =
        [Argument::Memory(given), Argument::Memory(of_results), Argument::Memory(of_bits), Argument::Int(n as i32)];
    device.launch(kernel, Launch { groups: [n.div_ceil(LANES), 1, 1], lanes: [LANES, 1, 1] }, &arguments)?;
    device.read((of_results, 0), bytemuck::cast_slice_mut(&mut results))?;
    device.read((of_bits, 0), bytemuck::cast_slice_mut(&mut bits))?;
    let rows = operations.iter().zip(results.chunks_exact(n));
    let wrong = rows.filter_map(|(operation, row)| compare(operation, &operands, row)).next();
    match wrong.or_else(|| compare(&("the bits of a", |a, _, _| a), &operands, &bits)) {
        Some(what) => Err(DeviceError::Arithmetic { device: device.info().name.clone(), what }),
        None => Ok(()),
    }
}

/// An operation on a, b and c as the host does it.
type Operation<R> = (&'static str, fn(R, R, R) -> R);

/// The operations in the order of the kernel's rows.
fn operations<R: Scalar>() -> [Operation<R>; 9] {
    [
        ("a + b", |a, b, _| a + b),
        ("a - b", |a, b, _| a - b),
        ("a * b", |a, b, _| a * b),
        ("a / b", |a, b, _| a / b),
        ("sqrt(abs(a))", |a, _, _| a.abs().sqrt()),
        ("a * b + c", |a, b, c| a * b + c),
        ("the error of a + b", |a, b, _| two_sum(a, b).1),
        ("min(a, b)", |a, b, _| a.min(b)),
        ("max(a, b)", |a, b, _| a.max(b)),
    ]
}

/// Describes the first result that differs from the host's; NaNs are all alike.
fn compare<R: Scalar>(&(name, host): &Operation<R>, operands: &[[R; 3]], found: &[R]) -> Option<String> {
    let expected = |[a, b, c]: [R; 3]| host(a, b, c);
    let differs = |&(&of, &found): &(&[R; 3], &R)| !same(expected(of), found);
    let (&of, &first) = operands.iter().zip(found).find(differs)?;
    let count = operands.iter().zip(found).filter(differs).count();
    let guess = if flushes(host, of, first) {
        "; it looks as if subnormal numbers were flushed to zero"
    } else if name == "a * b + c" && same(fused(of), first) {
        "; it looks as if the multiplication and the addition were contracted into one operation"
    } else {
        ""
    };
    let [a, b, c] = of.map(show);
    Some(format!(
        "{name} is {} instead of {} for a = {a}, b = {b}, c = {c} ({count} of {} differ){guess}",
        show(first),
        show(expected(of)),
        operands.len()
    ))
}

fn is_nan<R: Scalar>(x: R) -> bool {
    x.to_f64().is_nan()
}

fn same<R: Scalar>(a: R, b: R) -> bool {
    bits(a) == bits(b) || is_nan(a) && is_nan(b)
}

/// Whether a result comes from zeros in place of subnormal numbers, in the operands or in the result.
fn flushes<R: Scalar>(host: fn(R, R, R) -> R, of: [R; 3], found: R) -> bool {
    let flush = |x: R| if Format::of::<R>().is_subnormal(bits(x)) { R::default() } else { x };
    let [a, b, c] = of.map(flush);
    let without = flush(host(a, b, c));
    found.to_f64() == without.to_f64() && !same(host(of[0], of[1], of[2]), without)
}

/// a·b + c rounded once.
fn fused<R: Scalar>([a, b, c]: [R; 3]) -> R {
    let [a, b, c] = [a.to_f64(), b.to_f64(), c.to_f64()];
    R::from_f64(if size_of::<R>() == 8 { a.mul_add(b, c) } else { (a as f32).mul_add(b as f32, c as f32).into() })
}

/// A number and its bits.
fn show<R: Scalar>(x: R) -> String {
    format!("{:e} (0x{:0width$x})", x.to_f64(), bits(x), width = 2 * size_of::<R>())
}

fn bits<R: Scalar>(x: R) -> u64 {
    let mut wide = [0; 8];
    wide[..size_of::<R>()].copy_from_slice(bytemuck::bytes_of(&x));
    if size_of::<R>() == 8 {
        u64::from_ne_bytes(wide)
    } else {
        u32::from_ne_bytes([wide[0], wide[1], wide[2], wide[3]]).into()
    }
}

fn from_bits<R: Scalar>(bits: u64) -> R {
    if size_of::<R>() == 8 {
        bytemuck::pod_read_unaligned(&bits.to_ne_bytes())
    } else {
        bytemuck::pod_read_unaligned(&(bits as u32).to_ne_bytes())
    }
}

/// Widths of the fields of a number (IEEE 754).
struct Format {
    fraction: u32,
    exponent: u32,
}

impl Format {
    fn of<R>() -> Self {
        if size_of::<R>() == 8 { Self { fraction: 52, exponent: 11 } } else { Self { fraction: 23, exponent: 8 } }
    }

    fn is_subnormal(&self, bits: u64) -> bool {
        let magnitude = bits & ((1 << (self.fraction + self.exponent)) - 1);
        magnitude != 0 && magnitude >> self.fraction == 0
    }

    /// Exponent field of 1.
    fn bias(&self) -> u64 {
        (1 << (self.exponent - 1)) - 1
    }
}

/// Deterministic random bits: splitmix64 (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// Any bit pattern.
    fn raw<R: Scalar>(&mut self) -> R {
        from_bits(self.next() >> (64 - 8 * size_of::<R>()))
    }

    /// Any sign and fraction, an exponent field from `low` to `high`.
    fn number<R: Scalar>(&mut self, low: u64, high: u64) -> R {
        let format = Format::of::<R>();
        let field = low + self.next() % (high - low + 1);
        let fraction = self.next() >> (64 - format.fraction);
        let sign = self.next() >> 63;
        from_bits((sign << (format.exponent + format.fraction)) | (field << format.fraction) | fraction)
    }
}

/// Triples of raw bits, of moderate size, around the smallest numbers, with cancellation, and of special values.
fn operands<R: Scalar>() -> Vec<[R; 3]> {
    let (random, format) = (&mut Random(2022), Format::of::<R>());
    let (bias, digits) = (format.bias(), u64::from(format.fraction));
    let mut all = Vec::with_capacity(5 * COUNT);
    for _ in 0..COUNT {
        all.push([random.raw(), random.raw(), random.raw()]);
        all.push([(); 3].map(|()| random.number(bias - 4, bias + 4)));
        // Factors whose product is subnormal or just above: their exponents add up to the smallest one or a little less.
        let share = random.next() % (bias / 2);
        let (low, high) = (bias / 2 - share / 2, bias / 2 + share / 2);
        all.push([random.number(low - digits, low + 1), random.number(high, high), random.number(0, 1)]);
        all.push([(); 3].map(|()| random.number(0, 2)));
        // What is left of a·b + c is the rounding error of the product, which only a contraction sees.
        let (a, b): (R, R) = (random.number(bias - 8, bias + 8), random.number(bias - 8, bias + 8));
        all.push([a, b, -(a * b)]);
    }
    let infinity = ((1 << format.exponent) - 1) << format.fraction;
    let positive =
        [0, 1, (1 << format.fraction) - 1, 1 << format.fraction, bias << format.fraction, infinity - 1, infinity];
    let special = positive.into_iter().flat_map(|bits| [from_bits(bits), -from_bits::<R>(bits)]);
    let special: Vec<R> = special.chain([from_bits(infinity | 1 << (format.fraction - 1))]).collect();
    for &a in &special {
        all.extend(special.iter().map(|&b| [a, b, a]));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::OpenClDevice;

    /// The refusal of a device that computes by a changed text; `None` where there is no device.
    fn refusal<R: Scalar>(old: &str, new: &str) -> Option<String> {
        let mut device = match OpenClDevice::open(0) {
            Ok(device) => device,
            Err(reason) => {
                println!("skipped: {reason}");
                return None;
            }
        };
        assert_eq!(self_test::<R>(&mut device), Ok(()));
        let source = source::<R>();
        assert!(source.contains(old), "{old}");
        match check::<R>(&mut device, &source.replace(old, new)) {
            Err(DeviceError::Arithmetic { what, .. }) => Some(what),
            other => panic!("{new} in place of {old}: {other:?}"),
        }
    }

    fn says(refusal: Option<String>, words: &[&str]) {
        let Some(what) = refusal else { return };
        println!("{what}");
        words.iter().for_each(|word| assert!(what.contains(word), "{word}: {what}"));
    }

    fn changed_arithmetic_is_refused<R: Scalar>() {
        says(refusal::<R>("FP_CONTRACT OFF", "FP_CONTRACT ON"), &["a * b + c is ", "contracted"]);
        says(refusal::<R>("b < a ? b : a", "a < b ? a : b"), &["min(a, b) is ", "0x"]);
        says(refusal::<R>("a > b ? a : b", "a >= b ? a : b"), &["max(a, b) is "]);
        says(refusal::<R>("= a / b", "= a * ((REAL)1 / b)"), &["a / b is "]);
        says(refusal::<R>("BITS_OF(a)", "BITS_OF(-a)"), &["the bits of a is "]);
        says(refusal::<R>("(b - z);", "(z - b);"), &["the error of a + b is "]);
        let smallest = if size_of::<R>() == 8 { "2.2250738585072014e-308" } else { "1.17549435e-38f" };
        let flushed = format!("= REAL_ABS(a * b) < {smallest} ? (REAL)0 * a * b : a * b;");
        says(refusal::<R>("= a * b;", &flushed), &["a * b is ", "flushed"]);
        let flushed = format!("= (REAL_ABS(a) < {smallest} ? (REAL)0 : a) - b;");
        says(refusal::<R>("= a - b;", &flushed), &["a - b is ", "flushed"]);
    }

    #[test]
    fn changed_single_precision_is_refused() {
        changed_arithmetic_is_refused::<f32>();
    }

    #[test]
    fn changed_double_precision_is_refused() {
        changed_arithmetic_is_refused::<f64>();
    }

    fn kinds_of_operands<R: Scalar>() {
        let (all, format) = (operands::<R>(), Format::of::<R>());
        let share = |is: &dyn Fn(&[R; 3]) -> bool| all.iter().filter(|of| is(of)).count() * 100 / all.len();
        assert!(share(&|of| format.is_subnormal(bits(of[0]))) > 5);
        assert!(share(&|of| format.is_subnormal(bits(of[0] * of[1]))) > 10);
        assert!(share(&|of| !same(fused(*of), of[0] * of[1] + of[2])) > 20);
        assert!(all.iter().any(|of| is_nan(of[0])) && all.iter().any(|of| of[1].to_f64().is_infinite()));
        assert!(all.iter().any(|of| bits(of[0]) == 0 && bits(of[1]) == bits(-R::default())));
    }

    #[test]
    fn operands_are_of_all_kinds() {
        kinds_of_operands::<f32>();
        kinds_of_operands::<f64>();
    }

    #[test]
    fn random_bits_are_those_of_splitmix64() {
        // First outputs for the seed 1234567: test vector of the reference C code by S. Vigna.
        let mut random = Random(1_234_567);
        assert_eq!([random.next(), random.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }
}
