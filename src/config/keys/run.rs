//! Keys of `[architecture]`, `[numerics]`, `[run]`, `[decomposition]` and `[advection]`.

use super::{Choice, Key, Kind, Range, Section, input};

pub(super) const ARCHITECTURE: Section = Section::new(
    "architecture",
    "Where the run is computed. No choice made here changes a result.",
    &[
        Key::new(
            "backend",
            Kind::Choice(&[
                Choice::new("cpu", "Processor cores."),
                Choice::new("auto", "CUDA, else Metal, else an error; never the processor."),
                Choice::new("cuda", "NVIDIA GPUs."),
                Choice::new("opencl", "Anything with an OpenCL driver, processors too."),
                Choice::new("metal", "Apple GPUs, Float32 only."),
            ]),
            "cpu",
            "What holds the state and computes. Ranks of a machine share its devices in turn.",
        ),
        Key::optional(
            "use_gpu",
            Kind::Bool,
            "that of `backend`",
            "true is `backend = \"auto\"`, false `backend = \"cpu\"`.",
        ),
        Key::new(
            "halo",
            Kind::Choice(&[
                Choice::new(
                    "auto",
                    "From device memory where MPI says that it takes it and a test confirms it, else staged.",
                ),
                Choice::new("device", "From device memory, or an error."),
                Choice::new("staged", "Through page-locked host memory."),
            ]),
            "auto",
            "How halos of a state on a device travel between ranks.",
        ),
        Key::optional(
            "threads",
            Kind::Int(1, 1024),
            "all cores, shared equally by the ranks of a machine",
            "CPU threads of each rank.",
        ),
    ],
);

pub(super) const NUMERICS: Section = Section::new(
    "numerics",
    "Precision.",
    &[Key::new("float_type", Kind::Choice(input::FLOATS), "Float64", "Precision of the state and of the sweeps.")],
);

const IN_ADVECTION: &str = "move it to [advection]";

pub(super) const RUN: Section = Section::new(
    "run",
    "Windows, air-mass policy, halo width.",
    &[
        Key::new("start_window", Kind::Int(1, i64::MAX), "1", "First window of the first file; must be 1."),
        Key::optional(
            "stop_window",
            Kind::Int(1, i64::MAX),
            "all windows of the file",
            "Last window of each file, inclusive, counted from 1. With several files it must be their last one.",
        ),
        Key::new(
            "air_mass_reset_mode",
            Kind::Choice(&[
                Choice::new("preserve_tracer_mass", "Air mass is set to the stored one, tracer mass is kept."),
                Choice::new("preserve_vmr", "Air mass is set to the stored one, mixing ratios are kept."),
                Choice::new("none", "The carried air mass is kept."),
            ]),
            "preserve_tracer_mass",
            "What happens to the carried air mass at the end of a window.",
        ),
        Key::new(
            "physics_cadence",
            Kind::Choice(&[
                Choice::new("window", "Once at the end of a window."),
                Choice::new("substep", "After every substep."),
            ]),
            "window",
            "When convection and decay act.",
        ),
        Key::optional(
            "Hp",
            Kind::Int(0, 4096),
            "what the scheme needs: none 0, upwind 1, slopes 2, ppm 3",
            "Halo width in cells; at least what the scheme needs.",
        ),
        Key::optional("halo_padding", Kind::Int(0, 4096), "", "Another name of `Hp`; equal if both are given."),
        Key::optional(
            "regridder_cache_dir",
            Kind::Path,
            "weights are computed anew",
            "Folder in which weights of regridding are kept between runs; it is made if need be.",
        ),
        Key::removed(
            "reset_air_mass_each_window",
            "write `air_mass_reset_mode = \"preserve_vmr\"` for true, `\"none\"` for false",
        ),
        Key::removed("tracer_name", "name the tracer by its table: [tracers.CO2]"),
        Key::removed("scheme", IN_ADVECTION),
        Key::removed("limiter", IN_ADVECTION),
        Key::removed("ppm_order", IN_ADVECTION),
        Key::removed("vertical", IN_ADVECTION),
        Key::removed("cfl_limit", IN_ADVECTION),
    ],
);

pub(super) const DECOMPOSITION: Section = Section::new(
    "decomposition",
    "How the six panels are cut into tiles. No choice made here changes a result.",
    &[Key::optional(
        "tiles",
        Kind::IntPair,
        "chosen for the number of ranks",
        "Tiles per panel along i and along j, [px, py]; 6 px py must be a multiple of the number of ranks.",
    )],
);

pub(super) const ADVECTION: Section = Section::new(
    "advection",
    "Advection: X Y Z Z Y X sweeps of one-dimensional face fluxes, or H Z Z H with a two-dimensional operator H.",
    &[
        Key::required(
            "scheme",
            Kind::Choice(&[
                Choice::new("upwind", "First order, very diffusive; monotone."),
                Choice::new("slopes", "Second order, linear profile in a cell (van Leer 1977)."),
                Choice::new("ppm", "Piecewise parabolic (Colella & Woodward 1984)."),
                Choice::new(
                    "linrood",
                    "Piecewise parabolic in both horizontal directions at once (Lin & Rood 1996); on the processor only.",
                ),
                Choice::new("none", "No advection."),
            ]),
            "Scheme of the horizontal sweeps and, with `vertical = \"same\"`, of the vertical ones.",
        ),
        Key::new(
            "limiter",
            Kind::Choice(LIMITERS),
            "monotone",
            "How profiles are limited. With slopes: none, monotone, positivity. With ppm: none, monotone, cw84, huynh_pd, mono, pd. \
             With linrood: none, quasi (its default), mono, cw84, huynh_pd.",
        )
        .only(&["slopes", "ppm", "linrood"]),
        Key::new(
            "vertical",
            Kind::Choice(&[
                Choice::new("same", "As in the horizontal.").alias(&["same_as_horizontal"]),
                Choice::new("fv3_kord8", "Spline profile of FV3 (kord 8), non-negative but for tracers with `signed = true`."),
                Choice::new("fv3_kord8_signed", "The same without its positive-definite limiter, for all tracers."),
            ]),
            "same",
            "Scheme of the vertical sweeps; with linrood fv3_kord8 unless given. Others than \"same\" go with ppm and linrood and \
             need 4 levels.",
        ),
        Key::new(
            "cfl_limit",
            Kind::Float(Range::AboveTo(0.0, 1.0)),
            "0.95",
            "Largest fraction of a cell's air that may leave it in one step when the step count is found by the program.",
        ),
        Key::new(
            "strict_cfl",
            Kind::Bool,
            "false",
            "Stop when a file's own step count exceeds `cfl_limit`, instead of only reporting it.",
        ),
        Key::new(
            "ppm_order",
            Kind::Int(5, 7),
            "5",
            "Edge values of linrood: 5 as everywhere, 7 as `edge = \"two_sided\"`.",
        )
        .only(&["linrood"]),
        Key::new(
            "seam_ghost",
            Kind::Choice(&[
                Choice::new("copy", "Neighbour cells as they are."),
                Choice::new("remap", "Neighbour values interpolated to this panel's lines; tiles are at least 5 cells wide."),
            ]),
            "copy",
            "Halo values of linrood beyond a panel edge.",
        )
        .only(&["linrood"]),
        Key::new(
            "seam_mode",
            Kind::Choice(&[
                Choice::new("owner", "Computed once, by the lower panel."),
                Choice::later("mean", "Mean of both panels."),
            ]),
            "owner",
            "Fluxes through panel edges.",
        ),
        Key::new(
            "edge",
            Kind::Choice(&[
                Choice::new("none", "As everywhere else."),
                Choice::new("two_sided", "At the edge the mean of extrapolations from both sides."),
                Choice::new("fv3", "The same, and one-sided values one face beside it."),
            ]),
            "none",
            "Edge values at and beside panel edges; with `ppm_order = 7` two_sided.",
        )
        .only(&["linrood"]),
        Key::new(
            "z_fuse",
            Kind::Bool,
            "false",
            "Both vertical sweeps of a substep in one of twice the flux, in columns where at most 0.95 of any cell's air leaves \
             it; without diffusion and emissions only.",
        ),
    ],
);

const LIMITERS: &[Choice] = &[
    Choice::new("monotone", "No new extrema of the profile.").alias(&["default"]),
    Choice::new("none", "Unlimited; signed."),
    Choice::new("positivity", "Non-negative up to rounding (slopes)."),
    Choice::new("quasi", "Flat at extrema, else unlimited; signed (linrood)."),
    Choice::new("mono", "Monotone as FV3's hord 8 (ppm); non-negative (linrood)."),
    Choice::new("cw84", "Colella & Woodward 1984, parabolic flux (ppm); non-negative (linrood)."),
    Choice::new("pd", "Positive-definite as FV3's hord 13; non-negative up to rounding (ppm)."),
    Choice::new(
        "huynh_pd",
        "Non-negative up to rounding (in Float32 about 1e-7 of the values around), keeps smooth extrema (ppm; Huynh 1996); never below 0 with linrood.",
    ),
    Choice::new(
        "universal",
        "Sixth-order means over what is swept, bounded for its Courant number so that no sweep makes a new extremum (ppm; \
         Leonard 1991).",
    ),
    Choice::new(
        "mp_pd",
        "Sixth-order means over what is swept within monotonicity-preserving bounds, non-negative up to rounding; the most \
         accurate one for tracers that are nowhere negative (ppm; Suresh & Huynh 1997).",
    ),
];
