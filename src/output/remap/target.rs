//! The file on the new grid.

use std::path::Path;

use netcdf::types::{FloatType, IntType, NcVariableType};
use netcdf::{AttributeValue, FileMut, Variable};

use super::super::channel::Values;
use super::super::error::{Context, OutputError};
use super::super::provenance::Provenance;
use super::super::schema::{Attributes, FILL, Storage};
use super::fields::{Field, Kind, as_stored, place};
use super::new_grid::{add, cell_dimensions, grid_variables, radius, write_grid};
use super::source::Source;
use super::{RegridReport, report_of};
use crate::files::staged;
use crate::regrid::{Mesh, Overlap};

/// Deflate level of the variables.
const DEFLATE: i32 = 1;

/// Writes all fields, and what needs no regridding, to `out`, which appears when it is complete.
pub(super) fn write(
    source: &Source,
    fields: &[Field],
    from: &Mesh,
    to: &Mesh,
    weights: &Overlap,
    out: &Path,
) -> Result<RegridReport, OutputError> {
    if matches!(to, Mesh::Reduced(_)) {
        let problem = format!("{to} is neither a lat-lon grid nor a cubed sphere");
        return Err(OutputError::Selection(vec![problem]));
    }
    let io = |error| OutputError::Io { path: out.to_path_buf(), source: error };
    let staged = staged(out).map_err(io)?;
    let mut report = RegridReport {
        grids: (from.to_string(), to.to_string()),
        variables: Vec::new(),
        left_out: Vec::new(),
        uncovered: 0,
    };
    let mut file = netcdf::create(staged.path()).context(out, || "create".into())?;
    define(&mut file, source, fields, to, &mut report.left_out).context(out, || "define".into())?;
    write_grid(&mut file, to, radius(from, to)).context(out, || "write the grid".into())?;
    for field in fields {
        let mapped = map_field(&mut file, source, field, weights, to, &mut report.uncovered, out)?;
        report.variables.push((field.name.clone(), mapped));
    }
    file.close().context(out, || "close".into())?;
    staged.publish(out).map_err(io)?;
    Ok(report)
}

/// Maps and writes one variable, slice by slice.
fn map_field(
    file: &mut FileMut,
    source: &Source,
    field: &Field,
    weights: &Overlap,
    to: &Mesh,
    uncovered: &mut usize,
    out: &Path,
) -> Result<super::Mapped, OutputError> {
    let slices: usize = field.lead.iter().map(|(_, length)| length).product();
    let cells = cell_dimensions(to);
    let mut mapped = vec![0.0; weights.dst_areas().len()];
    let mut first = [f64::NAN; 2];
    for n in 0..slices {
        let mut rest = n;
        let mut slice = vec![0; field.lead.len()];
        for (at, (_, length)) in field.lead.iter().enumerate().rev() {
            (slice[at], rest) = (rest % length, rest / length);
        }
        let values = source.read(field, &slice)?;
        let missing = apply(field.kind, weights, &values, &mut mapped);
        if n == 0 {
            *uncovered = (*uncovered).max(missing);
            first =
                [summary(field.kind, &values, weights.src_areas()), summary(field.kind, &mapped, weights.dst_areas())];
        }
        let start: Vec<usize> = slice.into_iter().chain(cells.iter().map(|_| 0)).collect();
        let count: Vec<usize> = field.lead.iter().map(|_| 1).chain(cells.iter().map(|c| c.1)).collect();
        check_size(source, field, &cells, (&start, &count), &mapped)?;
        mapped.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = FILL);
        let single: Vec<f32>;
        let stored = if field.storage == Storage::Double {
            Values::Double(&mapped)
        } else {
            single = mapped.iter().map(|value| *value as f32).collect();
            Values::Float(&single)
        };
        put(file, &field.name, (start, count), stored).context(out, || format!("write `{}`", field.name))?;
    }
    Ok(report_of(field.kind, first))
}

/// Refuses values of a new slice that its storage cannot hold.
fn check_size(
    source: &Source,
    field: &Field,
    cells: &[(&'static str, usize)],
    (start, count): (&[usize], &[usize]),
    mapped: &[f64],
) -> Result<(), OutputError> {
    let (precision, help) = match field.storage {
        Storage::Double => ("double", "give the variable in larger units"),
        _ => ("single", "store the variable in double precision, or in larger units"),
    };
    let fits = |value: &f64| match field.storage {
        Storage::Double => !value.is_infinite(),
        _ => !(*value as f32).is_infinite(),
    };
    let Some(at) = mapped.iter().position(|value| !fits(value)) else { return Ok(()) };
    let dims: Vec<String> =
        field.lead.iter().map(|(name, _)| name.clone()).chain(cells.iter().map(|c| c.0.to_owned())).collect();
    let (name, value, place) = (&field.name, mapped[at], place(&dims, start, count, at));
    let problem =
        format!("'{name}' becomes {value:e} at {place} of the new grid, too large for {precision} precision; {help}");
    Err(OutputError::Content { path: source.path.clone(), problem })
}

/// Maps a slice; gives the number of cells without a value.
fn apply(kind: Kind, weights: &Overlap, values: &[f64], mapped: &mut [f64]) -> usize {
    match kind {
        Kind::Mean => weights.intensive_of_known(values, mapped).uncovered,
        Kind::Amount => {
            let known: Vec<f64> = values.iter().map(|value| if value.is_nan() { 0.0 } else { *value }).collect();
            weights.extensive(&known, mapped);
            let mut without = 0;
            for (cell, value) in mapped.iter_mut().enumerate() {
                // Part of an amount is kept, wherever there is any.
                if weights.row(cell).all(|(at, _)| values[at].is_nan()) {
                    *value = f64::NAN;
                    without += 1;
                }
            }
            without
        }
    }
}

/// Mean by area, or sum, of the values that there are.
fn summary(kind: Kind, values: &[f64], areas: &[f64]) -> f64 {
    let known = || values.iter().zip(areas).filter(|(value, _)| !value.is_nan());
    match kind {
        Kind::Amount => known().map(|(value, _)| value).sum(),
        Kind::Mean => known().map(|(v, a)| v * a).sum::<f64>() / known().map(|(_, a)| a).sum::<f64>(),
    }
}

/// Dimensions, variables and attributes; copies variables without cells.
fn define(
    file: &mut FileMut,
    source: &Source,
    fields: &[Field],
    to: &Mesh,
    left_out: &mut Vec<String>,
) -> Result<(), netcdf::Error> {
    let cells = cell_dimensions(to);
    for (name, length) in &cells {
        file.add_dimension(name, *length)?;
    }
    let others = source.file.variables().filter(|v| source.place(v).is_none() && !source.describes_grid(v));
    let others: Vec<Variable> = others.collect();
    let dims = || others.iter().flat_map(|v| v.dimensions().iter().map(|d| (d.name(), d.len(), d.is_unlimited())));
    let lead = fields.iter().flat_map(|field| field.lead.clone());
    let lead = lead.map(|(name, length)| {
        let unlimited = source.file.dimension(&name).is_some_and(|dim| dim.is_unlimited());
        (name, length, unlimited)
    });
    for (name, length, unlimited) in lead.chain(dims()) {
        if file.dimension(&name).is_some() {
            continue;
        }
        if unlimited {
            file.add_unlimited_dimension(&name)?
        } else {
            file.add_dimension(&name, length)?
        };
    }
    for def in grid_variables(to) {
        add(file, &def)?;
    }
    for field in fields {
        define_field(file, field, to, &cells)?;
    }
    for variable in &others {
        if file.variable(&variable.name()).is_some() || !copy(file, variable)? {
            left_out.push(variable.name());
        }
    }
    for (key, value) in global_attributes(source, to) {
        file.add_attribute(&key, value)?;
    }
    Ok(())
}

fn define_field(
    file: &mut FileMut,
    field: &Field,
    to: &Mesh,
    cells: &[(&'static str, usize)],
) -> Result<(), netcdf::Error> {
    let dims: Vec<&str> = field.lead.iter().map(|(name, _)| name.as_str()).chain(cells.iter().map(|c| c.0)).collect();
    let kind = match field.storage {
        Storage::Double => NcVariableType::Float(FloatType::F64),
        _ => NcVariableType::Float(FloatType::F32),
    };
    let mut variable = file.add_variable_with_type(&field.name, &dims, &kind)?;
    let mut chunks = vec![1; dims.len()];
    let last = dims.len() - 2;
    (chunks[last], chunks[last + 1]) = (cells[cells.len() - 2].1, cells[cells.len() - 1].1);
    variable.set_chunking(&chunks)?;
    variable.set_compression(DEFLATE, true)?;
    match field.storage {
        Storage::Double => variable.set_fill_value(FILL)?,
        _ => variable.set_fill_value(FILL as f32)?,
    }
    for (key, value) in &field.attributes {
        variable.put_attribute(key, value.clone())?;
    }
    variable.put_attribute("missing_value", as_stored(FILL, field.storage))?;
    if matches!(to, Mesh::Cube(_)) {
        variable.put_attribute("coordinates", "lons lats")?;
        variable.put_attribute("grid_mapping", "cubed_sphere")?;
    }
    if matches!(to, Mesh::LatLon(_)) {
        variable.put_attribute("cell_measures", "area: cell_area")?;
    }
    let how = match field.kind {
        Kind::Mean => "conservative mean, first order",
        Kind::Amount => "conservative sum, first order",
    };
    variable.put_attribute("regrid_method", how)?;
    Ok(())
}

/// Copies a variable as it is; `false` if its type is not one of numbers.
fn copy(file: &mut FileMut, variable: &Variable) -> Result<bool, netcdf::Error> {
    let (name, kind) = (variable.name(), variable.vartype());
    if !matches!(kind, NcVariableType::Float(_) | NcVariableType::Int(_)) {
        return Ok(false);
    }
    let dims: Vec<String> = variable.dimensions().iter().map(netcdf::Dimension::name).collect();
    let dims: Vec<&str> = dims.iter().map(String::as_str).collect();
    let count: Vec<usize> = variable.dimensions().iter().map(netcdf::Dimension::len).collect();
    let region = (vec![0; count.len()], count.clone());
    let mut copy = file.add_variable_with_type(&name, &dims, &kind)?;
    for attribute in variable.attributes().filter(|a| a.name() != "_FillValue") {
        copy.put_attribute(attribute.name(), attribute.value()?)?;
    }
    if count.contains(&0) {
        return Ok(true);
    }
    macro_rules! values {
        ($kind:ty) => {
            copy.put_values(&variable.get_values::<$kind, _>(region.clone())?, region)?
        };
    }
    match kind {
        NcVariableType::Float(FloatType::F32) => values!(f32),
        NcVariableType::Float(FloatType::F64) => values!(f64),
        NcVariableType::Int(IntType::I8) => values!(i8),
        NcVariableType::Int(IntType::U8) => values!(u8),
        NcVariableType::Int(IntType::I16) => values!(i16),
        NcVariableType::Int(IntType::U16) => values!(u16),
        NcVariableType::Int(IntType::I32) => values!(i32),
        NcVariableType::Int(IntType::U32) => values!(u32),
        NcVariableType::Int(IntType::I64) => values!(i64),
        NcVariableType::Int(IntType::U64) => values!(u64),
        _ => {}
    }
    Ok(true)
}

/// Global attributes of the source but for those of its grid, and what was done.
fn global_attributes(source: &Source, to: &Mesh) -> Attributes {
    const REPLACED: [&str; 14] = [
        "Conventions",
        "history",
        "grid",
        "grid_type",
        "Nc",
        "output_contract",
        "output_options",
        "completed_snapshots",
        "grid_mapping_name",
        "cs_definition",
        "cs_coordinate_law",
        "cs_center_law",
        "panel_convention",
        "longitude_of_central_meridian",
    ];
    let kept = source.file.attributes().filter(|a| !REPLACED.contains(&a.name()));
    let mut list: Attributes = kept.filter_map(|a| Some((a.name().to_owned(), a.value().ok()?))).collect();
    let now = Provenance::detect();
    let step = format!("{}: regridded from {} by {}", now.created, source.mesh(), now.framework);
    let history = match source.file.attribute("history").map(|a| a.value()) {
        Some(Ok(AttributeValue::Str(before))) => format!("{step}\n{before}"),
        _ => step,
    };
    let grid_type = match to {
        Mesh::Cube(_) => "cubed_sphere",
        _ => "latlon",
    };
    let pairs = [("Conventions", "CF-1.8"), ("history", &history), ("grid", &to.to_string()), ("grid_type", grid_type)];
    list.extend(pairs.map(|(key, value)| (key.to_owned(), value.into())));
    list
}

fn put(file: &mut FileMut, name: &str, region: (Vec<usize>, Vec<usize>), values: Values) -> Result<(), netcdf::Error> {
    let Some(mut variable) = file.variable_mut(name) else { return Ok(()) };
    match values {
        Values::Double(values) => variable.put_values(values, region),
        Values::Float(values) => variable.put_values(values, region),
        Values::Int(values) => variable.put_values(values, region),
    }
}
