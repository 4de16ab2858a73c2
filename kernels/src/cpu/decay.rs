//! Decay of a row of contents.

use crate::numerics::decayed;
use crate::real::Scalar;

#[inline(always)]
pub(crate) fn decay<R: Scalar>(content: &mut [R], decrement: R) {
    for value in content {
        *value = decayed(*value, decrement);
    }
}
