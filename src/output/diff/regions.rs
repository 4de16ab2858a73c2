//! Cutting an array into blocks that fit memory.

/// Values in memory at a time.
const BLOCK: usize = 1 << 20;

/// Index of the `n`-th value (last dimension fastest) of a region of `count` values.
pub(super) fn index_in(mut n: usize, count: &[usize]) -> Vec<usize> {
    let mut index = vec![0; count.len()];
    for (i, &c) in index.iter_mut().zip(count).rev() {
        *i = n % c;
        n /= c;
    }
    index
}

/// Regions of at most [`BLOCK`] values (or one row) that cover `shape` in storage order.
pub(super) fn block_regions(shape: &[usize]) -> Vec<(Vec<usize>, Vec<usize>)> {
    if shape.contains(&0) {
        return Vec::new();
    }
    // Dimensions from `split` on fit a block whole; the one before is cut.
    let mut split = shape.len();
    let mut inner = 1;
    while split > 0 && inner * shape[split - 1] <= BLOCK {
        split -= 1;
        inner *= shape[split];
    }
    if split == 0 {
        return vec![(vec![0; shape.len()], shape.to_vec())];
    }
    let cut = split - 1;
    let step = (BLOCK / inner).max(1);
    let outer: usize = shape[..cut].iter().product();
    let mut regions = Vec::new();
    for n in 0..outer {
        let lead = index_in(n, &shape[..cut]);
        for first in (0..shape[cut]).step_by(step) {
            let mut start = lead.clone();
            start.push(first);
            start.resize(shape.len(), 0);
            let mut count = vec![1; cut];
            count.push(step.min(shape[cut] - first));
            count.extend(&shape[split..]);
            regions.push((start, count));
        }
    }
    regions
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn blocks_cover_every_value_once() {
        for shape in [vec![], vec![7], vec![3, 0, 2], vec![3, 5, 1000, 700], vec![2, 3_000_000], vec![3_000_000]] {
            let regions = block_regions(&shape);
            let total: usize = regions.iter().map(|(_, c)| c.iter().product::<usize>()).sum();
            assert_eq!(total, shape.iter().product::<usize>(), "{shape:?}");
            let distinct: BTreeSet<_> = regions.iter().map(|r| r.0.clone()).collect();
            assert_eq!(distinct.len(), regions.len());
            for (start, count) in regions {
                assert!(count.iter().product::<usize>() <= BLOCK);
                assert!(start.iter().zip(&count).zip(&shape).all(|((s, c), n)| s + c <= *n), "{start:?} {count:?}");
            }
        }
    }
}
