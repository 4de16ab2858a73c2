//! Deposit of emissions: all in the surface layer, or spread over a column by a profile.

use super::block::ColumnBlock;
use crate::lanes::Lanes;
use crate::numerics::{content_after_loss, deposit_part, deposit_rest, emitted_amount, kahan_add};
use crate::real::{Real, Scalar};

/// A factor as `high + low`, as good as f64 in either precision: in f32 a step of 3600/13 s alone is off by 4e-8, in every
/// cell alike.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TwoWord<R> {
    /// The value rounded once.
    pub high: R,
    /// What that left, rounded once.
    pub low: R,
}

impl<R: Scalar> TwoWord<R> {
    /// Splits a value.
    pub fn new(value: f64) -> Self {
        let high = R::from_f64(value);
        Self { high, low: R::from_f64(value - high.to_f64()) }
    }

    /// Amount of a `rate` during this time, rounded without bias.
    pub fn amount(self, rate: R) -> R {
        emitted_amount(rate, self.high, self.low)
    }
}

/// Rates (kg/s, one per cell) and the time (s) during which they act.
#[derive(Clone, Copy, Debug)]
pub struct Dose<'a, R> {
    /// The rates.
    pub rates: &'a [R],
    /// The time.
    pub seconds: TwoWord<R>,
}

/// Amounts of a part of a step, kg per cell: one dose, or the sum of two where a source changes between two slices. Panics
/// if there are fewer rates than amounts.
pub fn emission_amounts<R: Scalar>(first: Dose<R>, second: Option<Dose<R>>, amounts: &mut [R]) {
    R::emission_amounts(first, second, amounts);
}

/// Adds amounts (kg) to the contents of one layer. `compensation` is kept from call to call, 0 at first: it is what the
/// layer holds too much. All three have one value per cell. Panics if lengths differ.
pub fn deposit_in_layer<R: Scalar>(contents: &mut [R], compensation: &mut [R], amounts: &[R]) {
    assert!(contents.len() == amounts.len() && compensation.len() == amounts.len());
    R::deposit_in_layer(contents, compensation, amounts);
}

/// What the fractions of a profile mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// A surface emission is lofted: what it takes from the surface layer must be there before.
    Lofting,
    /// The emission enters these layers itself.
    Injection,
}

/// Adds amounts (kg, `width` values) to the columns of a block by `fractions` (`nk × width`, sum 1 over a column; they may be
/// negative). Each layer takes its part, the surface layer the rest, so a column gains its amount to the last bit.
/// Where lofting alone would make any layer negative, all of it enters the surface layer; returns how many columns that
/// were. What is injected stays where it is injected. `compensation` (`width` values) is that of the surface layer. Panics if a slice is too short or the block has
/// no layer.
pub fn deposit_by_profile<R: Scalar>(
    block: ColumnBlock,
    contents: &mut [R],
    compensation: &mut [R],
    amounts: &[R],
    fractions: &[R],
    profile: Profile,
) -> u64 {
    assert!(block.nk() > 0);
    // Only lofting is refused where it would leave a layer with less than nothing.
    let lofts = match profile {
        Profile::Lofting => R::lit(1.0),
        Profile::Injection => R::lit(0.0),
    };
    R::deposit_by_profile(block, contents, compensation, amounts, fractions, lofts)
}

#[inline(always)]
pub(super) fn amounts<R: Scalar, const W: usize>(first: Dose<R>, second: Option<Dose<R>>, amounts: &mut [R]) {
    match second {
        None => doses::<R, W, 1>([first], amounts),
        Some(second) => doses::<R, W, 2>([first, second], amounts),
    }
}

#[inline(always)]
fn doses<R: Scalar, const W: usize, const N: usize>(doses: [Dose<R>; N], amounts: &mut [R]) {
    let rates = doses.map(|dose| dose.rates[..amounts.len()].as_chunks::<W>());
    let (lines, rest) = amounts.as_chunks_mut::<W>();
    for (at, line) in lines.iter_mut().enumerate() {
        let part = |n: usize| {
            let seconds = doses[n].seconds;
            emitted_amount(Lanes(rates[n].0[at]), Lanes::splat(seconds.high), Lanes::splat(seconds.low))
        };
        *line = if N == 1 { part(0).0 } else { (part(0) + part(N - 1)).0 };
    }
    for (at, amount) in rest.iter_mut().enumerate() {
        let part = |n: usize| doses[n].seconds.amount(rates[n].1[at]);
        *amount = if N == 1 { part(0) } else { part(0) + part(N - 1) };
    }
}

#[inline(always)]
pub(super) fn in_layer<R: Scalar, const W: usize>(contents: &mut [R], compensation: &mut [R], amounts: &[R]) {
    let (content_lines, contents) = contents.as_chunks_mut::<W>();
    let (compensation_lines, compensation) = compensation.as_chunks_mut::<W>();
    let (amount_lines, amounts) = amounts.as_chunks::<W>();
    for at in 0..amount_lines.len() {
        let (content, rest) =
            kahan_add(Lanes(content_lines[at]), Lanes(compensation_lines[at]), Lanes(amount_lines[at]));
        (content_lines[at], compensation_lines[at]) = (content.0, rest.0);
    }
    for at in 0..amounts.len() {
        (contents[at], compensation[at]) = kahan_add(contents[at], compensation[at], amounts[at]);
    }
}

#[inline(always)]
pub(super) fn by_profile<R: Scalar, const W: usize>(
    block: ColumnBlock,
    contents: &mut [R],
    compensation: &mut [R],
    amounts: &[R],
    fractions: &[R],
    lofts: R,
) -> u64 {
    let (lines, last, zero) = (block.lines::<W>(), block.nk() - 1, Lanes::<R, W>::lit(0.0));
    let (contents, fractions) = (block.cut_mut::<R, W>(contents), block.cut::<R, W>(fractions));
    let mut columns = 0;
    for line in 0..lines {
        let amount = Lanes::load(amounts, line * W);
        let mut refused = zero.gt(zero);
        for k in 0..=last {
            let (content, fraction) = (Lanes(contents[k * lines + line]), Lanes(fractions[k * lines + line]));
            let lofted = if k == last { fraction - Lanes::lit(1.0) } else { fraction };
            let left = content_after_loss(content, amount, lofted) * Lanes::splat(lofts);
            refused = Lanes::<R, W>::or(refused, left.lt(zero));
        }
        let (mut landed, mut errors) = (zero, zero);
        for k in 0..last {
            let at = k * lines + line;
            let content = Lanes(contents[at]);
            let fraction = Real::select(refused, zero, Lanes(fractions[at]));
            let after;
            (after, landed, errors) = deposit_part(content, amount, fraction, landed, errors);
            // A layer that takes nothing keeps its bits.
            contents[at] = Real::select(refused, content, after).0;
        }
        let at = last * lines + line;
        let (content, rest) =
            deposit_rest(Lanes(contents[at]), Lanes::load(compensation, line * W), amount, landed, errors);
        contents[at] = content.0;
        rest.store(compensation, line * W);
        columns += refused[..block.columns_of_line::<W>(line)].iter().filter(|refused| **refused).count() as u64;
    }
    columns
}
