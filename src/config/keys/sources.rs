//! Keys of `[tracers.<name>.surface_flux]`.

use super::{Choice, Key, Kind, Range, Section};

/// Kinds of sources.
pub(super) const KINDS: &[Choice] = &[
    Choice::new("none", "No emissions."),
    Choice::new("uniform", "The same flux everywhere and always."),
    Choice::new("cs_native", "NetCDF files on the run's own grid, in kg (or kgC) m-2 s-1."),
    Choice::later("file", "A longitude-latitude field."),
    Choice::later("lmdz_co2", "LMDZ CO2 fluxes."),
    Choice::later("gridfed_fossil_co2", "GridFED fossil CO2."),
    Choice::later("edgar_sf6", "EDGAR SF6."),
    Choice::later("zhang_rn222", "Radon-222 of Zhang et al."),
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

const SOURCES: &[&str] = &["uniform", "cs_native"];

pub(super) const SURFACE_FLUX: Section = Section::new(
    "tracers.<name>.surface_flux",
    "A source of the tracer, or a sink where it is negative; `[[tracers.<name>.surface_flux]]` for each of several. It \
     acts in every substep, between the sweeps.",
    &[
        Key::new("kind", Kind::Choice(KINDS), "none", "Source."),
        Key::optional("rate", Kind::Float(SCALE), "required with uniform", "Flux, kg of the species m⁻² s⁻¹.")
            .only(&["uniform"]),
        Key::optional("file", Kind::Path, "", "NetCDF file. Exactly one of `file`, `files` and `file_pattern`.")
            .only(&["cs_native"]),
        Key::optional("files", Kind::Paths, "", "NetCDF files in the order of their times.").only(&["cs_native"]),
        Key::optional(
            "file_pattern",
            Kind::Text,
            "",
            "Path of twelve NetCDF files, one for each month of `year`, with `{YYYYMM}` exactly once.",
        )
        .only(&["cs_native"]),
        Key::optional(
            "year",
            Kind::Int(1900, 3000),
            "the year in which the run starts",
            "Year of `file_pattern`, and only with it.",
        )
        .only(&["cs_native"]),
        Key::optional(
            "variable",
            Kind::Text,
            "required with cs_native",
            "Variable with the dimensions (time, nf, Ydim, Xdim).",
        )
        .only(&["cs_native"]),
        Key::later("time_index", "Record."),
        Key::later("month", "Month."),
        Key::new("scale", Kind::Float(SCALE), "1", "Factor; may be negative.").only(SOURCES),
        Key::optional(
            "molar_mass_kg_mol",
            Kind::Float(Range::Between(0.0, 1.0)),
            "that of the tracer",
            "Molar mass of what is emitted, kg/mol.",
        )
        .only(SOURCES),
        Key::new("time_varying", Kind::Bool, "true", "Must be true: the files are read along their times.")
            .only(&["cs_native"]),
        Key::new(
            "temporal_scheme",
            Kind::Choice(TIME_SCHEMES),
            "stepwise",
            "Values between slices. Before the first and after the last slice the flux is constant.",
        )
        .only(&["cs_native"]),
        Key::later("regridding", "Regridding."),
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
