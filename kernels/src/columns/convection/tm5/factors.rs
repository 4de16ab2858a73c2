//! LU factors of a small square matrix and solves for several right-hand sides at once.
//!
//! Order of the arithmetic, the same on every path: element (i, j) loses `multiplier(i, k) · element(k, j)` for k in
//! rising order; the forward sweep takes its terms in rising, the backward sweep in falling order; multipliers and
//! results are formed by division.

use crate::lanes::Lanes;
use crate::numerics::eliminated;
use crate::real::{Real, Scalar};

/// Rows solved side by side, so that their sums do not wait for each other.
const ROWS: usize = 4;

/// Which elements below the diagonal may be other than 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LowerPart {
    /// Only the first sub-diagonal (upper Hessenberg form): quadratic work.
    Hessenberg,
    /// All.
    Full,
}

/// A square matrix that is factored in place, with its row exchanges.
#[derive(Clone, Debug)]
pub struct Factors<R> {
    order: usize,
    stride: usize,
    elements: Vec<R>,
    pivots: Vec<u32>,
    bidiagonal: bool,
}

impl<R: Scalar> Factors<R> {
    /// Room for matrices of order 0 to `order`.
    pub fn new(order: usize) -> Self {
        // A row is whole cache lines, but not a multiple of a page, which would make columns collide in the cache.
        let line = 64 / size_of::<R>();
        let stride = (order.div_ceil(line) | 1) * line;
        Self {
            order: 0,
            stride,
            elements: vec![R::lit(0.0); order * stride],
            pivots: vec![0; order],
            bidiagonal: false,
        }
    }

    /// Makes it a matrix of zeros of this order; panics if there is no room.
    #[inline(always)]
    pub fn reset(&mut self, order: usize) {
        self.order = order;
        self.elements[..order * self.stride].fill(R::lit(0.0));
    }

    /// Order of the matrix.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Row `i`; after factoring, multipliers left of the diagonal.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &[R] {
        &self.elements[i * self.stride..][..self.order]
    }

    /// Row `i` to write.
    #[inline(always)]
    pub fn row_mut(&mut self, i: usize) -> &mut [R] {
        &mut self.elements[i * self.stride..][..self.order]
    }

    /// Rows `i` and `i + 1`.
    #[inline(always)]
    pub(super) fn row_pair(&mut self, i: usize) -> (&mut [R], &mut [R]) {
        let (a, b) = self.elements[i * self.stride..].split_at_mut(self.stride);
        (&mut a[..self.order], &mut b[..self.order])
    }

    /// Row that came to `k` in step k.
    pub fn pivots(&self) -> &[u32] {
        &self.pivots[..self.order]
    }

    /// Factors by partial pivoting; of equally large candidates the first is taken.
    ///
    /// A row with 0 in the pivot column is left alone. A zero pivot divides in the solves, so that it shows.
    #[inline(always)]
    pub fn factor(&mut self, lower: LowerPart) {
        let n = self.order;
        let mut swapped = false;
        for k in 0..n {
            let last = match lower {
                LowerPart::Hessenberg => (k + 2).min(n),
                LowerPart::Full => n,
            };
            let mut pivot = k;
            let mut largest = Real::abs(self.row(k)[k]);
            for i in k + 1..last {
                let candidate = Real::abs(self.row(i)[k]);
                if candidate > largest {
                    (pivot, largest) = (i, candidate);
                }
            }
            self.pivots[k] = pivot as u32;
            if pivot != k {
                swapped = true;
                self.swap(k, pivot);
            }
            let (upper, rest) = self.elements.split_at_mut((k + 1) * self.stride);
            let upper = &upper[k * self.stride..][..n];
            for i in k + 1..last {
                let row = &mut rest[(i - k - 1) * self.stride..][..n];
                if row[k] != R::lit(0.0) {
                    let multiplier = row[k] / upper[k];
                    row[k] = multiplier;
                    // It may have underflowed.
                    if multiplier != R::lit(0.0) {
                        for (element, above) in row[k + 1..].iter_mut().zip(&upper[k + 1..]) {
                            *element = eliminated(*element, multiplier, *above);
                        }
                    }
                }
            }
        }
        self.bidiagonal = lower == LowerPart::Hessenberg && !swapped;
    }

    fn swap(&mut self, a: usize, b: usize) {
        let (upper, lower) = self.elements.split_at_mut(b * self.stride);
        upper[a * self.stride..][..self.order].swap_with_slice(&mut lower[..self.order]);
    }

    /// Solves for `W` right-hand sides in place.
    #[inline(always)]
    pub fn solve<const W: usize>(&self, b: &mut [[R; W]]) {
        let b = &mut b[..self.order];
        for (k, pivot) in self.pivots().iter().enumerate() {
            b.swap(k, *pivot as usize);
        }
        if self.bidiagonal {
            for k in 1..self.order {
                b[k] = eliminated(Lanes(b[k]), Lanes::splat(self.row(k)[k - 1]), Lanes(b[k - 1])).0;
            }
        } else {
            self.forward(b);
        }
        self.backward(b);
    }

    #[inline(always)]
    fn forward<const W: usize>(&self, b: &mut [[R; W]]) {
        let mut start = 0;
        while start < self.order {
            let end = (start + ROWS).min(self.order);
            if end - start == ROWS {
                self.subtract(start, 0..start, b);
            } else {
                for i in start..end {
                    self.subtract_row(i, 0..start, b);
                }
            }
            for i in start..end {
                self.subtract_row(i, start..i, b);
            }
            start = end;
        }
    }

    #[inline(always)]
    fn backward<const W: usize>(&self, b: &mut [[R; W]]) {
        let n = self.order;
        let mut end = n;
        while end > 0 {
            let start = end.saturating_sub(ROWS);
            if end - start == ROWS {
                self.subtract(start, (end..n).rev(), b);
            } else {
                for i in start..end {
                    self.subtract_row(i, (end..n).rev(), b);
                }
            }
            for i in (start..end).rev() {
                self.subtract_row(i, (i + 1..end).rev(), b);
                b[i] = (Lanes(b[i]) / Lanes::splat(self.row(i)[i])).0;
            }
            end = start;
        }
    }

    /// Takes the terms of `columns`, in their order, from [`ROWS`] right-hand sides.
    #[inline(always)]
    fn subtract<const W: usize>(&self, start: usize, columns: impl Iterator<Item = usize>, b: &mut [[R; W]]) {
        let (mut rows, mut sums): ([&[R]; ROWS], _) = ([&[]; ROWS], [Lanes::<R, W>::lit(0.0); ROWS]);
        for r in 0..ROWS {
            (rows[r], sums[r]) = (self.row(start + r), Lanes(b[start + r]));
        }
        for j in columns {
            let x = Lanes(b[j]);
            for r in 0..ROWS {
                sums[r] = eliminated(sums[r], Lanes::splat(rows[r][j]), x);
            }
        }
        for r in 0..ROWS {
            b[start + r] = sums[r].0;
        }
    }

    #[inline(always)]
    fn subtract_row<const W: usize>(&self, i: usize, columns: impl Iterator<Item = usize>, b: &mut [[R; W]]) {
        let row = self.row(i);
        let mut sum = Lanes(b[i]);
        for j in columns {
            sum = eliminated(sum, Lanes::splat(row[j]), Lanes(b[j]));
        }
        b[i] = sum.0;
    }

    /// Solves with the transposed matrix in place.
    pub fn solve_transposed(&self, b: &mut [R]) {
        let n = self.order;
        for j in 0..n {
            for i in 0..j {
                b[j] -= self.row(i)[j] * b[i];
            }
            b[j] /= self.row(j)[j];
        }
        for j in (0..n).rev() {
            for i in (j + 1..n).rev() {
                b[j] -= self.row(i)[j] * b[i];
            }
        }
        for (k, pivot) in self.pivots().iter().enumerate().rev() {
            b.swap(k, *pivot as usize);
        }
    }
}
