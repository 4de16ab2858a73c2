use decomposition::{Edge, Panel};

use super::super::SynthFlow;
use super::*;
use crate::grid::GeometryBundle;

const ALL: [SynthFlow; 6] = [
    SynthFlow::SolidBody { angle_deg: 45.0 },
    SynthFlow::Deformation,
    SynthFlow::Divergent,
    SynthFlow::Hadley,
    SynthFlow::Deformation3d,
    SynthFlow::Weather,
];

fn generator(flow: SynthFlow, bundle: GeometryBundle, nc: usize, levels: usize, seconds: f64) -> Generator {
    let recipe = flow.recipe(levels).unwrap();
    let grid = CubedSphere::new(nc, bundle, bundle.default_offset_deg(), recipe.radius_m).unwrap();
    Generator::new(grid, recipe, seconds)
}

/// (cell, its west, south and top side, and the opposite sides) for all cells.
fn cells(nc: usize, nz: usize) -> impl Iterator<Item = (usize, [usize; 6])> {
    (0..6 * nz * nc * nc).map(move |cell| {
        let (i, j, k, panel) = (cell % nc, cell / nc % nc, cell / (nc * nc) % nz, cell / (nc * nc * nz));
        let west = ((panel * nz + k) * nc + j) * (nc + 1) + i;
        let south = ((panel * nz + k) * (nc + 1) + j) * nc + i;
        let top = ((panel * (nz + 1) + k) * nc + j) * nc + i;
        (cell, [west, west + 1, south, south + nc, top, top + nc * nc])
    })
}

#[test]
fn budgets_close_and_cells_keep_air() {
    for bundle in GeometryBundle::ALL {
        for flow in ALL {
            let (nc, nz) = (8, 6);
            let mut generator = generator(flow, bundle, nc, nz, 7200.0);
            let mut end_of_last: Option<Vec<f64>> = None;
            for _ in 0..3 {
                let air = generator.next_window().unwrap();
                if let Some(end) = end_of_last.replace(air.m_next.clone()) {
                    assert_eq!(end, air.m, "{flow:?}: windows join to the bit");
                }
                let largest = air.m_next.iter().copied().fold(0.0, f64::max);
                let twice = 2.0 * f64::from(air.steps);
                for (cell, [w, e, s, n, t, b]) in cells(nc, nz) {
                    let divergence = (air.am[e] - air.am[w]) + (air.bm[n] - air.bm[s]) + (air.cm[b] - air.cm[t]);
                    let replay = air.m[cell] - twice * divergence;
                    let error = (replay - air.m_next[cell]).abs() / largest;
                    assert!(error <= 1e-13, "{flow:?} {bundle:?} cell {cell}: {error:e}");
                    let out = |low: f64, high: f64| f64::max(0.0, -low) + f64::max(0.0, high);
                    let outflow = out(air.am[w], air.am[e]) + out(air.bm[s], air.bm[n]) + out(air.cm[t], air.cm[b]);
                    assert!(2.0 * outflow / air.m[cell].min(air.m_next[cell]) <= 0.95, "{flow:?} cell {cell}");
                }
                let plane = nc * nc;
                for column in air.cm.chunks(plane * (nz + 1)) {
                    assert!(column[..plane].iter().chain(&column[nz * plane..]).all(|f| *f == 0.0));
                }
            }
        }
    }
}

#[test]
fn seam_copies_have_the_same_bits() {
    for bundle in GeometryBundle::ALL {
        for flow in ALL {
            let (nc, nz) = (6, 3);
            let air = generator(flow, bundle, nc, nz, 3600.0).next_window().unwrap();
            let side = |panel: Panel, edge: Edge, k: usize, s: usize| {
                let level = panel.index() * nz + k;
                match edge {
                    Edge::West => air.am[(level * nc + s) * (nc + 1)],
                    Edge::East => air.am[(level * nc + s) * (nc + 1) + nc],
                    Edge::South => air.bm[level * (nc + 1) * nc + s],
                    Edge::North => air.bm[(level * (nc + 1) + nc) * nc + s],
                }
            };
            for seam in bundle.convention().seams() {
                for (k, s) in (0..nz * nc).map(|n| (n / nc, n % nc)) {
                    let owner = side(seam.owner.0, seam.owner.1, k, s);
                    let other = side(seam.other.0, seam.other.1, k, seam.along.map(s, nc));
                    assert_eq!(other, seam.sign.factor() * owner, "{flow:?} {bundle:?} seam {}", seam.number);
                }
            }
        }
    }
}

/// Air over a quarter meridian moves as the solid-body wind says: u·length·mass per area.
#[test]
fn solid_body_moves_air_at_its_speed() {
    let (nc, seconds) = (12, 3600.0);
    let mut generator = generator(SynthFlow::SolidBody { angle_deg: 0.0 }, GeometryBundle::Gnomonic, nc, 1, seconds);
    let air = generator.next_window().unwrap();
    // The west side of the first panel, from 45 degrees west: latitudes ±35.26 degrees.
    let total: f64 = (0..nc).map(|j| air.am[j * (nc + 1)]).sum();
    let radius = generator.grid().radius_m();
    let speed = 2.0 * std::f64::consts::PI * radius / (12.0 * 86_400.0);
    let expected =
        speed * 2.0 * radius * (1.0f64 / 3.0).sqrt() * 1e5 / GRAVITY * seconds / (2.0 * f64::from(air.steps));
    assert!((total / expected - 1.0).abs() < 1e-12, "{total} {expected}");
}

/// Vertical motion of the three-dimensional cases against their published w and ω, averaged by the grid.
#[test]
fn vertical_motion_is_the_published_one() {
    let (nc, nz, seconds) = (24, 10, 60.0);
    for flow in [SynthFlow::Hadley, SynthFlow::Deformation3d] {
        let mut generator = generator(flow, GeometryBundle::GeosNative, nc, nz, seconds);
        let air = generator.next_window().unwrap();
        let (grid, recipe) = (generator.grid(), generator.recipe());
        let mut worst = [0.0f64; 2];
        for (cell, [.., bottom]) in cells(nc, nz) {
            let (i, j, k) = (cell % nc, cell / nc % nc, cell / (nc * nc) % nz);
            let panel = Panel::ALL[cell / (nc * nc * nz)];
            let [x, y, z] = grid.center(panel, i, j);
            let (time, pressure) = (0.5 * seconds, recipe.coordinate.pressure_at(k + 1, 1e5));
            // Downward mass flux in kg m⁻² s⁻¹.
            let expected = if flow == SynthFlow::Hadley {
                let (height, density) = (12_000.0 * (nz - k - 1) as f64 / nz as f64, 1e5 / (287.0 * 300.0));
                let (lat, cos) = (z.asin(), x.hypot(y));
                let shape = -2.0 * (5.0 * lat).sin() * z + 5.0 * cos * (5.0 * lat).cos();
                let w = 0.15 * density / 5.0 * shape * (std::f64::consts::PI * height / 12_000.0).sin();
                -w * (std::f64::consts::PI * time / 86_400.0).cos() * 9.80616 / GRAVITY
            } else {
                let tau = 12.0 * 86_400.0;
                let (top, decay) = (recipe.coordinate.pressure_at(0, 1e5), 2.0 * std::f64::consts::PI * time / tau);
                let e = |dp: f64| (dp / (0.2 * top)).exp();
                let s = 1.0 + e(top - 1e5) - e(pressure - 1e5) - e(top - pressure);
                let omega = 23_000.0 * std::f64::consts::PI / tau * (y * decay.cos() - x * decay.sin());
                omega * decay.cos() * s / GRAVITY
            };
            let found = air.cm[bottom] * 2.0 * f64::from(air.steps) / seconds / grid.area(i, j);
            worst = [worst[0].max((found - expected).abs()), worst[1].max(expected.abs())];
        }
        // Cell means against centre values: second order in the cell size.
        assert!(worst[0] < 0.02 * worst[1], "{flow:?}: {worst:?}");
    }
}

#[test]
fn deformation_returns_and_rotation_stays() {
    // Over a whole period only the solid rotation is left of the deformation flow.
    let period = 12.0 * 86_400.0;
    let air = generator(SynthFlow::Deformation, GeometryBundle::Gnomonic, 6, 1, 2.0 * period).next_window().unwrap();
    let rotation =
        generator(SynthFlow::SolidBody { angle_deg: 0.0 }, GeometryBundle::Gnomonic, 6, 1, 2.0 * period).next_window();
    let rotation = rotation.unwrap();
    let scale = f64::from(air.steps) / f64::from(rotation.steps);
    let largest = rotation.am.iter().fold(0.0f64, |a, f| a.max(f.abs()));
    for (a, r) in air.am.iter().zip(&rotation.am) {
        assert!((a * scale - r).abs() < 1e-6 * largest, "{a} {r}");
    }
}

/// The divergent flow returns every parcel after 12 days, and with it the density.
#[test]
fn carried_density_varies_and_comes_back() {
    let mut generator = generator(SynthFlow::Divergent, GeometryBundle::GeosNative, 16, 1, 86_400.0);
    let spread = |ps: &[f64]| ps.iter().fold(0.0f64, |a, p| a.max((p / 1e5 - 1.0).abs()));
    let mut largest = 0.0f64;
    let mut total = 0.0;
    for day in 0..12 {
        let air = generator.next_window().unwrap();
        largest = largest.max(spread(&air.ps));
        let sum: f64 = air.m_next.iter().sum();
        if day > 0 {
            assert!((sum / total - 1.0f64).abs() < 1e-13);
        }
        total = sum;
    }
    let end = spread(&generator.next_window().unwrap().ps);
    assert!(largest > 3.0, "{largest}");
    assert!(end < 0.15, "{end} after {largest}");
}

#[test]
fn threads_do_not_change_bits() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| generator(SynthFlow::Weather, GeometryBundle::GeosNative, 6, 5, 3600.0).next_window().unwrap())
    };
    assert_eq!(run(1), run(3));
}

/// Mean pressure, pressure tendency, wind and substeps of the weather flow are of realistic size.
#[test]
fn weather_is_of_realistic_size() {
    let (nc, nz, seconds) = (24, 20, 3600.0);
    let mut generator = generator(SynthFlow::Weather, GeometryBundle::GeosNative, nc, nz, seconds);
    let air = generator.next_window().unwrap();
    let grid = generator.grid();
    let area = |c: usize| grid.area(c % nc, c / nc % nc);
    let mean = air.ps.iter().enumerate().map(|(c, p)| p * area(c)).sum::<f64>() / grid.total_area();
    assert!((mean - 98_500.0).abs() < 100.0, "{mean}");
    let next = generator.surface_pressure(seconds);
    let tendency = air.ps.iter().zip(&next).fold(0.0f64, |a, (p, q)| a.max((q - p).abs()));
    assert!((20.0..200.0).contains(&tendency), "{tendency} Pa per hour");
    let mut fastest = 0.0f64;
    for (cell, [west, ..]) in cells(nc, nz) {
        let (i, j) = (cell % nc, cell / nc % nc);
        let depth = air.m[cell] / grid.area(i, j);
        let moved = air.am[west].abs() * 2.0 * f64::from(air.steps) / seconds;
        fastest = fastest.max(moved / depth / grid.face_length_x(i, j));
    }
    assert!((30.0..62.0).contains(&fastest), "{fastest} m/s");
    assert!(air.steps <= 4, "{} substeps an hour", air.steps);
}
