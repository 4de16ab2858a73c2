//! What the dimensions of a file are called.

/// Part that a dimension plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Time,
    Level,
    Lat,
    Lon,
    /// A dimension of length 1 that says nothing.
    Single,
}

impl Role {
    /// What it is called in messages.
    pub(super) fn words(self) -> &'static str {
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
        }
    }
}

impl AxisNames {
    /// Also takes `name` for longitudes.
    #[must_use]
    pub fn with_lon(mut self, name: &str) -> Self {
        self.lon.push(name.to_owned());
        self
    }

    /// Also takes `name` for latitudes.
    #[must_use]
    pub fn with_lat(mut self, name: &str) -> Self {
        self.lat.push(name.to_owned());
        self
    }

    /// Also takes `name` for levels.
    #[must_use]
    pub fn with_level(mut self, name: &str) -> Self {
        self.level.push(name.to_owned());
        self
    }

    /// Also takes `name` for times.
    #[must_use]
    pub fn with_time(mut self, name: &str) -> Self {
        self.time.push(name.to_owned());
        self
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
    match units.trim() {
        "degrees_east" | "degree_east" | "degreesE" | "degrees_E" | "degree_E" => return Some(Role::Lon),
        "degrees_north" | "degree_north" | "degreesN" | "degrees_N" | "degree_N" => return Some(Role::Lat),
        other if other.contains(" since ") => return Some(Role::Time),
        _ => {}
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
