//! Books of what the horizontal sweeps move, on a device.

use kernels::Scalar;

use super::DeviceTransport;
use super::scans::Afterwards;
use crate::device::{DeviceResult, Memory};
use crate::operators::advection::PerAxis;
use crate::state::Slabs;

/// The books of [`Transfers`](crate::operators::advection::Transfers), laid out like the state.
pub(super) struct DeviceTransfers {
    pub(super) gain: Memory,
    pub(super) through: PerAxis<Memory>,
}

impl<R: Scalar> DeviceTransport<R> {
    /// From now on keeps books of what the horizontal sweeps move, empty at first.
    ///
    /// # Errors
    /// The device has no room for three times the state.
    pub fn book_transfers(&mut self) -> DeviceResult<()> {
        let Self { launcher, shape, .. } = self;
        let empty = vec![R::default(); shape.stride * shape.levels];
        let mut book = || -> DeviceResult<Memory> {
            let memory = launcher.memory::<R>(empty.len())?;
            launcher.device.write((memory, 0), bytemuck::cast_slice(&empty))?;
            Ok(memory)
        };
        self.transfers = Some(DeviceTransfers { gain: book()?, through: PerAxis { x: book()?, y: book()? } });
        Ok(())
    }

    /// Sums of the columns of the books (gain, along i, along j), in pairs as [`DeviceTransport::columns`] forms them, and
    /// empties the books. Calls `take` with each in turn; `columns` is room for one. Waits.
    ///
    /// # Errors
    /// The device refuses something, or has failed since.
    ///
    /// # Panics
    /// Without [`DeviceTransport::book_transfers`].
    pub fn take_transfers(
        &mut self,
        columns: &mut Slabs<R>,
        mut take: impl FnMut(usize, &Slabs<R>),
    ) -> DeviceResult<()> {
        let DeviceTransfers { gain, through } = self.transfers.as_ref().expect("books are kept");
        for (n, memory) in [*gain, through.x, through.y].into_iter().enumerate() {
            self.columns_of(memory, Afterwards::Emptied, columns)?;
            take(n, columns);
        }
        Ok(())
    }
}
