//! What the total of every tracer should be, window by window, and what it is.

mod table;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::table::{BudgetFile, ROW_LENGTH, Row};
use super::engine::{Books, OperatorBook};
use super::error::RunError;
use super::report::TracerBudget;
use crate::comm::Communicator;
use crate::diagnostics::{ExactSum, exact_total};
use crate::operators::columns::CentreStep;
use crate::output::Series;
use crate::sources::{Decay, SourceTimes, emitted};

/// A source of a tracer: when its slices hold, and their totals over the globe, kg of carrier air per second.
pub(super) struct SourceTotals {
    pub(super) times: SourceTimes,
    pub(super) totals: Vec<f64>,
}

/// What a tracer's total follows from.
pub(super) struct Expectation {
    pub(super) name: String,
    pub(super) sources: Vec<SourceTotals>,
    pub(super) decay: Option<Decay>,
}

/// One tracer: its rules, and where it stands.
struct Account {
    rules: Expectation,
    /// Total expected now.
    expected: f64,
    /// Since the start of the window.
    window: Change,
    /// Since the start of the run, windows that are balanced.
    run: Change,
    /// Total at the end of the last window.
    last: f64,
    /// Ledgers since the start of the run: diffusion, convection.
    returned: [f64; 2],
    carried: [f64; 2],
}

/// What a total gained and lost, kg of carrier air.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Change {
    emitted: f64,
    decayed: f64,
    residual: f64,
}

/// Where the account of a tracer stands between two windows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct AccountState {
    expected: f64,
    run: Change,
    last: f64,
    returned: [f64; 2],
    carried: [f64; 2],
}

/// Where the budgets stand between two windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BudgetState {
    accounts: Vec<AccountState>,
    refused: [u64; 2],
    unlofted: u64,
    hours: f64,
}

/// Endings and meanings of what a snapshot tells of each tracer, all since the start of the run.
const SERIES: [(&str, &str); 5] = [
    ("emitted_mass", "kg of carrier air that sources of TRACER have added"),
    ("decayed_mass", "kg of carrier air that decay has taken from TRACER"),
    ("residual_mass", "kg of carrier air by which the total of TRACER changed without source or decay"),
    ("ledger_returned_kg", "rounding of vertical physics that ledgers have returned to TRACER"),
    ("carry_outstanding_kg", "rounding of vertical physics that columns of TRACER still carry"),
];

/// Budgets of the tracers of a run. Collective where it says so.
pub(super) struct Budgets {
    accounts: Vec<Account>,
    /// Refused columns since the start of the run: diffusion, convection.
    refused: [u64; 2],
    unlofted: u64,
    file: Option<BudgetFile>,
    /// Lines of a window.
    rows: String,
    hours: f64,
}

/// Ledger amounts of a tracer in a window: diffusion, convection, kg of carrier air.
#[derive(Clone, Copy, Default)]
struct LedgerAmounts {
    returned: [f64; 2],
    carried: [f64; 2],
}

/// What ledgers reported of a window that a user should know.
pub(super) struct Noticed {
    /// Refused columns: diffusion, convection.
    pub(super) refused: [u64; 2],
    /// Columns whose emission was not lofted, counted per deposit.
    pub(super) unlofted: u64,
    /// The first tracer whose total changed in a way that rounding does not explain.
    pub(super) unexplained: Option<Unexplained>,
}

/// A change of a total that neither sources nor decay nor rounding explain, kg of carrier air.
#[derive(Clone, Copy)]
pub(super) struct Unexplained {
    pub(super) tracer: usize,
    pub(super) residual: f64,
    pub(super) total: f64,
}

/// Part of a total that rounding in single precision cannot change in a window.
const BEYOND_ROUNDING: f64 = 1e-6;

impl BudgetState {
    /// Number of tracers.
    pub(super) fn tracers(&self) -> usize {
        self.accounts.len()
    }
}

impl Change {
    /// Whether the residual is more than rounding of what there was and came can be.
    fn unexplained(&self, total: f64) -> bool {
        let scale = total.abs().max((total - self.residual).abs()).max(self.emitted.abs());
        self.residual.is_nan() || self.residual.abs() > BEYOND_ROUNDING * scale
    }
}

impl Budgets {
    /// Accounts that start at `totals` (kg of carrier air, one per tracer); rows go to `path` on the first rank.
    pub(super) fn new(
        rules: Vec<Expectation>,
        totals: &[f64],
        path: Option<&Path>,
        comm: &dyn Communicator,
    ) -> Result<Self, RunError> {
        let account = |(rules, total): (Expectation, &f64)| Account {
            rules,
            expected: *total,
            window: Change::default(),
            run: Change::default(),
            last: *total,
            returned: [0.0; 2],
            carried: [0.0; 2],
        };
        let accounts: Vec<Account> = rules.into_iter().zip(totals).map(account).collect();
        let file = path.filter(|_| comm.rank() == 0).map(|path| BudgetFile::create(path, None)).transpose()?;
        // No window takes memory for its text.
        let rows = String::with_capacity(accounts.iter().map(|a| a.rules.name.len() + ROW_LENGTH).sum());
        Ok(Self { accounts, refused: [0; 2], unlofted: 0, file, rows, hours: 0.0 })
    }

    /// Accounts as they stood in a run that goes on; the table keeps its rows up to then.
    pub(super) fn resumed(
        rules: Vec<Expectation>,
        state: &BudgetState,
        path: Option<&Path>,
        comm: &dyn Communicator,
    ) -> Result<Self, RunError> {
        let totals = vec![0.0; rules.len()];
        let mut budgets = Self::new(rules, &totals, None, comm)?;
        for (account, stood) in budgets.accounts.iter_mut().zip(&state.accounts) {
            let AccountState { expected, run, last, returned, carried } = *stood;
            (account.expected, account.run, account.last) = (expected, run, last);
            (account.returned, account.carried) = (returned, carried);
        }
        (budgets.refused, budgets.unlofted, budgets.hours) = (state.refused, state.unlofted, state.hours);
        let path = path.filter(|_| comm.rank() == 0);
        budgets.file = path.map(|path| BudgetFile::create(path, Some(state.hours))).transpose()?;
        Ok(budgets)
    }

    /// A table already there stays until the new one is complete: nobody goes on from the new one.
    pub(super) fn keep_earlier_table(&mut self) {
        self.file.iter_mut().for_each(BudgetFile::keep_earlier);
    }

    /// Where the accounts stand, at the end of a window.
    pub(super) fn state(&self) -> BudgetState {
        let account = |a: &Account| {
            let Account { expected, run, last, returned, carried, .. } = *a;
            AccountState { expected, run, last, returned, carried }
        };
        BudgetState {
            accounts: self.accounts.iter().map(account).collect(),
            refused: self.refused,
            unlofted: self.unlofted,
            hours: self.hours,
        }
    }

    /// The emissions of a substep.
    pub(super) fn emit(&mut self, step: CentreStep) {
        for account in &mut self.accounts {
            let sum = |s: &SourceTotals| emitted(&s.times, &s.totals, step.start, step.seconds);
            let gain: f64 = account.rules.sources.iter().map(sum).sum();
            account.window.emitted += gain;
            account.expected += gain;
        }
    }

    /// Decay for `seconds`.
    pub(super) fn decay(&mut self, seconds: f64) {
        for account in &mut self.accounts {
            let Some(decay) = account.rules.decay else { continue };
            let lost = -account.expected * decay.decrement::<f64>(seconds);
            account.window.decayed += lost;
            account.expected -= lost;
        }
    }

    /// Closes a window with the totals found (kg of carrier air) and this rank's ledgers. Collective.
    pub(super) fn balance(
        &mut self,
        hours: f64,
        totals: &[f64],
        books: &Books,
        comm: &dyn Communicator,
    ) -> Result<Noticed, RunError> {
        let mut counts = [books.diffusion.refused as i64, books.convection.refused as i64, books.unlofted as i64];
        comm.sum_i64(&mut counts);
        let (refused, unlofted) = ([counts[0] as u64, counts[1] as u64], counts[2] as u64);
        let mut noticed = Noticed { refused, unlofted, unexplained: None };
        self.refused.iter_mut().zip(noticed.refused).for_each(|(all, new)| *all += new);
        self.unlofted += noticed.unlofted;
        self.rows.clear();
        for (tracer, (account, total)) in self.accounts.iter_mut().zip(totals).enumerate() {
            let ledgers = LedgerAmounts::new(books, tracer, comm);
            account.window.residual = total - account.expected;
            if account.window.unexplained(*total) && noticed.unexplained.is_none() {
                noticed.unexplained = Some(Unexplained { tracer, residual: account.window.residual, total: *total });
            }
            let row = Row { hours: [self.hours, hours], account, total: *total, ledgers, refused };
            row.write(&mut self.rows).expect("a string takes any text");
            account.close(*total, ledgers);
        }
        self.hours = hours;
        if let Some(file) = &mut self.file {
            file.append(&self.rows)?;
        }
        Ok(noticed)
    }

    /// Completes the file.
    pub(super) fn finish(&mut self) -> Result<Option<PathBuf>, RunError> {
        self.file.take().map(BudgetFile::finish).transpose()
    }

    /// Residual of every tracer since the start of the run, relative to its total or, if larger, to what was emitted, in
    /// place of what `into` held.
    pub(super) fn drifts(&self, into: &mut Vec<f64>) {
        let part = |a: &Account| {
            let scale = a.last.abs().max(a.run.emitted.abs());
            if a.run.residual == 0.0 { 0.0 } else { a.run.residual / scale }
        };
        into.clear();
        into.extend(self.accounts.iter().map(part));
    }

    /// What snapshots tell of the budgets.
    pub(super) fn series(&self) -> Vec<Series> {
        let mut list = Vec::new();
        for account in &self.accounts {
            let name = &account.rules.name;
            for (ending, what) in SERIES {
                let long_name = what.replace("TRACER", name);
                list.push(Series { name: format!("{name}_{ending}"), long_name, units: "kg" });
            }
        }
        let long_name = "columns whose residual the ledgers refused, since the start of the run".into();
        list.push(Series { name: "ledger_refused_count".into(), long_name, units: "1" });
        list
    }

    /// Values of [`Budgets::series`] now.
    pub(super) fn series_values(&self) -> Vec<f64> {
        let mut values = Vec::new();
        for a in &self.accounts {
            let (returned, carried) = (a.returned[0] + a.returned[1], a.carried[0] + a.carried[1]);
            values.extend([a.run.emitted, a.run.decayed, a.run.residual, returned, carried]);
        }
        values.push((self.refused[0] + self.refused[1]) as f64);
        values
    }

    /// Budgets of the run so far, in storage order.
    pub(super) fn tracers(&self) -> Vec<TracerBudget> {
        let budget = |a: &Account| TracerBudget {
            emitted: a.run.emitted,
            decayed: a.run.decayed,
            residual: a.run.residual,
            ledger_returned: a.returned,
            carry_outstanding: a.carried,
        };
        self.accounts.iter().map(budget).collect()
    }

    /// Refused columns since the start of the run: diffusion, convection.
    pub(super) fn refused(&self) -> [u64; 2] {
        self.refused
    }
}

impl Account {
    fn close(&mut self, total: f64, ledgers: LedgerAmounts) {
        let window = std::mem::take(&mut self.window);
        self.run.emitted += window.emitted;
        self.run.decayed += window.decayed;
        self.run.residual += window.residual;
        for n in 0..2 {
            self.returned[n] += ledgers.returned[n];
        }
        self.carried = ledgers.carried;
        (self.expected, self.last) = (total, total);
    }
}

impl LedgerAmounts {
    fn new(books: &Books, tracer: usize, comm: &dyn Communicator) -> Self {
        // A sum that is no number belongs to a state that is none, which is reported by itself.
        let total =
            |sums: &[ExactSum]| sums.get(tracer).map_or(0.0, |sum| exact_total(comm, sum.clone()).unwrap_or(f64::NAN));
        let amounts = |book: &OperatorBook| (total(&book.returned), total(&book.carried));
        let (diffusion, convection) = (amounts(&books.diffusion), amounts(&books.convection));
        Self { returned: [diffusion.0, convection.0], carried: [diffusion.1, convection.1] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::Solo;
    use crate::sources::TimeScheme;

    fn rules(name: &str, rate: f64, decay: Option<Decay>) -> Expectation {
        let times = SourceTimes::new(vec![0.0], TimeScheme::Stepwise).unwrap();
        Expectation { name: name.into(), sources: vec![SourceTotals { times, totals: vec![rate] }], decay }
    }

    #[test]
    fn sources_less_decay_and_the_rest() {
        let decay = Decay::from_half_life(100.0).unwrap();
        let rules = vec![rules("a", 2.0, None), rules("b", 0.0, Some(decay))];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.budget.csv");
        let mut budgets = Budgets::new(rules, &[10.0, 8.0], Some(&path), &Solo).unwrap();
        budgets.emit(CentreStep { start: 0.0, seconds: 50.0 });
        budgets.decay(100.0);
        let books = Books { diffusion: OperatorBook { refused: 3, ..Default::default() }, ..Default::default() };
        let noticed = budgets.balance(1.0, &[110.5, 4.0], &books, &Solo).unwrap();
        assert_eq!((noticed.refused, noticed.unlofted), ([3, 0], 0));
        let found = budgets.tracers();
        assert_eq!((found[0].emitted, found[0].decayed, found[0].residual), (100.0, 0.0, 0.5));
        assert!((found[1].decayed - 4.0).abs() < 1e-15 && found[1].residual.abs() < 1e-15);
        let mut drifts = vec![f64::NAN; 9];
        budgets.drifts(&mut drifts);
        assert_eq!((drifts.len(), drifts[0]), (2, 0.5 / 110.5));
        assert_eq!(budgets.finish().unwrap(), Some(path.clone()));
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.starts_with("start_h,end_h,tracer,"));
        assert!(text.contains("\n0,1,a,1e1,1e2,0e0,5e-1,1.105e2,0e0,0e0,0e0,0e0,3,0\n"), "{text}");
    }

    #[test]
    fn the_longest_row_fits_what_is_reserved() {
        let longest = -f64::MIN_POSITIVE;
        let mut budgets = Budgets::new(vec![rules("a", 0.0, None)], &[longest], None, &Solo).unwrap();
        let reserved = budgets.rows.capacity();
        let account = &budgets.accounts[0];
        let refused = [u64::MAX; 2];
        let ledgers = LedgerAmounts { returned: [longest; 2], carried: [longest; 2] };
        let change = Change { emitted: longest, decayed: -longest, residual: longest };
        let account = Account { window: change, rules: rules("a", 0.0, None), ..*account };
        let hours = [123_456.789_012_345_67; 2];
        let mut text = String::new();
        Row { hours, account: &account, total: longest, ledgers, refused }.write(&mut text).unwrap();
        assert_eq!(format!("{longest:e}").len(), 24);
        assert!(text.len() <= reserved && text.len() + 30 > reserved, "{} of {reserved}: {text}", text.len());
        budgets.balance(1.0, &[longest], &Books::default(), &Solo).unwrap();
        assert_eq!(budgets.rows.capacity(), reserved);
    }
}
