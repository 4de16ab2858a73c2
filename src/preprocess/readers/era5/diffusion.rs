//! Exchange of the boundary-layer scheme of TM5 on the layers of the file (spec 40 §1.10).

use rayon::prelude::*;

use super::hours::Air;
use super::surface::Surface;
use crate::closures::{
    LayerTemperature, Tm5Column, Tm5Rules, Tm5Scratch, exchange_from_edge_diffusivity, hybrid_edges, layer_thickness,
    tm5_boundary_layer,
};
use crate::grid::HybridCoordinate;
use crate::preprocess::LevelMap;
use crate::preprocess::columns::for_columns;

/// Air of the layers, `[layer][cell]`.
pub(super) struct Layers {
    temperature: Vec<f64>,
    humidity: Vec<f64>,
    wind: [Vec<f64>; 2],
    mass: Vec<f64>,
}

impl Layers {
    /// Merges native layers: states by the weight of all air, masses of dry air by their sum.
    pub(super) fn merged(
        levels: &LevelMap,
        native: &HybridCoordinate,
        air: &Air,
        temperature: &[f64],
        [u, v]: [&[f64]; 2],
    ) -> Self {
        let (a, b, cells) = (native.a(), native.b(), air.ps.len());
        let mut moist = vec![0.0; native.levels() * cells];
        moist.par_chunks_mut(cells).enumerate().for_each(|(k, level)| {
            level.iter_mut().zip(&air.ps).for_each(|(dp, ps)| *dp = a[k + 1] - a[k] + (b[k + 1] - b[k]) * ps);
        });
        let mean = |values: &[f64]| levels.means(values.to_vec(), &moist);
        Self {
            temperature: mean(temperature),
            humidity: mean(&air.q),
            wind: [mean(u), mean(v)],
            mass: levels.sums(air.mass.clone()),
        }
    }

    /// Exchange between each layer and the one below, kg s⁻¹, `[layer][cell]`.
    pub(super) fn exchange(&self, coordinate: &HybridCoordinate, ps: &[f64], surface: &Surface) -> Vec<f64> {
        let (levels, cells) = (coordinate.levels(), ps.len());
        let mut exchange = vec![0.0; levels * cells];
        for_columns(&mut exchange, cells, |first, group| {
            let zeros = |n: usize| vec![0.0; n];
            let mut columns: [Vec<f64>; 5] = std::array::from_fn(|_| zeros(levels));
            let (mut thickness, mut result) = (zeros(levels), zeros(levels));
            let (mut edges, mut heights, mut diffusivity) = (zeros(levels + 1), zeros(levels + 1), zeros(levels + 1));
            let mut scratch = Tm5Scratch::new(levels);
            for c in 0..group[0].len() {
                let cell = first + c;
                let sources = [&self.temperature, &self.humidity, &self.wind[0], &self.wind[1], &self.mass];
                for (column, source) in columns.iter_mut().zip(sources) {
                    column.iter_mut().enumerate().for_each(|(k, value)| *value = source[k * cells + cell]);
                }
                let [temperature, humidity, u, v, mass] = &columns;
                hybrid_edges(coordinate.a(), coordinate.b(), ps[cell], &mut edges);
                layer_thickness(&edges, LayerTemperature::Virtual { temperature, humidity }, &mut thickness);
                heights[levels] = 0.0;
                (0..levels).rev().for_each(|k| heights[k] = heights[k + 1] + thickness[k]);
                let column = Tm5Column {
                    pressure_edges: &edges,
                    height_edges: &heights,
                    temperature,
                    humidity,
                    wind: [u, v],
                    friction_velocity: surface.friction[cell],
                    sensible_heat: surface.sensible_heat[cell],
                    latent_heat: surface.latent_heat[cell],
                };
                tm5_boundary_layer(&column, Tm5Rules::Guarded, &mut scratch, &mut diffusivity);
                exchange_from_edge_diffusivity(mass, &diffusivity, &thickness, &mut result);
                group.iter_mut().zip(&result).for_each(|(level, value)| level[c] = *value);
            }
        });
        exchange
    }
}
