//! Meteorology: transport files, their windows and analytic flows.

mod buffer;
mod convert;
mod derived;
mod error;
pub mod gates;
mod header;
mod inspect;
mod load;
mod patience;
mod prefetch;
mod reader;
mod schema;
mod seal;
mod seam;
mod section;
mod spec;
mod staging;
mod stats;
pub mod synth;
mod validate;
mod writer;

pub use buffer::{FluxForm, Loaded, WindowBuffer};
pub use derived::{Derive, Derived, Sections, Underivable};
pub use error::{CellIndex, HeaderError, MetError, Violation};
pub use header::{
    DEFAULT_HEADER_BYTES, DEFAULT_RADIUS_M, FORMAT_VERSION, GeometryTags, Header, MAGIC, MAX_JSON_BYTES,
    parse_header_bytes,
};
pub use inspect::{Capabilities, InspectReport};
pub use load::LoadThreads;
pub use prefetch::{FileWindows, PrefetchMode, StreamPosition, WindowStream};
pub(crate) use reader::CHUNK_BYTES;
pub use reader::TransportFile;
pub use schema::{FloatType, FluxKind, FluxSampling, MassBasis, SourceFluxSampling};
pub use section::{Placement, Section, SectionShape};
pub use spec::HeaderSpec;
pub use staging::{AtExit, Stager, StagingSettings};
pub use stats::SectionStats;
pub use writer::{GateAction, GatePolicy, TransportWriter, WindowPayload, WindowReceipt};

#[cfg(test)]
mod tests;
