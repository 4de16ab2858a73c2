//! One variable.

use std::ops::Range;

use super::names::{Role, check_degrees, role_by_attributes};
use super::stored::{Packing, sizes, text};
use super::{AxisNames, GriddedError, GriddedFile};
use crate::regrid::LatLonAxes;

/// What to do with values that are missing: `_FillValue`, `missing_value`, NaN, or outside the valid range of the variable.
/// Infinite ones are always an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// They are an error.
    Refuse,
    /// They become NaN.
    AsNan,
}

/// A field on a longitude-latitude grid, with or without levels and times, dimensions in any order.
#[derive(Debug)]
pub struct GriddedVariable<'a> {
    file: &'a GriddedFile,
    name: String,
    variable: netcdf::Variable<'a>,
    axes: LatLonAxes,
    /// Parts played by the dimensions, in their order.
    roles: Vec<Role>,
    sizes: Vec<usize>,
    packing: Packing,
    /// Coordinate variables of the dimensions.
    coordinates: Vec<Option<String>>,
}

impl<'a> GriddedVariable<'a> {
    pub(super) fn find(file: &'a GriddedFile, name: &str, names: &AxisNames) -> Result<Self, GriddedError> {
        let variable = file.found(name)?;
        let (sizes, packing) = (sizes(&variable), file.packing(&variable)?);
        let (roles, coordinates) = parts(file, name, &variable, names)?;
        let axis = |role: Role| {
            let axis = roles.iter().position(|r| *r == role).and_then(|at| coordinates[at].clone());
            let lacks = || GriddedError::Dimensions {
                file: file.path().into(),
                variable: name.into(),
                problem: format!("has no {}; its dimensions are ({})", role.words(), dimensions(&variable).join(", ")),
            };
            let axis = axis.ok_or_else(lacks)?;
            check_degrees(role, file.text(&axis, "units").as_deref())
                .map_err(|problem| axis_error(file, &axis, problem))?;
            let values = file.values(&axis)?;
            check_axis(role, &values).map_err(|problem| axis_error(file, &axis, problem))?;
            Ok((axis, values))
        };
        let ((lon_name, lon), (lat_name, lat)) = (axis(Role::Lon)?, axis(Role::Lat)?);
        let axes = LatLonAxes::from_centres(&lon, &lat)
            .map_err(|e| axis_error(file, &format!("{lon_name}, {lat_name}"), e.to_string()))?;
        Ok(Self { file, name: name.into(), variable, axes, roles, sizes, packing, coordinates })
    }

    /// Name in the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Longitudes and latitudes.
    pub fn axes(&self) -> &LatLonAxes {
        &self.axes
    }

    /// Levels; 1 without a dimension of levels.
    pub fn levels(&self) -> usize {
        self.size(Role::Level).unwrap_or(1)
    }

    /// Records; 1 without a dimension of times.
    pub fn times(&self) -> usize {
        self.size(Role::Time).unwrap_or(1)
    }

    /// Whether it has a dimension of times.
    pub fn has_times(&self) -> bool {
        self.size(Role::Time).is_some()
    }

    /// Name of the coordinate variable of the times.
    pub fn time_axis(&self) -> Option<&str> {
        self.coordinate(Role::Time)
    }

    /// Name of the coordinate variable of the levels.
    pub fn level_axis(&self) -> Option<&str> {
        self.coordinate(Role::Level)
    }

    /// Its units.
    pub fn units(&self) -> Option<String> {
        text(&self.variable, "units")
    }

    fn size(&self, role: Role) -> Option<usize> {
        Some(self.sizes[self.roles.iter().position(|r| *r == role)?])
    }

    fn coordinate(&self, role: Role) -> Option<&str> {
        self.coordinates[self.roles.iter().position(|r| *r == role)?].as_deref()
    }

    /// Levels `levels` of record `time` (both from 0): `[level][lat][lon]` from south to north and from the western edge
    /// of [`GriddedVariable::axes`] eastwards. Levels keep the order of the file.
    ///
    /// # Errors
    /// [`GriddedError::Index`], [`GriddedError::File`]; [`GriddedError::Value`] for infinite values, and for missing ones if
    /// those are refused.
    pub fn read(&self, time: usize, levels: Range<usize>, missing: Missing) -> Result<Vec<f64>, GriddedError> {
        for (axis, index, count) in [("time", time + 1, self.times()), ("level", levels.end, self.levels())] {
            if index > count || index == 0 {
                let (file, variable) = (self.file.path().into(), self.name.clone());
                return Err(GriddedError::Index { file, variable, axis, index, count });
            }
        }
        let ranges = self.roles.iter().zip(&self.sizes).map(|(role, size)| match role {
            Role::Time => time..time + 1,
            Role::Level => levels.clone(),
            Role::Lat | Role::Lon | Role::Single => 0..*size,
        });
        let ranges: Vec<Range<usize>> = ranges.collect();
        let extents: Vec<netcdf::Extent> = ranges.iter().cloned().map(Into::into).collect();
        let unreadable = |e: netcdf::Error| self.file.unreadable(&self.name, &e.to_string());
        let mut stored = self.variable.get_values::<f64, _>(extents).map_err(unreadable)?;
        match missing {
            Missing::AsNan => self.packing.unpack_all(&mut stored),
            Missing::Refuse => self.packing.unpack(&mut stored),
        }
        .map_err(|found| GriddedError::value(self.file.path(), &self.name, &self.place(found.at, &ranges), found))?;
        Ok(self.ordered(&stored, &ranges))
    }

    /// Where value `n` of a block lies in the file, from 1.
    fn place(&self, n: usize, ranges: &[Range<usize>]) -> String {
        let mut rest = n;
        let mut parts: Vec<String> = Vec::new();
        for (role, range) in self.roles.iter().zip(ranges).rev() {
            let index = range.start + rest % range.len() + 1;
            rest /= range.len();
            if *role != Role::Single {
                parts.push(format!("{} {index}", role.words()));
            }
        }
        parts.reverse();
        parts.join(", ")
    }

    /// A block of the file as `[level][lat][lon]`.
    fn ordered(&self, stored: &[f64], ranges: &[Range<usize>]) -> Vec<f64> {
        // Length and stride of what plays a part; an absent dimension has length 1.
        let stride = |role: Role| {
            let Some(at) = self.roles.iter().position(|r| *r == role) else { return (1, 0) };
            (ranges[at].len(), ranges[at + 1..].iter().map(Range::len).product())
        };
        let ((levels, dk), (nlat, dj), (nlon, di)) = (stride(Role::Level), stride(Role::Lat), stride(Role::Lon));
        let mut all = Vec::with_capacity(stored.len());
        let (mut slice, mut turned) = (Vec::with_capacity(nlat * nlon), Vec::new());
        for k in 0..levels {
            slice.clear();
            slice.extend((0..nlat).flat_map(|j| (0..nlon).map(move |i| stored[k * dk + j * dj + i * di])));
            turned.clear();
            self.axes.reorder(&slice, &mut turned);
            all.append(&mut turned);
        }
        all
    }
}

fn dimensions(variable: &netcdf::Variable<'_>) -> Vec<String> {
    variable.dimensions().iter().map(netcdf::Dimension::name).collect()
}

/// Parts played by the dimensions of a variable, and their coordinate variables.
fn parts(
    file: &GriddedFile,
    name: &str,
    variable: &netcdf::Variable<'_>,
    names: &AxisNames,
) -> Result<(Vec<Role>, Vec<Option<String>>), GriddedError> {
    let around = file.around(name);
    let all = dimensions(variable);
    let refuse = |problem| Err(GriddedError::Dimensions { file: file.path().into(), variable: name.into(), problem });
    let (mut roles, mut coordinates) = (Vec::with_capacity(all.len()), Vec::with_capacity(all.len()));
    for (dimension, size) in all.iter().zip(sizes(variable)) {
        let coordinate = coordinate(&around, dimension, names);
        let by_name = || names.role(stem(coordinate?.0));
        let by_attributes = || role_by_attributes(|key| text(coordinate?.1, key));
        match names.role(dimension).or_else(by_name).or_else(by_attributes) {
            None if size == 1 => roles.push(Role::Single),
            None => {
                return refuse(format!("has the dimension '{dimension}' of length {size}, whose meaning is not known"));
            }
            Some(role) if roles.contains(&role) => {
                return refuse(format!("has two dimensions of {}: ({})", role.words(), all.join(", ")));
            }
            Some(role) => roles.push(role),
        }
        coordinates.push(coordinate.map(|(name, _)| name.to_owned()));
    }
    Ok((roles, coordinates))
}

/// A name without its groups.
fn stem(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn axis_error(file: &GriddedFile, axis: &str, problem: String) -> GriddedError {
    GriddedError::Axis { file: file.path().into(), axis: axis.into(), problem }
}

/// The coordinate variable of a dimension: of its name, or the only one along it that has a name of an axis.
fn coordinate<'v>(
    around: &'v [(String, netcdf::Variable<'_>)],
    dimension: &str,
    names: &AxisNames,
) -> Option<(&'v str, &'v netcdf::Variable<'v>)> {
    let along = |v: &netcdf::Variable<'_>| matches!(v.dimensions(), [one] if one.name() == dimension);
    let mut lines = around.iter().filter(|(_, v)| along(v));
    let own = lines.clone().find(|(name, _)| stem(name) == dimension);
    own.or_else(|| lines.find(|(name, _)| names.role(stem(name)).is_some())).map(|(name, v)| (name.as_str(), v))
}

/// Refuses coordinates that do not go one way (longitudes: once around at most); the error text names the first.
fn check_axis(role: Role, centres: &[f64]) -> Result<(), String> {
    let largest = if role == Role::Lat { 90.0 + 1e-6 } else { 720.0 };
    if let Some(n) = centres.iter().position(|c| c.abs() > largest) {
        return Err(format!(
            "is {} degrees at {}, beyond {largest:.0}; check that it holds degrees",
            centres[n],
            n + 1
        ));
    }
    // A step of more than half a turn leads across the place where longitudes start anew.
    let mut steps = centres.windows(2).map(|pair| pair[1] - pair[0]);
    let westwards = steps.find(|d| *d != 0.0 && d.abs() < 180.0).is_some_and(|d| d < 0.0);
    let mut turns = 0;
    for n in 1..centres.len() {
        let step = centres[n] - centres[n - 1];
        let onwards = if westwards { -step } else { step };
        if role == Role::Lon && onwards < -180.0 && turns == 0 {
            turns = 1;
        } else if onwards <= 0.0 {
            let (this, before) = (centres[n], centres[n - 1]);
            let (here, reorder) = (n + 1, "put it in order with its fields, and leave out what is there twice");
            return Err(format!("does not go one way: value {here} is {this}, the one before it {before}; {reorder}"));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "variable_tests.rs"]
mod tests;
