//! Edges of inventory grids.

use atmostr::sources::{SourceError, SourceGrid};

fn centres(first: f64, step: f64, n: usize) -> Vec<f64> {
    (0..n).map(|k| f64::from((first + step * k as f64) as f32)).collect()
}

/// A tenth of a degree in single precision: edges at the poles and around.
#[test]
fn fine_global_grid_in_single_precision() {
    for (first, step) in [(-89.95, 0.1), (89.95, -0.1)] {
        let grid = SourceGrid::from_centres(&centres(-179.95, 0.1, 3600), &centres(first, step, 1800)).unwrap();
        let (lon, lat) = (grid.lon_edges(), grid.lat_edges());
        assert_eq!((lat[0], lat[1800]), (-90.0f64.copysign(step), 90.0f64.copysign(step)));
        assert!((lon[3600] - lon[0] - 360.0).abs() <= 1e-9 && grid.covers_sphere());
        assert!((lon[0] + 180.0).abs() < 1e-9, "{}", lon[0]);
        for (k, edge) in lat.iter().enumerate() {
            assert!((edge - (lat[0] + step * k as f64)).abs() < 1e-9, "{k}: {edge}");
        }
    }
}

#[test]
fn regional_grid_keeps_its_edges() {
    let grid = SourceGrid::from_centres(&centres(10.5, 1.0, 30), &centres(40.5, 1.0, 20)).unwrap();
    let ends = |edges: &[f64]| (edges[0], edges[edges.len() - 1]);
    assert_eq!((ends(grid.lon_edges()), ends(grid.lat_edges())), ((10.0, 40.0), (40.0, 60.0)));
    assert!(!grid.covers_sphere());
}

/// Centres on the poles: polar cells are halves, the others keep their size.
#[test]
fn cells_centred_on_the_poles_end_there() {
    let grid = SourceGrid::from_centres(&centres(0.0, 5.0, 72), &centres(-90.0, 4.0, 46)).unwrap();
    let lat = grid.lat_edges();
    assert_eq!((lat[0], lat[1], lat[2], lat[46]), (-90.0, -88.0, -84.0, 90.0));
    assert!(grid.covers_sphere());
    assert_eq!(grid.lon_edges()[0], -2.5);
}

#[test]
fn uneven_or_too_wide_grids_are_refused() {
    let lat = centres(-60.0, 30.0, 5);
    let problem = |lon: &[f64], lat: &[f64]| match SourceGrid::from_centres(lon, lat).unwrap_err() {
        SourceError::Axis { axis, problem } => format!("{axis}: {problem}"),
        other => panic!("{other}"),
    };
    assert!(problem(&[0.0, 1.0, 3.0], &lat).starts_with("longitude: centre 2"));
    assert!(problem(&centres(0.0, 5.0, 73), &lat).contains("more than a turn"));
    assert!(problem(&[0.0, 1.0], &[80.0, 100.0]).starts_with("latitude: an edge"));
    assert!(problem(&[0.0], &lat).contains("at least two"));
    assert!(problem(&[0.0, f64::NAN], &lat).starts_with("longitude"));
}
