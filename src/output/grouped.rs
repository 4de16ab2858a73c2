//! Groups of ranks with one that writes for all.

use kernels::Scalar;

use super::pieces::Pieces;
use super::sharing::{Rectangle, Sharing};
#[cfg(feature = "mpi")]
use crate::comm::Communicator;
use crate::comm::FileGroup;

/// The group of this rank, and what the one that writes has to know of the others.
pub(super) struct Grouped {
    pub(super) group: Box<dyn FileGroup>,
    /// Ranks of the largest group.
    largest: usize,
}

impl Grouped {
    /// Collective over all ranks.
    #[cfg(feature = "mpi")]
    pub(super) fn new(group: Box<dyn FileGroup>, comm: &dyn Communicator) -> Self {
        let mut largest = [group.size() as f64];
        comm.max_f64(&mut largest);
        Self { group, largest: largest[0] as usize }
    }

    /// Writes that every rank which writes takes part in for one block of a field.
    pub(super) fn slots(&self, sharing: &Sharing) -> usize {
        self.largest * sharing.max_tiles
    }

    /// The rectangles of the whole group with their values, of `levels` levels each, on the rank that writes; nothing
    /// elsewhere. Collective over the group.
    pub(super) fn gather<R: Scalar>(&self, own: &Pieces<R>, levels: usize) -> Pieces<R> {
        let mut bytes: Vec<u8> = Vec::new();
        for (rectangle, values) in own.iter(levels) {
            bytes.extend_from_slice(bytemuck::cast_slice(&rectangle.numbers()));
            bytes.extend_from_slice(bytemuck::cast_slice(values));
        }
        let mut all = Pieces::new();
        for part in self.group.gather(&bytes).into_iter().flatten() {
            let mut rest = &part[..];
            while !rest.is_empty() {
                let (head, tail) = rest.split_at(size_of::<[u64; 5]>());
                let numbers: Vec<u64> = bytemuck::pod_collect_to_vec(head);
                let rectangle = Rectangle::from_numbers(&numbers);
                let (values, tail) = tail.split_at(levels * rectangle.cells() * size_of::<R>());
                all.add(rectangle, |all| all.extend(bytemuck::pod_collect_to_vec::<u8, R>(values)));
                rest = tail;
            }
        }
        all
    }
}
