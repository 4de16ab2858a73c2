//! Keys of `[output]`.

use super::{Choice, Key, Kind, Range, Section};

pub(super) const OUTPUT: Section = Section::new(
    "output",
    "Snapshots of the instantaneous state. A path and one of `hours`, `cadence_hours`, `cadence_seconds` are required.",
    &[
        Key::new("enabled", Kind::Bool, "true", "Set to false to write nothing."),
        Key::optional(
            "path",
            Kind::Path,
            "",
            "File to write. With `split = \"daily\"` it may hold `{date}`, `{YYYYMMDD}` or `{day}`, replaced by the \
             date in the transport file's name or else by the day's number; without one, `_<date>` is put before the \
             extension.",
        )
        .alias(&["snapshot_file", "filename"]),
        Key::new(
            "format",
            Kind::Choice(&[
                Choice::new("netcdf", "NetCDF-4.").alias(&["nc"]),
                Choice::later("binary_mmap", "Plain binary file.").alias(&["binary", "mmap", "atmsnap"]),
            ]),
            "netcdf",
            "File format.",
        ),
        Key::optional(
            "hours",
            Kind::Floats(Range::From(0.0)),
            "",
            "Hours since the start of the run, each once; 0 or the end of a window. `[]`: no snapshots.",
        )
        .alias(&["snapshot_hours"]),
        Key::optional("cadence_hours", Kind::Float(Range::Above(0.0)), "", "Hours between snapshots.")
            .alias(&["snapshot_interval_hours", "interval_hours"]),
        Key::optional("cadence_seconds", Kind::Float(Range::Above(0.0)), "", "Seconds between snapshots.")
            .alias(&["interval_seconds"]),
        Key::optional(
            "start_hour",
            Kind::Float(Range::From(0.0)),
            "0",
            "Hour of the first snapshot. Only with an interval.",
        ),
        Key::optional(
            "stop_hour",
            Kind::Float(Range::From(0.0)),
            "end of the run",
            "No snapshots after this hour. Only with an interval.",
        ),
        Key::new(
            "split",
            Kind::Choice(&[
                Choice::new("single", "One file.").alias(&["one_file", "one-file"]),
                Choice::new("daily", "One file per transport file.").alias(&["per_day", "per-day", "day"]),
            ]),
            "single",
            "Number of output files.",
        ),
        Key::new("deflate_level", Kind::Int(0, 9), "0", "Compression of spatial variables; 0 is none."),
        Key::new("shuffle", Kind::Bool, "true", "Byte shuffle before compression; without effect at level 0."),
        Key::new(
            "writer",
            Kind::Choice(&[
                Choice::new("background", "A thread of the first rank, what that gathers, while the run goes on."),
                Choice::new(
                    "collective",
                    "All ranks together through MPI, while the run waits; for fields that no single rank can hold.",
                ),
                Choice::new(
                    "grouped",
                    "One rank of each group, what that gathers, together through MPI, while the run waits; for fields that no \
                     single rank can hold, on file systems that suffer from many writers.",
                ),
            ]),
            "background",
            "Who writes. The content of files is the same.",
        ),
        Key::new(
            "queue",
            Kind::Int(1, 1000),
            "1",
            "Snapshots whose values may wait in the memory of the first rank for `writer = \"background\"`.",
        ),
        Key::optional(
            "ranks_per_writer",
            Kind::Int(1, 1_000_000),
            "the ranks of a machine",
            "Consecutive ranks of a group for `writer = \"grouped\"`.",
        ),
        Key::new(
            "budget",
            Kind::Bool,
            "true",
            "Write the budget of every tracer, window by window, to `<name of the output>.budget.csv` beside it.",
        ),
        Key::optional("fields", Kind::Table, "", "Variables to write."),
        Key::later("observations", "Sampling at soundings and sites."),
    ],
);

const LAYERS: &[Choice] = &[
    Choice::new("full", "All levels.").alias(&["all", "true"]),
    Choice::new("selected", "The levels of `levels`.").alias(&["select", "levels"]),
    Choice::new("none", "No field of levels.").alias(&["off", "false", "column", "columns"]),
];

pub(super) const FIELDS: Section = Section::new(
    "output.fields",
    "Variables to write. The total mass of every tracer is always written.",
    &[
        Key::new("tracers", Kind::Names, "all", "Tracers whose fields are written."),
        Key::new("layers", Kind::Choice(LAYERS), "full", "Levels of the mixing ratios."),
        Key::optional(
            "levels",
            Kind::Ints(1),
            "",
            "Levels of `layers = \"selected\"`, counted from 1 at the model top; written in ascending order.",
        ),
        Key::new("column_mean", Kind::Bool, "true", "Column mean mixing ratio of each tracer."),
        Key::new("column_mass_per_area", Kind::Bool, "true", "Column mass of each tracer per area.")
            .alias(&["column_mass"]),
        Key::new(
            "column_fluxes",
            Kind::Bool,
            "false",
            "Flux of each tracer over the column and the time since the snapshot before, toward east and north, and its \
             divergence.",
        ),
        Key::new(
            "interval_mean",
            Kind::Bool,
            "false",
            "Mean mixing ratio at the ends of the windows since the snapshot before, on the levels of `layers`.",
        ),
        Key::new(
            "meteorology",
            Kind::Names,
            "none",
            "Column fields beside the tracers: `dry_surface_pressure`, `surface_pressure`, `boundary_layer_height`, \
             `tropopause_height`, `tropopause_pressure`.",
        ),
        Key::optional("air_mass_layers", Kind::Choice(LAYERS), "as `layers`", "Levels of the air-mass fields."),
        Key::new("air_mass", Kind::Bool, "true", "Air mass of each cell."),
        Key::new("air_mass_per_area", Kind::Bool, "true", "Air mass of each cell per area."),
        Key::new("column_air_mass_per_area", Kind::Bool, "true", "Air mass of each column per area."),
        Key::optional("per_tracer", Kind::TableOf, "", "Exceptions for single tracers.").alias(&["tracer_fields"]),
    ],
);

pub(super) const PER_TRACER: Section = Section::new("output.fields.per_tracer", "Exceptions for single tracers.", &[]);

pub(super) const ONE_TRACER: Section = Section::new(
    "output.fields.per_tracer.<name>",
    "Variables of one tracer; what is not given here is as in `[output.fields]`.",
    &[
        Key::optional("layers", Kind::Choice(LAYERS), "as in `[output.fields]`", "Levels of the mixing ratio."),
        Key::optional("column_mean", Kind::Bool, "as in `[output.fields]`", "Column mean mixing ratio."),
        Key::optional("column_mass_per_area", Kind::Bool, "as in `[output.fields]`", "Column mass per area.")
            .alias(&["column_mass"]),
        Key::optional(
            "column_fluxes",
            Kind::Bool,
            "as in `[output.fields]`",
            "Flux over the column, and its divergence.",
        ),
        Key::optional(
            "interval_mean",
            Kind::Bool,
            "as in `[output.fields]`",
            "Mean mixing ratio since the snapshot before.",
        ),
    ],
);
