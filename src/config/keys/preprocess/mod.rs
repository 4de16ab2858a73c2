//! Keys of the configuration of `atmostr preprocess`.

mod source;
mod work;

use super::{Key, Kind, Section};

/// All tables, the top level first.
pub(super) const SECTIONS: &[Section] = &[
    Section::new("met:", "Top level: tables only.", TOP),
    source::SOURCE,
    source::VARIABLES,
    source::DIMENSIONS,
    source::LEVELS,
    work::GRID,
    work::VERTICAL,
    work::NUMERICS,
    work::FLUXES,
    work::MASS_FIX,
    work::OUTPUT,
];

const TOP: &[Key] = &[
    Key::required("source", Kind::Table, "The archive."),
    Key::required("grid", Kind::Table, "The cubed sphere."),
    Key::optional("vertical", Kind::Table, "", "Layers of the transport files."),
    Key::optional("numerics", Kind::Table, "", "Precision, windows, substeps."),
    Key::optional("fluxes", Kind::Table, "", "From winds to balanced fluxes."),
    Key::optional("mass_fix", Kind::Table, "", "The global mass of dry air."),
    Key::required("output", Kind::Table, "Where transport files go."),
];
