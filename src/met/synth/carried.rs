//! Column mass carried by a divergent flow.

use decomposition::{Edge, Panel, PanelConvention};

use super::basis::FaceField;
use super::recipe::{Rates, Recipe};
use crate::grid::CubedSphere;

/// Cells beyond a panel edge that the density at a side depends on.
const HALO: usize = 2;

/// Column air mass per cell, moved by the flow of its own recipe.
///
/// Time stepping is the strong-stability-preserving Runge-Kutta method of third order (Shu & Osher 1988); the density at
/// a side is the upwind-biased third-order value under the limiter of Koren (1993), which keeps mass positive.
#[derive(Clone, Debug)]
pub(super) struct CarriedColumns {
    /// Column mass in kg, `[(panel * nc + j) * nc + i]`.
    pub mass: Vec<f64>,
    area: Vec<f64>,
    nc: usize,
    convention: PanelConvention,
}

impl CarriedColumns {
    /// Columns with `per_area` kg m⁻² everywhere.
    pub fn uniform(grid: &CubedSphere, per_area: f64) -> Self {
        let nc = grid.nc();
        let panel: Vec<f64> = (0..nc * nc).map(|c| grid.area(c % nc, c / nc)).collect();
        let area = panel.repeat(6);
        Self { mass: area.iter().map(|a| a * per_area).collect(), area, nc, convention: grid.convention() }
    }

    /// Moves the columns from `start` to `end` (s) and returns the air that passed each side, in kg. Mass afterwards is
    /// mass before minus the divergence of what is returned.
    pub fn advance(&mut self, recipe: &Recipe, bases: &[FaceField], start: f64, end: f64) -> FaceField {
        let flow_at = |t: f64| volume_flux(&(recipe.rates)(t), bases, self.nc);
        let rate = |t: f64| self.largest_outflow_rate(&flow_at(t));
        // A quarter of a cell per step, well inside the range where the limiter guarantees positive mass.
        let steps = (4.0 * f64::max(rate(start), rate(end)) * (end - start)).ceil().max(1.0) as usize;
        let dt = (end - start) / steps as f64;
        let mut total = FaceField::zeros(self.nc);
        let mut mass = self.mass.clone();
        for step in 0..steps {
            let t = start + step as f64 * dt;
            let first = self.air_flux(&mass, &flow_at(t));
            let second = self.air_flux(&moved(&mass, &first, dt), &flow_at(t + dt));
            let mut mean = FaceField::zeros(self.nc);
            accumulate(&mut mean, &first, 0.25);
            accumulate(&mut mean, &second, 0.25);
            let third = self.air_flux(&moved(&mass, &mean, dt), &flow_at(t + 0.5 * dt));
            let mut amount = FaceField::zeros(self.nc);
            for (flux, weight) in [(&first, 1.0), (&second, 1.0), (&third, 4.0)] {
                accumulate(&mut amount, flux, weight * dt / 6.0);
            }
            mass = moved(&mass, &amount, 1.0);
            accumulate(&mut total, &amount, 1.0);
        }
        self.mass = moved(&self.mass, &total, 1.0);
        total
    }

    /// Volume flux times the density at each side.
    fn air_flux(&self, mass: &[f64], flow: &FaceField) -> FaceField {
        let nc = self.nc;
        let pitch = nc + 2 * HALO;
        let density = self.padded_density(mass);
        let mut flux = flow.clone();
        for panel in 0..6 {
            let density = &density[panel * pitch * pitch..(panel + 1) * pitch * pitch];
            let sides = panel * nc * (nc + 1)..(panel + 1) * nc * (nc + 1);
            for (n, f) in flux.x[sides.clone()].iter_mut().enumerate() {
                let right = (n / (nc + 1) + HALO) * pitch + n % (nc + 1) + HALO;
                *f *= side_density(density, right, 1, *f);
            }
            for (n, f) in flux.y[sides].iter_mut().enumerate() {
                let right = (n / nc + HALO) * pitch + n % nc + HALO;
                *f *= side_density(density, right, pitch, *f);
            }
        }
        flux.mirror_seams(self.convention);
        flux
    }

    /// Density with two rows of the neighbouring panels around each panel; the blocks at the vertices are not used.
    fn padded_density(&self, mass: &[f64]) -> Vec<f64> {
        let nc = self.nc;
        let pitch = nc + 2 * HALO;
        let density = |c: usize| mass[c] / self.area[c];
        let mut padded = vec![0.0; 6 * pitch * pitch];
        for panel in Panel::ALL {
            let origin = (panel.index() * pitch + HALO) * pitch + HALO;
            for (j, i) in (0..nc * nc).map(|c| (c / nc, c % nc)) {
                padded[origin + j * pitch + i] = density((panel.index() * nc + j) * nc + i);
            }
            for edge in Edge::ALL {
                let contact = self.convention.contact(panel, edge);
                for (depth, s) in (0..HALO * nc).map(|n| (n / nc, n % nc)) {
                    let value = density(self.cell(contact.panel, contact.edge, depth, contact.along.map(s, nc)));
                    let at = match edge {
                        Edge::North => origin + (nc + depth) * pitch + s,
                        Edge::South => origin - (depth + 1) * pitch + s,
                        Edge::East => origin + s * pitch + nc + depth,
                        Edge::West => origin + s * pitch - 1 - depth,
                    };
                    padded[at] = value;
                }
            }
        }
        padded
    }

    /// Cell `depth` rows inside a panel edge, `s` along it. Panels narrower than the halo repeat their last row.
    fn cell(&self, panel: Panel, edge: Edge, depth: usize, s: usize) -> usize {
        let nc = self.nc;
        let depth = depth.min(nc - 1);
        let (i, j) = match edge {
            Edge::North => (s, nc - 1 - depth),
            Edge::South => (s, depth),
            Edge::East => (nc - 1 - depth, s),
            Edge::West => (depth, s),
        };
        (panel.index() * nc + j) * nc + i
    }

    /// Largest share of its volume that a cell gives away per s.
    fn largest_outflow_rate(&self, flow: &FaceField) -> f64 {
        let nc = self.nc;
        let out = |low: f64, high: f64| f64::max(0.0, -low) + f64::max(0.0, high);
        let rate = |c: usize| {
            let (row, i) = (c / nc, c % nc);
            let (west, south) = (row * (nc + 1) + i, (row / nc * (nc + 1) + row % nc) * nc + i);
            (out(flow.x[west], flow.x[west + 1]) + out(flow.y[south], flow.y[south + nc])) / self.area[c]
        };
        (0..6 * nc * nc).map(rate).fold(0.0, f64::max)
    }
}

/// Density at the side between cell `right - stride` and cell `right` for a flow of the sign of `flow`.
fn side_density(density: &[f64], right: usize, stride: usize, flow: f64) -> f64 {
    let left = right - stride;
    let (far, upwind, downwind) = if flow < 0.0 {
        (density[right + stride], density[right], density[left])
    } else {
        (density[left - stride], density[left], density[right])
    };
    let (behind, ahead) = (upwind - far, downwind - upwind);
    // Limiter times slope; zero at extrema.
    let slope = if behind * ahead <= 0.0 {
        0.0
    } else {
        let size = f64::min(2.0 * ahead.abs(), f64::min((behind.abs() + 2.0 * ahead.abs()) / 3.0, 2.0 * behind.abs()));
        size.copysign(behind)
    };
    upwind + 0.5 * slope
}

/// Mass after `flux` has acted for `dt`.
fn moved(mass: &[f64], flux: &FaceField, dt: f64) -> Vec<f64> {
    mass.iter().zip(flux.divergence()).map(|(m, d)| m - dt * d).collect()
}

/// Fluxes of all basis fields at one time; levels are alike, the first speaks for all.
fn volume_flux(rates: &Rates, bases: &[FaceField], nc: usize) -> FaceField {
    let amplitudes = rates.streams.iter().chain(&rates.vectors);
    let levels = (rates.streams.len() + rates.vectors.len()) / bases.len();
    let mut flow = FaceField::zeros(nc);
    for (basis, amplitude) in bases.iter().zip(amplitudes.step_by(levels)) {
        accumulate(&mut flow, basis, *amplitude);
    }
    flow
}

fn accumulate(sum: &mut FaceField, field: &FaceField, weight: f64) {
    for (all, one) in [(&mut sum.x, &field.x), (&mut sum.y, &field.y)] {
        all.iter_mut().zip(one).for_each(|(a, b)| *a += weight * b);
    }
}
