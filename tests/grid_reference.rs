//! Cubed-sphere geometry against files written by other programs, and panel contacts against the geometry.

use std::path::{Path, PathBuf};

use atmostr::grid::vector::{add, angle, from_lonlat, normalise, solid_angle, subtract};
use atmostr::grid::{CubedSphere, GeometryBundle};
use decomposition::{AlongEdge, Edge, Panel, PanelConvention};

fn geos(nc: usize, radius_m: f64) -> CubedSphere {
    let bundle = GeometryBundle::GeosNative;
    CubedSphere::new(nc, bundle, bundle.default_offset_deg(), radius_m).unwrap()
}

/// Reference folder: `ATMOSTR_REFERENCE_DIR`, else the small cases kept with the tests.
fn reference_folder() -> PathBuf {
    let kept = || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference");
    std::env::var_os("ATMOSTR_REFERENCE_DIR").map_or_else(kept, PathBuf::from).join("cubed_sphere_grid")
}

/// A file of the optional data collection beside the repository; prints why a test is skipped.
fn collected(name: &str) -> Option<netcdf::File> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/cubed_sphere_grids").join(name);
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    Some(netcdf::open(&path).unwrap())
}

fn values(file: &netcdf::File, name: &str) -> Vec<f64> {
    file.variable(name).unwrap_or_else(|| panic!("no variable {name}")).get_values(..).unwrap()
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    let d = subtract(a, b);
    (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt()
}

/// Largest distance between the points (in degrees) of a (6, n, n) field and `point`.
fn worst(lon: &[f64], lat: &[f64], n: usize, point: impl Fn(Panel, usize, usize) -> [f64; 3]) -> f64 {
    assert_eq!((lon.len(), lat.len()), (6 * n * n, 6 * n * n));
    let mut worst = 0.0f64;
    for panel in Panel::ALL {
        for (j, i) in (0..n * n).map(|c| (c / n, c % n)) {
            let at = (panel.index() * n + j) * n + i;
            worst = worst.max(distance(from_lonlat(lon[at], lat[at]), point(panel, i, j)));
        }
    }
    worst
}

/// Largest relative error of a (6, nj, ni) field.
fn worst_ratio(expected: &[f64], ni: usize, nj: usize, value: impl Fn(usize, usize) -> f64) -> f64 {
    assert_eq!(expected.len(), 6 * ni * nj);
    let errors = expected.iter().enumerate().map(|(at, e)| (value(at % ni, at / ni % nj) / e - 1.0).abs());
    errors.fold(0.0, f64::max)
}

#[test]
fn fv3_grids() {
    let folder = reference_folder();
    let mut cases = 0;
    for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("fv3_c") || !name.ends_with(".nc") {
            continue;
        }
        cases += 1;
        let file = netcdf::open(&path).unwrap();
        let nc = file.dimension_len("x").unwrap();
        let grid = geos(nc, 1.0);
        let degrees = |name: &str| values(&file, name).into_iter().map(f64::to_degrees).collect::<Vec<_>>();
        let corner = |panel, i, j| grid.corner(panel, i, j);
        let corner_error = worst(&degrees("corner_lon"), &degrees("corner_lat"), nc + 1, corner);
        assert!(corner_error <= 1e-14, "{name}: corners off by {corner_error}");
        let (lon, lat) = (values(&file, "gcpy_corner_lon"), values(&file, "gcpy_corner_lat"));
        let error = worst(&lon, &lat, nc + 1, corner);
        assert!(error <= 1e-14, "{name}: second set of corners off by {error}");
        let center = |panel, i, j| grid.center(panel, i, j);
        let error = worst(&degrees("center_lon"), &degrees("center_lat"), nc, center);
        assert!(error <= 1e-14, "{name}: centres off by {error}");
        // The solid-angle formula on the file's own corners, then the grid's areas: those may differ as far as the
        // corners do, measured in cell widths.
        let (lon, lat) = (degrees("corner_lon"), degrees("corner_lat"));
        let expected = values(&file, "area");
        for (at, area) in expected.iter().enumerate() {
            let (i, j, tile) = (at % nc, at / nc % nc, at / (nc * nc));
            let point = |di: usize, dj: usize| {
                let corner = (tile * (nc + 1) + j + dj) * (nc + 1) + i + di;
                from_lonlat(lon[corner], lat[corner])
            };
            let [sw, se, ne, nw] = [point(0, 0), point(1, 0), point(1, 1), point(0, 1)];
            let error = ((solid_angle(sw, se, ne) + solid_angle(sw, ne, nw)) / area - 1.0).abs();
            assert!(error <= 1e-13, "{name}: tile {} cell ({i}, {j}): {error}", tile + 1);
        }
        let tolerance = f64::max(1e-13, corner_error / grid.dx(0, 0));
        let area = worst_ratio(&expected, nc, nc, |i, j| grid.area(i, j));
        assert!(area <= tolerance, "{name}: areas off by {area}, more than {tolerance}");
        // Lengths follow from corners that agree to 1e-14 absolute.
        let tolerance = 2e-14 * nc as f64;
        let lengths = [
            worst_ratio(&values(&file, "dx"), nc, nc + 1, |i, j| grid.face_length_y(i, j)),
            worst_ratio(&values(&file, "dy"), nc + 1, nc, |i, j| grid.face_length_x(i, j)),
            worst_ratio(&values(&file, "dxa"), nc, nc, |i, j| grid.dx(i, j)),
            worst_ratio(&values(&file, "dya"), nc, nc, |i, j| grid.dy(i, j)),
        ];
        assert!(lengths.iter().all(|e| *e <= tolerance), "{name}: lengths off by {lengths:?}");
    }
    assert!(cases > 0, "no fv3_c*.nc in {}", folder.display());
}

/// The supergrid holds corners at even indices, mid-points of the sides at mixed and cell centres at odd ones.
#[test]
fn gfdl_supergrid() {
    let Some(file) = collected("gfdl_c48_supergrid.nc") else { return };
    let grid = geos(48, 1.0);
    let point = |p: Panel, i: usize, j: usize| {
        let (a, b) = (i / 2, j / 2);
        match (i % 2, j % 2) {
            (0, 0) => grid.corner(p, a, b),
            (1, 1) => grid.center(p, a, b),
            (x, y) => normalise(add(grid.corner(p, a, b), grid.corner(p, a + x, b + y))),
        }
    };
    let error = worst(&values(&file, "x"), &values(&file, "y"), 97, point);
    assert!(error <= 1e-13, "{error}");
}

/// Panel contacts of the GFDL mosaic file, lines such as "96:96,1:96::1:1,1:96" (i range, j range on both tiles).
#[test]
fn gfdl_mosaic_contacts() {
    let Some(file) = collected("gfdl_c48_mosaic.nc") else { return };
    let lines = |name: &str| -> Vec<String> {
        let variable = file.variable(name).unwrap();
        let bytes = variable.get_raw_values(..).unwrap();
        let text = |row: &[u8]| String::from_utf8(row.iter().copied().take_while(|b| *b != 0).collect()).unwrap();
        bytes.chunks(variable.dimensions()[1].len()).map(text).collect()
    };
    let contacts = lines("contacts");
    assert_eq!(contacts.len(), 12);
    for (tiles, ranges) in contacts.iter().zip(lines("contact_index")) {
        let tile = |text: &str| Panel::new(text.rsplit("tile").next().unwrap().parse::<usize>().unwrap() - 1).unwrap();
        let (from, to) = tiles.split_once("::").unwrap();
        let (near, far) = ranges.split_once("::").unwrap();
        let contact = PanelConvention::GeosNative.contact(tile(from), edge(near).0);
        assert_eq!((contact.panel, contact.edge), (tile(to), edge(far).0), "{tiles}");
        let turned = edge(near).1 != edge(far).1;
        assert_eq!(contact.along, if turned { AlongEdge::Reversed } else { AlongEdge::Aligned }, "{tiles}");
    }
}

/// Edge of a 96-wide tile named by its index ranges, and whether the along-edge index rises.
fn edge(ranges: &str) -> (Edge, bool) {
    let span = |text: &str| {
        let (a, b) = text.split_once(':').unwrap();
        (a.parse::<usize>().unwrap(), b.parse::<usize>().unwrap())
    };
    let (i, j) = ranges.split_once(',').map(|(i, j)| (span(i), span(j))).unwrap();
    match (i, j) {
        ((96, 96), (a, b)) => (Edge::East, a < b),
        ((1, 1), (a, b)) => (Edge::West, a < b),
        ((a, b), (96, 96)) => (Edge::North, a < b),
        ((a, b), (1, 1)) => (Edge::South, a < b),
        _ => panic!("not an edge: {ranges}"),
    }
}

/// Single-precision file of an FV3-GFS run: 1.5e-5 degrees, areas to the rounding of their angle-sum formula.
#[test]
fn fv3_gfs_grid() {
    let Some(file) = collected("fv3gfs_c48_grid_spec.nc") else { return };
    let grid = geos(48, 6_371_200.0);
    let single = 2e-5f64.to_radians();
    let error = worst(&values(&file, "grid_lon"), &values(&file, "grid_lat"), 49, |p, i, j| grid.corner(p, i, j));
    assert!(error <= single, "{error}");
    let error = worst(&values(&file, "grid_lont"), &values(&file, "grid_latt"), 48, |p, i, j| grid.center(p, i, j));
    assert!(error <= single, "{error}");
    let area = values(&file, "area");
    let error = worst_ratio(&area, 48, 48, |i, j| grid.area(i, j));
    assert!(error <= 2e-7, "{error}");
}

/// Native GEOS output, C12, single-precision longitudes and latitudes.
#[test]
fn geos_native_file() {
    let Some(file) = collected("geos_c12_native.nc4") else { return };
    let grid = geos(12, 1.0);
    let single = 2e-5f64.to_radians();
    let error = worst(&values(&file, "corner_lons"), &values(&file, "corner_lats"), 13, |p, i, j| grid.corner(p, i, j));
    assert!(error <= single, "{error}");
    let error = worst(&values(&file, "lons"), &values(&file, "lats"), 12, |p, i, j| grid.center(p, i, j));
    assert!(error <= single, "{error}");
    // Neighbours from the left side going clockwise.
    let contacts = values(&file, "contacts");
    for panel in Panel::ALL {
        for (n, edge) in [Edge::West, Edge::North, Edge::East, Edge::South].into_iter().enumerate() {
            let neighbour = grid.convention().contact(panel, edge).panel;
            assert_eq!(neighbour.number() as f64, contacts[panel.index() * 4 + n], "{panel} {edge:?}");
        }
    }
}

/// All 24 edges of both conventions: corner points of touching edges have the same bits.
#[test]
fn contact_tables_fit_the_geometry() {
    for bundle in GeometryBundle::ALL {
        for nc in [1, 5, 12] {
            let grid = CubedSphere::new(nc, bundle, bundle.default_offset_deg(), 1.0).unwrap();
            let point = |panel: Panel, edge: Edge, s: usize| match edge {
                Edge::North => grid.corner(panel, s, nc),
                Edge::South => grid.corner(panel, s, 0),
                Edge::East => grid.corner(panel, nc, s),
                Edge::West => grid.corner(panel, 0, s),
            };
            for panel in Panel::ALL {
                for edge in Edge::ALL {
                    let contact = grid.convention().contact(panel, edge);
                    for s in 0..=nc {
                        let there = point(contact.panel, contact.edge, contact.along.map(s, nc + 1));
                        assert_eq!(point(panel, edge, s), there, "{bundle:?} {panel} {edge:?} {s}");
                    }
                    // The cells behind touching sides are neighbours.
                    let cell = |edge: Edge, s: usize| match edge {
                        Edge::North => (s, nc - 1),
                        Edge::South => (s, 0),
                        Edge::East => (nc - 1, s),
                        Edge::West => (0, s),
                    };
                    for s in 0..nc {
                        let (i, j) = cell(edge, s);
                        let (a, b) = cell(contact.edge, contact.along.map(s, nc));
                        let apart = angle(grid.center(panel, i, j), grid.center(contact.panel, a, b));
                        assert!(apart < 1.7 / nc as f64, "{bundle:?} {panel} {edge:?} {s}: {apart}");
                    }
                }
            }
        }
    }
}
