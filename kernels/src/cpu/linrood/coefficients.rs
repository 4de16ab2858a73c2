//! What all tracers share in one pass of the Lin–Rood operator over a plane.

use crate::cpu::{AlignedBuffer, SweepStats};
use crate::lanes::Lanes;
use crate::numerics::{face_coefficients, predicted_mass};
use crate::real::{Real, Scalar};
use crate::shape::TileShape;

/// Reciprocal masses before the pass and after either predictor, swept fractions and tracer-carrying fluxes along both
/// axes, from the air mass at the start of the pass.
///
/// All have the shape of the plane of one tile; fraction and flux of face `i` (`j`) are stored at cell `i` (`j`) and are 0
/// where no face of the tile lies.
#[derive(Debug)]
pub struct LinRoodCoefficients<R> {
    pub(super) reciprocal: AlignedBuffer<R>,
    pub(super) courant: [AlignedBuffer<R>; 2],
    pub(super) flux: [AlignedBuffer<R>; 2],
    /// Reciprocal mass of the interior cells after the fluxes along i, and along j, alone.
    pub(super) predicted: [AlignedBuffer<R>; 2],
    scratch: AlignedBuffer<R>,
}

impl<R: Scalar> LinRoodCoefficients<R> {
    /// Planes of this kind that a tile has.
    pub const PLANES: usize = 7;

    /// Storage for the planes of one tile.
    pub fn new(shape: &TileShape) -> Self {
        let plane = || AlignedBuffer::zeros(shape.plane_len());
        Self {
            reciprocal: plane(),
            courant: [plane(), plane()],
            flux: [plane(), plane()],
            predicted: [plane(), plane()],
            scratch: AlignedBuffer::zeros(shape.pitch),
        }
    }
}

/// The scaled fluxes of one row of faces, 0 outside columns `from..to`.
#[inline(always)]
fn scaled_row<R: Scalar>(out: &mut [R], flux: &[R], scale: R, from: usize, to: usize) {
    out[..from].fill(R::lit(0.0));
    out[to..].fill(R::lit(0.0));
    for (o, &f) in out[from..to].iter_mut().zip(&flux[from..to]) {
        *o = scale * f;
    }
}

#[inline(always)]
pub(crate) fn prepare<R: Scalar, const W: usize>(
    shape: &TileShape,
    air_mass: &mut [R],
    face_flux: [&[R]; 2],
    scale: R,
    out: &mut LinRoodCoefficients<R>,
) -> SweepStats {
    let TileShape { ni, nj, halo, pitch, rows } = *shape;
    let len = shape.plane_len();
    let (air_mass, face_flux) = (&mut air_mass[..len], face_flux.map(|flux| &flux[..len]));
    let reciprocal = &mut out.reciprocal[..len];
    let (from, to, one) = (halo, halo + ni, R::lit(1.0));
    for row in 0..rows {
        // Beyond the south and the north edge lie no corners.
        let (low, high) = if (halo..halo + nj).contains(&row) { (0, ni + 2 * halo) } else { (from, to) };
        let columns = row * pitch + low..row * pitch + high;
        for (r, &m) in reciprocal[columns.clone()].iter_mut().zip(&air_mass[columns]) {
            *r = one / m;
        }
    }
    let mut largest = Lanes::<R, W>::lit(0.0);
    for (axis, step, faces) in [(0, 1, [to + 1, halo + nj]), (1, pitch, [to, halo + nj + 1])] {
        let (courant, carrier) = (&mut out.courant[axis][..len], &mut out.flux[axis][..len]);
        for row in halo..faces[1] {
            let start = row * pitch;
            scaled_row(&mut out.scratch, &face_flux[axis][start..start + pitch], scale, from, faces[0]);
            for column in (0..pitch).step_by(W) {
                let (low, high) = (start + column - step, start + column);
                let (c, f, fraction) = face_coefficients(
                    Lanes::<R, W>::load(&out.scratch, column),
                    Lanes::load(air_mass, low),
                    Lanes::load(air_mass, high),
                    Lanes::load(reciprocal, low),
                    Lanes::load(reciprocal, high),
                );
                c.store(courant, high);
                f.store(carrier, high);
                largest = Real::select(fraction.gt(largest), fraction, largest);
            }
        }
    }
    let max_courant = largest.0.iter().fold(0.0, |a: f64, b| a.max(b.to_f64()));
    let clamped = if max_courant > 1.0 { clamped(shape, air_mass, face_flux, scale, reciprocal) } else { 0 };
    let [after_i, after_j] = &mut out.predicted;
    for row in halo..halo + nj {
        for at in row * pitch + from..row * pitch + to {
            let mass = air_mass[at];
            let (west, east) = (scale * face_flux[0][at], scale * face_flux[0][at + 1]);
            let (south, north) = (scale * face_flux[1][at], scale * face_flux[1][at + pitch]);
            after_i[at] = one / predicted_mass(mass, west, east);
            after_j[at] = one / predicted_mass(mass, south, north);
            air_mass[at] = mass + ((west - east) + (south - north));
        }
    }
    SweepStats { clamped, max_courant }
}

/// Faces whose donor lies in the tile and holds less air than passes: each face of the sphere counts once.
fn clamped<R: Scalar>(shape: &TileShape, air_mass: &[R], face_flux: [&[R]; 2], scale: R, reciprocal: &[R]) -> u64 {
    let mut count = 0;
    for (flux, step) in face_flux.into_iter().zip([1, shape.pitch]) {
        for j in 0..shape.nj {
            for at in shape.row_start(j)..shape.row_start(j) + shape.ni {
                // Through the low side if toward the low side, through the high side if toward the high side.
                for (low, high) in [(at - step, at), (at, at + step)] {
                    let flux = scale * flux[high];
                    let leaves = if low == at { flux >= R::lit(0.0) } else { flux < R::lit(0.0) };
                    let (mass, inverse) = ([air_mass[low], air_mass[high]], [reciprocal[low], reciprocal[high]]);
                    let (_, _, fraction) = face_coefficients(flux, mass[0], mass[1], inverse[0], inverse[1]);
                    count += u64::from(leaves && fraction > R::lit(1.0));
                }
            }
        }
    }
    count
}
