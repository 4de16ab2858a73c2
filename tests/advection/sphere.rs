//! Global arrays on six whole panels: `(panel, k, j, i)` with i fastest.

use decomposition::{Axis, Edge, Panel, PanelConvention};
use kernels::Scalar;

/// Extent of a global field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dims {
    pub nc: usize,
    pub nk: usize,
}

impl Dims {
    pub fn cells(self) -> usize {
        6 * self.nk * self.nc * self.nc
    }

    pub fn cell(self, panel: Panel, k: usize, j: usize, i: usize) -> usize {
        ((panel.index() * self.nk + k) * self.nc + j) * self.nc + i
    }

    /// West side of cell i, i up to `nc`.
    pub fn face_x(self, panel: Panel, k: usize, j: usize, i: usize) -> usize {
        ((panel.index() * self.nk + k) * self.nc + j) * (self.nc + 1) + i
    }

    /// South side of cell j, j up to `nc`.
    pub fn face_y(self, panel: Panel, k: usize, j: usize, i: usize) -> usize {
        ((panel.index() * self.nk + k) * (self.nc + 1) + j) * self.nc + i
    }

    /// Top of layer k, k up to `nk`.
    pub fn face_z(self, panel: Panel, k: usize, j: usize, i: usize) -> usize {
        ((panel.index() * (self.nk + 1) + k) * self.nc + j) * self.nc + i
    }

    /// (j, i) of the cell at along-edge index `s`, `depth` cells inside the edge.
    pub fn inside(self, edge: Edge, s: usize, depth: usize) -> (usize, usize) {
        let far = self.nc - 1 - depth;
        match edge {
            Edge::North => (far, s),
            Edge::South => (depth, s),
            Edge::East => (s, far),
            Edge::West => (s, depth),
        }
    }

    /// Every cell as (panel, k, j, i), in storage order.
    pub fn each_cell(self) -> impl Iterator<Item = (Panel, usize, usize, usize)> {
        Panel::ALL.into_iter().flat_map(move |panel| {
            (0..self.nk).flat_map(move |k| (0..self.nc).flat_map(move |j| (0..self.nc).map(move |i| (panel, k, j, i))))
        })
    }
}

/// Air mass and tracers of the whole sphere.
#[derive(Clone, Debug, PartialEq)]
pub struct Global<R> {
    pub dims: Dims,
    pub convention: PanelConvention,
    pub air: Vec<R>,
    pub tracers: Vec<Vec<R>>,
}

/// Face amounts of the whole sphere, one per half-sweep.
#[derive(Clone, Debug)]
pub struct GlobalWinds<R> {
    pub dims: Dims,
    pub convention: PanelConvention,
    pub am: Vec<R>,
    pub bm: Vec<R>,
    pub cm: Vec<R>,
}

pub fn cast<R: Scalar>(values: &[f64]) -> Vec<R> {
    values.iter().map(|&v| R::from_f64(v)).collect()
}

impl Global<f64> {
    pub fn cast<R: Scalar>(&self) -> Global<R> {
        Global {
            dims: self.dims,
            convention: self.convention,
            air: cast(&self.air),
            tracers: self.tracers.iter().map(|t| cast(t)).collect(),
        }
    }
}

impl<R: Scalar> Global<R> {
    /// Planes in storage order: air, then tracers.
    pub fn planes(&self) -> impl Iterator<Item = &Vec<R>> {
        std::iter::once(&self.air).chain(&self.tracers)
    }

    /// The same air with other tracers.
    pub fn with_tracers(&self, tracers: Vec<Vec<R>>) -> Self {
        Self { dims: self.dims, convention: self.convention, air: self.air.clone(), tracers }
    }

    /// Mixing ratios of a tracer, formed in double precision.
    pub fn ratios(&self, tracer: usize) -> impl Iterator<Item = f64> {
        self.tracers[tracer].iter().zip(&self.air).map(|(rm, m)| rm.to_f64() / m.to_f64())
    }

    /// Largest relative departure of a tracer's mixing ratio from `value`.
    pub fn departure(&self, tracer: usize, value: f64) -> f64 {
        self.ratios(tracer).map(|q| (q / value - 1.0).abs()).fold(0.0, f64::max)
    }

    pub fn assert_same_bits(&self, other: &Self, what: &str) {
        assert_eq!(self.tracers.len(), other.tracers.len());
        for (plane, (a, b)) in self.planes().zip(other.planes()).enumerate() {
            for ((a, b), (panel, k, j, i)) in a.iter().zip(b).zip(self.dims.each_cell()) {
                assert!(
                    a.to_f64().to_bits() == b.to_f64().to_bits(),
                    "{what}: plane {plane}, {panel}, k {k}, j {j}, i {i}: {a:?} and {b:?}"
                );
            }
        }
    }
}

impl GlobalWinds<f64> {
    pub fn cast<R: Scalar>(&self) -> GlobalWinds<R> {
        GlobalWinds {
            dims: self.dims,
            convention: self.convention,
            am: cast(&self.am),
            bm: cast(&self.bm),
            cm: cast(&self.cm),
        }
    }
}

impl<R: Scalar> GlobalWinds<R> {
    pub fn zeros(dims: Dims, convention: PanelConvention) -> Self {
        let Dims { nc, nk } = dims;
        let zeros = |n: usize| vec![R::lit(0.0); n];
        Self {
            dims,
            convention,
            am: zeros(6 * nk * nc * (nc + 1)),
            bm: zeros(6 * nk * nc * (nc + 1)),
            cm: zeros(6 * (nk + 1) * nc * nc),
        }
    }

    /// The stored flux through the boundary face at along-edge index `s`.
    pub fn at_edge(&mut self, panel: Panel, edge: Edge, k: usize, s: usize) -> &mut R {
        let nc = self.dims.nc;
        match edge.axis() {
            Axis::X => &mut self.am[self.dims.face_x(panel, k, s, if edge == Edge::East { nc } else { 0 })],
            Axis::Y => &mut self.bm[self.dims.face_y(panel, k, if edge == Edge::North { nc } else { 0 }, s)],
        }
    }

    /// Copies every seam flux from the lower-numbered panel to the other one, in its orientation.
    pub fn mirror_seams(&mut self) {
        for seam in self.convention.seams() {
            for k in 0..self.dims.nk {
                for s in 0..self.dims.nc {
                    let flux = *self.at_edge(seam.owner.0, seam.owner.1, k, s);
                    let there = seam.along.map(s, self.dims.nc);
                    *self.at_edge(seam.other.0, seam.other.1, k, there) = R::from_f64(seam.sign.factor()) * flux;
                }
            }
        }
    }
}
