//! Where the levels of a file lie.

use super::super::VerticalOrder;
use super::{FieldProblem, help, refuse};
use crate::gridded::{GriddedFile, GriddedVariable};

/// Pressure a + b·ps at a level, Pa.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hybrid {
    pub(super) a: f64,
    pub(super) b: f64,
}

impl Hybrid {
    pub(super) fn at(self, surface_pressure: f64) -> f64 {
        self.a + self.b * surface_pressure
    }
}

/// The levels of a field; lists run from the top down.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Levels {
    /// They are those of the run, in this order.
    Model(VerticalOrder),
    /// They have pressures of their own.
    Own {
        /// Middles of the layers.
        mids: Vec<Hybrid>,
        /// Their interfaces, if the file tells them.
        interfaces: Option<Vec<Hybrid>>,
        /// Order of the file.
        order: VerticalOrder,
    },
}

/// Pairs of coefficients, by their number at interfaces or at the middles of layers.
const COEFFICIENTS: [[&str; 2]; 5] =
    [["ap", "bp"], ["hyai", "hybi"], ["hyam", "hybm"], ["ak", "bk"], ["a_half", "b_half"]];

/// Surface pressure at which the order of levels is found, Pa.
const REFERENCE: f64 = 101_325.0;

/// Pressures between which the lowest level of a field must lie there, Pa: units would be wrong elsewhere.
const LOWEST: std::ops::RangeInclusive<f64> = 1e4..=1.3e5;

impl Levels {
    /// The levels of `variable`. Without pressures they are taken as those of the run, if their order is `given`.
    pub(super) fn of(
        file: &GriddedFile,
        variable: &GriddedVariable<'_>,
        given: Option<VerticalOrder>,
    ) -> Result<Self, FieldProblem> {
        let count = variable.levels();
        let (mut mids, mut interfaces, mut other) = (None, None, None);
        for [a, b] in COEFFICIENTS {
            if !(file.has(a) && file.has(b)) {
                continue;
            }
            let found = coefficients(file, a, b)?;
            match found.len() {
                n if n == count => mids = mids.or(Some(found)),
                n if n == count + 1 => interfaces = interfaces.or(Some(found)),
                n => other = other.or(Some((a, b, n))),
            }
        }
        if mids.is_none() && interfaces.is_none() {
            mids = pressures(file, variable)?;
        }
        if mids.is_none()
            && let Some(edges) = &interfaces
        {
            let mean = |pair: &[Hybrid]| Hybrid { a: 0.5 * (pair[0].a + pair[1].a), b: 0.5 * (pair[0].b + pair[1].b) };
            mids = Some(edges.windows(2).map(mean).collect());
        }
        let Some(mids) = mids else {
            if let Some((a, b, n)) = other {
                let name = variable.name();
                return refuse(
                    format!("'{a}' and '{b}' have {n} values for {count} levels of '{name}'"),
                    "give one value per level, or one more for interfaces",
                );
            }
            let told = given.map(Self::Model);
            return told.ok_or_else(|| FieldProblem {
                problem: format!("'{}' has levels whose pressures and order are not told", variable.name()),
                help: "give pressures of the levels in the file, or `vertical_order` if they are those of the run",
            });
        };
        if given.is_some() {
            return refuse(
                format!("the levels of '{}' have pressures, so that `vertical_order` has no meaning", variable.name()),
                "remove it",
            );
        }
        Self::ordered(variable.name(), mids, interfaces)
    }

    /// Levels from the top down, whatever the order of the lists.
    fn ordered(name: &str, mut mids: Vec<Hybrid>, mut interfaces: Option<Vec<Hybrid>>) -> Result<Self, FieldProblem> {
        let surface_first = |list: &[Hybrid]| list[0].at(REFERENCE) > list[list.len() - 1].at(REFERENCE);
        let order = match mids.len() {
            1 => VerticalOrder::TopFirst,
            _ if surface_first(&mids) => VerticalOrder::SurfaceFirst,
            _ => VerticalOrder::TopFirst,
        };
        if order == VerticalOrder::SurfaceFirst {
            mids.reverse();
        }
        // Coefficients of interfaces may run the other way.
        if let Some(edges) = interfaces.as_mut().filter(|edges| surface_first(edges)) {
            edges.reverse();
        }
        for (what, list) in [("level", Some(&mids)), ("interface", interfaces.as_ref())] {
            let pressures: Vec<f64> = list.into_iter().flatten().map(|h| h.at(REFERENCE)).collect();
            if let Some(k) = (1..pressures.len()).find(|&k| pressures[k] <= pressures[k - 1]) {
                let (above, here) = (pressures[k - 1], pressures[k]);
                let text = format!("pressure of '{name}' does not grow downwards: {above} Pa and {here} Pa at {what}s");
                return refuse(format!("{text} {k} and {} from the top", k + 1), help::COEFFICIENTS);
            }
        }
        let (first, last) = (mids[0].at(REFERENCE), mids[mids.len() - 1].at(REFERENCE));
        if first <= 0.0 || !LOWEST.contains(&last) {
            let text = format!("levels of '{name}' lie between {first} and {last} Pa");
            return refuse(text, "mend the units of the coefficients or of the level coordinate, Pa or hPa");
        }
        Ok(Self::Own { mids, interfaces, order })
    }

    /// Positions of the file's levels from the top down.
    pub(super) fn order(&self, count: usize) -> Vec<usize> {
        let (Self::Model(order) | Self::Own { order, .. }) = self;
        match order {
            VerticalOrder::TopFirst => (0..count).collect(),
            VerticalOrder::SurfaceFirst => (0..count).rev().collect(),
        }
    }

    /// Whether the interfaces are known.
    pub(super) fn has_interfaces(&self) -> bool {
        matches!(self, Self::Own { interfaces: Some(_), .. })
    }

    /// Whether pressures depend on that of the surface.
    pub(super) fn rests_on_surface(&self) -> bool {
        matches!(self, Self::Own { mids, interfaces, .. }
            if mids.iter().chain(interfaces.iter().flatten()).any(|level| level.b != 0.0))
    }
}

/// Coefficients of a pair of variables, `a` in Pa.
fn coefficients(file: &GriddedFile, a: &str, b: &str) -> Result<Vec<Hybrid>, FieldProblem> {
    let (first, second) = (file.values(a)?, file.values(b)?);
    if first.len() != second.len() {
        let (n, m) = (first.len(), second.len());
        return refuse(format!("'{a}' has {n} values, '{b}' {m}"), "give one pair of coefficients per level");
    }
    let units = file.text(a, "units").filter(|units| !["", "1", "none", "unitless"].contains(&units.trim()));
    let factor = match units {
        // CESM stores the part of the reference pressure.
        None if file.has("P0") && a.starts_with("hya") => {
            let reference = file.values("P0")?;
            let Some(reference) = reference.first() else {
                return refuse("'P0' has no value".into(), "give the reference pressure of the coefficients");
            };
            reference * pressure_factor("P0", file.text("P0", "units").as_deref())?
        }
        units => pressure_factor(a, units.as_deref())?,
    };
    Ok(first.iter().zip(&second).map(|(a, b)| Hybrid { a: a * factor, b: *b }).collect())
}

/// Levels at fixed pressures, from a coordinate in units of pressure.
fn pressures(file: &GriddedFile, variable: &GriddedVariable<'_>) -> Result<Option<Vec<Hybrid>>, FieldProblem> {
    let Some(axis) = variable.level_axis() else { return Ok(None) };
    let Some(factor) = file.text(axis, "units").and_then(|units| pressure_factor(axis, Some(&units)).ok()) else {
        return Ok(None);
    };
    let found: Vec<Hybrid> = file.values(axis)?.iter().map(|p| Hybrid { a: p * factor, b: 0.0 }).collect();
    Ok((found.len() == variable.levels()).then_some(found))
}

/// Factor from units of pressure to Pa; without units, values are in Pa.
pub(super) fn pressure_factor(name: &str, units: Option<&str>) -> Result<f64, FieldProblem> {
    match units.unwrap_or("").trim().to_ascii_lowercase().as_str() {
        "" | "pa" | "pascal" | "pascals" => Ok(1.0),
        "hpa" | "mb" | "mbar" | "millibar" | "millibars" => Ok(100.0),
        other => refuse(format!("'{name}' has units '{other}', expected Pa or hPa"), "mend its units"),
    }
}
