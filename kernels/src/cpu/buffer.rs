//! Storage that starts on a cache line.

use core::ops::{Deref, DerefMut};

use crate::real::Scalar;

/// A fixed number of values whose first one lies on a 64-byte boundary; zero at first.
///
/// The sweeps accept any slice, but vector loads that straddle cache lines cost time: planes whose first value is
/// aligned (and whose pitch is a multiple of [`TileShape::PITCH_UNIT`](crate::TileShape::PITCH_UNIT)) avoid them.
#[derive(Debug)]
pub struct AlignedBuffer<R> {
    data: Vec<R>,
    start: usize,
    len: usize,
}

impl<R: Scalar> AlignedBuffer<R> {
    /// Alignment of the first value in bytes.
    pub const ALIGNMENT: usize = 64;

    /// `len` zeros.
    pub fn zeros(len: usize) -> Self {
        let slack = Self::ALIGNMENT / size_of::<R>();
        let data = vec![R::default(); len + slack];
        // An address that cannot be aligned (never the case for plain numbers) would only cost speed.
        let start = data.as_ptr().align_offset(Self::ALIGNMENT).min(slack);
        Self { data, start, len }
    }
}

impl<R: Scalar> Clone for AlignedBuffer<R> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

impl<R> Deref for AlignedBuffer<R> {
    type Target = [R];
    fn deref(&self) -> &[R] {
        &self.data[self.start..self.start + self.len]
    }
}

impl<R> DerefMut for AlignedBuffer<R> {
    fn deref_mut(&mut self) -> &mut [R] {
        &mut self.data[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_and_their_copies_start_on_a_cache_line() {
        for len in [0, 1, 17, 1000] {
            let mut a = AlignedBuffer::<f32>::zeros(len);
            a.fill(3.0);
            let b = a.clone();
            assert_eq!((a.as_ptr() as usize % 64, b.as_ptr() as usize % 64), (0, 0));
            assert_eq!(&*a, &*b);
            assert_eq!(b.len(), len);
        }
    }
}
