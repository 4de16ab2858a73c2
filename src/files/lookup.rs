//! Variables of a file by a name that someone gives.

use netcdf::{File, Group, Variable};

/// Longest name of NetCDF (`NC_MAX_NAME`), bytes.
const LONGEST: usize = 256;

/// The variable of this name, in a group as `group/name`; `None` if the file has none, also for names that no variable can
/// have. The library itself ends the program over such names.
pub fn variable<'f>(file: &'f File, name: &str) -> Option<Variable<'f>> {
    let mut steps: Vec<&str> = name.split('/').collect();
    let stem = steps.pop()?;
    if steps.is_empty() {
        let plain = stem.is_ascii() && is_valid(stem);
        return if plain { file.variable(stem) } else { file.variables().find(|v| v.name() == stem) };
    }
    let (first, inner) = steps.split_first()?;
    let known = steps.iter().all(|step| is_valid(step))
        && file.groups().ok()?.any(|group| group.name() == *first && holds(&group, inner, stem));
    if known { file.variable(name) } else { None }
}

/// Whether there is such a variable in a group, or in the groups in it.
fn holds(group: &Group<'_>, steps: &[&str], stem: &str) -> bool {
    match steps.split_first() {
        None => group.variables().any(|v| v.name() == stem),
        Some((step, rest)) => group.groups().any(|inner| inner.name() == *step && holds(&inner, rest, stem)),
    }
}

/// Whether the library takes a name (NetCDF users guide, "Permitted Characters in NetCDF Names").
fn is_valid(name: &str) -> bool {
    let first = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || c == '_';
    name.len() <= LONGEST
        && name.starts_with(first)
        && !name.ends_with(' ')
        && !name.contains(|c: char| c.is_ascii_control() || c == '/')
}

#[cfg(test)]
#[path = "lookup_tests.rs"]
mod tests;
