//! The end of a pass: what cells can afford, and their new contents.

use crate::cpu::linrood::{LinRoodBooks, LinRoodPlanes};
use crate::numerics::{affordable_amount, affordable_part, leaving_amount};
use crate::real::Scalar;
use crate::shape::TileShape;

#[inline(always)]
pub(crate) fn parts<R: Scalar>(shape: &TileShape, content: &[R], planes: &mut LinRoodPlanes<'_, R>) {
    // Eight roundings of sums and products, and contents whose last digits still are normal numbers.
    let kept = R::from_f64(1.0 - 8.0 * R::EPSILON.to_f64());
    let smallest = if size_of::<R>() == 4 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    let smallest = R::from_f64(smallest / R::EPSILON.to_f64());
    let (pitch, n) = (shape.pitch, shape.ni);
    for j in 0..shape.nj {
        let start = shape.row_start(j);
        let rm = &content[start..][..n];
        let (west, east) = (&planes.flux[0][start..][..n], &planes.flux[0][start + 1..][..n]);
        let (south, north) = (&planes.flux[1][start..][..n], &planes.flux[1][start + pitch..][..n]);
        let parts = &mut planes.after[1][start..][..n];
        for i in 0..n {
            let leaving = leaving_amount(west[i], east[i], south[i], north[i]);
            parts[i] = affordable_part(rm[i], leaving, kept, smallest);
        }
    }
}

#[inline(always)]
pub(crate) fn limit<R: Scalar>(shape: &TileShape, planes: &mut LinRoodPlanes<'_, R>) {
    let (pitch, halo) = (shape.pitch, shape.halo);
    let [flux_i, flux_j] = &mut planes.flux;
    for (flux, step, columns, rows) in [(flux_i, 1, shape.ni + 1, shape.nj), (flux_j, pitch, shape.ni, shape.nj + 1)] {
        for row in halo..halo + rows {
            let start = row * pitch + halo;
            let (low, high) = (&planes.after[1][start - step..][..columns], &planes.after[1][start..][..columns]);
            let flux = &mut flux[start..][..columns];
            for i in 0..columns {
                flux[i] = affordable_amount(flux[i], low[i], high[i]);
            }
        }
    }
}

#[inline(always)]
pub(crate) fn update<R: Scalar>(
    shape: &TileShape,
    content: &mut [R],
    planes: &LinRoodPlanes<'_, R>,
    books: Option<LinRoodBooks<'_, R>>,
) {
    let (pitch, n) = (shape.pitch, shape.ni);
    for j in 0..shape.nj {
        let start = shape.row_start(j);
        let (west, east) = (&planes.flux[0][start..][..n], &planes.flux[0][start + 1..][..n]);
        let (south, north) = (&planes.flux[1][start..][..n], &planes.flux[1][start + pitch..][..n]);
        let rm = &mut content[start..][..n];
        for i in 0..n {
            rm[i] += (west[i] - east[i]) + (south[i] - north[i]);
        }
    }
    let Some(LinRoodBooks { gain, along_i, along_j }) = books else { return };
    for j in 0..shape.nj {
        let start = shape.row_start(j);
        let (west, east) = (&planes.flux[0][start..][..n], &planes.flux[0][start + 1..][..n]);
        let (south, north) = (&planes.flux[1][start..][..n], &planes.flux[1][start + pitch..][..n]);
        let (gain, along_i, along_j) =
            (&mut gain[start..][..n], &mut along_i[start..][..n], &mut along_j[start..][..n]);
        for i in 0..n {
            gain[i] += (west[i] - east[i]) + (south[i] - north[i]);
            along_i[i] += west[i] + east[i];
            along_j[i] += south[i] + north[i];
        }
    }
}
