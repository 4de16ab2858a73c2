//! The stages of a scheme as C macros.

use std::fmt::Write;

use crate::scheme::{
    CellScheme, FluxKind, Fv3Hord8, Fv3Hord13, LinRoodQuasi, LinRoodRule, PpmCw84, PpmHuynhPd, PpmLimiter, PpmMonotone,
    PpmNone, Scheme, SlopesLimiter, SlopesMonotone, SlopesNone, SlopesPositivity, Stage, SweptMpPd, SweptUniversal,
    Upwind,
};

/// C macros of a scheme, to be put behind the [`preamble`](super::preamble).
///
/// - `SCHEME_HALO`: halo width in cells; `SCHEME_HAS_SLOPES`, `SCHEME_HAS_EDGES`, `SCHEME_IS_DONOR`,
///   `SCHEME_IS_SWEPT`: 1 or 0, for `#if`; the last two have no profiles.
/// - `SCHEME_PROFILE(w)`, `SCHEME_SLOPE(a, b, c)`, `SCHEME_EDGE(aa, a, b, bb, slope_a, slope_b)`,
///   `SCHEME_LIMIT(w, edge_l, edge_r)`, `SCHEME_FLUX(flux, courant, q_l, left, q_r, right)`, `SCHEME_FACE(flux, courant, first, w)`:
///   what the methods of
///   [`CellScheme`] compute; a window is a `WINDOW`, a profile a `PAIR`.
pub fn scheme_defines(scheme: Scheme) -> String {
    match scheme {
        Scheme::Upwind => defines::<Upwind>(),
        Scheme::Slopes(SlopesLimiter::None) => defines::<SlopesNone>(),
        Scheme::Slopes(SlopesLimiter::Monotone) => defines::<SlopesMonotone>(),
        Scheme::Slopes(SlopesLimiter::Positivity) => defines::<SlopesPositivity>(),
        Scheme::Ppm(PpmLimiter::None) => defines::<PpmNone>(),
        Scheme::Ppm(PpmLimiter::Monotone) => defines::<PpmMonotone>(),
        Scheme::Ppm(PpmLimiter::Cw84) => defines::<PpmCw84>(),
        Scheme::Ppm(PpmLimiter::HuynhPd) => defines::<PpmHuynhPd>(),
        Scheme::Ppm(PpmLimiter::Mono) => defines::<Fv3Hord8>(),
        Scheme::Ppm(PpmLimiter::Pd) => defines::<Fv3Hord13>(),
        Scheme::LinRood(operator) => match operator.rule {
            LinRoodRule::None => defines::<PpmNone>(),
            LinRoodRule::Quasi => defines::<LinRoodQuasi>(),
            LinRoodRule::Mono => defines::<Fv3Hord8>(),
            LinRoodRule::Cw84 => defines::<PpmCw84>(),
            LinRoodRule::HuynhPd => defines::<PpmHuynhPd>(),
        },
        Scheme::Ppm(PpmLimiter::Universal) => defines::<SweptUniversal>(),
        Scheme::Ppm(PpmLimiter::MpPd) => defines::<SweptMpPd>(),
    }
}

fn defines<S: CellScheme>() -> String {
    let mut text = format!("#line 1 \"scheme {}\"\n", S::NAME);
    let flags = [
        ("HALO", S::HALO),
        ("HAS_SLOPES", usize::from(S::HAS_SLOPES)),
        ("HAS_EDGES", usize::from(S::HAS_EDGES)),
        ("IS_DONOR", usize::from(S::FLUX == FluxKind::Donor)),
        ("IS_SWEPT", usize::from(S::FLUX == FluxKind::Swept)),
    ];
    for (name, value) in flags {
        writeln!(text, "#define SCHEME_{name} {value}").expect("text can grow");
    }
    // A stage a scheme does not have is what the default of the trait makes of it.
    let profile = |parameters| Stage { parameters, ..S::PROFILE };
    text += &stage("PROFILE", S::PROFILE);
    text += &S::SLOPE.map_or("#define SCHEME_SLOPE(a, b, c) (b)\n".to_owned(), |s| stage("SLOPE", s));
    text +=
        &S::EDGE.map_or("#define SCHEME_EDGE(aa, a, b, bb, slope_a, slope_b) (a)\n".to_owned(), |s| stage("EDGE", s));
    text += &stage("LIMIT", S::LIMIT.unwrap_or(profile(&["w", "edge_l", "edge_r"])));
    let flux = match S::FLUX {
        FluxKind::Donor | FluxKind::Swept => "nm_flux_donor(flux, q_l, q_r)",
        FluxKind::Linear => "nm_flux_linear(flux, courant, q_l, (left).m1, q_r, (right).m0)",
        FluxKind::Parabola => "nm_flux_parabola(flux, courant, q_l, left, q_r, right)",
    };
    writeln!(text, "#define SCHEME_FLUX(flux, courant, q_l, left, q_r, right) {flux}").expect("text can grow");
    text += &S::FACE.map_or(
        "#define SCHEME_FACE(flux, courant, first, w) nm_flux_donor(flux, (w).v[1], (w).v[2])\n".to_owned(),
        |s| stage("FACE", s),
    );
    text
}

fn stage(name: &str, stage: Stage) -> String {
    let Stage { parameters, function, arguments } = stage;
    format!("#define SCHEME_{name}({}) nm_{function}({})\n", parameters.join(", "), arguments.join(", "))
}
