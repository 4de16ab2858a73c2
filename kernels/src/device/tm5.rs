//! Shared memory of the collaborative form of implicit convection.

use super::Precision;
use crate::columns::convection::tm5::Solve;

/// Tracers that a group solves side by side.
const BATCH: usize = 6;
/// The same where that would not fit.
const SMALL_BATCH: usize = 3;

/// What a group of the collaborative form has room for in its shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tm5Room {
    /// Layers of the columns that are solved, at least 1: those that take part, over the number merged into one.
    pub layers: usize,
    /// Unknown of the solve. There is room for the plain solve in any case.
    pub solve: Solve,
    /// Tracers solved side by side, at least 2.
    pub batch: usize,
}

impl Tm5Room {
    /// Room for columns of `layers` layers in groups with `group_bytes` of shared memory, with as many tracers side by
    /// side as fit; `None` if the columns are too deep.
    pub fn fitting(precision: Precision, layers: usize, solve: Solve, group_bytes: usize) -> Option<Self> {
        let rooms = [BATCH, SMALL_BATCH].map(|batch| Self { layers, solve, batch });
        rooms.into_iter().find(|room| room.shared_bytes(precision) <= group_bytes)
    }

    /// Layers of the deepest columns that fit groups with `group_bytes` of shared memory; 0 if none do.
    pub fn deepest(precision: Precision, solve: Solve, group_bytes: usize) -> usize {
        (1..).take_while(|layers| Self::fitting(precision, *layers, solve, group_bytes).is_some()).last().unwrap_or(0)
    }

    /// Room for a column of `layers` layers in the memory of a device, where one lane convects it by either solve.
    pub fn alone(layers: usize) -> Self {
        Self { layers, solve: Solve::Delta, batch: 2 }
    }

    /// Bytes of shared memory: numbers of the matrix and beside it, and a pivot per layer.
    pub fn shared_bytes(self, precision: Precision) -> usize {
        let number = match precision {
            Precision::Float32 => 4,
            Precision::Float64 => 8,
        };
        number * self.words() + 4 * self.layers
    }

    /// Numbers of a room: the matrix, in which at least four rows of rates wait, right-hand sides, air and the air fluxes
    /// of both plumes, and what the tendency needs: shares and entrainment of both.
    pub fn words(self) -> usize {
        let more = match self.solve {
            Solve::Plain => 0,
            Solve::Delta => 4,
        };
        (self.layers.max(4) + self.batch + 3 + more) * self.layers + 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1024;

    fn bytes(precision: Precision, layers: usize, solve: Solve, batch: usize) -> usize {
        Tm5Room { layers, solve, batch }.shared_bytes(precision)
    }

    /// 4L² + (4B + 16)L + 8 bytes in single and 8L² + (8B + 28)L + 16 in double precision; 16 and 32 bytes more a layer
    /// where the change is solved for.
    #[test]
    fn columns_of_known_depth_fit_shared_memory() {
        use Precision::{Float32, Float64};
        assert_eq!(bytes(Float32, 85, Solve::Plain, 6), 32_308);
        assert_eq!(bytes(Float64, 73, Solve::Plain, 6), 48_196);
        assert_eq!(bytes(Float32, 85, Solve::Delta, 6), 33_668);
        assert_eq!(bytes(Float32, 85, Solve::Delta, 3), 32_648);
    }

    #[test]
    fn the_deepest_column_is_the_last_that_fits() {
        use Precision::{Float32, Float64};
        // With three tracers side by side: 32 720 and 48 916 bytes.
        assert_eq!(Tm5Room::deepest(Float32, Solve::Plain, 32 * KIB), 87);
        assert_eq!(Tm5Room::deepest(Float64, Solve::Plain, 48 * KIB), 75);
        for precision in Precision::ALL {
            for solve in [Solve::Plain, Solve::Delta] {
                let deepest = Tm5Room::deepest(precision, solve, 48 * KIB);
                assert!(Tm5Room::fitting(precision, deepest, solve, 48 * KIB).is_some());
                assert!(Tm5Room::fitting(precision, deepest + 1, solve, 48 * KIB).is_none());
            }
        }
        assert_eq!(Tm5Room::deepest(Float32, Solve::Plain, 16), 0);
        // Six tracers where they fit, else three.
        let batch = |group_bytes| Tm5Room::fitting(Float32, 85, Solve::Delta, group_bytes).map(|room| room.batch);
        assert_eq!([32 * KIB, 48 * KIB].map(batch), [Some(3), Some(6)]);
    }
}
