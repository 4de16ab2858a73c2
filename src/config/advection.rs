//! `[advection]`.

use std::path::Path;

use kernels::scheme::{PpmLimiter, Scheme, SlopesLimiter};

use super::error::{ConfigErrors, Problems};
use super::keys::Section;
use super::read::{Named, View};
use super::{check, parsed};

impl Named for SlopesLimiter {
    const ALL: &'static [(&'static str, Self)] =
        &[("none", Self::None), ("monotone", Self::Monotone), ("positivity", Self::Positivity)];
}

impl Named for PpmLimiter {
    const ALL: &'static [(&'static str, Self)] =
        &[("none", Self::None), ("monotone", Self::Monotone), ("cw84", Self::Cw84), ("huynh_pd", Self::HuynhPd)];
}

/// `[advection]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Advection {
    /// Scheme of all sweeps; `None`: no advection.
    pub scheme: Option<Scheme>,
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
        ("cw84", Limiter("cw84")),
        ("huynh_pd", Limiter("huynh_pd")),
    ];
}

/// A scheme as written, without its limiter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Family {
    None,
    Upwind,
    Slopes,
    Ppm,
}

impl Named for Family {
    const ALL: &'static [(&'static str, Self)] =
        &[("none", Self::None), ("upwind", Self::Upwind), ("slopes", Self::Slopes), ("ppm", Self::Ppm)];
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
        }
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
    let scheme = match family.map(|f| f.value) {
        Some(Family::Slopes) => Some(Scheme::Slopes(limiter(&view, "slopes", problems))),
        Some(Family::Ppm) => Some(Scheme::Ppm(limiter(&view, "ppm", problems))),
        other => {
            if let Some(family) = other {
                view.misplaced("scheme", family.name(), problems);
            }
            (other == Some(Family::Upwind)).then_some(Scheme::Upwind)
        }
    };
    let cfl_excess = if view.bool_or_default("strict_cfl") { CflExcess::Stop } else { CflExcess::Report };
    Advection { scheme, cfl_limit: view.float_or_default("cfl_limit"), cfl_excess }
}

fn limiter<L: Named>(view: &View<'_>, scheme: &str, problems: &mut Problems) -> L {
    let default = L::from_name(view.default_text("limiter")).expect("the default limiter exists for every scheme");
    let Some(written) = view.choice::<Limiter>("limiter") else { return default };
    L::from_name(written.value.0).unwrap_or_else(|| {
        let names: Vec<_> = L::ALL.iter().map(|(n, _)| format!("\"{n}\"")).collect();
        problems.add(
            &written.key,
            Some(written.span),
            format!("`{} = \"{}\"` does not exist for scheme \"{scheme}\"", written.key, written.value.0),
            format!("use one of {}", names.join(", ")),
        );
        default
    })
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
    }
}
