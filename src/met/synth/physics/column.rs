//! One column of the weather flow.

use super::convection::{Drafts, cloud_base_layer, exchange, strength};
use super::surface::Surface;
use crate::grid::constants::GRAVITY;
use crate::met::Section;

/// Gas constant of dry air in J kg⁻¹ K⁻¹.
const GAS_CONSTANT: f64 = 287.04;
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

/// All sections of a column.
pub(super) struct ColumnOutput {
    values: Vec<(Section, Vec<f64>)>,
    sigma: Vec<f64>,
    updraft: Vec<f64>,
    downdraft: Vec<f64>,
    thickness: Vec<f64>,
}

impl ColumnOutput {
    /// Room for `levels` layers.
    pub fn new(levels: usize) -> Self {
        let values = super::SECTIONS.map(|section| (section, vec![0.0; section.shape(1, levels).nk])).into();
        let interfaces = || vec![0.0; levels + 1];
        Self {
            values,
            sigma: interfaces(),
            updraft: interfaces(),
            downdraft: interfaces(),
            thickness: vec![0.0; levels],
        }
    }

    /// Values of a section, top first.
    pub fn section(&self, section: Section) -> &[f64] {
        let found = self.values.iter().find(|(s, _)| *s == section);
        found.map_or(&[], |(_, values)| values)
    }

    fn section_mut(&mut self, section: Section) -> &mut Vec<f64> {
        let found = self.values.iter_mut().find(|(s, _)| *s == section);
        found.map(|(_, values)| values).expect("all sections of the list have room")
    }

    /// Computes everything for a column.
    pub fn fill(&mut self, input: &ColumnInput) {
        let [u, v] = input.wind[input.wind.len() - 1];
        let surface = Surface::new(input.position, input.time_s, (u * u + v * v).sqrt());
        for (section, value) in [
            (Section::Pblh, surface.pblh),
            (Section::Ustar, surface.ustar),
            (Section::SensibleHeatFlux, surface.sensible_heat),
            (Section::T2m, surface.t2m),
            (Section::LatentHeatFlux, surface.latent_heat),
        ] {
            self.section_mut(section)[0] = value;
        }
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
            self.thickness[k] = GAS_CONSTANT * virtual_temperature / GRAVITY * (bottom - top) / (0.5 * (top + bottom));
            self.section_mut(Section::VdiffU)[k] = input.wind[k][0];
            self.section_mut(Section::VdiffV)[k] = input.wind[k][1];
            self.section_mut(Section::VdiffT)[k] = temperature;
            self.section_mut(Section::VdiffQv)[k] = humidity;
        }
    }

    /// Exchange between layers: a cubic profile in the boundary layer over a weak background.
    fn fill_mixing(&mut self, input: &ColumnInput, surface: Surface) {
        let levels = input.mass.len();
        let mut height = 0.0;
        self.section_mut(Section::Dkg)[levels - 1] = 0.0;
        for k in (0..levels - 1).rev() {
            height += self.thickness[k + 1];
            let depth = f64::max(0.0, 1.0 - height / surface.pblh);
            let turbulent = KARMAN * surface.ustar * height * depth * depth * (1.0 + 3.0 * surface.heating);
            let diffusivity = 0.1 + turbulent;
            let distance = self.thickness[k] + self.thickness[k + 1];
            self.section_mut(Section::Dkg)[k] =
                2.0 * diffusivity * (input.mass[k] + input.mass[k + 1]) / (distance * distance);
        }
    }

    fn fill_convection(&mut self, input: &ColumnInput, surface: Surface) {
        let levels = input.mass.len();
        for k in 0..=levels {
            self.sigma[k] = input.pressure[k] / input.pressure[levels];
        }
        let strength = strength(input.position, input.time_s, surface.heating);
        let mut cloud = std::mem::take(self.section_mut(Section::Cmfmc));
        let (updraft, downdraft) = (&mut self.updraft, &mut self.downdraft);
        Drafts { cloud: &mut cloud, updraft, downdraft }.fill(strength, &self.sigma);
        for k in 0..levels {
            let (_, detrained) = exchange(cloud[k + 1], cloud[k]);
            self.section_mut(Section::Dtrain)[k] = detrained;
            let (gain, loss) = exchange(self.updraft[k + 1], self.updraft[k]);
            self.section_mut(Section::Entu)[k] = gain;
            self.section_mut(Section::Detu)[k] = loss;
            let (gain, loss) = exchange(self.downdraft[k], self.downdraft[k + 1]);
            self.section_mut(Section::Entd)[k] = gain;
            self.section_mut(Section::Detd)[k] = loss;
        }
        self.section_mut(Section::CmfmcCloudBase)[0] = cloud_base_layer(&cloud);
        *self.section_mut(Section::Cmfmc) = cloud;
    }
}
