//! `[advection]`.

use std::path::Path;

use kernels::scheme::{
    Choice, EdgeRule, Fusion, LinRood, LinRoodRule, PpmLimiter, Scheme, SeamGhost, Sign, SlopesLimiter, Vertical,
};

use super::error::{ConfigErrors, Problems};
use super::keys::Section;
use super::read::{Named, View};
use super::tracers::Tracer;
use super::{check, parsed};

impl Named for SlopesLimiter {
    const ALL: &'static [(&'static str, Self)] =
        &[("none", Self::None), ("monotone", Self::Monotone), ("positivity", Self::Positivity)];
}

impl Named for PpmLimiter {
    const ALL: &'static [(&'static str, Self)] = &[
        ("none", Self::None),
        ("monotone", Self::Monotone),
        ("cw84", Self::Cw84),
        ("huynh_pd", Self::HuynhPd),
        ("mono", Self::Mono),
        ("pd", Self::Pd),
        ("universal", Self::Universal),
        ("mp_pd", Self::MpPd),
    ];
}

impl Named for LinRoodRule {
    const ALL: &'static [(&'static str, Self)] = &[
        ("none", Self::None),
        ("quasi", Self::Quasi),
        ("mono", Self::Mono),
        ("cw84", Self::Cw84),
        ("huynh_pd", Self::HuynhPd),
    ];
}

impl Named for EdgeRule {
    const ALL: &'static [(&'static str, Self)] =
        &[("none", Self::None), ("two_sided", Self::TwoSided), ("fv3", Self::Fv3)];
}

impl Named for SeamGhost {
    const ALL: &'static [(&'static str, Self)] = &[("copy", Self::Copy), ("remap", Self::Remap)];
}

impl Named for Vertical {
    const ALL: &'static [(&'static str, Self)] =
        &[("same", Self::Same), ("fv3_kord8", Self::Fv3Kord8), ("fv3_kord8_signed", Self::Fv3Kord8Signed)];
}

/// `[advection]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Advection {
    /// Scheme of the horizontal sweeps; `None`: no advection.
    pub scheme: Option<Scheme>,
    /// Scheme of the vertical sweeps.
    pub vertical: Vertical,
    /// Whether vertical sweeps are fused.
    pub fusion: Fusion,
    /// Largest fraction of a cell's air that may leave it in one step, in (0, 1].
    pub cfl_limit: f64,
    /// What happens when a file's own step count exceeds `cfl_limit`.
    pub cfl_excess: CflExcess,
}

/// What happens when a step count stored in a transport file exceeds the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CflExcess {
    /// It is reported.
    Report,
    /// The run stops.
    Stop,
}

/// A limiter as written, before it is matched with the scheme.
#[derive(Debug, Clone, Copy)]
struct Limiter(&'static str);

impl Named for Limiter {
    const ALL: &'static [(&'static str, Self)] = &[
        ("none", Limiter("none")),
        ("monotone", Limiter("monotone")),
        ("positivity", Limiter("positivity")),
        ("quasi", Limiter("quasi")),
        ("mono", Limiter("mono")),
        ("cw84", Limiter("cw84")),
        ("huynh_pd", Limiter("huynh_pd")),
        ("pd", Limiter("pd")),
        ("universal", Limiter("universal")),
        ("mp_pd", Limiter("mp_pd")),
    ];
}

/// A scheme as written, without its limiter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Family {
    None,
    Upwind,
    Slopes,
    Ppm,
    LinRood,
}

impl Named for Family {
    const ALL: &'static [(&'static str, Self)] = &[
        ("none", Self::None),
        ("upwind", Self::Upwind),
        ("slopes", Self::Slopes),
        ("ppm", Self::Ppm),
        ("linrood", Self::LinRood),
    ];
}

impl Advection {
    /// Checks a text that holds the table `[advection]` and nothing else; `name` stands for it in messages.
    ///
    /// # Errors
    /// As for [`RunConfig::parse`](super::RunConfig::parse).
    pub fn parse(text: &str, name: &Path) -> Result<Self, ConfigErrors> {
        let mut problems = Problems::default();
        let root = parsed(text, name)?;
        let top = Section::at("").expect("the top level is a section");
        let view = View::root(top, root.get_ref());
        check::one_table("advection", root.get_ref(), &mut problems);
        let advection = read(&view, &mut problems);
        match problems.into_vec() {
            problems if problems.is_empty() => Ok(advection),
            problems => Err(ConfigErrors::new(name, text, problems)),
        }
    }

    /// Name of the scheme in configuration files, without the limiter.
    pub fn scheme_name(&self) -> &'static str {
        match self.scheme {
            None => "none",
            Some(Scheme::Upwind) => "upwind",
            Some(Scheme::Slopes(_)) => "slopes",
            Some(Scheme::Ppm(_)) => "ppm",
            Some(Scheme::LinRood(_)) => "linrood",
        }
    }

    /// What the sweeps do; `None`: no advection.
    pub fn choice(&self) -> Option<Choice> {
        self.scheme.map(|scheme| Choice { scheme, vertical: self.vertical, fusion: self.fusion })
    }

    /// The choice in words, with the tracers that may be negative where it matters.
    pub fn summary(&self, tracers: &[Tracer]) -> String {
        let Some(choice) = self.choice() else { return "none".to_owned() };
        let signed: Vec<_> = tracers.iter().filter(|t| t.sign == Sign::Any).map(|t| t.name.as_str()).collect();
        if self.vertical != Vertical::Fv3Kord8 || signed.is_empty() {
            return choice.to_string();
        }
        format!("{choice}, signed: {}", signed.join(", "))
    }

    /// Halo width in cells that the scheme needs.
    pub fn halo(&self) -> usize {
        self.scheme.map_or(0, Scheme::halo)
    }
}

/// Reads `[advection]`. After an error the values returned mean nothing.
pub(super) fn read(root: &View<'_>, problems: &mut Problems) -> Advection {
    let view = root.table("advection");
    let family = view.choice::<Family>("scheme");
    if let Some(family) = &family {
        view.misplaced("scheme", family.value.name(), problems);
    }
    let scheme = match family.as_ref().map(|f| f.value) {
        Some(Family::Slopes) => Some(Scheme::Slopes(limiter(&view, "slopes", SlopesLimiter::Monotone, problems))),
        Some(Family::Ppm) => Some(Scheme::Ppm(limiter(&view, "ppm", PpmLimiter::Monotone, problems))),
        Some(Family::LinRood) => Some(Scheme::LinRood(LinRood {
            rule: limiter(&view, "linrood", LinRoodRule::Quasi, problems),
            edge: edge(&view, problems),
            ghost: view.choice_or_default("seam_ghost"),
        })),
        Some(Family::Upwind) => Some(Scheme::Upwind),
        Some(Family::None) | None => None,
    };
    let vertical = view.choice::<Vertical>("vertical");
    if let Some(vertical) = vertical.as_ref().filter(|vertical| vertical.value != Vertical::Same)
        && let Some(family) = family.as_ref().filter(|f| ![Family::Ppm, Family::LinRood].contains(&f.value))
    {
        problems.add(
            &vertical.key,
            Some(vertical.span.clone()),
            format!(
                "`{} = \"{}\"` does not go with scheme \"{}\"",
                vertical.key,
                vertical.value.name(),
                family.value.name()
            ),
            "remove it, or use `scheme = \"ppm\"` or \"linrood\"",
        );
    }
    let fusion = if view.bool_or_default("z_fuse") { Fusion::WherePossible } else { Fusion::Never };
    let cfl_excess = if view.bool_or_default("strict_cfl") { CflExcess::Stop } else { CflExcess::Report };
    // Upwind or one-dimensional parabolas in columns would spoil what the horizontal operator gains.
    let usual = if matches!(scheme, Some(Scheme::LinRood(_))) { Vertical::Fv3Kord8 } else { Vertical::Same };
    let vertical = vertical.map_or(usual, |vertical| vertical.value);
    Advection { scheme, vertical, fusion, cfl_limit: view.float_or_default("cfl_limit"), cfl_excess }
}

/// The limiter of a scheme, or its `usual` one.
fn limiter<L: Named>(view: &View<'_>, scheme: &str, usual: L, problems: &mut Problems) -> L {
    let Some(written) = view.choice::<Limiter>("limiter") else { return usual };
    L::from_name(written.value.0).unwrap_or_else(|| {
        let names: Vec<_> = L::ALL.iter().map(|(n, _)| format!("\"{n}\"")).collect();
        problems.add(
            &written.key,
            Some(written.span),
            format!("`{} = \"{}\"` does not exist for scheme \"{scheme}\"", written.key, written.value.0),
            format!("use one of {}", names.join(", ")),
        );
        usual
    })
}

/// Edge values of the Lin–Rood operator, from the rule or the order.
fn edge(view: &View<'_>, problems: &mut Problems) -> EdgeRule {
    let written = view.choice::<EdgeRule>("edge");
    let Some(order) = view.int("ppm_order") else { return written.map_or(EdgeRule::None, |edge| edge.value) };
    let of_order = match order.value {
        5 => EdgeRule::None,
        7 => EdgeRule::TwoSided,
        other => {
            let message = format!("`{}` is {other}, but there are only the orders 5 and 7", order.key);
            problems.add(&order.key, Some(order.span), message, "use 5, or 7 for two-sided values at panel edges");
            return EdgeRule::None;
        }
    };
    match written {
        Some(edge) if of_order == EdgeRule::TwoSided && edge.value != of_order => {
            let message =
                format!("`{}` = 7 and `{} = \"{}\"` contradict each other", order.key, edge.key, edge.value.name());
            problems.add(&order.key, Some(order.span), message, "remove one of them");
            of_order
        }
        Some(edge) => edge.value,
        None => of_order,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::names_agree;

    #[test]
    fn the_table_alone_is_checked_like_the_table_of_a_file() {
        let parse = |text: &str| Advection::parse(text, Path::new("options"));
        let found = parse("[advection]\nscheme = \"ppm\"\nlimiter = \"cw84\"\ncfl_limit = 0.5\n").unwrap();
        assert_eq!((found.scheme, found.cfl_limit), (Some(Scheme::Ppm(PpmLimiter::Cw84)), 0.5));
        for (text, part) in [
            ("[advection]\nscheme = \"pppm\"\n", "advection.scheme"),
            ("[advection]\nlimiter = \"cw84\"\n", "scheme"),
            ("[advection]\nscheme = \"ppm\"\nshceme = 1\n", "shceme"),
            ("[advection]\nscheme = \"slopes\"\nlimiter = \"cw84\"\n", "does not exist for scheme"),
        ] {
            let errors = parse(text).unwrap_err().plain();
            assert!(errors.contains(part) && errors.contains("options"), "{errors}");
        }
    }

    #[test]
    fn every_name_stands_for_a_value() {
        names_agree::<Family>("advection", "scheme");
        names_agree::<Limiter>("advection", "limiter");
        names_agree::<Vertical>("advection", "vertical");
        names_agree::<EdgeRule>("advection", "edge");
        names_agree::<SeamGhost>("advection", "seam_ghost");
    }
}
