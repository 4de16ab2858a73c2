//! Exact sums of floating-point numbers.

use thiserror::Error;

/// Bits per limb.
const DIGIT: u32 = 32;
/// Limbs of the value: bit 0 of limb 0 is 2⁻¹⁰⁷⁴, the largest double ends in limb 65, two more take carries.
const VALUE_LIMBS: usize = 68;
/// Additions between two carry runs. Each changes a limb by less than 2³², so that limbs stay below 2⁶².
const HEAD_ROOM: u32 = 1 << 30;
/// Positions of the counts of exceptional inputs.
const NAN: usize = VALUE_LIMBS;
const PLUS_INFINITY: usize = VALUE_LIMBS + 1;
const MINUS_INFINITY: usize = VALUE_LIMBS + 2;

/// Why a sum has no value.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SumError {
    /// Some of the numbers added were not finite.
    #[error("the sum holds values that are not finite: {nan} NaN, {positive} times +inf, {negative} times -inf")]
    NotFinite {
        /// How many were NaN.
        nan: i64,
        /// How many were +∞.
        positive: i64,
        /// How many were −∞.
        negative: i64,
    },
    /// The exact sum rounds to a magnitude beyond the largest double.
    #[error("the sum is beyond the range of double precision")]
    Overflow,
}

/// Exact accumulator of double-precision numbers.
///
/// The sum is held as a fixed-point integer that spans the whole range of `f64`, subnormal numbers included, in limbs of
/// 32 bits with a sign and 31 bits of head room each (a Kulisch accumulator). Nothing is ever rounded before
/// [`round`](Self::round), so the result depends neither on the order of the additions nor on how they are split over
/// threads and ranks.
///
/// Single-precision values are added through their exact conversion to `f64`; see [`add_slice`](Self::add_slice).
///
/// For a sum over ranks, add up [`limbs_mut`](Self::limbs_mut) element by element as 64-bit integers, in any order; up to
/// 2³⁰ ranks fit.
#[derive(Clone, Debug)]
pub struct ExactSum {
    limbs: [i64; Self::LIMBS],
    /// Bound of |limb| in units of 2³².
    pending: u32,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self::new()
    }
}

impl ExactSum {
    /// Number of limbs: the value, lowest first, then the counts of NaN, +∞ and −∞.
    pub const LIMBS: usize = VALUE_LIMBS + 3;

    /// Empty sum.
    pub fn new() -> Self {
        Self { limbs: [0; Self::LIMBS], pending: 0 }
    }

    /// Adds `x`. NaN and infinities are counted and reported by [`round`](Self::round).
    #[inline]
    pub fn add(&mut self, x: f64) {
        if self.pending >= HEAD_ROOM {
            self.normalise();
        }
        self.pending += 1;
        self.deposit(x);
    }

    /// Adds all of `values`; `f32` and `f64` alike.
    pub fn add_slice<T: Copy + Into<f64>>(&mut self, values: &[T]) {
        for part in values.chunks((HEAD_ROOM / 2) as usize) {
            // At most HEAD_ROOM / 2 additions.
            let count = part.len() as u32;
            if self.pending > HEAD_ROOM - count {
                self.normalise();
            }
            self.pending += count;
            for &x in part {
                self.deposit(x.into());
            }
        }
    }

    /// Adds the product a·b without rounding it.
    ///
    /// Exact if |a·b| ≥ 2⁻⁹⁶⁹ or a·b = 0; smaller products are rounded to a multiple of 2⁻¹⁰⁷⁴. A product beyond the
    /// range of `f64` counts as infinite.
    #[inline]
    pub fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.add(product);
        if product.is_finite() {
            self.add(a.mul_add(b, -product));
        }
    }

    /// Adds everything that `other` holds.
    pub fn merge(&mut self, other: &Self) {
        if self.pending > HEAD_ROOM - other.pending.min(HEAD_ROOM) {
            self.normalise();
        }
        self.pending += other.pending;
        for (mine, theirs) in self.limbs.iter_mut().zip(&other.limbs) {
            *mine += theirs;
        }
    }

    /// Adds a part that was summed elsewhere: `limbs` of 32 bits with a sign, the first of which is limb `first` of this
    /// accumulator, and counts of NaN, +∞ and −∞. The part holds at most `values` ≤ 2²⁹ numbers.
    pub fn merge_limbs(&mut self, first: usize, limbs: &[i64], special: [i64; 3], values: u32) {
        if self.pending > HEAD_ROOM - values {
            self.normalise();
        }
        self.pending += values;
        for (mine, theirs) in self.limbs[first..VALUE_LIMBS].iter_mut().zip(limbs) {
            *mine += theirs;
        }
        for (mine, theirs) in self.limbs[VALUE_LIMBS..].iter_mut().zip(special) {
            *mine += theirs;
        }
    }

    /// The limbs after carrying: every value limb but the last in 0..2³², the last with the sign. Equal sums have equal
    /// limbs. The sum stays valid if the limbs are replaced by the integer sum of the limbs of up to 2³⁰ accumulators.
    pub fn limbs_mut(&mut self) -> &mut [i64; Self::LIMBS] {
        self.normalise();
        self.pending = HEAD_ROOM;
        &mut self.limbs
    }

    /// The limbs as they are, carries pending. Their sum over ranks is exact as long as the number of additions on all
    /// ranks together is below 2³¹; [`limbs_mut`](Self::limbs_mut) has no such limit.
    pub fn limbs(&self) -> &[i64; Self::LIMBS] {
        &self.limbs
    }

    /// Exact sum rounded once to the nearest double, ties to even. An empty or cancelling sum is +0.
    ///
    /// # Errors
    /// [`SumError::NotFinite`] if a NaN or an infinity was added, [`SumError::Overflow`] if the rounded sum is beyond the
    /// largest double.
    pub fn round(&self) -> Result<f64, SumError> {
        let [nan, positive, negative] = [NAN, PLUS_INFINITY, MINUS_INFINITY].map(|flag| self.limbs[flag]);
        if nan != 0 || positive != 0 || negative != 0 {
            return Err(SumError::NotFinite { nan, positive, negative });
        }
        let mut digits = self.limbs;
        let digits = &mut digits[..VALUE_LIMBS];
        carry(digits);
        let is_negative = digits[VALUE_LIMBS - 1] < 0;
        if is_negative {
            digits.iter_mut().for_each(|digit| *digit = -*digit);
            carry(digits);
        }
        let magnitude = round_magnitude(digits)?;
        Ok(if is_negative { -magnitude } else { magnitude })
    }

    /// Adds `x` without looking at the head room.
    #[inline(always)]
    fn deposit(&mut self, x: f64) {
        let bits = x.to_bits();
        let exponent = (bits >> 52) as u32 & 0x7ff;
        if exponent == 0x7ff {
            self.count_exceptional(x);
            return;
        }
        // Subnormal numbers have no hidden bit and the scale of exponent 1.
        let hidden = u64::from(exponent != 0) << 52;
        let mantissa = (bits & ((1 << 52) - 1)) | hidden;
        let position = exponent - u32::from(exponent != 0);
        let (limb, shift) = ((position / DIGIT) as usize & 63, position % DIGIT);
        let low = mantissa << shift;
        let high = (mantissa >> 32) >> (DIGIT - shift);
        let sign = (bits as i64) >> 63;
        let signed = |digit: u64| (digit as i64 ^ sign) - sign;
        self.limbs[limb] += signed(low & 0xffff_ffff);
        self.limbs[limb + 1] += signed(low >> 32);
        self.limbs[limb + 2] += signed(high);
    }

    #[cold]
    fn count_exceptional(&mut self, x: f64) {
        let flag = if x.is_nan() {
            NAN
        } else if x > 0.0 {
            PLUS_INFINITY
        } else {
            MINUS_INFINITY
        };
        self.limbs[flag] += 1;
    }

    fn normalise(&mut self) {
        carry(&mut self.limbs[..VALUE_LIMBS]);
        self.pending = 1;
    }
}

/// Brings all digits but the last into 0..2³².
fn carry(digits: &mut [i64]) {
    let last = digits.len() - 1;
    let mut over = 0;
    for digit in &mut digits[..last] {
        let sum = *digit + over;
        over = sum >> DIGIT;
        *digit = sum & 0xffff_ffff;
    }
    digits[last] += over;
}

/// Nearest double of a non-negative number in carried digits.
fn round_magnitude(digits: &[i64]) -> Result<f64, SumError> {
    let Some(top) = digits.iter().rposition(|digit| *digit != 0) else { return Ok(0.0) };
    let highest = top as u32 * DIGIT + (63 - digits[top].leading_zeros());
    let bit = |position: u32| (digits[(position / DIGIT) as usize] >> (position % DIGIT)) & 1 == 1;
    // The last limb may hold more than 32 bits, but then the number is far out of range.
    if highest > 2097 {
        return Err(SumError::Overflow);
    }
    let lowest = highest.saturating_sub(52);
    let mut mantissa = (lowest..=highest).rev().fold(0u64, |value, position| value << 1 | u64::from(bit(position)));
    if lowest > 0 && bit(lowest - 1) {
        let sticky = (0..lowest - 1).any(bit);
        mantissa += u64::from(sticky || mantissa & 1 == 1);
    }
    // Exponent field and mantissa add up: a mantissa of 2⁵³ after rounding carries into the exponent by itself.
    let bits = (u64::from(lowest) << 52) + mantissa;
    let value = f64::from_bits(bits);
    if value.is_finite() { Ok(value) } else { Err(SumError::Overflow) }
}

#[cfg(test)]
#[path = "exact_sum_tests.rs"]
mod tests;
