//! Keys of what is done with an archive.

use super::super::{Choice, Key, Kind, Range, Section, input};

pub(super) const GRID: Section = Section::new(
    "met:grid",
    "The cubed sphere of the transport files; its radius is 6 371 229 m.",
    &[
        Key::required("nc", Kind::Int(2, 5760), "Cells per panel edge.").alias(&["Nc"]),
        Key::new(
            "panel_convention",
            Kind::Choice(&[
                Choice::new("geos_native", "Panels as in GEOS files, turned by -10 degrees."),
                Choice::new("gnomonic", "Equiangular panels, four equatorial ones first."),
            ]),
            "geos_native",
            "Geometry, numbering and orientation of the panels.",
        ),
        Key::optional(
            "regridder_cache_dir",
            Kind::Path,
            "weights are not kept",
            "Folder in which regridding weights are kept for later days and for either precision.",
        ),
    ],
);

pub(super) const VERTICAL: Section = Section::new(
    "met:vertical",
    "Layers of the transport files: ranges of the layers on which the archive is read.",
    &[
        Key::new(
            "levels",
            Kind::Choice(&[
                Choice::new("native", "Those of the archive."),
                Choice::new("geos_l72", "The 72 layers of GEOS."),
                Choice::new("ifs_l137", "The 137 layers of the IFS."),
                Choice::new("smooth", "`n_levels` layers, thin near the ground, with their top at `top_pa`."),
                Choice::new("file", "Coefficients of a file."),
            ]),
            "native",
            "Layers on which the archive is read. Only `kind = \"gridded\"` is interpolated to them; the files of other archives hold \
             them (native: 72 layers of GEOS, 137 of the IFS).",
        ),
        Key::optional(
            "coefficients_file",
            Kind::Path,
            "",
            "TOML file with `[coefficients]`, `a` (Pa) and `b` at the interfaces, from the model top down.",
        )
        .alias(&["coefficients"]),
        Key::new("n_levels", Kind::Int(1, 1000), "40", "Layers of `levels = \"smooth\"`."),
        Key::new(
            "top_pa",
            Kind::Float(Range::Between(0.0, 50_000.0)),
            "100",
            "Model top of `levels = \"smooth\"`, Pa.",
        ),
        Key::new(
            "transform",
            Kind::Choice(&[
                Choice::new("identity", "All layers."),
                Choice::new("merge_by_index", "Ranges given by `merge_ends`."),
                Choice::new(
                    "merge_layers_thinner_than",
                    "Layers at least `min_thickness_pa` thick, the topmost excepted.",
                ),
                Choice::new(
                    "merge_above_pressure",
                    "Layers above `threshold_pa` merged up to `merged_thickness_pa` each.",
                ),
                Choice::new("level_selection", "A `preset` of the 137 layers of the IFS."),
            ]),
            "identity",
            "How layers are merged.",
        ),
        Key::optional(
            "merge_ends",
            Kind::Ints(1),
            "",
            "Last layer of each merged range, counted from 1 at the model top.",
        ),
        Key::optional("min_thickness_pa", Kind::Float(Range::Above(0.0)), "", "Least thickness in Pa at 101325 Pa.")
            .alias(&["min_thickness_Pa"]),
        Key::optional(
            "threshold_pa",
            Kind::Float(Range::Above(0.0)),
            "",
            "Mid pressure in Pa at 101325 Pa above which layers are merged.",
        ),
        Key::optional(
            "merged_thickness_pa",
            Kind::Float(Range::Above(0.0)),
            "one layer",
            "Thickness of merged layers, Pa.",
        ),
        Key::optional(
            "preset",
            Kind::Choice(&[
                Choice::new("ml137_tropo34", "34 layers."),
                Choice::new("ml137_66L", "66 layers."),
                Choice::new("ml137_cfl85", "85 layers.").alias(&["85L"]),
                Choice::new("ml137_cfl94", "94 layers.").alias(&["94L"]),
                Choice::new("ml137_full", "All 137 layers."),
            ]),
            "",
            "Layers of TM5.",
        ),
    ],
);

pub(super) const NUMERICS: Section = Section::new(
    "met:numerics",
    "Precision, windows, substeps.",
    &[
        Key::new("float_type", Kind::Choice(input::FLOATS), "Float32", "Precision of the transport files."),
        Key::new(
            "dt_met_seconds",
            Kind::Float(Range::Above(0.0)),
            "3600",
            "Length of a window in seconds; a day has a whole number of them.",
        ),
        Key::new(
            "substep_schedule",
            Kind::Choice(&[
                Choice::new("adaptive_cfl", "As many as each window needs."),
                Choice::new("constant", "`min_steps_per_window` in every window."),
            ]),
            "adaptive_cfl",
            "How substeps are chosen.",
        ),
        Key::new(
            "substep_cfl_target",
            Kind::Float(Range::AboveTo(0.0, 1.0)),
            "0.95",
            "Largest share of a cell's air that a substep may move out, for the choice of substeps.",
        ),
        Key::new("min_steps_per_window", Kind::Int(1, 100_000), "1", "Least substeps of a window."),
        Key::new("max_steps_per_window", Kind::Int(1, 100_000), "512", "Most substeps of a window."),
        Key::new(
            "positivity_cfl_limit",
            Kind::Float(Range::AboveTo(0.0, 1.0)),
            "0.95",
            "Largest share of a cell's air that a substep may move out, for the check of every window.",
        ),
        Key::new(
            "require_substep_positivity",
            Kind::Bool,
            "true",
            "Whether a window beyond `positivity_cfl_limit` ends the day; if not, it is logged.",
        ),
        Key::removed(
            "geos_cm_closure",
            "remove it: vertical fluxes always close the budget of every layer between the endpoints",
        ),
        Key::removed("cs_balance_tol", "remove it: the balance is solved directly, to rounding"),
        Key::removed("cs_balance_project_every", "remove it: the balance is solved directly, to rounding"),
        Key::removed("chain_mass", "remove it: every window starts with the end of the one before, across days too"),
        Key::removed("balance_mode", "write it in [fluxes]"),
    ],
);

pub(super) const FLUXES: Section = Section::new(
    "met:fluxes",
    "From winds to balanced fluxes. GEOS-IT and GEOS-FP hold fluxes: of this table they only use the balance.",
    &[
        Key::new(
            "wind_regrid",
            Kind::Choice(&[
                Choice::new("cartesian", "As vectors in space: right at the poles too."),
                Choice::new("scalar", "Both components as they are: off by 5 percent near the poles."),
            ]),
            "cartesian",
            "How winds get to the cube.",
        ),
        Key::new(
            "face_fluxes",
            Kind::Choice(&[
                Choice::new("vector", "Wind at the face, from both sides of seams."),
                Choice::new("panel_average", "Mean of the cells of the panel; faces at seams see one side."),
                Choice::new(
                    "line_integral",
                    "Integrals of the archive's own winds along the faces; `era5` only, where it is the default.",
                ),
            ]),
            "vector",
            "How winds become fluxes.",
        ),
        Key::new(
            "face_interpolation",
            Kind::Choice(&[
                Choice::new("fv3", "Cubic, with the filter of FV3 along panels."),
                Choice::new("cubic", "Cubic inside panels."),
                Choice::new("linear", "Linear."),
            ]),
            "fv3",
            "Interpolation of `face_fluxes = \"vector\"`.",
        ),
        Key::new(
            "face_lengths",
            Kind::Choice(&[
                Choice::new("cell_centerline", "Width of the cell."),
                Choice::new("edge", "Length of the face."),
            ]),
            "cell_centerline",
            "Lengths of `face_fluxes = \"panel_average\"`.",
        ),
        Key::new(
            "flux_thickness",
            Kind::Choice(&[
                Choice::new("dry_mass", "Dry air."),
                Choice::new("moist", "All air, as the reference does; fluxes are then too large by the humidity."),
            ]),
            "dry_mass",
            "Air that the winds carry.",
        ),
        Key::new(
            "flux_time_sampling",
            Kind::Choice(&[
                Choice::new("window_mean", "Mean of the winds at both ends of a window."),
                Choice::new("window_start", "Winds at the start of a window."),
            ]),
            "window_mean",
            "Winds of archives of instants.",
        ),
        Key::new(
            "balance_mode",
            Kind::Choice(&[
                Choice::new("column", "One correction per face, shared by its layers."),
                Choice::new(
                    "per_layer",
                    "One correction per face and layer: no vertical motion but that of the masses.",
                ),
                Choice::new(
                    "none",
                    "None: the residual goes into the vertical fluxes; only for winds that are balanced.",
                ),
            ]),
            "column",
            "How horizontal fluxes are made to fit the mass changes.",
        )
        .alias(&["horizontal_balance"]),
        Key::new(
            "column_balance_weights",
            Kind::Choice(&[
                Choice::new("hybrid_mass", "Air mass of the layers that follow the surface pressure."),
                Choice::new("hybrid_b", "How much a layer follows the surface pressure."),
                Choice::new("mass", "Air mass; moves the stratosphere with the surface pressure."),
            ]),
            "hybrid_mass",
            "Share of the layers in the correction of a column.",
        ),
    ],
);

pub(super) const MASS_FIX: Section = Section::new(
    "met:mass_fix",
    "The global mass of dry air. Archives let it drift; here it is the same at every instant.",
    &[
        Key::new(
            "mode",
            Kind::Choice(&[
                Choice::new("measured", "That of the first day prepared, recorded in `campaign_file` for all others."),
                Choice::new("target_ps_dry", "`target_ps_dry_pa` or `target_total_kg`."),
                Choice::new("none", "That of the archive, as it drifts.").alias(&["off"]),
                Choice::removed(
                    "initial_endpoint",
                    "use \"measured\": it keeps the mass of the first day for all days",
                ),
            ]),
            "measured",
            "Which mass.",
        ),
        Key::optional(
            "target_ps_dry_pa",
            Kind::Float(Range::Within(1e4, 1.5e5)),
            "",
            "Mean weight of the dry air between the ground and the top of the layers, Pa. It is the mean surface pressure of dry \
             air less what lies above the top, which these layers do not have.",
        ),
        Key::optional(
            "target_total_kg",
            Kind::Float(Range::Within(1e18, 1e19)),
            "",
            "Mass of dry air between the ground and the top of the layers, kg.",
        ),
        Key::optional(
            "campaign_file",
            Kind::Path,
            "campaign.toml in the folder of the output",
            "Record of the measured mean weight of dry air between the ground and the top of the layers, in Pa.",
        ),
        Key::removed("enable", "write mode = \"none\" to keep the mass of the archive"),
    ],
);

pub(super) const OUTPUT: Section = Section::new(
    "met:output",
    "Where transport files go: one per day.",
    &[
        Key::required("directory", Kind::Path, "Folder of the transport files; it is made if it does not exist."),
        Key::optional(
            "file_pattern",
            Kind::Text,
            "<kind>_transport_{YYYYMMDD}_<precision>.bin",
            "Name of a day's file, with `{YYYYMMDD}` exactly once.",
        ),
        Key::removed("mass_basis", "remove it: transport files hold dry air"),
        Key::removed(
            "include_qv",
            "remove it: transport files of the cubed sphere hold no humidity but that of `include_vdiff_fields`",
        ),
    ],
);
