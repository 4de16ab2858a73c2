//! Maps of snapshot files.

mod output_support;

use atmostr::output::{OutputSpec, PlotRequest, plot};
use output_support::{cell, grid, written};

/// Width, height and RGB pixels.
fn decode(path: &std::path::Path) -> (usize, usize, Vec<u8>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb);
    (info.width as usize, info.height as usize, pixels)
}

#[test]
fn brighter_pixels_are_larger_values() {
    let dir = tempfile::tempdir().unwrap();
    let file = written::<f32>(dir.path(), |_: &mut OutputSpec| {});
    let out = dir.path().join("map.png");
    plot(&file, &PlotRequest { variable: "co2", time: Some(2), level: None }, &out).unwrap();
    let (width, height, pixels) = decode(&out);
    // The map of 1200 × 600 pixels begins behind the margins.
    let (left, top) = (90, 100);
    assert!(width >= left + 1200 && height >= top + 600);
    let green = |x: usize, y: usize| pixels[3 * ((top + y) * width + left + x) + 1];
    // Green rises along the whole colour map, so its order is that of the values.
    let mut seen = Vec::new();
    for (x, y) in (0..40).map(|n| ((n * 331 + 17) % 1200, (n * 197 + 5) % 600)) {
        if x % 100 < 2 || y % 100 < 2 {
            continue;
        }
        let longitude = -180.0 + (x as f64 + 0.5) * 0.3;
        let place = grid().locate(longitude, 90.0 - (y as f64 + 0.5) * 0.3).unwrap();
        let (m, rm) = cell(1, 2, place.panel.index(), place.j, place.i);
        seen.push((rm[0] / m, green(x, y)));
    }
    assert!(seen.len() > 30);
    for (value, shade) in &seen {
        for (other, other_shade) in &seen {
            if *value > other + 2e-7 {
                assert!(shade > other_shade, "{value} {shade}, {other} {other_shade}");
            }
        }
    }
}

/// A field on a longitude-latitude grid, in any order of its axes: the pixel has the colour of its cell.
#[test]
fn files_on_longitudes_and_latitudes_are_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let (nlon, nlat) = (12, 6);
    let value = |i: usize, j: usize| ((i * 7 + j * 5) % 13) as f64;
    for (n, (from, south_first, units)) in [
        (0.0, true, "hours since 2021-12-01 00:00:00"),
        (-180.0, false, "days since 2021-12-01"),
        (0.0, false, "hours"),
    ]
    .into_iter()
    .enumerate()
    {
        let path = dir.path().join(format!("field{n}.nc"));
        let mut file = netcdf::create(&path).unwrap();
        for (name, length) in [("time", 2), ("lev", 2), ("lat", nlat), ("lon", nlon)] {
            file.add_dimension(name, length).unwrap();
        }
        let lat = |j: usize| (if south_first { 1.0 } else { -1.0 }) * (-75.0 + 30.0 * j as f64);
        let lats: Vec<f64> = (0..nlat).map(lat).collect();
        let lons: Vec<f64> = (0..nlon).map(|i| from + 15.0 + 30.0 * i as f64).collect();
        file.add_variable::<f64>("lat", &["lat"]).unwrap().put_values(&lats, ..).unwrap();
        file.add_variable::<f64>("lon", &["lon"]).unwrap().put_values(&lons, ..).unwrap();
        let mut time = file.add_variable::<f64>("time", &["time"]).unwrap();
        time.put_attribute("units", units).unwrap();
        time.put_values(&[0.0, 1.0], ..).unwrap();
        let cells = |t: usize, k: usize| {
            (0..nlat).flat_map(move |j| (0..nlon).map(move |i| value(i, j) * if (t, k) == (1, 1) { 1.0 } else { 0.0 }))
        };
        let values: Vec<f64> = (0..2).flat_map(|t| (0..2).flat_map(move |k| cells(t, k))).collect();
        let mut field = file.add_variable::<f64>("q", &["time", "lev", "lat", "lon"]).unwrap();
        field.set_fill_value(value(0, 0)).unwrap();
        field.put_values(&values, ..).unwrap();
        file.add_variable::<f64>("mean", &["time"]).unwrap();
        drop(file);
        let out = dir.path().join("map.png");
        plot(&path, &PlotRequest { variable: "q", time: None, level: None }, &out).unwrap();
        let (width, _, pixels) = decode(&out);
        let at = |x: usize, y: usize| &pixels[3 * ((100 + y) * width + 90 + x)..][..3];
        let mut seen = Vec::new();
        for (i, j) in (0..nlon).flat_map(|i| (0..nlat).map(move |j| (i, j))) {
            let x = ((lons[i] + 180.0).rem_euclid(360.0) / 0.3) as usize + 3;
            let pixel = at(x, ((90.0 - lats[j]) / 0.3) as usize + 3);
            match value(i, j) {
                0.0 => assert_eq!(pixel, [200; 3], "missing"),
                value => seen.push((value, pixel[1])),
            }
        }
        for (value, shade) in &seen {
            assert!(seen.iter().all(|(other, other_shade)| (value > other) == (shade > other_shade)), "{value}");
        }
        for (variable, time, level, part) in [
            ("zzz", None, None, "maps can be drawn of q"),
            ("mean", None, None, "not a map"),
            ("q", Some(3), None, "time 3 is not among 1 to 2"),
            ("q", None, Some(9), "level 9 is not among 1 to 2"),
        ] {
            let error = plot(&path, &PlotRequest { variable, time, level }, &out).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}

#[test]
fn columns_and_selected_levels_can_be_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let file = written::<f64>(dir.path(), |s| s.time_origin = None);
    for (variable, level) in [("co2_column_mean", None), ("sf6", Some(1)), ("cell_area", None)] {
        let out = dir.path().join(format!("{variable}.png"));
        plot(&file, &PlotRequest { variable, time: None, level }, &out).unwrap();
        assert!(decode(&out).0 > 1200);
    }
}

#[test]
fn mistakes_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let file = written::<f32>(dir.path(), |_| {});
    let message = |variable, time, level| {
        plot(&file, &PlotRequest { variable, time, level }, &dir.path().join("x.png")).unwrap_err().to_string()
    };
    assert!(message("co2_colum_mean", None, None).contains("did you mean co2_column_mean"));
    assert!(message("zzz", None, None).contains("maps can be drawn of"));
    assert!(message("co2_total_mass", None, None).contains("not a map"));
    assert!(message("co2", Some(3), None).contains("time 3 is not among 1 to 2"));
    assert!(message("co2", None, Some(4)).contains("level 4 is not among 1 to 3"));
    assert!(message("sf6", None, Some(2)).contains("those written: 1, 3"));
    assert!(message("co2_column_mean", None, Some(1)).contains("has no levels"));
    assert!(!dir.path().join("x.png").exists());
}
