//! Pictures of a verification: fields, mixing, filament, convergence.

use std::path::{Path, PathBuf};

use super::VerifyError;
use super::report::{CaseReport, Map};
use super::shapes::correlated;
use crate::grid::{CubedSphere, GeometryBundle};
use crate::output::{Chart, ChartSeries, Mark, plot_cells};

/// Draws all pictures into a folder that exists; their paths.
///
/// # Errors
/// A picture cannot be written.
pub fn draw(reports: &[CaseReport], bundle: GeometryBundle, folder: &Path) -> Result<Vec<PathBuf>, VerifyError> {
    let mut drawn = Vec::new();
    for report in reports {
        let name = |what: &str| {
            let text = format!("{}_{}_c{}_{what}.png", report.suite, report.case, report.nc);
            folder.join(text.replace([' ', ','], "_"))
        };
        let title = format!("{}, C{}, {}, {} steps", report.case, report.nc, report.scheme, report.steps);
        for map in &report.maps {
            let grid = CubedSphere::new(report.nc, bundle, bundle.default_offset_deg(), 1.0)?;
            let path = name(&format!("{}_{}", map.tracer, map.stage));
            plot_cells(&grid, map.values.clone(), [&format!("{}, {}", map.tracer, map.stage), &title, ""], &path)?;
            drawn.push(path);
        }
        if let Some(chart) = scatter(report, &title) {
            let path = name("mixing");
            chart.save(&path)?;
            drawn.push(path);
        }
        if let Some(filament) = &report.filament_half_period {
            let points = filament.threshold.iter().zip(&filament.percent).map(|(t, p)| [*t, *p]).collect();
            let series = vec![line("cosine_bells", points), line("perfect", vec![[0.1, 100.0], [1.0, 100.0]])];
            let path = name("filament");
            chart(&format!("filament, {title}"), ["threshold", "area above it, % of the start"], series).save(&path)?;
            drawn.push(path);
        }
    }
    if let Some(chart) = convergence(reports) {
        let path = folder.join("convergence.png");
        chart.save(&path)?;
        drawn.push(path);
    }
    Ok(drawn)
}

fn line(label: &str, points: Vec<[f64; 2]>) -> ChartSeries {
    ChartSeries { label: label.to_owned(), points, mark: Mark::Line }
}

fn chart(title: &str, axes: [&str; 2], series: Vec<ChartSeries>) -> Chart {
    Chart { title: title.to_owned(), axes: axes.map(str::to_owned), series }
}

/// Correlated bells over cosine bells after half a period, with the curve of the start and its chord.
fn scatter(report: &CaseReport, title: &str) -> Option<Chart> {
    let half = |tracer: &str| {
        let is_it = |map: &&Map| map.tracer == tracer && map.stage == "half";
        report.maps.iter().find(is_it).map(|map| &map.values)
    };
    let (bells, mixed) = (half("cosine_bells")?, half("correlated_bells")?);
    let dots = bells.iter().zip(mixed).map(|(a, b)| [*a, *b]).collect();
    let curve = (0..=90).map(|n| 0.1 + 0.01 * f64::from(n)).map(|x| [x, correlated(x)]).collect();
    let series = vec![
        ChartSeries { label: "cells".into(), points: dots, mark: Mark::Dots },
        line("start", curve),
        line("chord", vec![[0.1, correlated(0.1)], [1.0, correlated(1.0)]]),
    ];
    Some(chart(&format!("mixing, {title}"), ["cosine_bells", "correlated_bells"], series))
}

/// l2 of every tracer that was carried at several resolutions.
fn convergence(reports: &[CaseReport]) -> Option<Chart> {
    let mut series: Vec<ChartSeries> = Vec::new();
    for report in reports.iter().filter(|report| report.nc > 0) {
        for (tracer, norms) in report.norms.iter().filter(|(_, norms)| norms.l2 > 0.0) {
            let label = format!("{} {tracer}", report.case);
            let point = [(report.nc as f64).log10(), norms.l2.log10()];
            match series.iter_mut().find(|known| known.label == label) {
                Some(known) => known.points.push(point),
                None => series.push(line(&label, vec![point])),
            }
        }
    }
    series.retain(|s| s.points.len() > 1);
    (!series.is_empty()).then(|| chart("convergence", ["log10 of cells per panel edge", "log10 of l2"], series))
}
