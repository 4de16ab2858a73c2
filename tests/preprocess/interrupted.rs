//! Days are done once, and a day that was interrupted leaves nothing that could be taken for finished.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use atmostr::met::TransportFile;
use atmostr::met::gates::validate_replay;

use crate::support::{alone, atmostr};
use crate::winds::{Winds, configuration, prepare};

const RANGE: [&str; 6] = ["preprocess", "met.toml", "--start", "2000-01-01", "--end", "2000-01-02"];

#[test]
fn days_that_are_there_are_left_as_they_are() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir, &Winds::default(), "", "");
    assert!(atmostr(dir, &["check", "met.toml"]).succeed().stdout.contains("preprocessing configuration is valid"));
    atmostr(dir, &["preprocess", "met.toml", "--day", "2000-01-02"]).succeed();
    let second = dir.join("out/20000102.bin");
    let (before, written) = (std::fs::read(&second).unwrap(), std::fs::metadata(&second).unwrap().modified().unwrap());
    let ended = atmostr(dir, &RANGE).succeed();
    assert!(ended.stderr.contains("already there"), "{}", ended.stderr);
    assert_eq!(std::fs::metadata(&second).unwrap().modified().unwrap(), written);
    // The same bytes again.
    atmostr(dir, &["preprocess", "met.toml", "--day", "2000-01-02", "--replace"]).succeed();
    assert_eq!(std::fs::read(&second).unwrap(), before);
    // Another configuration does not mix with the files of this one.
    prepare(dir, &Winds::default(), "", "[numerics]\nfloat_type = \"Float32\"\n");
    atmostr(dir, &RANGE).refuse(&["20000101.bin", "another configuration", "--replace"]);
    assert_eq!(std::fs::read(&second).unwrap(), before);
}

/// What changes nothing of a day makes no other configuration; what changes a day does, the input included.
#[test]
fn the_same_configuration_is_told_by_what_it_asks_for() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    let day = ["preprocess", "met.toml", "--day", "2000-01-01"];
    let again = |text: String| {
        std::fs::write(dir.join("met.toml"), text).unwrap();
        atmostr(dir, &day)
    };
    prepare(dir, &Winds::default(), "", "");
    atmostr(dir, &day).succeed();
    let plain = configuration("", "");
    let spelled = "face_fluxes = \"vector\"\n";
    let same = |ended: crate::support::Ended| assert_eq!(ended.succeed().count("already there"), 1);
    same(again(format!("# a remark\n{plain}")));
    same(again(format!("{plain}[fluxes]\n{spelled}")));
    same(again(plain.replace("\"winds.nc\"", "\"./winds.nc\"")));
    same(again(plain.replace("nc = 12", "nc = 12\nregridder_cache_dir = \"weights\"")));
    std::fs::create_dir(dir.join("copy")).unwrap();
    std::fs::copy(dir.join("winds.nc"), dir.join("copy/winds.nc")).unwrap();
    same(again(plain.replace("\"winds.nc\"", "\"copy/winds.nc\"")));
    std::fs::rename(dir.join("out"), dir.join("elsewhere")).unwrap();
    same(again(plain.replace("\"out\"", "\"elsewhere\"")));
    std::fs::rename(dir.join("elsewhere"), dir.join("out")).unwrap();
    // Later files may be added.
    let later = Winds { times: (9..17).map(|n| 6.0 * f64::from(n)).collect(), ..Winds::default() };
    later.write(&dir.join("later.nc"), |_| {});
    same(again(plain.replace("\"winds.nc\"", "\"winds.nc\", \"later.nc\"")));
    for other in [plain.replace("nc = 12", "nc = 6"), plain.replace("top_pa = 5000", "top_pa = 6000")] {
        again(other).refuse(&["20000101.bin", "another configuration", "--replace"]);
    }
    again(plain.replace("n_levels = 6", "n_levels = 7")).refuse(&["another configuration"]);
    // The same name, another size.
    let longer = Winds { times: (0..13).map(|n| 6.0 * f64::from(n)).collect(), ..Winds::default() };
    longer.write(&dir.join("winds.nc"), |_| {});
    again(plain).refuse(&["20000101.bin", "other input files", "--replace"]);
}

/// Layers of the archive need interfaces, which a check asks for.
#[test]
fn a_check_refuses_native_layers_without_interfaces() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir, &Winds::default(), "", "");
    let text =
        configuration("", "").replace("levels = \"smooth\"\nn_levels = 6\ntop_pa = 5000\n", "levels = \"native\"\n");
    for (text, line) in [(text.replace("levels = \"native\"\n", ""), ""), (text, "met.toml:8:1")] {
        std::fs::write(dir.join("met.toml"), text).unwrap();
        let parts = ["`vertical.levels` = \"native\" needs the interfaces", "met.toml:", line, "levels = \"smooth\""];
        atmostr(dir, &["check", "met.toml"]).refuse(&parts);
        atmostr(dir, &["preprocess", "met.toml", "--day", "2000-01-01"]).refuse(&parts);
    }
}

/// Spec 40 §7, pitfall T40-19: whenever the work is killed, a file at the place of a day is complete and fits.
#[test]
fn killed_work_leaves_no_file_that_looks_finished() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir, &Winds::default(), "", "");
    let whole = atmostr(dir, &RANGE).succeed().seconds;
    std::fs::remove_dir_all(dir.join("out")).unwrap();
    let mut finished = 0;
    for n in 0..12u32 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
        command.current_dir(dir).args(RANGE).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // Points spread over the whole work, in no regular order.
        let part = f64::from((n * 7) % 12) / 12.0 + 0.03;
        std::thread::sleep(Duration::from_secs_f64(part * whole));
        child.kill().unwrap();
        child.wait().unwrap();
        for day in ["20000101", "20000102"] {
            let path = dir.join("out").join(format!("{day}.bin"));
            if path.exists() {
                passes(&path);
                finished += 1;
                std::fs::remove_file(path).unwrap();
            }
        }
    }
    println!("{finished} days were finished before the work was killed");
    // What was left behind does not disturb.
    atmostr(dir, &RANGE).succeed();
}

/// Signals that can be caught leave no temporary file behind.
#[cfg(unix)]
#[test]
fn stopped_work_takes_its_temporary_file_away() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir, &Winds::default(), "", "");
    let hidden = || {
        let entries = std::fs::read_dir(dir.join("out")).into_iter().flatten();
        entries.filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().ends_with(".part")).count()
    };
    for signal in ["TERM", "INT", "HUP"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
        command.current_dir(dir).args(RANGE).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        while hidden() == 0 {
            std::thread::sleep(Duration::from_millis(1));
            assert!(child.try_wait().unwrap().is_none(), "the work ended before its file was seen");
        }
        assert!(Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success());
        let ended = child.wait().unwrap();
        assert!(!ended.success(), "{signal}");
        assert_eq!(hidden(), 0, "{signal}");
        std::fs::remove_dir_all(dir.join("out")).unwrap();
    }
}

/// Processes that prepare one day each, as the jobs of an array do, agree on one global mass.
#[test]
fn days_prepared_at_the_same_time_have_one_mass() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir, &Winds::default(), "", "");
    for _ in 0..3 {
        let start = |day: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
            let args = ["preprocess", "met.toml", "--day", day, "--threads", "1"];
            command.current_dir(dir).args(args).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().unwrap()
        };
        let jobs = ["2000-01-01", "2000-01-02"].map(start);
        for mut job in jobs {
            assert!(job.wait().unwrap().success());
        }
        let mass = |day: &str| {
            let file = TransportFile::open(dir.join(format!("out/{day}.bin"))).unwrap();
            file.header().json()["global_mass_pin_target_kg"].as_f64().unwrap()
        };
        assert_eq!(mass("20000101"), mass("20000102"));
        // What is there is what a later command wants.
        let ended = atmostr(dir, &RANGE).succeed();
        assert_eq!(ended.count("already there"), 2, "{}", ended.stderr);
        std::fs::remove_dir_all(dir.join("out")).unwrap();
    }
}

fn passes(path: &Path) {
    let file = TransportFile::open(path).unwrap();
    validate_replay(&file, 0..24, 1e-10, None).unwrap();
}
