//! Arithmetic the numerics are written in.
//!
//! [`Real`] is implemented by `f32`, `f64` and by SIMD-width arrays of them, so one function body serves the scalar
//! reference, the vectorised rows and (by generation) the devices. Only + − × ÷ √, comparisons, select, min, max, abs:
//! operations whose result has one correct bit pattern everywhere.

use core::fmt::{Debug, Display};
use core::ops::{Add, Div, Mul, Neg, Sub};

/// A value the numerics compute with: a number or a vector of numbers handled lane by lane.
pub trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
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
    /// `other < self ? other : self`; the constant, if any, is `other` (signed zeros, see the module of the limiters).
    fn min(self, other: Self) -> Self;
    /// `self > other ? self : other`; the constant, if any, is `other`.
    fn max(self, other: Self) -> Self;
    /// Absolute value (sign bit cleared).
    fn abs(self) -> Self;
    /// Correctly rounded square root.
    fn sqrt(self) -> Self;
}

/// A storage precision of the model: `f32` or `f64`.
pub trait Scalar:
    Real<Mask = bool> + PartialOrd + Debug + Display + Default + Send + Sync + bytemuck::Pod + 'static
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
