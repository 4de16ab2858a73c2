//! Entrainment and detrainment from the convective mass fluxes of a forecast model, as TM5 takes them from ECMWF's (spec
//! 40 §1.10).

/// Updraughts below this count as none, kg m⁻² s⁻¹; downdraughts above its negative.
const SMALLEST_FLUX: f64 = 1e-6;
/// Detrainment rates below this count as none, kg m⁻³ s⁻¹.
const SMALLEST_RATE: f64 = 1e-10;
/// Entrainment this far below zero counts as redistributed, kg m⁻² s⁻¹; less is rounding.
const COUNTED: f64 = 1e-10;

/// Convective mass fluxes of one column, top first.
#[derive(Clone, Copy, Debug)]
pub struct ConvectiveFluxes<'a> {
    /// Updraught through the top of each layer, kg m⁻² s⁻¹, upward positive; none passes the surface.
    pub updraught: &'a [f64],
    /// Downdraught through the top of each layer, kg m⁻² s⁻¹, upward positive: zero or negative.
    pub downdraught: &'a [f64],
    /// Rate at which air leaves the updraught, kg m⁻³ s⁻¹.
    pub updraught_detrainment: &'a [f64],
    /// Rate at which air leaves the downdraught, kg m⁻³ s⁻¹.
    pub downdraught_detrainment: &'a [f64],
    /// Thickness of the layers, m.
    pub thickness: &'a [f64],
    /// Specific humidity, kg kg⁻¹: fluxes are of moist air and are brought to dry air with it, through an edge with the mean
    /// of the layers beside it. Without it they stay as they are.
    pub humidity: Option<&'a [f64]>,
}

/// Air that enters and leaves the drafts in each layer, kg m⁻² s⁻¹, none negative; for each draft both sum to the same.
#[derive(Debug)]
pub struct Drafts<'a> {
    /// Into the updraught.
    pub entu: &'a mut [f64],
    /// Out of the updraught.
    pub detu: &'a mut [f64],
    /// Into the downdraught.
    pub entd: &'a mut [f64],
    /// Out of the downdraught.
    pub detd: &'a mut [f64],
}

/// What the conversion changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DraftCounts {
    /// Layers, of both drafts, through which or into which air moves.
    pub active: usize,
    /// Values of the input that point the wrong way (by more than the thresholds below which there is no flux).
    pub clipped: usize,
    /// Layers where the fluxes asked for negative entrainment or detrainment.
    pub redistributed: usize,
}

impl DraftCounts {
    /// Adds the counts of another column.
    pub fn add(&mut self, other: Self) {
        self.active += other.active;
        self.clipped += other.clipped;
        self.redistributed += other.redistributed;
    }

    /// Part of the active layers that were redistributed. A few per cent are normal; half of them tells of fields on the
    /// wrong levels.
    pub fn redistributed_part(&self) -> f64 {
        self.redistributed as f64 / self.active.max(1) as f64
    }
}

/// A value that is not a number.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{what} in layer {layer} is {value}")]
pub struct DraftError {
    /// Field.
    pub what: &'static str,
    /// Layer, counted from 1 at the model top.
    pub layer: usize,
    /// Its value.
    pub value: f64,
}

/// Which way a draft goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

/// Entrainment and detrainment of the updraught and the downdraught of a column.
///
/// Fluxes and rates below the thresholds are zero; above the layer into which the highest flux points nothing happens.
/// Entrainment is what detrainment and the change of the flux ask for; where that is negative the other of the two takes it,
/// so that their difference is kept. What is then left of the sum over the column goes to the layer that entrains most.
///
/// # Errors
/// For values that are not finite numbers.
///
/// # Panics
/// If lengths differ or there is no layer.
pub fn drafts_from_fluxes(fluxes: &ConvectiveFluxes<'_>, drafts: &mut Drafts<'_>) -> Result<DraftCounts, DraftError> {
    let levels = fluxes.thickness.len();
    let inputs = [
        ("the updraught", fluxes.updraught),
        ("the downdraught", fluxes.downdraught),
        ("detrainment from the updraught", fluxes.updraught_detrainment),
        ("detrainment from the downdraught", fluxes.downdraught_detrainment),
        ("thickness", fluxes.thickness),
        ("humidity", fluxes.humidity.unwrap_or(fluxes.thickness)),
    ];
    let outputs = [&*drafts.entu, &*drafts.detu, &*drafts.entd, &*drafts.detd];
    assert!(levels > 0 && inputs.iter().all(|(_, f)| f.len() == levels) && outputs.iter().all(|f| f.len() == levels));
    for (what, field) in inputs {
        if let Some(k) = field.iter().position(|value| !value.is_finite()) {
            return Err(DraftError { what, layer: k + 1, value: field[k] });
        }
    }
    let mut counts = DraftCounts::default();
    draft(fluxes, Way::Up, drafts.entu, drafts.detu, &mut counts);
    draft(fluxes, Way::Down, drafts.entd, drafts.detd, &mut counts);
    Ok(counts)
}

fn draft(fluxes: &ConvectiveFluxes<'_>, way: Way, ent: &mut [f64], det: &mut [f64], counts: &mut DraftCounts) {
    let levels = ent.len();
    let (flux, rate) = match way {
        Way::Up => (fluxes.updraught, fluxes.updraught_detrainment),
        Way::Down => (fluxes.downdraught, fluxes.downdraught_detrainment),
    };
    let dry = |k: usize| fluxes.humidity.map_or(1.0, |q| 1.0 - q[k]);
    // Size of the flux through the top of a layer in the sense of the draft; the top of the model and the surface are closed.
    let size = |k: usize| if way == Way::Up { flux[k] } else { -flux[k] };
    let through = |k: usize| {
        let open = k > 0 && k < levels && size(k) >= SMALLEST_FLUX;
        if open { size(k) * 0.5 * (dry(k - 1) + dry(k)) } else { 0.0 }
    };
    counts.clipped += (0..levels).filter(|&k| size(k) <= -SMALLEST_FLUX || rate[k] <= -SMALLEST_RATE).count();
    ent.fill(0.0);
    det.fill(0.0);
    let Some(highest) = (1..levels).find(|&k| through(k) > 0.0) else {
        return;
    };
    let first = highest - 1;
    for k in first..levels {
        let rate = if rate[k] >= SMALLEST_RATE { rate[k] } else { 0.0 };
        det[k] = rate * fluxes.thickness[k] * dry(k);
        // Out at one edge less in at the other.
        let growth = match way {
            Way::Up => through(k) - through(k + 1),
            Way::Down => through(k + 1) - through(k),
        };
        ent[k] = growth + det[k];
        if ent[k] < 0.0 {
            counts.redistributed += usize::from(ent[k] < -COUNTED);
            (ent[k], det[k]) = (0.0, det[k] - ent[k]);
        }
        let moves = ent[k] > 0.0 || det[k] > 0.0 || through(k) > 0.0 || through(k + 1) > 0.0;
        counts.active += usize::from(moves);
    }
    close(first, way, ent, det);
}

/// Makes the sums of both equal.
fn close(first: usize, way: Way, ent: &mut [f64], det: &mut [f64]) {
    let seed = if way == Way::Up { ent.len() - 1 } else { first };
    let most = (first..ent.len()).fold(seed, |most, k| if ent[k] > ent[most] { k } else { most });
    let missing = det.iter().sum::<f64>() - ent.iter().sum::<f64>();
    if missing >= 0.0 {
        ent[most] += missing;
    } else {
        det[most] -= missing;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Results: entu, detu, entd, detd.
    fn convert(fluxes: &ConvectiveFluxes<'_>) -> (Result<DraftCounts, DraftError>, [Vec<f64>; 4]) {
        let [mut entu, mut detu, mut entd, mut detd] = [0; 4].map(|_| vec![f64::NAN; fluxes.thickness.len()]);
        let mut drafts = Drafts { entu: &mut entu, detu: &mut detu, entd: &mut entd, detd: &mut detd };
        let counts = drafts_from_fluxes(fluxes, &mut drafts);
        (counts, [entu, detu, entd, detd])
    }

    const STILL: [f64; 5] = [0.0; 5];
    const THICK: [f64; 5] = [1000.0, 800.0, 600.0, 400.0, 200.0];

    fn column<'a>() -> ConvectiveFluxes<'a> {
        ConvectiveFluxes {
            updraught: &STILL,
            downdraught: &STILL,
            updraught_detrainment: &STILL,
            downdraught_detrainment: &STILL,
            thickness: &THICK,
            humidity: None,
        }
    }

    #[test]
    fn a_still_column_gives_nothing() {
        let noise = [9e-7; 5];
        let still = ConvectiveFluxes { updraught: &noise, updraught_detrainment: &[9e-11; 5], ..column() };
        let (counts, drafts) = convert(&still);
        assert_eq!(counts, Ok(DraftCounts::default()));
        assert!(drafts.iter().flatten().all(|v| *v == 0.0));
        // Detrainment without a flux is none.
        let lone = ConvectiveFluxes { updraught_detrainment: &[1e-5; 5], ..column() };
        assert!(convert(&lone).1.iter().flatten().all(|v| *v == 0.0));
    }

    #[test]
    fn an_updraught_enters_below_and_leaves_above() {
        // 0.02 through the tops of layers 3 to 5, counted from 1; a fifth leaves in layer 4, its rate being 0.004/400.
        let up = ConvectiveFluxes {
            updraught: &[0.0, 0.0, 0.016, 0.016, 0.02],
            updraught_detrainment: &[0.0, 0.0, 0.0, 1e-5, 0.0],
            ..column()
        };
        let (counts, [entu, detu, entd, detd]) = convert(&up);
        let counts = counts.unwrap();
        let close = |found: &[f64], expected: [f64; 5]| {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-17), "{found:?} {expected:?}");
        };
        // All that arrives in layer 2 leaves the draft there.
        close(&entu, [0.0, 0.0, 0.0, 0.0, 0.02]);
        close(&detu, [0.0, 0.016, 0.0, 0.004, 0.0]);
        assert!(entd.iter().chain(&detd).all(|v| *v == 0.0));
        assert_eq!((counts.active, counts.clipped, counts.redistributed), (4, 0, 1));
    }

    #[test]
    fn a_downdraught_enters_above_and_leaves_below() {
        let down = ConvectiveFluxes {
            downdraught: &[0.0, 0.0, -0.003, -0.005, -0.005],
            downdraught_detrainment: &[0.0, 0.0, 0.0, 0.0, 0.005 / 200.0],
            ..column()
        };
        let (counts, [entu, _, entd, detd]) = convert(&down);
        assert!(entu.iter().all(|v| *v == 0.0));
        let expected = [[0.0, 0.003, 0.002, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.005]];
        for (found, expected) in [&entd, &detd].into_iter().zip(expected) {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-17), "{found:?}");
        }
        assert_eq!(counts.unwrap().redistributed, 0);
    }

    #[test]
    fn humidity_takes_its_part_of_all_fluxes() {
        let (flux, rate, q) = ([0.0, 0.01, 0.03, 0.02, 0.01], [1e-6, 2e-6, 1e-5, 1e-5, 0.0], [0.1; 5]);
        let moist = ConvectiveFluxes { updraught: &flux, updraught_detrainment: &rate, ..column() };
        let (_, whole) = convert(&moist);
        let (_, dry) = convert(&ConvectiveFluxes { humidity: Some(&q), ..moist });
        for (dry, whole) in dry.iter().flatten().zip(whole.iter().flatten()) {
            assert!((dry - 0.9 * whole).abs() < 1e-17);
        }
    }

    #[test]
    fn fields_upside_down_are_conspicuous() {
        let up = [0.0, 0.0, 0.01, 0.02, 0.02];
        let wrong: Vec<f64> = up.iter().map(|f| -f).collect();
        let (counts, _) = convert(&ConvectiveFluxes { updraught: &wrong, ..column() });
        assert_eq!(counts.unwrap().clipped, 3);
        let counts = DraftCounts { active: 10, clipped: 0, redistributed: 5 };
        assert_eq!(counts.redistributed_part(), 0.5);
    }

    #[test]
    fn what_is_no_number_is_named() {
        let bad = ConvectiveFluxes { downdraught: &[0.0, 0.0, f64::NAN, 0.0, 0.0], ..column() };
        let error = convert(&bad).0.unwrap_err();
        assert_eq!(error.to_string(), "the downdraught in layer 3 is NaN");
    }

    proptest! {
        #[test]
        fn both_sums_agree_and_keep_the_flux(
            values in proptest::collection::vec((-0.01f64..0.1, -0.1f64..0.01, -1e-6f64..2e-5, -1e-6f64..2e-5, 0.0f64..0.03), 2..40),
            still_above in 0usize..10,
        ) {
            let levels = values.len();
            let field = |get: fn(&(f64, f64, f64, f64, f64)) -> f64| -> Vec<f64> {
                values.iter().enumerate().map(|(k, v)| if k < still_above { 0.0 } else { get(v) }).collect()
            };
            let (up, down, rate_up, rate_down) = (field(|v| v.0), field(|v| v.1), field(|v| v.2), field(|v| v.3));
            let q: Vec<f64> = values.iter().map(|v| v.4).collect();
            let thickness: Vec<f64> = (0..levels).map(|k| 50.0 + 30.0 * k as f64).collect();
            let fluxes = ConvectiveFluxes {
                updraught: &up,
                downdraught: &down,
                updraught_detrainment: &rate_up,
                downdraught_detrainment: &rate_down,
                thickness: &thickness,
                humidity: Some(&q),
            };
            let (counts, [entu, detu, entd, detd]) = convert(&fluxes);
            let counts = counts.unwrap();
            prop_assert!(counts.redistributed <= counts.active && counts.active <= 2 * levels);
            for (ent, det, sense, flux) in [(&entu, &detu, 1.0, &up), (&entd, &detd, -1.0, &down)] {
                prop_assert!(ent.iter().chain(det).all(|v| *v >= 0.0));
                let (ins, outs) = (ent.iter().sum::<f64>(), det.iter().sum::<f64>());
                prop_assert!((ins - outs).abs() <= 1e-14 * ins.max(outs));
                let dry = |k: usize| {
                    let open = k > 0 && k < levels && sense * flux[k] >= 1e-6;
                    if open { sense * flux[k] * (1.0 - 0.5 * (q[k - 1] + q[k])) } else { 0.0 }
                };
                for k in 0..levels {
                    let growth = sense * (dry(k) - dry(k + 1));
                    prop_assert!((ent[k] - det[k] - growth).abs() <= 1e-14 * ins.max(outs), "layer {k}");
                }
            }
        }
    }
}
