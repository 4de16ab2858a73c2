//! Keys of `[source]`.

use super::super::{Choice, Key, Kind, Range, Section};

/// Archives.
const KINDS: &[Choice] = &[
    Choice::new(
        "gridded",
        "Winds of any model on longitudes and latitudes, on pressure, sigma or hybrid levels, in NetCDF files.",
    ),
    Choice::new("merra2", "MERRA-2 (0.625 x 0.5 degrees, 72 layers)."),
    Choice::new("geos_it", "GEOS-IT on its cubed sphere (C180)."),
    Choice::new("geos_fp", "GEOS-FP on its cubed sphere (C720)."),
    Choice::new(
        "era5",
        "ERA5 in GRIB: spectral winds on 137 layers, humidity on the reduced Gaussian grid; needs a program with ecCodes.",
    ),
];

/// Archives of files in folders by date.
const ARCHIVES: &[&str] = &["merra2", "geos_it", "geos_fp", "era5"];
const GRIDDED: &[&str] = &["gridded"];

pub(super) const SOURCE: Section = Section::new(
    "met:source",
    "The archive. Files are opened when a day needs them; what a day lacks is an error before anything is written.",
    &[
        Key::required("kind", Kind::Choice(KINDS), "Archive."),
        Key::optional(
            "directory",
            Kind::Path,
            "",
            "Folder of the archive. The page of each archive tells how its files are found there.",
        )
        .alias(&["root_dir"])
        .only(ARCHIVES),
        Key::optional("files", Kind::Paths, "", "All files; a variable may be in any of them, in pieces of time too.")
            .only(GRIDDED),
        Key::new(
            "time",
            Kind::Choice(&[
                Choice::new(
                    "series",
                    "States follow one another and are interpolated in time; a day needs states around it.",
                ),
                Choice::new("steady", "One state, which holds for every day: winds and mass do not change."),
            ]),
            "series",
            "How the states of the files stand for the windows.",
        )
        .only(GRIDDED),
        Key::new("time_index", Kind::Int(1, i64::MAX), "1", "The state used with `time = \"steady\"`, from 1.")
            .only(GRIDDED),
        Key::optional(
            "first_day",
            Kind::Date,
            "that of the file",
            "Date given to the first state, where files tell none or another.",
        )
        .only(GRIDDED),
        Key::new(
            "level_order",
            Kind::Choice(&[
                Choice::new("auto", "From thickness or humidity of the layers, or from their pressures."),
                Choice::new("surface_first", "The lowest layer comes first.").alias(&["bottom_up"]),
                Choice::new("toa_first", "The highest layer comes first.").alias(&["top_down"]),
            ]),
            "auto",
            "Order of the layers in the files.",
        ),
        Key::new(
            "layout",
            Kind::Choice(&[
                Choice::new("geoschem", "Files of the GEOS-Chem archive, with physics."),
                Choice::new("nasa", "Files as NASA distributes them: winds only."),
            ]),
            "geoschem",
            "Files of MERRA-2.",
        )
        .only(&["merra2"]),
        Key::optional(
            "source_nc",
            Kind::Int(1, 5760),
            "180 with geos_it, 720 with geos_fp",
            "Cells per panel edge of the archive, a multiple of `grid.nc`.",
        )
        .only(&["geos_it", "geos_fp"]),
        Key::optional("physics_directory", Kind::Path, "`directory`", "Folder of the files with physics.")
            .only(&["geos_fp", "era5"]),
        Key::new(
            "include_surface",
            Kind::Bool,
            "false",
            "Write height of the boundary layer, friction velocity, heat flux and temperature at 2 m.",
        )
        .only(ARCHIVES),
        Key::new("include_convection", Kind::Bool, "false", "Write convective fluxes.").only(ARCHIVES),
        Key::new(
            "include_vdiff_fields",
            Kind::Bool,
            "false",
            "Write winds, temperature and humidity of the layers for non-local diffusion.",
        )
        .only(&["merra2", "geos_it", "era5"]),
        Key::new(
            "include_tm5_diffusion",
            Kind::Bool,
            "false",
            "Write the exchange of the boundary-layer scheme of TM5.",
        )
        .only(&["era5"]),
        Key::new(
            "allow_terminal_zero_tendency",
            Kind::Bool,
            "false",
            "Without files of the next day, let the mass of the last windows stand still, instead of an error.",
        )
        .only(&["merra2", "era5"]),
        Key::optional("variables", Kind::Table, "", "Names of variables.").only(GRIDDED),
        Key::optional("dimensions", Kind::Table, "", "Names of dimensions.").only(GRIDDED),
        Key::optional("levels", Kind::Table, "", "Levels of the files.").only(GRIDDED),
    ],
);

pub(super) const VARIABLES: Section = Section::new(
    "met:source.variables",
    "Names of the variables of `kind = \"gridded\"`; units come from their attributes (winds in m s-1, pressure in Pa or hPa, \
     humidity in kg kg-1 or percent of saturation with a temperature).",
    &[
        Key::new("u", Kind::Text, "u", "Wind towards east."),
        Key::new("v", Kind::Text, "v", "Wind towards north."),
        Key::new("surface_pressure", Kind::Text, "ps", "Surface pressure.").alias(&["ps"]),
        Key::optional(
            "log_surface_pressure",
            Kind::Text,
            "",
            "Logarithm of the surface pressure in Pa, instead of it.",
        ),
        Key::optional("humidity", Kind::Text, "air is taken as dry", "Specific or relative humidity.").alias(&["q"]),
        Key::optional("temperature", Kind::Text, "", "Temperature, K; only needed with relative humidity.")
            .alias(&["t"]),
        Key::optional("time", Kind::Text, "the time dimension's own variable", "Times of the states."),
    ],
);

pub(super) const DIMENSIONS: Section = Section::new(
    "met:source.dimensions",
    "Names of the dimensions of `kind = \"gridded\"`, where they are not among the usual ones (lon, longitude, lat, latitude, lev, \
     level, plev, time …).",
    &[
        Key::optional("longitude", Kind::Text, "", "Longitudes.").alias(&["lon"]),
        Key::optional("latitude", Kind::Text, "", "Latitudes.").alias(&["lat"]),
        Key::optional("level", Kind::Text, "", "Levels.").alias(&["lev"]),
        Key::optional("time", Kind::Text, "", "Times."),
    ],
);

pub(super) const LEVELS: Section = Section::new(
    "met:source.levels",
    "Levels of the files of `kind = \"gridded\"`.",
    &[
        Key::new(
            "kind",
            Kind::Choice(&[
                Choice::new("pressure", "Pressures."),
                Choice::new("sigma", "Parts of the surface pressure."),
                Choice::new("hybrid", "A + B times the surface pressure."),
            ]),
            "pressure",
            "What the levels are.",
        ),
        Key::optional(
            "variable",
            Kind::Text,
            "the level dimension's own variable",
            "Pressures or sigma of the levels.",
        )
        .only(&["pressure", "sigma"]),
        Key::optional("units", Kind::Text, "the variable's attribute", "Units of pressures: Pa or hPa."),
        Key::optional("a", Kind::Text, "", "A at the levels.").only(&["hybrid"]),
        Key::optional("b", Kind::Text, "", "B at the levels.").only(&["hybrid"]),
        Key::optional(
            "a_interfaces",
            Kind::Text,
            "",
            "A at the interfaces, needed for `vertical.levels = \"native\"`.",
        )
        .only(&["hybrid"]),
        Key::optional(
            "b_interfaces",
            Kind::Text,
            "",
            "B at the interfaces (sigma: the interfaces), needed for `vertical.levels = \"native\"`.",
        )
        .only(&["hybrid", "sigma"]),
        Key::new(
            "reference_pressure_pa",
            Kind::Float(Range::Above(0.0)),
            "1",
            "Factor of A, for files that hold it as a part of a reference pressure.",
        )
        .only(&["hybrid"]),
        Key::new(
            "above",
            Kind::Choice(&[
                Choice::new("constant", "The values of the highest level."),
                Choice::new("zero", "No wind; humidity stays that of the highest level."),
            ]),
            "constant",
            "Winds above the highest level.",
        ),
        Key::new(
            "below",
            Kind::Choice(&[
                Choice::new("constant", "The values of the lowest level that is above the ground and not missing."),
                Choice::new("zero", "No wind; humidity stays that of the lowest level."),
            ]),
            "constant",
            "Winds below the lowest level.",
        ),
    ],
);
