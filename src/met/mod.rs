//! Meteorology: transport files, their windows and analytic flows.

mod error;
pub mod gates;
mod header;
mod schema;
mod section;
mod spec;
mod validate;
mod writer;

pub use error::{CellIndex, HeaderError, MetError, Violation};
pub use header::{
    DEFAULT_HEADER_BYTES, DEFAULT_RADIUS_M, FORMAT_VERSION, GeometryTags, Header, MAGIC, MAX_JSON_BYTES,
    parse_header_bytes,
};
pub use schema::{FloatType, FluxKind, FluxSampling, MassBasis, SourceFluxSampling};
pub use section::{Placement, Section, SectionShape};
pub use spec::HeaderSpec;
pub use writer::{GateAction, GatePolicy, TransportWriter, WindowPayload, WindowReceipt};
