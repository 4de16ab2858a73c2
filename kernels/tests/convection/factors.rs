//! Factors and solves of small matrices (spec: dense and Hessenberg paths agree bit for bit).

use kernels::Scalar;
use kernels::columns::convection::tm5::{Factors, LowerPart};

use crate::common::{Random, bits};

/// Plain LU by partial pivoting with the documented order of terms; a zero multiplier keeps its sign.
pub struct Naive<R> {
    pub a: Vec<Vec<R>>,
    pub pivots: Vec<u32>,
}

impl<R: Scalar> Naive<R> {
    pub fn factor(mut a: Vec<Vec<R>>) -> Self {
        let n = a.len();
        let mut pivots = Vec::new();
        for k in 0..n {
            let mut p = k;
            for i in k + 1..n {
                if kernels::Real::abs(a[i][k]) > kernels::Real::abs(a[p][k]) {
                    p = i;
                }
            }
            pivots.push(p as u32);
            a.swap(k, p);
            for i in k + 1..n {
                if a[i][k] == R::lit(0.0) {
                    continue;
                }
                a[i][k] = a[i][k] / a[k][k];
                for j in k + 1..n {
                    a[i][j] = a[i][j] - a[i][k] * a[k][j];
                }
            }
        }
        Self { a, pivots }
    }

    pub fn solve(&self, b: &mut [R]) {
        let n = b.len();
        for k in 0..n {
            b.swap(k, self.pivots[k] as usize);
        }
        for i in 0..n {
            for j in 0..i {
                b[i] -= self.a[i][j] * b[j];
            }
        }
        for i in (0..n).rev() {
            for j in (i + 1..n).rev() {
                b[i] -= self.a[i][j] * b[j];
            }
            b[i] /= self.a[i][i];
        }
    }
}

fn load<R: Scalar>(out: &mut Factors<R>, a: &[Vec<R>]) {
    out.reset(a.len());
    a.iter().enumerate().for_each(|(i, row)| out.row_mut(i).copy_from_slice(row));
}

fn hessenberg_and_dense<R: Scalar>() {
    let mut random = Random(2);
    let (mut swaps, mut straight) = (0, 0);
    for n in [1, 2, 8, 25, 85] {
        for round in 0..6 {
            // The second half is dominated by its diagonal.
            let dominant = if round < 3 { 0.0 } else { n as f64 };
            let element = |i: usize, j: usize, random: &mut Random| match i {
                _ if i > j + 1 => R::lit(0.0),
                _ if i == j => random.between(-1.0 + dominant, 1.0 + dominant),
                _ => random.between(-1.0, 1.0),
            };
            let a: Vec<Vec<R>> = (0..n).map(|i| (0..n).map(|j| element(i, j, &mut random)).collect()).collect();
            let naive = Naive::factor(a.clone());
            let rhs: Vec<[R; 4]> = (0..n).map(|_| core::array::from_fn(|_| random.between(-1.0, 1.0))).collect();
            let norm = a.iter().map(|row| row.iter().map(|x| x.to_f64().abs()).sum::<f64>()).fold(0.0, f64::max);
            for lower in [LowerPart::Hessenberg, LowerPart::Full] {
                let mut factors = Factors::new(90);
                load(&mut factors, &a);
                factors.factor(lower);
                assert_eq!(factors.pivots(), naive.pivots);
                for (i, row) in naive.a.iter().enumerate() {
                    assert_eq!(
                        factors.row(i).iter().map(|x| bits(*x)).collect::<Vec<_>>(),
                        row.iter().map(|x| bits(*x)).collect::<Vec<_>>()
                    );
                }
                let mut solved = rhs.clone();
                factors.solve(&mut solved);
                for t in 0..4 {
                    let mut expected: Vec<R> = rhs.iter().map(|b| b[t]).collect();
                    naive.solve(&mut expected);
                    for k in 0..n {
                        assert_eq!(bits(solved[k][t]), bits(expected[k]), "{n} {k}");
                    }
                    residual(&a, &expected, &rhs.iter().map(|b| b[t]).collect::<Vec<_>>(), norm, false);
                }
                let mut transposed: Vec<R> = rhs.iter().map(|b| b[0]).collect();
                factors.solve_transposed(&mut transposed);
                residual(&a, &transposed, &rhs.iter().map(|b| b[0]).collect::<Vec<_>>(), norm, true);
            }
            if naive.pivots.iter().enumerate().any(|(k, p)| *p as usize != k) { swaps += 1 } else { straight += 1 }
        }
    }
    assert!(swaps >= 8 && straight >= 8, "both paths of the forward sweep are needed: {swaps} {straight}");
    let mut empty = Factors::<R>::new(0);
    empty.reset(0);
    empty.factor(LowerPart::Full);
    empty.solve::<4>(&mut []);
}

/// Backward residual below 100 eps · (‖A‖‖x‖ + ‖b‖) in the largest norm.
fn residual<R: Scalar>(a: &[Vec<R>], x: &[R], b: &[R], norm: f64, transposed: bool) {
    let n = b.len();
    let size = |v: &[R]| v.iter().map(|x| x.to_f64().abs()).fold(0.0, f64::max);
    let norm = if transposed { norm.max(n as f64) } else { norm };
    let bound = 100.0 * R::EPSILON.to_f64() * (norm * size(x) + size(b));
    for i in 0..n {
        let at = |j: usize| if transposed { a[j][i] } else { a[i][j] };
        let sum: f64 = (0..n).map(|j| at(j).to_f64() * x[j].to_f64()).sum();
        assert!((sum - b[i].to_f64()).abs() < bound, "residual {} of {bound}", (sum - b[i].to_f64()).abs());
    }
}

#[test]
fn hessenberg_and_dense_factors_have_the_same_bits() {
    hessenberg_and_dense::<f32>();
    hessenberg_and_dense::<f64>();
}
