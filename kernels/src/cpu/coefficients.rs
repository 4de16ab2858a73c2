//! Per-face quantities that all tracers share, and the air mass update of a sweep.

use crate::cpu::AlignedBuffer;
use crate::lanes::Lanes;
use crate::numerics::face_coefficients;
use crate::real::{Real, Scalar};
use crate::shape::TileShape;

/// State of a boundary face row of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaceState {
    /// An ordinary face: air and tracers pass.
    Open,
    /// No flux in the sweep: a seam, whose transfer is applied separately.
    Closed,
}

/// What a sweep saw of the air flux.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SweepStats {
    /// Faces whose air flux exceeded the mass of the donor, so that the tracer-carrying flux was clamped. The high
    /// faces of a tile are left to the neighbour they belong to.
    pub clamped: u64,
    /// Largest swept fraction |F|/m, before the clamp. A fraction that is not a number is not seen here (the outflow
    /// budget reports it).
    pub max_courant: f64,
}

impl SweepStats {
    /// Statistics of both sweeps together.
    pub fn merge(self, other: Self) -> Self {
        Self { clamped: self.clamped + other.clamped, max_courant: self.max_courant.max(other.max_courant) }
    }
}

/// Coefficients of one directional sweep of one plane: reciprocal masses, swept fractions and tracer-carrying fluxes.
///
/// All three have the shape of the plane. Fraction and flux of face `i` (`j`) are stored at cell `i` (`j`); they are 0
/// where no face of the tile lies. Reciprocals are 0 outside the interior and the halo along the swept axis.
#[derive(Debug)]
pub struct FaceCoefficients<R> {
    pub(crate) reciprocal: AlignedBuffer<R>,
    pub(crate) courant: AlignedBuffer<R>,
    pub(crate) flux: AlignedBuffer<R>,
    /// Scaled fluxes of two face rows; one cache line more than a row.
    scratch: [AlignedBuffer<R>; 2],
}

impl<R: Scalar> FaceCoefficients<R> {
    /// Storage for planes of any of these shapes.
    pub fn new<'a>(shapes: impl IntoIterator<Item = &'a TileShape>) -> Self {
        let (mut plane, mut pitch) = (0, 0);
        for shape in shapes {
            plane = plane.max(shape.plane_len());
            pitch = pitch.max(shape.pitch);
        }
        let row = || AlignedBuffer::zeros(pitch + TileShape::PITCH_UNIT);
        Self {
            reciprocal: AlignedBuffer::zeros(plane),
            courant: AlignedBuffer::zeros(plane),
            flux: AlignedBuffer::zeros(plane),
            scratch: [row(), row()],
        }
    }

    /// `1/m` per cell.
    pub fn reciprocal(&self) -> &[R] {
        &self.reciprocal
    }

    /// Swept fraction of the donor per face, at most 1.
    pub fn courant(&self) -> &[R] {
        &self.courant
    }

    /// Tracer-carrying air flux per face.
    pub fn flux(&self) -> &[R] {
        &self.flux
    }
}

/// Coefficients of one vertical sweep of a row of columns: `nk × width` reciprocals, `(nk + 1) × width` fractions and
/// fluxes through the layer tops.
#[derive(Debug)]
pub struct ColumnCoefficients<R> {
    pub(crate) reciprocal: AlignedBuffer<R>,
    pub(crate) courant: AlignedBuffer<R>,
    pub(crate) flux: AlignedBuffer<R>,
}

impl<R: Scalar> ColumnCoefficients<R> {
    /// Storage for `nk` layers of up to `width` columns.
    pub fn new(width: usize, nk: usize) -> Self {
        let faces = AlignedBuffer::zeros((nk + 1) * width);
        Self { reciprocal: AlignedBuffer::zeros(nk * width), courant: faces.clone(), flux: faces }
    }

    /// `1/m` per cell.
    pub fn reciprocal(&self) -> &[R] {
        &self.reciprocal
    }

    /// Swept fraction of the donor per face, at most 1.
    pub fn courant(&self) -> &[R] {
        &self.courant
    }

    /// Tracer-carrying air flux per face.
    pub fn flux(&self) -> &[R] {
        &self.flux
    }
}

/// Running statistics, one set per lane.
pub(crate) struct Tally<R, const W: usize> {
    clamped: Lanes<R, W>,
    largest: Lanes<R, W>,
    /// Faces among the clamped ones that another tile counts.
    elsewhere: u64,
}

impl<R: Scalar, const W: usize> Tally<R, W> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { clamped: Lanes::lit(0.0), largest: Lanes::lit(0.0), elsewhere: 0 }
    }

    /// Coefficients `(c, Ft)` of `W` faces, counted. The count of a lane is exact up to 2²⁴ faces.
    #[inline(always)]
    pub(crate) fn face(
        &mut self,
        flux: Lanes<R, W>,
        mass: [Lanes<R, W>; 2],
        reciprocal: [Lanes<R, W>; 2],
    ) -> (Lanes<R, W>, Lanes<R, W>) {
        let one = Lanes::lit(1.0);
        let (courant, carrier, fraction) = face_coefficients(flux, mass[0], mass[1], reciprocal[0], reciprocal[1]);
        self.clamped += Real::select(fraction.gt(one), one, Lanes::lit(0.0));
        self.largest = Real::select(fraction.gt(self.largest), fraction, self.largest);
        (courant, carrier)
    }

    /// Takes back the count of one face: the high face of a tile is the low face of its neighbour, which counts it.
    #[inline(always)]
    fn uncount(&mut self, flux: R, mass: [R; 2], reciprocal: [R; 2]) {
        let (_, _, fraction) = face_coefficients(flux, mass[0], mass[1], reciprocal[0], reciprocal[1]);
        self.elsewhere += u64::from(fraction > R::lit(1.0));
    }

    #[inline(always)]
    pub(crate) fn stats(&self) -> SweepStats {
        let mut stats = SweepStats::default();
        for l in 0..W {
            stats.clamped += self.clamped.0[l].to_f64() as u64;
            stats.max_courant = stats.max_courant.max(self.largest.0[l].to_f64());
        }
        stats.clamped -= self.elsewhere;
        stats
    }
}

/// Scaled fluxes of one face row into `out`, 0 outside columns `from..to`.
#[inline(always)]
fn scaled_row<R: Scalar>(out: &mut [R], flux: &[R], scale: R, from: usize, to: usize) {
    out[..from].fill(R::lit(0.0));
    out[to..].fill(R::lit(0.0));
    for (o, &f) in out[from..to].iter_mut().zip(&flux[from..to]) {
        *o = scale * f;
    }
}

/// `1/m` of columns `from..to` of a row, 0 elsewhere.
#[inline(always)]
fn reciprocal_row<R: Scalar>(out: &mut [R], mass: &[R], from: usize, to: usize) {
    let one = R::lit(1.0);
    out[..from].fill(R::lit(0.0));
    out[to..].fill(R::lit(0.0));
    for (o, &m) in out[from..to].iter_mut().zip(&mass[from..to]) {
        *o = one / m;
    }
}

#[inline(always)]
pub(crate) fn prepare_x<R: Scalar, const W: usize>(
    shape: &TileShape,
    air_mass: &mut [R],
    face_flux: &[R],
    scale: R,
    ends: [FaceState; 2],
    out: &mut FaceCoefficients<R>,
) -> SweepStats {
    let (pitch, halo, ni) = (shape.pitch, shape.halo, shape.ni);
    let air_mass = &mut air_mass[..shape.plane_len()];
    let face_flux = &face_flux[..shape.plane_len()];
    let mut tally = Tally::<R, W>::new();
    let len = shape.plane_len();
    let (reciprocals, courants) = (&mut out.reciprocal[..len], &mut out.courant[..len]);
    let (carriers, amount) = (&mut out.flux[..len], &mut out.scratch[0][..pitch]);
    // The first value of the first row looks one value back.
    reciprocals[halo * pitch - 1] = R::lit(0.0);
    for row in halo..halo + shape.nj {
        let start = row * pitch;
        reciprocal_row(&mut reciprocals[start..start + pitch], &air_mass[start..start + pitch], 0, ni + 2 * halo);
        scaled_row(amount, &face_flux[start..start + pitch], scale, halo, halo + ni + 1);
        close(amount, ends, [halo, halo + ni]);
        for at in (start..start + pitch).step_by(W) {
            let flux = Lanes::load(amount, at - start);
            let mass = [Lanes::load(air_mass, at - 1), Lanes::load(air_mass, at)];
            let reciprocal = [Lanes::load(reciprocals, at - 1), Lanes::load(reciprocals, at)];
            let (courant, carrier) = tally.face(flux, mass, reciprocal);
            courant.store(courants, at);
            carrier.store(carriers, at);
        }
        let last = start + halo + ni;
        let (mass, reciprocal) = ([air_mass[last - 1], air_mass[last]], [reciprocals[last - 1], reciprocals[last]]);
        tally.uncount(amount[halo + ni], mass, reciprocal);
        let cells = &mut air_mass[start + halo..last];
        for (m, f) in cells.iter_mut().zip(amount[halo..=halo + ni].windows(2)) {
            *m += f[0] - f[1];
        }
    }
    tally.stats()
}

#[inline(always)]
fn close<R: Scalar>(amount: &mut [R], ends: [FaceState; 2], at: [usize; 2]) {
    for (end, at) in ends.into_iter().zip(at) {
        if end == FaceState::Closed {
            amount[at] = R::lit(0.0);
        }
    }
}

#[inline(always)]
pub(crate) fn prepare_y<R: Scalar, const W: usize>(
    shape: &TileShape,
    air_mass: &mut [R],
    face_flux: &[R],
    scale: R,
    ends: [FaceState; 2],
    out: &mut FaceCoefficients<R>,
) -> SweepStats {
    let (pitch, halo, nj) = (shape.pitch, shape.halo, shape.nj);
    let (from, to) = (halo, halo + shape.ni);
    let air_mass = &mut air_mass[..shape.plane_len()];
    let face_flux = &face_flux[..shape.plane_len()];
    let mut tally = Tally::<R, W>::new();
    let len = shape.plane_len();
    let (reciprocals, courants, carriers) = (&mut out.reciprocal[..len], &mut out.courant[..len], &mut out.flux[..len]);
    for row in 0..shape.rows {
        let start = row * pitch;
        reciprocal_row(&mut reciprocals[start..start + pitch], &air_mass[start..start + pitch], from, to);
    }
    let [low, high] = &mut out.scratch;
    let (mut low, mut high) = (&mut low[..pitch], &mut high[..pitch]);
    for face in 0..=nj {
        let start = (face + halo) * pitch;
        let closed = (face == 0 && ends[0] == FaceState::Closed) || (face == nj && ends[1] == FaceState::Closed);
        if closed {
            high.fill(R::lit(0.0));
        } else {
            scaled_row(high, &face_flux[start..start + pitch], scale, from, to);
        }
        for column in (0..pitch).step_by(W) {
            let at = start + column;
            let flux = Lanes::load(high, column);
            let mass = [Lanes::load(air_mass, at - pitch), Lanes::load(air_mass, at)];
            let reciprocal = [Lanes::load(reciprocals, at - pitch), Lanes::load(reciprocals, at)];
            let (courant, carrier) = tally.face(flux, mass, reciprocal);
            courant.store(courants, at);
            carrier.store(carriers, at);
        }
        if face == nj {
            for column in from..to {
                let (below, at) = (start + column - pitch, start + column);
                tally.uncount(high[column], [air_mass[below], air_mass[at]], [reciprocals[below], reciprocals[at]]);
            }
        }
        if face > 0 {
            // The mass of the cell row below is no longer needed by any face.
            for column in (0..pitch).step_by(W) {
                let mass = Lanes::<R, W>::load(air_mass, start - pitch + column);
                let net = Lanes::load(low, column) - Lanes::load(high, column);
                (mass + net).store(air_mass, start - pitch + column);
            }
        }
        core::mem::swap(&mut low, &mut high);
    }
    tally.stats()
}

#[inline(always)]
pub(crate) fn prepare_z<R: Scalar, const W: usize>(
    width: usize,
    nk: usize,
    air_mass: &mut [R],
    face_flux: &[R],
    scale: R,
    out: &mut ColumnCoefficients<R>,
) -> SweepStats {
    assert_eq!(width % TileShape::PITCH_UNIT, 0, "column blocks are whole cache lines wide");
    let (zero, one, scale) = (Lanes::<R, W>::lit(0.0), Lanes::<R, W>::lit(1.0), Lanes::<R, W>::splat(scale));
    let air_mass = &mut air_mass[..nk * width];
    let face_flux = &face_flux[..(nk + 1) * width];
    let (reciprocals, courants) = (&mut out.reciprocal[..nk * width], &mut out.courant[..(nk + 1) * width]);
    let carriers = &mut out.flux[..(nk + 1) * width];
    let mut tally = Tally::<R, W>::new();
    for column in (0..width).step_by(W) {
        let (mut above, mut reciprocal_above, mut inflow) = (one, one, zero);
        for k in 0..nk {
            let at = k * width + column;
            let mass = Lanes::load(air_mass, at);
            let reciprocal = one / mass;
            reciprocal.store(reciprocals, at);
            // No flux through the model top, whatever is stored there.
            let flux = if k == 0 { zero } else { scale * Lanes::load(face_flux, at) };
            let (courant, carrier) = tally.face(flux, [above, mass], [reciprocal_above, reciprocal]);
            courant.store(courants, at);
            carrier.store(carriers, at);
            if k > 0 {
                (above + (inflow - flux)).store(air_mass, at - width);
            }
            (above, reciprocal_above, inflow) = (mass, reciprocal, flux);
        }
        if nk > 0 {
            (above + (inflow - zero)).store(air_mass, (nk - 1) * width + column);
        }
        zero.store(courants, nk * width + column);
        zero.store(carriers, nk * width + column);
    }
    tally.stats()
}
