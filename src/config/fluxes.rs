//! Configuration of `atmostr prepare-fluxes` (TOML): which archives to put on which cells.
//!
//! [`FluxConfig::load`] checks a file as [`super::RunConfig::load`] does: all errors at once, no key ignored.

use std::path::{Path, PathBuf};

use jiff::civil::{Date, date};

use super::emissions::{Kind, Surroundings, Transport};
use super::error::{ConfigErrors, Problems};
use super::paths::Base;
use super::read::{At, View};
use super::{check, inventories, keys};
use crate::grid::GeometryBundle;
use crate::met::FloatType;
use crate::sources::{
    Conversion, Gaps, GrowthTable, Inventory, InventoryFile, InventoryKind, Stamp, TimeScheme, TimeUse,
    known_molar_mass,
};

/// A complete, checked configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct FluxConfig {
    /// The file it came from.
    pub path: PathBuf,
    /// Text of the file, for provenance.
    pub text: String,
    /// The cells.
    pub grid: FluxGrid,
    /// Folder of regridding weights.
    pub cache: Option<PathBuf>,
    /// Folder of the files.
    pub folder: PathBuf,
    /// Precision of the fluxes.
    pub float: FloatType,
    /// The files.
    pub series: Vec<SeriesConfig>,
}

/// Cells on which fluxes are put.
#[derive(Clone, Debug, PartialEq)]
pub enum FluxGrid {
    /// Those of a transport file.
    File(PathBuf),
    /// These, on a sphere of [`super::preprocess::RADIUS_M`].
    Cells {
        /// Cells per panel edge.
        nc: usize,
        /// Geometry.
        bundle: GeometryBundle,
    },
}

/// A file of fluxes.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesConfig {
    /// Name of the variable.
    pub name: String,
    /// What begins the name of the file.
    pub stem: String,
    /// The archive.
    pub inventory: Inventory,
    /// First day that the file covers.
    pub from: Date,
    /// Last day.
    pub until: Date,
    /// What is made of the archive.
    pub rule: SeriesRule,
}

/// What is made of an archive.
#[derive(Clone, Debug, PartialEq)]
pub enum SeriesRule {
    /// The records as they are.
    Plain,
    /// Nothing in the first month.
    ZeroFirstMonth,
    /// One map, scaled for every year so that it emits what the atmosphere gains.
    Growth {
        /// File of the table.
        file: PathBuf,
        /// The table.
        table: GrowthTable,
    },
}

/// First day of the CATRINE protocol: a month to settle before the two years that count.
const CATRINE_START: Date = date(2021, 12, 1);

/// Keys of sources that only the run which reads the file decides.
pub(super) const RUN_ONLY: [&str; 2] = ["injection", "temporal_scheme"];

const SURFACE_FLUX: &str = "tracers.<name>.surface_flux";

impl FluxConfig {
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
    /// As for [`FluxConfig::load`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigErrors> {
        let mut problems = Problems::default();
        let root = super::parsed(text, path)?;
        let top = keys::Section::at(keys::FLUXES).expect("the top level is a section");
        check::document(top, root.get_ref(), &mut problems);
        let view = View::root(top, root.get_ref());
        let base = Base::of(path);
        let table = view.table("grid");
        let grid = grid(&table, &base, &mut problems);
        let cache = table.text("regridder_cache_dir").and_then(|folder| base.resolve(&folder, &mut problems));
        let output = view.table("output");
        let folder = output.text("folder").and_then(|folder| base.resolve(&folder, &mut problems));
        let mut series = catrine(&view.table("catrine"), &base, &mut problems);
        for table in view.tables("flux") {
            let Some(found) = one(&table, &base, &mut problems) else { continue };
            if let Some(name) = table.text("name").filter(|_| series.iter().any(|before| before.stem == found.stem)) {
                let message = format!("two files would be called {}_c<N>.nc", found.stem);
                problems.add(name.key, Some(name.span), message, "give every flux its own `name`");
            }
            series.push(found);
        }
        if !view.has("catrine") && !view.has("flux") {
            problems.add("", None, "there is nothing to write", "add [catrine], or [[flux]] with an archive");
        }
        let problems = problems.into_vec();
        let (Some(grid), Some(folder), true) = (grid, folder, problems.is_empty()) else {
            return Err(ConfigErrors::new(path, text, problems));
        };
        let float = output.choice_or_default("float_type");
        Ok(Self { path: path.to_path_buf(), text: text.to_owned(), grid, cache, folder, float, series })
    }
}

fn grid(view: &View<'_>, base: &Base, problems: &mut Problems) -> Option<FluxGrid> {
    match (view.text("transport_file"), view.int("nc")) {
        (Some(file), None) => {
            if let Some((_, at)) = view.given().find(|(key, _)| key.name == "convention") {
                let message = "`grid.convention` has no meaning with a transport file, which has its own";
                problems.add("grid.convention", Some(at.span()), message, "remove it");
            }
            base.existing_file(&file, problems).map(FluxGrid::File)
        }
        (None, Some(nc)) => {
            let bundle = view.choice("convention").map_or(GeometryBundle::GeosNative, |choice| choice.value);
            Some(FluxGrid::Cells { nc: usize::try_from(nc.value).ok()?, bundle })
        }
        (Some(_), Some(nc)) => {
            let message = "`grid.transport_file` and `grid.nc` are both given";
            problems.add(nc.key, Some(nc.span), message, "keep one of them");
            None
        }
        (None, None) => {
            if view.present() && !view.has("transport_file") && !view.has("nc") {
                let help = "give `transport_file` or `nc`";
                problems.add("grid.transport_file", view.span(), "[grid] names no cells", help);
            }
            None
        }
    }
}

/// The series of the protocol whose archives are given.
fn catrine(view: &View<'_>, base: &Base, problems: &mut Problems) -> Vec<SeriesConfig> {
    if !view.present() {
        return Vec::new();
    }
    let until = view.date("last_date").map_or(date(2023, 12, 31), |date| date.value);
    if until < CATRINE_START {
        let span = view.date("last_date").map(|date| date.span);
        problems.add("catrine.last_date", span, "`catrine.last_date` lies before 2021-12-01", "give a later day");
    }
    let mut series = Vec::new();
    let mut add = |kind: InventoryKind, name: &str, files: Vec<PathBuf>, rule: SeriesRule| {
        let mass = known_molar_mass(name).expect("tracers of the protocol are known");
        let inventory = Inventory {
            kind,
            files: files.into_iter().map(|path| InventoryFile { path, period: None }).collect(),
            variables: Vec::new(),
            units: None,
            time: if kind == InventoryKind::ZhangRn222 { TimeUse::Cyclic } else { TimeUse::Varying },
            stamp: Stamp::Auto,
            year: None,
            gaps: Gaps::Refuse,
            cell_area: None,
            scheme: TimeScheme::Stepwise,
            conversion: Conversion::new(1.0, mass).expect("known masses are positive"),
        };
        let stem = format!("catrine_{name}");
        series.push(SeriesConfig { name: name.into(), stem, inventory, from: CATRINE_START, until, rule });
    };
    if let Some(texts) = view.texts("gridfed") {
        let files: Vec<PathBuf> = texts.iter().filter_map(|text| base.existing_file(text, problems)).collect();
        if !files.is_empty() {
            add(InventoryKind::GridfedFossilCo2, "fossil_co2", files, SeriesRule::ZeroFirstMonth);
        }
    }
    if let Some(file) = view.text("zhang").and_then(|text| base.existing_file(&text, problems)) {
        add(InventoryKind::ZhangRn222, "rn222", vec![file], SeriesRule::Plain);
    }
    let growth = view.text("sf6_growth");
    match (view.text("edgar"), growth) {
        (Some(edgar), Some(growth)) => {
            let edgar = base.existing_file(&edgar, problems);
            if let (Some(edgar), Some((file, table))) = (edgar, growth_table(&growth, base, problems)) {
                add(InventoryKind::EdgarSf6, "sf6", vec![edgar], SeriesRule::Growth { file, table });
            }
        }
        (Some(edgar), None) if !view.has("sf6_growth") => {
            let message = "`catrine.sf6_growth` is missing: the map of EDGAR is scaled by it";
            problems.add("catrine.sf6_growth", Some(edgar.span), message, "give the table of NOAA");
        }
        (None, Some(growth)) if !view.has("edgar") => {
            let message = "`catrine.sf6_growth` has no meaning without `edgar`";
            problems.add(growth.key, Some(growth.span), message, "remove it, or give the map");
        }
        _ => {}
    }
    if !["gridfed", "zhang", "edgar"].iter().any(|name| view.has(name)) {
        problems.add("catrine", view.span(), "[catrine] names no archive", "give `gridfed`, `zhang` or `edgar`");
    }
    series
}

/// The table of growth in a file, and the file.
fn growth_table(text: &At<&str>, base: &Base, problems: &mut Problems) -> Option<(PathBuf, GrowthTable)> {
    let file = base.existing_file(text, problems)?;
    let table = std::fs::read_to_string(&file).map_err(|e| format!("cannot be read: {e}"));
    match table.and_then(|table| GrowthTable::parse(&table)) {
        Ok(table) => Some((file, table)),
        Err(problem) => {
            let message = format!("`{}`: {}: {problem}", text.key, file.display());
            problems.add(&text.key, Some(text.span.clone()), message, "give lines of year, growth and uncertainty");
            None
        }
    }
}

/// The file of fluxes whose table `view` is; `None` after an error.
fn one(view: &View<'_>, base: &Base, problems: &mut Problems) -> Option<SeriesConfig> {
    let flux = view.through(SURFACE_FLUX);
    let name = view.text("name").filter(|name| {
        let valid = name.value.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !valid && !name.value.is_empty() {
            let message = format!("\"{}\" cannot be the name of a variable", name.value);
            let help = "use a letter followed by letters, digits and underscores";
            problems.add(&name.key, Some(name.span.clone()), message, help);
        }
        valid
    });
    let kind = flux.choice::<Kind>("kind");
    let kind = match kind.as_ref().map(|kind| kind.value) {
        Some(Kind::Inventory(kind)) => kind,
        // A kind that was refused has been reported.
        None if flux.has("kind") => return None,
        _ => {
            let key = view.full("kind");
            let span = kind.map(|kind| kind.span).or_else(|| view.span());
            let help = "give `kind` = \"file\" or that of an archive";
            problems.add(&key, span, format!("`{key}` must be on a longitude-latitude grid"), help);
            return None;
        }
    };
    flux.misplaced("kind", kind.name(), problems);
    for (key, at) in flux.given().filter(|(key, _)| RUN_ONLY.contains(&key.name)) {
        let full = view.full(key.name);
        let message = format!("`{full}` has no meaning here: the run that reads the file decides");
        problems.add(full, Some(at.span()), message, "remove it");
    }
    let (from, until) = (view.date("from_date"), view.date("until_date"));
    if let (Some(from), Some(until)) = (&from, &until)
        && until.value < from.value
    {
        let message = format!("`{}` lies before `{}`", until.key, from.key);
        problems.add(&until.key, Some(until.span.clone()), message, "give the earlier day first");
    }
    let known = name.as_ref().and_then(|name| known_molar_mass(name.value));
    let mass = flux.float("molar_mass_kg_mol").map(|mass| mass.value).or(known);
    if mass.is_none() && name.is_some() && !flux.has("molar_mass_kg_mol") {
        let key = view.full("molar_mass_kg_mol");
        let message = format!("`{key}` is missing: the molar mass of this species is not known");
        problems.add(&key, view.span(), message, "give it in kg/mol");
    }
    let around = Surroundings { base, year: None, molar_mass: mass, transport: Transport::Sweeps };
    let conversion = Conversion::new(flux.float_or_default("scale"), mass?).ok();
    let inventory = inventories::read(kind, &flux, view, &around, conversion, problems);
    let name = name?.value.to_owned();
    let (from, until) = (from?.value, until?.value);
    Some(SeriesConfig { stem: name.clone(), name, inventory: inventory?, from, until, rule: SeriesRule::Plain })
}

#[cfg(test)]
#[path = "tests/fluxes.rs"]
mod tests;
