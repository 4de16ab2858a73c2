//! Checksums of fields that do not depend on who holds which cells.

use kernels::Scalar;

use crate::comm::Communicator;
use crate::output::Rectangle;
use crate::state::Slabs;

/// Sum over all cells of a hash of place and bits of the value, modulo 2⁶⁴. Any order of cells gives the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum(u64);

/// Finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection in which every bit depends on every bit.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Checksum {
    /// Adds a value with these bits at a place: its index in `[level][panel][j][i]`.
    pub fn add(&mut self, place: u64, bits: u64) {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        self.0 = self.0.wrapping_add(mix(bits ^ mix(place.wrapping_add(1).wrapping_mul(STEP))));
    }

    /// Adds the cells of this rank of one plane, levels 0 to `levels`, of a grid of `nc` cells per panel edge.
    pub(super) fn add_plane<R: Scalar>(&mut self, slabs: &Slabs<R>, plane: usize, levels: usize, nc: usize) {
        let set = slabs.tile_set().clone();
        for (tile, (place, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
            let r = Rectangle::of(place);
            for level in 0..levels {
                let values = slabs.plane(level, tile, plane);
                for j in 0..r.nj {
                    let first = ((level * 6 + r.panel) * nc + r.j0 + j) * nc + r.i0;
                    let row = &values[shape.row_start(j)..][..r.ni];
                    row.iter().enumerate().for_each(|(i, x)| self.add((first + i) as u64, x.to_f64().to_bits()));
                }
            }
        }
    }

    /// The sums over all ranks. Collective.
    pub(super) fn reduce(of_rank: &[Self], comm: &dyn Communicator) -> Vec<Self> {
        // Halves cannot overflow on fewer than 2³¹ ranks.
        let mut halves: Vec<i64> =
            of_rank.iter().flat_map(|c| [c.0 >> 32, c.0 & 0xffff_ffff]).map(|h| h as i64).collect();
        comm.sum_i64(&mut halves);
        halves.chunks_exact(2).map(|h| Self(((h[0] as u64) << 32).wrapping_add(h[1] as u64))).collect()
    }

    /// As it is written: sixteen hexadecimal digits.
    pub fn to_text(self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_matter_but_place_and_every_bit_do() {
        let values = [0.0f64, -0.0, 1.0, 1e-300];
        let sum = |order: &[usize]| {
            let mut sum = Checksum::default();
            order.iter().for_each(|&n| sum.add(n as u64, values[n].to_bits()));
            sum
        };
        assert_eq!(sum(&[0, 1, 2, 3]), sum(&[3, 1, 0, 2]));
        let mut exchanged = Checksum::default();
        [1, 0, 2, 3].iter().enumerate().for_each(|(n, &m)| exchanged.add(n as u64, values[m].to_bits()));
        assert_ne!(sum(&[0, 1, 2, 3]), exchanged);
        for bit in 0..64 {
            let mut flipped = Checksum::default();
            values.iter().enumerate().for_each(|(n, v)| flipped.add(n as u64, v.to_bits() ^ u64::from(n == 2) << bit));
            assert_ne!(sum(&[0, 1, 2, 3]), flipped);
        }
    }

    /// The first outputs of splitmix64 with state 0, as published with the generator.
    #[test]
    fn the_hash_is_splitmix64() {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        assert_eq!(mix(STEP), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(STEP.wrapping_mul(2)), 0x6e78_9e6a_a1b9_65f4);
    }
}
