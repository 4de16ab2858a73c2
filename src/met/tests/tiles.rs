//! Tile reads against whole arrays.

use std::sync::Arc;

use decomposition::{Panel, Tile};
use kernels::Scalar;

use super::damage::whole_panels;
use super::*;
use crate::state::TileSet;

/// Tiles of uneven size, dealt out to ranks in turn.
fn split(nc: usize, cuts_i: &[usize], cuts_j: &[usize], ranks: usize) -> Vec<Arc<TileSet>> {
    let mut sets = vec![Vec::new(); ranks];
    let mut id = 0;
    for panel in Panel::ALL {
        for j in cuts_j.windows(2) {
            for i in cuts_i.windows(2) {
                let (ni, nj) = (i[1] - i[0], j[1] - j[0]);
                sets[id % ranks].push(Tile { id, panel, i0: i[0], j0: j[0], ni, nj, rank: id % ranks });
                id += 1;
            }
        }
    }
    assert_eq!((cuts_i.last(), cuts_j.last()), (Some(&nc), Some(&nc)));
    sets.into_iter().map(|tiles| Arc::new(TileSet::new(tiles, 2))).collect()
}

/// Every value of every tile equals the whole array's; halos beyond the last face are untouched.
fn compare<R: Scalar>(buffer: &WindowBuffer<R>, window: &Window, nc: usize, nz: usize, round: impl Fn(f64) -> R) {
    for section in buffer.sections() {
        let field = buffer.get(section).unwrap();
        let (values, shape) = (window.get(section), section.shape(nc, nz));
        assert_eq!(field.levels(), shape.nk);
        for (t, (tile, plane)) in buffer.tile_set().tiles().iter().zip(buffer.tile_set().shapes()).enumerate() {
            let (ni, nj) = (tile.ni + shape.ni - nc, tile.nj + shape.nj - nc);
            for k in 0..shape.nk {
                let data = field.plane(k, t, 0);
                let mut expected = vec![R::default(); plane.plane_len()];
                for j in 0..nj {
                    for i in 0..ni {
                        let at =
                            ((tile.panel.index() * shape.nk + k) * shape.nj + tile.j0 + j) * shape.ni + tile.i0 + i;
                        expected[plane.row_start(j) + i] = round(values[at]);
                    }
                }
                assert!(data == expected, "{section} tile {t} level {k}");
            }
        }
    }
}

fn layouts(nc: usize) -> Vec<Vec<Arc<TileSet>>> {
    vec![
        vec![whole_panels(nc)],
        split(nc, &[0, nc], &[0, nc], 6),
        split(nc, &[0, 3, nc], &[0, 2, nc], 4),
        split(nc, &[0, 1, 4, nc], &[0, 2, 3, nc], 5),
        split(nc, &[0, nc], &[0, 1, 2, 3, 4, nc], 7),
    ]
}

#[test]
fn tile_reads_equal_whole_arrays() {
    let (nc, nz) = (5, 3);
    for convention in BOTH {
        for float_type in [FloatType::Float32, FloatType::Float64] {
            let sections = Section::ALL.to_vec();
            let spec = HeaderSpec { float_type, sections, steps: vec![2, 2], ..spec(nc, nz, convention, 2) };
            let (_dir, path, windows) = sample(&spec, 11);
            let file = TransportFile::open(&path).unwrap();
            for layout in layouts(nc) {
                for set in layout {
                    let mut single = WindowBuffer::<f32>::new(set.clone(), file.header(), &Section::ALL);
                    let mut double = WindowBuffer::<f64>::new(set, file.header(), &Section::ALL);
                    for w in [1, 0] {
                        file.load_window(w, &mut single).unwrap();
                        file.load_window_with(w, &mut double, LoadThreads::Caller).unwrap();
                        compare(&single, &windows[w], nc, nz, |v| float_type.round(v) as f32);
                        compare(&double, &windows[w], nc, nz, |v| float_type.round(v));
                        let loaded = Loaded { window: w, steps: 2, flux_scale: 1.0 };
                        assert_eq!(double.loaded(), Some(loaded));
                    }
                }
            }
        }
    }
}

/// Faces on panel edges come from the owner even where the file disagrees.
#[test]
fn panel_edges_follow_their_owner() {
    let (nc, nz) = (4, 2);
    for convention in BOTH {
        let spec = HeaderSpec { float_type: FloatType::Float64, ..spec(nc, nz, convention, 1) };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.flux");
        let good = windows(&spec, 2);
        let mut bad = good.clone();
        for seam in convention.seams() {
            let (panel, edge) = seam.other;
            let section = edge_section(edge);
            let shape = section.shape(nc, nz);
            for s in 0..nc {
                let (i, j) = edge_face(edge, s, nc);
                bad[0].get_mut(section)[((panel.index() * nz + 1) * shape.nj + j) * shape.ni + i] = 123.0;
            }
        }
        write(&path, &spec, &bad, GatePolicy::all(GateAction::Skip));
        let file = TransportFile::open(&path).unwrap();
        for layout in [vec![whole_panels(nc)], split(nc, &[0, 3, 4], &[0, 1, 4], 3)] {
            for set in layout {
                let mut buffer = WindowBuffer::<f64>::new(set, file.header(), &[Section::FluxX, Section::FluxY]);
                file.load_window(0, &mut buffer).unwrap();
                compare(&buffer, &good[0], nc, nz, |v| v);
            }
        }
    }
}

#[test]
fn half_sweep_amounts_are_the_same_for_both_kinds() {
    let (nc, nz, steps) = (3, 2, 7);
    let substep = HeaderSpec {
        float_type: FloatType::Float64,
        steps: vec![steps],
        ..spec(nc, nz, PanelConvention::GeosNative, 1)
    };
    let full = HeaderSpec { flux_kind: FluxKind::FullWindowMassAmount, ..substep.clone() };
    let (_dir, path, good) = sample(&substep, 4);
    let mut whole = good.clone();
    for section in [Section::FluxX, Section::FluxY, Section::FluxZ] {
        whole[0].get_mut(section).iter_mut().for_each(|v| *v *= 14.0);
    }
    let other = path.with_extension("full");
    // The same gates accept the scaled window.
    write(&other, &full, &whole, GatePolicy::default());
    let read = |path: &Path| {
        let file = TransportFile::open(path).unwrap();
        let mut buffer = WindowBuffer::<f64>::new(whole_panels(nc), file.header(), &Section::CORE)
            .with_flux_form(FluxForm::HalfSweep);
        file.load_window(0, &mut buffer).unwrap();
        assert_eq!(buffer.loaded().unwrap().flux_scale, 1.0);
        buffer
    };
    let (a, b) = (read(&path), read(&other));
    compare(&a, &good[0], nc, nz, |v| v);
    for section in Section::CORE {
        let (a, b) = (a.get(section).unwrap().data(), b.get(section).unwrap().data());
        // Multiplying by 14 and by 1/14 rounds three times.
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1.5 * f64::EPSILON * a.abs()), "{section}");
    }
    let file = TransportFile::open(&other).unwrap();
    let mut stored = WindowBuffer::<f64>::new(whole_panels(nc), file.header(), &Section::CORE);
    file.load_window(0, &mut stored).unwrap();
    assert_eq!(stored.loaded().unwrap().flux_scale, 1.0 / 14.0);
    compare(&stored, &whole[0], nc, nz, |v| v);
}

#[test]
fn a_rank_without_tiles_reads_nothing() {
    let (_dir, path, _) = sample(&spec(2, 2, PanelConvention::Gnomonic, 1), 1);
    let file = TransportFile::open(&path).unwrap();
    let set = Arc::new(TileSet::new(Vec::new(), 2));
    let mut buffer = WindowBuffer::<f64>::new(set, file.header(), &Section::CORE);
    file.load_window(0, &mut buffer).unwrap();
}
