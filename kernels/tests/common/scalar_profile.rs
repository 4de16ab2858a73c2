//! FV3's `scalar_profile` for `kord = 8`, as its loops and branches stand: the oracle of the spline profiles.

use kernels::Scalar;

/// Edge values of a layer.
#[derive(Clone, Copy, Debug)]
pub struct Edges<R> {
    pub upper: R,
    pub lower: R,
}

#[derive(Clone, Copy, PartialEq)]
enum Limit {
    Positive,
    MonotoneAtExtremumOfTheParabola,
    MonotoneAtExtremumOfTheMeans(bool),
}

fn limited<R: Scalar>(q: R, edges: &mut Edges<R>, kind: Limit) {
    let (zero, three) = (R::lit(0.0), R::lit(3.0));
    let flat = Edges { upper: q, lower: q };
    let rise = edges.lower - edges.upper;
    let bend = three * (R::lit(2.0) * q - (edges.upper + edges.lower));
    match kind {
        Limit::Positive => {
            if q <= zero {
                *edges = flat;
            } else if Scalar::to_f64(rise).abs() < Scalar::to_f64(-bend)
                && q + R::lit(0.25) * (rise * rise) / bend + bend * R::lit(1.0 / 12.0) < zero
            {
                if q < edges.lower && q < edges.upper {
                    *edges = flat;
                } else if edges.lower > edges.upper {
                    edges.lower = edges.upper - three * (edges.upper - q);
                } else {
                    edges.upper = edges.lower - three * (edges.lower - q);
                }
            }
            return;
        }
        Limit::MonotoneAtExtremumOfTheParabola => {
            if (q - edges.upper) * (q - edges.lower) >= zero {
                *edges = flat;
                return;
            }
        }
        Limit::MonotoneAtExtremumOfTheMeans(extremum) => {
            if extremum {
                *edges = flat;
                return;
            }
        }
    }
    let (square, product) = (rise * rise, bend * rise);
    if product < -square {
        edges.lower = edges.upper - three * (edges.upper - q);
    } else if product > square {
        edges.upper = edges.lower - three * (edges.lower - q);
    }
}

fn smallest<R: Scalar>(values: &[R]) -> R {
    values.iter().fold(values[0], |a, b| if *b < a { *b } else { a })
}

fn largest<R: Scalar>(values: &[R]) -> R {
    values.iter().fold(values[0], |a, b| if *b > a { *b } else { a })
}

/// Edges of all layers with means `q` and air masses `dp`, from the top.
pub fn scalar_profile<R: Scalar>(q: &[R], dp: &[R], positive: bool) -> Vec<Edges<R>> {
    let n = q.len();
    let (zero, one, two, three) = (R::lit(0.0), R::lit(1.0), R::lit(2.0), R::lit(3.0));
    let (half, three_halves) = (R::lit(0.5), R::lit(1.5));
    // The spline.
    let (mut e, mut gam) = (vec![zero; n + 1], vec![zero; n + 1]);
    let grat = dp[1] / dp[0];
    let bet = grat * (grat + half);
    e[0] = ((grat + grat) * (grat + one) * q[0] + q[1]) / bet;
    gam[0] = (one + grat * (grat + three_halves)) / bet;
    let mut d4 = zero;
    for k in 1..n {
        d4 = dp[k - 1] / dp[k];
        let bet = two + d4 + d4 - gam[k - 1];
        e[k] = (three * (q[k - 1] + d4 * q[k]) - e[k - 1]) / bet;
        gam[k] = d4 / bet;
    }
    let a_bot = one + d4 * (d4 + three_halves);
    e[n] = (two * d4 * (d4 + one) * q[n - 1] + q[n - 2] - a_bot * e[n - 1]) / (d4 * (d4 + half) - a_bot * gam[n - 1]);
    for k in (0..n).rev() {
        let below = e[k + 1];
        e[k] -= gam[k] * below;
    }
    // Large-scale constraints; `gam[k]` becomes the difference across edge k.
    for k in 1..n {
        gam[k] = q[k] - q[k - 1];
    }
    for k in 1..n {
        let (lo, hi) = (smallest(&[q[k - 1], q[k]]), largest(&[q[k - 1], q[k]]));
        if k == 1 || k == n - 1 || gam[k - 1] * gam[k + 1] > zero {
            e[k] = largest(&[smallest(&[e[k], hi]), lo]);
        } else if gam[k - 1] > zero {
            e[k] = largest(&[e[k], lo]);
        } else {
            e[k] = smallest(&[e[k], hi]);
            if positive {
                e[k] = largest(&[e[k], zero]);
            }
        }
    }
    if positive {
        e[0] = largest(&[e[0], zero]);
        e[n] = largest(&[e[n], zero]);
    }
    (0..n)
        .map(|k| {
            let mut edges = Edges { upper: e[k], lower: e[k + 1] };
            if k == 0 || k == n - 1 {
                limited(q[k], &mut edges, Limit::MonotoneAtExtremumOfTheParabola);
            } else if k == 1 || k == n - 2 {
                let extremum = gam[k] * gam[k + 1] < zero;
                limited(q[k], &mut edges, Limit::MonotoneAtExtremumOfTheMeans(extremum));
            } else {
                let near = q[k] - two * gam[k + 1];
                let hull = [q[k], near, near + three_halves * gam[k + 2]];
                edges.upper = smallest(&[largest(&[edges.upper, smallest(&hull)]), largest(&hull)]);
                let near = q[k] + two * gam[k];
                let hull = [q[k], near, near - three_halves * gam[k - 1]];
                edges.lower = smallest(&[largest(&[edges.lower, smallest(&hull)]), largest(&hull)]);
                if positive {
                    limited(q[k], &mut edges, Limit::Positive);
                }
            }
            edges
        })
        .collect()
}
