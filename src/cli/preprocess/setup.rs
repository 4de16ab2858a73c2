//! From a configuration to what works on days.

use jiff::civil::Date;
use serde_json::{Map, json};

use super::super::CliError;
use crate::config::preprocess::{Layers, PinConfig, PreprocessConfig, RADIUS_M, SourceConfig};
use crate::files::lacks_memory;
use crate::grid::{CubedSphere, HybridCoordinate};
use crate::output::Provenance;
use crate::preprocess::readers::era5::Era5Source;
use crate::preprocess::readers::geos::GeosReader;
use crate::preprocess::readers::gridded::{GriddedArchive, GriddedReader};
use crate::preprocess::readers::merra2::Merra2Reader;
use crate::preprocess::{DaySettings, MetReader, Pin, Poisson, PreprocessError, Target};
use crate::regrid::WeightCache;

/// Header key of the checksum of what a configuration asks for, wherever its files lie.
pub(super) const FINGERPRINT: &str = "preprocessor_config_crc32c";

/// The cubed sphere of a configuration.
pub(super) fn target(config: &PreprocessConfig) -> Result<Target, CliError> {
    let cells = 6 * config.nc * config.nc;
    refuse_size(config, Poisson::least_bytes(cells) + 8 * FIELDS * cells as u64)?;
    let grid = CubedSphere::new(config.nc, config.bundle, config.bundle.default_offset_deg(), RADIUS_M)
        .map_err(PreprocessError::from)?;
    let weights = match &config.cache {
        Some(dir) => WeightCache::at(dir),
        None => WeightCache::none(),
    };
    Ok(Target::new(grid, weights))
}

/// Values that the grid itself holds for each cell, at least.
const FIELDS: u64 = 16;

/// Refuses a grid that needs more memory than the machine has.
pub(super) fn refuse_size(config: &PreprocessConfig, bytes: u64) -> Result<(), CliError> {
    let Some(sizes) = lacks_memory(bytes) else { return Ok(()) };
    let (path, nc) = (config.path.display(), config.nc);
    Err(CliError::input(format!(
        "{path}: `grid.nc` = {nc} does not fit in memory (at least {sizes}); choose fewer cells, or fewer ranks"
    )))
}

/// The reader of the archive; `first` is the first day that is wanted of it.
pub(super) fn reader<'a>(
    config: &PreprocessConfig,
    target: &'a Target,
    first: Date,
) -> Result<Box<dyn MetReader + 'a>, CliError> {
    let seconds = 86_400.0 / config.windows as f64;
    let layers_of_geos = || match &config.layers {
        Layers::Given(coordinate) => coordinate.clone(),
        Layers::Native => HybridCoordinate::geos_l72(),
    };
    match &config.source {
        SourceConfig::Gridded(source) => {
            let archive = GriddedArchive::open(source)?;
            if source.variables.humidity.is_none() {
                tracing::warn!("no humidity is named in [source.variables]: all air is taken as dry");
            }
            let coordinate = match &config.layers {
                Layers::Given(coordinate) => coordinate.clone(),
                Layers::Native => archive.levels().coordinate().cloned().ok_or_else(|| config.without_interfaces())?,
            };
            Ok(Box::new(GriddedReader::new(target, archive, coordinate, config.fluxes, seconds)?))
        }
        SourceConfig::Merra2(source) => {
            let (source, layers) = (source.clone(), layers_of_geos());
            Ok(Box::new(Merra2Reader::new(target, source, layers, config.fluxes, config.windows, first)?))
        }
        SourceConfig::Geos(source) => Ok(Box::new(GeosReader::new(target, source.clone(), layers_of_geos(), first)?)),
        SourceConfig::Era5(source) => era5(config, source, target, first),
    }
}

#[cfg(feature = "grib")]
fn era5<'a>(
    config: &PreprocessConfig,
    source: &Era5Source,
    target: &'a Target,
    first: Date,
) -> Result<Box<dyn MetReader + 'a>, CliError> {
    let layers = match &config.layers {
        Layers::Given(coordinate) => Some(coordinate.clone()),
        Layers::Native => None,
    };
    let reader = crate::preprocess::readers::era5::Era5Reader::new(
        target,
        source.clone(),
        layers,
        &config.transform,
        config.fluxes,
        config.windows,
        first,
    )?;
    Ok(Box::new(reader))
}

#[cfg(not(feature = "grib"))]
fn era5<'a>(
    config: &PreprocessConfig,
    _: &Era5Source,
    _: &'a Target,
    _: Date,
) -> Result<Box<dyn MetReader + 'a>, CliError> {
    Err(CliError::input(format!(
        "{}: this program was built without GRIB, which kind = \"era5\" needs; install ecCodes (libeccodes-dev) and build it \
         with --features grib",
        config.path.display()
    )))
}

/// What is done with every day; the global mass is that of the archive.
pub(super) fn settings(config: &PreprocessConfig, reader: &dyn MetReader) -> DaySettings {
    let mut provenance = Map::new();
    provenance.insert(FINGERPRINT.into(), json!(crc32c::crc32c(config.identity().as_bytes())));
    provenance.insert("atmostr_version".into(), json!(env!("CARGO_PKG_VERSION")));
    let program = Provenance::detect();
    provenance.insert("git_commit".into(), json!(program.commit));
    provenance.insert("git_dirty".into(), json!(program.dirty == "dirty"));
    provenance.insert("vertical_transform".into(), json!(transform_name(config)));
    if matches!(config.source, SourceConfig::Geos(_)) {
        let endpoint = match config.pin {
            PinConfig::Off => "raw_dry_endpoint",
            _ => "dry_endpoint_global_mean_pinned",
        };
        provenance.insert("geos_mass_endpoint".into(), json!(endpoint));
    }
    DaySettings {
        float: config.float,
        windows: config.windows,
        balance: config.balance,
        steps: config.steps,
        positivity_limit: config.positivity_limit,
        on_positivity: config.on_positivity,
        pin: Pin::Off,
        physics: reader.physics(),
        provenance,
    }
}

/// Value of `vertical_transform` in headers.
fn transform_name(config: &PreprocessConfig) -> String {
    use crate::preprocess::Transform::{Identity, MergeAbove, MergeByIndex, MergeThinnerThan, Preset};
    match &config.transform {
        Identity => "identity".into(),
        MergeByIndex(_) => "merge_by_index".into(),
        MergeThinnerThan(pa) => format!("merge_layers_thinner_than {pa} Pa"),
        MergeAbove { threshold_pa, .. } => format!("merge_above_pressure {threshold_pa} Pa"),
        Preset(preset) => format!("level_selection {}", preset.name()),
    }
}
