//! A state on a device goes through the same bits as one on the processor: whole windows, resets, scans and sums, on any
//! number of ranks. The device is the first OpenCL one unless told otherwise (PoCL executes the kernels on the processor).

#[path = "support/device.rs"]
mod device;

use std::path::Path;
use std::sync::Arc;

use atmostr::comm::{Communicator, Solo, threads};
use atmostr::diagnostics::ColumnSums;
use atmostr::met::synth::{self, SynthFlow, SynthOptions};
use atmostr::met::{FluxForm, Section, TransportFile, WindowBuffer};
use atmostr::operators::Threads;
use atmostr::operators::advection::{Advection, Winds, largest_budget};
use atmostr::operators::device::{DeviceTransport, HaloChoice, HaloPath, Launcher, widest_row};
use atmostr::state::{AIR, PackedState, TileSet};
use decomposition::{Layout, TileGrid};
use kernels::Scalar;
use kernels::device::{Dialect, GroupShapes};
use kernels::scheme::Scheme;

use device::open_device;

const NC: usize = 12;
const LEVELS: usize = 7;
const TRACERS: usize = 3;
const SUBSTEPS: usize = 3;

fn winds_file(folder: &Path) -> Arc<TransportFile> {
    let path = folder.join("winds.bin");
    let mut options = SynthOptions::new(SynthFlow::Weather, NC, LEVELS);
    options.windows = 2;
    synth::write(&path, &options, |_| {}).unwrap();
    Arc::new(TransportFile::open(&path).unwrap())
}

/// A value that depends on the cell of the globe only: smooth, rough, negative, tiny and zero ones.
fn tracer<R: Scalar>(t: usize, cell: [usize; 4], mass: R) -> R {
    let [k, panel, j, i] = cell;
    let mut bits = (((t * 97 + k) * 7 + panel) * 101 + j) as u64 * 103 + i as u64;
    bits = (bits ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let unit = (bits >> 11) as f64 / (1_u64 << 53) as f64;
    let ratio = match (t, bits % 7) {
        (0, _) => 4e-4 * (1.0 + 0.1 * (i as f64 * 0.7).sin() * (j as f64 * 0.4).cos()),
        (1, 0) => 0.0,
        (1, 1) => -unit,
        (1, 2) => 1e-40 * unit,
        (1, _) => unit,
        (_, n) => 1e-21 * unit * n as f64,
    };
    R::from_f64(ratio * mass.to_f64())
}

fn initial<R: Scalar>(tiles: &Arc<TileSet>, window: &WindowBuffer<R>) -> PackedState<R> {
    let names = (0..TRACERS).map(|t| format!("t{t}")).collect();
    let mut state = PackedState::zeros(tiles.clone(), LEVELS, names);
    let air = window.get(Section::AirMass).unwrap();
    for k in 0..LEVELS {
        for (n, (tile, shape)) in tiles.tiles().iter().zip(tiles.shapes()).enumerate() {
            for j in 0..shape.nj {
                for i in 0..shape.ni {
                    let at = shape.row_start(j) + i;
                    let mass = air.plane(k, n, 0)[at];
                    state.slabs_mut().plane_mut(k, n, AIR)[at] = mass;
                    for t in 0..TRACERS {
                        let cell = [k, tile.panel.number(), tile.j0 + j, tile.i0 + i];
                        state.slabs_mut().plane_mut(k, n, 1 + t)[at] = tracer(t, cell, mass);
                    }
                }
            }
        }
    }
    state
}

fn assert_same<R: Scalar>(host: &PackedState<R>, device: &PackedState<R>, what: &str) {
    for k in 0..LEVELS {
        for (n, shape) in host.tile_set().shapes().iter().enumerate() {
            for plane in 0..=TRACERS {
                let (a, b) = (host.slabs().plane(k, n, plane), device.slabs().plane(k, n, plane));
                for j in 0..shape.nj {
                    for at in shape.row_start(j)..shape.row_start(j) + shape.ni {
                        let same = a[at].to_f64().to_bits() == b[at].to_f64().to_bits();
                        let i = at - shape.row_start(j);
                        assert!(same, "{what}: level {k}, tile {n}, plane {plane}, ({i}, {j}): {} {}", a[at], b[at]);
                    }
                }
            }
        }
    }
}

/// Both forms of a rank side by side over two windows.
fn compare<R: Scalar>(
    file: &Arc<TransportFile>,
    scheme: Scheme,
    passes: usize,
    grid: Option<TileGrid>,
    dialect: Dialect,
    comm: &dyn Communicator,
    pool: &Threads,
) {
    let header = file.header();
    let what = format!("{} {} on {} ranks, {dialect:?}", scheme.name(), R::NAME, comm.size());
    let layout = Layout::new(NC, header.panel_convention(), comm.size(), scheme.halo(), grid).unwrap();
    let tiles = Arc::new(TileSet::new(layout.tiles_of(comm.rank()).to_vec(), scheme.halo()));
    let sections = [Section::AirMass, Section::AirMassTendency, Section::FluxX, Section::FluxY, Section::FluxZ];
    let mut window = WindowBuffer::<R>::new(tiles.clone(), header, &sections).with_flux_form(FluxForm::HalfSweep);
    file.load_window(0, &mut window).unwrap();
    let mut host = initial(&tiles, &window);
    let mut copy = host.clone();
    let mut columns = ColumnSums::zeros(tiles.clone(), 1 + TRACERS);
    let mut device_columns = columns.clone();
    let mut advection = Advection::new(scheme, &layout, &host, pool, comm);
    let shapes = GroupShapes::usual(dialect, widest_row(&tiles));
    let launcher = Launcher::with_shapes::<R>(open_device::<R>().unwrap(), scheme, shapes).unwrap();
    let mut device = DeviceTransport::new(launcher, &layout, &host, &window, HaloChoice::Auto, comm).unwrap();
    for w in 0..2 {
        file.load_window(w, &mut window).unwrap();
        let [x, y, z] = [Section::FluxX, Section::FluxY, Section::FluxZ].map(|s| window.get(s).unwrap());
        let winds = || Winds { x, y, z, scale: 1.0 };
        device.begin_window(&window).unwrap();
        let budgets = [largest_budget(host.slabs(), winds(), comm), device.largest_budget(1.0, comm).unwrap()];
        assert_eq!(budgets[0], budgets[1], "{what}");
        let mut clamped = 0;
        for _ in 0..SUBSTEPS {
            clamped += advection.substep(&mut host, winds(), passes, None, None, pool).sweeps.clamped;
            device.substep(1.0, passes).unwrap();
        }
        device.download(&mut copy).unwrap();
        assert_same(&host, &copy, &what);
        columns.add_up(host.slabs());
        device.columns(device_columns.parts_mut()).unwrap();
        assert!(columns.parts().data() == device_columns.parts().data(), "{what}: columns");
        assert_eq!(device.take_clamped().unwrap(), clamped, "{what}");
        assert_eq!(device.first_unusable().unwrap(), None, "{what}");
    }
}

fn schemes(file: &Arc<TransportFile>, schemes: &[Scheme], grid: Option<TileGrid>, comm: &dyn Communicator) {
    // A thread joins one pool in its life.
    let pool = Threads::new(1).unwrap();
    for scheme in schemes {
        // Lanes as threads of a group, and in a loop.
        for dialect in [Dialect::OpenCl, Dialect::OpenClProcessor] {
            compare::<f32>(file, *scheme, 1, grid, dialect, comm, &pool);
            if open_device::<f64>().is_some() {
                compare::<f64>(file, *scheme, 2, grid, dialect, comm, &pool);
            }
        }
    }
}

#[test]
fn every_scheme_moves_the_same_bits_on_one_rank() {
    if open_device::<f32>().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = winds_file(folder.path());
    schemes(&file, &Scheme::ALL, None, &Solo);
}

#[test]
fn several_ranks_exchange_the_same_halos() {
    if open_device::<f32>().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = winds_file(folder.path());
    for (ranks, grid) in [(5, None), (6, None), (4, Some(TileGrid { px: 2, py: 3 }))] {
        threads::run(ranks, |comm| schemes(&file, &Scheme::ALL[6..7], grid, &comm));
    }
}

/// OpenCL memory has no addresses that a message library could use: all ranks learn of it, none waits for the others.
#[test]
fn halos_from_device_memory_are_refused_where_there_is_no_way() {
    if open_device::<f32>().is_none_or(|device| device.info().dialect == Dialect::Cuda) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = winds_file(folder.path());
    let scheme = Scheme::ALL[0];
    let outcomes = threads::run(3, |comm| {
        let header = file.header();
        let layout = Layout::new(NC, header.panel_convention(), comm.size(), scheme.halo(), None).unwrap();
        let tiles = Arc::new(TileSet::new(layout.tiles_of(comm.rank()).to_vec(), scheme.halo()));
        let sections = [Section::AirMass, Section::FluxX, Section::FluxY, Section::FluxZ];
        let mut window = WindowBuffer::<f32>::new(tiles.clone(), header, &sections);
        file.load_window(0, &mut window).unwrap();
        let state = initial(&tiles, &window);
        [HaloChoice::Device, HaloChoice::Auto, HaloChoice::Staged].map(|choice| {
            let launcher = Launcher::new::<f32>(open_device::<f32>().unwrap(), scheme, NC).unwrap();
            let transport = DeviceTransport::new(launcher, &layout, &state, &window, choice, &comm);
            transport.map(|transport| transport.halo_path()).map_err(|error| error.to_string())
        })
    });
    for [device, auto, staged] in outcomes {
        let error = device.unwrap_err();
        assert!(error.contains("architecture.halo") && error.contains("staged"), "{error}");
        assert_eq!([auto, staged], [Ok(HaloPath::Staged), Ok(HaloPath::Staged)]);
    }
}
