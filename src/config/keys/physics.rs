//! Keys of `[diffusion]`, `[convection]` and `[chemistry]`: of the first two only `kind = "none"` is part of this version.

use super::{Choice, Key, Kind, Range, Section};

pub(super) const DIFFUSION: Section = Section::new(
    "diffusion",
    "Vertical diffusion.",
    &[
        Key::required(
            "kind",
            Kind::Choice(&[
                Choice::new("none", "No diffusion."),
                Choice::later("constant", "Constant diffusivity."),
                Choice::later("profile", "Prescribed profile."),
                Choice::later("kz_payload", "Diffusivity stored in the transport file."),
                Choice::later("tm5_beljaars_viterbo_local_kz", "Beljaars & Viterbo, local."),
                Choice::later("geoschem_holtslag_boville_vdiff", "Holtslag & Boville, local."),
                Choice::later("geoschem_nonlocal_vdiff", "Holtslag & Boville, non-local."),
                Choice::later("tm5_dkg", "TM5 exchange stored in the transport file."),
            ]),
            "Scheme.",
        ),
        Key::removed("type", "write `kind`"),
        Key::later("value", "Diffusivity of kind constant."),
        Key::later("surface_flux_boundary", "Emissions as a boundary condition of the diffusion."),
        Key::later("kz_update", "Form of the update."),
    ],
);

pub(super) const CONVECTION: Section = Section::new(
    "convection",
    "Convective transport.",
    &[
        Key::required(
            "kind",
            Kind::Choice(&[
                Choice::new("none", "No convection."),
                Choice::later("tm5", "TM5 mass-flux matrix."),
                Choice::later("cmfmc", "Cloud mass flux, explicit."),
                Choice::later("cmfmc_matrix", "Cloud mass flux, implicit."),
            ]),
            "Scheme.",
        ),
        Key::removed("type", "write `kind`"),
        Key::later("clamp", "Clamp of the explicit scheme."),
        Key::later("cloud_base", "How the cloud base is found."),
        Key::later("use_collab_lu", "Collaborative factorisation."),
        Key::later("lmax_conv", "Highest convective layer."),
        Key::later("n_merge", "Layers merged at the top."),
        Key::later("tile_workspace_gib", "Workspace limit."),
        Key::later("solve", "Form of the solve."),
    ],
);

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
