//! Header of a day's file: what was read, what was done with it.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::Preprocessor;
use crate::met::{GateAction, HeaderSpec};
use crate::preprocess::{Pin, PreprocessError};

/// Name of the contract that the files fulfil: substeps chosen per window, dry air, layers closed between endpoints.
const CONTRACT: &str = "plan41_variable_substeps";

/// Header key of the names and sizes of the files from which the day comes; empty for archives in folders by date.
pub const SOURCE_INPUTS: &str = "source_inputs";

impl Preprocessor<'_> {
    /// What is written about the file before its first window.
    pub(super) fn header(&self, day: Date) -> Result<HeaderSpec, PreprocessError> {
        let (grid, coordinate, settings) = (self.target.grid(), self.levels.coordinate(), self.settings);
        let (a, b) = (coordinate.a().to_vec(), coordinate.b().to_vec());
        let mut spec = HeaderSpec::new(grid.nc(), grid.convention(), a, b, settings.windows);
        spec.longitude_offset_deg = grid.longitude_offset_deg();
        spec.radius_m = grid.radius_m();
        spec.float_type = settings.float;
        spec.dt_met_seconds = settings.window_seconds();
        spec.adaptive_substeps = settings.steps.least != settings.steps.most;
        spec.source_flux_sampling = self.reader.sampling();
        spec.preprocessor_contract = CONTRACT.to_owned();
        spec.start_time_utc = Some(instant(day)?);
        spec.sections = self.sections();
        let mut extra = self.reader.provenance();
        extra.extend(settings.provenance.clone());
        extra.extend(self.own_keys());
        extra.insert(SOURCE_INPUTS.to_owned(), json!(self.reader.inputs(day)));
        spec.extra = extra;
        Ok(spec)
    }

    /// Header keys of the work done here (spec 40 §1.2).
    fn own_keys(&self) -> Map<String, Value> {
        let (settings, levels) = (self.settings, self.levels);
        let area = self.target.grid().total_area();
        let ranges: Vec<[usize; 2]> = levels.ranges().iter().map(|r| [r.start + 1, r.end]).collect();
        let keys = [
            ("horizontal_balance", json!(settings.balance.name())),
            ("column_balance_weights", json!(settings.balance.weights().name())),
            ("poisson_balance_method", json!("direct_graph_laplacian")),
            ("vertical_flux", json!("closes every layer between the endpoints")),
            ("substep_cfl_target", json!(settings.steps.target)),
            ("min_steps_per_window", json!(settings.steps.least)),
            ("max_steps_per_window", json!(settings.steps.most)),
            ("positivity_cfl_limit", json!(settings.positivity_limit)),
            ("require_substep_positivity", json!(settings.on_positivity == GateAction::Refuse)),
            ("cfl_definition", json!("2 (out_x + out_y + out_z) of a half-sweep / min(m, m_next)")),
            ("global_mass_pin_enabled", json!(settings.pin != Pin::Off)),
            ("global_mass_pin_target_kg", json!(settings.pin.target_kg(area))),
            ("vertical_Nz_native", json!(levels.native_levels())),
            ("vertical_Nz_output", json!(levels.levels())),
            ("merge_map", json!(ranges)),
        ];
        keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

/// 00:00 UTC of a day.
fn instant(day: Date) -> Result<jiff::Timestamp, PreprocessError> {
    TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).map_err(|_| PreprocessError::Day {
        day,
        problem: "the day lies outside the calendar".to_owned(),
        help: "choose a day between the years 1 and 9998",
    })
}
