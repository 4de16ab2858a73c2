//! The device that tests of kernels run on, and numbers to feed it.
//!
//! `ATMOSTR_TEST_BACKEND` names another way to a device than OpenCL, as `architecture.backend` does. What it names has to
//! be there: a test does not pass on a device that it has not seen.
#![allow(dead_code)]

use atmostr::device::{Accelerator, Device, DeviceError, open};
use kernels::Scalar;

/// The first device of the backend under test. Says why and gives none where none is named and there is no OpenCL, and
/// for double precision on a device without it.
pub fn open_device<R: Scalar>() -> Option<Box<dyn Device>> {
    let named = std::env::var("ATMOSTR_TEST_BACKEND").ok();
    let backend = named.as_deref().map_or(Ok(Accelerator::OpenCl), str::parse);
    match open::<R>(backend.unwrap_or_else(|reason| panic!("ATMOSTR_TEST_BACKEND: {reason}")), 0) {
        Ok(device) => Some(device),
        Err(reason @ (DeviceError::NoDriver { .. } | DeviceError::NoDevice { .. })) if named.is_none() => {
            println!("skipped: {reason}");
            None
        }
        Err(reason @ DeviceError::Unsuitable { .. }) if size_of::<R>() == 8 => {
            println!("skipped: {reason}");
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// Whether two numbers have the same bits. NaN is one number: its sign and payload differ between devices.
pub fn same<R: Scalar>(a: R, b: R) -> bool {
    let (a, b) = (a.to_f64(), b.to_f64());
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// A sequence of random words (SplitMix64: Steele, Lea & Flood 2014), the same everywhere.
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    /// The next word.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A whole number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.word() % end as u64) as usize
    }

    /// A whole number of `low..=high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A number of [-1, 1).
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Any bits as a number: every exponent is as likely as every other.
    pub fn bits<R: Scalar>(&mut self) -> R {
        let word = self.word();
        let bytes = word.to_ne_bytes();
        bytemuck::pod_read_unaligned(&bytes[..size_of::<R>()])
    }

    /// A number smaller than any normal one, of either sign.
    pub fn denormal<R: Scalar>(&mut self) -> R {
        let unit = self.unit();
        R::from_f64(if size_of::<R>() == 4 { unit * 1e-38 } else { unit * 2e-308 })
    }

    /// Zeros of either sign, infinities, NaN, the largest and the smallest numbers.
    pub fn special<R: Scalar>(&mut self) -> R {
        let (huge, tiny) = if size_of::<R>() == 4 { (f32::MAX.into(), 1e-45) } else { (f64::MAX, 5e-324) };
        let numbers = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, huge, -huge, tiny, -tiny];
        R::from_f64(numbers[self.below(numbers.len())])
    }
}
