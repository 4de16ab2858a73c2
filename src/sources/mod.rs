//! Surface sources and decay: what enters or leaves each cell per second, and for which part of a step.
//!
//! Rates are kg of carrier air per second and cell: kg of the species times M_air / M_species, so that they add to the
//! stored tracer as they are. They are computed in f64 and rounded once per cell. Times are seconds since the start of
//! the run, never since midnight: a daily clock would repeat the first day.

mod budget;
mod catrine;
mod cells;
mod covered;
mod decay;
mod error;
mod injection;
mod inventory;
mod native;
mod plausible;
mod rates;
mod series;
mod species;
mod times;
mod total;
mod units;

pub use budget::{decayed_burden, emitted};
pub use catrine::{GrowthTable, kg_sf6_per_ppt};
pub use covered::CoveredTimes;
pub use decay::{Decay, known_half_life};
pub use error::SourceError;
pub use injection::{Injection, loft_surface_part};
pub use inventory::{
    FilePeriod, FluxUnits, Gaps, Inventory, InventoryFile, InventoryKind, Period, Record, Spread, Stamp, TimeUse,
    year_in_name,
};
pub use native::{NativeFiles, RunSpan};
pub use rates::{Conversion, Source};
pub use series::{CompleteSeries, FluxAttribute, FluxPrecision, NativeSeries, place_all};
pub use species::{known_molar_mass, molar_mass};
pub use times::{Segment, Segments, SourceTimes, TimeScheme};
pub use total::{EmissionTotal, SourceTotals};
