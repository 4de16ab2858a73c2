//! Fields that follow from the sections of a window, computed once when it is read.

use std::fmt::Debug;

use super::error::CellIndex;
use super::section::Section;
use crate::state::Slabs;

/// A field computed from the sections of a window. Each has one plane per level, as the cell sections have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Derived {
    /// Exchange of air through the lower interface of each layer, kg/s.
    Exchange,
    /// Rate of that exchange, 1/s: times the air mass of both layers it is the exchange.
    ExchangeRate,
    /// Share of a surface emission that each layer takes.
    Lofting,
    /// Entrainment of an updraught, kg m⁻² s⁻¹.
    Entrainment,
    /// Detrainment of an updraught, kg m⁻² s⁻¹.
    Detrainment,
    /// Share of the emission of a source (its number in the run) that each layer takes.
    Injection(usize),
}

/// Sections of a loaded window.
#[derive(Clone, Copy, Debug)]
pub struct Sections<'a, R>(pub(super) &'a [(Section, Slabs<R>)]);

impl<'a, R> Sections<'a, R> {
    /// Values of a section, if it is stored.
    pub fn get(&self, section: Section) -> Option<&'a Slabs<R>> {
        self.0.iter().find(|(s, _)| *s == section).map(|(_, values)| values)
    }
}

/// A cell for which no field can be computed, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Underivable {
    /// The cell.
    pub cell: CellIndex,
    /// What is wrong with it.
    pub problem: String,
}

/// Computes derived fields of windows. Called by the thread that reads them.
pub trait Derive<R>: Debug + Send + Sync {
    /// Fields it computes.
    fn fields(&self) -> Vec<Derived>;

    /// Fills `fields`, which are those it names.
    ///
    /// # Errors
    /// A column whose sections make no sense together.
    fn derive(&self, sections: Sections<'_, R>, fields: &mut [(Derived, Slabs<R>)]) -> Result<(), Underivable>;
}
