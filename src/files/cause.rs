//! What the system said when the NetCDF library failed: its own text is "HDF error" whatever happened.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;

use hdf5_metno_sys::h5e::{
    H5E_DEFAULT, H5E_auto2_t, H5E_direction_t, H5E_error2_t, H5E_walk2_t, H5Eset_auto2, H5Ewalk2,
};

type SetHandler = unsafe extern "C" fn(i64, H5E_auto2_t, *mut c_void) -> c_int;
type Walk = unsafe extern "C" fn(i64, H5E_direction_t, H5E_walk2_t, *mut c_void) -> c_int;

thread_local! {
    /// Error number that HDF5 met last on this thread; 0: none.
    static MET: Cell<i32> = const { Cell::new(0) };
}

/// The functions of the HDF5 that the NetCDF library uses, which need not be the one that the program was linked with.
fn functions() -> (SetHandler, Walk) {
    static FOUND: OnceLock<(SetHandler, Walk)> = OnceLock::new();
    *FOUND.get_or_init(|| {
        #[cfg(unix)]
        if let (Some(set), Some(walk)) = (of_netcdf(c"H5Eset_auto2"), of_netcdf(c"H5Ewalk2")) {
            // SAFETY: functions of these names have these signatures in every HDF5 from 1.10 on.
            return unsafe {
                (std::mem::transmute::<*mut c_void, SetHandler>(set), std::mem::transmute::<*mut c_void, Walk>(walk))
            };
        }
        (H5Eset_auto2, H5Ewalk2)
    })
}

/// A symbol among those that the NetCDF library sees; `None` if it is a part of the program.
#[cfg(unix)]
pub(super) fn of_netcdf(name: &CStr) -> Option<*mut c_void> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: asks where a function of the library lies; the structure is filled on success.
    let known = unsafe { libc::dladdr(netcdf_sys::nc_strerror as *const c_void, &mut info) } != 0;
    if !known || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the path that the loader has just named; the library is loaded and stays so.
    let library = unsafe { libc::dlopen(info.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if library.is_null() {
        return None;
    }
    // SAFETY: looks up a name in a loaded library and those it needs.
    let symbol = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!symbol.is_null()).then_some(symbol)
}

/// From now on what HDF5 meets on this thread is remembered, and not printed. To be called after the first use of the
/// NetCDF library, which sets a handler of its own.
pub fn listen() {
    let _guard = netcdf_sys::libnetcdf_lock.lock();
    // SAFETY: sets the handler of this thread's default error stack; the library's lock is held.
    unsafe { functions().0(H5E_DEFAULT, Some(on_error), std::ptr::null_mut()) };
}

unsafe extern "C" fn on_error(stack: i64, _: *mut c_void) -> c_int {
    // SAFETY: the stack is the one that HDF5 hands over; the callback only reads.
    unsafe { functions().1(stack, H5E_direction_t::H5E_WALK_UPWARD, Some(remember), std::ptr::null_mut()) };
    0
}

unsafe extern "C" fn remember(_: c_uint, error: *const H5E_error2_t, _: *mut c_void) -> c_int {
    // SAFETY: HDF5 passes a valid entry of its stack for the time of the call.
    let text = unsafe { error.as_ref() }.map(|error| error.desc).filter(|text| !text.is_null());
    // SAFETY: a text of HDF5 ends with zero.
    if let Some(number) = text.and_then(|text| error_number(&unsafe { CStr::from_ptr(text) }.to_string_lossy())) {
        MET.set(number);
    }
    0
}

/// The number in a text such as "file write failed: …, errno = 28, error message = 'No space left on device', …".
fn error_number(text: &str) -> Option<i32> {
    let (_, rest) = text.split_once("errno = ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|n| *n != 0)
}

/// Runs what the library does with the file at `path`; an error begins with the reason of the system, where there is one:
/// what HDF5 met, or else what the system says when more is written to the file, which is of no use any more.
///
/// # Errors
/// Those of `action`.
pub fn told<T>(path: &Path, action: impl FnOnce() -> Result<T, netcdf::Error>) -> Result<T, netcdf::Error> {
    MET.set(0);
    action().map_err(|error| {
        let met = Some(MET.take()).filter(|n| *n != 0).map(io::Error::from_raw_os_error);
        match met.or_else(|| refusal(path)) {
            Some(reason) => netcdf::Error::Str(format!("{reason} ({error})")),
            None => error,
        }
    })
}

/// Why the system takes no more of a file, if it does not.
fn refusal(path: &Path) -> Option<io::Error> {
    let file = OpenOptions::new().append(true).open(path);
    file.and_then(|mut file| file.write_all(&[0; 1 << 16]).and_then(|()| file.sync_data())).err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_found_in_the_text_of_hdf5() {
        let text =
            "file write failed: time = Mon, filename = 'a.nc', file descriptor = 5, errno = 28, error message = 'x'";
        assert_eq!(error_number(text), Some(28));
        for text in ["can't write", "errno = 0, error", "errno = "] {
            assert_eq!(error_number(text), None);
        }
    }

    #[test]
    fn reasons_of_the_system_come_first() {
        let fail = || Err::<(), _>(netcdf::Error::Str("HDF error".into()));
        let absent = told(Path::new("absent/a.nc"), fail).unwrap_err().to_string();
        assert!(absent.contains("No such file") && absent.contains("(HDF error)"), "{absent}");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.nc");
        std::fs::write(&path, "x").unwrap();
        assert_eq!(told(&path, fail).unwrap_err().to_string(), netcdf::Error::Str("HDF error".into()).to_string());
    }
}
