//! `[diffusion]` and `[convection]`.

mod convection;
mod diffusion;

use std::ops::Range;

use super::error::Problems;
use super::read::{Named, View};
use crate::operators::columns::{Convection, Diffusion};

/// Vertical physics, decay aside.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Physics {
    /// Vertical diffusion, if there is any.
    pub diffusion: Option<Diffusion>,
    /// Convective transport, if there is any.
    pub convection: Option<Convection>,
}

impl Physics {
    /// Diffusion in words; `none` without.
    pub fn diffusion_summary(&self) -> String {
        self.diffusion.as_ref().map_or_else(|| "none".into(), diffusion::summary)
    }

    /// Convection in words; `none` without.
    pub fn convection_summary(&self) -> String {
        self.convection.as_ref().map_or_else(|| "none".into(), convection::summary)
    }

    /// Name of the kind of diffusion in configuration files.
    pub fn diffusion_kind(&self) -> &'static str {
        self.diffusion.as_ref().map_or("none", |diffusion| diffusion::kind_of(&diffusion.source).name())
    }

    /// Name of the kind of convection in configuration files.
    pub fn convection_kind(&self) -> &'static str {
        self.convection.as_ref().map_or("none", |convection| convection::kind_of(convection).name())
    }
}

/// Reads `[diffusion]` and `[convection]`. After an error the values returned mean nothing.
pub(super) fn read(root: &View<'_>, problems: &mut Problems) -> Physics {
    Physics {
        diffusion: diffusion::read(&root.table("diffusion"), problems),
        convection: convection::read(&root.table("convection"), problems),
    }
}

/// Place of a key that is written, else of its table.
fn place(view: &View<'_>, name: &str) -> Option<Range<usize>> {
    view.given().find(|(key, _)| key.name == name).map(|(_, at)| at.span()).or_else(|| view.span())
}
