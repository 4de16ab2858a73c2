//! Vertical physics of a state on a device, operator by operator, gives the bits of the columns on the processor.

#[path = "support/device.rs"]
mod device;

use std::sync::Arc;

use atmostr::comm::Solo;
use atmostr::grid::{CubedSphere, GeometryBundle};
use atmostr::met::synth::{self, SynthFlow, SynthOptions};
use atmostr::met::{Section, TransportFile, WindowBuffer};
use atmostr::operators::columns::{Convection, DeviceFactors, ImplicitConvection, KzUpdate};
use atmostr::operators::device::{
    CloudForcing, ColumnNeeds, DeviceColumns, DeviceExchange, DeviceTransport, HaloChoice, Kept, Launcher, LedgerOf,
};
use atmostr::sources::{Conversion, Segment, Source, SourceTimes, TimeScheme};
use atmostr::state::{PackedState, Slabs, TileSet};
use decomposition::{Layout, TileGrid};
use kernels::columns::convection::ColumnAir;
use kernels::columns::convection::cmfmc::{Cmfmc, CmfmcForcing, CmfmcOptions, largest_courant};
use kernels::columns::convection::tm5::{Downdraft, Solve, Tm5, Tm5Forcing, Tm5Options};
use kernels::columns::{
    ColumnBlock, Dose, FluxFormFactors, Ledger, MassSpaceFactors, Profile, TwoWord, deposit_by_profile,
    deposit_in_layer, emission_amounts, exchange_from_rates,
};
use kernels::numerics::finite_max;
use kernels::{Scalar, Scheme};

use device::{Random, open_device, same};

const NC: usize = 6;
const LEVELS: usize = 7;
const DT: f64 = 1800.0;

/// A state on the host and on a device, with physics.
struct Pair<R: Scalar> {
    set: Arc<TileSet>,
    host: PackedState<R>,
    areas: Slabs<R>,
    transport: DeviceTransport<R>,
    columns: DeviceColumns<R>,
    random: Random,
}

/// A field whose cells are `value(random)`; halos hold 17.
fn field<R: Scalar>(
    set: &Arc<TileSet>,
    levels: usize,
    random: &mut Random,
    value: impl Fn(&mut Random) -> f64,
) -> Slabs<R> {
    let mut field = Slabs::zeros(set.clone(), levels, 1);
    field.data_mut().fill(R::from_f64(17.0));
    for level in 0..levels {
        for (tile, shape) in set.shapes().iter().enumerate() {
            let plane = field.plane_mut(level, tile, 0);
            for at in (0..shape.nj).flat_map(|j| shape.row_start(j)..shape.row_start(j) + shape.ni) {
                plane[at] = R::from_f64(value(random));
            }
        }
    }
    field
}

impl<R: Scalar> Pair<R> {
    /// Two tiles a panel with `tracers` tracers; `None` without a device.
    fn new(needs: &ColumnNeeds, tracers: usize, sources: &dyn Fn(&Arc<TileSet>) -> Vec<Source<R>>) -> Option<Self> {
        let device = open_device::<R>()?;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("winds.bin");
        let mut options = SynthOptions::new(SynthFlow::Weather, NC, LEVELS);
        options.windows = 1;
        synth::write(&path, &options, |_| {}).unwrap();
        let file = TransportFile::open(&path).unwrap();
        let (header, scheme) = (file.header(), Scheme::Upwind);
        let grid = Some(TileGrid { px: 1, py: 2 });
        let layout = Layout::new(NC, header.panel_convention(), 1, scheme.halo(), grid).unwrap();
        let set = Arc::new(TileSet::new(layout.tiles_of(0).to_vec(), scheme.halo()));
        let sections = [Section::AirMass, Section::FluxX, Section::FluxY, Section::FluxZ];
        let mut window = WindowBuffer::<R>::new(set.clone(), header, &sections);
        file.load_window(0, &mut window).unwrap();

        let mut random = Random(11);
        let air = field::<R>(&set, LEVELS, &mut random, |random| 1e10 * (16.0 + 15.0 * random.unit()));
        let mut host = PackedState::zeros(set.clone(), LEVELS, (0..tracers).map(|t| format!("t{t}")).collect());
        for plane in 0..=tracers {
            let ratio = field::<R>(&set, LEVELS, &mut random, |random| 4e-4 * (1.0 + 0.5 * random.unit()));
            for level in 0..LEVELS {
                for tile in 0..set.len() {
                    let (air, ratio) = (air.plane(level, tile, 0), ratio.plane(level, tile, 0));
                    let values = host.slabs_mut().plane_mut(level, tile, plane);
                    for (value, (air, ratio)) in values.iter_mut().zip(air.iter().zip(ratio)) {
                        *value = if plane == 0 { *air } else { *air * *ratio };
                    }
                }
            }
        }
        let areas = field(&set, 1, &mut random, |random| 1e10 * (2.0 + random.unit()));
        let kernels = needs.kernels::<R>(device.info(), LEVELS).unwrap();
        let launcher = Launcher::with_kernels::<R>(device, scheme, &kernels, NC).unwrap();
        let mut transport = DeviceTransport::new(launcher, &layout, &host, &window, HaloChoice::Auto, &Solo).unwrap();
        let columns = DeviceColumns::new(&mut transport.device_state(), needs, &areas, &sources(&set)).unwrap();
        Some(Self { set, host, areas, transport, columns, random })
    }

    fn field(&mut self, levels: usize, value: impl Fn(&mut Random) -> f64) -> Slabs<R> {
        field(&self.set, levels, &mut self.random, value)
    }

    /// Calls `work(row, tracers, carry, returned, planes)` for every row of columns, one tracer behind the other.
    fn each_row(&mut self, kept: &mut [Slabs<R>; 2], mut work: impl FnMut(&Row<'_, R>, &mut [R], [&mut [R]; 2])) {
        let before = self.host.clone();
        let tracers = before.slabs().planes() - 1;
        for (tile, j) in self.set.shapes().iter().enumerate().flat_map(|(t, s)| (0..s.nj).map(move |j| (t, j))) {
            let shape = self.set.shapes()[tile];
            let row = Row {
                tile,
                at: shape.row_start(j),
                block: ColumnBlock::new(shape.ni, LEVELS),
                areas: &self.areas,
                state: before.slabs(),
            };
            let all = |slabs: &Slabs<R>| -> Vec<R> { (1..=tracers).flat_map(|p| row.gather(slabs, p, 0.0)).collect() };
            let (mut values, mut carry, mut returned) = (all(before.slabs()), all(&kept[0]), all(&kept[1]));
            work(&row, &mut values, [&mut carry, &mut returned]);
            for p in 1..=tracers {
                row.scatter(&values, p, self.host.slabs_mut());
                row.scatter(&carry, p, &mut kept[0]);
                row.scatter(&returned, p, &mut kept[1]);
            }
        }
    }

    /// Compares the state, and what a ledger keeps.
    fn assert(&mut self, what: &str, ledger: Option<(LedgerOf, &[Slabs<R>; 2])>) {
        let mut found = self.host.clone();
        self.transport.download(&mut found).unwrap();
        let equal = |a: &Slabs<R>, b: &Slabs<R>| a.data().iter().zip(b.data()).all(|(a, b)| same(*a, *b));
        assert!(equal(self.host.slabs(), found.slabs()), "{what}: state");
        let Some((ledger, kept)) = ledger else { return };
        let mut on = self.transport.device_state();
        for (kept, expected) in [Kept::Carry(ledger), Kept::Returned(ledger)].into_iter().zip(kept) {
            let mut found = expected.clone();
            self.columns.read(&mut on, kept, found.data_mut()).unwrap();
            assert!(equal(expected, &found), "{what}: {kept:?}");
            assert!(found.data().iter().any(|x| x.to_f64() != 0.0), "{what}: {kept:?} is empty");
        }
        assert_eq!(self.columns.take_refused(&mut on, ledger).unwrap(), 0, "{what}");
    }

    /// Empty books.
    fn books(&self) -> [Slabs<R>; 2] {
        [0, 1].map(|_| Slabs::zeros(self.set.clone(), 1, self.host.slabs().planes()))
    }

    fn put(&mut self, fields: &[&Slabs<R>]) -> Vec<atmostr::device::Memory> {
        let mut on = self.transport.device_state();
        fields.iter().map(|field| on.field(field).unwrap()).collect()
    }
}

/// A row of columns.
struct Row<'a, R> {
    tile: usize,
    at: usize,
    block: ColumnBlock,
    areas: &'a Slabs<R>,
    state: &'a Slabs<R>,
}

impl<R: Scalar> Row<'_, R> {
    fn gather(&self, slabs: &Slabs<R>, plane: usize, padding: f64) -> Vec<R> {
        let (width, ni) = (self.block.width(), self.block.columns());
        let mut values = vec![R::from_f64(padding); slabs.levels() * width];
        for (level, layer) in values.chunks_exact_mut(width).enumerate() {
            layer[..ni].copy_from_slice(&slabs.plane(level, self.tile, plane)[self.at..self.at + ni]);
        }
        values
    }

    /// Takes plane `p` ≥ 1 from among the values of all tracers.
    fn scatter(&self, values: &[R], p: usize, slabs: &mut Slabs<R>) {
        let (width, ni) = (self.block.width(), self.block.columns());
        let len = slabs.levels() * width;
        for (level, layer) in values[(p - 1) * len..][..len].chunks_exact(width).enumerate() {
            slabs.plane_mut(level, self.tile, p)[self.at..self.at + ni].copy_from_slice(&layer[..ni]);
        }
    }

    fn mass(&self) -> Vec<R> {
        self.gather(self.state, 0, 1.0)
    }

    fn area(&self) -> Vec<R> {
        self.gather(self.areas, 0, 1.0)
    }
}

fn no_sources<R: Scalar>(_: &Arc<TileSet>) -> Vec<Source<R>> {
    Vec::new()
}

fn diffusion<R: Scalar>(update: KzUpdate, tracers: usize) {
    let needs = ColumnNeeds { diffusion: Some(update), ..ColumnNeeds::default() };
    let Some(mut pair) = Pair::<R>::new(&needs, tracers, &no_sources) else { return };
    let rates = pair.field(LEVELS, |random| 1e-3 * random.unit().abs());
    let memory = pair.put(&[&rates])[0];
    let mut books = pair.books();
    for _ in 0..3 {
        pair.columns.diffuse(&mut pair.transport.device_state(), DT, DeviceExchange::Rate(memory)).unwrap();
        pair.each_row(&mut books, |row, values, [carry, returned]| {
            let (mass, mut exchange) = (row.mass(), row.gather(&rates, 0, 0.0));
            exchange_from_rates(row.block, &mass, &exchange.clone(), &mut exchange);
            let (width, nk) = (row.block.width(), LEVELS);
            let mut space = MassSpaceFactors::new(width, nk);
            space.prepare(row.block, &mass, &exchange, R::from_f64(DT));
            let mut tridiagonal = FluxFormFactors::new(width, nk);
            tridiagonal.prepare(row.block, &mass, &exchange, R::from_f64(DT));
            for (n, tracer) in values.chunks_exact_mut(nk * width).enumerate() {
                let [carry, returned] = [&mut carry[n * width..][..width], &mut returned[n * width..][..width]];
                let ledger = Ledger::Booked { carry, returned };
                let stats = match update {
                    KzUpdate::MassSpace => space.solve(&mass, tracer, ledger),
                    KzUpdate::Flux => tridiagonal.solve(&mass, tracer, ledger),
                    KzUpdate::Matrix => {
                        tridiagonal.solve_matrix_form(&mass, tracer);
                        continue;
                    }
                };
                assert_eq!(stats.refused, 0);
            }
        });
    }
    let ledger = (update != KzUpdate::Matrix).then_some((LedgerOf::Diffusion, &books));
    pair.assert(&format!("{update:?} {} {tracers}", R::NAME), ledger);
}

#[test]
fn diffusion_in_every_form() {
    for update in [KzUpdate::MassSpace, KzUpdate::Flux, KzUpdate::Matrix] {
        // One tracer has a kernel of its own; more than eight go through the tridiagonal solve in parts.
        for tracers in [1, 3, 10] {
            diffusion::<f32>(update, tracers);
        }
        diffusion::<f64>(update, 2);
    }
}

#[test]
fn deposit_in_the_surface_layer_and_by_a_profile() {
    let bundle = GeometryBundle::GeosNative;
    let grid = CubedSphere::new(NC, bundle, bundle.default_offset_deg(), 6_371_229.0).unwrap();
    let times = SourceTimes::new(vec![0.0, 3600.0], TimeScheme::Conservative).unwrap();
    let conversion = Conversion::new(1.0, 44e-3).unwrap();
    let source = |set: &Arc<TileSet>| {
        let density = |slice: usize, tile: usize, i: usize, j: usize| 1e-7 * (1 + slice + tile + i * j) as f64;
        vec![Source::<f32>::from_densities(set.clone(), &grid, times.clone(), &conversion, density)]
    };
    let needs = ColumnNeeds { sources: 1, ..ColumnNeeds::default() };
    let Some(mut pair) = Pair::<f32>::new(&needs, 2, &source) else { return };
    let profile = pair.field(LEVELS, |random| random.unit().max(-0.3) / LEVELS as f64);
    let memory = pair.put(&[&profile])[0];
    let rates = source(&pair.set).remove(0).rates().clone();
    let mut compensation = Slabs::zeros(pair.set.clone(), 1, 1);
    let segments = [
        (Segment { first: 0, second: 1, first_seconds: 700.0 / 3.0, second_seconds: 50.0 / 3.0 }, None),
        (Segment { first: 1, second: 1, first_seconds: 250.0, second_seconds: 0.0 }, Some(memory)),
    ];
    let mut unlofted = 0;
    for (segment, lofted) in segments {
        pair.columns
            .deposit(&mut pair.transport.device_state(), 0, 1, &segment, lofted.map(|field| (field, Profile::Lofting)))
            .unwrap();
        let mut books = pair.books();
        let compensation = &mut compensation;
        pair.each_row(&mut books, |row, values, _| {
            let (width, all) = (row.block.width(), row.gather(&rates, 0, 0.0));
            let dose =
                |slice: usize, seconds| Dose { rates: &all[slice * width..][..width], seconds: TwoWord::new(seconds) };
            let second = (segment.second != segment.first).then(|| dose(segment.second, segment.second_seconds));
            let mut amounts = vec![0.0; width];
            emission_amounts(dose(segment.first, segment.first_seconds), second, &mut amounts);
            let mut kept = row.gather(compensation, 0, 0.0);
            let tracer = &mut values[LEVELS * width..];
            if lofted.is_some() {
                unlofted += deposit_by_profile(
                    row.block,
                    tracer,
                    &mut kept,
                    &amounts,
                    &row.gather(&profile, 0, 0.0),
                    Profile::Lofting,
                );
            } else {
                deposit_in_layer(&mut tracer[(LEVELS - 1) * width..], &mut kept, &amounts);
            }
            let ni = row.block.columns();
            compensation.plane_mut(0, row.tile, 0)[row.at..row.at + ni].copy_from_slice(&kept[..ni]);
        });
    }
    pair.assert("deposit", None);
    let mut on = pair.transport.device_state();
    let mut found = vec![0.0_f32; compensation.data().len()];
    pair.columns.read(&mut on, Kept::Compensation(0), &mut found).unwrap();
    assert!(found == compensation.data() && found.iter().any(|x| *x != 0.0));
    assert_eq!(pair.columns.take_unlofted(&mut on).unwrap(), unlofted);
    // What is written comes back, as after a restart.
    let written: Vec<f32> = (0..found.len()).map(|n| n as f32).collect();
    pair.columns.write(&mut on, Kept::Compensation(0), &written).unwrap();
    pair.columns.read(&mut on, Kept::Compensation(0), &mut found).unwrap();
    assert!(found == written);
}

fn implicit<R: Scalar>(choice: ImplicitConvection) {
    let needs = ColumnNeeds { convection: Some(Convection::Tm5(choice)), ..ColumnNeeds::default() };
    let Some(mut pair) = Pair::<R>::new(&needs, 8, &no_sources) else { return };
    let mut rate = |strength: f64| pair.field(LEVELS, |random| strength * random.unit().max(0.0));
    let rates = [rate(0.03), rate(0.03), rate(0.01), rate(0.01)];
    let memories = pair.put(&rates.each_ref());
    let mut books = pair.books();
    let (updraft, downdraft) = ([memories[0], memories[1]], [memories[2], memories[3]]);
    for downdraft in [None, Some(downdraft)] {
        pair.columns.convect_tm5(&mut pair.transport.device_state(), DT, updraft, downdraft, &choice).unwrap();
        let mut work = Tm5::new(LEVELS, choice.options).unwrap();
        pair.each_row(&mut books, |row, values, [carry, returned]| {
            let (mass, area) = (row.mass(), row.area());
            let [entu, detu, entd, detd] = rates.each_ref().map(|field| row.gather(field, 0, 0.0));
            let downdraft = downdraft.map(|_| Downdraft { entd: &entd, detd: &detd });
            let forcing = Tm5Forcing { entu: &entu, detu: &detu, downdraft };
            let air = ColumnAir { block: row.block, mass: &mass, area: &area };
            let ledger = Ledger::Booked { carry, returned };
            assert_eq!(work.convect(&air, &forcing, R::from_f64(DT), values, ledger).refused, 0);
        });
    }
    pair.assert(&format!("{choice:?} {}", R::NAME), Some((LedgerOf::Convection, &books)));
}

#[test]
fn implicit_convection_in_both_forms() {
    for factors in [DeviceFactors::Collaborative, DeviceFactors::OneByOne] {
        for (solve, lmax_conv, n_merge) in [(Solve::Plain, 0, 1), (Solve::Delta, 6, 2)] {
            // A workspace so small that columns go through it in parts.
            let options = Tm5Options { solve, lmax_conv, n_merge };
            let choice = ImplicitConvection { options, factors, workspace_gib: 1e-9 };
            implicit::<f32>(choice);
            implicit::<f64>(choice);
        }
    }
}

#[test]
fn explicit_convection() {
    let options = CmfmcOptions::default();
    let needs = ColumnNeeds { convection: Some(Convection::Cmfmc(options)), ..ColumnNeeds::default() };
    let Some(mut pair) = Pair::<f32>::new(&needs, 3, &no_sources) else { return };
    let mut flux = pair.field(LEVELS + 1, |random| 1e-3 * random.unit().max(0.0));
    // Nothing leaves through the top of the model, so that ledgers are kept.
    for (tile, shape) in pair.set.shapes().iter().enumerate() {
        flux.plane_mut(0, tile, 0)[..shape.plane_len()].fill(0.0);
    }
    let detrainment = pair.field(LEVELS, |random| 1e-3 * random.unit().max(0.0));
    let memories = pair.put(&[&flux, &detrainment]);
    let courant = pair.columns.courant(&mut pair.transport.device_state(), memories[0], DT).unwrap();
    let mut books = pair.books();
    let mut largest = 0.0_f32;
    pair.each_row(&mut books, |row, _, _| {
        let (mass, area) = (row.mass(), row.area());
        let air = ColumnAir { block: row.block, mass: &mass, area: &area };
        largest = finite_max(largest, largest_courant(&air, &row.gather(&flux, 0, 0.0), DT as f32));
    });
    assert!(courant > 0.0 && courant == f64::from(largest), "{courant} {largest}");
    for detrains in [true, false] {
        let forcing =
            CloudForcing { cloud_flux: memories[0], detrainment: detrains.then_some(memories[1]), cloud_base: None };
        pair.columns.convect_cmfmc(&mut pair.transport.device_state(), DT, 3, &forcing, &options).unwrap();
        pair.each_row(&mut books, |row, values, [carry, returned]| {
            let (mass, area, width) = (row.mass(), row.area(), row.block.width());
            let [flux, detrainment] = [&flux, &detrainment].map(|field| row.gather(field, 0, 0.0));
            let detrainment = detrains.then_some(&detrainment[..]);
            let forcing = CmfmcForcing { cloud_flux: &flux, detrainment, cloud_base: None };
            let air = ColumnAir { block: row.block, mass: &mass, area: &area };
            let mut work = Cmfmc::new(row.block, options);
            work.prepare(&air, &forcing, DT as f32, 3).unwrap();
            for (n, tracer) in values.chunks_exact_mut(LEVELS * width).enumerate() {
                let [carry, returned] = [&mut carry[n * width..][..width], &mut returned[n * width..][..width]];
                assert_eq!(work.convect(&air, tracer, Ledger::Booked { carry, returned }).refused, 0);
            }
        });
    }
    pair.assert("explicit convection", Some((LedgerOf::Convection, &books)));
}
