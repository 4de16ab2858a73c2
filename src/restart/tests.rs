//! What is written is read, on any tiles; what is damaged is refused.

use std::path::Path;
use std::sync::Arc;

use decomposition::{Layout, TileGrid};

use super::*;
use crate::comm::{Communicator, Solo};
use crate::grid::{CubedSphere, GeometryBundle};
use crate::state::TileSet;

const NC: usize = 4;
const LEVELS: usize = 3;

fn grid() -> CubedSphere {
    CubedSphere::new(NC, GeometryBundle::GeosNative, -10.0, 6.371_229e6).unwrap()
}

fn tiles(px: usize, py: usize, halo: usize) -> Arc<TileSet> {
    let layout = Layout::new(NC, grid().convention(), 1, halo, Some(TileGrid { px, py })).unwrap();
    Arc::new(TileSet::new(layout.tiles_of(0).to_vec(), halo))
}

/// A value for every place; bits that no shorter number has, a signed zero, a denormal.
fn value(level: usize, panel: usize, j: usize, i: usize) -> f32 {
    match ((level * 6 + panel) * NC + j) * NC + i {
        0 => -0.0,
        1 => 1e-41,
        n => (n as f32 * 0.37).sin() * 1e9,
    }
}

fn filled(set: &Arc<TileSet>, levels: usize) -> Slabs<f32> {
    let mut slabs = Slabs::zeros(set.clone(), levels, 2);
    for (tile, (place, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
        for level in 0..levels {
            let plane = slabs.plane_mut(level, tile, 1);
            for j in 0..place.nj {
                for i in 0..place.ni {
                    plane[shape.row_start(j) + i] = value(level, place.panel.index(), place.j0 + j, place.i0 + i);
                }
            }
        }
    }
    slabs
}

/// Longer than an attribute.
fn state_text() -> String {
    format!("{{\"a\": [{}0.1]}}", "0.123456789, ".repeat(8000))
}

fn written(path: &Path) {
    let set = tiles(2, 1, 2);
    let (state, carry) = (filled(&set, LEVELS), filled(&set, 1));
    let field = |name, slabs, levels| RestartField { name, long_name: "a field", slabs, plane: 1, levels };
    let fields = [field("co2", &state, FieldLevels::All), field("co2.carry", &carry, FieldLevels::One)];
    write(path, &grid(), &set, 6.0, &state_text(), &fields, &[], &Solo).unwrap();
}

#[test]
fn other_tiles_read_the_same_bits() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    written(&path);
    RestartFile::check(&path).unwrap();
    let file = RestartFile::open(&path).unwrap();
    assert_eq!(file.state(), state_text());
    let set = tiles(1, 2, 1);
    for (name, levels, fields) in [("co2", LEVELS, FieldLevels::All), ("co2.carry", 1, FieldLevels::One)] {
        let mut slabs = Slabs::<f32>::zeros(set.clone(), levels, 2);
        file.read_plane(name, (&mut slabs, 1, fields), NC, &Solo).unwrap();
        let bits = |slabs: &Slabs<f32>| slabs.data().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&slabs), bits(&filled(&set, levels)), "{name}");
    }
    assert!(!dir.path().join("a.nc.partial").exists());
}

#[test]
fn many_ranks_write_the_same_file() {
    let dir = tempfile::tempdir().unwrap();
    let (one, many) = (dir.path().join("one.nc"), dir.path().join("many.nc"));
    written(&one);
    crate::comm::threads::run(6, |comm| {
        let layout = Layout::new(NC, grid().convention(), 6, 2, None).unwrap();
        let set = Arc::new(TileSet::new(layout.tiles_of(comm.rank()).to_vec(), 2));
        let (state, carry) = (filled(&set, LEVELS), filled(&set, 1));
        let field = |name, slabs, levels| RestartField { name, long_name: "a field", slabs, plane: 1, levels };
        let fields = [field("co2", &state, FieldLevels::All), field("co2.carry", &carry, FieldLevels::One)];
        write(&many, &grid(), &set, 6.0, &state_text(), &fields, &[], &comm).unwrap();
        let mut read = Slabs::<f32>::zeros(set.clone(), LEVELS, 2);
        let file = RestartFile::open(&many).unwrap();
        file.read_plane("co2", (&mut read, 1, FieldLevels::All), NC, &comm).unwrap();
        assert_eq!(read.data(), state.data());
    });
    assert_eq!(std::fs::read(one).unwrap(), std::fs::read(many).unwrap());
}

#[test]
fn every_changed_byte_and_every_cut_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    written(&path);
    let whole = std::fs::read(&path).unwrap();
    let last = whole.len() - 100;
    for at in (0..last).step_by(997).chain(last..whole.len()) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(&path, &bytes).unwrap();
        assert!(RestartFile::check(&path).is_err(), "byte {at} of {}", whole.len());
    }
    for length in (0..whole.len()).step_by(whole.len() / 40).chain(last..whole.len()) {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert!(RestartFile::check(&path).is_err(), "cut to {length} of {}", whole.len());
    }
    std::fs::write(&path, [&whole[..], b"more"].concat()).unwrap();
    assert!(RestartFile::check(&path).is_err());
}

/// Values are compared by themselves too: a file may have been sealed after they were changed.
#[test]
fn changed_values_are_noticed_under_a_fresh_seal() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    written(&path);
    let mut file = netcdf::append(&path).unwrap();
    file.variable_mut("co2").unwrap().put_value(1.0f32, [0, 0, 0, 0, 0]).unwrap();
    file.close().unwrap();
    let file = RestartFile::open(&path).unwrap();
    let mut slabs = Slabs::<f32>::zeros(tiles(1, 1, 1), LEVELS, 2);
    let found = file.read_plane("co2", (&mut slabs, 1, FieldLevels::All), NC, &Solo).unwrap_err().to_string();
    assert!(found.contains("the values of `co2` are not those that were written"), "{found}");
}

#[test]
fn other_files_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("other.nc");
    let refusal = || RestartFile::check(&path).unwrap_err().to_string();
    assert!(refusal().contains("other.nc: cannot read"), "{}", refusal());
    std::fs::write(&path, "text").unwrap();
    assert!(refusal().contains("does not end as restart files do"), "{}", refusal());
    netcdf::create(&path).unwrap().close().unwrap();
    assert!(refusal().contains("does not end as restart files do"), "{}", refusal());
    let opened = RestartFile::open(&path).unwrap_err().to_string();
    assert!(opened.contains("this is no restart file"), "{opened}");
    let folder = RestartFile::check(dir.path()).unwrap_err().to_string();
    assert!(folder.contains("a folder"), "{folder}");
}
