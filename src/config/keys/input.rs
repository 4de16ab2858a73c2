//! Keys of `[input]`.

use super::{Choice, Key, Kind, Range, Section};

pub(super) const INPUT: Section = Section::new(
    "input",
    "Exactly one of three: `binary_paths` (a list of transport files), `folder` (one file per date), or the table \
     `[input.synthetic]` (winds made by the program).",
    &[
        Key::optional("binary_paths", Kind::Paths, "", "Transport files in the order in which they are run."),
        Key::optional("folder", Kind::Path, "", "Folder that holds one transport file for every date of the run."),
        Key::optional(
            "start_date",
            Kind::Date,
            "",
            "First date, 00:00 UTC. Required with `folder`; with `binary_paths` it sets the time at which the run starts.",
        ),
        Key::optional("end_date", Kind::Date, "", "Last date, inclusive. Only (and then required) with `folder`."),
        Key::optional(
            "file_pattern",
            Kind::Text,
            "any file whose name has the date as a run of exactly 8 digits",
            "Name of a date's file, with `{YYYYMMDD}` exactly once; everything else is literal. Only with `folder`.",
        ),
        Key::new(
            "validate_replay",
            Kind::Bool,
            "false",
            "Check before stepping that the stored fluxes carry each window's start mass to its end mass.",
        ),
        Key::optional(
            "expected_nlevel",
            Kind::Int(1, i64::MAX),
            "not checked",
            "Number of layers the first file must have.",
        ),
        Key::optional(
            "required_preprocessor_contract",
            Kind::Text,
            "not checked",
            "Value that the first file's `preprocessor_contract` must have.",
        ),
        Key::new(
            "require_adaptive_substeps",
            Kind::Bool,
            "false",
            "Refuse a first file that does not declare `adaptive_substeps = true`.",
        ),
        Key::optional("synthetic", Kind::Table, "", "Winds made by the program; needs no files."),
        Key::optional("staging", Kind::Table, "", "Copies of the files that come next, on a disk of the machine."),
    ],
);

pub(super) const STAGING: Section = Section::new(
    "input.staging",
    "Copies of the transport files that come next, made in the background by one rank of each machine, for archives on slow or \
     busy storage. Results do not depend on it. A copy that cannot be made is told, and the files are then read where they are.",
    &[
        Key::new("enabled", Kind::Bool, "false", "Whether copies are made."),
        Key::optional(
            "dir",
            Kind::Path,
            "required if enabled",
            "Folder on a disk of the machine, of this run alone; it is made if need be.",
        ),
        Key::new("lookahead_days", Kind::Int(0, 1000), "2", "Files that are copied ahead of the one in use."),
        Key::new("keep_behind_days", Kind::Int(0, 1000), "0", "Files whose copies stay behind it."),
        Key::new(
            "cleanup_on_exit",
            Kind::Bool,
            "true",
            "Remove the copies when the run ends; else the next run uses those whose origin has not changed.",
        ),
    ],
);

pub(super) const FLOATS: &[Choice] =
    &[Choice::new("Float32", "32-bit floats."), Choice::new("Float64", "64-bit floats.")];

/// Analytic flows, as for `atmostr synth --flow`.
pub(super) const FLOWS: &[Choice] = &[
    Choice::new("weather", "Jets, travelling waves, overturning cells and moving surface pressure of realistic size."),
    Choice::new("solid-body", "Solid-body rotation once in 12 days (Williamson et al. 1992, case 1)."),
    Choice::new("deformation", "Non-divergent deformation with rotation, period 12 days (Lauritzen et al. 2012)."),
    Choice::new("divergent", "Divergent deformation with rotation, period 12 days (Lauritzen et al. 2012)."),
    Choice::new("hadley", "Overturning cells in a zonal flow, period 1 day (DCMIP 2012 case 1-2)."),
    Choice::new("deformation-3d", "Three-dimensional deformation, period 12 days (DCMIP 2012 case 1-1)."),
];

pub(super) const SYNTHETIC: Section = Section::new(
    "input.synthetic",
    "Analytic winds, written to a transport file before the run starts. The mass fluxes are exactly balanced.",
    &[
        Key::new("flow", Kind::Choice(FLOWS), "weather", "Analytic flow."),
        Key::new(
            "angle_deg",
            Kind::Float(Range::Within(-180.0, 180.0)),
            "0",
            "Angle between the axis of rotation and the pole, degrees.",
        )
        .only(&["solid-body"]),
        Key::new("nc", Kind::Int(2, 5760), "24", "Cells per panel edge."),
        Key::new("levels", Kind::Int(1, 1000), "20", "Number of layers."),
        Key::new("windows", Kind::Int(1, 1_000_000), "24", "Number of windows."),
        Key::new("window_seconds", Kind::Float(Range::Above(0.0)), "3600", "Length of a window in seconds."),
        Key::new("float_type", Kind::Choice(FLOATS), "Float64", "Precision of the file."),
        Key::new(
            "convention",
            Kind::Choice(&[
                Choice::new("geos_native", "Panels as in GEOS files, turned by -10 degrees."),
                Choice::new("gnomonic", "Equiangular panels, four equatorial ones first."),
            ]),
            "geos_native",
            "Numbering and orientation of the panels.",
        ),
        Key::new(
            "physics",
            Kind::Choice(&[
                Choice::new("none", "Winds only."),
                Choice::new("all", "Winds with made-up fields for every vertical process (flow weather only)."),
            ]),
            "none",
            "Optional sections of the file.",
        ),
        Key::new("start_time", Kind::Time, "2000-01-01T00:00:00Z", "Start of the first window, UTC."),
    ],
);
