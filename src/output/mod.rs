//! NetCDF output, comparison, maps, and files on other grids.
//!
//! [`OutputSpec`] says what is written where, [`SnapshotWriter`] writes [`SnapshotFrame`]s into one file. The content
//! of a file does not depend on the number of ranks or on the shapes of their tiles.

mod background;
mod cells;
mod channel;
mod definitions;
mod diff;
mod error;
mod frame;
mod geometry;
mod grouped;
mod met_field;
mod parts;
mod pieces;
mod plot;
mod provenance;
mod remap;
mod schema;
mod selection;
mod sharing;
mod spec;
mod writer;

pub(crate) use channel::{Channel, Values, storage};
pub use channel::{WriteMode, left_files_open};
pub use diff::{DiffReport, VOLATILE_ATTRIBUTES, ValueDifferences, diff};
pub use error::OutputError;
pub use frame::{FrameContent, FrameNeeds, IntervalSums, MetColumns, SnapshotFrame};
pub use met_field::MetField;
pub(crate) use pieces::Pieces;
pub use plot::{Chart, ChartSeries, Mark, PlotRequest, plot, plot_cells};
pub use provenance::{Provenance, record_of_files};
pub use remap::{Mapped, RegridReport, RegridRequest, check_cache, check_output, mesh_of, regrid};
pub(crate) use schema::{Attributes, Storage, VariableDef};
pub use selection::{FieldPlan, FieldSelection, LayerSelection, RESERVED_NAMES, TracerFields, TracerSelection};
pub(crate) use sharing::{Rectangle, Sharing};
pub use spec::{Compression, Continuation, OutputSpec, Series, Split, Writing};
pub use writer::SnapshotWriter;
pub(crate) use writer::snapshot_levels;
