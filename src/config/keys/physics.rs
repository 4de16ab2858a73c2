//! Keys of `[diffusion]`, `[convection]` and `[chemistry]`.

use super::{Choice, Key, Kind, Range, Section};

/// Diffusivities, m² s⁻¹: far above any of the atmosphere, and such that exchange stays within the range of Float32.
const DIFFUSIVITY: Range = Range::Within(0.0, 1e6);

pub(super) const DIFFUSION: Section = Section::new(
    "diffusion",
    "Vertical diffusion: an implicit solve in every column, around the emissions in the middle of each substep.",
    &[
        Key::required(
            "kind",
            Kind::Choice(&[
                Choice::new("none", "No diffusion."),
                Choice::new("constant", "The same diffusivity everywhere."),
                Choice::new("profile", "A prescribed profile of the diffusivity, the same in all columns."),
                Choice::removed(
                    "kz_payload",
                    "transport files of the cubed sphere hold no section `kz`; choose a kind that computes the \
                     diffusivity, e.g. \"tm5_beljaars_viterbo_local_kz\"",
                ),
                Choice::new(
                    "tm5_beljaars_viterbo_local_kz",
                    "Local diffusivity of the boundary layer (Beljaars & Viterbo 1998). Needs the surface sections.",
                ),
                Choice::new(
                    "geoschem_holtslag_boville_vdiff",
                    "The same with shear above the boundary layer (Holtslag & Boville 1993), local. Needs the surface \
                     sections, winds, temperature and humidity.",
                ),
                Choice::new(
                    "geoschem_nonlocal_vdiff",
                    "Non-local scheme of GEOS-Chem (Holtslag & Boville 1993); also lofts surface emissions. Needs the \
                     latent heat flux too.",
                ),
                Choice::new("tm5_dkg", "Exchange of air between layers from the section `dkg`."),
            ]),
            "Scheme.",
        ),
        Key::removed("type", "write `kind`"),
        Key::new("value", Kind::Float(DIFFUSIVITY), "1.0", "Diffusivity, m² s⁻¹.").only(&["constant"]),
        Key::optional(
            "kz",
            Kind::Floats(DIFFUSIVITY),
            "required with profile",
            "Diffusivities, m² s⁻¹: one per height of `z`, or without `z` one per level, from the top down.",
        )
        .only(&["profile"]),
        Key::optional(
            "z",
            Kind::Floats(Range::From(0.0)),
            "one value per level",
            "Heights of `kz` above the surface, m, increasing. Linear in between, constant beyond both ends.",
        )
        .only(&["profile"]),
        Key::optional(
            "surface_flux_boundary",
            Kind::Bool,
            "false; true with geoschem_nonlocal_vdiff, which allows nothing else",
            "false: half the diffusion, emissions, the other half. true: emissions, then the diffusion.",
        )
        .only(MIXING),
        Key::optional(
            "kz_update",
            Kind::Choice(&[
                Choice::new("mass_space", "Directed transfers of tracer mass: accurate and conserving."),
                Choice::new("flux", "Fluxes of the tridiagonal solution."),
                Choice::new("matrix", "The tridiagonal solution itself; does not conserve tracer mass."),
            ]),
            "`mass_space`; the only one with geoschem_nonlocal_vdiff and tm5_dkg",
            "Form of the solve.",
        )
        .only(MIXING),
    ],
);

/// Kinds that mix.
const MIXING: &[&str] = &[
    "constant",
    "profile",
    "tm5_beljaars_viterbo_local_kz",
    "geoschem_holtslag_boville_vdiff",
    "geoschem_nonlocal_vdiff",
    "tm5_dkg",
];

pub(super) const CONVECTION: Section = Section::new(
    "convection",
    "Convective transport, after the transport of a window or of a substep (`run.physics_cadence`).",
    &[
        Key::required(
            "kind",
            Kind::Choice(&[
                Choice::new("none", "No convection."),
                Choice::new(
                    "tm5",
                    "Implicit mass fluxes of TM5 from the sections `entu`, `detu`, `entd`, `detd` (Tiedtke 1989).",
                ),
                Choice::new("cmfmc", "Explicit plume of GEOS-Chem from the section `cmfmc`, with `dtrain` if present."),
                Choice::new("cmfmc_matrix", "Implicit mass fluxes from the sections `cmfmc` and `dtrain`."),
            ]),
            "Scheme.",
        ),
        Key::removed("type", "write `kind`"),
        Key::new("clamp", Kind::Bool, "false", "Set negative values to 0 and scale the column to its mass.")
            .only(&["cmfmc"]),
        Key::new(
            "cloud_base",
            Kind::Choice(&[
                Choice::new("cmfmc", "The lowest layer with a flux through its bottom."),
                Choice::new("dqrcu", "The layer of the section `cmfmc_cloud_base`."),
                Choice::new("none", "No mixed layer below clouds."),
            ]),
            "cmfmc",
            "Where the plume leaves the mixed layer below the cloud.",
        )
        .only(&["cmfmc"]),
        Key::new(
            "cloud_base_exchange",
            Kind::Choice(&[
                Choice::new("conservative", "The mixed layer exchanges with cloud base before the plume rises."),
                Choice::new("geoschem", "Both at once, as in GEOS-Chem."),
            ]),
            "conservative",
            "Order at cloud base.",
        )
        .only(&["cmfmc"]),
        Key::new(
            "update",
            Kind::Choice(&[
                Choice::new("mass_flux", "Tracer mass changes by fluxes, each computed once."),
                Choice::new("mixing_ratio", "Mixing ratios, turned into tracer mass.").alias(&["rm"]),
            ]),
            "mass_flux",
            "What is computed with.",
        )
        .only(&["cmfmc"]),
        Key::optional(
            "use_collab_lu",
            Kind::Bool,
            "true wherever the matrices fit",
            "Whether a device factors each matrix by a group of threads. No choice made here changes a result.",
        )
        .only(IMPLICIT),
        Key::new(
            "lmax_conv",
            Kind::Int(0, i64::MAX),
            "0",
            "Only this many of the lowest levels convect; 0 is all. Another value needs `use_collab_lu = true`.",
        )
        .only(IMPLICIT),
        Key::new(
            "n_merge",
            Kind::Int(1, i64::MAX),
            "1",
            "Neighbouring levels solved as one. Another value than 1 needs `use_collab_lu = true`.",
        )
        .only(IMPLICIT),
        Key::new(
            "tile_workspace_gib",
            Kind::Float(Range::Above(0.0)),
            "1.0",
            "GiB for matrices where a device factors them one by one.",
        )
        .only(IMPLICIT),
        Key::new(
            "solve",
            Kind::Choice(&[
                Choice::new("delta", "The change of the tracer mass: a background does not enter its rounding."),
                Choice::new("plain", "The tracer mass after the step."),
            ]),
            "delta",
            "Unknown of the solve.",
        )
        .only(IMPLICIT),
    ],
);

/// Kinds that solve for all layers at once.
const IMPLICIT: &[&str] = &["tm5", "cmfmc_matrix"];

pub(super) const CHEMISTRY: Section = Section::new(
    "chemistry",
    "Decay.",
    &[
        Key::required(
            "kind",
            Kind::Choice(&[
                Choice::new("none", "Inert tracers."),
                Choice::new("decay", "Exponential decay with a half-life per tracer."),
            ]),
            "Scheme.",
        ),
        Key::removed("type", "write `kind`"),
        Key::optional(
            "half_lives_seconds",
            Kind::Numbers(Range::Above(0.0)),
            "no tracer decays",
            "Half-life of each tracer that decays, s: `half_lives_seconds = { rn222 = 330350.4 }`.",
        )
        .only(&["decay"]),
        Key::optional(
            "decay_cadence",
            Kind::Choice(&[
                Choice::new("window", "Once at the end of every window, for its length."),
                Choice::new("substep", "After every substep, for its length."),
                Choice::new("symmetric", "Half before and half after the transport of a window."),
            ]),
            "that of `run.physics_cadence`",
            "When tracers decay. With sources, `window` loses too much (λ/2 times the window, 0.4 % of radon); `symmetric` \
             does not.",
        )
        .only(&["decay"]),
    ],
);
