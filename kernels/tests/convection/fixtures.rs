//! Blocks of columns from columns, and back.
#![allow(dead_code)]

use kernels::Scalar;
use kernels::columns::convection::ColumnAir;
use kernels::columns::convection::tm5::{Downdraft, Tm5Forcing};
use kernels::columns::{ColumnBlock, Ledger, LedgerStats};

use crate::common::Random;

/// A column of numbers, top first.
pub type Column = Vec<f64>;

/// A ledger with carry or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LedgerUse {
    Kept,
    Omitted,
}

impl LedgerUse {
    pub fn of<R>(self, carry: &mut [R]) -> Ledger<'_, R> {
        match self {
            Self::Kept => Ledger::Carry(carry),
            Self::Omitted => Ledger::Off,
        }
    }
}

/// Columns side by side, padded with zeros.
pub fn pack<R: Scalar>(columns: &[Column]) -> Vec<R> {
    let (rows, width) = (columns[0].len(), ColumnBlock::new(columns.len(), 1).width());
    let mut out = vec![R::lit(0.0); rows * width];
    for (c, column) in columns.iter().enumerate() {
        for (k, value) in column.iter().enumerate() {
            out[k * width + c] = R::lit(*value);
        }
    }
    out
}

/// Column `c` of a block `width` columns wide.
pub fn unpack<R: Scalar>(block: &[R], width: usize, c: usize) -> Column {
    block.chunks_exact(width).map(|row| row[c].to_f64()).collect()
}

/// Sum in double precision, exact enough for sums of single precision.
pub fn total(column: &[f64]) -> f64 {
    let (mut sum, mut rest) = (0.0, 0.0);
    for value in column {
        (sum, rest) = kernels::numerics::neumaier_add(sum, rest, *value);
    }
    sum + rest
}

/// Air and rates of columns of mass-flux convection.
#[derive(Clone, Debug, Default)]
pub struct Clouds {
    pub air: Vec<Column>,
    pub entu: Vec<Column>,
    pub detu: Vec<Column>,
    pub entd: Vec<Column>,
    pub detd: Vec<Column>,
}

impl Clouds {
    pub fn of(air: &[f64], rates: [&[f64]; 4]) -> Self {
        let one = |x: &[f64]| vec![x.to_vec()];
        let [entu, detu, entd, detd] = rates.map(one);
        Self { air: one(air), entu, detu, entd, detd }
    }

    pub fn push(&mut self, air: Column, rates: [Column; 4]) {
        self.air.push(air);
        let [entu, detu, entd, detd] = rates;
        self.entu.push(entu);
        self.detu.push(detu);
        self.entd.push(entd);
        self.detd.push(detd);
    }

    pub fn packed<R: Scalar>(&self) -> Packed<R> {
        let block = ColumnBlock::new(self.air.len(), self.air[0].len());
        let width = block.width();
        Packed {
            block,
            width,
            air: pack(&self.air),
            area: vec![R::lit(1.0); width],
            rates: [&self.entu, &self.detu, &self.entd, &self.detd].map(|rate| pack(rate)),
        }
    }
}

/// [`Clouds`] as the operator takes them.
pub struct Packed<R> {
    pub block: ColumnBlock,
    pub width: usize,
    pub air: Vec<R>,
    pub area: Vec<R>,
    pub rates: [Vec<R>; 4],
}

impl<R: Scalar> Packed<R> {
    pub fn air(&self) -> ColumnAir<'_, R> {
        ColumnAir { block: self.block, mass: &self.air, area: &self.area }
    }

    pub fn forcing(&self) -> Tm5Forcing<'_, R> {
        let [entu, detu, entd, detd] = &self.rates;
        Tm5Forcing { entu, detu, downdraft: Some(Downdraft { entd, detd }) }
    }
}

/// A physical column of `n` layers with cloud top at layer `top` (from 0): a balanced updraught, and a downdraught of the
/// relative strength `downdraft`.
pub fn cloudy_column(n: usize, top: usize, downdraft: f64, random: &mut Random) -> [Column; 4] {
    let mut rates = [vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]];
    let flux: Column = (0..=n).map(|k| if k > top && k < n { 0.02 + 0.02 * random.unit() } else { 0.0 }).collect();
    for k in top..n {
        let detrained = 0.1 * flux[k + 1];
        let entrained = flux[k] - flux[k + 1] + detrained;
        rates[0][k] = entrained.max(0.0);
        rates[1][k] = detrained - entrained.min(0.0);
    }
    if downdraft > 0.0 {
        let start = top + (n - top) / 3;
        let mut sinking = 0.0;
        for k in start..n - 1 {
            rates[2][k] = downdraft * random.unit();
            sinking += rates[2][k];
            rates[3][k] = 0.2 * sinking;
            sinking -= rates[3][k];
        }
        rates[3][n - 1] = sinking;
    }
    rates
}

/// No ledger found a leak.
pub fn assert_no_leak(stats: LedgerStats) {
    assert_eq!(stats.refused, 0);
}
