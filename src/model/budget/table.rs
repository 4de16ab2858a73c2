//! The table of budgets on disk.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::{Account, LedgerAmounts};
use crate::model::error::RunError;
use crate::output::OutputError;

/// A line of the table.
pub(super) struct Row<'a> {
    pub(super) hours: [f64; 2],
    pub(super) account: &'a Account,
    pub(super) total: f64,
    pub(super) ledgers: LedgerAmounts,
    pub(super) refused: [u64; 2],
}

/// Columns of the table; amounts in kg of carrier air.
const COLUMNS: &str = "start_h,end_h,tracer,burden_start_kg,sources_kg,decay_kg,residual_kg,burden_end_kg,\
                       diffusion_ledger_returned_kg,convection_ledger_returned_kg,diffusion_carry_outstanding_kg,\
                       convection_carry_outstanding_kg,diffusion_ledger_refused_count,convection_ledger_refused_count";

/// Longest text of a row without its name: eleven numbers of at most 24 characters, two counts of at most 20, the
/// commas and the end of the line.
pub(super) const ROW_LENGTH: usize = 11 * 24 + 2 * 20 + 14;

impl Row<'_> {
    pub(super) fn write(&self, text: &mut String) -> std::fmt::Result {
        let (a, l) = (self.account, &self.ledgers);
        let amounts = [a.last, a.window.emitted, 0.0 - a.window.decayed, a.window.residual, self.total];
        let ledgers = [l.returned[0], l.returned[1], l.carried[0], l.carried[1]];
        write!(text, "{},{},{}", self.hours[0], self.hours[1], a.rules.name)?;
        amounts.iter().chain(&ledgers).try_for_each(|value| write!(text, ",{value:e}"))?;
        writeln!(text, ",{},{}", self.refused[0], self.refused[1])
    }
}

/// The table on disk. It takes its name, and the place of an earlier one, with the first window, and then grows; or when it
/// is complete.
pub(super) struct BudgetFile {
    path: PathBuf,
    part: PathBuf,
    file: std::fs::File,
    published: bool,
    keeps_earlier: bool,
}

impl BudgetFile {
    /// A new table, or for a run that goes on at an hour one with the rows up to then of the table that is there.
    pub(super) fn create(path: &Path, resumed: Option<f64>) -> Result<Self, RunError> {
        let rows = resumed.map(|hours| rows_until(path, hours)).transpose()?.unwrap_or_default();
        let part = path.with_extension("csv.part");
        let file = std::fs::File::create(&part).map_err(|source| OutputError::Io { path: part.clone(), source })?;
        let mut new = Self { path: path.into(), part, file, published: false, keeps_earlier: false };
        new.write(&format!("{COLUMNS}\n{rows}"))?;
        Ok(new)
    }

    fn write(&mut self, text: &str) -> Result<(), RunError> {
        let io = |source| OutputError::Io { path: self.path.clone(), source };
        Ok(self.file.write_all(text.as_bytes()).map_err(io)?)
    }

    /// An earlier table stays until this one is complete.
    pub(super) fn keep_earlier(&mut self) {
        self.keeps_earlier = true;
    }

    /// Adds the lines of a window.
    pub(super) fn append(&mut self, text: &str) -> Result<(), RunError> {
        self.write(text)?;
        if self.keeps_earlier { Ok(()) } else { self.publish() }
    }

    fn publish(&mut self) -> Result<(), RunError> {
        if !self.published {
            let io = |source| OutputError::Io { path: self.path.clone(), source };
            self.file.sync_all().map_err(io)?;
            std::fs::rename(&self.part, &self.path).map_err(io)?;
            self.published = true;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<PathBuf, RunError> {
        self.publish()?;
        let io = |source| OutputError::Io { path: self.path.clone(), source };
        self.file.sync_all().map_err(io)?;
        Ok(self.path)
    }
}

/// Rows of a table whose windows end at an hour or before.
fn rows_until(path: &Path, hours: f64) -> Result<String, RunError> {
    let text = std::fs::read_to_string(path).map_err(|source| OutputError::Io { path: path.into(), source })?;
    let damaged = || {
        let problem = "this is no table of the budgets of a run; put the table back that the run wrote, or set \
                       output.budget = false";
        OutputError::Content { path: path.into(), problem: problem.into() }
    };
    let rows = text.strip_prefix(COLUMNS).and_then(|rows| rows.strip_prefix('\n')).ok_or_else(damaged)?;
    let mut kept = String::new();
    // A last line without an end was not written whole; the window it belongs to is run again.
    for row in rows.split_inclusive('\n').filter(|row| row.ends_with('\n')) {
        let end: f64 = row.split(',').nth(1).and_then(|end| end.parse().ok()).ok_or_else(damaged)?;
        if end <= hours {
            kept += row;
        }
    }
    Ok(kept)
}
