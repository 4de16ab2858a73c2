//! Kernels and the kinds of their arguments.

use cl3::kernel::{self as cl, get_kernel_arg_data, get_kernel_data};
use std::ffi::CString;

use super::choice::{number, text};
use super::{Owned, words};
use crate::device::arguments::Kind;

/// A kernel of the program.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) object: Owned,
    pub(super) kinds: Vec<Kind>,
}

impl Entry {
    /// Looks a kernel up. `None`: the program does not have it.
    pub(super) fn find(program: &Owned, name: &str) -> Result<Option<Self>, String> {
        let Ok(c_name) = CString::new(name) else { return Ok(None) };
        let object = match cl::create_kernel(program.get(), &c_name) {
            Ok(object) => object,
            Err(cl3::error_codes::CL_INVALID_KERNEL_NAME) => return Ok(None),
            Err(code) => return Err(words(code)),
        };
        // SAFETY: the kernel has just been created and is nobody else's.
        let object = unsafe { Owned::new(object, cl::release_kernel) };
        let count = number(get_kernel_data(object.get(), cl::CL_KERNEL_NUM_ARGS)) as u32;
        let kinds = (0..count).map(|n| kind(&object, n)).collect::<Result<_, _>>()?;
        Ok(Some(Self { name: name.to_string(), object, kinds }))
    }
}

/// Kind of the `n`-th argument. Programs are built with this information, so that no launch can take a number for an
/// address.
fn kind(kernel: &Owned, n: u32) -> Result<Kind, String> {
    let property = |property| get_kernel_arg_data(kernel.get(), n, property);
    let space = number(Ok(property(cl::CL_KERNEL_ARG_ADDRESS_QUALIFIER).map_err(words)?)) as u32;
    let name = text(Ok(property(cl::CL_KERNEL_ARG_TYPE_NAME).map_err(words)?));
    match (space, name.as_str()) {
        (cl::CL_KERNEL_ARG_ADDRESS_GLOBAL | cl::CL_KERNEL_ARG_ADDRESS_CONSTANT, _) => Ok(Kind::Memory),
        (cl::CL_KERNEL_ARG_ADDRESS_PRIVATE, "int") => Ok(Kind::Int),
        (cl::CL_KERNEL_ARG_ADDRESS_PRIVATE, "float") => Ok(Kind::Single),
        (cl::CL_KERNEL_ARG_ADDRESS_PRIVATE, "double") => Ok(Kind::Double),
        _ => Err(format!("argument {n} is a {name}; arguments are pointers to global memory, int, float and double")),
    }
}
