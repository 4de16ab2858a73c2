//! Naive reference loops and deterministic random fields.
#![allow(dead_code)]

use kernels::numerics::face_coefficients;
use kernels::scheme::{CellScheme, FluxKind};
use kernels::{Scalar, TileShape};

/// Runs a generic function for every scheme: `for_each_scheme!(function::<R>(arguments))` calls
/// `function::<SchemeType, R>(Scheme, arguments)`.
#[macro_export]
macro_rules! for_each_scheme {
    ($function:ident::<$real:ty>($($argument:expr),*)) => {{
        use kernels::scheme::*;
        $function::<Upwind, $real>(Scheme::Upwind $(, $argument)*);
        $function::<SlopesNone, $real>(Scheme::Slopes(SlopesLimiter::None) $(, $argument)*);
        $function::<SlopesMonotone, $real>(Scheme::Slopes(SlopesLimiter::Monotone) $(, $argument)*);
        $function::<SlopesPositivity, $real>(Scheme::Slopes(SlopesLimiter::Positivity) $(, $argument)*);
        $function::<PpmNone, $real>(Scheme::Ppm(PpmLimiter::None) $(, $argument)*);
        $function::<PpmMonotone, $real>(Scheme::Ppm(PpmLimiter::Monotone) $(, $argument)*);
        $function::<PpmCw84, $real>(Scheme::Ppm(PpmLimiter::Cw84) $(, $argument)*);
        $function::<PpmHuynhPd, $real>(Scheme::Ppm(PpmLimiter::HuynhPd) $(, $argument)*);
        $function::<Fv3Hord8, $real>(Scheme::Ppm(PpmLimiter::Mono) $(, $argument)*);
        $function::<Fv3Hord13, $real>(Scheme::Ppm(PpmLimiter::Pd) $(, $argument)*);
        $function::<SweptUniversal, $real>(Scheme::Ppm(PpmLimiter::Universal) $(, $argument)*);
        $function::<SweptMpPd, $real>(Scheme::Ppm(PpmLimiter::MpPd) $(, $argument)*);
    }};
}

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

    /// Next number between `lo` and `hi`, rounded to the precision.
    pub fn between<R: Scalar>(&mut self, lo: f64, hi: f64) -> R {
        R::lit(lo + (hi - lo) * self.unit())
    }

    /// Numbers between `lo` and `hi`.
    pub fn field<R: Scalar>(&mut self, len: usize, lo: f64, hi: f64) -> Vec<R> {
        (0..len).map(|_| self.between(lo, hi)).collect()
    }
}

/// Bits of a number, widened.
pub fn bits<R: Scalar>(x: R) -> u64 {
    x.to_f64().to_bits()
}

/// Profile and mean of cell `i` of a line, from a window gathered anew.
fn cell<S: CellScheme, R: Scalar>(q: &[R], i: usize, flat: bool) -> (R, (R, R)) {
    let zero = R::lit(0.0);
    if flat {
        return (q[i], (zero, zero));
    }
    let reach = S::HALO as isize - 1;
    let window = core::array::from_fn(|x| {
        let offset = x as isize - 2;
        if offset.abs() <= reach { q[(i as isize + offset) as usize] } else { zero }
    });
    (q[i], S::profile(window))
}

/// Tracer flux through face `f` (between cells `f − 1` and `f`) and whether it was clamped, formed from nothing but the
/// masses and the air flux.
pub fn naive_flux<S: CellScheme, R: Scalar>(
    rm: &[R],
    m: &[R],
    f: usize,
    air: R,
    flat: impl Fn(usize) -> bool,
) -> (R, bool) {
    let one = R::lit(1.0);
    let reach = |i: usize| i.saturating_sub(3)..(i + 3).min(m.len());
    let mut q = vec![R::lit(0.0); m.len()];
    for i in reach(f) {
        q[i] = rm[i] * (one / m[i]);
    }
    let (q_l, left) = cell::<S, R>(&q, f - 1, flat(f - 1));
    let (q_r, right) = cell::<S, R>(&q, f, flat(f));
    let (courant, carrier, fraction) = face_coefficients(air, m[f - 1], m[f], one / m[f - 1], one / m[f]);
    let flux = if S::FLUX == FluxKind::Swept && !flat(f - 1) && !flat(f) {
        S::face(carrier, courant, q[f - 3], core::array::from_fn(|x| q[f + x - 2]))
    } else {
        S::flux(carrier, courant, q_l, left, q_r, right)
    };
    (flux, fraction > one)
}

/// One sweep of a line of cells; `cells` are updated, `air[f]` flows between cells `f − 1` and `f`. Faces at the ends of
/// the line carry nothing. Returns the number of clamped faces.
pub fn naive_line<S: CellScheme, R: Scalar>(
    rm: &mut [R],
    m: &mut [R],
    air: &[R],
    cells: core::ops::Range<usize>,
    flat: impl Fn(usize) -> bool,
) -> u64 {
    let zero = R::lit(0.0);
    let mut flux = vec![zero; rm.len() + 1];
    let mut clamped = 0;
    for f in cells.start.max(1)..=cells.end.min(rm.len() - 1) {
        let (amount, was_clamped) = naive_flux::<S, R>(rm, m, f, air[f], &flat);
        flux[f] = amount;
        clamped += u64::from(was_clamped && f < cells.end);
    }
    for i in cells {
        rm[i] += flux[i] - flux[i + 1];
        m[i] += air[i] - air[i + 1];
    }
    clamped
}

/// Random plane: masses about 1, signed tracer, fluxes up to `courant` of a cell; padding beyond the halo is 0.
pub struct Plane<R> {
    pub shape: TileShape,
    pub m: Vec<R>,
    pub rm: Vec<R>,
    pub flux: Vec<R>,
}

/// A random plane of a tile of `ni × nj` cells with a halo of 3.
pub fn plane<R: Scalar>(ni: usize, nj: usize, courant: f64, random: &mut Random) -> Plane<R> {
    let shape = TileShape::new(ni, nj, 3);
    let len = shape.plane_len();
    let (mut m, mut rm, mut flux) = (vec![R::lit(0.0); len], vec![R::lit(0.0); len], vec![R::lit(0.0); len]);
    for row in 0..shape.rows {
        for i in 0..ni + 6 {
            let at = row * shape.pitch + i;
            m[at] = random.between(0.8, 1.2);
            rm[at] = random.between(-0.5, 1.5);
            flux[at] = random.between(-courant, courant);
        }
    }
    Plane { shape, m, rm, flux }
}
