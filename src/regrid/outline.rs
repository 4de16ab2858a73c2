//! The way of a cell's sides through the rows of a mesh.
//!
//! Neighbours share a side, and what one gains on it the other must lose to the last digits. So a corner and the cuts of
//! a side have longitudes of their own, from a meridian near them and the same for all cells that meet there; to those of
//! a cell they differ by whole parts of a degree, which are exact.

use std::f64::consts::TAU;

use super::arc::{Circle, Point, Pole, wrapped};
use super::strips::Lines;

/// Horizontal distance from the axis below which a corner is a pole.
const AT_POLE: f64 = 1e-15;

/// Meridians from which longitudes are counted, per degree.
const MERIDIANS: f64 = 64.0;

/// Distance in radian from such a meridian that can only be rounding.
const ROUNDING: f64 = 1e-15;

/// Row index of what lies south of all rows; north of them it is the number of rows.
const BELOW: i32 = -1;

/// Part of an outline within one row, monotone in latitude.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub row: i32,
    pub from: Point,
    pub to: Point,
    /// The great circle, in longitudes from the meridian of the side.
    pub circle: Circle,
    /// That meridian in degrees from the one of the cell.
    pub meridian: f64,
}

/// Closed outline of a convex cell, counter-clockwise, in the plane of longitude and sine of latitude: the sides, and
/// where the cell touches or holds a pole a stretch along that pole.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub arcs: Vec<Arc>,
    /// Meridian in degrees from which longitudes count.
    pub meridian: f64,
    /// Pole of the hemisphere in which most of it lies.
    pub hemisphere: Pole,
    /// Range of longitudes in radian.
    pub west: f64,
    pub east: f64,
}

/// A corner, in its own frame and in that of the cell.
#[derive(Clone, Copy)]
struct Corner {
    v: [f64; 3],
    /// Row of the pole that it is.
    pole: Option<i32>,
    /// The nearest meridian, degrees, and the longitude from there, radian.
    meridian: f64,
    beside: f64,
    north: f64,
    south: f64,
    /// The same meridian from that of the cell, without jumps, degrees.
    place: f64,
}

impl Corner {
    fn new(v: [f64; 3], rows: i32) -> Self {
        let level = v[0].hypot(v[1]);
        let pole = (level < AT_POLE).then_some(if v[2] > 0.0 { rows } else { BELOW });
        let meridian = (v[1].atan2(v[0]).to_degrees() * MERIDIANS).round() / MERIDIANS;
        let [x, y, _] = turned(v, meridian);
        let beside = y.atan2(x);
        // Sides that run along a meridian of another mesh are meant to do so.
        let beside = if beside.abs() < ROUNDING { 0.0 } else { beside };
        Self { v, pole, meridian, beside, north: level.atan2(v[2]), south: level.atan2(-v[2]), place: 0.0 }
    }

    /// The point in the frame of the cell.
    fn point(&self) -> Point {
        self.at(self.place)
    }

    /// The point in a frame in which its meridian lies at `place` degrees.
    fn at(&self, place: f64) -> Point {
        Point { lon: place.to_radians() + self.beside, north: self.north, south: self.south }
    }

    /// Longitude from another corner in radian, the short way around.
    fn step_from(&self, other: &Corner) -> f64 {
        wrapped((self.meridian - other.meridian).to_radians() + (self.beside - other.beside))
    }

    /// Puts its meridian where the longitude from `other` is nearest to `step`.
    fn follow(&mut self, other: &Corner, step: f64) {
        let straight = (self.meridian - other.meridian).to_radians() + (self.beside - other.beside);
        self.place = other.place + (self.meridian - other.meridian) + 360.0 * ((step - straight) / TAU).round();
    }
}

/// A vector in the frame whose x axis points to a meridian.
fn turned(v: [f64; 3], meridian: f64) -> [f64; 3] {
    // Quarter turns first: they are exact, and what is left is small.
    let quarters = (meridian / 90.0).round();
    let (sin, cos) = (meridian - 90.0 * quarters).to_radians().sin_cos();
    let [x, y] = match (quarters as i32).rem_euclid(4) {
        0 => [v[0], v[1]],
        1 => [v[1], -v[0]],
        2 => [-v[0], -v[1]],
        _ => [-v[1], v[0]],
    };
    [cos * x + sin * y, cos * y - sin * x, v[2]]
}

impl Outline {
    /// Follows the sides of a cell, given by its corners counter-clockwise, through the rows between `lines`.
    pub fn trace(&mut self, corners: &[[f64; 3]; 4], lines: &Lines) {
        self.arcs.clear();
        let rows = lines.all().len() as i32 - 1;
        let ring = corners.map(|v| Corner::new(v, rows));
        let Some(start) = ring.iter().position(|c| c.pole.is_none()) else { return };
        let first = ring[start];
        self.meridian = first.meridian;
        let height: f64 = corners.iter().map(|v| v[2]).sum();
        self.hemisphere = if height < 0.0 { Pole::South } else { Pole::North };
        let (mut here, mut pole) = (first, None);
        for k in 1..=ring.len() {
            let mut next = ring[(start + k) % ring.len()];
            if next.pole.is_some() {
                // The side to the pole is a meridian and bounds no area.
                pole = next.pole;
                continue;
            }
            let step = next.step_from(&here);
            match pole.take() {
                None => {
                    next.follow(&here, step);
                    self.side(&here, &next, lines);
                }
                Some(row) => {
                    // The angle at the pole, westwards around the north pole and eastwards around the south pole.
                    let turn = if row == BELOW { step.rem_euclid(TAU) } else { -(-step).rem_euclid(TAU) };
                    next.follow(&here, turn);
                    self.along_pole(row, here.point(), next.point());
                }
            }
            here = next;
        }
        let turn = here.place - first.place;
        if turn != 0.0 {
            let row = if turn > 0.0 { rows } else { BELOW };
            self.along_pole(row, here.point(), first.point());
        }
        let lons = self.arcs.iter().flat_map(|arc| [arc.from.lon, arc.to.lon]);
        (self.west, self.east) = lons.fold((f64::MAX, f64::MIN), |(w, e), lon| (w.min(lon), e.max(lon)));
    }

    /// Rows, out of as many as there are, that the outline touches or encloses.
    pub fn rows(&self, rows: usize) -> std::ops::Range<usize> {
        let range = self.arcs.iter().fold((i32::MAX, i32::MIN), |(a, b), arc| (a.min(arc.row), b.max(arc.row)));
        let first = range.0.max(0) as usize;
        first..(range.1.saturating_add(1).max(0) as usize).min(rows).max(first)
    }

    /// A stretch along a pole.
    fn along_pole(&mut self, row: i32, from: Point, to: Point) {
        let circle = Circle::through([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
        self.arcs.push(Arc { row, from, to, circle, meridian: 0.0 });
    }

    /// A side between two corners, cut where it turns in latitude and where it meets parallels.
    fn side(&mut self, from: &Corner, to: &Corner, lines: &Lines) {
        let begin = self.arcs.len();
        // The same way whichever cell asks.
        let forwards = from.v < to.v;
        let (first, last) = if forwards { (from, to) } else { (to, from) };
        let frame = first.meridian;
        let circle = Circle::through(turned(first.v, frame), turned(last.v, frame));
        let (start, end) = (first.at(0.0), last.at(last.place - first.place));
        let width = end.lon - start.lon;
        let mut here = start;
        for extreme in circle.extremes() {
            let step = wrapped(extreme.lon - start.lon);
            if step * width > 0.0 && step.abs() < width.abs() {
                let turning = Point { lon: start.lon + step, ..extreme };
                self.monotone(here, turning, circle, lines);
                here = turning;
            }
        }
        self.monotone(here, end, circle, lines);
        let added = &mut self.arcs[begin..];
        let shift = first.place.to_radians();
        for arc in added.iter_mut() {
            arc.meridian = first.place;
            arc.from.lon += shift;
            arc.to.lon += shift;
        }
        if !forwards {
            reverse(added);
        }
        let last = added.len() - 1;
        (added[0].from, added[last].to) = (from.point(), to.point());
    }

    /// A stretch of a circle that only rises or only falls, cut at the parallels between its ends.
    fn monotone(&mut self, from: Point, to: Point, circle: Circle, lines: &Lines) {
        let rises = to.is_north_of(&from);
        let (low, high) = if rises { (from, to) } else { (to, from) };
        let first = lines.all().partition_point(|line| !line.is_north_of(&low));
        let last = lines.all().partition_point(|line| line.is_south_of(&high));
        let begin = self.arcs.len();
        let about = 0.5 * (low.lon + high.lon);
        let arc = |row: usize, from, to| Arc { row: row as i32 - 1, from, to, circle, meridian: 0.0 };
        let mut here = low;
        for (j, line) in lines.all().iter().enumerate().take(last).skip(first) {
            let (west, east) = if here.lon <= high.lon { (here.lon, high.lon) } else { (high.lon, here.lon) };
            let lon = line.meets(&circle, about).clamp(west, east);
            let cut = Point { lon, north: line.north, south: line.south };
            self.arcs.push(arc(j, here, cut));
            here = cut;
        }
        self.arcs.push(arc(first.max(last), here, high));
        if !rises {
            reverse(&mut self.arcs[begin..]);
        }
    }
}

/// The same way backwards.
fn reverse(arcs: &mut [Arc]) {
    arcs.reverse();
    arcs.iter_mut().for_each(|arc| std::mem::swap(&mut arc.from, &mut arc.to));
}
