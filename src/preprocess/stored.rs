//! Face values in the arrays of a transport file, and sums over the faces of cells.

use decomposition::{AlongEdge, Axis, Edge, Panel};
use kernels::Scalar;
use rayon::prelude::*;

use super::faces::EdgeFaces;
use super::{FacePlace, FaceTable};

/// Values of the faces along a line of a panel.
#[derive(Clone, Copy)]
struct Side<'a> {
    values: &'a [f64],
    along: AlongEdge,
    sign: f64,
}

impl Side<'_> {
    /// Value as stored at along-edge index `s`.
    fn at(&self, s: usize) -> f64 {
        self.sign * self.values[self.along.map(s, self.values.len())]
    }
}

impl FaceTable {
    /// Writes the values of the faces at level `k` of `nz` into the arrays of a file, both copies of seam faces.
    pub fn scatter<R: Scalar>(&self, level: &[f64], k: usize, nz: usize, am: &mut [R], bm: &mut [R]) {
        let len = self.panel_level();
        assert!(k < nz && am.len() == 6 * nz * len && bm.len() == am.len(), "arrays of {nz} levels");
        for panel in Panel::ALL {
            let place = (panel.index() * nz + k) * len..(panel.index() * nz + k + 1) * len;
            self.fill_x(level, panel, &mut am[place.clone()]);
            self.fill_y(level, panel, &mut bm[place]);
        }
    }

    /// [`scatter`](Self::scatter) of all levels `[k][face]`, in parallel.
    pub fn scatter_levels<R: Scalar>(&self, levels: &[f64], nz: usize, am: &mut [R], bm: &mut [R]) {
        let len = self.panel_level();
        assert!(levels.len() == nz * self.faces(), "faces of {nz} levels");
        assert!(am.len() == 6 * nz * len && bm.len() == am.len(), "arrays of {nz} levels");
        let arrays = am.par_chunks_mut(len).zip(bm.par_chunks_mut(len));
        arrays.enumerate().for_each(|(n, (am, bm))| {
            let level = &levels[n % nz * self.faces()..(n % nz + 1) * self.faces()];
            self.fill_x(level, Panel::ALL[n / nz], am);
            self.fill_y(level, Panel::ALL[n / nz], bm);
        });
    }

    /// Reads the values of the faces at level `k` of `nz` from the arrays of a file; on seams the owner's copy.
    pub fn gather<R: Scalar>(&self, am: &[R], bm: &[R], k: usize, nz: usize, level: &mut [f64]) {
        let (nc, len) = (self.nc(), self.panel_level());
        assert!(k < nz && am.len() == 6 * nz * len && bm.len() == am.len(), "arrays of {nz} levels");
        assert!(level.len() == self.faces(), "faces of a level");
        for panel in Panel::ALL {
            let place = (panel.index() * nz + k) * len..(panel.index() * nz + k + 1) * len;
            let (am, bm) = (&am[place.clone()], &bm[place]);
            let faces = &mut level[self.first_x(panel)..self.first_y(panel)];
            for (row, from) in faces.chunks_mut((nc - 1).max(1)).zip(am.chunks(nc + 1)) {
                row.iter_mut().zip(&from[1..]).for_each(|(to, from)| *to = from.to_f64());
            }
            let faces = &mut level[self.first_y(panel)..self.first_y(panel) + nc * (nc - 1)];
            faces.iter_mut().zip(&bm[nc..]).for_each(|(to, from)| *to = from.to_f64());
        }
        for face in self.inside()..self.faces() {
            let FacePlace { panel, axis, i, j } = self.place(face);
            let start = (panel.index() * nz + k) * len;
            level[face] = match axis {
                Axis::X => am[start + j * (nc + 1) + i].to_f64(),
                Axis::Y => bm[start + j * nc + i].to_f64(),
            };
        }
    }

    /// Net outflow of every cell, (east − west) + (north − south), in the order of the gates that check a file.
    pub fn divergence(&self, level: &[f64], out: &mut [f64]) {
        assert!(out.len() == self.cells(), "cells of a level");
        self.each_cell(level, |cell, [west, east, south, north]| out[cell] = (east - west) + (north - south));
    }

    /// Calls `visit` with every cell and the values stored on its west, east, south and north side, positive toward
    /// larger i and j.
    pub fn each_cell(&self, level: &[f64], mut visit: impl FnMut(usize, [f64; 4])) {
        let nc = self.nc();
        assert!(level.len() == self.faces(), "faces of a level");
        for panel in Panel::ALL {
            let (west, east) = (self.side(level, panel, Edge::West), self.side(level, panel, Edge::East));
            for j in 0..nc {
                let inner = self.inner_x(level, panel, j);
                let (south, north) = (self.side_y(level, panel, j), self.side_y(level, panel, j + 1));
                let first = (panel.index() * nc + j) * nc;
                let mut low = west.at(j);
                for i in 0..nc {
                    let high = if i + 1 < nc { inner[i] } else { east.at(j) };
                    visit(first + i, [low, high, south.at(i), north.at(i)]);
                    low = high;
                }
            }
        }
    }

    /// Writes the values of the faces normal to i of one panel.
    fn fill_x<R: Scalar>(&self, level: &[f64], panel: Panel, am: &mut [R]) {
        let nc = self.nc();
        let (west, east) = (self.side(level, panel, Edge::West), self.side(level, panel, Edge::East));
        for (j, row) in am.chunks_mut(nc + 1).enumerate() {
            row[0] = R::from_f64(west.at(j));
            let inner = self.inner_x(level, panel, j);
            row[1..nc].iter_mut().zip(inner).for_each(|(to, from)| *to = R::from_f64(*from));
            row[nc] = R::from_f64(east.at(j));
        }
    }

    /// Writes the values of the faces normal to j of one panel.
    fn fill_y<R: Scalar>(&self, level: &[f64], panel: Panel, bm: &mut [R]) {
        for (j, row) in bm.chunks_mut(self.nc()).enumerate() {
            let side = self.side_y(level, panel, j);
            row.iter_mut().enumerate().for_each(|(i, to)| *to = R::from_f64(side.at(i)));
        }
    }

    /// Values along a panel edge, in the panel's own sense.
    fn side<'a>(&self, level: &'a [f64], panel: Panel, edge: Edge) -> Side<'a> {
        let EdgeFaces { first, along, sign } = self.edge(panel, edge);
        Side { values: &level[first..first + self.nc()], along, sign }
    }

    /// Values of the faces normal to j at index `j` in 0..=nc.
    fn side_y<'a>(&self, level: &'a [f64], panel: Panel, j: usize) -> Side<'a> {
        match j {
            0 => self.side(level, panel, Edge::South),
            j if j == self.nc() => self.side(level, panel, Edge::North),
            j => {
                let first = self.first_y(panel) + (j - 1) * self.nc();
                Side { values: &level[first..first + self.nc()], along: AlongEdge::Aligned, sign: 1.0 }
            }
        }
    }

    /// Values of the faces inside a panel that are normal to i, in row j.
    fn inner_x<'a>(&self, level: &'a [f64], panel: Panel, j: usize) -> &'a [f64] {
        let first = self.first_x(panel) + j * (self.nc() - 1);
        &level[first..first + self.nc() - 1]
    }

    /// Values per panel and level of `am` and of `bm`.
    fn panel_level(&self) -> usize {
        self.nc() * (self.nc() + 1)
    }
}
