//! Areas that great-circle cells share with cells between meridians and parallels.
//!
//! In the plane of longitude λ and sine of latitude s, areas are those of the sphere and the cells of a strip mesh are
//! rectangles. The area that a cell shares with a rectangle is −∮ (s − s₀) dλ around the intersection; meridians give
//! nothing, parallels a constant height, great circles a closed form. The outline of the cell is cut at the parallels,
//! and what lies above or below a row is replaced by a stretch along its northern or southern side; each piece is then
//! shared out over the columns. No polygon is ever built, so that non-convex pieces, pieces in several parts, poles and
//! sides that coincide need no case of their own. s₀ is taken at the intersection itself: slivers lose no accuracy.

use super::arc::{Pole, area_under_arc, cosine_difference};
use super::outline::{Arc, Outline};
use super::polygons::Polygons;
use super::strips::{Columns, Lines, Strips, Window};

/// One column's part of a row.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// Colatitude of s₀: that of the first great-circle piece; not a number if there is none.
    level: f64,
    /// ∫ (s − s₀) dλ over the great-circle pieces.
    arcs: f64,
    /// ∫ dλ along the northern side.
    top: f64,
    /// ∫ dλ along the southern side.
    bottom: f64,
}

const NOTHING: Share = Share { level: f64::NAN, arcs: 0.0, top: 0.0, bottom: 0.0 };

/// Side of a row along which a stretch outside of it counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Above,
    Within,
    Below,
}

/// Cuts cells of one mesh by the other. Keeps its scratch memory.
pub(super) struct Cutter<'a> {
    polygons: Polygons<'a>,
    strips: Strips<'a>,
    lines: &'a Lines,
    outline: Outline,
    window: Window,
    shares: Vec<Share>,
    /// Intervals that have a share.
    touched: (usize, usize),
}

impl<'a> Cutter<'a> {
    pub fn new(polygons: Polygons<'a>, strips: Strips<'a>, lines: &'a Lines) -> Self {
        let (outline, window) = (Outline::default(), Window::default());
        Self { polygons, strips, lines, outline, window, shares: Vec::new(), touched: (usize::MAX, 0) }
    }

    /// Adds to `out` every strip cell that `cell` intersects and the shared area, ascending.
    pub fn cut(&mut self, cell: usize, out: &mut Vec<(u32, f64)>) {
        let begin = out.len();
        self.outline.trace(&self.polygons.corners(cell), self.lines);
        let mut filled = false;
        for row in self.outline.rows(self.strips.rows()) {
            if !filled || self.strips.kind() == Columns::PerRow {
                let Outline { meridian, west, east, .. } = self.outline;
                self.window.fill(&self.strips, row, meridian, west, east);
                self.shares.clear();
                self.shares.resize(self.window.columns.len(), NOTHING);
                filled = true;
            }
            self.row(row);
            self.collect(row, out);
        }
        merge(begin, out);
    }

    /// Shares out everything that bounds the cell within a row.
    fn row(&mut self, row: usize) {
        let arcs = std::mem::take(&mut self.outline.arcs);
        let place = |arc: &Arc| match arc.row.cmp(&(row as i32)) {
            std::cmp::Ordering::Greater => Place::Above,
            std::cmp::Ordering::Equal => Place::Within,
            std::cmp::Ordering::Less => Place::Below,
        };
        let n = arcs.len();
        // Beginning where the outline enters or leaves the row, stretches outside are whole.
        let start = (0..n).find(|k| place(&arcs[*k]) != place(&arcs[(k + n - 1) % n])).unwrap_or(0);
        let pole = self.lines.pole(row, self.outline.hemisphere);
        let mut k = 0;
        while k < n {
            let arc = &arcs[(start + k) % n];
            let here = place(arc);
            k += 1;
            if here == Place::Within {
                self.share_arc(arc, pole);
                continue;
            }
            let mut end = arc.to.lon;
            while k < n && place(&arcs[(start + k) % n]) == here {
                end = arcs[(start + k) % n].to.lon;
                k += 1;
            }
            self.share_side(arc.from.lon, end, here);
        }
        self.outline.arcs = arcs;
    }

    fn touch(&mut self, interval: usize) -> &mut Share {
        self.touched = (self.touched.0.min(interval), self.touched.1.max(interval));
        &mut self.shares[interval]
    }

    /// A stretch along the northern or southern side of the row.
    fn share_side(&mut self, from: f64, to: f64, place: Place) {
        if from == to {
            return;
        }
        let (west, east) = (from.min(to), from.max(to));
        let sign = (to - from).signum();
        let mut interval = self.window.interval(west);
        loop {
            let (low, high) = (self.window.edges[interval].max(west), self.window.edges[interval + 1].min(east));
            let share = self.touch(interval);
            match place {
                Place::Above => share.top += sign * (high - low),
                _ => share.bottom += sign * (high - low),
            }
            if self.window.edges[interval + 1] >= east {
                return;
            }
            interval += 1;
        }
    }

    /// A stretch of a great circle within the row.
    fn share_arc(&mut self, arc: &Arc, pole: Pole) {
        if arc.from.lon == arc.to.lon {
            return;
        }
        let (west, east, sign) =
            if arc.from.lon < arc.to.lon { (arc.from, arc.to, 1.0) } else { (arc.to, arc.from, -1.0) };
        let ends = (west.colatitude(pole), east.colatitude(pole));
        let (low, high) = (ends.0.min(ends.1), ends.0.max(ends.1));
        let mut here = (west.lon, ends.0);
        let mut interval = self.window.interval(west.lon);
        loop {
            let edge = self.window.edges[interval + 1];
            let last = edge >= east.lon;
            let there = if last {
                (east.lon, ends.1)
            } else {
                let lon = (self.window.degrees[interval + 1] - arc.meridian).to_radians();
                (edge, arc.circle.at(lon).colatitude(pole).clamp(low, high))
            };
            if there.0 > here.0 {
                let share = self.touch(interval);
                if share.level.is_nan() {
                    share.level = here.1;
                }
                share.arcs += sign * area_under_arc(here.1, there.1, share.level, there.0 - here.0);
            }
            if last {
                return;
            }
            here = there;
            interval += 1;
        }
    }

    /// Areas from the shares of a row, which are used up.
    fn collect(&mut self, row: usize, out: &mut Vec<(u32, f64)>) {
        let (first, last) = self.touched;
        self.touched = (usize::MAX, 0);
        if first > last {
            return;
        }
        let pole = self.lines.pole(row, self.outline.hemisphere);
        let (south, north) = self.lines.sides(row, pole);
        // Sines are counted from that pole.
        let sign = match pole {
            Pole::North => -1.0,
            Pole::South => 1.0,
        };
        let offset = self.strips.first(row) as u32;
        for interval in first..=last {
            let share = std::mem::replace(&mut self.shares[interval], NOTHING);
            let Some(column) = self.window.columns[interval] else { continue };
            let width = self.window.edges[interval + 1] - self.window.edges[interval];
            let area = if share.level.is_nan() && -share.top == width {
                // The whole cell, to the bit.
                self.lines.height(row) * self.strips.width(row, column as usize)
            } else if share.level.is_nan() {
                -self.lines.height(row) * share.top
            } else {
                let top = share.top * cosine_difference(north, share.level);
                let bottom = share.bottom * cosine_difference(south, share.level);
                sign * (share.arcs + (top + bottom))
            };
            if area > 0.0 {
                out.push((offset + column, area));
            }
        }
    }
}

/// Sorts the entries from `begin` on and adds up those of one cell: windows that go all around hold a column twice.
pub(super) fn merge(begin: usize, out: &mut Vec<(u32, f64)>) {
    if out[begin..].is_sorted_by(|a, b| a.0 < b.0) {
        return;
    }
    out[begin..].sort_by_key(|entry| entry.0);
    let mut kept = begin;
    for k in begin + 1..out.len() {
        if out[k].0 == out[kept].0 {
            out[kept].1 += out[k].1;
        } else {
            kept += 1;
            out[kept] = out[k];
        }
    }
    out.truncate(kept + 1);
}
