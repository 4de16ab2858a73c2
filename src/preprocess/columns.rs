//! Arrays `[level][place]` seen column by column.

use rayon::prelude::*;

/// Places that one task works on.
const CHUNK: usize = 2048;

/// Sum over the levels of `levels`, in their order, for each of `width` places.
pub(super) fn sum_levels(levels: &[f64], width: usize) -> Vec<f64> {
    let mut sums = vec![0.0; width];
    sums.par_chunks_mut(CHUNK).enumerate().for_each(|(n, sums)| {
        for level in levels.chunks(width) {
            sums.iter_mut().zip(&level[n * CHUNK..]).for_each(|(sum, value)| *sum += value);
        }
    });
    sums
}

/// Runs `work` on groups of columns, in parallel. It is given the first place of the group and the group's part of every
/// level, from the top.
pub(super) fn for_columns(levels: &mut [f64], width: usize, work: impl Fn(usize, &mut [&mut [f64]]) + Sync) {
    let mut groups: Vec<Vec<&mut [f64]>> = (0..width.div_ceil(CHUNK)).map(|_| Vec::new()).collect();
    for level in levels.chunks_mut(width) {
        groups.iter_mut().zip(level.chunks_mut(CHUNK)).for_each(|(group, part)| group.push(part));
    }
    groups.par_iter_mut().enumerate().for_each(|(n, group)| work(n * CHUNK, group));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_every_place_of_every_level() {
        let (width, levels) = (2 * CHUNK + 7, 3);
        let mut values: Vec<f64> = (0..levels * width).map(|n| n as f64).collect();
        let sums = sum_levels(&values, width);
        assert!(sums.iter().enumerate().all(|(n, sum)| *sum == (3 * n + 3 * width) as f64));
        for_columns(&mut values, width, |first, group| {
            assert_eq!(group.len(), levels);
            for (k, part) in group.iter_mut().enumerate() {
                part.iter_mut().enumerate().for_each(|(n, value)| *value -= (k * width + first + n) as f64);
            }
        });
        assert!(values.iter().all(|value| *value == 0.0));
    }
}
