//! `atmostr prepare-fluxes`.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::{CliError, Context, Exit};
use crate::config::fluxes::{FluxConfig, FluxGrid, SeriesConfig, SeriesRule};
use crate::config::keys;
use crate::config::preprocess::RADIUS_M;
use crate::grid::CubedSphere;
use crate::gridded::Weights;
use crate::met::{FloatType, TransportFile};
use crate::output::{Provenance, record_of_files};
use crate::sources::{
    CompleteSeries, FluxAttribute, FluxPrecision, GrowthTable, NativeSeries, RunSpan, SourceError, SourceTimes,
    SourceTotals, TimeScheme, kg_sf6_per_ppt, place_all,
};

/// Put archives of surface fluxes on the cells of a run
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr prepare-fluxes fluxes.toml            write the files
  atmostr prepare-fluxes fluxes.toml --check    only check archives, units, times and values, and print totals
  atmostr prepare-fluxes --keys                 all keys of the configuration

A run reads the files with `surface_flux.kind = \"cs_native\"`. They take their places when all are complete; after an
error nothing new is there.")]
pub(super) struct PrepareFluxesArgs {
    /// Configuration file (TOML)
    #[arg(required_unless_present = "keys")]
    config: Option<PathBuf>,
    /// Check everything, write nothing
    #[arg(long)]
    check: bool,
    /// Print the reference of all keys (Markdown) and do nothing else
    #[arg(long)]
    keys: bool,
}

impl PrepareFluxesArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        if self.keys {
            ctx.print(&keys::fluxes_markdown())?;
        }
        let Some(config) = self.config.filter(|_| !self.keys) else { return Ok(Exit::Finished) };
        let config = FluxConfig::load(&config)?;
        if self.check {
            ctx.print(&checked(&config)?)?;
            return Ok(Exit::Finished);
        }
        let grid = cells(&config.grid)?;
        // Everything is checked before the first file is written.
        for series in &config.series {
            check(series)?;
        }
        let weights = Weights::new(config.cache.as_deref());
        let mut files = Vec::with_capacity(config.series.len());
        let mut told = String::new();
        // Values are checked as they are read: no file takes its name before all are complete.
        for series in &config.series {
            let (file, text) = write(series, &config, &grid, &weights)?;
            files.push(file);
            told += &text;
        }
        place_all(files).map_err(refused)?;
        ctx.print(&told)?;
        Ok(Exit::Finished)
    }
}

/// Checks archives, units, times and values of a configuration, and says what the files would hold.
pub(super) fn checked(config: &FluxConfig) -> Result<String, CliError> {
    let grid = cells(&config.grid)?;
    let mut told = format!("{}: the configuration is valid\n", config.path.display());
    for series in &config.series {
        check(series)?;
    }
    for series in &config.series {
        let seconds = span(series.from, series.until)?.seconds;
        let total = totals(series, grid.radius_m())?;
        let _ = writeln!(told, "  {:<10} {}", series.name, content(series, &total, seconds));
    }
    Ok(told)
}

/// What the file of a series would hold, by the cells of the archive on a sphere of `radius` m.
fn totals(series: &SeriesConfig, radius: f64) -> Result<SourceTotals, CliError> {
    let run = span(series.from, series.until)?;
    let (mut times, mut totals) = (Vec::new(), Vec::new());
    if series.rule == SeriesRule::ZeroFirstMonth {
        times.push(0.0);
        totals.push(0.0);
    }
    if let SeriesRule::Growth { table, .. } = &series.rule {
        for year in series.from.year()..=series.until.year() {
            let begins = midnight(series.from.max(date(year, 1, 1)))?;
            times.push(begins.duration_since(run.start).as_secs_f64());
            totals.push(growth(table, year).map_err(CliError::input)? * kg_sf6_per_ppt() / YEAR);
        }
    } else if let Some((from, until)) = recorded(series) {
        let part = span(from, until)?;
        let shift = part.start.duration_since(run.start).as_secs_f64();
        let found = series.inventory.totals(&part, radius).map_err(refused)?;
        let within = found.times.times().iter().zip(&found.totals).filter(|(seconds, _)| **seconds < part.seconds);
        for (seconds, total) in within {
            times.push(seconds + shift);
            totals.push(*total);
        }
    }
    Ok(SourceTotals { times: SourceTimes::new(times, TimeScheme::Stepwise).map_err(refused)?, totals })
}

fn cells(of: &FluxGrid) -> Result<CubedSphere, CliError> {
    let found = match of {
        FluxGrid::Cells { nc, bundle } => CubedSphere::new(*nc, *bundle, bundle.default_offset_deg(), RADIUS_M),
        FluxGrid::File(path) => TransportFile::open(path)?.header().cube(),
    };
    found.map_err(CliError::input)
}

/// Midnight at the beginning of a day.
fn midnight(day: Date) -> Result<Timestamp, CliError> {
    TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).map_err(CliError::input)
}

/// The time from the beginning of a day to the end of another.
fn span(from: Date, until: Date) -> Result<RunSpan, CliError> {
    let start = midnight(from)?;
    let end = midnight(until.checked_add(1.day()).map_err(CliError::input)?)?;
    Ok(RunSpan { start, seconds: end.duration_since(start).as_secs_f64() })
}

/// The days for which records of the archive are needed.
fn recorded(series: &SeriesConfig) -> Option<(Date, Date)> {
    let next_month = || series.from.first_of_month().checked_add(1.month()).ok();
    match series.rule {
        SeriesRule::ZeroFirstMonth => Some((next_month()?, series.until)).filter(|(from, until)| from <= until),
        SeriesRule::Plain | SeriesRule::Growth { .. } => Some((series.from, series.until)),
    }
}

/// Checks files, units and times of a series, and that it can cover its days.
fn check(series: &SeriesConfig) -> Result<(), CliError> {
    let Some((from, until)) = recorded(series) else { return Ok(()) };
    let run = span(from, until)?;
    let times = series.inventory.check(&run).map_err(refused)?;
    if let SeriesRule::Growth { file, table } = &series.rule {
        for year in series.from.year()..=until.year() {
            growth(table, year).map_err(|problem| CliError::input(format!("{}: {problem}", file.display())))?;
        }
        if times.lone().is_none() && times.until().is_finite() {
            let path = &series.inventory.files[0].path;
            return Err(CliError::input(format!("{}: expected one map, found several times", path.display())));
        }
    }
    let path = series.inventory.files[0].path.display();
    if let Some(stated) = times.lone() {
        // A map that is scaled year by year is meant for all of them.
        if series.rule == SeriesRule::Plain {
            let stated = run.instant(stated);
            tracing::warn!(
                "{path}: its only record is of {stated}, and nothing tells how long it holds; it is taken for {from} to {until} \
                 (`time_varying = false` says that it is meant so)"
            );
        }
        return Ok(());
    }
    if let Some((absent, to)) = times.gap(0.0, run.seconds) {
        let (absent, to) = (run.instant(absent), run.instant(to));
        tracing::warn!("{path}: no record stands for {absent} to {to}; the one before goes on");
    }
    if !times.cover(0.0, run.seconds) {
        return Err(CliError::input(format!(
            "{path}: its times do not cover {from} to {until}; give more files, or other days"
        )));
    }
    Ok(())
}

fn refused(error: SourceError) -> CliError {
    CliError::input(format!("{error}; {}", error.help()))
}

fn growth(table: &GrowthTable, year: i16) -> Result<f64, String> {
    table.growth(year).ok_or_else(|| format!("has no growth for {year}; give a longer table"))
}

/// Seconds of the year by which archives of yearly amounts are read.
const YEAR: f64 = 365.25 * 86_400.0;

/// Writes the file of a series, still without its name, and says what is in it.
fn write(
    series: &SeriesConfig,
    config: &FluxConfig,
    grid: &CubedSphere,
    weights: &Weights,
) -> Result<(CompleteSeries, String), CliError> {
    let path = config.folder.join(format!("{}_c{}.nc", series.stem, grid.nc()));
    let run = span(series.from, series.until)?;
    let slices = slices(series, grid, weights)?;
    let provenance = Provenance::detect();
    let files: Vec<_> = series.inventory.files.iter().map(|file| file.path.as_path()).collect();
    let mut attributes: Vec<(&str, FluxAttribute)> = [
        ("Conventions", "CF-1.8".to_owned()),
        ("title", format!("Surface fluxes of {}", series.name)),
        ("source", record_of_files(&files)),
        ("history", provenance.written_by()),
        ("institution", provenance.institution),
        ("framework", provenance.framework),
        ("framework_commit", provenance.commit),
        ("creation_date", provenance.created),
    ]
    .map(|(name, text)| (name, FluxAttribute::Text(text)))
    .into();
    if series.stem.starts_with("catrine_") {
        attributes.push(("protocol", FluxAttribute::Text("CATRINE D7.1 (2024-05-20)".into())));
    }
    let scales: Vec<(String, f64)> = slices.factors.iter().map(|(y, f)| (format!("scale_factor_{y}"), *f)).collect();
    if !scales.is_empty() {
        attributes.push(("kg_per_ppt", FluxAttribute::Number(kg_sf6_per_ppt())));
    }
    attributes.extend(scales.iter().map(|(name, factor)| (name.as_str(), FluxAttribute::Number(*factor))));
    let precision = match config.float {
        FloatType::Float32 => FluxPrecision::Single,
        FloatType::Float64 => FluxPrecision::Double,
    };
    let file = NativeSeries::create(&path, grid, &series.name, run.start, precision, &attributes);
    let mut file = file.map_err(refused)?;
    let (mut times, mut totals) = (Vec::new(), Vec::new());
    let mut take = |seconds: f64, amounts: &[f64]| -> Result<(), SourceError> {
        times.push(seconds);
        totals.push(amounts.iter().sum::<f64>());
        file.append(seconds, amounts)
    };
    for (seconds, amounts) in &slices.made {
        take(*seconds, amounts).map_err(refused)?;
    }
    if let Some((from, until)) = slices.recorded {
        let shift = span(series.from, from)?.seconds - 86_400.0;
        let part = span(from, until)?;
        let append = |seconds: f64, amounts: &[f64]| take(seconds + shift, amounts);
        series.inventory.for_each_slice(&part, grid, weights, append).map_err(refused)?;
    }
    let file = file.finish(run.seconds).map_err(refused)?;
    let total = SourceTotals { times: SourceTimes::new(times, TimeScheme::Stepwise).map_err(refused)?, totals };
    let mut text = format!("{}: {}\n", path.display(), content(series, &total, run.seconds));
    for (year, factor) in &slices.factors {
        let _ = writeln!(text, "  {year}: map times {factor:.7}");
    }
    Ok((file, text))
}

/// Slices and totals of a file that covers `seconds`, in words.
fn content(series: &SeriesConfig, slices: &SourceTotals, seconds: f64) -> String {
    let mass = series.inventory.conversion.molar_mass();
    let total = slices.over(seconds, mass);
    let rate = |kg_per_second: f64| SourceTotals::constant(kg_per_second).over(seconds, mass);
    let (least, most) =
        slices.totals.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| (a.min(*t), b.max(*t)));
    let kg = format!("{:.6e} kg from {} to {}", total.kg, series.from, series.until);
    match slices.totals.len() {
        1 => format!("1 slice, {kg}, {total}"),
        n => format!("{n} slices, {kg}, {total}; slices from {} to {}", rate(least), rate(most)),
    }
}

/// Slices of a series: those that are made, and the days whose records follow.
struct Slices {
    made: Vec<(f64, Vec<f64>)>,
    recorded: Option<(Date, Date)>,
    /// Factors of the years.
    factors: Vec<(i16, f64)>,
}

fn slices(series: &SeriesConfig, grid: &CubedSphere, weights: &Weights) -> Result<Slices, CliError> {
    let none = Slices { made: Vec::new(), recorded: recorded(series), factors: Vec::new() };
    match &series.rule {
        SeriesRule::Plain => Ok(none),
        SeriesRule::ZeroFirstMonth => {
            let zero = vec![0.0; 6 * grid.nc() * grid.nc()];
            Ok(Slices { made: vec![(0.0, zero)], ..none })
        }
        SeriesRule::Growth { table, .. } => {
            let run = span(series.from, series.until)?;
            let mut map = Vec::new();
            let keep = |_: f64, amounts: &[f64]| -> Result<(), SourceError> {
                map = amounts.to_vec();
                Ok(())
            };
            series.inventory.for_each_slice(&run, grid, weights, keep).map_err(refused)?;
            let whole = map.iter().sum::<f64>() * YEAR;
            if whole <= 0.0 {
                let path = series.inventory.files[0].path.display();
                return Err(CliError::input(format!(
                    "{path}: the map emits {whole} kg in a year and cannot be scaled"
                )));
            }
            let (mut made, mut factors) = (Vec::new(), Vec::new());
            for year in series.from.year()..=series.until.year() {
                let factor = growth(table, year).map_err(CliError::input)? * kg_sf6_per_ppt() / whole;
                let begins = series.from.max(date(year, 1, 1));
                let seconds = midnight(begins)?.duration_since(run.start).as_secs_f64();
                made.push((seconds, map.iter().map(|amount| amount * factor).collect()));
                factors.push((year, factor));
            }
            Ok(Slices { made, recorded: None, factors })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_count_whole_days() {
        assert_eq!(span(date(2021, 12, 1), date(2021, 12, 31)).unwrap().seconds, 31.0 * 86_400.0);
        assert_eq!(span(date(2024, 2, 29), date(2024, 2, 29)).unwrap().seconds, 86_400.0);
    }
}
