//! Deposit of emissions.

use kernels::Scalar;
use kernels::columns::{Profile, TwoWord};
use kernels::device::KernelName;

use super::{DeviceColumns, DeviceState};
use crate::device::{Argument, DeviceResult, Memory};
use crate::operators::device::launcher::real;
use crate::operators::device::tables::int;
use crate::sources::{Segment, Source};
use crate::state::AIR;

/// Rates of a source, one slice behind the other, and its compensation.
pub(super) struct SourceRoom {
    rates: Memory,
    pub(super) compensation: Memory,
}

impl SourceRoom {
    pub(super) fn new<R: Scalar>(source: &Source<R>, on: &mut DeviceState) -> DeviceResult<Self> {
        Ok(Self { rates: on.field(source.rates())?, compensation: on.memory::<R>(1)? })
    }
}

impl<R: Scalar> DeviceColumns<R> {
    /// Adds what a source emits in a segment of a step to a tracer, counted from 0: all in the surface layer, or by a
    /// `profile`, a field of fractions that sum to 1 over a column, and what they mean.
    ///
    /// # Errors
    /// The device refuses it.
    ///
    /// # Panics
    /// Without that source.
    pub fn deposit(
        &self,
        on: &mut DeviceState,
        source: usize,
        tracer: usize,
        segment: &Segment,
        profile: Option<(Memory, Profile)>,
    ) -> DeviceResult<()> {
        let SourceRoom { rates, compensation } = &self.sources[source];
        let [first, second] = [segment.first_seconds, segment.second_seconds].map(TwoWord::<R>::new);
        // Without a second slice its number is negative.
        let other = if segment.second == segment.first { -1 } else { int(segment.second) };
        let (state, rates, compensation) =
            (Argument::Memory(on.state), Argument::Memory(*rates), Argument::Memory(*compensation));
        let (tiles, rows, levels) = (on.tiles(), on.rows(), on.levels());
        let (stride, field_stride) = (on.stride(), on.field_stride());
        let (slice, other) = (Argument::Int(int(segment.first)), Argument::Int(other));
        let ([high, low], [other_high, other_low]) =
            ([first.high, first.low].map(real), [second.high, second.low].map(real));
        let plane = Argument::Int(int(AIR + 1 + tracer));
        match profile {
            None => {
                let arguments = [
                    state,
                    rates,
                    compensation,
                    tiles,
                    rows,
                    slice,
                    high,
                    low,
                    other,
                    other_high,
                    other_low,
                    plane,
                    levels,
                    stride,
                    field_stride,
                ];
                on.each_column(KernelName::DepositSurface, &arguments)
            }
            Some((profile, kind)) => {
                let lofts = real(match kind {
                    Profile::Lofting => R::lit(1.0),
                    Profile::Injection => R::lit(0.0),
                });
                let (profile, unlofted) = (Argument::Memory(profile), Argument::Memory(self.unlofted));
                let arguments = [
                    state,
                    rates,
                    compensation,
                    profile,
                    unlofted,
                    tiles,
                    rows,
                    slice,
                    high,
                    low,
                    other,
                    other_high,
                    other_low,
                    lofts,
                    plane,
                    levels,
                    stride,
                    field_stride,
                ];
                on.each_column(KernelName::DepositProfile, &arguments)
            }
        }
    }
}
