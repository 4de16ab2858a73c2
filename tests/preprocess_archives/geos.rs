//! The reader of GEOS-IT and GEOS-FP against formulas (spec 40 §1.3, §1.4, §1.11, §8).

use atmostr::grid::HybridCoordinate;
use atmostr::grid::constants::GRAVITY;
use atmostr::grid::vector::{add, dot, east_north, scale};
use atmostr::met::Section;
use atmostr::preprocess::readers::PhysicsGroup;
use atmostr::preprocess::readers::geos::{GeosProduct, GeosReader, GeosSource};
use atmostr::preprocess::readers::gridded::LevelOrder;
use atmostr::preprocess::{Coarsening, FacePlace, MetReader, Stages, Target};
use atmostr::regrid::WeightCache;
use decomposition::{Axis, Panel, PanelConvention};
use jiff::civil::{Date, date};

use crate::geos_files::{Air, Archive, LAYERS, NC, Physics, Product, Weather};
use crate::writer::{Order, geos, stored};

const DAY: Date = date(2021, 12, 1);
const CELLS: usize = 6 * NC * NC;

fn target(nc: usize) -> Target {
    Target::new(geos(nc), WeightCache::none())
}

fn layers() -> HybridCoordinate {
    HybridCoordinate::smooth(LAYERS, 1000.0).unwrap()
}

fn reader<'a>(target: &'a Target, archive: &Archive<'_>, physics: &[PhysicsGroup]) -> GeosReader<'a> {
    let product = match archive.product {
        Product::It => GeosProduct::It,
        Product::Fp => GeosProduct::Fp,
    };
    let root = archive.root.to_path_buf();
    let physics = physics.to_vec();
    let source = GeosSource { product, physics_root: root.clone(), root, nc: NC, order: LevelOrder::Auto, physics };
    GeosReader::new(target, source, layers(), DAY).unwrap()
}

fn mass(reader: &mut GeosReader<'_>, day: Date, n: usize) -> Vec<f64> {
    reader.endpoint(day, n, &mut Stages::default()).unwrap().mass
}

fn flux(reader: &mut GeosReader<'_>, n: usize) -> Vec<f64> {
    reader.window(DAY, n, &mut Stages::default()).unwrap().flux
}

/// Surface pressure in Pa as a reader of the file gets it.
fn ps(archive: &Archive<'_>, air: &Air, hour: usize, c: usize) -> f64 {
    match archive.pressure {
        "hPa" => stored(air.ps(hour, c) * 0.01) * 100.0,
        _ => stored(air.ps(hour, c)),
    }
}

/// Spec 40 §8: flip, dry masses (1 − q)(ΔA + ΔB·ps)·area/g and their sum, hours 0 to 24, in both archives (pitfalls T40-2, 4, 5).
#[test]
fn dry_masses_at_the_ends_of_all_hours() {
    let (target, coordinate) = (target(NC), layers());
    let (a, b) = (coordinate.a(), coordinate.b());
    for (product, order, pressure) in [
        (Product::It, Order::SurfaceFirst, "hPa"),
        (Product::It, Order::TopFirst, "Pa"),
        (Product::Fp, Order::TopFirst, "Pa"),
        (Product::Fp, Order::SurfaceFirst, "mbar"),
    ] {
        let root = tempfile::tempdir().unwrap();
        let archive = Archive { order, pressure, ..Archive::new(root.path(), product, Weather::Noise) };
        let archive = if pressure == "mbar" { Archive { pressure: "hPa", ..archive } } else { archive };
        archive.write(1);
        let air = Air::new(Weather::Noise, NC);
        let mut reader = reader(&target, &archive, &[]);
        for n in [0, 1, 13, 24] {
            let mass = mass(&mut reader, DAY, n);
            for c in 0..CELLS {
                let ps = ps(&archive, &air, n, c);
                let per_pa = target.areas()[c] / GRAVITY;
                let dry = |k: usize| (1.0 - stored(air.q(n, k, c))) * ((a[k + 1] - a[k]) + (b[k + 1] - b[k]) * ps);
                for k in 0..LAYERS {
                    let (found, expected) = (mass[k * CELLS + c], dry(k) * per_pa);
                    assert!(
                        (found / expected - 1.0).abs() < 1e-15 * 4.0,
                        "{product:?} {n} {k} {c}: {found} {expected}"
                    );
                }
                let column: f64 = (0..LAYERS).map(|k| mass[k * CELLS + c]).sum();
                let expected: f64 = (0..LAYERS).map(dry).sum::<f64>() * per_pa;
                assert!((column / expected - 1.0).abs() < 4e-15);
            }
        }
    }
}

/// Pitfall T40-1, spec 40 §1.3 rules 3 to 5: an hour moves 8·MFXC/g through the eastern and 8·MFYC/g through the northern face of
/// every cell; western and southern faces are the neighbour's; nothing is dried.
#[test]
fn an_hour_moves_eight_steps_through_every_face() {
    let target = target(NC);
    let faces = target.faces();
    for product in [Product::It, Product::Fp] {
        let root = tempfile::tempdir().unwrap();
        let archive = Archive::new(root.path(), product, Weather::Noise);
        archive.write(1);
        let air = Air::new(Weather::Noise, NC);
        let mut reader = reader(&target, &archive, &[]);
        for n in [0, 17] {
            let flux = flux(&mut reader, n);
            let mut seen = vec![0; flux.len()];
            for k in 0..LAYERS {
                for c in 0..CELLS {
                    let (panel, i, j) = (Panel::ALL[c / (NC * NC)], c % NC, c / NC % NC);
                    for (axis, i, j) in [(Axis::X, i + 1, j), (Axis::Y, i, j + 1)] {
                        let (face, sign) = faces.face_at(FacePlace { panel, axis, i, j });
                        let step = stored(air.transport(usize::from(axis == Axis::Y), n, k, c));
                        let (found, expected) = (flux[k * faces.faces() + face] * 3600.0, sign * 8.0 * step / GRAVITY);
                        assert!((found / expected - 1.0).abs() < 1e-15 * 4.0, "{n} {k} {c}: {found} {expected}");
                        seen[k * faces.faces() + face] += 1;
                    }
                }
            }
            // Spec 40 §1.3 rule 5: every face is the eastern or northern one of exactly one cell.
            assert!(seen.iter().all(|count| *count == 1));
        }
    }
}

/// Spec 40 §8, stagger and seams: stored copies mirror each other on all twelve edges, and what leaves a cell enters another.
#[test]
fn seams_mirror_and_divergence_sums_to_zero() {
    let root = tempfile::tempdir().unwrap();
    let archive = Archive::new(root.path(), Product::It, Weather::Noise);
    archive.write(1);
    for nc in [NC, NC / 2] {
        let target = target(nc);
        let faces = target.faces();
        let flux = flux(&mut reader(&target, &archive, &[]), 5);
        let len = 6 * LAYERS * nc * (nc + 1);
        let (mut am, mut bm) = (vec![0.0f64; len], vec![0.0f64; len]);
        faces.scatter_levels(&flux, LAYERS, &mut am, &mut bm);
        let largest = flux.iter().fold(0.0f64, |a, f| a.max(f.abs()));
        for k in 0..LAYERS {
            let at = |panel: Panel, edge: decomposition::Edge, s: usize| {
                let block = (panel.index() * LAYERS + k) * nc * (nc + 1);
                use decomposition::Edge;
                match edge {
                    Edge::West => am[block + s * (nc + 1)],
                    Edge::East => am[block + s * (nc + 1) + nc],
                    Edge::South => bm[block + s],
                    Edge::North => bm[block + nc * nc + s],
                }
            };
            for seam in PanelConvention::GeosNative.seams() {
                for s in 0..nc {
                    let (owner, other) =
                        (at(seam.owner.0, seam.owner.1, s), at(seam.other.0, seam.other.1, seam.along.map(s, nc)));
                    assert_eq!(other, seam.sign.factor() * owner);
                }
            }
            let mut out = vec![0.0; target.cells()];
            faces.divergence(&flux[k * faces.faces()..(k + 1) * faces.faces()], &mut out);
            assert!(out.iter().sum::<f64>().abs() <= 1e-15 * largest * target.cells() as f64);
        }
    }
}

/// Spec 40 §1.11: masses and fluxes of blocks are sums, fields are means by area.
#[test]
fn blocks_of_cells() {
    let root = tempfile::tempdir().unwrap();
    let archive = Archive::new(root.path(), Product::It, Weather::Noise);
    archive.write(1);
    let groups = [PhysicsGroup::Surface, PhysicsGroup::Convection, PhysicsGroup::Vdiff];
    let (fine, coarse) = (target(NC), target(NC / 4));
    let blocks = Coarsening::new(fine.grid(), coarse.grid()).unwrap();
    let (mut on_fine, mut on_coarse) = (reader(&fine, &archive, &groups), reader(&coarse, &archive, &groups));
    assert_eq!(on_fine.provenance()["geos_cs_resolution_strategy"], "identity");
    assert_eq!(on_coarse.provenance()["geos_cs_resolution_strategy"], "nested_block_coarsen_4x4");
    assert_eq!(on_coarse.provenance()["source_Nc"], 8);
    let (a, b) = (mass(&mut on_fine, DAY, 3), mass(&mut on_coarse, DAY, 3));
    let mut sums = vec![0.0; coarse.cells()];
    for (a, b) in a.chunks(fine.cells()).zip(b.chunks(coarse.cells())) {
        blocks.sums(a, &mut sums);
        assert_eq!(sums, b);
        let (all, of_all) = (a.iter().sum::<f64>(), b.iter().sum::<f64>());
        assert!((all / of_all - 1.0).abs() < 1e-14);
    }
    let window = |reader: &mut GeosReader<'_>| reader.window(DAY, 3, &mut Stages::default()).unwrap();
    let (a, b) = (window(&mut on_fine), window(&mut on_coarse));
    let mut sums = vec![0.0; coarse.faces().faces()];
    for (a, b) in a.flux.chunks(fine.faces().faces()).zip(b.flux.chunks(coarse.faces().faces())) {
        blocks.fluxes(a, &mut sums);
        assert_eq!(sums, b);
    }
    let mut means = vec![0.0; coarse.cells()];
    for ((section, a), (_, b)) in a.physics.iter().zip(&b.physics) {
        let close = match section {
            // Dried with the humidity of the block.
            Section::Cmfmc | Section::Dtrain => 1e-3,
            // Means of vectors, see below.
            Section::VdiffU | Section::VdiffV => continue,
            _ => 1e-14,
        };
        for (a, b) in a.chunks(fine.cells()).zip(b.chunks(coarse.cells())) {
            blocks.area_means(a, &mut means);
            for (mean, b) in means.iter().zip(b) {
                assert!((mean - b).abs() <= close * mean.abs(), "{section:?}: {mean} {b}");
            }
        }
    }
}

/// Winds of blocks are means of vectors, so that they are right where north turns: at the poles too.
#[test]
fn winds_of_blocks() {
    let root = tempfile::tempdir().unwrap();
    let archive = Archive::new(root.path(), Product::It, Weather::Noise);
    archive.write(1);
    let (nc, air) = (NC / 4, Air::new(Weather::Noise, NC));
    let (fine, coarse) = (geos(NC), target(nc));
    let met = reader(&coarse, &archive, &[PhysicsGroup::Vdiff]).window(DAY, 4, &mut Stages::default()).unwrap();
    let field = |section: Section| &met.physics.iter().find(|(s, _)| *s == section).unwrap().1;
    for c in 0..coarse.cells() {
        let (panel, i, j) = (Panel::ALL[c / (nc * nc)], c % nc, c / nc % nc);
        for k in 0..LAYERS {
            let (mut sum, mut area) = ([0.0; 3], 0.0);
            for n in 0..16 {
                let (i, j) = (4 * i + n % 4, 4 * j + n / 4);
                let cell = (panel.index() * NC + j) * NC + i;
                let (east, north) = east_north(fine.center(panel, i, j));
                let [u, v] = ["U", "V"].map(|name| stored(air.layer(name, 1, k, cell)));
                sum = add(sum, scale(add(scale(east, u), scale(north, v)), fine.area(i, j)));
                area += fine.area(i, j);
            }
            let (east, north) = east_north(coarse.grid().center(panel, i, j));
            for (section, along) in [(Section::VdiffU, east), (Section::VdiffV, north)] {
                let (found, expected) = (field(section)[k * coarse.cells() + c], dot(sum, along) / area);
                assert!((found - expected).abs() < 1e-13 * 20.0, "{section:?} {c} {k}: {found} {expected}");
            }
        }
    }
}

/// Spec 40 §1.4: fields of the ground by hour, convection held over 3 h and dried with the window's own humidity, states of layers
/// at the start of the block and humidity at that of the hour.
#[test]
fn physics_of_an_hour() {
    let target = target(NC);
    let air = Air::new(Weather::Noise, NC);
    for (product, physics) in [(Product::It, Physics::Cube), (Product::Fp, Physics::Cube)] {
        let root = tempfile::tempdir().unwrap();
        let archive = Archive { physics, ..Archive::new(root.path(), product, Weather::Noise) };
        archive.write(1);
        let mut groups = vec![PhysicsGroup::Surface, PhysicsGroup::Convection];
        groups.extend((product == Product::It).then_some(PhysicsGroup::Vdiff));
        let mut reader = reader(&target, &archive, &groups);
        for n in [0, 10, 23] {
            let met = reader.window(DAY, n, &mut Stages::default()).unwrap();
            assert_eq!(met.physics.iter().map(|(s, _)| *s).collect::<Vec<_>>(), reader.physics());
            let block = n / 3;
            let q = |k: usize, c: usize| 0.5 * (stored(air.q(n, k, c)) + stored(air.q(n + 1, k, c)));
            let expected = |section: Section, k: usize, c: usize| match section {
                Section::Pblh => stored(air.ground("PBLH", n, c)),
                Section::Ustar => stored(air.ground("USTAR", n, c)),
                Section::SensibleHeatFlux => stored(air.ground("HFLUX", n, c)),
                Section::T2m => stored(air.ground("T2M", n, c)),
                Section::Cmfmc => {
                    let dry = 1.0 - 0.5 * (q(k.max(1) - 1, c) + q(k.min(LAYERS - 1), c));
                    stored(air.cmfmc(block, k, c)) * dry
                }
                Section::Dtrain => stored(air.dtrain(block, k, c)) * (1.0 - q(k, c)),
                Section::VdiffU => stored(air.layer("U", block, k, c)),
                Section::VdiffV => stored(air.layer("V", block, k, c)),
                Section::VdiffT => stored(air.layer("T", block, k, c)),
                Section::VdiffQv => stored(air.q(n, k, c)),
                _ => unreachable!("{section:?}"),
            };
            for (section, values) in &met.physics {
                for (at, found) in values.iter().enumerate() {
                    let expected = expected(*section, at / CELLS, at % CELLS);
                    let error = (found - expected).abs();
                    assert!(error <= 4e-15 * expected.abs(), "{product:?} {section:?} {at}: {found} {expected}");
                }
            }
        }
    }
}

/// Physics of GEOS-FP from longitudes and latitudes: interpolated to the centres, turned over, dried.
#[test]
fn physics_from_longitudes_and_latitudes() {
    let root = tempfile::tempdir().unwrap();
    let archive = Archive::new(root.path(), Product::Fp, Weather::Steady);
    archive.write(1);
    let target = target(NC);
    let air = Air::new(Weather::Steady, NC);
    let mut reader = reader(&target, &archive, &[PhysicsGroup::Surface, PhysicsGroup::Convection]);
    let met = reader.window(DAY, 7, &mut Stages::default()).unwrap();
    let field = |section: Section| &met.physics.iter().find(|(s, _)| *s == section).unwrap().1;
    // The archive holds cells as steps; interpolation lies between their values.
    let near = |found: f64, value: f64, spread: f64, what: &str| {
        assert!((found - value).abs() < spread, "{what}: {found} {value}");
    };
    for c in 0..CELLS {
        near(field(Section::Pblh)[c], air.ground("PBLH", 7, c), 80.0, "PBLH");
        for k in 0..LAYERS {
            let (found, moist) = (field(Section::Dtrain)[k * CELLS + c], air.dtrain(2, k, c));
            near(found, moist, 0.3 * moist + 1e-12, "DTRAIN");
            assert_eq!(found == 0.0, k < LAYERS / 2, "layer {k}");
        }
        for k in 0..=LAYERS {
            let moist = air.cmfmc(2, k, c);
            near(field(Section::Cmfmc)[k * CELLS + c], moist, 0.3 * moist + 1e-12, "CMFMC");
        }
    }
}

/// Hour 24 is the first of the next day, from whichever day it is asked.
#[test]
fn a_day_ends_where_the_next_begins() {
    for product in [Product::It, Product::Fp] {
        let root = tempfile::tempdir().unwrap();
        let archive = Archive::new(root.path(), product, Weather::Noise);
        archive.write(1);
        let target = target(NC);
        let mut reader = reader(&target, &archive, &[]);
        let end = mass(&mut reader, DAY, 24);
        assert_eq!(mass(&mut reader, DAY.tomorrow().unwrap(), 0), end);
        assert_ne!(mass(&mut reader, DAY, 23), end);
    }
}
