//! Air mass fluxes through the faces from winds and layer thicknesses of the cells.

mod lines;
mod options;
mod panel_average;
mod vector;

pub use options::{FaceFluxes, FaceInterpolation, FaceLengths};

use rayon::prelude::*;

use super::{FaceGeometry, FaceTable};
use crate::grid::CubedSphere;
use crate::grid::constants::GRAVITY;
use panel_average::PanelWinds;
use vector::VectorWinds;

/// Operator from cell winds to face fluxes.
///
/// It needs no memory beyond its own: one operator serves all levels, also at the same time.
#[derive(Clone, Debug)]
pub struct WindToFlux {
    faces: FaceTable,
    choice: FaceFluxes,
    winds: Winds,
    /// Length of each face over gravity, m/(m s⁻²).
    scale: Vec<f64>,
}

#[derive(Clone, Debug)]
enum Winds {
    Vector(VectorWinds),
    Panel(PanelWinds),
}

impl WindToFlux {
    /// Operator for the cells of `grid`, to which `faces` belong.
    pub fn new(grid: &CubedSphere, faces: &FaceTable, choice: FaceFluxes) -> Self {
        let geometry = FaceGeometry::new(grid, faces);
        let (winds, mut scale) = match choice {
            FaceFluxes::Vector(interpolation) => {
                let (winds, lengths) = VectorWinds::new(faces, &geometry, interpolation);
                (Winds::Vector(winds), lengths)
            }
            FaceFluxes::PanelAverage(lengths) => {
                let lengths = PanelWinds::lengths(grid, faces, &geometry, lengths);
                (Winds::Panel(PanelWinds::new(grid)), lengths)
            }
        };
        scale.iter_mut().for_each(|length| *length *= grid.radius_m() / GRAVITY);
        Self { faces: faces.clone(), choice, winds, scale }
    }

    /// Choice made.
    pub fn choice(&self) -> FaceFluxes {
        self.choice
    }

    /// [`fluxes`](Self::fluxes) of levels `[k][cell]`, `[k][face]`; levels in parallel.
    pub fn levels(&self, wind: &[Vec<f64>; 3], thickness: &[f64]) -> Vec<f64> {
        let (cells, faces) = (self.faces.cells(), self.faces.faces());
        assert!(thickness.len().is_multiple_of(cells), "whole levels");
        assert!(wind.iter().all(|w| w.len() == thickness.len()), "winds of all levels");
        let mut out = vec![0.0; thickness.len() / cells * faces];
        out.par_chunks_mut(faces).enumerate().for_each(|(k, out)| {
            let level = k * cells..(k + 1) * cells;
            let [x, y, z] = wind;
            self.fluxes([&x[level.clone()], &y[level.clone()], &z[level.clone()]], &thickness[level], out);
        });
        out
    }

    /// Fluxes through all faces of one level, kg/s, positive from left to right.
    ///
    /// `wind` holds the Cartesian components of the wind at the cell centres in m/s, `thickness` the pressure thickness of
    /// the layer in Pa: of dry air for fluxes of dry air.
    pub fn fluxes(&self, wind: [&[f64]; 3], thickness: &[f64], out: &mut [f64]) {
        let (cells, faces) = (self.faces.cells(), self.faces.faces());
        assert!(wind.iter().all(|w| w.len() == cells) && thickness.len() == cells, "cells of a level");
        assert!(out.len() == faces, "faces of a level");
        match &self.winds {
            Winds::Vector(winds) => {
                winds.normal_winds(&self.faces, wind, out);
                winds.times_thickness(&self.faces, thickness, out);
            }
            Winds::Panel(winds) => winds.fluxes(&self.faces, wind, thickness, out),
        }
        out.iter_mut().zip(&self.scale).for_each(|(flux, scale)| *flux *= scale);
    }
}

#[cfg(test)]
mod tests;
