//! Ownership of OpenCL objects.

use std::ffi::c_void;

/// Releases an object of one kind.
pub(super) type Release = unsafe fn(*mut c_void) -> Result<(), i32>;

/// An OpenCL object, released when dropped.
pub(super) struct Owned {
    object: *mut c_void,
    release: Release,
}

// SAFETY: OpenCL objects belong to no thread, and all calls are thread-safe but the setting of kernel arguments, for
// which the device is borrowed exclusively.
unsafe impl Send for Owned {}

impl Owned {
    /// # Safety
    /// `object` is valid, of the kind that `release` releases, and its reference belongs to the caller.
    pub(super) unsafe fn new(object: *mut c_void, release: Release) -> Self {
        Self { object, release }
    }

    /// The object, valid while `self` lives.
    pub(super) fn get(&self) -> *mut c_void {
        self.object
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: by `new`, the reference is ours and of this kind. A failure means that the device is lost: nothing is
        // left to do.
        let _ = unsafe { (self.release)(self.object) };
    }
}
