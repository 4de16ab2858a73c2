//! What the ledgers of vertical physics did, of one rank.

use kernels::Scalar;

use crate::diagnostics::ExactSum;
use crate::operators::columns::ColumnStore;
use crate::state::TileSet;

/// Ledger of one operator since the last look.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct OperatorBook {
    /// Columns whose residual was larger than rounding explains, counted per solve.
    pub(in crate::model) refused: u64,
    /// Residuals returned to the columns, per tracer, kg of carrier air.
    pub(in crate::model) returned: Vec<ExactSum>,
    /// What the columns still carry, per tracer, kg of carrier air.
    pub(in crate::model) carried: Vec<ExactSum>,
}

/// Ledgers of all operators of a run; empty where the operator is not part of it.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct Books {
    /// Of the diffusion.
    pub(in crate::model) diffusion: OperatorBook,
    /// Of the convection.
    pub(in crate::model) convection: OperatorBook,
    /// Columns whose emission could not be lofted, counted per deposit.
    pub(in crate::model) unlofted: u64,
}

impl OperatorBook {
    /// Takes over a store that keeps, per tracer, a carry and what was returned. The latter starts again from zero.
    pub(super) fn fill<R: Scalar>(&mut self, refused: u64, store: &mut ColumnStore<R>, tracers: usize, set: &TileSet) {
        self.refused = refused;
        self.carried.resize(tracers, ExactSum::new());
        self.returned.resize(tracers, ExactSum::new());
        for tracer in 0..tracers {
            for (sum, field) in [(&mut self.carried[tracer], 2 * tracer), (&mut self.returned[tracer], 2 * tracer + 1)]
            {
                *sum = ExactSum::new();
                store.values(field, set).for_each(|value| sum.add(value.to_f64()));
            }
            store.clear(2 * tracer + 1);
        }
    }
}
