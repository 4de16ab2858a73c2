//! Calls of ecCodes.

use std::ffi::{CStr, c_char, c_int};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use eccodes_sys::{codes_context, codes_handle};

/// What ecCodes answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CodesError {
    /// Key asked for or set.
    pub(super) key: String,
    /// Reason in ecCodes' words.
    pub(super) reason: String,
}

/// One call at a time: builds of ecCodes differ in whether its tables may be used by several threads.
pub(super) fn library() -> MutexGuard<'static, ()> {
    static LIBRARY: Mutex<()> = Mutex::new(());
    static QUIET: Once = Once::new();
    let guard = LIBRARY.lock().unwrap_or_else(PoisonError::into_inner);
    QUIET.call_once(|| {
        // SAFETY: the default context lives as long as the process; the function ignores its arguments.
        unsafe {
            eccodes_sys::codes_context_set_logging_proc(eccodes_sys::codes_context_get_default(), Some(say_nothing))
        }
    });
    guard
}

/// Errors are returned; ecCodes need not print them as well.
unsafe extern "C" fn say_nothing(_: *const codes_context, _: c_int, _: *const c_char) {}

pub(super) fn check(key: &CStr, code: c_int) -> Result<(), CodesError> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: ecCodes returns a text of its own for every code.
    let reason = unsafe { CStr::from_ptr(eccodes_sys::codes_get_error_message(code)) };
    Err(CodesError { key: key.to_string_lossy().into(), reason: reason.to_string_lossy().into() })
}

/// A message in memory.
#[derive(Debug)]
pub(super) struct Message<'a> {
    handle: NonNull<codes_handle>,
    /// The handle points into these bytes.
    bytes: PhantomData<&'a [u8]>,
}

impl<'a> Message<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, CodesError> {
        let _library = library();
        // SAFETY: pointer and length are those of a slice that outlives the handle; ecCodes does not write to it.
        let handle = unsafe {
            eccodes_sys::codes_handle_new_from_message(std::ptr::null_mut(), bytes.as_ptr().cast(), bytes.len())
        };
        match NonNull::new(handle) {
            Some(handle) => Ok(Self { handle, bytes: PhantomData }),
            None => Err(CodesError { key: "GRIB".into(), reason: "the message is damaged".into() }),
        }
    }

    pub(super) fn long(&self, key: &CStr) -> Result<i64, CodesError> {
        let _library = library();
        let mut value = 0;
        // SAFETY: the handle is valid, the key ends with a zero byte, the value is written on success.
        check(key, unsafe { eccodes_sys::codes_get_long(self.handle.as_ptr(), key.as_ptr(), &mut value) })?;
        #[allow(clippy::useless_conversion)]
        Ok(value.into())
    }

    pub(super) fn double(&self, key: &CStr) -> Result<f64, CodesError> {
        let _library = library();
        let mut value = 0.0;
        // SAFETY: as for `long`.
        check(key, unsafe { eccodes_sys::codes_get_double(self.handle.as_ptr(), key.as_ptr(), &mut value) })?;
        Ok(value)
    }

    pub(super) fn text(&self, key: &CStr) -> Result<String, CodesError> {
        let _library = library();
        let mut buffer = [0u8; 256];
        let mut length = buffer.len();
        // SAFETY: ecCodes writes at most `length` bytes, with a zero byte at the end.
        check(key, unsafe {
            eccodes_sys::codes_get_string(self.handle.as_ptr(), key.as_ptr(), buffer.as_mut_ptr().cast(), &mut length)
        })?;
        let text = CStr::from_bytes_until_nul(&buffer).unwrap_or_default();
        Ok(text.to_string_lossy().into())
    }

    fn size(&self, key: &CStr) -> Result<usize, CodesError> {
        let mut size = 0;
        // SAFETY: as for `long`; callers hold the lock.
        check(key, unsafe { eccodes_sys::codes_get_size(self.handle.as_ptr(), key.as_ptr(), &mut size) })?;
        Ok(size)
    }

    pub(super) fn doubles(&self, key: &CStr) -> Result<Vec<f64>, CodesError> {
        let _library = library();
        let mut length = self.size(key)?;
        let mut values = vec![0.0; length];
        // SAFETY: ecCodes writes at most `length` values and puts their number there.
        check(key, unsafe {
            eccodes_sys::codes_get_double_array(self.handle.as_ptr(), key.as_ptr(), values.as_mut_ptr(), &mut length)
        })?;
        values.truncate(length);
        Ok(values)
    }

    pub(super) fn longs(&self, key: &CStr) -> Result<Vec<i64>, CodesError> {
        let _library = library();
        let mut length = self.size(key)?;
        let mut values = vec![0; length];
        // SAFETY: as for `doubles`.
        check(key, unsafe {
            eccodes_sys::codes_get_long_array(self.handle.as_ptr(), key.as_ptr(), values.as_mut_ptr(), &mut length)
        })?;
        values.truncate(length);
        #[allow(clippy::useless_conversion)]
        Ok(values.into_iter().map(i64::from).collect())
    }
}

impl Drop for Message<'_> {
    fn drop(&mut self) {
        let _library = library();
        // SAFETY: the handle is deleted once; it fails only for handles that are none.
        unsafe { eccodes_sys::codes_handle_delete(self.handle.as_ptr()) };
    }
}
