//! Convective mass fluxes of the forecasts (spec 40 §1.10).

use std::sync::Mutex;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::archive_files::{Collection, Files, believe, read};
use super::grids::{Gaussian, OtherGrids};
use super::hours::{Air, Hour};
use super::parameters::{DOWNDRAUGHT, DOWNDRAUGHT_DETRAINMENT, Parameter, UPDRAUGHT, UPDRAUGHT_DETRAINMENT};
use crate::closures::{ConvectiveFluxes, DraftCounts, Drafts, LayerTemperature, drafts_from_fluxes, layer_thickness};
use crate::grid::HybridCoordinate;
use crate::preprocess::columns::for_columns;
use crate::preprocess::{PreprocessError, Target};

/// Fields of the forecast in the order in which they are used.
const FIELDS: [Parameter; 4] = [UPDRAUGHT, DOWNDRAUGHT, UPDRAUGHT_DETRAINMENT, DOWNDRAUGHT_DETRAINMENT];

/// Part of the layers that may be redistributed: more tells of fields on wrong levels.
const MOST_REDISTRIBUTED: f64 = 0.5;

/// Start of the forecast that covers the hour after a full hour, the day of its file, and the hours at the end of which its
/// means are.
///
/// Forecasts start at 6 and 18 UTC; each gives 12 hours.
pub(super) fn forecast_of(hour: Hour) -> Option<(Date, Timestamp, u32)> {
    let (day, start, step) = match hour.hour {
        h @ 0..6 => (hour.day.checked_sub(1.day()).ok()?, 18, h + 7),
        h @ 6..18 => (hour.day, 6, h - 5),
        h => (hour.day, 18, h - 17),
    };
    let base = TimeZone::UTC.to_timestamp(day.at(start, 0, 0, 0)).ok()?;
    Some((day, base, u32::try_from(step).ok()?))
}

/// Fluxes on the cube: updraught, downdraught, and detrainment of both, `[layer][cell]`.
pub(super) struct Fluxes(pub(super) [Vec<f64>; 4]);

/// Means over the hours that start at `hours`.
pub(super) fn mean_fluxes(
    target: &Target,
    files: &mut Files,
    grids: (&Gaussian, &mut OtherGrids),
    levels: usize,
    hours: &[Hour],
) -> Result<Fluxes, PreprocessError> {
    let (gaussian, others) = grids;
    let cells = target.cells();
    let mut sums: [Vec<f64>; 4] = std::array::from_fn(|_| vec![0.0; levels * cells]);
    for hour in hours {
        let (day, base, step) = forecast_of(*hour).ok_or_else(|| PreprocessError::Day {
            day: hour.day,
            problem: "it has no day before it".into(),
            help: "choose a later day",
        })?;
        let file = files.file(day, Collection::Convection)?;
        for (parameter, sum) in FIELDS.into_iter().zip(&mut sums) {
            for (k, sum) in sum.chunks_mut(cells).enumerate() {
                let wanted = parameter.after(k as u32 + 1, base, step);
                let (entry, field) = read(&file, &wanted)?;
                if !(entry.steps[0] == step || entry.steps[0] + 1 == step) {
                    let [from, to] = entry.steps;
                    let problem = format!("message {} ({wanted}) is a mean from {from} to {to} h", entry.message);
                    return Err(PreprocessError::file(file.path(), problem, "means of one hour are needed"));
                }
                believe(file.path(), parameter, wanted, &field.values)?;
                let level = others.on_cube(target, gaussian, file.path(), &wanted.to_string(), &field)?;
                sum.iter_mut().zip(level).for_each(|(sum, value)| *sum += value / hours.len() as f64);
            }
        }
    }
    Ok(Fluxes(sums))
}

/// Entrainment and detrainment of updraughts, then of downdraughts, in dry air, kg m⁻² s⁻¹, `[layer][cell]`.
pub(super) fn drafts(
    coordinate: &HybridCoordinate,
    Fluxes([up, down, up_rate, down_rate]): &Fluxes,
    air: &Air,
    temperature: &[f64],
    hour: Hour,
) -> Result<[Vec<f64>; 4], PreprocessError> {
    let (levels, cells) = (coordinate.levels(), air.ps.len());
    let mut all = vec![0.0; 4 * levels * cells];
    let counted = Mutex::new((DraftCounts::default(), None));
    for_columns(&mut all, cells, |first, group| {
        let zeros = || vec![0.0; levels];
        let mut columns: [Vec<f64>; 6] = std::array::from_fn(|_| zeros());
        let mut results: [Vec<f64>; 4] = std::array::from_fn(|_| zeros());
        let (mut edges, mut thickness) = (vec![0.0; levels + 1], zeros());
        let mut counts = DraftCounts::default();
        for c in 0..group[0].len() {
            let cell = first + c;
            let sources = [up, down, up_rate, down_rate, &air.q, temperature];
            for (column, source) in columns.iter_mut().zip(sources) {
                column.iter_mut().enumerate().for_each(|(k, value)| *value = source[k * cells + cell]);
            }
            let [up, down, up_rate, down_rate, q, t] = &columns;
            crate::closures::hybrid_edges(coordinate.a(), coordinate.b(), air.ps[cell], &mut edges);
            layer_thickness(&edges, LayerTemperature::Virtual { temperature: t, humidity: q }, &mut thickness);
            let fluxes = ConvectiveFluxes {
                updraught: up,
                downdraught: down,
                updraught_detrainment: up_rate,
                downdraught_detrainment: down_rate,
                thickness: &thickness,
                humidity: Some(q),
            };
            let [entu, detu, entd, detd] = &mut results;
            match drafts_from_fluxes(&fluxes, &mut Drafts { entu, detu, entd, detd }) {
                Ok(found) => counts.add(found),
                Err(error) => {
                    let mut counted = counted.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    counted.1.get_or_insert((cell, error));
                    return;
                }
            }
            for (n, result) in results.iter().enumerate() {
                result.iter().enumerate().for_each(|(k, value)| group[n * levels + k][c] = *value);
            }
        }
        counted.lock().unwrap_or_else(std::sync::PoisonError::into_inner).0.add(counts);
    });
    let (counts, error) = counted.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let refuse = |problem: String| PreprocessError::Day {
        day: hour.day,
        problem: format!("hour {}: {problem}", hour.hour),
        help: "check levels and fields of the convection file",
    };
    if let Some((cell, error)) = error {
        return Err(refuse(format!("cell {}: {error}", cell + 1)));
    }
    let part = counts.redistributed_part();
    if part > MOST_REDISTRIBUTED {
        let (of, all) = (counts.redistributed, counts.active);
        return Err(refuse(format!("{of} of {all} convecting layers have negative entrainment or detrainment")));
    }
    tracing::debug!(
        active = counts.active,
        redistributed = counts.redistributed,
        clipped = counts.clipped,
        "entrainment and detrainment from convective fluxes"
    );
    let mut parts = all.chunks(levels * cells).map(<[f64]>::to_vec);
    Ok(std::array::from_fn(|_| parts.next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    /// Spec 40 §1.10: hours 0–5 from 18 UTC of the day before, 6–17 from 6 UTC, 18–23 from 18 UTC.
    #[test]
    fn every_hour_has_its_forecast() {
        let day = date(2021, 12, 1);
        let of = |hour| {
            let (file, base, step) = forecast_of(Hour { day, hour }).unwrap();
            (file.to_string(), base.to_string(), step)
        };
        let expect = |file: &str, base: &str, step| (file.to_owned(), base.to_owned(), step);
        assert_eq!(of(0), expect("2021-11-30", "2021-11-30T18:00:00Z", 7));
        assert_eq!(of(5), expect("2021-11-30", "2021-11-30T18:00:00Z", 12));
        assert_eq!(of(6), expect("2021-12-01", "2021-12-01T06:00:00Z", 1));
        assert_eq!(of(17), expect("2021-12-01", "2021-12-01T06:00:00Z", 12));
        assert_eq!(of(18), expect("2021-12-01", "2021-12-01T18:00:00Z", 1));
        assert_eq!(of(23), expect("2021-12-01", "2021-12-01T18:00:00Z", 6));
        for hour in 0..24 {
            let (_, base, step) = forecast_of(Hour { day, hour }).unwrap();
            let end = Hour { day, hour }.time() + jiff::SignedDuration::from_hours(1);
            assert_eq!(base + jiff::SignedDuration::from_hours(step.into()), end);
        }
    }
}
