//! Throughput of whole steps on one panel: 90 × 90 cells, 66 levels, 10 tracers, sweeps X Y Z Z Y X.
//!
//! Prints million cell·tracer·steps per second, best of several steps on one thread, and the time of each direction
//! alone. Halo copies are a periodic stand-in and counted.

use std::time::{Duration, Instant};

use kernels::cpu::{
    AlignedBuffer, ColumnCoefficients, FaceCoefficients, FaceState, Workspace, prepare_x, prepare_y, prepare_z,
};
use kernels::scheme::{PpmLimiter, SlopesLimiter, kernel};
use kernels::{Scalar, Scheme, TileShape};

const SIDE: usize = 90;
const LEVELS: usize = 66;
const TRACERS: usize = 10;
const REPEATS: usize = 7;

struct Panel<R> {
    shape: TileShape,
    stride: usize,
    /// Per level: air mass, then the tracers.
    state: AlignedBuffer<R>,
    x_flux: AlignedBuffer<R>,
    y_flux: AlignedBuffer<R>,
    z_flux: AlignedBuffer<R>,
}

#[derive(Clone, Copy, Default)]
struct Parts {
    x: Duration,
    y: Duration,
    z: Duration,
    whole: Duration,
}

impl<R: Scalar> Panel<R> {
    fn new(halo: usize) -> Self {
        let shape = TileShape::new(SIDE, SIDE, halo.max(3));
        let plane = shape.plane_len();
        let stride = (1 + TRACERS) * plane + 64;
        let mut state = AlignedBuffer::zeros(LEVELS * stride);
        let mut fluxes = [0, 1, 2].map(|_| AlignedBuffer::zeros((LEVELS + 1) * plane));
        for (at, value) in state.iter_mut().enumerate() {
            *value = R::lit(1.0 + 0.3 * (at as f64 * 0.37).sin());
        }
        for (d, flux) in fluxes.iter_mut().enumerate() {
            for (at, value) in flux.iter_mut().enumerate() {
                *value = R::lit(0.05 * (at as f64 * (0.11 + 0.05 * d as f64)).sin());
            }
        }
        let [x_flux, y_flux, z_flux] = fluxes;
        Self { shape, stride, state, x_flux, y_flux, z_flux }
    }

    fn horizontal(
        &mut self,
        scheme: Scheme,
        first: bool,
        faces: &mut [FaceCoefficients<R>; 2],
        ws: &mut Workspace<R>,
        parts: &mut Parts,
    ) {
        let kernel = kernel::<R>(scheme);
        let plane = self.shape.plane_len();
        let one = R::lit(1.0);
        let ends = [FaceState::Closed; 2];
        for k in 0..LEVELS {
            let (air, tracers) = self.state[k * self.stride..][..(1 + TRACERS) * plane].split_at_mut(plane);
            let (fx, fy) = (&self.x_flux[k * plane..][..plane], &self.y_flux[k * plane..][..plane]);
            for direction in if first { [0, 1] } else { [1, 0] } {
                let start = (!parts.whole.is_zero()).then(Instant::now);
                halo_copy(&self.shape, air);
                if direction == 0 {
                    prepare_x(&self.shape, air, fx, one, ends, &mut faces[0]);
                } else {
                    prepare_y(&self.shape, air, fy, one, ends, &mut faces[1]);
                }
                if let Some(start) = start {
                    *(if direction == 0 { &mut parts.x } else { &mut parts.y }) += start.elapsed();
                }
            }
            if parts.whole.is_zero() {
                for tracer in tracers.chunks_exact_mut(plane) {
                    for direction in if first { [0, 1] } else { [1, 0] } {
                        halo_copy(&self.shape, tracer);
                        if direction == 0 {
                            kernel.sweep_x(&self.shape, tracer, &faces[0], ws);
                        } else {
                            kernel.sweep_y(&self.shape, tracer, &faces[1], ws);
                        }
                    }
                }
                continue;
            }
            for direction in if first { [0, 1] } else { [1, 0] } {
                let start = Instant::now();
                for tracer in tracers.chunks_exact_mut(plane) {
                    halo_copy(&self.shape, tracer);
                    if direction == 0 {
                        kernel.sweep_x(&self.shape, tracer, &faces[0], ws);
                    } else {
                        kernel.sweep_y(&self.shape, tracer, &faces[1], ws);
                    }
                }
                *(if direction == 0 { &mut parts.x } else { &mut parts.y }) += start.elapsed();
            }
        }
    }

    fn vertical(
        &mut self,
        scheme: Scheme,
        faces: &mut [ColumnCoefficients<R>; 2],
        blocks: &mut [AlignedBuffer<R>; 2],
    ) {
        let kernel = kernel::<R>(scheme);
        let (pitch, plane) = (self.shape.pitch, self.shape.plane_len());
        let one = R::lit(1.0);
        let [block, cm] = blocks;
        for row in self.shape.halo..self.shape.halo + SIDE {
            for k in 0..=LEVELS {
                cm[k * pitch..][..pitch].copy_from_slice(&self.z_flux[k * plane + row * pitch..][..pitch]);
            }
            for p in 0..=TRACERS {
                let at = |k: usize| k * self.stride + p * plane + row * pitch;
                for k in 0..LEVELS {
                    block[k * pitch..][..pitch].copy_from_slice(&self.state[at(k)..][..pitch]);
                }
                if p == 0 {
                    for face in faces.iter_mut() {
                        prepare_z(pitch, LEVELS, block, cm, one, face);
                    }
                } else {
                    for face in faces.iter() {
                        kernel.sweep_z(pitch, LEVELS, block, face);
                    }
                }
                for k in 0..LEVELS {
                    self.state[at(k)..][..pitch].copy_from_slice(&block[k * pitch..][..pitch]);
                }
            }
        }
    }
}

/// Periodic halo: the stand-in of an exchange with other tiles.
fn halo_copy<R: Scalar>(shape: &TileShape, plane: &mut [R]) {
    let (h, p) = (shape.halo, shape.pitch);
    for j in h..h + shape.nj {
        for x in 0..h {
            plane[j * p + x] = plane[j * p + shape.ni + x];
            plane[j * p + h + shape.ni + x] = plane[j * p + h + x];
        }
    }
    for y in 0..h {
        plane.copy_within((shape.nj + y) * p..(shape.nj + y + 1) * p, y * p);
        plane.copy_within((h + y) * p..(h + y + 1) * p, (h + shape.nj + y) * p);
    }
}

fn measure<R: Scalar>(scheme: Scheme) {
    let work = (SIDE * SIDE * LEVELS * TRACERS) as f64;
    let shape = TileShape::new(SIDE, SIDE, 3);
    let mut faces = [FaceCoefficients::new([&shape]), FaceCoefficients::new([&shape])];
    let mut columns =
        [ColumnCoefficients::new(shape.pitch, LEVELS), ColumnCoefficients::new(shape.pitch, LEVELS)];
    let mut blocks = [AlignedBuffer::zeros(LEVELS * shape.pitch), AlignedBuffer::zeros((LEVELS + 1) * shape.pitch)];
    let mut ws = Workspace::new([&shape]);
    let mut best = Parts { x: Duration::MAX, y: Duration::MAX, z: Duration::MAX, whole: Duration::MAX };
    let mut panel = Panel::<R>::new(scheme.halo());
    for repeat in 0..2 * REPEATS {
        let mut parts = Parts::default();
        if repeat % 2 == 1 {
            parts.whole = Duration::from_nanos(1);
        }
        let start = Instant::now();
        panel.horizontal(scheme, true, &mut faces, &mut ws, &mut parts);
        let z = Instant::now();
        panel.vertical(scheme, &mut columns, &mut blocks);
        parts.z = z.elapsed();
        panel.horizontal(scheme, false, &mut faces, &mut ws, &mut parts);
        if repeat % 2 == 0 {
            best.whole = best.whole.min(start.elapsed());
        } else {
            best.x = best.x.min(parts.x);
            best.y = best.y.min(parts.y);
        }
        best.z = best.z.min(parts.z);
    }
    let rate = |time: Duration| work / time.as_secs_f64() * 1e-6;
    let each = |time: Duration| time.as_secs_f64() / (2.0 * work) * 1e9;
    println!(
        "{:8} {:18} {:6.1} M/s   ns per cell and sweep: x {:.3}  y {:.3}  z {:.3}",
        R::NAME,
        scheme.name(),
        rate(best.whole),
        each(best.x),
        each(best.y),
        each(best.z)
    );
}

fn main() {
    let named: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let all = [
        Scheme::Ppm(PpmLimiter::Cw84),
        Scheme::Ppm(PpmLimiter::HuynhPd),
        Scheme::Ppm(PpmLimiter::None),
        Scheme::Slopes(SlopesLimiter::Monotone),
        Scheme::Upwind,
    ];
    for scheme in all.into_iter().filter(|s| named.is_empty() || named.iter().any(|n| s.name().contains(n.as_str()))) {
        measure::<f32>(scheme);
        measure::<f64>(scheme);
    }
}
