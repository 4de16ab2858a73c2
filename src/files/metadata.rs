//! When the processes that write a file together meet on their own account.
//!
//! HDF5 counts what each process changes in the structure of a shared file, the same on all, and lets all meet as soon as
//! that is more than a threshold. In 1.10 the meeting can begin with a look at the index of chunks, and those looks differ
//! from process to process: one waits in the meeting, the others in the next call that all take part in, for ever. So the
//! threshold is set out of reach, and who writes brings what has changed to the file before it is reached: that starts the
//! count anew, and all processes do it together.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::OnceLock;

use hdf5_metno_sys::h5ac::{H5AC__CURR_CACHE_CONFIG_VERSION, H5AC_cache_config_t};
use hdf5_metno_sys::h5f::{H5F_OBJ_ALL, H5F_OBJ_FILE, H5Fget_mdc_config, H5Fget_obj_ids, H5Fset_mdc_config};

use super::cause::of_netcdf;

/// The largest threshold that HDF5 accepts: a quarter of the largest cache (`H5ACpublic.h`, `H5Cprivate.h`).
const THRESHOLD_BYTES: usize = 32 << 20;

/// Chunks that may be added to a shared file before what has changed is brought to it. Each changes about 150 bytes: two
/// times a key of up to six numbers and an address, in an index that is at least half full.
pub const CHUNKS_BETWEEN_FLUSHES: usize = 64 << 10;

type ObjectIds = unsafe extern "C" fn(i64, c_uint, usize, *mut i64) -> isize;
type Config = unsafe extern "C" fn(i64, *mut H5AC_cache_config_t) -> c_int;

/// What is called of the HDF5 that the NetCDF library uses.
#[derive(Clone, Copy)]
struct Functions {
    files: ObjectIds,
    get: Config,
    set: Config,
}

fn functions() -> Functions {
    static FOUND: OnceLock<Functions> = OnceLock::new();
    *FOUND.get_or_init(|| {
        #[cfg(unix)]
        if let (Some(files), Some(get), Some(set)) =
            (of_netcdf(c"H5Fget_obj_ids"), of_netcdf(c"H5Fget_mdc_config"), of_netcdf(c"H5Fset_mdc_config"))
        {
            // SAFETY: functions of these names have these signatures in every HDF5 from 1.10 on.
            return unsafe {
                Functions {
                    files: std::mem::transmute::<*mut c_void, ObjectIds>(files),
                    get: std::mem::transmute::<*mut c_void, Config>(get),
                    set: std::mem::transmute::<*mut c_void, Config>(set),
                }
            };
        }
        Functions { files: H5Fget_obj_ids, get: H5Fget_mdc_config, set: H5Fset_mdc_config }
    })
}

/// Sets the threshold of every open file out of reach. A library that refuses keeps its own.
pub fn meet_only_when_flushed() {
    let _guard = netcdf_sys::libnetcdf_lock.lock();
    let Functions { files, get, set } = functions();
    let mut ids = [0_i64; 64];
    // SAFETY: room for as many numbers as it is told; the library's lock is held.
    let found = unsafe { files(i64::from(H5F_OBJ_ALL), H5F_OBJ_FILE, ids.len(), ids.as_mut_ptr()) };
    for id in &ids[..usize::try_from(found).unwrap_or(0).min(ids.len())] {
        let mut config = H5AC_cache_config_t { version: H5AC__CURR_CACHE_CONFIG_VERSION, ..Default::default() };
        // SAFETY: an open file and a structure of the version that it names; the library's lock is held.
        unsafe {
            if get(*id, &mut config) >= 0 {
                config.dirty_bytes_threshold = THRESHOLD_BYTES as _;
                set(*id, &mut config);
            }
        }
    }
}
