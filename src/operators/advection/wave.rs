//! The order of horizontal sweeps and halo messages over blocks of levels.

use std::ops::Range;

use decomposition::{Axis, ExchangeKind, HaloPlan, Layout};
use kernels::Scalar;

use crate::comm::Communicator;
use crate::state::Slabs;

/// What the wave front calls: one stage is one sweep along an axis.
pub(in crate::operators) trait Stages {
    /// What can go wrong.
    type Error;
    /// Whether this rank writes to or hears from another one.
    fn has_messages(&self) -> bool;
    /// Packs and sends the halos of a block before a sweep along `axis`.
    fn post(&mut self, axis: Axis, block: usize) -> Result<(), Self::Error>;
    /// Waits for the halos of a block.
    fn finish(&mut self, axis: Axis, block: usize) -> Result<(), Self::Error>;
    /// Local halo copies and sweeps along `axes`, one after the other, of a range of levels.
    fn sweep(&mut self, axes: &[Axis], levels: Range<usize>) -> Result<(), Self::Error>;
}

/// Sweeps all blocks along the axes of `sequence`, one after the other. While the halos of a block are under way, the
/// other blocks are swept.
pub(in crate::operators) fn wave_front<S: Stages>(
    stages: &mut S,
    sequence: &[Axis],
    blocks: &[Range<usize>],
) -> Result<(), S::Error> {
    let (count, length) = (blocks.len(), sequence.len());
    if !stages.has_messages() {
        // No neighbour on another rank: each level runs through all stages while it is in cache.
        return stages.sweep(sequence, 0..blocks[count - 1].end);
    }
    stages.post(sequence[0], 0)?;
    for front in 0..count + length - 1 {
        if front + 1 < count {
            stages.post(sequence[0], front + 1)?;
        }
        for stage in (front + 1).saturating_sub(count)..length.min(front + 1) {
            let block = front - stage;
            stages.finish(sequence[stage], block)?;
            stages.sweep(&sequence[stage..=stage], blocks[block].clone())?;
            if stage + 1 < length {
                stages.post(sequence[stage + 1], block)?;
            }
        }
    }
    Ok(())
}

/// Levels that travel in one message: as few as make the largest message `message_bytes` long, but at least `least`.
/// The same on all ranks. Collective.
pub(in crate::operators) fn level_blocks<R: Scalar>(
    layout: &Layout,
    slabs: &Slabs<R>,
    message_bytes: usize,
    least: usize,
    comm: &dyn Communicator,
) -> Vec<Range<usize>> {
    let largest = [Axis::X, Axis::Y]
        .into_iter()
        .flat_map(|axis| HaloPlan::new(layout, ExchangeKind::Sweep(axis), comm.rank()).sends)
        .map(|message| message.cells() * slabs.planes() * size_of::<R>())
        .max();
    let mut most = [largest.unwrap_or(0) as f64, least as f64];
    comm.max_f64(&mut most);
    let [bytes, least] = most.map(|n| n as usize);
    let levels = slabs.levels();
    let per_block = levels_per_block(levels, bytes, message_bytes, least);
    (0..levels).step_by(per_block).map(|first| first..(first + per_block).min(levels)).collect()
}

/// Levels in a block, for messages of `bytes` per level.
pub(in crate::operators) fn levels_per_block(levels: usize, bytes: usize, message_bytes: usize, least: usize) -> usize {
    // Without messages one block is enough; with more than 256 the message tags run out.
    let per_block = if bytes == 0 { levels } else { message_bytes.div_ceil(bytes).max(least) };
    per_block.clamp(levels.div_ceil(256), levels)
}
