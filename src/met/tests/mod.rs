//! Tests of transport files, over small synthetic ones.

mod damage;
mod gates;
mod header;
mod inspect;
mod stream;
mod tiles;
mod writing;

use std::path::{Path, PathBuf};

use decomposition::{PanelConvention, SeamSide};

use super::seam::{edge_face, edge_section};
use super::*;

/// Repeatable pseudo-random numbers (SplitMix64).
pub(super) struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in −1..1.
    pub fn signed(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn fill(&mut self, n: usize, centre: f64, width: f64) -> Vec<f64> {
        (0..n).map(|_| centre + width * self.signed()).collect()
    }
}

pub(super) const BOTH: [PanelConvention; 2] = [PanelConvention::Gnomonic, PanelConvention::GeosNative];

/// A small file description with a short header, so that files are small.
pub(super) fn spec(nc: usize, nz: usize, convention: PanelConvention, nwindow: usize) -> HeaderSpec {
    let a = (0..=nz).map(|k| 10.0 * k as f64 / 3.0).collect();
    let b = (0..=nz).map(|k| k as f64 / nz as f64).collect();
    HeaderSpec { header_bytes: 4096, ..HeaderSpec::new(nc, convention, a, b, nwindow) }
}

/// Full panel arrays of a window whose fluxes carry `m` into `m_next` exactly in real arithmetic.
#[derive(Clone)]
pub(super) struct Window {
    pub steps: u32,
    pub sections: Vec<(Section, Vec<f64>)>,
    pub m_next: Vec<f64>,
}

impl Window {
    pub fn get(&self, section: Section) -> &[f64] {
        &self.sections.iter().find(|(s, _)| *s == section).unwrap().1
    }

    pub fn get_mut(&mut self, section: Section) -> &mut Vec<f64> {
        &mut self.sections.iter_mut().find(|(s, _)| *s == section).unwrap().1
    }

    pub fn write(&self, writer: &mut TransportWriter, window: usize) -> Result<WindowReceipt, MetError> {
        let sections: Vec<(Section, &[f64])> = self.sections.iter().map(|(s, v)| (*s, v.as_slice())).collect();
        writer
            .write_window(window, &WindowPayload { steps: self.steps, sections: &sections, m_next: Some(&self.m_next) })
    }
}

/// Copies the owner's face values to the other side of every seam.
fn mirror_faces(spec: &HeaderSpec, am: &mut [f64], bm: &mut [f64]) {
    let (nc, nz) = (spec.nc, spec.nlevel());
    for seam in spec.convention.seams() {
        for k in 0..nz {
            for s in 0..nc {
                let at = |side: SeamSide, s: usize| {
                    let (panel, edge) = seam.edge_of(side);
                    let section = edge_section(edge);
                    let (i, j) = edge_face(edge, s, nc);
                    let shape = section.shape(nc, nz);
                    (section, ((panel.index() * nz + k) * shape.nj + j) * shape.ni + i)
                };
                let (section, n) = at(SeamSide::Owner, s);
                let value = seam.sign.factor() * if section == Section::FluxX { am[n] } else { bm[n] };
                let (section, n) = at(SeamSide::Other, seam.along.map(s, nc));
                *(if section == Section::FluxX { &mut am[n] } else { &mut bm[n] }) = value;
            }
        }
    }
}

/// A balanced window starting from `m` with random fluxes of the kind the description asks for.
pub(super) fn window(spec: &HeaderSpec, m: Vec<f64>, steps: u32, random: &mut Random) -> Window {
    let (nc, nz) = (spec.nc, spec.nlevel());
    let strength = 1e7 / spec.flux_kind.half_sweep_scale(steps);
    let mut am = random.fill(Section::FluxX.elems(nc, nz), 0.0, strength);
    let mut bm = random.fill(Section::FluxY.elems(nc, nz), 0.0, strength);
    let mut cm = random.fill(Section::FluxZ.elems(nc, nz), 0.0, strength);
    mirror_faces(spec, &mut am, &mut bm);
    let scale = spec.flux_kind.window_scale(steps);
    let mut m_next = m.clone();
    for p in 0..6 {
        for c in 0..nc * nc {
            cm[p * (nz + 1) * nc * nc + c] = 0.0;
            cm[(p * (nz + 1) + nz) * nc * nc + c] = 0.0;
        }
        for k in 0..nz {
            for j in 0..nc {
                for i in 0..nc {
                    let cell = ((p * nz + k) * nc + j) * nc + i;
                    let x = ((p * nz + k) * nc + j) * (nc + 1) + i;
                    let y = ((p * nz + k) * (nc + 1) + j) * nc + i;
                    let z = ((p * (nz + 1) + k) * nc + j) * nc + i;
                    let out = am[x + 1] - am[x] + bm[y + nc] - bm[y] + cm[z + nc * nc] - cm[z];
                    m_next[cell] -= scale * out;
                }
            }
        }
    }
    let sections = spec
        .sections
        .iter()
        .map(|s| {
            let n = s.elems(nc, nz);
            let values = match s {
                Section::AirMass => m.clone(),
                Section::FluxX => am.clone(),
                Section::FluxY => bm.clone(),
                Section::FluxZ => cm.clone(),
                Section::AirMassTendency => m_next.iter().zip(&m).map(|(b, a)| b - a).collect(),
                Section::SurfacePressure => random.fill(n, 1e5, 1e3),
                Section::T2m | Section::VdiffT => random.fill(n, 250.0, 90.0),
                Section::VdiffQv => random.fill(n, 0.2, 0.1),
                _ => random.fill(n, 13.0, 10.0),
            };
            (*s, values)
        })
        .collect();
    Window { steps, sections, m_next }
}

/// A chain of balanced windows with the substeps of the description.
pub(super) fn windows(spec: &HeaderSpec, seed: u64) -> Vec<Window> {
    let mut random = Random(seed);
    let m = random.fill(Section::AirMass.elems(spec.nc, spec.nlevel()), 1e10, 1e9);
    windows_from(spec, m, &mut random)
}

pub(super) fn windows_from(spec: &HeaderSpec, mut m: Vec<f64>, random: &mut Random) -> Vec<Window> {
    let mut all = Vec::new();
    for steps in &spec.steps {
        let w = window(spec, m, *steps, random);
        m = w.m_next.clone();
        all.push(w);
    }
    all
}

pub(super) fn write(path: &Path, spec: &HeaderSpec, windows: &[Window], gates: GatePolicy) -> Header {
    let mut writer = TransportWriter::create_with(path, spec.clone(), gates).unwrap();
    for (n, w) in windows.iter().enumerate() {
        w.write(&mut writer, n).unwrap();
    }
    writer.finish().unwrap()
}

/// A directory and the path of a valid two-window file in it.
pub(super) fn sample(spec: &HeaderSpec, seed: u64) -> (tempfile::TempDir, PathBuf, Vec<Window>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("met_20211201.flux");
    let windows = windows(spec, seed);
    write(&path, spec, &windows, GatePolicy::default());
    (dir, path, windows)
}
