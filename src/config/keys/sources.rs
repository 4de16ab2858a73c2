//! Keys of `[tracers.<name>.surface_flux]`.

use super::{Choice, Key, Kind, Range, Section};

/// Kinds of sources.
pub(super) const KINDS: &[Choice] = &[
    Choice::new("none", "No emissions."),
    Choice::new("uniform", "The same flux everywhere and always."),
    Choice::new("cs_native", "NetCDF files on the run's own grid, in kg (or kgC) m-2 s-1."),
    Choice::new("file", "Any NetCDF files on a longitude-latitude grid that state their units."),
    Choice::new("lmdz_co2", "CO2 fluxes of LMDZ: `flux_apos`, kgC m-2 s-1."),
    Choice::new("gridfed_fossil_co2", "Fossil CO2 of GCP-GridFED: `TOTAL` or `CO2/TOTAL`, kgCO2 month-1 m-2."),
    Choice::new("edgar_sf6", "SF6 of EDGAR: `emissions`, tonnes by cell and year of 365.25 days."),
    Choice::new("zhang_rn222", "Radon-222 of Zhang et al.: `rnemis`, kg m-2 s-1, twelve months of every year."),
    Choice::new(
        "carbontracker",
        "CO2 fluxes of NOAA CarbonTracker, mol m-2 s-1: the sum of `bio_flux_opt`, `ocn_flux_opt`, `fire_flux_imp` and \
         `fossil_flux_imp`, or those named.",
    ),
];

/// Values between slices of a file.
pub(super) const TIME_SCHEMES: &[Choice] = &[
    Choice::new("stepwise", "A slice holds from its time to the next one.").alias(&["block", "piecewise_constant"]),
    Choice::new("linear", "The straight line between slices, at the start of a substep.")
        .alias(&["interp", "interpolate"]),
    Choice::new("conservative", "The exact mean of the straight lines over a substep.").alias(&[
        "window_mean",
        "integral",
        "mass_conserving",
    ]),
];

/// Factors and rates: their products stay within the range of Float32.
pub(super) const SCALE: Range = Range::Within(-1e6, 1e6);

/// What the time of a record stands for.
const STAMPS: &[Choice] = &[
    Choice::new(
        "auto",
        "The interval of the file's time bounds. Without them: the calendar month or year around the time, for records \
         about a month or a year apart; else the centre if it lies half an interval past a multiple of the interval \
         since midnight, and else the start.",
    ),
    Choice::new("start", "The start of the interval."),
    Choice::new("centre", "Its centre.").alias(&["center"]),
    Choice::new("end", "Its end."),
];

const INVENTORIES: &[&str] = &["file", "lmdz_co2", "gridfed_fossil_co2", "edgar_sf6", "zhang_rn222", "carbontracker"];
const FILES: &[&str] =
    &["cs_native", "file", "lmdz_co2", "gridfed_fossil_co2", "edgar_sf6", "zhang_rn222", "carbontracker"];
const SOURCES: &[&str] =
    &["uniform", "cs_native", "file", "lmdz_co2", "gridfed_fossil_co2", "edgar_sf6", "zhang_rn222", "carbontracker"];

pub(super) const SURFACE_FLUX: Section = Section::new(
    "tracers.<name>.surface_flux",
    "A source of the tracer, or a sink where it is negative; `[[tracers.<name>.surface_flux]]` for each of several. It \
     acts in every substep, between the sweeps. Fluxes on longitude-latitude grids are put on the cells of the run so \
     that their total is kept.",
    &[
        Key::new("kind", Kind::Choice(KINDS), "none", "Source."),
        Key::optional("rate", Kind::Float(SCALE), "required with uniform", "Flux, kg of the species m⁻² s⁻¹.")
            .only(&["uniform"]),
        Key::optional("file", Kind::Path, "", "NetCDF file. Exactly one of `file`, `files` and `file_pattern`.")
            .only(FILES),
        Key::optional("files", Kind::Paths, "", "NetCDF files in the order of their times.").only(FILES),
        Key::optional(
            "file_pattern",
            Kind::Text,
            "",
            "Path of NetCDF files, one for each year, month or day of `year`, or from `first_date` to `last_date`, with \
             `{YYYY}`, `{YYYYMM}` or `{YYYYMMDD}` exactly once.",
        )
        .only(FILES),
        Key::optional(
            "year",
            Kind::Int(1900, 3000),
            "with `file_pattern` the year in which the run starts; else what the name of the file tells",
            "Year of `file_pattern`; of records that state no times, unless the file is called after a year; of records that \
             state theirs, the only year that is used.",
        )
        .only(FILES),
        Key::optional("first_date", Kind::Date, "", "With `file_pattern` and `last_date`: first day of the files.").only(FILES),
        Key::optional("last_date", Kind::Date, "", "With `file_pattern` and `first_date`: last day of the files.").only(FILES),
        Key::optional(
            "variable",
            Kind::Text,
            "required with cs_native; with file this or `variables`; else that of the archive",
            "Variable: with cs_native of the dimensions (time, nf, Ydim, Xdim), else with latitude, longitude and, if need \
             be, time in any order; one of a group as `group/name`.",
        )
        .only(FILES),
        Key::optional("variables", Kind::Texts, "", "Variables that are added up, instead of `variable`.")
            .only(INVENTORIES),
        Key::optional(
            "units",
            Kind::Text,
            "the attribute of the variable; without one, those of the archive",
            "Units of the stored numbers, instead of the attribute: kg, kgC or kg of the species (also t, kt, Gg, Tg), mol, \
             molecules or atoms, by m2, cm2 or cell, by second, day, month (of its real length) or year.",
        )
        .only(INVENTORIES),
        Key::optional(
            "time_index",
            Kind::Int(1, i64::MAX),
            "",
            "Record of the file, from 1, that is emitted always.",
        )
        .only(INVENTORIES),
        Key::optional("month", Kind::Int(1, 12), "", "Calendar month whose record is emitted always.").only(INVENTORIES),
        Key::new("scale", Kind::Float(SCALE), "1", "Factor; may be negative.").only(SOURCES),
        Key::optional(
            "molar_mass_kg_mol",
            Kind::Float(Range::Between(0.0, 1.0)),
            "that of the tracer",
            "Molar mass of what is emitted, kg/mol.",
        )
        .only(SOURCES),
        Key::optional(
            "time_varying",
            Kind::Bool,
            "true; false with `time_index` or `month`",
            "Whether files are read along their times. Without, and with neither `time_index` nor `month`, the mean of all \
             records is emitted always. With cs_native it must be true.",
        )
        .only(FILES),
        Key::optional(
            "cyclic",
            Kind::Bool,
            "true with zhang_rn222 unless `time_varying` is false, else false",
            "Whether the files hold the twelve months of every year.",
        )
        .only(INVENTORIES),
        Key::new(
            "temporal_scheme",
            Kind::Choice(TIME_SCHEMES),
            "stepwise",
            "Values between slices. Before the first and after the last slice the flux is constant.",
        )
        .only(FILES),
        Key::new(
            "time_stamp",
            Kind::Choice(STAMPS),
            "auto",
            "What the time of a record stands for. With \"stepwise\" a record holds in its interval; the straight lines of \
             the other schemes run through the times as they are stated.",
        )
        .only(INVENTORIES),
        Key::new(
            "missing",
            Kind::Choice(&[
                Choice::new("refuse", "An error."),
                Choice::new("zero", "No flux, as on land in maps of the ocean."),
            ]),
            "refuse",
            "What missing values mean.",
        )
        .only(INVENTORIES),
        Key::optional(
            "cell_area",
            Kind::Text,
            "areas on the sphere of the run",
            "Variable of the file with the areas of its cells, m2, by which fluxes by area are multiplied.",
        )
        .only(INVENTORIES),
        Key::new(
            "regridding",
            Kind::Choice(&[Choice::new("conservative", "By the areas that cells share.")]),
            "conservative",
            "How fluxes come from the longitude-latitude grid to that of the run.",
        )
        .only(INVENTORIES),
        Key::optional("injection", Kind::Table, "", "Layers that are emitted into.").only(SOURCES),
    ],
);

pub(super) const INJECTION: Section = Section::new(
    "tracers.<name>.surface_flux.injection",
    "Layers that the source emits into; without the table it is the lowest one. With diffusion of kind \
     geoschem_nonlocal_vdiff the part that enters the lowest layer is lofted.",
    &[
        Key::required(
            "kind",
            Kind::Choice(&[
                Choice::new("heights", "Evenly over a range of heights above the surface."),
                Choice::new("levels", "By given weights of the levels."),
            ]),
            "How the layers are given.",
        ),
        Key::new("z_bottom", Kind::Float(Range::From(0.0)), "0", "Lower end, m.").only(&["heights"]),
        Key::optional("z_top", Kind::Float(Range::Above(0.0)), "required with heights", "Upper end, m.")
            .only(&["heights"]),
        Key::optional(
            "weights",
            Kind::Floats(Range::From(0.0)),
            "required with levels",
            "Weight of every level, from the top down; scaled so that they sum to 1.",
        )
        .only(&["levels"]),
    ],
);
