//! Configuration of `atmostr preprocess` (TOML): which archive to read and what to write.
//!
//! [`PreprocessConfig::load`] checks a file as [`super::RunConfig::load`] does: all errors at once, no key ignored.

mod archives;
mod source;
mod work;

use std::path::{Path, PathBuf};

use jiff::civil::Date;

use super::error::{ConfigErrors, Problems};
use super::read::View;
use super::{check, keys, paths};
use crate::grid::{GeometryBundle, HybridCoordinate};
use crate::met::FloatType;
use crate::met::GateAction;
use crate::preprocess::readers::era5::Era5Source;
use crate::preprocess::readers::geos::GeosSource;
use crate::preprocess::readers::gridded::GriddedSource;
use crate::preprocess::readers::merra2::Merra2Source;
use crate::preprocess::{BalanceMode, FluxSettings, StepRule, Transform};

/// Radius of the sphere of all transport files written here, m (that of the IFS).
pub const RADIUS_M: f64 = 6_371_229.0;

/// A complete, checked configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct PreprocessConfig {
    /// The file it came from.
    pub path: PathBuf,
    /// Text of the file, for provenance.
    pub text: String,
    /// The archive.
    pub source: SourceConfig,
    /// Cells per panel edge.
    pub nc: usize,
    /// Geometry.
    pub bundle: GeometryBundle,
    /// Folder of regridding weights.
    pub cache: Option<PathBuf>,
    /// Layers on which the archive is read.
    pub layers: Layers,
    /// How they are merged.
    pub transform: Transform,
    /// Storage precision.
    pub float: FloatType,
    /// Windows of a day.
    pub windows: usize,
    /// Substeps.
    pub steps: StepRule,
    /// Largest share of a cell's air that a substep may move out.
    pub positivity_limit: f64,
    /// What happens when that is exceeded.
    pub on_positivity: GateAction,
    /// From winds to fluxes.
    pub fluxes: FluxSettings,
    /// How fluxes are made to fit the mass changes.
    pub balance: BalanceMode,
    /// The global mass.
    pub pin: PinConfig,
    /// Folder of the files.
    pub directory: PathBuf,
    /// Name of a day's file, with `{YYYYMMDD}` once.
    pub pattern: String,
}

/// The archive.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceConfig {
    /// Winds on longitudes and latitudes.
    Gridded(Box<GriddedSource>),
    /// MERRA-2.
    Merra2(Merra2Source),
    /// GEOS-IT or GEOS-FP.
    Geos(GeosSource),
    /// ERA5.
    Era5(Era5Source),
}

impl SourceConfig {
    /// Name of the kind in configuration files.
    pub fn kind(&self) -> &'static str {
        match self {
            SourceConfig::Gridded(_) => "gridded",
            SourceConfig::Merra2(_) => "merra2",
            SourceConfig::Geos(source) => source.product.name(),
            SourceConfig::Era5(_) => "era5",
        }
    }
}

/// Layers on which the archive is read.
#[derive(Clone, Debug, PartialEq)]
pub enum Layers {
    /// The archive's own.
    Native,
    /// These.
    Given(HybridCoordinate),
}

/// Where the global mass of dry air comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum PinConfig {
    /// From the first day, recorded in this file.
    Measured(PathBuf),
    /// Mean surface pressure, Pa.
    Pressure(f64),
    /// Mass, kg.
    Mass(f64),
    /// As in the archive.
    Off,
}

/// What the name of a file has in place of its date.
const DATE: &str = "{YYYYMMDD}";

impl PreprocessConfig {
    /// Reads and checks a configuration file.
    ///
    /// # Errors
    /// The file cannot be read, is not TOML, or breaks a rule; all broken rules are listed.
    pub fn load(path: &Path) -> Result<Self, ConfigErrors> {
        let text = super::read_file(path)?;
        Self::parse(&text, path)
    }

    /// Checks the text of a configuration file; `path` names it in messages and is the base of relative paths.
    ///
    /// # Errors
    /// As for [`PreprocessConfig::load`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigErrors> {
        let mut problems = Problems::default();
        let root = super::parsed(text, path)?;
        let top = keys::Section::at(keys::PREPROCESS).expect("the top level is a section");
        check::document(top, root.get_ref(), &mut problems);
        let view = View::root(top, root.get_ref());
        let base = paths::Base::of(path);
        let mut source = source::read(&view, &base, &mut problems);
        let work = work::read(&view, &base, &mut problems);
        if let (Some(SourceConfig::Era5(source)), Some(work)) = (&mut source, &work) {
            source.faces = archives::era5_faces(work);
        }
        if let (Some(source), Some(work)) = (&source, &work) {
            archives::check(source, work, &view, &mut problems);
        }
        let problems = problems.into_vec();
        let (Some(source), Some(work), true) = (source, work, problems.is_empty()) else {
            return Err(ConfigErrors::new(path, text, problems));
        };
        let default_name = || {
            let precision = match work.float {
                FloatType::Float32 => "float32",
                FloatType::Float64 => "float64",
            };
            format!("{}_transport_{DATE}_{precision}.bin", source.kind())
        };
        Ok(Self {
            path: path.to_path_buf(),
            text: text.to_owned(),
            nc: work.nc,
            bundle: work.bundle,
            cache: work.cache,
            layers: work.layers,
            transform: work.transform,
            float: work.float,
            windows: work.windows,
            steps: work.steps,
            positivity_limit: work.positivity_limit,
            on_positivity: work.on_positivity,
            fluxes: work.fluxes,
            balance: work.balance,
            pin: work.pin,
            pattern: work.pattern.unwrap_or_else(default_name),
            directory: work.directory,
            source,
        })
    }

    /// Whether the text is meant as such a configuration rather than as that of a run: it has an archive and no input.
    pub fn is_meant(text: &str) -> bool {
        let root = toml::de::DeTable::parse(text).ok();
        root.is_some_and(|root| root.get_ref().contains_key("source") && !root.get_ref().contains_key("input"))
    }

    /// What the configuration asks for, wherever it and its files lie: all values in force but folders, files, the weights and
    /// the global mass, which is compared by itself. Equal texts make the same days of the same archive.
    pub fn identity(&self) -> String {
        let mut of = self.clone();
        of.path = PathBuf::new();
        of.text = String::new();
        of.cache = None;
        of.pin = PinConfig::Off;
        of.directory = PathBuf::new();
        of.pattern = String::new();
        match &mut of.source {
            SourceConfig::Gridded(source) => source.files.clear(),
            SourceConfig::Merra2(source) => source.root = PathBuf::new(),
            SourceConfig::Geos(source) => (source.root, source.physics_root) = Default::default(),
            SourceConfig::Era5(source) => (source.root, source.physics_root) = Default::default(),
        }
        format!("{of:?}")
    }

    /// The error of layers `native` of an archive whose interfaces are not known.
    pub fn without_interfaces(&self) -> ConfigErrors {
        let mut problems = Problems::default();
        let (root, _) = toml::de::DeTable::parse_recoverable(&self.text);
        let top = keys::Section::at(keys::PREPROCESS).expect("the top level is a section");
        let root = View::root(top, root.get_ref());
        let vertical = root.table("vertical");
        let given = vertical.given().find(|(key, _)| key.name == "levels").map(|(_, at)| at.span());
        let span = given.or_else(|| vertical.span()).or_else(|| root.table("source").span());
        let key = vertical.full("levels");
        let message =
            format!("`{key}` = \"native\" needs the interfaces of the archive's layers, which its files do not tell");
        let help = "name their variables in [source.levels], or choose other layers, e.g. levels = \"smooth\"";
        problems.add(key, span, message, help);
        ConfigErrors::new(&self.path, &self.text, problems.into_vec())
    }

    /// The work on a day in a few lines.
    pub fn summary(&self) -> String {
        let layers = match &self.layers {
            Layers::Native => "those of the archive".to_owned(),
            Layers::Given(coordinate) => coordinate.levels().to_string(),
        };
        let pin = match &self.pin {
            PinConfig::Measured(path) => format!("measured once, recorded in {}", path.display()),
            PinConfig::Pressure(pa) => format!("{pa} Pa of dry air between ground and model top, on the mean"),
            PinConfig::Mass(kg) => format!("{kg:e} kg"),
            PinConfig::Off => "that of the archive".to_owned(),
        };
        format!(
            "  archive    {}\n  grid       C{} {}\n  layers     {layers}\n  windows    {} a day, {} to {} substeps\n  \
             precision  {}\n  mass       {pin}\n  files      {}\n",
            self.source.kind(),
            self.nc,
            self.bundle.panel_convention(),
            self.windows,
            self.steps.least,
            self.steps.most,
            self.float.tag(),
            self.directory.join(&self.pattern).display(),
        )
    }

    /// Path of the file of a day.
    pub fn file_of(&self, day: Date) -> PathBuf {
        self.directory.join(self.pattern.replace(DATE, &day.strftime("%Y%m%d").to_string()))
    }
}

#[cfg(test)]
mod tests;
