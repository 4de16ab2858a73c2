//! The job scripts of `slurm/`, run by a Slurm with two nodes on this machine.
#![cfg(feature = "mpi")]

mod cluster;
#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cluster::{Cluster, wait_until};
use support::{
    Config, Ended, LONG_PATIENCE, TM5_PHYSICS, alone, assert_same, finish, finish_within, mpirun, mpirun_command, synth,
};

const PATIENCE: Duration = Duration::from_secs(120);

/// States of a job that has not ended.
const GOES_ON: [&str; 5] = ["PENDING", "RUNNING", "COMPLETING", "REQUEUED", "CONFIGURING"];

fn script(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("slurm").join(name).display().to_string()
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

/// A chain in a folder, its job and the place of its log.
struct Chain<'a> {
    cluster: &'a Cluster,
    dir: &'a Path,
    job: String,
}

impl Chain<'_> {
    fn log(&self) -> PathBuf {
        self.dir.join(format!("atmostr-chain-{}.log", self.job))
    }

    /// What to say when something does not happen.
    fn story(&self, what: &str) -> String {
        format!(
            "{what}: job is {}\n{}\n{}",
            self.cluster.state(&self.job),
            read(&self.log()),
            self.cluster.last_words()
        )
    }

    /// Waits until piece `n` has written a restart file.
    fn goes_on(&self, n: usize) {
        let what = format!("piece {n} begins");
        wait_until(PATIENCE, &|| self.story(&what), || read(&self.log()).contains(&format!("piece {n} of ")));
        let before = latest(self.dir);
        let what = format!("piece {n} writes a restart file");
        wait_until(PATIENCE, &|| self.story(&what), || latest(self.dir) > before);
    }

    /// Waits for a state of the job; one in which it has ended is not left again.
    fn is(&self, state: &str) {
        let what = format!("job becomes {state}");
        wait_until(PATIENCE, &|| self.story(&what), || {
            let now = self.cluster.state(&self.job);
            assert!(now == state || GOES_ON.contains(&&*now), "{}", self.story(&what));
            now == state
        });
    }

    fn control(&self, args: &[&str]) {
        self.cluster.run(self.dir, "scontrol", args).succeed();
    }

    /// Asks the ranks to stop, as `--signal` does before the time is over, and waits until the job is back in the queue.
    fn stop(&self) {
        self.cluster.run(self.dir, "scancel", &["--signal=USR1", &self.job]).succeed();
        self.is("PENDING");
    }
}

/// Name of the latest restart file.
fn latest(dir: &Path) -> Option<String> {
    let entries = fs::read_dir(dir.join("pieces.restart")).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".nc")).max()
}

fn prepare(dir: &Path, windows: &str) {
    let physics = ["--physics", "all", "--start-time", "2000-01-01"];
    synth(dir, "winds.bin", &[&["--nc", "8", "--levels", "6", "--windows", windows], &physics[..]].concat());
    for (output, every) in [("whole", ""), ("pieces", "every = 2")] {
        Config {
            float: "Float32",
            tracers: TM5_PHYSICS,
            output: &format!("path = \"{output}.nc\"\ncadence_hours = 6\n[restart]\n{every}"),
            ..Config::default()
        }
        .write(dir, &format!("{output}.toml"));
    }
}

fn compare(dir: &Path, hours: u64) {
    assert_same(dir, "whole.nc", "pieces.nc", "output");
    assert_eq!(read(&dir.join("whole.budget.csv")), read(&dir.join("pieces.budget.csv")), "budgets");
    let last = |name: &str| format!("{name}.restart/{name}.restart-{:012}.nc", 3600 * hours);
    assert_same(dir, &last("whole"), &last("pieces"), "restart file");
}

#[test]
fn a_chain_is_stopped_grows_loses_a_node_and_ends_as_a_run_in_one_piece() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    let Some(cluster) = Cluster::start() else { return };
    prepare(dir, "72");
    mpirun(dir, 2, &["whole.toml"]).succeed();
    // Long enough for Slurm not to send the signal itself, ten minutes before the end.
    let options = ["--ntasks-per-node=3", "--cpus-per-task=1", "--time=60"];
    let job = cluster.submit(dir, &[&options[..], &[&script("chain.sh"), "pieces.toml"]].concat());
    let chain = Chain { cluster: &cluster, dir, job };
    chain.goes_on(1);
    chain.stop();
    chain.control(&["update", &format!("JobId={}", chain.job), "NumNodes=2-2"]);
    chain.goes_on(2);
    chain.stop();
    chain.goes_on(3);
    chain.control(&["update", "NodeName=n2", "State=DOWN", "Reason=test"]);
    chain.is("PENDING");
    chain.control(&["update", &format!("JobId={}", chain.job), "NumNodes=1-1", "NumTasks=3"]);
    chain.is("COMPLETED");

    let log = read(&chain.log());
    let pieces: Vec<&str> = log.lines().filter(|line| line.starts_with("piece ")).collect();
    assert_eq!(
        pieces,
        [
            "piece 1 of pieces.toml: 3 ranks on n1",
            "piece 2 of pieces.toml: 6 ranks on n[1-2]",
            "piece 3 of pieces.toml: 6 ranks on n[1-2]",
            "piece 4 of pieces.toml: 3 ranks on n1",
        ],
        "{log}"
    );
    assert_eq!(log.matches(" by SIGUSR1; `--restart latest` goes on").count(), 2, "{log}");
    assert_eq!(log.matches("not finished: back into the queue").count(), 2, "{log}");
    assert!(log.contains("NODE FAILURE"), "{log}");
    assert_eq!(log.lines().filter(|line| line.starts_with("finished: ")).count(), 1, "{log}");
    compare(dir, 72);
    println!("{log}");
}

/// Slurm itself sends the signal before the time is over.
#[test]
#[ignore = "takes minutes: Slurm looks at the times of jobs every half minute"]
fn a_chain_whose_jobs_are_too_short_finishes() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    let Some(cluster) = Cluster::start() else { return };
    prepare(dir, "1500");
    let options = ["--ntasks-per-node=3", "--cpus-per-task=1", "--time=1", "--signal=USR1@50"];
    let job = cluster.submit(dir, &[&options[..], &[&script("chain.sh"), "pieces.toml"]].concat());
    let chain = Chain { cluster: &cluster, dir, job };
    for piece in 1..=2 {
        chain.goes_on(piece);
        chain.is("PENDING");
    }
    chain.control(&["update", &format!("JobId={}", chain.job), "TimeLimit=60"]);
    let what = || chain.story("job ends");
    wait_until(LONG_PATIENCE, &what, || !GOES_ON.contains(&&*cluster.state(&chain.job)));
    let log = read(&chain.log());
    assert_eq!(cluster.state(&chain.job), "COMPLETED", "{log}");
    assert!(log.contains("piece 3 of pieces.toml"), "{log}");
    assert!(log.matches(" by SIGUSR1; `--restart latest` goes on").count() >= 2, "{log}");
    let whole = mpirun_command(2, Path::new(env!("CARGO_BIN_EXE_atmostr")), &["whole.toml"]);
    finish_within(whole, dir, LONG_PATIENCE).succeed();
    compare(dir, 1500);
}

/// A script that submits jobs, on nodes of six ranks.
fn on_login_node(cluster: &Cluster, dir: &Path, name: &str, args: &[&str]) -> Ended {
    let mut command = cluster.command(&script(name), args);
    command.env("RANKS_PER_NODE", "6").env("SBATCH_TIMELIMIT", "5");
    finish(command, dir)
}

#[test]
fn runs_sweeps_and_twins_end_well() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    let Some(cluster) = Cluster::start() else { return };
    synth(dir, "winds.bin", &["--nc", "8", "--levels", "6", "--windows", "48"]);
    for (name, float, output) in [
        ("alone", "Float64", "alone.nc"),
        ("node", "Float64", "node.nc"),
        ("nodes", "Float64", "nodes.nc"),
        ("sweep", "Float64", "sweep.nc"),
        ("double", "Float64", "$ATMOSTR_TWIN.nc"),
        ("single", "Float32", "$ATMOSTR_TWIN.nc"),
    ] {
        let output = format!("path = \"{output}\"\ncadence_hours = 6");
        Config { float, output: &output, ..Config::default() }.write(dir, &format!("{name}.toml"));
    }
    let sizes = ["--cpus-per-task=1", "--time=5"];
    let one = cluster.submit(dir, &[&sizes[..], &[&script("one_gpu.sh"), "alone.toml"]].concat());
    let node = ["--ntasks-per-node=6", &script("one_node.sh"), "node.toml"];
    let node = cluster.submit(dir, &[&sizes[..], &node].concat());
    let nodes = ["--nodes=2", "--ntasks-per-node=3", &script("many_nodes.sh"), "nodes.toml"];
    let nodes = cluster.submit(dir, &[&sizes[..], &nodes].concat());
    on_login_node(&cluster, dir, "scaling.sh", &["sweep.toml", "1", "6", "10"]).succeed();
    on_login_node(&cluster, dir, "twins.sh", &["double.toml:1", "double.toml:10", "single.toml:6"]).succeed();
    cluster.idle(PATIENCE);

    for job in [&one, &node, &nodes] {
        assert_eq!(cluster.state(job), "COMPLETED", "{}", read(&dir.join(format!("atmostr-{job}.log"))));
    }
    assert_same(dir, "alone.nc", "node.nc", "one rank and one node");
    assert_same(dir, "alone.nc", "nodes.nc", "one rank and two nodes");

    let table = read(&dir.join("sweep-scaling.txt"));
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["ranks", "threads", "days/day", "efficiency"], "{table}");
    assert_eq!(rows[1..].iter().map(|row| row[0]).collect::<Vec<_>>(), ["1", "6", "10"], "{table}");
    assert!(rows[1..].iter().all(|row| row[2].parse::<f64>().is_ok_and(|speed| speed > 0.0)), "{table}");
    assert_eq!(rows[1][3], "100%", "{table}");

    let twins = read(&dir.join("double-twins.txt"));
    let at = |part: &str| twins.find(part).unwrap_or_else(|| panic!("{part:?} not in\n{twins}"));
    assert!(at("twin0.nc twin1.nc\nno differences") < at("twin0.nc twin2.nc\n"), "{twins}");
    assert!(at("variable `co2`: type") > at("twin0.nc twin2.nc\n"), "{twins}");
    println!("{table}{twins}");
}

/// Two months of days with two windows: the second one goes on from the first.
#[test]
fn months_follow_each_other() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    let Some(cluster) = Cluster::start() else { return };
    fs::create_dir(dir.join("met")).unwrap();
    for n in 0..33 {
        let date = if n < 2 { format!("2021-12-{}", 30 + n) } else { format!("2022-01-{:02}", n - 1) };
        let (name, skip) = (format!("met/winds_{}.bin", date.replace('-', "")), (2 * n).to_string());
        let size = ["--nc", "4", "--levels", "3", "--windows", "2", "--window-seconds", "43200"];
        synth(dir, &name, &[&size[..], &["--skip-windows", &skip, "--start-time", &date]].concat());
    }
    let at = dir.display();
    for output in ["whole", "pieces"] {
        Config {
            input: &format!("folder = \"{at}/met\"\nstart_date = \"2021-12-30\"\nend_date = \"2022-01-31\""),
            output: &format!(
                "path = \"{at}/{output}_{{date}}.nc\"\nsplit = \"daily\"\ncadence_hours = 12\n[restart]\nevery = 240"
            ),
            ..Config::default()
        }
        .write(dir, &format!("{output}.toml"));
    }
    let months = ["2021-12", "2022-01", "--ntasks-per-node=2", "--cpus-per-task=1", "--time=60"];
    let submitted =
        on_login_node(&cluster, dir, "catrine/30_run.sh", &[&["pieces.toml"], &months[..]].concat()).succeed().stdout;
    let jobs: Vec<&str> = submitted.lines().filter_map(|line| line.split(": job ").nth(1)).collect();
    assert_eq!(jobs.len(), 2, "{submitted}");
    cluster.idle(PATIENCE);
    for job in &jobs {
        assert_eq!(cluster.state(job), "COMPLETED", "{}", read(&dir.join(format!("catrine-2021-12-{}.log", jobs[0]))));
    }
    let second = read(&dir.join(format!("catrine-2022-01-{}.log", jobs[1])));
    assert!(second.contains("  initial    window 5 of "), "{second}");
    let watch = on_login_node(&cluster, dir, "catrine/50_watch.sh", &["pieces.restart"]).succeed().stdout;
    assert!(watch.contains("finished: 2.00 days") && watch.contains("day 33, hour 0"), "{watch}");
    mpirun(dir, 2, &["whole.toml"]).succeed();
    for day in ["20211230", "20211231", "20220101", "20220131"] {
        assert_same(dir, &format!("whole_{day}.nc"), &format!("pieces_{day}.nc"), "days");
    }
    let last = |name: &str| format!("{name}.restart/{name}.restart-{:012}.nc", 33 * 86_400);
    assert_same(dir, &last("whole"), &last("pieces"), "restart file");
    // A later month does not begin a run that has no restart file.
    fs::remove_dir_all(dir.join("pieces.restart")).unwrap();
    let late = ["pieces.toml", "2022-01", "2022-01", "--ntasks-per-node=2", "--cpus-per-task=1", "--wait"];
    assert_eq!(on_login_node(&cluster, dir, "catrine/30_run.sh", &late).code, Some(2));
}

#[test]
fn scripts_refuse_what_they_cannot_do() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    let Some(cluster) = Cluster::start() else { return };
    Config { output: "path = \"o.nc\"\ncadence_hours = 1\n[restart]\nevery = 1", ..Config::default() }
        .write(dir, "run.toml");
    for (name, args, part) in [
        ("scaling.sh", &["run.toml", "6"][..], "has a table [restart]"),
        ("scaling.sh", &["run.toml"], "usage: scaling.sh"),
        ("twins.sh", &["run.toml:1", "run.toml:2"], "output.path has to contain $ATMOSTR_TWIN"),
        ("twins.sh", &["run.toml", "run.toml:2"], "run.toml is not CONFIG:RANKS"),
    ] {
        let ended = on_login_node(&cluster, dir, name, args).refuse(&[part]);
        assert!(ended.stdout.is_empty(), "{}", ended.stdout);
    }
    assert!(cluster.run(dir, "squeue", &["--noheader"]).succeed().stdout.is_empty(), "nothing was submitted");
    // The winds are missing: the job fails with the exit code of the check and is not put back.
    let options = ["--wait", "--ntasks-per-node=1", "--cpus-per-task=1", "--time=5"];
    let ended = cluster.run(dir, "sbatch", &[&options[..], &[&script("chain.sh"), "run.toml"]].concat());
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let processes = cluster.processes();
    assert!(processes.len() >= 4, "{processes:?}");
    drop(cluster);
    let left: Vec<_> = processes.iter().filter(|id| Path::new(&format!("/proc/{id}/exe")).exists()).collect();
    assert!(left.is_empty(), "processes of the cluster are left: {left:?}");
}
