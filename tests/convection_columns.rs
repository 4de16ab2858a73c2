//! Convection of real columns: the updraughts of an ECMWF forecast through every scheme (spec 30 §6.5, §6.6).

use std::path::Path;

use atmostr::closures::constants::GRAVITY;
use atmostr::closures::{LayerTemperature, layer_thickness};
use kernels::Scalar;
use kernels::columns::convection::ColumnAir;
use kernels::columns::convection::cmfmc::{Cmfmc, CmfmcForcing, CmfmcOptions, Negative, Update};
use kernels::columns::convection::cmfmc::{largest_courant, substeps};
use kernels::columns::convection::rates::{
    PlumeRates, RateCounters, RawConvection, rates_from_cloud_flux, rates_from_raw,
};
use kernels::columns::convection::tm5::{Solve, Tm5, Tm5Forcing, Tm5Options};
use kernels::columns::{ColumnBlock, Ledger};
use kernels::numerics::{neumaier_add, sum_gap};

const STEP: f64 = 3600.0;
const STEPS: usize = 24;

/// Columns as they are in the file, top first: layers or edges of all columns one after the other.
struct Clouds {
    columns: usize,
    layers: usize,
    /// Dry air, kg/m².
    air: Vec<Vec<f64>>,
    thickness: Vec<Vec<f64>>,
    /// Updraught mass flux through edges, kg m⁻² s⁻¹.
    flux: Vec<Vec<f64>>,
}

impl Clouds {
    fn open() -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/ifs_columns");
        let path = folder.join("ifs_cloudsc_columns.nc");
        if !path.exists() {
            println!("skipped: {} is not there", path.display());
            return None;
        }
        let file = netcdf::open(&path).unwrap();
        let columns = file.dimension_len("col").unwrap();
        let all = |name: &str| -> Vec<Vec<f64>> {
            let values: Vec<f64> = file.variable(name).unwrap().get_values(..).unwrap();
            (0..columns).map(|c| values.iter().skip(c).step_by(columns).copied().collect()).collect()
        };
        let [edges, temperature, humidity, mut flux] = ["PAPH", "PT", "PQ", "PMFU"].map(all);
        let layers = temperature[0].len();
        let (mut air, mut thickness) = (Vec::new(), Vec::new());
        for c in 0..columns {
            let dry = |k: usize| (edges[c][k + 1] - edges[c][k]) / GRAVITY * (1.0 - humidity[c][k]);
            air.push((0..layers).map(dry).collect());
            let mut depth = vec![f64::NAN; layers];
            let state = LayerTemperature::Virtual { temperature: &temperature[c], humidity: &humidity[c] };
            layer_thickness(&edges[c], state, &mut depth);
            thickness.push(depth);
            // The flux of a level passes the top of its layer; none passes the ground.
            flux[c].push(0.0);
        }
        Some(Self { columns, layers, air, thickness, flux })
    }

    fn detrainment(&self, c: usize) -> Vec<f64> {
        (0..self.layers).map(|k| (self.flux[c][k + 1] - self.flux[c][k]).max(0.0)).collect()
    }

    /// Whether the flux is well above what every scheme counts as none.
    fn convects(&self, c: usize) -> bool {
        self.flux[c].iter().any(|flux| *flux > 1e-5)
    }

    fn packed<R: Scalar>(&self, of: &[Vec<f64>]) -> Vec<R> {
        let width = ColumnBlock::new(self.columns, self.layers).width();
        let mut out = vec![R::lit(0.0); of[0].len() * width];
        for (c, column) in of.iter().enumerate() {
            column.iter().enumerate().for_each(|(k, value)| out[k * width + c] = R::from_f64(*value));
        }
        out
    }

    /// Entrainment and detrainment as TM5's preprocessing makes them.
    fn raw_rates(&self) -> [Vec<Vec<f64>>; 2] {
        let (mut counters, mut out) = (RateCounters::default(), [Vec::new(), Vec::new()]);
        for c in 0..self.columns {
            let zero = vec![0.0; self.layers + 1];
            let rates: Vec<f64> = self.detrainment(c).iter().zip(&self.thickness[c]).map(|(d, dz)| d / dz).collect();
            let raw = RawConvection {
                updraft_flux: &self.flux[c],
                downdraft_flux: &zero,
                updraft_detrainment: &rates,
                downdraft_detrainment: &zero[1..],
                thickness: &self.thickness[c],
            };
            let [mut entu, mut detu, mut entd, mut detd] = core::array::from_fn(|_| vec![f64::NAN; self.layers]);
            let mut plumes = PlumeRates { entu: &mut entu, detu: &mut detu, entd: &mut entd, detd: &mut detd };
            rates_from_raw(&raw, &mut plumes, &mut counters).unwrap();
            assert!((entu.iter().sum::<f64>() - detu.iter().sum::<f64>()).abs() < 1e-12);
            assert!(entd.iter().chain(&detd).all(|rate| *rate == 0.0));
            out[0].push(entu);
            out[1].push(detu);
        }
        println!("{counters:?}");
        assert_eq!(counters.without_downdraft, self.columns as u64);
        out
    }

    fn cloud_flux_rates<R: Scalar>(&self) -> [Vec<Vec<f64>>; 2] {
        let mut out = [Vec::new(), Vec::new()];
        for c in 0..self.columns {
            let single = |values: &[f64]| values.iter().map(|x| R::from_f64(*x)).collect::<Vec<R>>();
            let (mut entu, mut detu) = (vec![R::lit(0.0); self.layers], vec![R::lit(0.0); self.layers]);
            rates_from_cloud_flux(&single(&self.flux[c]), &single(&self.detrainment(c)), &mut entu, &mut detu);
            for (out, rates) in out.iter_mut().zip([entu, detu]) {
                assert!(rates.iter().all(|rate| *rate >= R::lit(0.0)));
                out.push(rates.iter().map(|rate| rate.to_f64()).collect());
            }
        }
        out
    }
}

/// Mixing ratios of the tracers: uniform, peaked at the surface on nothing, one layer full.
fn ratio(tracer: usize, k: usize, layers: usize) -> f64 {
    match tracer {
        0 => 4e-4,
        1 => 1e-6 * (-((layers - 1 - k) as f64) / 6.0).exp(),
        _ => f64::from(u8::from(k == layers - 20)),
    }
}

/// Largest change of a column's tracer with its carry and without, relative to it; in units of epsilon, largest deviation of
/// the uniform tracer, and how far a content is below 0, relative to the largest of its column.
#[derive(Debug, Default)]
struct Outcome {
    with_carry: f64,
    field: f64,
    uniform: f64,
    negative: f64,
}

/// Steps of an operator on all tracers; every step keeps mass.
fn run<R: Scalar>(clouds: &Clouds, air: &[R], name: &str, mut step: impl FnMut(&mut [R], Ledger<R>) -> u64) -> Outcome {
    let block = ColumnBlock::new(clouds.columns, clouds.layers);
    let (width, eps) = (block.width(), R::EPSILON.to_f64());
    let mut out = Outcome::default();
    for tracer in 0..3 {
        let content = |at: usize| air[at] * R::from_f64(ratio(tracer, at / width, clouds.layers));
        let start: Vec<R> = (0..block.values()).map(content).collect();
        let (mut field, mut carry, mut returned) = (start.clone(), vec![R::lit(0.0); width], vec![R::lit(0.0); width]);
        for _ in 0..STEPS {
            let ledger = Ledger::Booked { carry: &mut carry, returned: &mut returned };
            assert_eq!(step(&mut field, ledger), 0, "{name}: a leak");
        }
        for c in 0..clouds.columns {
            let sum = |field: &[R]| {
                (0..clouds.layers).fold((0.0, 0.0), |sum, k| neumaier_add(sum.0, sum.1, field[k * width + c].to_f64()))
            };
            let (before, after) = (sum(&start), sum(&field));
            let lost = sum_gap(before, after);
            let column = || (0..clouds.layers).map(|k| field[k * width + c].to_f64());
            let largest = column().fold(0.0, f64::max);
            out.negative = column().map(|x| -x / (eps * largest)).fold(out.negative, f64::max);
            assert!(lost.abs() <= eps * largest, "{name} column {c}: {lost:e} of {largest:e}");
            out.field = out.field.max(lost.abs() / before.0);
            out.with_carry = out.with_carry.max((lost - carry[c].to_f64()).abs() / before.0);
            let moved = (0..clouds.layers).any(|k| field[k * width + c] != start[k * width + c]);
            assert!(moved || tracer != 1 || !clouds.convects(c), "{name}: column {c} stands still");
            assert!(!moved || clouds.flux[c].iter().any(|flux| *flux > 0.0), "{name}: nothing moves column {c}");
            if tracer == 0 {
                for k in 0..clouds.layers {
                    let change = field[k * width + c].to_f64() / start[k * width + c].to_f64() - 1.0;
                    out.uniform = out.uniform.max(change.abs() / eps);
                }
            }
        }
    }
    out
}

fn real_updraughts<R: Scalar>() {
    let Some(clouds) = Clouds::open() else { return };
    let count = (0..clouds.columns).filter(|c| clouds.convects(*c)).count();
    assert!(count > 40, "{count} columns convect");
    let block = ColumnBlock::new(clouds.columns, clouds.layers);
    let mass: Vec<R> = clouds.packed(&clouds.air);
    let area = vec![R::lit(1.0); block.width()];
    let air = ColumnAir { block, mass: &mass, area: &area };
    let dt = R::from_f64(STEP);
    // The ledger's sums keep twice the precision of the field.
    let limit = 1e3 * STEPS as f64 * R::EPSILON.to_f64().powi(2);
    for (source, rates) in [("raw rates", clouds.raw_rates()), ("cloud flux", clouds.cloud_flux_rates::<R>())] {
        let [entu, detu] = rates.map(|rates| clouds.packed::<R>(&rates));
        for (solve, uniform) in [(Solve::Plain, 400.0), (Solve::Delta, 2.0)] {
            let mut tm5 = Tm5::new(clouds.layers, Tm5Options { solve, ..Default::default() }).unwrap();
            let forcing = Tm5Forcing { entu: &entu, detu: &detu, downdraft: None };
            let name = format!("{} TM5 {solve:?} {source}", R::NAME);
            let out =
                run(&clouds, &mass, &name, |field, ledger| tm5.convect(&air, &forcing, dt, field, ledger).refused);
            println!("{name}: {out:?}");
            assert!(out.with_carry <= limit && out.uniform <= uniform && out.negative == 0.0, "{name}: {out:?}");
        }
    }
    let flux: Vec<R> = clouds.packed(&clouds.flux);
    let detrained: Vec<Vec<f64>> = (0..clouds.columns).map(|c| clouds.detrainment(c)).collect();
    let detrained: Vec<R> = clouds.packed(&detrained);
    let forcing = CmfmcForcing { cloud_flux: &flux, detrainment: Some(&detrained), cloud_base: None };
    let parts = substeps(largest_courant(&air, &flux, dt).to_f64(), Negative::Kept).unwrap();
    for (update, uniform) in [(Update::MixingRatio, 400.0), (Update::MassFlux, 8.0)] {
        let mut cmfmc = Cmfmc::new(block, CmfmcOptions { update, ..Default::default() });
        cmfmc.prepare(&air, &forcing, dt, parts).unwrap();
        let name = format!("{} CMFMC {update:?}, {parts} sub-steps", R::NAME);
        let out = run(&clouds, &mass, &name, |field, ledger| cmfmc.convect(&air, field, ledger).refused);
        println!("{name}: {out:?}");
        assert!(out.with_carry <= limit * parts as f64 && out.uniform <= uniform, "{name}: {out:?}");
        // A plume that passes a layer with nothing in it leaves a rounding of what it carries, of either sign.
        assert!(out.negative <= 0.01, "{name}: {out:?}");
    }
}

#[test]
fn real_updraughts_keep_mass_and_sign_in_single_precision() {
    real_updraughts::<f32>();
}

#[test]
fn real_updraughts_keep_mass_and_sign_in_double_precision() {
    real_updraughts::<f64>();
}
