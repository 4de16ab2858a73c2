//! Fluxes and initial states on longitude-latitude grids, as a user gives them: runs, checks, and prepared files.

mod support;

use std::f64::consts::{FRAC_PI_2, TAU};
use std::path::Path;

use atmostr::sources::kg_sf6_per_ppt;
use support::{Config, atmostr, synth};

/// Radius of synthetic winds, m, by which fluxes by area emit.
const RADIUS: f64 = 6_371_000.0;
const DAY: f64 = 86_400.0;
const NLON: usize = 36;
const NLAT: usize = 18;

/// Stored numbers of a record, from south to north.
fn stored(record: usize, j: usize, i: usize) -> f32 {
    ((record + 1) as f32) * (((3 * i + 7 * j) % 11) as f32 - 0.5) * 1e-9
}

/// Area of a cell of row `j`, m².
fn area(j: usize) -> f64 {
    let edge = |k: usize| (FRAC_PI_2 * (2.0 * k as f64 / NLAT as f64 - 1.0)).sin();
    RADIUS * RADIUS * TAU / NLON as f64 * (edge(j + 1) - edge(j))
}

fn sum(record: usize, weight: impl Fn(usize) -> f64) -> f64 {
    let row = |j: usize| (0..NLON).map(|i| f64::from(stored(record, j, i))).sum::<f64>() * weight(j);
    (0..NLAT).map(row).sum()
}

/// Writes a flux of `records` records; times in days since 2021-12-01, if there are any.
fn write(path: &Path, variable: &str, units: &str, records: usize, days: Option<&[f64]>) {
    write_packed(path, variable, units, records, days, 1.0);
}

/// The same with stored numbers that stand for `packing` times as much.
fn write_packed(path: &Path, variable: &str, units: &str, records: usize, days: Option<&[f64]>, packing: f64) {
    let mut file = netcdf::create(path).unwrap();
    file.add_dimension("time", records).unwrap();
    for (name, n, from) in [("lat", NLAT, -90.0), ("lon", NLON, 0.0)] {
        file.add_dimension(name, n).unwrap();
        let values: Vec<f32> = (0..n).map(|k| (from + 10.0 * (k as f64 + 0.5)) as f32).collect();
        file.add_variable::<f32>(name, &[name]).unwrap().put_values(&values, ..).unwrap();
    }
    if let Some(days) = days {
        let mut time = file.add_variable::<f64>("time", &["time"]).unwrap();
        time.put_attribute("units", "days since 2021-12-01").unwrap();
        time.put_values(days, ..).unwrap();
    }
    let cells = |t: usize| (0..NLAT).flat_map(move |j| (0..NLON).map(move |i| stored(t, j, i)));
    let values: Vec<f32> = (0..records).flat_map(cells).collect();
    let mut flux = file.add_variable::<f32>(variable, &["time", "lat", "lon"]).unwrap();
    flux.put_attribute("units", units).unwrap();
    flux.put_attribute("scale_factor", packing).unwrap();
    flux.put_values(&values, ..).unwrap();
}

fn values(path: &Path, variable: &str) -> Vec<f64> {
    let file = netcdf::open(path).unwrap();
    file.variable(variable).unwrap_or_else(|| panic!("no variable {variable}")).get_values(..).unwrap()
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{found} instead of {expected}: {:e}", found / expected - 1.0);
}

/// A folder with winds of six hourly windows from 2021-12-01 on.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let grid = ["--nc", "8", "--levels", "4", "--windows", "6", "--float", "Float64"];
    synth(dir.path(), "winds.bin", &[&grid[..], &["--start-time", "2021-12-01"]].concat());
    dir
}

/// Carrier air of the species emitted by the end of a run, kg.
fn emitted(dir: &Path, config: &Config, tracer: &str) -> f64 {
    config.write(dir, "run.toml");
    atmostr(dir, &["run.toml"]).succeed();
    *values(&dir.join("out.nc"), &format!("{tracer}_emitted_mass")).last().unwrap()
}

/// Six hours of a map that changes after three: what the archive holds is what the run emits.
#[test]
fn a_run_emits_what_its_inventory_holds() {
    let dir = folder();
    write(&dir.path().join("flux.nc"), "flux", "kg m-2 s-1", 2, Some(&[0.0, 0.125]));
    let tracers = "[tracers.co2]\nbackground = 4e-4\n[tracers.co2.surface_flux]\nkind = \"file\"\nfile = \"flux.nc\"\n\
                   variable = \"flux\"\nscale = 0.5\n";
    let hold = 3.0 * 3600.0;
    let species = 0.5 * hold * (sum(0, area) + sum(1, area));
    for (float, tolerance) in [("Float64", 1e-13), ("Float32", 1e-9)] {
        let config = Config { tracers, float, run: "regridder_cache_dir = \"weights\"", ..Config::default() };
        let found = emitted(dir.path(), &config, "co2");
        close(found * 44.0095e-3 / 28.9644e-3, species, tolerance);
    }
    assert_eq!(std::fs::read_dir(dir.path().join("weights")).unwrap().count(), 1);
}

#[test]
fn a_check_reads_archives_before_any_work() {
    let dir = folder();
    write(&dir.path().join("flux.nc"), "flux", "gC m-2 s-1", 2, Some(&[0.0, 0.125]));
    write(&dir.path().join("late.nc"), "flux", "kg m-2 s-1", 2, Some(&[0.125, 0.25]));
    write(&dir.path().join("q.nc"), "q", "mol mol-1", 1, None);
    let check = |lines: &str| {
        let tracers = format!("[tracers.co2.surface_flux]\nkind = \"file\"\nvariable = \"flux\"\n{lines}\n");
        Config { tracers: &tracers, ..Config::default() }.write(dir.path(), "run.toml");
        atmostr(dir.path(), &["check", "run.toml"])
    };
    let units = ["surface_flux.file", "flux.nc", "'gC m-2 s-1'", "known are kg, kgC", "help: write in `units`"];
    check("file = \"flux.nc\"").refuse(&units);
    check("file = \"flux.nc\"\nunits = \"kgC m-2 s-1\"\nscale = 1e-3").succeed();
    check("file = \"late.nc\"\ntime_index = 3").refuse(&["no record 3; there are 2"]);
    let late = check("file = \"late.nc\"").succeed();
    let warned = "its times, 2021-12-01T03:00:00Z to 2021-12-01T09:00:00Z, do not cover the run";
    assert_eq!(late.count(warned), 1, "{}", late.stderr);
    let field = "[tracers.co2.init]\nkind = \"file\"\nfile = \"q.nc\"\nvariable = \"q\"\n";
    Config { tracers: field, ..Config::default() }.write(dir.path(), "run.toml");
    atmostr(dir.path(), &["check", "run.toml"]).refuse(&["tracers.co2.init.file", "q.nc", "pressures and order"]);
}

/// One record with a date is no climatology: it is used outside its time with a warning, in checks, runs and preparation.
#[test]
fn a_single_record_says_when_it_is_used_outside_its_time() {
    let dir = folder();
    write(&dir.path().join("dated.nc"), "flux", "kg m-2 s-1", 1, Some(&[-334.0]));
    write(&dir.path().join("undated.nc"), "flux", "kg m-2 s-1", 1, None);
    write(&dir.path().join("flux_202112.nc"), "flux", "kg m-2 s-1", 1, Some(&[14.0]));
    let tracers = |lines: &str| format!("[tracers.co2.surface_flux]\nkind = \"file\"\nvariable = \"flux\"\n{lines}\n");
    let warned = "its only time is 2021-01-01T00:00:00Z";
    for (lines, expected) in [
        ("file = \"dated.nc\"", 1),
        ("file = \"dated.nc\"\ntime_varying = false", 0),
        ("file = \"dated.nc\"\ntime_index = 1", 0),
        ("file = \"undated.nc\"", 0),
        ("file_pattern = \"flux_{YYYYMM}.nc\"\nfirst_date = 2021-12-01\nlast_date = 2021-12-31", 0),
    ] {
        Config { tracers: &tracers(lines), ..Config::default() }.write(dir.path(), "run.toml");
        for args in [&["check", "run.toml"][..], &["run.toml"]] {
            let ended = atmostr(dir.path(), args).succeed();
            assert_eq!(ended.count(warned), expected, "{lines}: {}", ended.stderr);
            assert_eq!(ended.count("constant in the run"), expected, "{lines}: {}", ended.stderr);
        }
    }
    let config = |file: &str, until: &str| {
        let text = format!(
            "[grid]\ntransport_file = \"winds.bin\"\n[output]\nfolder = \"out\"\n[[flux]]\nname = \"co2\"\n\
             from_date = 2021-12-01\nuntil_date = {until}\nkind = \"file\"\nfile = \"{file}\"\nvariable = \"flux\"\n"
        );
        std::fs::write(dir.path().join("fluxes.toml"), text).unwrap();
        atmostr(dir.path(), &["prepare-fluxes", "fluxes.toml"]).succeed()
    };
    let told = config("dated.nc", "2021-12-01");
    assert_eq!(told.count("its only record is of 2021-01-01T00:00:00Z"), 1, "{}", told.stderr);
    assert_eq!(config("undated.nc", "2021-12-01").count("only record"), 0);
    // A prepared file of one slice tells how far it reaches.
    assert_eq!(values(&dir.path().join("out/co2_c8.nc"), "time_bnds"), [0.0, DAY]);
    let tracers = "[tracers.co2.surface_flux]\nkind = \"cs_native\"\nfile = \"out/co2_c8.nc\"\nvariable = \"co2\"\n";
    Config { tracers, ..Config::default() }.write(dir.path(), "run.toml");
    assert_eq!(atmostr(dir.path(), &["check", "run.toml"]).succeed().count("the flux is constant"), 0);
    let grid = ["--nc", "8", "--levels", "4", "--windows", "6", "--float", "Float64"];
    synth(dir.path(), "winds.bin", &[&grid[..], &["--start-time", "2021-12-02"]].concat());
    let late = atmostr(dir.path(), &["check", "run.toml"]).succeed();
    let words =
        "its times, 2021-12-01T00:00:00Z to 2021-12-02T00:00:00Z, do not cover the run, 2021-12-02T00:00:00Z to";
    assert_eq!(late.count(words), 1, "{}", late.stderr);
}

/// Spec 20: a run starts from the output of another, at a record that is named.
#[test]
fn a_run_starts_from_a_record_of_an_output() {
    let dir = folder();
    Config { tracers: "[tracers.co2]\nbackground = 4e-4\n", ..Config::default() }.write(dir.path(), "first.toml");
    atmostr(dir.path(), &["first.toml"]).succeed();
    std::fs::rename(dir.path().join("out.nc"), dir.path().join("first.nc")).unwrap();
    let check = |kind: &str, lines: &str| {
        let tracers = format!(
            "[tracers.co2.init]\nkind = \"{kind}\"\nfile = \"first.nc\"\nvariable = \"co2\"\n\
             vertical_order = \"toa_first\"\n{lines}\n"
        );
        Config { tracers: &tracers, ..Config::default() }.write(dir.path(), "run.toml");
        atmostr(dir.path(), &["check", "run.toml"])
    };
    let several = ["has 7 records from 2021-12-01T00:00:00Z to 2021-12-01T06:00:00Z", "none is chosen", "time_index"];
    check("cs_native", "").refuse(&several);
    check("cs_native", "time_index = 9").refuse(&["9 lies outside 1..7"]);
    check("cs_native", "time = \"2021-12-01T02:30:00Z\"").refuse(&["no record of 2021-12-01T02:30:00Z"]);
    check("cs_native", "time_index = 1\ntime = \"2021-12-01T00:00:00Z\"").refuse(&["are both given"]);
    check("file", "time_index = 1").refuse(&["'co2' lies on the panels of a cubed sphere", "cs_native"]);
    let first = check("cs_native", "time_index = 1").succeed();
    assert!(first.stdout.contains(", record 1 of 7, 2021-12-01T00:00:00Z"), "{}", first.stdout);
    assert_eq!(first.count("the run starts at"), 0, "{}", first.stderr);
    let last = check("cs_native", "time = 2021-12-01T06:00:00Z").succeed();
    assert_eq!(last.count("the record is of 2021-12-01T06:00:00Z, the run starts at 2021-12-01T00:00:00Z"), 1);
    let run = atmostr(dir.path(), &["run.toml"]).succeed();
    assert!(run.stderr.contains(", record 7 of 7, 2021-12-01T06:00:00Z"), "{}", run.stderr);
    let attribute =
        netcdf::open(dir.path().join("out.nc")).unwrap().attribute("initial_files").unwrap().value().unwrap();
    assert!(String::try_from(attribute).unwrap().contains(", record 7 of 7, 2021-12-01T06:00:00Z"));
}

/// Wrong units are seen in the totals: a check and the start of a run tell them of every source, and the files.
#[test]
fn totals_of_sources_are_told_before_any_work() {
    let dir = folder();
    write(&dir.path().join("flux.nc"), "flux", "kgC m-2 s-1", 2, Some(&[0.0, 0.125]));
    write(&dir.path().join("sf6.nc"), "emissions", "Tonnes", 1, None);
    let size = |name: &str| std::fs::metadata(dir.path().join(name)).unwrap().len();
    let tracers = "[tracers.co2]\nbackground = 4e-4\n[[tracers.co2.surface_flux]]\nkind = \"file\"\nfile = \"flux.nc\"\n\
                   variable = \"flux\"\n[[tracers.co2.surface_flux]]\nkind = \"uniform\"\nrate = 1e-9\n\
                   [tracers.sf6.surface_flux]\nkind = \"edgar_sf6\"\nfile = \"sf6.nc\"\n";
    Config { tracers, ..Config::default() }.write(dir.path(), "run.toml");
    let year = 365.25 * DAY;
    let carbon = 0.5 * (sum(0, area) + sum(1, area)) * year * 1e-12;
    let sphere = 2.0 * TAU * RADIUS * RADIUS * 1e-9 * year;
    let sources = [
        format!(
            "co2: file flux of flux.nc, stepwise: {:.4e} kg a-1 = {carbon:.4} Pg C a-1",
            carbon * 1e12 * 44.0 / 12.0
        ),
        format!("co2: uniform 1e-9 kg m-2 s-1: {sphere:.4e} kg a-1 = {:.4} Pg C a-1", sphere * 12.0 / 44.0 * 1e-12),
        format!("sf6: edgar_sf6 of sf6.nc, stepwise: {:.4e} kg a-1\n", 1e3 * sum(0, |_| 1.0)),
    ];
    let files = [format!("flux.nc ({} bytes)", size("flux.nc")), format!("sf6.nc ({} bytes)", size("sf6.nc"))];
    let check = atmostr(dir.path(), &["check", "run.toml"]).succeed();
    let explained = atmostr(dir.path(), &["check", "run.toml", "--explain"]).succeed();
    let run = atmostr(dir.path(), &["run.toml"]).succeed();
    for source in &sources {
        assert_eq!(check.stdout.matches(source).count(), 1, "{source}\n{}", check.stdout);
        assert_eq!(explained.stdout.matches(source).count(), 1, "{source}\n{}", explained.stdout);
        assert_eq!(run.stderr.matches(source).count(), 1, "{source}\n{}", run.stderr);
    }
    assert!(files.iter().all(|file| check.stdout.contains(file)), "{}", check.stdout);
    let out = netcdf::open(dir.path().join("out.nc")).unwrap();
    let recorded = String::try_from(out.attribute("source_files").unwrap().value().unwrap()).unwrap();
    assert_eq!(recorded, files.join("; "));
    // Values are judged by a check too, with the key and before anything is written.
    for file in ["out.nc", "winds.nc"] {
        let _ = std::fs::remove_file(dir.path().join(file));
    }
    write_packed(&dir.path().join("flux.nc"), "flux", "kg m-2 s-1", 2, Some(&[0.0, 0.125]), 1e7);
    let parts =
        ["surface_flux.file", "flux.nc", "'flux' is", "row 1 from the south", "beyond 1e-2", "`units` or `scale`"];
    atmostr(dir.path(), &["check", "run.toml"]).refuse(&parts);
    atmostr(dir.path(), &["run.toml"]).refuse(&parts[1..5]);
    assert!(!dir.path().join("out.nc").exists());
}

/// A run starts from a field on a grid and levels of its own, and tells what shared pressure kept.
#[test]
fn a_run_starts_from_a_field_on_another_grid() {
    let dir = folder();
    let path = dir.path().join("start.nc");
    let mut file = netcdf::create(&path).unwrap();
    for (name, n, from) in [("lat", NLAT, -90.0), ("lon", NLON, 0.0)] {
        file.add_dimension(name, n).unwrap();
        let values: Vec<f64> = (0..n).map(|k| from + 10.0 * (k as f64 + 0.5)).collect();
        file.add_variable::<f64>(name, &[name]).unwrap().put_values(&values, ..).unwrap();
    }
    file.add_dimension("lev", 3).unwrap();
    file.add_dimension("ilev", 4).unwrap();
    for (name, values) in [("ap", [0.0, 5e3, 5e3, 0.0]), ("bp", [1.0, 0.7, 0.2, 0.0])] {
        file.add_variable::<f64>(name, &["ilev"]).unwrap().put_values(&values, ..).unwrap();
    }
    let pressure = vec![985.0; NLAT * NLON];
    let mut ps = file.add_variable::<f64>("Psurf", &["lat", "lon"]).unwrap();
    ps.put_attribute("units", "hPa").unwrap();
    ps.put_values(&pressure, ..).unwrap();
    let mut q = file.add_variable::<f64>("CO2", &["lev", "lat", "lon"]).unwrap();
    q.put_attribute("units", "ppm").unwrap();
    q.put_values(&vec![410.0; 3 * NLAT * NLON], ..).unwrap();
    drop(file);
    let tracers = "[tracers.co2.init]\nkind = \"catrine_co2\"\nfile = \"start.nc\"\nvertical = \"conservative\"\n\
                   [tracers.a.init]\nkind = \"catrine_co2\"\nfile = \"start.nc\"\n[tracers.b]\nkind = \"uniform\"\n\
                   background = 4.1e-4\n";
    let output = "path = \"out.nc\"\nhours = [0]";
    Config { tracers, output, ..Config::default() }.write(dir.path(), "run.toml");
    let record = format!("co2: CO2 of start.nc ({} bytes)", std::fs::metadata(&path).unwrap().len());
    let check = atmostr(dir.path(), &["check", "run.toml"]).succeed();
    assert!(check.stdout.contains(&format!("initial    {record}")), "{}", check.stdout);
    let told = atmostr(dir.path(), &["run.toml"]).succeed();
    assert!(told.stderr.contains(&record), "{}", told.stderr);
    assert!(told.stderr.contains("kg of carrier air, ") && told.stderr.contains("in the file"), "{}", told.stderr);
    let out = dir.path().join("out.nc");
    let attribute = netcdf::open(&out).unwrap().attribute("initial_files").unwrap().value().unwrap();
    assert_eq!(String::try_from(attribute).unwrap(), format!("a{}; {record}", &record[3..]));
    let [b, others @ ..] = ["b", "a", "co2"].map(|name| values(&out, name));
    for other in others {
        other.iter().zip(&b).for_each(|(q, b)| close(*q, *b, 1e-14));
    }
}

/// What stored numbers of radon stand for.
const RADON: f64 = 1e-12;

/// Archives of the protocol in small.
fn protocol(dir: &Path) {
    for year in [2022, 2023] {
        write(&dir.join(format!("GCP-GridFEDv2024.0_{year}.short.nc")), "TOTAL", "kgCO2/month/m2", 12, None);
    }
    write_packed(&dir.join("zhang.nc"), "rnemis", "kg/m2/s", 12, None, RADON);
    write(&dir.join("v8.0_FT2022_GHG_SF6_2022_TOTALS_emi.nc"), "emissions", "Tonnes", 1, None);
    std::fs::write(dir.join("growth.txt"), "# NOAA\n2021 0.36 0.02\n2022 0.37 0.02\n2023 0.38 0.02\n").unwrap();
}

const PROTOCOL: &str = "[catrine]\ngridfed = [\"GCP-GridFEDv2024.0_2022.short.nc\", \"GCP-GridFEDv2024.0_2023.short.nc\"]\n\
                        zhang = \"zhang.nc\"\nedgar = \"v8.0_FT2022_GHG_SF6_2022_TOTALS_emi.nc\"\nsf6_growth = \"growth.txt\"\n";

/// Total of a slice of a prepared file, kg s⁻¹.
fn total(path: &Path, variable: &str, slice: usize) -> f64 {
    let (flux, area) = (values(path, variable), values(path, "cell_area"));
    flux[slice * area.len()..(slice + 1) * area.len()].iter().zip(&area).map(|(f, a)| f * a).sum()
}

#[test]
fn fluxes_of_the_protocol_are_prepared() {
    let dir = folder();
    protocol(dir.path());
    let config = format!(
        "[grid]\ntransport_file = \"winds.bin\"\nregridder_cache_dir = \"weights\"\n\
         [output]\nfolder = \"out\"\nfloat_type = \"Float64\"\n{PROTOCOL}"
    );
    std::fs::write(dir.path().join("fluxes.toml"), config).unwrap();
    let told = atmostr(dir.path(), &["prepare-fluxes", "fluxes.toml"]).succeed();
    let file = |name: &str| dir.path().join(format!("out/catrine_{name}_c8.nc"));
    let month_starts: Vec<f64> = {
        let lengths = [31.0, 31.0, 28.0, 31.0, 30.0, 31.0, 30.0, 31.0, 31.0, 30.0, 31.0, 30.0];
        (0..25).map(|n| DAY * (0..n).map(|m| lengths[m % 12]).sum::<f64>()).collect()
    };
    // Fossil carbon dioxide: nothing in December 2021, then month by month.
    let fossil = file("fossil_co2");
    assert_eq!(values(&fossil, "time"), month_starts);
    assert!(values(&fossil, "fossil_co2")[..6 * 64].iter().all(|f| *f == 0.0));
    close(total(&fossil, "fossil_co2", 1) * 31.0 * DAY, sum(0, area), 1e-12);
    close(total(&fossil, "fossil_co2", 14) * 28.0 * DAY, sum(1, area), 1e-12);
    close(total(&fossil, "fossil_co2", 24) * 31.0 * DAY, sum(11, area), 1e-12);
    // Radon: the month of the climatology for every month.
    let radon = file("rn222");
    assert_eq!(values(&radon, "time"), month_starts);
    close(total(&radon, "rn222", 0), RADON * sum(11, area), 1e-12);
    close(total(&radon, "rn222", 13), RADON * sum(0, area), 1e-12);
    // SF6: each year emits what the atmosphere gains, the first from December on.
    let sf6 = file("sf6");
    assert_eq!(values(&sf6, "time"), [0.0, 31.0 * DAY, 396.0 * DAY]);
    let map = 1e3 * sum(0, |_| 1.0);
    let open = netcdf::open(&sf6).unwrap();
    let number = |name: &str| f64::try_from(open.attribute(name).unwrap().value().unwrap()).unwrap();
    assert_eq!(number("kg_per_ppt"), kg_sf6_per_ppt());
    for (slice, (year, growth)) in [(2021, 0.36), (2022, 0.37), (2023, 0.38)].into_iter().enumerate() {
        close(total(&sf6, "sf6", slice) * 365.25 * DAY, growth * kg_sf6_per_ppt(), 1e-12);
        close(number(&format!("scale_factor_{year}")) * map, growth * kg_sf6_per_ppt(), 1e-12);
        assert!(told.stdout.contains(&format!("{year}: map times")), "{}", told.stdout);
    }
    for (path, name) in [(&fossil, "fossil_co2"), (&radon, "rn222"), (&sf6, "sf6")] {
        let file = netcdf::open(path).unwrap();
        let text = |value: netcdf::AttributeValue| String::try_from(value).unwrap();
        assert_eq!(text(file.attribute("protocol").unwrap().value().unwrap()), "CATRINE D7.1 (2024-05-20)");
        assert_eq!(text(file.attribute("Conventions").unwrap().value().unwrap()), "CF-1.8");
        assert!(text(file.attribute("history").unwrap().value().unwrap()).contains("written by atmostr"));
        assert!(text(file.attribute("source").unwrap().value().unwrap()).contains(".nc ("));
        for variable in file.variables().filter(|v| v.name() != "cubed_sphere") {
            assert!(variable.attribute("long_name").is_some(), "{} has no long_name", variable.name());
        }
        let flux = file.variable(name).unwrap();
        assert_eq!(text(flux.attribute_value("units").unwrap().unwrap()), "kg m-2 s-1");
        assert_eq!(
            text(file.variable("time").unwrap().attribute_value("units").unwrap().unwrap()),
            "seconds since 2021-12-01 00:00:00"
        );
    }
    // A run that reads a prepared file emits what it emits from the archive itself.
    let native = "[tracers.rn222.surface_flux]\nkind = \"cs_native\"\nfile = \"out/catrine_rn222_c8.nc\"\nvariable = \"rn222\"\n";
    let archive = "[tracers.rn222.surface_flux]\nkind = \"zhang_rn222\"\nfile = \"zhang.nc\"\n";
    let [native, archive] =
        [native, archive].map(|tracers| emitted(dir.path(), &Config { tracers, ..Config::default() }, "rn222"));
    close(native, archive, 1e-12);
    close(archive * 222.0 / 28.9644, 6.0 * 3600.0 * RADON * sum(11, area), 1e-12);
}

#[test]
fn any_archive_is_prepared_or_refused_before_anything_is_written() {
    let dir = folder();
    protocol(dir.path());
    write(&dir.path().join("flux.nc"), "flux", "kgC m-2 s-1", 3, Some(&[0.0, 1.0, 2.0]));
    let flux = |until: &str, more: &str| {
        format!(
            "[grid]\nnc = 6\nconvention = \"gnomonic\"\n[output]\nfolder = \"out\"\n[[flux]]\nname = \"co2\"\n\
             from_date = 2021-12-01\nuntil_date = {until}\nkind = \"file\"\nfile = \"flux.nc\"\nvariable = \"flux\"\n{more}"
        )
    };
    let run = |text: String, args: &[&str]| {
        std::fs::write(dir.path().join("fluxes.toml"), text).unwrap();
        atmostr(dir.path(), &[&["prepare-fluxes", "fluxes.toml"], args].concat())
    };
    run(flux("2021-12-02", ""), &["--check"]).succeed();
    let explained = atmostr(dir.path(), &["check", "fluxes.toml", "--explain"]).succeed();
    assert!(explained.stdout.contains("missing = \"refuse\"  # default"), "{}", explained.stdout);
    // A check by either command says what the files would hold.
    let by_check = atmostr(dir.path(), &["check", "fluxes.toml"]).succeed();
    let by_preparation = run(flux("2021-12-02", ""), &["--check"]).succeed();
    assert_eq!(by_check.stdout, by_preparation.stdout);
    let whole = 44.0 / 12.0 * (6_371_229.0 / RADIUS).powi(2) * DAY * (sum(0, area) + sum(1, area));
    let words =
        format!("the configuration is valid\n  co2        2 slices, {whole:.6e} kg from 2021-12-01 to 2021-12-02");
    assert!(by_check.stdout.contains(&words), "{words}\n{}", by_check.stdout);
    run(flux("2022-12-02", ""), &[]).refuse(&["flux.nc", "do not cover 2021-12-01 to 2022-12-02"]);
    run(flux("2021-12-02", "units = \"K\""), &[]).refuse(&["flux.nc", "'K'", "known are", "`units`"]);
    run(flux("2021-12-02", "unit = \"K\""), &[]).refuse(&["unknown key `unit`", "did you mean `units`"]);
    let short = PROTOCOL.replace("growth.txt", "short.txt");
    std::fs::write(dir.path().join("short.txt"), "2021 0.36 0.02\n").unwrap();
    run(format!("[grid]\nnc = 6\n[output]\nfolder = \"out\"\n{short}"), &[]).refuse(&["short.txt", "growth for 2022"]);
    assert!(!dir.path().join("out").exists());
    run(flux("2021-12-02", "scale = 2"), &[]).succeed();
    let path = dir.path().join("out/co2_c6.nc");
    assert_eq!(values(&path, "time"), [0.0, DAY]);
    // On the sphere of preprocessed meteorology, stored in single precision.
    let sphere = (6_371_229.0 / RADIUS).powi(2);
    close(total(&path, "co2", 1), 2.0 * 44.0 / 12.0 * sphere * sum(1, area), 1e-7);
    let whole = 2.0 * 44.0 / 12.0 * sphere * DAY * (sum(0, area) + sum(1, area));
    let told = run(flux("2021-12-02", "scale = 2"), &[]).succeed();
    let words = format!("2 slices, {whole:.6e} kg from 2021-12-01 to 2021-12-02, {:.4e} kg a-1", whole / 2.0 * 365.25);
    assert!(told.stdout.contains(&words) && told.stdout.contains("Pg C a-1"), "{words}\n{}", told.stdout);
    for slice in ["1", "2"] {
        atmostr(dir.path(), &["plot", "out/co2_c6.nc", "--var", "co2", "--time", slice, "-o", "map.png"]).succeed();
    }
    let missing = atmostr(dir.path(), &["plot", "out/co2_c6.nc", "--var", "co", "-o", "map.png"]);
    missing.refuse(&["co2_c6.nc", "did you mean co2"]);
    let mut left: Vec<_> = std::fs::read_dir(dir.path().join("out")).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["co2_c6.nc"]);
}

/// Whatever is wrong with a later flux, its values included: nothing new is left, and old files stay as they are.
#[test]
fn a_flux_that_is_refused_leaves_nothing_behind() {
    let dir = folder();
    let path = |name: &str| dir.path().join(name);
    let days = [0.0, 1.0, 2.0];
    write(&path("good.nc"), "flux", "kg m-2 s-1", 3, Some(&days));
    write_packed(&path("large.nc"), "flux", "kg m-2 s-1", 3, Some(&days), 1e9);
    write(&path("units.nc"), "flux", "K", 3, Some(&days));
    write(&path("days.nc"), "flux", "kg m-2 s-1", 2, Some(&days[..2]));
    let flux = |name: &str, file: &str| {
        format!(
            "[[flux]]\nname = \"{name}\"\nmolar_mass_kg_mol = 0.03\nfrom_date = 2021-12-01\nuntil_date = 2021-12-03\n\
             kind = \"file\"\nfile = \"{file}\"\nvariable = \"flux\"\n"
        )
    };
    let run = |second: &str| {
        let head = "[grid]\nnc = 4\n[output]\nfolder = \"new/out\"\n";
        std::fs::write(path("fluxes.toml"), format!("{head}{}{}", flux("a", "good.nc"), flux("b", second))).unwrap();
        atmostr(dir.path(), &["prepare-fluxes", "fluxes.toml"])
    };
    let list = || {
        let mut names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    std::fs::write(path("fluxes.toml"), "").unwrap();
    let before = list();
    for (file, parts) in [
        ("large.nc", ["'flux' is", "beyond 1e-2"]),
        ("units.nc", ["'K'", "known are"]),
        ("days.nc", ["do not cover", "days.nc"]),
    ] {
        run(file).refuse(&parts);
        assert_eq!(list(), before, "{file}");
    }
    run("good.nc").succeed();
    let old = std::fs::read(path("new/out/a_c4.nc")).unwrap();
    run("large.nc").refuse(&["large.nc", "beyond 1e-2"]);
    assert_eq!(std::fs::read(path("new/out/a_c4.nc")).unwrap(), old);
    assert_eq!(std::fs::read_dir(path("new/out")).unwrap().count(), 2);
}
