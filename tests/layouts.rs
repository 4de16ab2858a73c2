//! The same bits on any number of ranks, tiles and threads: C24, 20 levels, 24 hourly windows, 4 tracers.
#![cfg(feature = "mpi")]

mod support;

use std::path::Path;

use atmostr::comm::{Communicator, Solo, threads};
use atmostr::config::RunConfig;
use atmostr::model;
use atmostr::model::report::Quiet;
use support::{Config, GEOS_PHYSICS, TM5_PHYSICS, alone, assert_same, atmostr, mpirun, synth};

/// Precision, as in configurations and as an option of `synth`, and panel convention.
type Winds = (&'static str, &'static str);

const WINDS: [Winds; 4] =
    [("Float32", "geos_native"), ("Float64", "geos_native"), ("Float32", "gnomonic"), ("Float64", "gnomonic")];

const SCHEMES: [&str; 5] = [
    "scheme = \"upwind\"",
    "scheme = \"slopes\"",
    "scheme = \"ppm\"\nlimiter = \"cw84\"",
    "scheme = \"ppm\"\nlimiter = \"huynh_pd\"",
    "scheme = \"linrood\"\nlimiter = \"huynh_pd\"",
];

#[derive(Clone, Copy, Debug)]
struct Layout {
    ranks: usize,
    threads: usize,
    tiles: Option<[usize; 2]>,
}

const fn layout(ranks: usize, threads: usize) -> Layout {
    Layout { ranks, threads, tiles: None }
}

const fn tiled(ranks: usize, threads: usize, tiles: [usize; 2]) -> Layout {
    Layout { ranks, threads, tiles: Some(tiles) }
}

/// What is compared with one rank and one thread: rank counts, threads, odd tiles, and the first again.
const LAYOUTS: [Layout; 17] = [
    layout(2, 1),
    layout(6, 1),
    layout(24, 1),
    layout(3, 2),
    layout(5, 1),
    layout(12, 1),
    tiled(7, 1, [7, 1]),
    layout(8, 1),
    layout(4, 1),
    tiled(6, 2, [2, 3]),
    layout(1, 2),
    layout(3, 1),
    tiled(9, 1, [3, 2]),
    layout(2, 2),
    tiled(1, 2, [5, 4]),
    layout(1, 1),
    layout(6, 1),
];

fn wind_file(winds: Winds) -> String {
    format!("{}_{}.bin", winds.0, winds.1)
}

fn make_winds(dir: &Path, winds: Winds) {
    let (float, convention) = winds;
    synth(dir, &wind_file(winds), &["--nc", "24", "--float", float, "--convention", convention]);
}

fn configure(dir: &Path, winds: Winds, scheme: &str, how: Layout, output: &str) {
    let input = format!("binary_paths = [\"{}\"]", wind_file(winds));
    let output = format!("path = \"{output}\"\ncadence_hours = 12");
    let Layout { threads, tiles, .. } = how;
    Config { input: &input, float: winds.0, threads, tiles, advection: scheme, output: &output, ..Config::default() }
        .write(dir, "run.toml");
}

/// Runs a scheme on one rank without `mpirun` and then on each layout.
fn compare(dir: &Path, winds: Winds, scheme: &str, layouts: &[Layout]) {
    configure(dir, winds, scheme, layout(1, 1), "reference.nc");
    atmostr(dir, &["run.toml"]).succeed();
    for how in layouts {
        configure(dir, winds, scheme, *how, "other.nc");
        mpirun(dir, how.ranks, &["run.toml"]).succeed();
        assert_same(dir, "reference.nc", "other.nc", &format!("{winds:?} {scheme} {how:?}"));
        std::fs::remove_file(dir.join("other.nc")).unwrap();
    }
}

#[test]
fn one_scheme_is_the_same_on_every_layout() {
    let (_alone, dir) = alone();
    make_winds(dir.path(), WINDS[1]);
    compare(dir.path(), WINDS[1], SCHEMES[3], &LAYOUTS);
}

/// Each pair of winds and scheme on two layouts, each layout with several of them.
#[test]
fn every_scheme_and_precision_is_the_same_on_some_layouts() {
    let (_alone, dir) = alone();
    let mut next = LAYOUTS.iter().cycle();
    for winds in WINDS {
        make_winds(dir.path(), winds);
        for scheme in SCHEMES {
            let layouts = [next.next().unwrap(), next.next().unwrap()].map(|l| *l);
            compare(dir.path(), winds, scheme, &layouts);
        }
    }
}

#[test]
#[ignore = "slow: 288 runs, up to 15 minutes on 2 cores"]
fn every_scheme_and_precision_is_the_same_on_every_layout() {
    for winds in WINDS {
        let (_alone, dir) = alone();
        make_winds(dir.path(), winds);
        for scheme in SCHEMES {
            compare(dir.path(), winds, scheme, &LAYOUTS);
        }
    }
}

/// All vertical physics, on every number of ranks and odd tiles.
#[test]
fn physics_is_the_same_on_every_layout() {
    let (_alone, dir) = alone();
    let dir = dir.path();
    let layouts =
        [layout(2, 1), layout(5, 1), layout(6, 1), layout(8, 1), layout(24, 1), layout(1, 2), tiled(6, 2, [2, 3])];
    for float in ["Float32", "Float64"] {
        synth(
            dir,
            "winds.bin",
            &["--nc", "24", "--levels", "20", "--windows", "6", "--physics", "all", "--float", float],
        );
        for tracers in [TM5_PHYSICS, GEOS_PHYSICS] {
            let configure = |how: Layout, output: &str| {
                let output = format!("path = \"{output}\"\ncadence_hours = 3");
                let Layout { threads, tiles, .. } = how;
                Config { float, threads, tiles, tracers, output: &output, ..Config::default() }.write(dir, "run.toml");
            };
            configure(layout(1, 1), "reference.nc");
            atmostr(dir, &["run.toml"]).succeed();
            for how in layouts {
                configure(how, "other.nc");
                mpirun(dir, how.ranks, &["run.toml"]).succeed();
                let what = format!("physics {float} {how:?}");
                assert_same(dir, "reference.nc", "other.nc", &what);
                let table = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
                assert_eq!(table("reference.budget.csv"), table("other.budget.csv"), "{what}");
            }
        }
    }
}

/// A file written in parallel equals one that the first rank gathers, and one written without any ranks.
#[test]
fn files_written_without_mpi_are_the_same() {
    let (_alone, dir) = alone();
    let dir = dir.path();
    make_winds(dir, WINDS[0]);
    configure(dir, WINDS[0], SCHEMES[1], layout(6, 1), "parallel.nc");
    mpirun(dir, 6, &["run.toml"]).succeed();
    let run = |output, comm: &dyn Communicator| {
        let mut text = std::fs::read_to_string(dir.join("run.toml")).unwrap();
        text = text.replace("parallel.nc", output);
        let config = RunConfig::parse(&text, &dir.join("run.toml")).unwrap_or_else(|e| panic!("{}", e.plain()));
        model::run(&config, comm, &mut Quiet).unwrap_or_else(|e| panic!("{e}"));
    };
    run("alone.nc", &Solo);
    threads::run(5, |comm| run("gathered.nc", &comm));
    assert_same(dir, "parallel.nc", "alone.nc", "one process without MPI");
    assert_same(dir, "parallel.nc", "gathered.nc", "five ranks, gathered by the first");
}
