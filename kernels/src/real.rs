//! Arithmetic the numerics are written in.
//!
//! [`Real`] is implemented by `f32`, `f64` and by SIMD-width arrays of them ([`Lanes`](crate::Lanes)), so one function
//! body serves the scalar reference, the vectorised rows and (by generation) the devices. Only + − × ÷ √, comparisons,
//! select, min, max, abs and the fused multiply-add: operations whose result has one correct bit pattern everywhere.

use core::fmt::{Debug, Display};
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::columns::ColumnDispatch;
use crate::columns::convection::ConvectionLoops;
use crate::cpu::Dispatch;

/// A value the numerics compute with: a number or a vector of numbers handled lane by lane.
pub trait Real:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
{
    /// Result of a comparison, one truth value per lane.
    type Mask: Copy;
    /// A constant, rounded once from f64.
    fn lit(value: f64) -> Self;
    /// `self < other`.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self > other`.
    fn gt(self, other: Self) -> Self::Mask;
    /// `self <= other`.
    fn le(self, other: Self) -> Self::Mask;
    /// `self >= other`.
    fn ge(self, other: Self) -> Self::Mask;
    /// Both masks true.
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Either mask true.
    fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// `yes` where `mask` is true, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// `other < self ? other : self`; the constant, if any, is `other` (signed zeros, see [`numerics`](crate::numerics)).
    fn min(self, other: Self) -> Self;
    /// `self > other ? self : other`; the constant, if any, is `other`.
    fn max(self, other: Self) -> Self;
    /// Absolute value (sign bit cleared).
    fn abs(self) -> Self;
    /// Correctly rounded square root.
    fn sqrt(self) -> Self;
    /// `self × factor + term`, rounded once. Only where a formula demands it: without hardware for it this is a call of
    /// a library.
    fn mul_add(self, factor: Self, term: Self) -> Self;
}

/// A storage precision of the model: `f32` or `f64`.
///
/// The hidden supertraits connect a precision with its compiled loops; no other type can implement them.
pub trait Scalar:
    Real<Mask = bool>
    + PartialOrd
    + Debug
    + Display
    + Default
    + Send
    + Sync
    + bytemuck::Pod
    + Dispatch
    + ConvectionLoops
    + ColumnDispatch
    + 'static
{
    /// Name in configuration files and headers: `Float32` or `Float64`.
    const NAME: &'static str;
    /// Machine epsilon (distance from 1 to the next number).
    const EPSILON: Self;
    /// Nearest value of this precision.
    fn from_f64(value: f64) -> Self;
    /// Exact conversion to f64.
    fn to_f64(self) -> f64;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;
}

macro_rules! implement {
    ($float:ident, $name:literal) => {
        impl Real for $float {
            type Mask = bool;
            #[inline(always)]
            fn lit(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn gt(self, other: Self) -> bool {
                self > other
            }
            #[inline(always)]
            fn le(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn ge(self, other: Self) -> bool {
                self >= other
            }
            #[inline(always)]
            fn and(a: bool, b: bool) -> bool {
                a & b
            }
            #[inline(always)]
            fn or(a: bool, b: bool) -> bool {
                a | b
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if other < self { other } else { self }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $float::abs(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $float::sqrt(self)
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                $float::mul_add(self, factor, term)
            }
        }

        impl Scalar for $float {
            const NAME: &'static str = $name;
            const EPSILON: Self = $float::EPSILON;
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $float::is_finite(self)
            }
        }
    };
}

implement!(f32, "Float32");
implement!(f64, "Float64");

#[cfg(test)]
mod tests {
    use super::*;

    fn ties<R: Scalar>() {
        let (zero, negative, nan) = (R::lit(0.0), -R::lit(0.0), R::lit(f64::NAN));
        let sign = |x: R| (R::lit(1.0) / x).to_f64().signum();
        // A tie of min keeps the receiver, a tie of max takes the argument.
        assert_eq!(sign(Real::min(zero, negative)), 1.0);
        assert_eq!(sign(Real::min(negative, zero)), -1.0);
        assert_eq!(sign(Real::max(zero, negative)), -1.0);
        assert_eq!(sign(Real::max(negative, zero)), 1.0);
        assert!(!Scalar::is_finite(Real::min(nan, zero)));
        assert!(Scalar::is_finite(Real::max(nan, zero)));
        assert!(!Scalar::is_finite(Real::max(zero, nan)));
    }

    fn rounded_once<R: Scalar>() {
        // (1 + ε)(1 − ε) − 1 = −ε², which two roundings lose.
        let (above, below) = (R::lit(1.0) + R::EPSILON, R::lit(1.0) - R::EPSILON);
        let fused = Real::mul_add(above, below, -R::lit(1.0));
        assert_eq!(fused.to_f64(), -R::EPSILON.to_f64() * R::EPSILON.to_f64());
        let lanes = crate::Lanes::<R, 3>([above, R::lit(2.0), R::lit(0.5)]);
        let product = lanes.mul_add(crate::Lanes([below, R::lit(3.0), R::lit(4.0)]), crate::Lanes::splat(-R::lit(1.0)));
        assert_eq!(product.0.map(R::to_f64), [fused.to_f64(), 5.0, 1.0]);
    }

    #[test]
    fn the_fused_product_is_rounded_once() {
        rounded_once::<f32>();
        rounded_once::<f64>();
    }

    #[test]
    fn ties_of_min_and_max_follow_the_text() {
        ties::<f32>();
        ties::<f64>();
    }
}
