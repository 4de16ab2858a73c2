//! Poisson equation on the cells of the cube: the smallest change of face fluxes that closes the air mass.

mod dissection;
mod factor;

use super::FaceTable;
use factor::{Factor, FactorScratch};

/// Direct solver of L ψ = rhs, where (Lψ)_c = 4 ψ_c − Σ ψ over the four neighbours of cell c.
///
/// The operator depends on the number of cells and the panel convention only and is factored once. All arithmetic is
/// sequential and in a fixed order, so results depend neither on threads nor on the machine. A right-hand side has a
/// solution if it sums to zero; its mean is removed.
#[derive(Clone, Debug)]
pub struct Poisson {
    faces: FaceTable,
    factor: Factor,
}

/// What a solution leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    /// Mean of the right-hand side, which was removed.
    pub mean: f64,
    /// Largest |rhs − mean|; NaN or infinite if the right-hand side is not finite.
    pub largest: f64,
    /// Largest absolute residual of a cell; NaN if the right-hand side is not finite.
    pub residual: f64,
}

impl Solved {
    /// Largest residual over the largest right-hand side.
    pub fn relative(&self) -> f64 {
        if self.residual == 0.0 { 0.0 } else { self.residual / self.largest }
    }
}

/// Memory for solutions, to be reused.
#[derive(Clone, Debug, Default)]
pub struct PoissonScratch {
    factor: FactorScratch,
    centred: Vec<f64>,
    residual: Vec<f64>,
    divergence: Vec<f64>,
}

impl Poisson {
    /// Factors the operator.
    pub fn new(faces: &FaceTable) -> Self {
        let neighbours = neighbours_of(faces);
        let factor = Factor::new(dissection::dissect(faces, &neighbours), &neighbours);
        Self { faces: faces.clone(), factor }
    }

    /// The faces it was made for.
    pub fn faces(&self) -> &FaceTable {
        &self.faces
    }

    /// Entries of the factor.
    pub fn entries(&self) -> usize {
        self.factor.entries()
    }

    /// Memory held by the factor, bytes.
    pub fn bytes(&self) -> usize {
        self.factor.bytes()
    }

    /// Memory in bytes that the factor for `cells` cells at least takes: 8 bytes for each of n·log2 n entries, below the
    /// 31/4·n·log2 n of nested dissection of a square grid (George 1973).
    pub fn least_bytes(cells: usize) -> u64 {
        8 * cells as u64 * u64::from(cells.max(1).ilog2())
    }

    /// Solves for the potential `psi` with mean zero, with one step of iterative refinement.
    ///
    /// The residual cannot fall below the rounding of ψ itself, 4·ε·max|ψ|, which for smooth right-hand sides is
    /// max|rhs|·nc²·1e-16. [`correction`](Self::correction) has no such limit.
    pub fn solve(&self, rhs: &[f64], psi: &mut [f64], scratch: &mut PoissonScratch) -> Solved {
        assert!(rhs.len() == self.faces.cells() && psi.len() == rhs.len(), "one value per cell");
        let (mean, largest) = scratch.centre(rhs);
        psi.copy_from_slice(&scratch.centred);
        self.factor.solve(psi, &mut scratch.factor);
        self.potential_residual(psi, scratch);
        centre(&mut scratch.residual);
        self.factor.solve(&mut scratch.residual, &mut scratch.factor);
        psi.iter_mut().zip(&scratch.residual).for_each(|(psi, step)| *psi += step);
        centre(psi);
        let residual = self.potential_residual(psi, scratch);
        Solved { mean, largest, residual }
    }

    /// The change of the face fluxes, ψ(right) − ψ(left), whose net outflow is −(rhs − mean) in every cell; zero if the
    /// right-hand side is not finite.
    ///
    /// The refinement acts on the differences, which are smaller than ψ by a factor of nc: the residual is limited by the
    /// rounding of the fluxes, 2·ε·max|change|.
    pub fn correction(&self, rhs: &[f64], change: &mut [f64], scratch: &mut PoissonScratch) -> Solved {
        assert!(rhs.len() == self.faces.cells() && change.len() == self.faces.faces(), "values of cells and faces");
        let (mean, largest) = scratch.centre(rhs);
        change.fill(0.0);
        if !largest.is_finite() {
            return Solved { mean, largest, residual: f64::NAN };
        }
        scratch.residual.clone_from(&scratch.centred);
        let mut residual = largest;
        for _ in 0..2 {
            centre(&mut scratch.residual);
            self.factor.solve(&mut scratch.residual, &mut scratch.factor);
            let psi = &scratch.residual;
            for (face, change) in change.iter_mut().enumerate() {
                *change += psi[self.faces.right(face)] - psi[self.faces.left(face)];
            }
            scratch.divergence.resize(rhs.len(), 0.0);
            self.faces.divergence(change, &mut scratch.divergence);
            let sums = scratch.centred.iter().zip(&scratch.divergence).map(|(rhs, out)| rhs + out);
            scratch.residual.clear();
            scratch.residual.extend(sums);
            residual = largest_of(&scratch.residual);
        }
        Solved { mean, largest, residual }
    }

    /// Residual of the centred right-hand side; returns its largest magnitude.
    fn potential_residual(&self, psi: &[f64], scratch: &mut PoissonScratch) -> f64 {
        scratch.residual.clone_from(&scratch.centred);
        for (left, right) in self.faces.lefts().iter().zip(self.faces.rights()) {
            let (left, right) = (*left as usize, *right as usize);
            let step = psi[right] - psi[left];
            scratch.residual[left] += step;
            scratch.residual[right] -= step;
        }
        largest_of(&scratch.residual)
    }
}

impl PoissonScratch {
    /// Keeps `rhs` without its mean; returns the mean and the largest magnitude left.
    fn centre(&mut self, rhs: &[f64]) -> (f64, f64) {
        self.centred.clear();
        self.centred.extend_from_slice(rhs);
        let mean = centre(&mut self.centred);
        (mean, largest_of(&self.centred))
    }
}

/// Takes the mean out of `values` and returns it.
fn centre(values: &mut [f64]) -> f64 {
    // Neumaier's compensated sum: the mean must be good to the last digit, as the last cell takes what is left of it.
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for value in values.iter() {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    let mean = (sum + lost) / values.len() as f64;
    values.iter_mut().for_each(|value| *value -= mean);
    mean
}

/// Largest magnitude; NaN if there is one.
fn largest_of(values: &[f64]) -> f64 {
    let worse = |value: f64, largest: f64| value > largest || value.is_nan();
    values.iter().fold(0.0, |largest, value| if worse(value.abs(), largest) { value.abs() } else { largest })
}

/// The four neighbours of every cell.
fn neighbours_of(faces: &FaceTable) -> Vec<[u32; 4]> {
    (0..faces.cells())
        .map(|cell| {
            faces.cell_faces(cell).map(|(face, outward)| {
                let neighbour = if outward > 0.0 { faces.right(face) } else { faces.left(face) };
                neighbour as u32
            })
        })
        .collect()
}

#[cfg(test)]
mod tests;
