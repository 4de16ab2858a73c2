//! Vectors of numbers handled lane by lane.

use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::real::{Real, Scalar};

/// `N` numbers that go through the numerics side by side; every lane gets the bits the scalar would get.
///
/// Plain arrays in fixed loops, which compile to vector instructions of whatever width the processor has.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Lanes<T, const N: usize>(pub [T; N]);

impl<T: Copy, const N: usize> Lanes<T, N> {
    /// The same value in every lane.
    #[inline(always)]
    pub fn splat(value: T) -> Self {
        Self([value; N])
    }

    /// The `N` values from position `at` of `slice` on; panics if there are fewer.
    #[inline(always)]
    pub fn load(slice: &[T], at: usize) -> Self {
        Self(slice[at..at + N].try_into().expect("a range of N values"))
    }

    /// Writes the lanes to position `at` of `slice` and on; panics if there is no room.
    #[inline(always)]
    pub fn store(self, slice: &mut [T], at: usize) {
        slice[at..at + N].copy_from_slice(&self.0);
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $assign:ident, $assign_method:ident, $op:tt) => {
        impl<T: Scalar, const N: usize> $trait for Lanes<T, N> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let mut out = self.0;
                for l in 0..N {
                    out[l] = self.0[l] $op other.0[l];
                }
                Self(out)
            }
        }

        impl<T: Scalar, const N: usize> $assign for Lanes<T, N> {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                *self = *self $op other;
            }
        }
    };
}

operator!(Add, add, AddAssign, add_assign, +);
operator!(Sub, sub, SubAssign, sub_assign, -);
operator!(Mul, mul, MulAssign, mul_assign, *);
operator!(Div, div, DivAssign, div_assign, /);

impl<T: Scalar, const N: usize> Neg for Lanes<T, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        let mut out = self.0;
        for l in 0..N {
            out[l] = -self.0[l];
        }
        Self(out)
    }
}

macro_rules! comparison {
    ($($method:ident),*) => {
        $(#[inline(always)]
        fn $method(self, other: Self) -> [bool; N] {
            let mut out = [false; N];
            for l in 0..N {
                out[l] = self.0[l].$method(other.0[l]);
            }
            out
        })*
    };
}

impl<T: Scalar, const N: usize> Real for Lanes<T, N> {
    type Mask = [bool; N];

    #[inline(always)]
    fn lit(value: f64) -> Self {
        Self::splat(T::lit(value))
    }

    comparison!(lt, gt, le, ge);

    #[inline(always)]
    fn and(a: [bool; N], b: [bool; N]) -> [bool; N] {
        let mut out = a;
        for l in 0..N {
            out[l] = a[l] & b[l];
        }
        out
    }

    #[inline(always)]
    fn or(a: [bool; N], b: [bool; N]) -> [bool; N] {
        let mut out = a;
        for l in 0..N {
            out[l] = a[l] | b[l];
        }
        out
    }

    #[inline(always)]
    fn select(mask: [bool; N], yes: Self, no: Self) -> Self {
        let mut out = no.0;
        for l in 0..N {
            out[l] = T::select(mask[l], yes.0[l], no.0[l]);
        }
        Self(out)
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        let mut out = self.0;
        for l in 0..N {
            out[l] = Real::min(self.0[l], other.0[l]);
        }
        Self(out)
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        let mut out = self.0;
        for l in 0..N {
            out[l] = Real::max(self.0[l], other.0[l]);
        }
        Self(out)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        let mut out = self.0;
        for l in 0..N {
            out[l] = Real::abs(self.0[l]);
        }
        Self(out)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        let mut out = self.0;
        for l in 0..N {
            out[l] = Real::sqrt(self.0[l]);
        }
        Self(out)
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        let mut out = self.0;
        for l in 0..N {
            out[l] = Real::mul_add(self.0[l], factor.0[l], term.0[l]);
        }
        Self(out)
    }
}
