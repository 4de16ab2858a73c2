//! Global maps of cubed-sphere variables.

mod canvas;
mod colour;
mod field;
mod scale;

use std::path::Path;

use self::canvas::{Align, Canvas, LETTER};
use self::colour::{Rgb, colour};
use self::field::Field;
use self::scale::Scale;
use super::error::{OutputError, refuse_odd};
use crate::files::same_file;

/// Size of the map in pixels: three and a third per degree.
const MAP: (usize, usize) = (1200, 600);
const LEFT: usize = 90;
const RIGHT: usize = 50;
const TOP: usize = 100;
const BOTTOM: usize = 130;
/// Height of the colour bar.
const BAR: usize = 22;

const BLACK: Rgb = [0, 0, 0];
const GREY: Rgb = [90, 90, 90];
/// Cells without a value.
const MISSING: Rgb = [200, 200, 200];

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlotRequest<'a> {
    /// Name of the variable.
    pub variable: &'a str,
    /// Snapshot from 1; the last one if absent.
    pub time: Option<usize>,
    /// Model level from 1 at the model top; the lowest one if absent.
    pub level: Option<usize>,
}

/// Draws a map of one variable of the snapshot file `file` as PNG picture `out`.
///
/// Equirectangular projection; each pixel has the colour of the cell it lies in, grey where there is no value.
///
/// # Errors
/// If the file is no cubed-sphere file of this program, the variable is unknown (close names are given) or not a map,
/// time or level are out of range, or the picture cannot be written.
pub fn plot(file: &Path, request: &PlotRequest, out: &Path) -> Result<(), OutputError> {
    refuse_odd(file)?;
    refuse_odd(out)?;
    if same_file(file, out) {
        let problem = "the picture would overwrite the file it is drawn from; choose another path".into();
        return Err(OutputError::Content { path: out.to_path_buf(), problem });
    }
    let field = Field::read(file, request)?;
    draw(&field)?.save(out)
}

fn draw(field: &Field) -> Result<Canvas, OutputError> {
    let scale = Scale::of(field.values.iter().copied());
    let mut canvas = Canvas::new(LEFT + MAP.0 + RIGHT, TOP + MAP.1 + BOTTOM);
    let shade = |value: f64| if value.is_finite() { colour(scale.position(value)) } else { MISSING };
    for y in 0..MAP.1 {
        let latitude = 90.0 - (y as f64 + 0.5) * 180.0 / MAP.1 as f64;
        for x in 0..MAP.0 {
            let longitude = -180.0 + (x as f64 + 0.5) * 360.0 / MAP.0 as f64;
            canvas.set(LEFT + x, TOP + y, shade(field.at(longitude, latitude)?));
        }
    }
    graticule(&mut canvas);
    canvas.frame(LEFT, TOP, MAP.0, MAP.1, BLACK);
    canvas.text(LEFT, 18, Align::Left, &fitting(&field.title), BLACK);
    canvas.text(LEFT, 44, Align::Left, &fitting(&field.subtitle), BLACK);
    canvas.text(LEFT, 70, Align::Left, &fitting(&extremes(field)), GREY);
    colour_bar(&mut canvas, &scale, &field.units);
    Ok(canvas)
}

/// As much of a text as fits above the map.
fn fitting(text: &str) -> String {
    text.chars().take((MAP.0 + RIGHT) / LETTER).collect()
}

fn extremes(field: &Field) -> String {
    let finite = field.values.iter().copied().filter(|v| v.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    let missing = field.values.iter().filter(|v| !v.is_finite()).count();
    let missing = if missing > 0 { format!(", {missing} cells without value") } else { String::new() };
    if low > high { "no values".into() } else { format!("min {low:.6e}, max {high:.6e}{missing}") }
}

/// Lines and labels every 30 degrees.
fn graticule(canvas: &mut Canvas) {
    let line: Rgb = [255, 255, 255];
    for n in 0..=12 {
        let (x, longitude) = (LEFT + n * MAP.0 / 12, n as i32 * 30 - 180);
        if (1..12).contains(&n) {
            (0..MAP.1).for_each(|y| canvas.tint(x, TOP + y, line));
        }
        canvas.fill(x, TOP + MAP.1, 1, 6, BLACK);
        canvas.text(x, TOP + MAP.1 + 10, Align::Centre, &degrees(longitude, ["W", "E"], 180), BLACK);
    }
    for n in 0..=6 {
        let (y, latitude) = (TOP + n * MAP.1 / 6, 90 - n as i32 * 30);
        if (1..6).contains(&n) {
            (0..MAP.0).for_each(|x| canvas.tint(LEFT + x, y, line));
        }
        canvas.fill(LEFT - 6, y, 6, 1, BLACK);
        canvas.text(LEFT - 10, y - LETTER / 2, Align::Right, &degrees(latitude, ["S", "N"], 0), BLACK);
    }
}

/// Label of a meridian or parallel; 0 and `plain` need no letter.
fn degrees(value: i32, letters: [&str; 2], plain: i32) -> String {
    let letter = match value.signum() {
        0 => "",
        _ if value.abs() == plain => "",
        -1 => letters[0],
        _ => letters[1],
    };
    format!("{}°{letter}", value.abs())
}

fn colour_bar(canvas: &mut Canvas, scale: &Scale, units: &str) {
    let top = TOP + MAP.1 + 48;
    for x in 0..MAP.0 {
        canvas.fill(LEFT + x, top, 1, BAR, colour((x as f64 + 0.5) / MAP.0 as f64));
    }
    canvas.frame(LEFT, top, MAP.0, BAR, BLACK);
    for (tick, label) in scale.ticks.iter().zip(&scale.labels) {
        let x = LEFT + (scale.position(*tick) * (MAP.0 - 1) as f64).round() as usize;
        canvas.fill(x, top + BAR, 1, 6, BLACK);
        canvas.text(x, top + BAR + 10, Align::Centre, label, BLACK);
    }
    let unit = match scale.exponent {
        0 => units.to_owned(),
        exponent => format!("10^{exponent} {units}"),
    };
    canvas.text(LEFT + MAP.0 / 2, top + BAR + 34, Align::Centre, &unit, BLACK);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meridians_and_parallels_are_named() {
        let meridians = [-180, -30, 0, 30, 180].map(|d| degrees(d, ["W", "E"], 180));
        assert_eq!(meridians, ["180°", "30°W", "0°", "30°E", "180°"]);
        assert_eq!([-90, 0, 60].map(|d| degrees(d, ["S", "N"], 0)), ["90°S", "0°", "60°N"]);
    }
}
