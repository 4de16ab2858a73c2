//! A small run that writes snapshots; its values are functions of the cell alone.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use atmostr::comm::{Communicator, Solo};
use atmostr::diagnostics::{ColumnSums, plane_total};
use atmostr::grid::{CubedSphere, GeometryBundle, HybridCoordinate};
use atmostr::output::{
    FrameContent, LayerSelection, OutputError, OutputSpec, SnapshotFrame, SnapshotWriter, TracerFields,
};
use atmostr::state::{AIR, Slabs, TileSet};
use decomposition::Layout;
use kernels::Scalar;

/// Cells along a panel edge.
pub const NC: usize = 6;
/// Layers.
pub const LEVELS: usize = 3;
/// Hybrid coefficients, Pa and 1.
pub const A_IFC: [f64; LEVELS + 1] = [100.0, 5000.0, 2000.0, 0.0];
/// As [`A_IFC`].
pub const B_IFC: [f64; LEVELS + 1] = [0.0, 0.25, 0.75, 1.0];
/// Snapshots written by [`write`].
pub const FRAMES: usize = 2;

/// Tracers of the run.
pub fn tracers() -> Vec<String> {
    vec!["co2".into(), "sf6".into()]
}

/// The grid.
pub fn grid() -> CubedSphere {
    CubedSphere::new(NC, GeometryBundle::GeosNative, -10.0, 6.371e6).unwrap()
}

/// Air mass and tracer mass of a cell: arbitrary, but a function of the cell alone.
pub fn cell(frame: usize, k: usize, panel: usize, j: usize, i: usize) -> (f64, [f64; 2]) {
    let n = (((frame * LEVELS + k) * 6 + panel) * NC + j) * NC + i;
    let m = 1.0e9 + 1.0e6 * ((n * 7919) % 1009) as f64;
    (m, [m * 4.0e-4 * (1.0 + 1.0e-3 * (n % 13) as f64), m * 1.0e-11 * (n % 17) as f64])
}

/// Tiles of a rank and its state at a frame; halos hold values that must not be written.
pub fn state<R: Scalar>(set: &Arc<TileSet>, frame: usize) -> Slabs<R> {
    let mut slabs = Slabs::zeros(set.clone(), LEVELS, 3);
    slabs.data_mut().fill(R::from_f64(-7.0));
    for (n, tile) in set.tiles().iter().enumerate() {
        for k in 0..LEVELS {
            for j in 0..tile.nj {
                for i in 0..tile.ni {
                    let (m, rm) = cell(frame, k, tile.panel.index(), tile.j0 + j, tile.i0 + i);
                    let at = set.shapes()[n].index(i as isize, j as isize);
                    for (plane, value) in [m, rm[0], rm[1]].into_iter().enumerate() {
                        slabs.plane_mut(k, n, plane)[at] = R::from_f64(value);
                    }
                }
            }
        }
    }
    slabs
}

/// Column sums of a state.
pub fn columns<R: Scalar>(state: &Slabs<R>) -> ColumnSums<R> {
    let mut columns = ColumnSums::zeros(state.tile_set().clone(), state.planes());
    columns.add_up(state);
    columns
}

/// Tiles of a rank.
pub fn tiles(ranks: usize, rank: usize) -> Arc<TileSet> {
    let layout = Layout::new(NC, grid().convention(), ranks, 1, None).unwrap();
    Arc::new(TileSet::new(layout.tiles_of(rank).to_vec(), 1))
}

/// Settings with selected layers and exceptions.
pub fn spec(path: &Path) -> OutputSpec {
    let mut spec = OutputSpec::new(path);
    spec.time_origin = Some("2021-12-01T00:00:00".parse().unwrap());
    spec.vertical = Some(HybridCoordinate::new(A_IFC.to_vec(), B_IFC.to_vec()).unwrap());
    spec.fields.levels = vec![3, 1];
    spec.fields.per_tracer.insert(
        "sf6".into(),
        TracerFields { layers: Some(LayerSelection::Selected), column_mean: Some(false), ..Default::default() },
    );
    spec
}

/// Writes all snapshots of a rank.
pub fn write<R: Scalar>(spec: &OutputSpec, comm: &dyn Communicator) -> Result<(), OutputError> {
    let set = tiles(comm.size(), comm.rank());
    let mut writer = SnapshotWriter::<R>::create(spec, "20211201", &grid(), &tracers(), LEVELS, &set, comm)?;
    for n in 0..FRAMES {
        let slabs = state::<R>(&set, n);
        let totals = [plane_total(comm, &slabs, AIR).unwrap(), 1.5 + n as f64, 2.5];
        let names = tracers();
        let content = FrameContent::Layers { state: &slabs, columns: &columns(&slabs) };
        let frame = SnapshotFrame {
            hours: 3.0 * n as f64,
            content,
            interval: None,
            meteorology: None,
            tracers: &names,
            totals: &totals,
            series: &[],
        };
        writer.append(&frame, comm)?;
    }
    assert_eq!(writer.frames(), FRAMES);
    writer.finish(comm)
}

/// Writes a file on one rank and returns its path.
pub fn written<R: Scalar>(dir: &Path, change: impl Fn(&mut OutputSpec)) -> PathBuf {
    let path = dir.join("snapshots.nc");
    let mut spec = spec(&path);
    change(&mut spec);
    write::<R>(&spec, &Solo).unwrap();
    spec.path_for("20211201")
}
