//! Throughput of whole steps on one panel: 90 × 90 cells, 66 levels, 10 tracers, sweeps X Y Z Z Y X.
//!
//! Prints million cell·tracer·steps per second on one thread, and the time of each direction alone on one level that
//! stays in the cache. Each level and each row of columns is timed by itself and its best time counts, so that a busy
//! machine disturbs little. Halo copies are a periodic stand-in and counted.

use std::time::{Duration, Instant};

use kernels::cpu::{
    AlignedBuffer, ColumnCoefficients, FaceCoefficients, FaceState, SweepKernel, Workspace, prepare_x, prepare_y,
    prepare_z,
};
use kernels::scheme::{PpmLimiter, SlopesLimiter, kernel};
use kernels::{Scalar, Scheme, TileShape};

const SIDE: usize = 90;
const LEVELS: usize = 66;
const TRACERS: usize = 10;
const REPEATS: usize = 15;

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    X,
    Y,
}

struct Panel<R: Scalar> {
    kernel: &'static dyn SweepKernel<R>,
    shape: TileShape,
    stride: usize,
    /// Per level: air mass, then the tracers.
    state: AlignedBuffer<R>,
    fluxes: [AlignedBuffer<R>; 3],
    faces: [FaceCoefficients<R>; 2],
    columns: [ColumnCoefficients<R>; 2],
    block: AlignedBuffer<R>,
    column_flux: AlignedBuffer<R>,
    workspace: Workspace<R>,
}

impl<R: Scalar> Panel<R> {
    fn new(scheme: Scheme) -> Self {
        let shape = TileShape::new(SIDE, SIDE, 3);
        let plane = shape.plane_len();
        let stride = (1 + TRACERS) * plane + 64;
        let mut state = AlignedBuffer::zeros(LEVELS * stride);
        let mut fluxes = [0, 1, 2].map(|_| AlignedBuffer::zeros((LEVELS + 1) * plane));
        for (at, value) in state.iter_mut().enumerate() {
            *value = R::lit(1.0 + 0.3 * (at as f64 * 0.37).sin());
        }
        for (d, flux) in fluxes.iter_mut().enumerate() {
            for (at, value) in flux.iter_mut().enumerate() {
                *value = R::lit(0.002 * (at as f64 * (0.11 + 0.05 * d as f64)).sin());
            }
        }
        Self {
            kernel: kernel(scheme),
            stride,
            state,
            fluxes,
            faces: [FaceCoefficients::new([&shape]), FaceCoefficients::new([&shape])],
            columns: [0, 1].map(|_| ColumnCoefficients::new(shape.pitch, LEVELS)),
            block: AlignedBuffer::zeros(LEVELS * shape.pitch),
            column_flux: AlignedBuffer::zeros((LEVELS + 1) * shape.pitch),
            workspace: Workspace::new([&shape]),
            shape,
        }
    }

    fn prepare(&mut self, k: usize, direction: Direction) {
        let plane = self.shape.plane_len();
        let air = &mut self.state[k * self.stride..][..plane];
        halo_copy(&self.shape, air);
        let flux = &self.fluxes[direction as usize][k * plane..][..plane];
        let prepare = if direction == Direction::X { prepare_x } else { prepare_y };
        prepare(&self.shape, air, flux, R::lit(1.0), [FaceState::Closed; 2], &mut self.faces[direction as usize]);
    }

    fn sweep(&mut self, k: usize, tracer: usize, direction: Direction) {
        let plane = self.shape.plane_len();
        let rm = &mut self.state[k * self.stride + (1 + tracer) * plane..][..plane];
        halo_copy(&self.shape, rm);
        match direction {
            Direction::X => self.kernel.sweep_x(&self.shape, rm, &self.faces[0], None, &mut self.workspace),
            Direction::Y => self.kernel.sweep_y(&self.shape, rm, &self.faces[1], None, &mut self.workspace),
        }
    }

    fn level(&mut self, k: usize, order: [Direction; 2]) {
        for direction in order {
            self.prepare(k, direction);
        }
        for tracer in 0..TRACERS {
            for direction in order {
                self.sweep(k, tracer, direction);
            }
        }
    }

    fn columns(&mut self, row: usize) {
        let (pitch, plane) = (self.shape.pitch, self.shape.plane_len());
        for k in 0..=LEVELS {
            let flux = &self.fluxes[2][k * plane + row * pitch..][..pitch];
            self.column_flux[k * pitch..][..pitch].copy_from_slice(flux);
        }
        for p in 0..=TRACERS {
            let at = |k: usize| k * self.stride + p * plane + row * pitch;
            for k in 0..LEVELS {
                self.block[k * pitch..][..pitch].copy_from_slice(&self.state[at(k)..][..pitch]);
            }
            for faces in &mut self.columns {
                if p == 0 {
                    prepare_z(pitch, LEVELS, &mut self.block, &self.column_flux, R::lit(1.0), faces);
                } else {
                    self.kernel.sweep_z(pitch, LEVELS, &mut self.block, faces);
                }
            }
            for k in 0..LEVELS {
                self.state[at(k)..][..pitch].copy_from_slice(&self.block[k * pitch..][..pitch]);
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

fn timed(best: &mut Duration, work: impl FnOnce()) {
    let start = Instant::now();
    work();
    *best = start.elapsed().min(*best);
}

fn measure<R: Scalar>(scheme: Scheme) {
    let mut panel = Panel::<R>::new(scheme);
    let mut levels = [[Duration::MAX; LEVELS]; 2];
    let mut rows = [Duration::MAX; SIDE];
    for _ in 0..REPEATS {
        for k in 0..LEVELS {
            timed(&mut levels[0][k], || panel.level(k, [Direction::X, Direction::Y]));
        }
        for j in 0..SIDE {
            timed(&mut rows[j], || panel.columns(panel.shape.halo + j));
        }
        for k in 0..LEVELS {
            timed(&mut levels[1][k], || panel.level(k, [Direction::Y, Direction::X]));
        }
    }
    let whole: Duration = levels.iter().flatten().chain(&rows).sum();

    let [mut x, mut y, mut z, mut px, mut py, mut pz] = [Duration::MAX; 6];
    for _ in 0..20 * REPEATS {
        timed(&mut x, || panel.sweep(0, 0, Direction::X));
        timed(&mut y, || panel.sweep(0, 0, Direction::Y));
        timed(&mut px, || panel.prepare(0, Direction::X));
        timed(&mut py, || panel.prepare(0, Direction::Y));
        let Panel { shape, block, columns, kernel, column_flux, .. } = &mut panel;
        timed(&mut z, || kernel.sweep_z(shape.pitch, LEVELS, block, &columns[0]));
        block.fill(R::lit(1.0));
        timed(&mut pz, || {
            prepare_z(shape.pitch, LEVELS, block, column_flux, R::lit(1.0), &mut columns[0]);
        });
    }
    let each = |time: Duration, cells: usize| time.as_secs_f64() / cells as f64 * 1e9;
    println!(
        "{:8} {:18} {:6.1} M/s   ns per cell and sweep in cache: x {:.3}  y {:.3}  z {:.3}; prepare x {:.3}  y {:.3}  z {:.3}",
        R::NAME,
        scheme.name(),
        (SIDE * SIDE * LEVELS * TRACERS) as f64 / whole.as_secs_f64() * 1e-6,
        each(x, SIDE * SIDE),
        each(y, SIDE * SIDE),
        each(z, SIDE * LEVELS),
        each(px, SIDE * SIDE),
        each(py, SIDE * SIDE),
        each(pz, SIDE * LEVELS)
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
