//! Dimensions, variables and attributes of a file that is made.

use netcdf::FileMut;
use netcdf::types::{FloatType, IntType, NcVariableType};

use super::schema::{Attributes, FILL, Storage, VariableDef};
use super::spec::Compression;

/// Writes the definitions of a file.
pub(super) fn define(
    file: &mut FileMut,
    shared: bool,
    dims: &[(&str, Option<usize>)],
    variables: &[VariableDef],
    globals: &Attributes,
    compression: Compression,
    chunk: (usize, usize),
) -> Result<(), netcdf::Error> {
    for &(name, length) in dims {
        match length {
            Some(length) => file.add_dimension(name, length)?,
            None => file.add_unlimited_dimension(name)?,
        };
    }
    for def in variables {
        let mut variable = file.add_variable_with_type(&def.name, &def.dims, &def.storage.netcdf_type())?;
        if def.field {
            let mut chunks = vec![1; def.dims.len()];
            let last = chunks.len() - 2;
            chunks[last..].copy_from_slice(&[chunk.1, chunk.0]);
            variable.set_chunking(&chunks)?;
            if compression.level > 0 {
                variable.set_compression(compression.level.into(), compression.shuffle)?;
            }
            match def.storage {
                Storage::Float => variable.set_fill_value(FILL as f32)?,
                _ => variable.set_fill_value(FILL)?,
            }
        }
        for (key, value) in &def.attributes {
            variable.put_attribute(key, value.clone())?;
        }
    }
    for (key, value) in globals {
        file.add_attribute(key, value.clone())?;
    }
    file.enddef()?;
    if shared {
        #[cfg(feature = "mpi")]
        for def in variables {
            if let Some(variable) = file.variable(&def.name) {
                variable.access_collective()?;
            }
        }
    }
    Ok(())
}

impl Storage {
    fn netcdf_type(self) -> NcVariableType {
        match self {
            Storage::Int => NcVariableType::Int(IntType::I32),
            Storage::Float => NcVariableType::Float(FloatType::F32),
            Storage::Double => NcVariableType::Float(FloatType::F64),
        }
    }
}
