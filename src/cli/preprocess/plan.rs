//! What all days share, agreed on by all ranks.

use std::path::Path;

use jiff::civil::Date;

use super::super::{CliError, Context};
use super::setup::refuse_size;
use crate::comm::Communicator;
use crate::config::preprocess::{PinConfig, PreprocessConfig};
use crate::files::size_words;
use crate::model::Blame;
use crate::preprocess::{Campaign, DaySettings, LevelMap, MetReader, Pin, PreprocessError, Preprocessor, Target};

/// The result, if all ranks have one; otherwise the error of the lowest rank that has none, which alone reports it.
pub(super) fn agreed<T>(comm: &dyn Communicator, result: Result<T, CliError>) -> Result<T, CliError> {
    let code = result.as_ref().err().map_or(0, |error| error.exit().code());
    let rank = if code == 0 { f64::MIN } else { -(comm.rank() as f64) };
    let mut found = [f64::from(code), rank];
    comm.max_f64(&mut found);
    let blame = if found[0] == 2.0 { Blame::Input } else { Blame::Other };
    match result {
        Ok(value) if found[0] == 0.0 => Ok(value),
        Err(error) if found[1] == rank => Err(error),
        Ok(_) | Err(_) => Err(CliError::Elsewhere(blame)),
    }
}

/// What all days share.
pub(super) struct Plan<'a> {
    pub(super) config: &'a PreprocessConfig,
    pub(super) target: &'a Target,
    pub(super) levels: &'a LevelMap,
}

impl Plan<'_> {
    /// The global mass of all days, and the campaign that keeps it if it is measured: from its record, or measured by the
    /// first rank.
    pub(super) fn pin(
        &self,
        days: &[Date],
        settings: &DaySettings,
        reader: &mut dyn MetReader,
        comm: &dyn Communicator,
    ) -> Result<(Pin, Option<Campaign>), CliError> {
        let path = match &self.config.pin {
            PinConfig::Off => return Ok((Pin::Off, None)),
            PinConfig::Pressure(pressure) => return Ok((Pin::Pressure(*pressure), None)),
            PinConfig::Mass(mass) => return Ok((Pin::Mass(*mass), None)),
            PinConfig::Measured(path) => path,
        };
        let measured = match comm.rank() {
            0 => self.measured(path, days[0], settings, reader).map(Some),
            _ => Ok(None),
        };
        let text = agreed(comm, measured)?.map(|campaign| campaign.to_text()).unwrap_or_default();
        let text = comm.broadcast(text.into_bytes());
        let campaign = Campaign::from_text(&String::from_utf8_lossy(&text), path)?;
        Ok((Pin::Pressure(campaign.mean_dry_surface_pressure_pa), Some(campaign)))
    }

    /// The recorded campaign, or one with the mean surface pressure of the first day.
    fn measured(
        &self,
        path: &Path,
        day: Date,
        settings: &DaySettings,
        reader: &mut dyn MetReader,
    ) -> Result<Campaign, CliError> {
        if let Some(campaign) = Campaign::read(path)? {
            return Ok(campaign);
        }
        let pressure = Preprocessor::new(self.target, self.levels, settings, reader).archive_pressure(day)?;
        Ok(Campaign::measured(pressure, format!("{day}T00:00:00Z"), self.config.source.kind().to_owned()))
    }

    /// Records a measured campaign; called when the first day is about to appear.
    ///
    /// # Errors
    /// [`PreprocessError::Superseded`] if another process has meanwhile recorded another one.
    pub(super) fn record(&self, campaign: Option<&Campaign>) -> Result<(), PreprocessError> {
        let (PinConfig::Measured(path), Some(campaign)) = (&self.config.pin, campaign) else { return Ok(()) };
        let recorded_pa = campaign.claim(path)?.mean_dry_surface_pressure_pa;
        if recorded_pa == campaign.mean_dry_surface_pressure_pa {
            return Ok(());
        }
        Err(PreprocessError::Superseded { path: path.clone(), recorded_pa })
    }

    /// Says what will be done and what it takes.
    pub(super) fn announce(
        &self,
        days: &[Date],
        settings: &DaySettings,
        reader: &mut dyn MetReader,
        comm: &dyn Communicator,
        ctx: &Context,
    ) -> Result<(), CliError> {
        let work = Preprocessor::new(self.target, self.levels, settings, reader);
        let (memory, file) = (work.memory_bytes(), work.payload_bytes());
        refuse_size(self.config, memory.saturating_mul(comm.ranks_here() as u64))?;
        if comm.rank() != 0 {
            return Ok(());
        }
        let ranks = comm.size();
        ctx.print(&format!(
            "{} to C{} with {} of {} layers, {} days of {} windows, {} each; at most {} of memory for {ranks} rank{}\n",
            self.config.source.kind(),
            self.config.nc,
            self.levels.levels(),
            self.levels.native_levels(),
            days.len(),
            settings.windows,
            size_words(file),
            size_words(memory * ranks as u64),
            if ranks == 1 { "" } else { "s" },
        ))
    }
}
