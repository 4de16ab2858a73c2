//! L·D·Lᵀ factors of the graph Laplacian, block by block of the order of elimination.

use super::dissection::Dissection;

/// A block of columns of L, stored dense.
#[derive(Clone, Copy, Debug)]
struct Columns {
    /// Place of the first column in the order.
    first: usize,
    /// Number of columns.
    len: usize,
    /// Rows below the block: where their places start in `Factor::rows`, and how many they are.
    rows: (usize, usize),
    /// Where the columns start in `Factor::values`: each holds the rows below its diagonal, first those of the block.
    values: usize,
}

/// Factors of the graph Laplacian of the cells, in a given order of elimination.
///
/// The Laplacian is singular: the last pivot is zero in exact arithmetic and is taken as infinite, which pins the
/// unknown of the last cell to zero. All arithmetic is sequential.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    blocks: Vec<Columns>,
    /// Places in the order of the rows below each block, ascending.
    rows: Vec<u32>,
    values: Vec<f64>,
    /// Inverse pivots.
    inverse: Vec<f64>,
    /// Cells in the order of elimination.
    cells: Vec<u32>,
    /// Most rows below a block.
    widest: usize,
}

/// What is left of the matrix below a block: its lower triangle by columns, rows as in `Factor::rows`.
struct Remainder {
    rows: (usize, usize),
    values: Vec<f64>,
}

impl Factor {
    /// Factors the matrix with 4 on the diagonal and −1 for each of the four neighbours of a cell.
    pub fn new(order: Dissection, neighbours: &[[u32; 4]]) -> Self {
        let count = order.cells.len();
        let mut place = vec![0u32; count];
        for (n, cell) in order.cells.iter().enumerate() {
            place[*cell as usize] = n as u32;
        }
        let mut factor = Factor {
            blocks: Vec::with_capacity(order.blocks.len()),
            rows: Vec::new(),
            values: Vec::new(),
            inverse: vec![0.0; count],
            cells: order.cells,
            widest: 0,
        };
        let mut open: Vec<Remainder> = Vec::new();
        let mut local = vec![0u32; count];
        let mut front = Vec::new();
        for block in &order.blocks {
            let children = open.split_off(open.len() - block.children);
            let (first, len, end) = (block.first, block.len, (block.first + block.len) as u32);
            let start = factor.rows.len();
            for cell in &factor.cells[first..first + len] {
                let touched = neighbours[*cell as usize].iter().map(|n| place[*n as usize]);
                factor.rows.extend(touched.filter(|row| *row >= end));
            }
            for child in &children {
                let below = child.rows.0..child.rows.0 + child.rows.1;
                let kept = below.filter(|n| factor.rows[*n] >= end).map(|n| factor.rows[n]).collect::<Vec<_>>();
                factor.rows.extend(kept);
            }
            factor.rows[start..].sort_unstable();
            let kept = start + dedup(&mut factor.rows[start..]);
            factor.rows.truncate(kept);
            let columns = Columns { first, len, rows: (start, kept - start), values: factor.values.len() };
            factor.widest = factor.widest.max(columns.rows.1);

            (0..len).for_each(|n| local[first + n] = n as u32);
            factor.rows[start..].iter().enumerate().for_each(|(n, row)| local[*row as usize] = (len + n) as u32);
            let size = len + columns.rows.1;
            front.clear();
            front.resize(size * size, 0.0);
            for n in 0..len {
                front[n * size + n] = 4.0;
                for neighbour in neighbours[factor.cells[first + n] as usize] {
                    let row = place[neighbour as usize] as usize;
                    if row > first + n {
                        front[n * size + local[row] as usize] = -1.0;
                    }
                }
            }
            for child in children {
                factor.add(&child, &local, size, &mut front);
            }
            open.push(factor.eliminate(columns, &mut front));
            factor.blocks.push(columns);
        }
        *factor.inverse.last_mut().expect("a cube has cells") = 0.0;
        factor.rows.shrink_to_fit();
        factor.values.shrink_to_fit();
        factor
    }

    /// Adds what a block below left over to the dense matrix of a block.
    fn add(&self, child: &Remainder, local: &[u32], size: usize, front: &mut [f64]) {
        let rows = &self.rows[child.rows.0..child.rows.0 + child.rows.1];
        let mut values = child.values.iter();
        for (n, column) in rows.iter().enumerate() {
            let column = local[*column as usize] as usize * size;
            for row in &rows[n..] {
                front[column + local[*row as usize] as usize] += values.next().expect("a value for every row");
            }
        }
    }

    /// Eliminates the columns of a block from its dense matrix, keeps their factors and returns what is left.
    fn eliminate(&mut self, columns: Columns, front: &mut [f64]) -> Remainder {
        let (len, size) = (columns.len, columns.len + columns.rows.1);
        for n in 0..len {
            let (done, later) = front.split_at_mut((n + 1) * size);
            let column = &mut done[n * size + n..];
            let inverse = 1.0 / column[0];
            self.inverse[columns.first + n] = inverse;
            for (m, target) in later.chunks_mut(size).enumerate() {
                let row = m + 1;
                let factor = column[row] * inverse;
                if factor != 0.0 {
                    let target = &mut target[n + row..];
                    target.iter_mut().zip(&column[row..]).for_each(|(t, c)| *t -= factor * c);
                }
            }
            column[1..].iter_mut().for_each(|value| *value *= inverse);
            self.values.extend_from_slice(&column[1..]);
        }
        let values = (len..size).flat_map(|n| &front[n * size + n..(n + 1) * size]).copied().collect();
        Remainder { rows: columns.rows, values }
    }

    /// Entries of L below the diagonal, with the zeros that dense blocks hold.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// Memory held, bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.values[..])
            + size_of_val(&self.inverse[..])
            + size_of_val(&self.rows[..])
            + size_of_val(&self.cells[..])
            + size_of_val(&self.blocks[..])
    }

    /// Solves for right-hand sides that sum to zero; `x` holds them by cell and takes the solution, zero in the last
    /// cell of the order.
    pub fn solve(&self, x: &mut [f64], scratch: &mut FactorScratch) {
        let FactorScratch { ordered, below } = scratch;
        ordered.clear();
        ordered.extend(self.cells.iter().map(|cell| x[*cell as usize]));
        below.resize(self.widest, 0.0);
        for block in &self.blocks {
            let rows = &self.rows[block.rows.0..block.rows.0 + block.rows.1];
            let below = &mut below[..rows.len()];
            below.fill(0.0);
            let mut values = &self.values[block.values..];
            for n in 0..block.len {
                let (own, rest) = values.split_at(block.len - 1 - n);
                let (lower, rest) = rest.split_at(rows.len());
                values = rest;
                let (done, later) = ordered[block.first..block.first + block.len].split_at_mut(n + 1);
                let value = done[n];
                later.iter_mut().zip(own).for_each(|(y, l)| *y -= l * value);
                below.iter_mut().zip(lower).for_each(|(y, l)| *y += l * value);
            }
            rows.iter().zip(below).for_each(|(row, sum)| ordered[*row as usize] -= *sum);
        }
        for block in self.blocks.iter().rev() {
            let rows = &self.rows[block.rows.0..block.rows.0 + block.rows.1];
            let below = &mut below[..rows.len()];
            below.iter_mut().zip(rows).for_each(|(value, row)| *value = ordered[*row as usize]);
            for n in (0..block.len).rev() {
                // Columns before n: each one entry shorter than the one before it.
                let start = block.values + n * (block.len - 1 + rows.len()) - n * n.saturating_sub(1) / 2;
                let (own, rest) = self.values[start..].split_at(block.len - 1 - n);
                let (done, later) = ordered[block.first..block.first + block.len].split_at_mut(n + 1);
                let sum = product(own, later) + product(&rest[..rows.len()], below);
                done[n] = done[n] * self.inverse[block.first + n] - sum;
            }
        }
        self.cells.iter().zip(ordered).for_each(|(cell, value)| x[*cell as usize] = *value);
    }
}

/// Memory for a solution.
#[derive(Clone, Debug, Default)]
pub(super) struct FactorScratch {
    ordered: Vec<f64>,
    below: Vec<f64>,
}

/// Scalar product in four sums, always in the same order.
fn product(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let tail: f64 = a4.remainder().iter().zip(b4.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a4.zip(b4) {
        (0..4).for_each(|n| sums[n] += a[n] * b[n]);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + tail
}

/// Moves the distinct values of a sorted list to its front; returns how many there are.
fn dedup(sorted: &mut [u32]) -> usize {
    let mut kept = 0;
    for n in 0..sorted.len() {
        if n == 0 || sorted[n] != sorted[kept - 1] {
            sorted[kept] = sorted[n];
            kept += 1;
        }
    }
    kept
}
