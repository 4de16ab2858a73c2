//! Messages that are written, for synthetic archives.

use std::ffi::CString;
use std::ptr::NonNull;

use eccodes_sys::codes_handle;

use super::codes::{CodesError, check, library};

/// A message in the making: a sample of ecCodes with keys set one after the other. Errors are the key and ecCodes'
/// reason in words.
#[derive(Debug)]
pub struct Draft {
    handle: NonNull<codes_handle>,
}

fn words(error: CodesError) -> String {
    format!("{}: {}", error.key, error.reason)
}

fn c_text(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| format!("{text:?} has a zero byte"))
}

impl Draft {
    /// A sample by its name, such as `sh_ml_grib2`.
    ///
    /// # Errors
    /// If ecCodes has no such sample.
    pub fn from_sample(name: &str) -> Result<Self, String> {
        let c_name = c_text(name)?;
        let _library = library();
        // SAFETY: the default context, and a name that ends with a zero byte.
        let handle = unsafe { eccodes_sys::codes_grib_handle_new_from_samples(std::ptr::null_mut(), c_name.as_ptr()) };
        NonNull::new(handle).map(|handle| Self { handle }).ok_or_else(|| format!("ecCodes has no sample {name}"))
    }

    /// Sets an integer key.
    ///
    /// # Errors
    /// If ecCodes refuses the key or the value; so for all keys.
    pub fn long(self, key: &str, value: i64) -> Result<Self, String> {
        let key = c_text(key)?;
        let library = library();
        // SAFETY: the handle is valid, the key ends with a zero byte.
        let code = unsafe { eccodes_sys::codes_set_long(self.handle.as_ptr(), key.as_ptr(), value as _) };
        drop(library);
        check(&key, code).map_err(words)?;
        Ok(self)
    }

    /// Sets a key that is a number with a fraction.
    ///
    /// # Errors
    /// As [`long`](Self::long).
    pub fn double(self, key: &str, value: f64) -> Result<Self, String> {
        let key = c_text(key)?;
        let library = library();
        // SAFETY: as for `long`.
        let code = unsafe { eccodes_sys::codes_set_double(self.handle.as_ptr(), key.as_ptr(), value) };
        drop(library);
        check(&key, code).map_err(words)?;
        Ok(self)
    }

    /// Sets a key that is a text.
    ///
    /// # Errors
    /// As [`long`](Self::long).
    pub fn text(self, key: &str, value: &str) -> Result<Self, String> {
        let (key, value) = (c_text(key)?, c_text(value)?);
        let mut length = value.as_bytes().len();
        let library = library();
        // SAFETY: as for `long`; the length is that of the text.
        let code =
            unsafe { eccodes_sys::codes_set_string(self.handle.as_ptr(), key.as_ptr(), value.as_ptr(), &mut length) };
        drop(library);
        check(&key, code).map_err(words)?;
        Ok(self)
    }

    /// Sets a list of integers.
    ///
    /// # Errors
    /// As [`long`](Self::long).
    pub fn longs(self, key: &str, values: &[i64]) -> Result<Self, String> {
        let key = c_text(key)?;
        let values: Vec<std::ffi::c_long> = values.iter().map(|value| *value as _).collect();
        let library = library();
        // SAFETY: as for `long`; pointer and length are those of a slice.
        let code = unsafe {
            eccodes_sys::codes_set_long_array(self.handle.as_ptr(), key.as_ptr(), values.as_ptr(), values.len())
        };
        drop(library);
        check(&key, code).map_err(words)?;
        Ok(self)
    }

    /// Sets a list of numbers, such as `values` or `pv`.
    ///
    /// # Errors
    /// As [`long`](Self::long).
    pub fn doubles(self, key: &str, values: &[f64]) -> Result<Self, String> {
        let key = c_text(key)?;
        let library = library();
        // SAFETY: as for `longs`.
        let code = unsafe {
            eccodes_sys::codes_set_double_array(self.handle.as_ptr(), key.as_ptr(), values.as_ptr(), values.len())
        };
        drop(library);
        check(&key, code).map_err(words)?;
        Ok(self)
    }

    /// The message as it stands.
    ///
    /// # Errors
    /// If ecCodes cannot give it.
    pub fn bytes(&self) -> Result<Vec<u8>, String> {
        let _library = library();
        let (mut start, mut length) = (std::ptr::null(), 0);
        // SAFETY: both are written on success.
        let code = unsafe { eccodes_sys::codes_get_message(self.handle.as_ptr(), &mut start, &mut length) };
        check(c"message", code).map_err(words)?;
        // SAFETY: ecCodes gives the place and length of its own copy, which lives as long as the handle.
        Ok(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) }.to_vec())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _library = library();
        // SAFETY: the handle is deleted once.
        unsafe { eccodes_sys::codes_handle_delete(self.handle.as_ptr()) };
    }
}
