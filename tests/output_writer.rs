//! Snapshot files: content, independence of the ranks, publication.

mod output_support;

use atmostr::comm::{Solo, threads};
use atmostr::output::{Compression, FrameContent, OutputError, SnapshotFrame, SnapshotWriter, Split, diff};
use decomposition::Panel;
use output_support::{
    A_IFC, B_IFC, FRAMES, LEVELS, NC, cell, columns, grid, spec, state, tiles, tracers, write, written,
};

fn text(file: &netcdf::File, variable: &str, attribute: &str) -> String {
    let value = match variable {
        "" => file.attribute(attribute).unwrap().value().unwrap(),
        name => file.variable(name).unwrap().attribute_value(attribute).unwrap().unwrap(),
    };
    match value {
        netcdf::AttributeValue::Str(text) => text,
        other => panic!("{variable}:{attribute} is {other:?}"),
    }
}

#[test]
fn values_are_those_of_the_state() {
    let dir = tempfile::tempdir().unwrap();
    let file = netcdf::open(written::<f32>(dir.path(), |_| {})).unwrap();
    let read = |name: &str| file.variable(name).unwrap().get_values::<f32, _>(..).unwrap();
    let (mut air, mut per_area, mut co2, mut sf6, mut column, mut mean, mut column_sf6) =
        (vec![], vec![], vec![], vec![], vec![], vec![], vec![]);
    let as_stored = |x: f64| x as f32 as f64;
    let grid = grid();
    for n in 0..FRAMES {
        for k in 0..LEVELS {
            for (p, j, i) in cells() {
                let (m, [rm, rm_sf6]) = cell(n, k, p, j, i);
                let (m, rm, rm_sf6) = (as_stored(m), as_stored(rm), as_stored(rm_sf6));
                air.push(m as f32);
                per_area.push((m / grid.area(i, j)) as f32);
                co2.push((rm / m) as f32);
                if k != 1 {
                    sf6.push((rm_sf6 / m) as f32);
                }
            }
        }
        for (p, j, i) in cells() {
            let (mut m, mut rm, mut rm_sf6) = (0.0, 0.0, 0.0);
            for k in 0..LEVELS {
                let cell = cell(n, k, p, j, i);
                m += as_stored(cell.0);
                rm += as_stored(cell.1[0]);
                rm_sf6 += as_stored(cell.1[1]);
            }
            column.push((m / grid.area(i, j)) as f32);
            mean.push((rm / m) as f32);
            column_sf6.push((rm_sf6 / grid.area(i, j)) as f32);
        }
    }
    assert_eq!(read("air_mass"), air);
    assert_eq!(read("air_mass_per_area"), per_area);
    assert_eq!(read("co2"), co2);
    assert_eq!(read("sf6"), sf6);
    assert_eq!(read("column_air_mass_per_area"), column);
    assert_eq!(read("co2_column_mean"), mean);
    assert_eq!(read("sf6_column_mass_per_area"), column_sf6);
    assert!(file.variable("sf6_column_mean").is_none());
    let read = |name: &str| file.variable(name).unwrap().get_values::<f64, _>(..).unwrap();
    assert_eq!(read("time"), [0.0, 3.0]);
    assert_eq!(read("lev"), [1.0, 2.0, 3.0]);
    assert_eq!(read("lev_selected"), [1.0, 3.0]);
    assert_eq!(read("ilev"), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!((&read("hyai")[..], &read("hybi")[..]), (&A_IFC[..], &B_IFC[..]));
    assert_eq!(read("co2_total_mass"), [1.5, 2.5]);
    assert_eq!(read("sf6_total_mass"), [2.5, 2.5]);
    // Whole multiples of 64 kg below 2^53 of them: plain sums are exact in any order.
    let masses = |n| (0..LEVELS).flat_map(move |k| cells().map(move |(p, j, i)| as_stored(cell(n, k, p, j, i).0)));
    let air_total = |n| masses(n).sum::<f64>();
    assert_eq!(read("air_mass_total"), [air_total(0), air_total(1)]);
    let total_area: f64 = read("cell_area").iter().sum();
    assert!((total_area / (4.0 * std::f64::consts::PI * 6.371e6_f64.powi(2)) - 1.0).abs() < 1e-13);
    let expected: Vec<_> = cells().map(|(p, j, i)| grid.center_lonlat(Panel::ALL[p], i, j).0).collect();
    assert_eq!(read("lons"), expected);
}

fn cells() -> impl Iterator<Item = (usize, usize, usize)> {
    (0..6 * NC * NC).map(|n| (n / (NC * NC), n / NC % NC, n % NC))
}

#[test]
fn header_follows_the_layout() {
    let dir = tempfile::tempdir().unwrap();
    let file = netcdf::open(written::<f32>(dir.path(), |_| {})).unwrap();
    for (name, length) in [("time", FRAMES), ("lev", LEVELS), ("lev_selected", 2), ("nf", 6), ("Ydim", NC)] {
        assert_eq!(file.dimension_len(name), Some(length), "{name}");
    }
    assert_eq!((file.dimension_len("Xdim"), file.dimension_len("Xcorner")), (Some(NC), Some(NC + 1)));
    assert!(file.dimension("time").unwrap().is_unlimited());
    let dims = |name: &str| file.variable(name).unwrap().dimensions().iter().map(|d| d.name()).collect::<Vec<_>>();
    assert_eq!(dims("co2"), ["time", "lev", "nf", "Ydim", "Xdim"]);
    assert_eq!(dims("sf6"), ["time", "lev_selected", "nf", "Ydim", "Xdim"]);
    assert_eq!(dims("co2_column_mean"), ["time", "nf", "Ydim", "Xdim"]);
    assert_eq!(dims("corner_lons"), ["nf", "Ycorner", "Xcorner"]);
    for (variable, attribute, expected) in [
        ("time", "units", "hours since 2021-12-01 00:00:00"),
        ("time", "calendar", "standard"),
        ("lev", "positive", "down"),
        ("lev", "standard_name", "model_level_number"),
        ("hyai", "units", "Pa"),
        ("hybi", "units", "1"),
        ("lons", "units", "degrees_east"),
        ("co2", "units", "mol mol-1"),
        ("co2", "long_name", "mole fraction of co2 in dry air"),
        ("co2", "standard_name", "mole_fraction_of_carbon_dioxide_in_dry_air"),
        ("sf6", "long_name", "mole fraction of sf6 in dry air"),
        ("co2_column_mean", "standard_name", "dry_atmosphere_mole_fraction_of_carbon_dioxide"),
        ("co2", "coordinates", "lons lats"),
        ("co2", "grid_mapping", "cubed_sphere"),
        ("co2", "cell_measures", "area: cell_area"),
        ("co2_column_mean", "cell_methods", "lev: mean"),
        ("column_air_mass_per_area", "cell_methods", "lev: sum"),
        ("cell_area", "standard_name", "cell_area"),
        ("co2_total_mass", "long_name", "global total of dry air mass times dry mole fraction of co2"),
        ("air_mass_total", "units", "kg"),
        ("co2_total_mass", "storage_contract", "mixing_ratio_times_carrier_air_mass"),
        ("cubed_sphere", "grid_mapping_name", "gnomonic cubed-sphere"),
        ("cubed_sphere", "panel_convention", "geos_native"),
        ("", "Conventions", "CF-1.8"),
        ("", "grid", "C6 cubed sphere, 6 x 6 x 6 cells, geos_native"),
        ("", "output_options", "float_type=Float32, deflate_level=0, shuffle=false"),
        ("", "cs_center_law", "four_corner_normalized"),
    ] {
        assert_eq!(text(&file, variable, attribute), expected, "{variable}:{attribute}");
    }
    assert!(file.variable("sf6").unwrap().attribute("standard_name").is_none());
    assert!(text(&file, "", "history").ends_with("with 2 frame(s)"));
    let count = file.attribute("completed_snapshots").unwrap().value().unwrap();
    assert_eq!(count, netcdf::AttributeValue::Int(2));
    assert_eq!(file.variable("co2").unwrap().fill_value::<f32>().unwrap(), Some(1.0e15));
}

#[test]
fn without_origin_time_counts_hours() {
    let dir = tempfile::tempdir().unwrap();
    let file = netcdf::open(written::<f64>(dir.path(), |s| s.time_origin = None)).unwrap();
    assert_eq!(text(&file, "time", "units"), "hours");
    assert!(file.variable("time").unwrap().attribute("calendar").is_none());
    let unknown = netcdf::open(written::<f64>(dir.path(), |s| s.vertical = None)).unwrap();
    assert!(["ilev", "hyai", "hybi"].iter().all(|name| unknown.variable(name).is_none()));
    assert_eq!(file.variable("co2").unwrap().get_values::<f64, _>([0, 0, 0, 0, 0]).unwrap().len(), 1);
}

#[test]
fn content_does_not_depend_on_ranks_or_compression() {
    let dir = tempfile::tempdir().unwrap();
    let reference = written::<f32>(dir.path(), |_| {});
    for ranks in [2, 5, 6, 7] {
        for level in [0, 2] {
            let path = dir.path().join(format!("ranks{ranks}_{level}.nc"));
            let mut spec = spec(&path);
            spec.compression = Compression { level, shuffle: true };
            for result in threads::run(ranks, |comm| write::<f32>(&spec, &comm)) {
                result.unwrap();
            }
            let mut report = diff(&reference, &path).unwrap();
            report.structure.retain(|line| level == 0 || !line.contains("output_options"));
            assert!(report.is_empty(), "{ranks} ranks: {report}");
            assert!(report.compared_values > 1000);
        }
    }
}

#[test]
fn an_existing_file_survives_until_it_can_be_replaced() {
    let dir = tempfile::tempdir().unwrap();
    for split in [Split::Single, Split::Daily] {
        let mut spec = spec(&dir.path().join("a.nc"));
        spec.split = split;
        let path = spec.path_for("20211201");
        let partial = path.with_file_name(format!("{}.partial", path.file_name().unwrap().to_str().unwrap()));
        std::fs::write(&path, "old").unwrap();
        let old = || std::fs::read(&path).unwrap() == b"old";
        let set = tiles(1, 0);
        let create =
            || SnapshotWriter::<f32>::create(&spec, "20211201", &grid(), &tracers(), LEVELS, &set, &Solo).unwrap();
        let (slabs, names) = (state::<f32>(&set, 0), tracers());
        let content = FrameContent::Layers { state: &slabs, columns: &columns(&slabs) };
        let frame = SnapshotFrame {
            hours: 1.0,
            content,
            interval: None,
            meteorology: None,
            tracers: &names,
            totals: &[1.0; 3],
            series: &[],
        };

        // Nothing written: nothing replaced.
        create().finish(&Solo).unwrap();
        assert!(old());

        let mut writer = create();
        let bad = SnapshotFrame { totals: &[1.0, f64::NAN, 1.0], ..frame };
        assert!(writer.append(&bad, &Solo).is_err());
        assert!(old() && !partial.exists());
        writer.append(&frame, &Solo).unwrap();
        assert!(old() && partial.exists());
        assert!(writer.append(&frame, &Solo).is_err(), "the same time again");
        writer.append(&SnapshotFrame { hours: 2.0, ..frame }, &Solo).unwrap();
        writer.finish(&Solo).unwrap();
        assert!(!partial.exists());
        assert_eq!(netcdf::open(&path).unwrap().dimension_len("time"), Some(2));
    }
}

#[test]
fn failures_reach_every_rank_and_poison_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let spec = spec(&dir.path().join("missing").join("a.nc"));
    let messages = threads::run(3, |comm| write::<f32>(&spec, &comm).unwrap_err().to_string());
    assert!(messages[0].contains("missing"), "{messages:?}");
    assert!(messages.iter().all(|m| *m == messages[0]), "{messages:?}");

    let set = tiles(1, 0);
    let mut writer =
        SnapshotWriter::<f32>::create(&spec, "20211201", &grid(), &tracers(), LEVELS, &set, &Solo).unwrap();
    let (slabs, names) = (state::<f32>(&set, 0), tracers());
    let content = FrameContent::Layers { state: &slabs, columns: &columns(&slabs) };
    let frame = SnapshotFrame {
        hours: 1.0,
        content,
        interval: None,
        meteorology: None,
        tracers: &names,
        totals: &[1.0; 3],
        series: &[],
    };
    assert!(matches!(writer.append(&frame, &Solo), Err(OutputError::Rank(_))));
    assert!(matches!(writer.append(&frame, &Solo), Err(OutputError::Poisoned(_))));
}
