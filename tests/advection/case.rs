//! Air, tracers and winds to test with.

use atmostr::grid::{CubedSphere, GeometryBundle};
use decomposition::{Panel, PanelConvention};

use crate::sphere::{Dims, Global, GlobalWinds};

pub const CONVENTIONS: [PanelConvention; 2] = [PanelConvention::Gnomonic, PanelConvention::GeosNative];

/// Deterministic random numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// Next number in 0..1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Next number in −1..1.
    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }
}

/// Parts of the flow.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Largest ratio of a horizontal half-sweep amount to the lighter of its two cells.
    pub courant: f64,
    /// Random overturning flux as a part of the above: divergent in each layer, balanced in each column, so that vertical
    /// amounts follow from continuity and no mass changes.
    pub overturning: f64,
    /// Random flux that moves mass between columns, as a part of the above.
    pub barotropic: f64,
}

impl Flow {
    /// Overturning as well as rotation; steady.
    pub fn steady(courant: f64) -> Self {
        Self { courant, overturning: 0.3, barotropic: 0.0 }
    }

    /// All parts.
    pub fn full(courant: f64) -> Self {
        Self { courant, overturning: 0.3, barotropic: 0.1 }
    }
}

pub fn bundle(convention: PanelConvention) -> GeometryBundle {
    match convention {
        PanelConvention::Gnomonic => GeometryBundle::Gnomonic,
        PanelConvention::GeosNative => GeometryBundle::GeosNative,
    }
}

pub fn sphere(convention: PanelConvention, nc: usize) -> CubedSphere {
    let bundle = bundle(convention);
    CubedSphere::new(nc, bundle, bundle.default_offset_deg(), 6.371e6).expect("a small grid")
}

/// Air of uneven columns and five tracers: uniform 411, meridional 300 to 500, signed waves, random with gaps, one cell.
pub fn air_and_tracers(convention: PanelConvention, dims: Dims) -> Global<f64> {
    let grid = sphere(convention, dims.nc);
    let mut random = Random(3);
    let mut air = Vec::with_capacity(dims.cells());
    let mut tracers = vec![Vec::new(); 5];
    for (panel, k, j, i) in dims.each_cell() {
        let [x, y, z] = grid.center(panel, i, j);
        let depth = 200.0 + 700.0 * (k as f64 + 1.0) / dims.nk as f64;
        let m = grid.area(i, j) * depth * (1.0 + 0.1 * x * y + 0.05 * z) / 9.80665;
        let height = (k as f64 + 0.5) / dims.nk as f64;
        let speckle = random.unit();
        air.push(m);
        let ratios = [
            411.0,
            400.0 + 100.0 * z,
            (3.0 * x).sin() * (4.0 * y + 2.0 * height).cos(),
            if speckle < 0.3 { 0.0 } else { speckle * speckle },
            if (panel, k, j, i) == (Panel::ALL[2], dims.nk / 2, 0, dims.nc - 1) { 1.0 } else { 0.0 },
        ];
        tracers.iter_mut().zip(ratios).for_each(|(t, q)| t.push(q * m));
    }
    Global { dims, convention, air, tracers }
}

/// Rotation from a stream function at the cell corners, plus random parts; seam copies made, columns closed.
pub fn winds(start: &Global<f64>, flow: Flow) -> GlobalWinds<f64> {
    let Global { dims, convention, .. } = *start;
    let Dims { nc, nk } = dims;
    let grid = sphere(convention, nc);
    let stream = |panel, i, j, k: usize| {
        let [x, y, z]: [f64; 3] = grid.corner(panel, i, j);
        let turn = 0.4 * k as f64;
        x * turn.cos() + 0.7 * y * turn.sin() + 0.5 * z + 0.3 * (3.0 * x * y - 2.0 * z * z * x)
    };
    let mut rotation = GlobalWinds::<f64>::zeros(dims, convention);
    let mut noise = [rotation.clone(), rotation.clone()];
    let mut random = Random(17);
    for panel in Panel::ALL {
        for k in 0..nk {
            let layer = (2.0 * std::f64::consts::PI * (k as f64 + 0.5) / nk as f64).sin();
            for a in 0..nc {
                for b in 0..=nc {
                    let (x, y) = (dims.face_x(panel, k, a, b), dims.face_y(panel, k, b, a));
                    rotation.am[x] = -(stream(panel, b, a + 1, k) - stream(panel, b, a, k));
                    rotation.bm[y] = stream(panel, a + 1, b, k) - stream(panel, a, b, k);
                    noise[1].am[x] = random.signed();
                    noise[1].bm[y] = random.signed();
                    // The same pattern in every layer, with weights that sum to zero.
                    let ground = (dims.face_x(panel, 0, a, b), dims.face_y(panel, 0, b, a));
                    if k == 0 {
                        noise[0].am[x] = random.signed();
                        noise[0].bm[y] = random.signed();
                    }
                    noise[0].am[x] = if k == 0 { noise[0].am[x] } else { noise[0].am[ground.0] * layer };
                    noise[0].bm[y] = if k == 0 { noise[0].bm[y] } else { noise[0].bm[ground.1] * layer };
                }
            }
        }
        // The pattern itself served as the first layer until here.
        let first = (std::f64::consts::PI / nk as f64).sin();
        for a in 0..nc {
            for b in 0..=nc {
                noise[0].am[dims.face_x(panel, 0, a, b)] *= first;
                noise[0].bm[dims.face_y(panel, 0, b, a)] *= first;
            }
        }
    }
    let rotating = 1.0 - flow.overturning - flow.barotropic;
    let mut all = GlobalWinds::zeros(dims, convention);
    for (part, weight) in
        [(&mut rotation, rotating)].into_iter().chain(noise.iter_mut().zip([flow.overturning, flow.barotropic]))
    {
        part.mirror_seams();
        let factor = weight * flow.courant / largest_courant(start, part);
        all.am.iter_mut().zip(&part.am).for_each(|(all, f)| *all += factor * f);
        all.bm.iter_mut().zip(&part.bm).for_each(|(all, f)| *all += factor * f);
    }
    all.mirror_seams();
    close_columns(start, &mut all);
    all
}

/// Largest ratio of a horizontal amount to the mass of a cell it touches.
fn largest_courant(start: &Global<f64>, winds: &GlobalWinds<f64>) -> f64 {
    let dims = start.dims;
    dims.each_cell()
        .map(|(p, k, j, i)| {
            let faces = [
                winds.am[dims.face_x(p, k, j, i)],
                winds.am[dims.face_x(p, k, j, i + 1)],
                winds.bm[dims.face_y(p, k, j, i)],
                winds.bm[dims.face_y(p, k, j + 1, i)],
            ];
            faces.into_iter().map(f64::abs).fold(0.0, f64::max) / start.air[dims.cell(p, k, j, i)]
        })
        .fold(f64::MIN_POSITIVE, f64::max)
}

/// Vertical amounts from continuity: each layer changes in proportion to its mass, nothing passes the top and bottom.
pub fn close_columns(start: &Global<f64>, winds: &mut GlobalWinds<f64>) {
    let dims = start.dims;
    for (p, _, j, i) in dims.each_cell().filter(|cell| cell.1 == 0) {
        let convergence = |k| {
            winds.am[dims.face_x(p, k, j, i)] - winds.am[dims.face_x(p, k, j, i + 1)]
                + (winds.bm[dims.face_y(p, k, j, i)] - winds.bm[dims.face_y(p, k, j + 1, i)])
        };
        let total: f64 = (0..dims.nk).map(convergence).sum();
        let column: f64 = (0..dims.nk).map(|k| start.air[dims.cell(p, k, j, i)]).sum();
        let mut through = 0.0;
        for k in 0..dims.nk {
            winds.cm[dims.face_z(p, k, j, i)] = through;
            through += convergence(k) - total * start.air[dims.cell(p, k, j, i)] / column;
        }
        winds.cm[dims.face_z(p, dims.nk, j, i)] = 0.0;
    }
}

/// State and winds together.
pub fn case(convention: PanelConvention, nc: usize, nk: usize, flow: Flow) -> (Global<f64>, GlobalWinds<f64>) {
    let start = air_and_tracers(convention, Dims { nc, nk });
    let winds = winds(&start, flow);
    (start, winds)
}
