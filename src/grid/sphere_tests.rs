use std::f64::consts::PI;

use decomposition::Panel;
use proptest::prelude::*;

use super::super::vector::{angle, cross, dot, normalise, subtract};
use super::*;

fn sphere(nc: usize, bundle: GeometryBundle) -> CubedSphere {
    CubedSphere::new(nc, bundle, bundle.default_offset_deg(), 6.371e6).unwrap()
}

fn panel(number: usize) -> Panel {
    Panel::new(number - 1).unwrap()
}

fn assert_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
}

/// Published positions of the GEOS C180 grid (GEOS-FP native files).
#[test]
fn geos_c180_centres() {
    let grid = sphere(180, GeometryBundle::GeosNative);
    let (lon, lat) = grid.center_lonlat(panel(1), 89, 139);
    assert_close(lat, 26.46802143378195, 1e-12);
    assert_close(lon, 349.7229398200612, 1e-12);
    let first = [
        (305.2080512496, -35.1660163428),
        (35.2080512496, -35.1660163428),
        (35.0, 35.4607800866),
        (125.2080512496, 35.1660163428),
        (215.2080512496, 35.1660163428),
        (215.0, -35.4607800866),
    ];
    for (panel, (lon, lat)) in Panel::ALL.into_iter().zip(first) {
        let found = grid.center_lonlat(panel, 0, 0);
        assert_close(found.0, lon, 1e-9);
        assert_close(found.1, lat, 1e-9);
    }
    // i runs southwards on the fourth panel.
    let (lon, lat) = grid.center_lonlat(panel(4), 179, 0);
    assert_close(lon, 125.2080512496, 1e-9);
    assert_close(lat, -35.1660163428, 1e-9);
}

/// Corner-cell areas from independent evaluations of the great-circle quadrilateral.
#[test]
fn corner_cell_areas() {
    let cases = [
        (GeometryBundle::GeosNative, 24, 9.5959708753e10),
        (GeometryBundle::GeosNative, 90, 6.6400613668e9),
        (GeometryBundle::GeosNative, 180, 1.6519401788e9),
        (GeometryBundle::Gnomonic, 24, 1.3397481960e11),
        (GeometryBundle::Gnomonic, 90, 9.5186958267e9),
        (GeometryBundle::Gnomonic, 180, 2.3795531662e9),
    ];
    for (bundle, nc, area) in cases {
        assert_close(sphere(nc, bundle).area(0, 0) / area, 1.0, 1e-10);
    }
    for (bundle, ratio) in [(GeometryBundle::GeosNative, 2.2177), (GeometryBundle::Gnomonic, 1.3680)] {
        let grid = sphere(24, bundle);
        let areas = (0..24 * 24).map(|c| grid.area(c % 24, c / 24));
        let (low, high) = areas.fold((f64::MAX, 0.0f64), |(low, high), a| (low.min(a), high.max(a)));
        assert_close(high / low, ratio, 5e-5);
    }
}

#[test]
fn areas_fill_the_sphere() {
    for bundle in GeometryBundle::ALL {
        for nc in [1, 2, 3, 7, 24, 90, 181] {
            let grid = CubedSphere::new(nc, bundle, 12.5, 2.0).unwrap();
            assert_close(grid.total_area() / (16.0 * PI), 1.0, 1e-14);
        }
    }
}

#[test]
fn metrics_serve_every_panel() {
    for bundle in GeometryBundle::ALL {
        let nc = 9;
        let grid = sphere(nc, bundle);
        let r = grid.radius_m();
        for panel in Panel::ALL {
            for j in 0..nc {
                for i in 0..nc {
                    let [sw, se] = [grid.corner(panel, i, j), grid.corner(panel, i + 1, j)];
                    let [nw, ne] = [grid.corner(panel, i, j + 1), grid.corner(panel, i + 1, j + 1)];
                    let mid = |a: [f64; 3], b: [f64; 3]| normalise(std::array::from_fn(|c| a[c] + b[c]));
                    assert_close(grid.dx(i, j) / (r * angle(mid(sw, nw), mid(se, ne))), 1.0, 1e-13);
                    assert_close(grid.dy(i, j) / (r * angle(mid(sw, se), mid(nw, ne))), 1.0, 1e-13);
                    assert_close(grid.face_length_x(i, j) / (r * angle(sw, nw)), 1.0, 1e-13);
                    assert_close(grid.face_length_x(i + 1, j) / (r * angle(se, ne)), 1.0, 1e-13);
                    assert_close(grid.face_length_y(i, j) / (r * angle(sw, se)), 1.0, 1e-13);
                    assert_close(grid.face_length_y(i, j + 1) / (r * angle(nw, ne)), 1.0, 1e-13);
                    assert_eq!(grid.area(i, j), grid.area(j, i));
                    assert_eq!(grid.area(i, j), grid.area(nc - 1 - i, j));
                }
            }
        }
    }
}

/// Every point of an edge appears, with the same bits, on exactly one other panel; a vertex on two.
#[test]
fn seam_corners_are_shared_to_the_bit() {
    for bundle in GeometryBundle::ALL {
        for nc in [1, 4, 7] {
            let grid = sphere(nc, bundle);
            let rim = |panel: Panel| {
                (0..=nc)
                    .flat_map(move |j| (0..=nc).map(move |i| (i, j)))
                    .filter(move |&(i, j)| i == 0 || j == 0 || i == nc || j == nc)
                    .map(move |(i, j)| (panel, i, j))
            };
            let all: Vec<_> = Panel::ALL.into_iter().flat_map(rim).collect();
            for &(p, i, j) in &all {
                let here = grid.corner(p, i, j).map(|c| c + 0.0);
                let count = all.iter().filter(|&&(q, a, b)| grid.corner(q, a, b).map(|c| c + 0.0) == here).count();
                let vertex = (i == 0 || i == nc) && (j == 0 || j == nc);
                assert_eq!(count, if vertex { 3 } else { 2 }, "{bundle:?} C{nc} {p} corner ({i}, {j})");
            }
        }
    }
}

#[test]
fn every_centre_is_found_again() {
    for bundle in GeometryBundle::ALL {
        let grid = sphere(24, bundle);
        for panel in Panel::ALL {
            for j in 0..24 {
                for i in 0..24 {
                    let (lon, lat) = grid.center_lonlat(panel, i, j);
                    assert_eq!(grid.locate(lon, lat), Ok(CellIndex { panel, i, j }));
                    assert_eq!(grid.locate(lon - 360.0, lat), Ok(CellIndex { panel, i, j }));
                }
            }
        }
    }
}

#[test]
fn locate_refuses_what_is_not_a_position() {
    let grid = sphere(4, GeometryBundle::Gnomonic);
    for (lon, lat) in [(f64::NAN, 0.0), (0.0, f64::INFINITY), (0.0, 90.1), (721.0, 0.0)] {
        assert!(matches!(grid.locate(lon, lat), Err(GridError::Location { .. })));
    }
    assert_eq!(grid.locate(0.0, 90.0).unwrap().panel, panel(5));
    assert_eq!(grid.locate(720.0, -90.0).unwrap().panel, panel(6));
}

#[test]
fn parameters_are_checked() {
    let new = |nc, offset, radius| CubedSphere::new(nc, GeometryBundle::Gnomonic, offset, radius).unwrap_err();
    assert!(matches!(new(0, 0.0, 1.0), GridError::CellCount { nc: 0, .. }));
    assert!(matches!(new(CubedSphere::MAX_NC + 1, 0.0, 1.0), GridError::CellCount { .. }));
    assert!(matches!(new(4, f64::NAN, 1.0), GridError::Offset { .. }));
    assert!(matches!(new(4, 0.0, 0.0), GridError::Radius { .. }));
    assert!(matches!(new(4, 0.0, f64::INFINITY), GridError::Radius { .. }));
}

/// Axes against central differences of the panel map over 1e-6 of a cell.
#[test]
fn tangent_axes_follow_the_map() {
    for bundle in GeometryBundle::ALL {
        let nc = 6;
        let grid = CubedSphere::new(nc, bundle, 33.0, 1.0).unwrap();
        let map = |panel: Panel, s: f64, t: f64| {
            let xi = bundle.coordinate((2.0 * s - nc as f64) / nc as f64);
            let eta = bundle.coordinate((2.0 * t - nc as f64) / nc as f64);
            grid.turned(grid.frame(panel).point(xi, eta))
        };
        for panel in Panel::ALL {
            for (i, j) in (0..nc * nc).map(|c| (c % nc, c / nc)) {
                let (s, t, h) = (i as f64 + 0.5, j as f64 + 0.5, 1e-6);
                let center = grid.center(panel, i, j);
                let (east, north) = super::super::vector::east_north(center);
                let project = |d: [f64; 3]| {
                    let radial = dot(d, center);
                    let unit = normalise(subtract(d, center.map(|c| c * radial)));
                    (dot(unit, east), dot(unit, north))
                };
                let x = project(subtract(map(panel, s + h, t), map(panel, s - h, t)));
                let y = project(subtract(map(panel, s, t + h), map(panel, s, t - h)));
                let basis = grid.tangent_basis(panel, i, j);
                for (found, expected) in
                    [(basis.x_east, x.0), (basis.x_north, x.1), (basis.y_east, y.0), (basis.y_north, y.1)]
                {
                    assert_close(found, expected, 2e-8);
                }
            }
        }
    }
}

#[test]
fn tangent_axes_at_panel_centres() {
    let grid = sphere(5, GeometryBundle::GeosNative);
    // First panel: i east, j north; fourth: i south, j east.
    let basis = grid.tangent_basis(panel(1), 2, 2);
    assert_close(basis.x_east, 1.0, 1e-15);
    assert_close(basis.y_north, 1.0, 1e-15);
    let basis = grid.tangent_basis(panel(4), 2, 2);
    assert_close(basis.x_north, -1.0, 1e-15);
    assert_close(basis.y_east, 1.0, 1e-15);
}

proptest! {
    /// The four sides of the cell found have the point on their inner side.
    #[test]
    fn located_cells_contain_the_point(
        native in any::<bool>(),
        nc in 1usize..40,
        offset in -180.0f64..180.0,
        lon in -720.0f64..720.0,
        z in -1.0f64..1.0,
    ) {
        let bundle = if native { GeometryBundle::GeosNative } else { GeometryBundle::Gnomonic };
        let grid = CubedSphere::new(nc, bundle, offset, 1.0).unwrap();
        let lat = z.asin().to_degrees();
        let CellIndex { panel, i, j } = grid.locate(lon, lat).unwrap();
        let v = super::super::vector::from_lonlat(lon, lat);
        let ring = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(a, b)| grid.corner(panel, a, b));
        for side in 0..4 {
            let inward = dot(cross(ring[side], ring[(side + 1) % 4]), v);
            prop_assert!(inward >= -1e-14, "{panel} ({i}, {j}): {inward}");
        }
    }
}
