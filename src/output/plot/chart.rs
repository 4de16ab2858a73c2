//! Curves and points over two axes.

use std::path::Path;

use super::super::error::{OutputError, check_target};
use super::canvas::{Align, Canvas, LETTER};
use super::colour::{Rgb, colour};
use super::scale::Scale;
use super::{BLACK, GREY};

/// Size of the field between the axes in pixels.
const FIELD: (usize, usize) = (900, 600);
const LEFT: usize = 130;
const RIGHT: usize = 40;
const TOP: usize = 70;
const BOTTOM: usize = 80;

/// How the points of a series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Joined by lines.
    Line,
    /// One dot each.
    Dots,
}

/// Points with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartSeries {
    /// Name in the legend; empty for none.
    pub label: String,
    /// Points; those with a value that is not finite are left out.
    pub points: Vec<[f64; 2]>,
    /// How they are drawn.
    pub mark: Mark,
}

/// A picture of series.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Title.
    pub title: String,
    /// Labels of the horizontal and the vertical axis.
    pub axes: [String; 2],
    /// Series, drawn in this order.
    pub series: Vec<ChartSeries>,
}

impl Chart {
    /// Writes the picture as PNG file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), OutputError> {
        check_target(path)?;
        self.draw().save(path)
    }

    fn draw(&self) -> Canvas {
        let finite = |p: &&[f64; 2]| p.iter().all(|v| v.is_finite());
        let of_axis = |axis: usize| {
            let points = self.series.iter().flat_map(|s| s.points.iter().filter(finite));
            Scale::of(points.map(move |p| p[axis]))
        };
        let scales = [of_axis(0), of_axis(1)];
        let mut canvas = Canvas::new(LEFT + FIELD.0 + RIGHT, TOP + FIELD.1 + BOTTOM);
        let place = |p: &[f64; 2]| {
            let x = LEFT as f64 + scales[0].position(p[0]) * (FIELD.0 - 1) as f64;
            let y = TOP as f64 + (1.0 - scales[1].position(p[1])) * (FIELD.1 - 1) as f64;
            [x.round() as usize, y.round() as usize]
        };
        axes(&mut canvas, &scales, &self.axes);
        canvas.text(LEFT, 14, Align::Left, &self.title, BLACK);
        let mut legend = 0;
        for (n, series) in self.series.iter().enumerate() {
            // The light end of the colours does not stand out from white.
            let shade = colour(0.85 * n as f64 / self.series.len().max(2).saturating_sub(1) as f64);
            let places: Vec<_> = series.points.iter().filter(finite).map(place).collect();
            match series.mark {
                Mark::Dots => places.iter().for_each(|p| canvas.fill(p[0], p[1], 2, 2, shade)),
                Mark::Line => places.windows(2).for_each(|pair| line(&mut canvas, pair[0], pair[1], shade)),
            }
            if !series.label.is_empty() {
                let y = TOP + 10 + legend * (LETTER + 6);
                let text = LEFT + FIELD.0 - 40;
                canvas.fill(text + 8, y + LETTER / 2 - 1, 24, 4, shade);
                canvas.text(text, y, Align::Right, &series.label, BLACK);
                legend += 1;
            }
        }
        canvas
    }
}

/// Frame, ticks and labels.
fn axes(canvas: &mut Canvas, scales: &[Scale; 2], labels: &[String; 2]) {
    canvas.frame(LEFT, TOP, FIELD.0, FIELD.1, BLACK);
    for (tick, label) in scales[0].ticks.iter().zip(&scales[0].labels) {
        let x = LEFT + (scales[0].position(*tick) * (FIELD.0 - 1) as f64).round() as usize;
        canvas.fill(x, TOP + FIELD.1, 1, 6, BLACK);
        canvas.text(x, TOP + FIELD.1 + 10, Align::Centre, label, BLACK);
    }
    for (tick, label) in scales[1].ticks.iter().zip(&scales[1].labels) {
        let y = TOP + ((1.0 - scales[1].position(*tick)) * (FIELD.1 - 1) as f64).round() as usize;
        canvas.fill(LEFT - 6, y, 6, 1, BLACK);
        canvas.text(LEFT - 10, y.saturating_sub(LETTER / 2), Align::Right, label, BLACK);
    }
    let named = |scale: &Scale, label: &str| match scale.exponent {
        0 => label.to_owned(),
        exponent => format!("{label} (10^{exponent})"),
    };
    canvas.text(LEFT + FIELD.0 / 2, TOP + FIELD.1 + 44, Align::Centre, &named(&scales[0], &labels[0]), GREY);
    canvas.text(8, TOP - LETTER - 10, Align::Left, &named(&scales[1], &labels[1]), GREY);
}

/// A line two pixels wide.
fn line(canvas: &mut Canvas, from: [usize; 2], to: [usize; 2], shade: Rgb) {
    let steps = from[0].abs_diff(to[0]).max(from[1].abs_diff(to[1])).max(1);
    let between = |a: usize, b: usize, n: usize| (a as f64 + (b as f64 - a as f64) * n as f64 / steps as f64).round();
    for n in 0..=steps {
        canvas.fill(between(from[0], to[0], n) as usize, between(from[1], to[1], n) as usize, 2, 2, shade);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_of_anything_are_drawn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chart.png");
        let series = |points: Vec<[f64; 2]>, mark| ChartSeries { label: "a series".into(), points, mark };
        for points in [vec![], vec![[1.0, 2.0]], vec![[0.0, 1.0], [f64::NAN, 0.0], [3.0, -1e-9]]] {
            let series = vec![series(points.clone(), Mark::Line), series(points, Mark::Dots)];
            let chart = Chart { title: "title".into(), axes: ["x".into(), "y".into()], series };
            chart.save(&path).unwrap();
            assert!(std::fs::read(&path).unwrap().starts_with(b"\x89PNG"));
        }
    }
}
