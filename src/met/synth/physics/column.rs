//! One column of the weather flow.

use super::convection::{Drafts, cloud_base_layer, exchange, strength};
use super::surface::Surface;
use crate::grid::constants::{GAS_CONSTANT_DRY_AIR, GRAVITY};

/// Von Kármán's constant.
const KARMAN: f64 = 0.4;
/// Temperature in K that the stratosphere tends to.
const STRATOSPHERE_K: f64 = 205.0;

/// What is known about a column.
pub(super) struct ColumnInput {
    /// Unit vector of the cell centre.
    pub position: [f64; 3],
    /// Time since the start in s.
    pub time_s: f64,
    /// Pressure at the interfaces in Pa, top first.
    pub pressure: Vec<f64>,
    /// Air mass of the layers in kg.
    pub mass: Vec<f64>,
    /// Eastward and northward wind of the layers in m/s.
    pub wind: Vec<[f64; 2]>,
}

impl ColumnInput {
    /// Room for `levels` layers.
    pub fn new(levels: usize) -> Self {
        Self {
            position: [1.0, 0.0, 0.0],
            time_s: 0.0,
            pressure: vec![0.0; levels + 1],
            mass: vec![0.0; levels],
            wind: vec![[0.0; 2]; levels],
        }
    }
}

/// All sections of a column, top first; one value where there is one per column.
#[derive(Default)]
pub(super) struct ColumnOutput {
    pblh: [f64; 1],
    ustar: [f64; 1],
    sensible_heat: [f64; 1],
    latent_heat: [f64; 1],
    t2m: [f64; 1],
    cloud_base: [f64; 1],
    cloud: Vec<f64>,
    dtrain: Vec<f64>,
    entu: Vec<f64>,
    detu: Vec<f64>,
    entd: Vec<f64>,
    detd: Vec<f64>,
    u: Vec<f64>,
    v: Vec<f64>,
    temperature: Vec<f64>,
    humidity: Vec<f64>,
    dkg: Vec<f64>,
    sigma: Vec<f64>,
    updraft: Vec<f64>,
    downdraft: Vec<f64>,
    thickness: Vec<f64>,
}

impl ColumnOutput {
    /// Room for `levels` layers.
    pub fn new(levels: usize) -> Self {
        let mut output = Self::default();
        let ColumnOutput { cloud, sigma, updraft, downdraft, .. } = &mut output;
        for values in [cloud, sigma, updraft, downdraft] {
            values.resize(levels + 1, 0.0);
        }
        let ColumnOutput { dtrain, entu, detu, entd, detd, u, v, temperature, humidity, dkg, thickness, .. } =
            &mut output;
        for values in [dtrain, entu, detu, entd, detd, u, v, temperature, humidity, dkg, thickness] {
            values.resize(levels, 0.0);
        }
        output
    }

    /// Values in the order of [`SECTIONS`](super::SECTIONS).
    pub fn sections(&self) -> [&[f64]; 17] {
        [
            &self.pblh,
            &self.ustar,
            &self.sensible_heat,
            &self.t2m,
            &self.cloud,
            &self.dtrain,
            &self.entu,
            &self.detu,
            &self.entd,
            &self.detd,
            &self.u,
            &self.v,
            &self.temperature,
            &self.humidity,
            &self.dkg,
            &self.latent_heat,
            &self.cloud_base,
        ]
    }

    /// Computes everything for a column.
    pub fn fill(&mut self, input: &ColumnInput) {
        let [u, v] = input.wind[input.wind.len() - 1];
        let surface = Surface::new(input.position, input.time_s, (u * u + v * v).sqrt());
        self.pblh = [surface.pblh];
        self.ustar = [surface.ustar];
        self.sensible_heat = [surface.sensible_heat];
        self.latent_heat = [surface.latent_heat];
        self.t2m = [surface.t2m];
        self.fill_state(input, surface);
        self.fill_mixing(input, surface);
        self.fill_convection(input, surface);
    }

    /// Winds, temperature, humidity and layer thickness.
    fn fill_state(&mut self, input: &ColumnInput, surface: Surface) {
        let levels = input.mass.len();
        let ps = input.pressure[levels];
        // Saturation over water at the ground (Bolton 1980, eq. 10).
        let celsius = surface.t2m - 273.15;
        let saturated = 0.622 * 611.2 * (17.67 * celsius / (celsius + 243.5)).exp() / ps;
        for k in 0..levels {
            let (top, bottom) = (input.pressure[k], input.pressure[k + 1]);
            let ratio = 0.5 * (top + bottom) / ps;
            // A smooth maximum of a tropospheric profile and a constant.
            let eighth_power = |t: f64| ((t * t) * (t * t)) * ((t * t) * (t * t));
            let warm = surface.t2m * ratio.powf(0.19);
            let temperature = (eighth_power(warm) + eighth_power(STRATOSPHERE_K)).sqrt().sqrt().sqrt();
            let humidity = 0.75 * saturated * (ratio * ratio * ratio) + 2.5e-6;
            let virtual_temperature = temperature * (1.0 + 0.61 * humidity);
            self.thickness[k] =
                GAS_CONSTANT_DRY_AIR * virtual_temperature / GRAVITY * (bottom - top) / (0.5 * (top + bottom));
            self.u[k] = input.wind[k][0];
            self.v[k] = input.wind[k][1];
            self.temperature[k] = temperature;
            self.humidity[k] = humidity;
        }
    }

    /// Exchange between layers: a cubic profile in the boundary layer over a weak background.
    fn fill_mixing(&mut self, input: &ColumnInput, surface: Surface) {
        let levels = input.mass.len();
        let mut height = 0.0;
        self.dkg[levels - 1] = 0.0;
        for k in (0..levels - 1).rev() {
            height += self.thickness[k + 1];
            let depth = f64::max(0.0, 1.0 - height / surface.pblh);
            let turbulent = KARMAN * surface.ustar * height * depth * depth * (1.0 + 3.0 * surface.heating);
            let diffusivity = 0.1 + turbulent;
            let distance = self.thickness[k] + self.thickness[k + 1];
            self.dkg[k] = 2.0 * diffusivity * (input.mass[k] + input.mass[k + 1]) / (distance * distance);
        }
    }

    fn fill_convection(&mut self, input: &ColumnInput, surface: Surface) {
        let levels = input.mass.len();
        for k in 0..=levels {
            self.sigma[k] = input.pressure[k] / input.pressure[levels];
        }
        let strength = strength(input.position, input.time_s, surface.heating);
        let (cloud, updraft, downdraft) = (&mut self.cloud, &mut self.updraft, &mut self.downdraft);
        Drafts { cloud, updraft, downdraft }.fill(strength, &self.sigma);
        for k in 0..levels {
            let (_, detrained) = exchange(self.cloud[k + 1], self.cloud[k]);
            self.dtrain[k] = detrained;
            let (gain, loss) = exchange(self.updraft[k + 1], self.updraft[k]);
            self.entu[k] = gain;
            self.detu[k] = loss;
            let (gain, loss) = exchange(self.downdraft[k], self.downdraft[k + 1]);
            self.entd[k] = gain;
            self.detd[k] = loss;
        }
        self.cloud_base = [cloud_base_layer(&self.cloud)];
    }
}
