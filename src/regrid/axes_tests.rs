use super::*;

fn single(first: f64, step: f64, n: usize) -> Vec<f64> {
    (0..n).map(|k| f64::from((first + step * k as f64) as f32)).collect()
}

fn axes(lon: &[f64], lat: &[f64]) -> LatLonAxes {
    LatLonAxes::from_centres(lon, lat).unwrap()
}

/// A tenth of a degree in single precision: edges at the poles and around, and exactly even in between.
#[test]
fn fine_global_grid_in_single_precision() {
    for (first, step) in [(-89.95, 0.1), (89.95, -0.1)] {
        for west in [-180.0, 0.0] {
            let grid = axes(&single(west + 0.05, 0.1, 3600), &single(first, step, 1800));
            let mesh = grid.mesh();
            assert!(mesh.covers_sphere());
            for (k, edge) in mesh.lat_edges().iter().enumerate() {
                assert_eq!(*edge, -90.0 + 180.0 * k as f64 / 1800.0);
            }
            for (k, edge) in mesh.lon_edges().iter().enumerate() {
                assert_eq!(*edge, west + 360.0 * k as f64 / 3600.0);
            }
        }
    }
}

#[test]
fn regional_grid_keeps_its_edges() {
    let grid = axes(&single(10.5, 1.0, 30), &single(40.5, 1.0, 20));
    let ends = |edges: &[f64]| (edges[0], edges[edges.len() - 1]);
    assert_eq!((ends(grid.mesh().lon_edges()), ends(grid.mesh().lat_edges())), ((10.0, 40.0), (40.0, 60.0)));
    assert!(!grid.mesh().covers_sphere());
}

/// Polar rows of half height, with centres on the poles or in the middle of the row.
#[test]
fn polar_rows_of_half_height() {
    let on_pole = single(-90.0, 4.0, 46);
    let mut in_row = on_pole.clone();
    (in_row[0], in_row[45]) = (-89.0, 89.0);
    for lat in [on_pole, in_row] {
        let grid = axes(&single(0.0, 5.0, 72), &lat);
        let edges = grid.mesh().lat_edges();
        assert_eq!((edges[0], edges[1], edges[2], edges[45], edges[46]), (-90.0, -88.0, -84.0, 88.0, 90.0));
        assert!(grid.mesh().covers_sphere());
        assert_eq!(grid.mesh().lon_edges()[0], -2.5);
    }
    let half_degree: Vec<f64> = (0..361).map(|k| (-90.0 + 0.5 * f64::from(k)).clamp(-89.875, 89.875)).collect();
    let grid = axes(&single(-180.0, 0.625, 576), &half_degree);
    assert_eq!(grid.mesh().lat_edges()[1], -89.75);
}

#[test]
fn gaussian_latitudes_are_recognised() {
    for n in [2, 32, 64, 160, 640] {
        let set = GaussianLatitudes::new(n);
        let lat: Vec<f64> = set.centres().iter().rev().map(|lat| f64::from(*lat as f32)).collect();
        let grid = axes(&single(0.0, 360.0 / (2.0 * n as f64), 2 * n), &lat);
        assert_eq!(grid.mesh().lat_edges(), set.edges());
    }
}

#[test]
fn smoothly_uneven_latitudes_have_edges_half_way() {
    let grid = axes(&single(0.0, 90.0, 4), &[-80.0, -50.0, -10.0, 10.0, 45.0, 75.0]);
    assert_eq!(grid.mesh().lat_edges(), [-90.0, -65.0, -30.0, 0.0, 27.5, 60.0, 90.0]);
    let message = LatLonAxes::from_centres(&single(0.0, 90.0, 4), &[-80.0, -50.0, -49.0, 10.0]).unwrap_err();
    assert!(message.to_string().starts_with("latitude: centre 2 lies at -50"), "{message}");
}

#[test]
fn values_follow_the_axes() {
    let lon_turns = [0.0, 90.0, 180.0, -90.0];
    let stored: Vec<f64> = (0..12).map(f64::from).collect();
    let mut out = Vec::new();
    let grid = axes(&lon_turns, &[60.0, 0.0, -60.0]);
    assert_eq!(grid.mesh().lon_edges(), [-45.0, 45.0, 135.0, 225.0, 315.0]);
    grid.reorder(&stored, &mut out);
    assert_eq!(out, [8.0, 9.0, 10.0, 11.0, 4.0, 5.0, 6.0, 7.0, 0.0, 1.0, 2.0, 3.0]);
    let grid = axes(&[270.0, 180.0, 90.0, 0.0], &[-60.0, 0.0, 60.0]);
    grid.reorder(&stored, &mut out);
    assert_eq!(out, [3.0, 2.0, 1.0, 0.0, 7.0, 6.0, 5.0, 4.0, 11.0, 10.0, 9.0, 8.0]);
    assert_eq!((grid.stored_column(0), grid.stored_row(2)), (3, 2));
}

#[test]
fn wrong_axes_are_refused_by_number() {
    let lat = single(-60.0, 30.0, 5);
    let problem = |lon: &[f64], lat: &[f64]| LatLonAxes::from_centres(lon, lat).unwrap_err().to_string();
    assert!(problem(&[0.0, 1.0, 3.0], &lat).starts_with("longitude: centre 2"));
    assert!(problem(&[0.0, 1.0, 1.0], &lat).starts_with("longitude: centre 3 at 1 follows 1, out of order"));
    assert!(problem(&[0.0, 2.0, 1.0, 3.0], &lat).starts_with("longitude: centre 3 at 1 follows 2"));
    assert!(
        problem(&single(0.0, 5.0, 73), &lat).contains("centres 1 and 73 are the same place, a turn apart (0 and 360)")
    );
    assert!(problem(&single(0.0, 5.0, 74), &lat).contains("more than a turn"));
    assert!(problem(&[0.0, 1.0], &[80.0, 100.0]).starts_with("latitude: an edge"));
    assert!(problem(&[0.0], &lat).contains("at least two"));
    assert!(problem(&[0.0, f64::NAN], &lat).starts_with("longitude: centre 2 is NaN"));
}
