//! Sums over total waves: many fields, several latitudes, one zonal wave.

use multiversion::multiversion;

/// Latitudes that share one pass over the coefficients.
pub(super) const LATITUDES: usize = 8;
/// Numbers of one tile of coefficients, real and imaginary parts of four fields.
pub(super) const LANES: usize = 8;
/// Latitudes summed at a time, so that sums stay in registers.
const TOGETHER: usize = 4;

/// Sums of one tile for the latitudes of a block: over total waves with n − m even, and with n − m odd.
pub(super) type Sums = [[[f64; LANES]; LATITUDES]; 2];

/// Sums over n of coefficient times function. `functions` holds the functions of the latitudes for n = m, m + 1 …,
/// `tile` the coefficients in the same order.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
pub(super) fn sum_tile(functions: &[[f64; LATITUDES]], tile: &[[f64; LANES]], sums: &mut Sums) {
    let waves = functions.len().min(tile.len());
    let (functions, tile) = (&functions[..waves], &tile[..waves]);
    for parity in 0..2 {
        for group in 0..LATITUDES / TOGETHER {
            let mut sum = [[0.0; LANES]; TOGETHER];
            // A plain counter and values taken as a whole: other forms of this loop run at a third of the speed.
            let mut n = parity;
            while n < waves {
                let p: [f64; TOGETHER] = functions[n].as_chunks().0[group];
                let c = tile[n];
                for r in 0..TOGETHER {
                    for l in 0..LANES {
                        sum[r][l] += p[r] * c[l];
                    }
                }
                n += 2;
            }
            sums[parity][group * TOGETHER..(group + 1) * TOGETHER].copy_from_slice(&sum);
        }
    }
}
