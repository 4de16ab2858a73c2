//! Ownership of a driver's objects.

/// An object of a driver, released when dropped. `T` is its handle, `E` the driver's error code.
pub(super) struct Owned<T: Copy, E> {
    object: T,
    release: unsafe fn(T) -> Result<(), E>,
}

// SAFETY: `new` asks for objects that belong to no thread.
unsafe impl<T: Copy, E> Send for Owned<T, E> {}

impl<T: Copy, E> Owned<T, E> {
    /// # Safety
    /// `object` is valid, of the kind that `release` releases, and belongs to the caller. It may be used and released on
    /// any thread.
    pub(super) unsafe fn new(object: T, release: unsafe fn(T) -> Result<(), E>) -> Self {
        Self { object, release }
    }

    /// The object, valid while `self` lives.
    pub(super) fn get(&self) -> T {
        self.object
    }
}

impl<T: Copy, E> Drop for Owned<T, E> {
    fn drop(&mut self) {
        // SAFETY: by `new`, the object is ours and of this kind. A failure means that the device is lost: nothing is left
        // to do.
        let _ = unsafe { (self.release)(self.object) };
    }
}
