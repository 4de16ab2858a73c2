//! Global maps of variables on the cubed sphere or on longitude-latitude grids.

mod canvas;
mod cells;
mod chart;
mod colour;
mod field;
mod scale;

use std::path::Path;

pub use self::chart::{Chart, ChartSeries, Mark};

use self::canvas::{Align, Canvas, LETTER};
use self::colour::{Rgb, colour};
use self::field::Field;
use self::scale::Scale;
use super::error::{OutputError, check_target, refuse_odd};
use crate::files::same_file;
use crate::grid::CubedSphere;

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

/// Draws a map of one variable of `file` as PNG picture `out`: of a file of this program on the cubed sphere (snapshots,
/// prepared fluxes), or of any file on a longitude-latitude grid.
///
/// Equirectangular projection; each pixel has the colour of the cell it lies in, grey where there is no value.
///
/// # Errors
/// If the file has neither of these grids, the variable is unknown (close names are given) or not a map,
/// time or level are out of range, or the picture cannot be written.
pub fn plot(file: &Path, request: &PlotRequest, out: &Path) -> Result<(), OutputError> {
    refuse_odd(file)?;
    check_target(out)?;
    if same_file(file, out) {
        let problem = "the picture would overwrite the file it is drawn from; choose another path".into();
        return Err(OutputError::Content { path: out.to_path_buf(), problem });
    }
    let field = Field::read(file, request)?;
    draw(&field)?.save(out)
}

/// Draws a map of values on all cells of a cubed sphere, `[panel][j][i]`, as PNG picture `out`.
///
/// # Errors
/// The picture cannot be written.
pub fn plot_cells(
    grid: &CubedSphere,
    values: Vec<f64>,
    [title, subtitle, units]: [&str; 3],
    out: &Path,
) -> Result<(), OutputError> {
    check_target(out)?;
    draw(&Field::of_cells(grid.clone(), values, [title, subtitle, units]))?.save(out)
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
    let titles = lines(&field.title, 2);
    let (first, gap) = if titles.len() > 1 { (6, 23) } else { (18, 26) };
    let below = [fitting(&field.subtitle), fitting(&extremes(field))];
    for (n, text) in titles.iter().chain(&below).enumerate() {
        let colour = if n > titles.len() { GREY } else { BLACK };
        canvas.text(LEFT, first + n * gap, Align::Left, text, colour);
    }
    colour_bar(&mut canvas, &scale, &field.units);
    Ok(canvas)
}

/// Letters that fit above the map.
const LINE: usize = (MAP.0 + RIGHT) / LETTER;

/// A text on one line above the map, which ends with dots if some of it does not fit.
fn fitting(text: &str) -> String {
    if text.chars().count() <= LINE {
        return text.to_owned();
    }
    let kept: String = text.chars().take(LINE - 3).collect();
    format!("{}...", kept.trim_end())
}

/// A text on at most `most` (at least 1) lines, broken between words where it can be.
fn lines(text: &str, most: usize) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut rest = text.trim();
    loop {
        let length = rest.chars().count();
        if length <= LINE || found.len() == most {
            *found.last_mut().expect("there is a line") = fitting(rest);
            return found;
        }
        let end = rest.char_indices().nth(LINE).map_or(rest.len(), |(at, _)| at);
        let space = if rest[end..].starts_with(' ') { Some(end) } else { rest[..end].rfind(' ') };
        let broken = space.filter(|at| *at > 0).unwrap_or(end);
        *found.last_mut().expect("there is a line") = rest[..broken].trim_end().to_owned();
        rest = rest[broken..].trim_start();
        found.push(String::new());
    }
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
    canvas.text(LEFT + MAP.0 / 2, top + BAR + 34, Align::Centre, &fitting(&unit), BLACK);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_broken_between_words_and_never_run_over_the_edge() {
        assert_eq!(lines("short", 2), ["short"]);
        assert_eq!(lines("", 2), [""]);
        for width in 1..9 {
            let word = "é".repeat(width);
            for count in 1..120 {
                let text = vec![word.as_str(); count].join(" ");
                let found = lines(&text, 2);
                assert!(found.len() <= 2 && found.iter().all(|line| line.chars().count() <= LINE), "{found:?}");
                let whole = found.join(" ");
                match whole.strip_suffix("...") {
                    None => assert_eq!(whole, text),
                    Some(kept) => assert!(text.starts_with(kept) && text.chars().count() > 2 * LINE - 2 * width - 4),
                }
            }
        }
        let one = "x".repeat(3 * LINE);
        let found = lines(&one, 2);
        assert_eq!([found[0].len(), found[1].len()], [LINE, LINE]);
        assert!(found[1].ends_with("..."));
    }

    #[test]
    fn meridians_and_parallels_are_named() {
        let meridians = [-180, -30, 0, 30, 180].map(|d| degrees(d, ["W", "E"], 180));
        assert_eq!(meridians, ["180°", "30°W", "0°", "30°E", "180°"]);
        assert_eq!([-90, 0, 60].map(|d| degrees(d, ["S", "N"], 0)), ["90°S", "0°", "60°N"]);
    }
}
