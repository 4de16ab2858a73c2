//! `[chemistry]`: decay.

use super::error::Problems;
use super::read::{Named, View};
use super::settings::PhysicsCadence;
use super::tracers::Tracer;
use crate::operators::Decaying;
use crate::sources::Decay;

/// What happens to tracers besides transport.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    None,
    Decay,
}

impl Named for Kind {
    const ALL: &'static [(&'static str, Self)] = &[("none", Self::None), ("decay", Self::Decay)];
}

/// When tracers decay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecayCadence {
    /// Once at the end of a window.
    Window,
    /// After every substep.
    Substep,
    /// Half before and half after the transport of a window.
    Symmetric,
}

impl Named for DecayCadence {
    const ALL: &'static [(&'static str, Self)] =
        &[("window", Self::Window), ("substep", Self::Substep), ("symmetric", Self::Symmetric)];
}

/// Decay of tracers.
#[derive(Debug, Clone, PartialEq)]
pub struct Chemistry {
    /// Tracers that decay; empty if none does.
    pub decaying: Vec<Decaying>,
    /// When they do.
    pub cadence: DecayCadence,
}

impl Chemistry {
    /// Half-lives and cadence in words; `none` if nothing decays. `tracers` in storage order.
    pub fn summary(&self, tracers: &[Tracer]) -> String {
        if self.decaying.is_empty() {
            return "none".into();
        }
        let one =
            |d: &Decaying| format!("{} half-life {} s", tracers[d.tracer].name, twelve_digits(d.decay.half_life()));
        format!("{}; {}", self.decaying.iter().map(one).collect::<Vec<_>>().join(", "), self.cadence.name())
    }
}

/// Without the last digits, which a division may have changed.
fn twelve_digits(x: f64) -> f64 {
    format!("{x:.11e}").parse().unwrap_or(x)
}

/// Reads `[chemistry]`. `tracers` in storage order.
pub(super) fn read(root: &View<'_>, tracers: &[Tracer], physics: PhysicsCadence, problems: &mut Problems) -> Chemistry {
    let view = root.table("chemistry");
    if let Some(kind) = view.choice::<Kind>("kind") {
        view.misplaced("kind", kind.value.name(), problems);
        if kind.value == Kind::None {
            return Chemistry { decaying: Vec::new(), cadence: DecayCadence::Window };
        }
    }
    let cadence = view.choice("decay_cadence").map_or(
        match physics {
            PhysicsCadence::Window => DecayCadence::Window,
            PhysicsCadence::Substep => DecayCadence::Substep,
        },
        |cadence| cadence.value,
    );
    let mut decaying = Vec::new();
    for one in view.numbers("half_lives_seconds") {
        let (name, seconds) = one.value;
        match tracers.iter().position(|tracer| tracer.name == name) {
            Some(tracer) => {
                // Half-lives that are not positive have been reported.
                decaying.extend(Decay::from_half_life(seconds).ok().map(|decay| Decaying { tracer, decay }));
            }
            None => {
                let names: Vec<_> = tracers.iter().map(|t| t.name.as_str()).collect();
                let message = format!("`{}`: there is no tracer `{name}`", one.key);
                problems.add(&one.key, Some(one.span), message, format!("the tracers are {}", names.join(", ")));
            }
        }
    }
    Chemistry { decaying, cadence }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::config::RunConfig;

    #[test]
    fn half_lives_are_told_as_they_were_given() {
        let text = "[advection]\nscheme = \"upwind\"\n[input.synthetic]\n[tracers.b]\n[tracers.a]\n[chemistry]\nkind = \"decay\"\n\
                    decay_cadence = \"symmetric\"\nhalf_lives_seconds = { b = 330350.4, a = 7 }\n";
        let config = RunConfig::parse(text, Path::new("run.toml")).unwrap_or_else(|e| panic!("{}", e.plain()));
        assert_eq!(config.chemistry.summary(&config.tracers), "a half-life 7 s, b half-life 330350.4 s; symmetric");
    }
}
