//! What the dimensions of a file are called.

/// Part that a dimension plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Time,
    Level,
    Lat,
    Lon,
    /// A dimension of length 1 that says nothing.
    Single,
}

impl Role {
    /// What it is called in messages.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Role::Time => "time",
            Role::Level => "level",
            Role::Lat => "latitude",
            Role::Lon => "longitude",
            Role::Single => "single",
        }
    }
}

/// Names of dimensions and of their coordinates, compared without case. The default holds the usual spellings; what is
/// called otherwise is known by the `axis`, `units` or `standard_name` of its coordinate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisNames {
    lon: Vec<String>,
    lat: Vec<String>,
    level: Vec<String>,
    time: Vec<String>,
    given: Vec<(Role, String)>,
}

impl Default for AxisNames {
    fn default() -> Self {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            lon: own(&["lon", "longitude", "lons", "nlon", "x"]),
            lat: own(&["lat", "latitude", "lats", "nlat", "y"]),
            level: own(&[
                "lev", "level", "levels", "ilev", "edge", "nlev", "plev", "presnivs", "hybrid", "pressure", "isobaric",
                "z", "layer", "height",
            ]),
            time: own(&["time", "t", "valid_time", "record", "month", "year", "date"]),
            given: Vec::new(),
        }
    }
}

impl AxisNames {
    /// Also takes `name` for longitudes.
    #[must_use]
    pub fn with_lon(mut self, name: &str) -> Self {
        self.lon.push(name.to_owned());
        self.given.push((Role::Lon, name.to_owned()));
        self
    }

    /// Also takes `name` for latitudes.
    #[must_use]
    pub fn with_lat(mut self, name: &str) -> Self {
        self.lat.push(name.to_owned());
        self.given.push((Role::Lat, name.to_owned()));
        self
    }

    /// Also takes `name` for levels.
    #[must_use]
    pub fn with_level(mut self, name: &str) -> Self {
        self.level.push(name.to_owned());
        self.given.push((Role::Level, name.to_owned()));
        self
    }

    /// Also takes `name` for times.
    #[must_use]
    pub fn with_time(mut self, name: &str) -> Self {
        self.time.push(name.to_owned());
        self.given.push((Role::Time, name.to_owned()));
        self
    }

    /// The names that were added to the usual ones.
    pub(crate) fn given(&self) -> &[(Role, String)] {
        &self.given
    }

    /// The part played by what is called `name`, if that is known.
    pub(super) fn role(&self, name: &str) -> Option<Role> {
        let has = |names: &[String]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        [(Role::Lon, &self.lon), (Role::Lat, &self.lat), (Role::Level, &self.level), (Role::Time, &self.time)]
            .into_iter()
            .find_map(|(role, names)| has(names).then_some(role))
    }
}

/// The part that a coordinate plays by its attributes (CF conventions 1.8, section 4).
pub(super) fn role_by_attributes(text: impl Fn(&str) -> Option<String>) -> Option<Role> {
    let units = text("units").unwrap_or_default();
    if units.contains(" since ") {
        return Some(Role::Time);
    }
    if let Some(role) = role_by_degrees(&units) {
        return Some(role);
    }
    match text("axis").unwrap_or_default().as_str() {
        "X" => return Some(Role::Lon),
        "Y" => return Some(Role::Lat),
        "Z" => return Some(Role::Level),
        "T" => return Some(Role::Time),
        _ => {}
    }
    match text("standard_name")?.as_str() {
        "longitude" => Some(Role::Lon),
        "latitude" => Some(Role::Lat),
        "time" => Some(Role::Time),
        "air_pressure" | "height" | "altitude" | "atmosphere_hybrid_sigma_pressure_coordinate" => Some(Role::Level),
        _ => None,
    }
}

/// Spellings of degrees east and north, in lower case (CF conventions 1.8, sections 4.1 and 4.2).
const EAST: [&str; 6] = ["degrees_east", "degree_east", "degrees_e", "degree_e", "degreese", "degreee"];
const NORTH: [&str; 6] = ["degrees_north", "degree_north", "degrees_n", "degree_n", "degreesn", "degreen"];

/// Whether units are those of longitudes or of latitudes.
pub(crate) fn role_by_degrees(units: &str) -> Option<Role> {
    let plain = units.trim().to_ascii_lowercase().replace([' ', '-'], "_");
    [(Role::Lon, EAST), (Role::Lat, NORTH)].into_iter().find_map(|(role, all)| all.contains(&&*plain).then_some(role))
}

/// Refuses units of longitudes or latitudes that are not degrees in that direction; none at all are taken for degrees. The
/// error text, to follow the name of the coordinate, says what would be right.
pub(crate) fn check_degrees(role: Role, units: Option<&str>) -> Result<(), String> {
    let units = units.unwrap_or_default().trim();
    let plain =
        ["", "degrees", "degree", "deg", "degs", "\u{b0}"].iter().any(|known| known.eq_ignore_ascii_case(units));
    if plain || role_by_degrees(units) == Some(role) {
        return Ok(());
    }
    let expected = if role == Role::Lat { NORTH[0] } else { EAST[0] };
    Err(format!("has units '{units}', expected {expected}; convert the coordinate, or mend its attribute `units`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_degrees_in_their_direction() {
        for (role, units) in [
            (Role::Lon, ["degrees_east", "degreeE", "Degrees East"]),
            (Role::Lat, ["degrees_north", "degree_N", "degreesN"]),
        ] {
            let other = if role == Role::Lon { Role::Lat } else { Role::Lon };
            for units in units {
                assert_eq!(check_degrees(role, Some(units)), Ok(()), "{units}");
                let problem = check_degrees(other, Some(units)).unwrap_err();
                assert!(problem.contains(&format!("'{units}', expected degrees_")), "{problem}");
            }
            for units in [None, Some(""), Some("degrees"), Some("degree"), Some(" deg ")] {
                assert_eq!(check_degrees(role, units), Ok(()), "{units:?}");
            }
            for units in ["radians", "radian", "m", "km", "1", "degrees_west", "hours since 2000-01-01", "degC"] {
                assert!(check_degrees(role, Some(units)).unwrap_err().contains(&format!("'{units}'")), "{units}");
            }
        }
    }
}
