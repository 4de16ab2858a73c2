//! Time axes of sources.

use atmostr::sources::{Segment, SourceError, SourceTimes, TimeScheme, emitted};
use proptest::prelude::*;

fn axis(times: &[f64], scheme: TimeScheme) -> SourceTimes {
    SourceTimes::new(times.to_vec(), scheme).unwrap()
}

const SCHEMES: [TimeScheme; 3] = [TimeScheme::Stepwise, TimeScheme::Linear, TimeScheme::Conservative];

/// A step across a knot: the trapezia 10.8333…11 over 600 s and 11…12.5 over 600 s.
#[test]
fn conservative_segments_integrate_exactly() {
    let times = axis(&[0.0, 3600.0, 7200.0], TimeScheme::Conservative);
    assert_eq!(times.segments(3000.0, 1200.0).count(), 2);
    assert_eq!(emitted(&times, &[10.0, 11.0, 20.0], 3000.0, 1200.0), 13_600.0);
    let linear = axis(&[0.0, 3600.0, 7200.0], TimeScheme::Linear);
    let segments: Vec<Segment> = linear.segments(3000.0, 1200.0).collect();
    assert_eq!(segments, [Segment { first: 0, second: 1, first_seconds: 200.0, second_seconds: 1000.0 }]);
}

/// The clock is absolute: on the second day another slice holds than on the first.
#[test]
fn three_hourly_slices_do_not_repeat() {
    let times: Vec<f64> = (0..20).map(|n| 10_800.0 * f64::from(n)).collect();
    let times = axis(&times, TimeScheme::Stepwise);
    // Counted from 1: slice 2 holds from hour 3, slice 10 from hour 27.
    for (hour, slice) in [(4.5, 2), (28.5, 10)] {
        let segments: Vec<Segment> = times.segments(hour * 3600.0, 600.0).collect();
        let expected = Segment { first: slice - 1, second: slice - 1, first_seconds: 600.0, second_seconds: 0.0 };
        assert_eq!(segments, [expected]);
    }
    let across: Vec<Segment> = times.segments(10_000.0, 1600.0).collect();
    assert_eq!(across.iter().map(|s| (s.first, s.first_seconds)).collect::<Vec<_>>(), [(0, 800.0), (1, 800.0)]);
}

#[test]
fn values_are_constant_outside_the_slices() {
    for scheme in SCHEMES {
        let times = axis(&[100.0, 200.0], scheme);
        assert_eq!(emitted(&times, &[3.0, 7.0], 0.0, 50.0), 150.0, "{scheme:?}");
        assert_eq!(emitted(&times, &[3.0, 7.0], 300.0, 50.0), 350.0, "{scheme:?}");
    }
    assert_eq!(emitted(&SourceTimes::constant(), &[3.0], -1e9, 2.0), 6.0);
}

/// A knot at the very end or start of a step, up to rounding of the clock, makes no segment of its own.
#[test]
fn knots_at_step_ends_make_no_segment() {
    let knot = 1e7 + 3600.0;
    let times = axis(&[0.0, knot, 2e7], TimeScheme::Stepwise);
    for length in [knot - 1e7, (knot - 1e7).next_up(), (knot - 1e7).next_down()] {
        let segments: Vec<Segment> = times.segments(1e7, length).collect();
        assert_eq!(segments.iter().map(|s| s.first).collect::<Vec<_>>(), [0]);
        assert_eq!(segments[0].first_seconds, length);
    }
    let after = times.segments(knot.next_down(), 600.0).map(|s| s.first).collect::<Vec<_>>();
    assert_eq!(after, [1]);
}

#[test]
fn a_run_needs_the_slices_around_it() {
    let times = axis(&[0.0, 10.0, 20.0, 30.0, 40.0], TimeScheme::Conservative);
    for ((start, end), needed) in [
        ((10.0, 20.0), 1..3),
        ((11.0, 19.0), 1..3),
        ((-5.0, 1.0), 0..2),
        ((35.0, 99.0), 3..5),
        ((50.0, 60.0), 4..5),
        ((-9.0, -1.0), 0..1),
    ] {
        assert_eq!(times.needed(start, end), needed, "{start} to {end}");
    }
}

#[test]
fn times_must_increase() {
    let refused = |times: &[f64]| SourceTimes::new(times.to_vec(), TimeScheme::Linear).unwrap_err();
    assert_eq!(refused(&[]), SourceError::NoSlice);
    assert_eq!(refused(&[0.0, 5.0, 5.0]), SourceError::Times { slice: 3, time: 5.0, before: 5.0 });
    assert!(matches!(refused(&[0.0, f64::NAN]), SourceError::Times { slice: 2, .. }));
    assert!(matches!(refused(&[f64::INFINITY]), SourceError::Times { slice: 1, .. }));
}

proptest! {
    /// Seconds sum to the step, weights are those of an interpolation, and the slices a run needs suffice for it. The
    /// conservative mean does not depend on how a window is cut into steps.
    #[test]
    fn segments_fill_their_step(
        gaps in prop::collection::vec(1.0f64..5000.0, 1..12),
        origin in -1e4f64..1e4,
        start in 0.0f64..2e4,
        length in 1.0f64..9000.0,
        steps in 1usize..14,
    ) {
        let mut times = vec![origin];
        gaps.iter().for_each(|gap| times.push(times[times.len() - 1] + gap));
        let totals: Vec<f64> = (0..times.len()).map(|n| 1.0 + (7.3 * n as f64).sin()).collect();
        for scheme in SCHEMES {
            let full = axis(&times, scheme);
            let segments: Vec<Segment> = full.segments(start, length).collect();
            let sum: f64 = segments.iter().map(|s| s.first_seconds + s.second_seconds).sum();
            prop_assert!((sum / length - 1.0).abs() < 1e-14);
            prop_assert!(segments.iter().all(|s| s.first_seconds >= 0.0 && s.second_seconds >= 0.0));
            let needed = full.needed(start, start + length);
            let (few, whole) = (full.limited(needed.clone()), emitted(&full, &totals, start, length));
            prop_assert!((emitted(&few, &totals[needed], start, length) / whole - 1.0).abs() < 1e-12);
            if scheme != TimeScheme::Linear {
                let dt = length / steps as f64;
                let cut: f64 = (0..steps).map(|n| emitted(&full, &totals, start + dt * n as f64, dt)).sum();
                prop_assert!((cut / whole - 1.0).abs() < 1e-10, "{scheme:?} {cut} {whole}");
            }
        }
    }
}
