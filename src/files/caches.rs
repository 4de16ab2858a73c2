//! Chunks that the library keeps in memory.

/// Bytes of chunks that HDF5 keeps of a variable while [`SmallCaches`] are set.
pub const SMALL_CACHE_BYTES: usize = 64 << 10;

/// Files that are created or opened while this lives keep few chunks in memory. Of files whose chunks are written or read once
/// and whole, keeping more helps nobody: the usual 16 MiB of every variable can be more than the state of a run.
#[derive(Debug)]
pub struct SmallCaches {
    before: Option<(usize, usize, f32)>,
}

impl SmallCaches {
    /// From now on.
    pub fn set() -> Self {
        let _guard = netcdf_sys::libnetcdf_lock.lock();
        let (mut size, mut slots, mut preemption) = (0, 0, 0.0);
        // SAFETY: writes to three numbers; the library's lock is held.
        let found = unsafe { netcdf_sys::nc_get_chunk_cache(&mut size, &mut slots, &mut preemption) };
        // A library that refuses keeps its usual caches, with no other effect.
        // SAFETY: takes numbers only; the library's lock is held.
        let set = found == 0 && unsafe { netcdf_sys::nc_set_chunk_cache(SMALL_CACHE_BYTES, slots, preemption) } == 0;
        Self { before: set.then_some((size, slots, preemption)) }
    }
}

impl Drop for SmallCaches {
    fn drop(&mut self) {
        if let Some((size, slots, preemption)) = self.before {
            let _guard = netcdf_sys::libnetcdf_lock.lock();
            // SAFETY: takes numbers only; the library's lock is held.
            unsafe { netcdf_sys::nc_set_chunk_cache(size, slots, preemption) };
        }
    }
}
