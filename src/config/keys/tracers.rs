//! Keys of `[tracers]`.

use super::{Choice, Key, Kind, Range, Section, sources};

pub(super) const TRACERS: Section = Section::new(
    "tracers",
    "One table per tracer, `[tracers.<name>]`. The name becomes the name of the variable in the output: a letter \
     followed by letters, digits and underscores. Tracers are carried in alphabetical order.",
    &[],
);

pub(super) const TRACER: Section = Section {
    path: "tracers.<name>",
    doc: "One tracer. Without any key of its initial state it starts at 0. The keys of `init` may be written directly \
          here instead of in a table of their own; of `surface_flux` those that begin with `surface_flux_` here.",
    keys: &[
        Key::optional("init", Kind::Table, "", "Initial mixing ratio."),
        Key::optional(
            "molar_mass_kg_mol",
            Kind::Float(Range::Between(0.0, 1.0)),
            "known for co2, co2_natural, co2_fossil, fossil_co2, sf6, rn222 in any case; else unknown",
            "Molar mass in kg/mol. Sources need it.",
        ),
        Key::new(
            "signed",
            Kind::Bool,
            "false",
            "May be negative, as an anomaly is: limiters that keep tracers from falling below 0 leave it alone.",
        ),
        Key::optional(
            "surface_flux",
            Kind::TableOrList,
            "",
            "Sources: one table, or a list of tables `[[tracers.<name>.surface_flux]]`, in this order.",
        ),
        Key::optional("surface_flux_kind", Kind::Choice(sources::KINDS), "", "Flat form of `surface_flux.kind`."),
        Key::optional("surface_flux_rate", Kind::Float(sources::SCALE), "", "Flat form of `surface_flux.rate`."),
        Key::optional("surface_flux_file", Kind::Path, "", "Flat form of `surface_flux.file`."),
        Key::optional("surface_flux_variable", Kind::Text, "", "Flat form of `surface_flux.variable`."),
        Key::optional("surface_flux_time_index", Kind::Int(1, i64::MAX), "", "Flat form of `surface_flux.time_index`."),
        Key::optional("surface_flux_month", Kind::Int(1, 12), "", "Flat form of `surface_flux.month`."),
        Key::optional("surface_flux_scale", Kind::Float(sources::SCALE), "", "Flat form of `surface_flux.scale`."),
        Key::optional(
            "surface_flux_temporal_scheme",
            Kind::Choice(sources::TIME_SCHEMES),
            "",
            "Flat form of `surface_flux.temporal_scheme`.",
        ),
    ],
    flat: Some("tracers.<name>.init"),
};

/// No mole fraction is beyond 1; signed numbers are for tests of schemes.
const FRACTION: Range = Range::MoleFraction;

pub(super) const INIT: Section = Section::new(
    "tracers.<name>.init",
    "Initial dry-air mole fraction (mol/mol).",
    &[
        Key::new(
            "kind",
            Kind::Choice(&[
                Choice::new("uniform", "The same value everywhere."),
                Choice::new("latitude_step", "One value south, another north of a latitude.")
                    .alias(&["lat_step", "hemisphere_step"]),
                Choice::new("gaussian_blob", "A bell in longitude and latitude, the same at all levels."),
                Choice::new("pressure_layer", "A given number of molecules spread over one level."),
                Choice::new("cs_native", "A NetCDF variable on the run's own grid."),
                Choice::new("file", "A NetCDF variable on a longitude-latitude grid, on levels of its own.")
                    .alias(&["netcdf", "file_field"]),
                Choice::new("catrine_co2", "The same, `CO2` of the CATRINE protocol."),
                Choice::new("bl_enhanced", "One value, and more of it in the lowest levels."),
            ]),
            "uniform",
            "How the field is made.",
        ),
        Key::new("background", Kind::Float(FRACTION), "4e-4", "Value away from the bell, or everywhere.").only(&[
            "uniform",
            "gaussian_blob",
            "latitude_step",
            "bl_enhanced",
        ]),
        Key::new("enhancement", Kind::Float(FRACTION), "1e-4", "What the lowest levels hold more.").only(&["bl_enhanced"]),
        Key::new("n_layers", Kind::Int(1, i64::MAX), "3", "Number of lowest levels.").only(&["bl_enhanced"]),
        Key::optional("south_value", Kind::Float(FRACTION), "equal to `background`", "Value south of the step.")
            .alias(&["south"])
            .only(&["latitude_step"]),
        Key::new("north_value", Kind::Float(FRACTION), "4.4e-4", "Value at and north of the step.")
            .alias(&["north"])
            .only(&["latitude_step"]),
        Key::new("split_lat_deg", Kind::Float(Range::Within(-90.0, 90.0)), "0", "Latitude of the step, degrees.")
            .only(&["latitude_step"]),
        Key::new("lon0_deg", Kind::Float(Range::Within(-360.0, 360.0)), "0", "Longitude of the centre, degrees east.")
            .only(&["gaussian_blob"]),
        Key::new("lat0_deg", Kind::Float(Range::Within(-90.0, 90.0)), "0", "Latitude of the centre, degrees north.")
            .only(&["gaussian_blob"]),
        Key::new("sigma_lon_deg", Kind::Float(Range::Above(0.0)), "10", "Width in longitude, degrees.")
            .only(&["gaussian_blob"]),
        Key::new("sigma_lat_deg", Kind::Float(Range::Above(0.0)), "10", "Width in latitude, degrees.")
            .only(&["gaussian_blob"]),
        Key::optional(
            "amplitude",
            Kind::Float(FRACTION),
            "equal to `background`",
            "Height of the bell above the background.",
        )
        .only(&["gaussian_blob"]),
        Key::new("lowest_layer", Kind::Bool, "false", "Use the lowest level instead of a pressure.")
            .only(&["pressure_layer"]),
        Key::optional(
            "psurf_fraction",
            Kind::Float(Range::AboveTo(0.0, 1.0)),
            "0.5",
            "The level whose mean pressure is nearest to this fraction of the surface pressure.",
        )
        .only(&["pressure_layer"]),
        Key::new("total_molecules", Kind::Float(Range::AboveTo(0.0, 1e50)), "1e22", "Number of molecules in all.")
            .only(&["pressure_layer"]),
        Key::optional("file", Kind::Path, "required with these kinds", "NetCDF file.").only(FILES),
        Key::optional(
            "variable",
            Kind::Text,
            "required with cs_native and file, `CO2` with catrine_co2",
            "Variable: with cs_native of the dimensions (time, lev, nf, Ydim, Xdim), else with latitude, longitude, levels \
             and, if need be, time in any order.",
        )
        .only(FILES),
        Key::optional(
            "units",
            Kind::Text,
            "the attribute of the variable, which must have one",
            "Units of the stored numbers, instead of the attribute: mol mol-1, ppm, ppb or ppt, of dry air.",
        )
        .only(FILES),
        Key::optional(
            "time_index",
            Kind::Int(1, i64::MAX),
            "the only record; of several one has to be chosen",
            "Record, counted from 1.",
        )
        .only(FILES),
        Key::optional("time", Kind::Time, "", "Time of the record, instead of `time_index`.").only(FILES),
        Key::optional(
            "vertical_order",
            Kind::Choice(&[
                Choice::new("surface_first", "The first level lies at the surface; it is turned over."),
                Choice::new("toa_first", "The first level lies at the top, as in the model."),
            ]),
            "required with cs_native; else from the pressures of the levels",
            "Order of the file's levels. With the other kinds only for files that say nothing about pressures: their levels \
             are those of the run.",
        )
        .only(FILES),
        Key::new(
            "vertical",
            Kind::Choice(&[
                Choice::new(
                    "log_pressure",
                    "Linear in the logarithm of pressure between the middles of levels; constant beyond the ends.",
                ),
                Choice::new("conservative", "By the pressure that levels share; the run tells what was kept."),
            ]),
            "log_pressure",
            "How values come to the levels of the run.",
        )
        .only(&["file", "catrine_co2"]),
        Key::optional(
            "surface_pressure",
            Kind::Text,
            "the first that the file has of Psurf, PS, ps, psurf, sp, surface_pressure, PSFC, aps",
            "Variable of the file with the surface pressure on which its levels rest, or \"model\" for that of the run.",
        )
        .only(&["file", "catrine_co2"]),
        Key::new("clamp_negative", Kind::Bool, "false", "Set negative values to 0.").only(FILES),
    ],
);

/// Kinds that read a file.
const FILES: &[&str] = &["cs_native", "file", "catrine_co2"];
