//! Damaged restart files, transport files and configurations: each is refused with its name, or changes nothing.

mod random;
#[path = "../support/mod.rs"]
mod support;

use std::path::Path;

use random::{Random, damage};
use support::{Config, Ended, GEOS_PHYSICS, TM5_PHYSICS, alone, atmostr, synth};

/// What became of the damaged files of a kind.
#[derive(Debug, Default)]
struct Tally {
    refused: usize,
    later: usize,
    identical: usize,
}

/// A seed that is printed, so that a failure can be repeated, and differs from run to run where it is asked for.
fn seed(fixed: Option<u64>) -> u64 {
    let seed = fixed.unwrap_or_else(|| {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64)
    });
    println!("seed {seed}");
    seed
}

fn run_text(dir: &Path, rest: &str) {
    let config = Config {
        float: "Float32",
        tracers: TM5_PHYSICS,
        output: "path = \"out.nc\"\ncadence_hours = 1",
        ..Config::default()
    };
    std::fs::write(dir.join("run.toml"), config.text() + rest).unwrap();
}

/// Panics unless a run on a damaged file has refused it by name, or has given the same output.
fn judge(ended: &Ended, dir: &Path, name: &str, what: &str, tally: &mut Tally) {
    let text = &ended.stderr;
    assert!(!text.contains("internal error") && !text.contains("panicked"), "{what}\n{text}");
    match ended.code {
        Some(code @ (1 | 2)) => {
            assert!(text.contains("error") && text.contains(name), "{what}\n{text}");
            if code == 2 { tally.refused += 1 } else { tally.later += 1 }
        }
        Some(0) => {
            let found = atmostr(dir, &["diff", "../whole/out.nc", "out.nc"]);
            assert_eq!(found.code, Some(0), "{what}: another result\n{}", found.stdout);
            tally.identical += 1;
        }
        other => panic!("{what}: ended with {other:?}\n{text}"),
    }
}

fn folders(dir: &Path) {
    for name in ["whole", "damaged"] {
        std::fs::create_dir(dir.join(name)).unwrap();
        synth(&dir.join(name), "winds.bin", &["--nc", "4", "--levels", "5", "--windows", "3", "--physics", "all"]);
    }
}

fn damaged_transport_files(cases: usize, seed: u64) {
    let (_guard, dir) = alone();
    folders(dir.path());
    let (whole, damaged) = (dir.path().join("whole"), dir.path().join("damaged"));
    run_text(&whole, "");
    run_text(&damaged, "");
    atmostr(&whole, &["run.toml"]).succeed();
    let sound = std::fs::read(whole.join("winds.bin")).unwrap();
    let json = sound.iter().position(|b| *b == 0).unwrap();
    let header = atmostr::met::TransportFile::open(whole.join("winds.bin")).unwrap().header().header_bytes() as usize;
    let (mut random, mut tally) = (Random::new(seed), Tally::default());
    for n in 0..cases {
        let mut bytes = sound.clone();
        let mut what = format!("case {n} of seed {seed}");
        for _ in 0..=random.below(3) {
            // The header is mostly empty: its text, the payload, and sometimes anything.
            let range = match random.below(10) {
                0..4 => (0, json.min(bytes.len())),
                4..9 if bytes.len() > header + 1 => (header, bytes.len()),
                _ => (0, bytes.len()),
            };
            if range.1 > range.0 + 1 {
                what += &format!(", {}", damage(&mut random, &mut bytes, range));
            }
        }
        std::fs::write(damaged.join("winds.bin"), &bytes).unwrap();
        judge(&atmostr(&damaged, &["run.toml"]), &damaged, "winds.bin", &what, &mut tally);
    }
    println!("{cases} damaged transport files: {tally:?}");
    assert!(tally.refused + tally.later > cases / 2 && tally.refused > 0, "{tally:?}");
}

fn damaged_restart_files(cases: usize, seed: u64) {
    let (_guard, dir) = alone();
    folders(dir.path());
    let (whole, damaged) = (dir.path().join("whole"), dir.path().join("damaged"));
    run_text(&whole, "[restart]\nevery = 1\nkeep = 9\n");
    atmostr(&whole, &["run.toml"]).succeed();
    let sound = std::fs::read(whole.join("run.restart/run.restart-000000003600.nc")).unwrap();
    let output = std::fs::read(whole.join("out.nc")).unwrap();
    let budget = std::fs::read(whole.join("out.budget.csv")).unwrap();
    run_text(&damaged, "[restart]\n");
    let (mut random, mut tally) = (Random::new(seed), Tally::default());
    let go_on = |bytes: &[u8], what: &str, tally: &mut Tally| {
        std::fs::write(damaged.join("damaged.nc"), bytes).unwrap();
        std::fs::write(damaged.join("out.nc"), &output).unwrap();
        std::fs::write(damaged.join("out.budget.csv"), &budget).unwrap();
        judge(&atmostr(&damaged, &["run", "run.toml", "--restart", "damaged.nc"]), &damaged, "damaged.nc", what, tally);
    };
    go_on(&sound, "the sound file", &mut tally);
    assert_eq!(tally.identical, 1, "the sound file is accepted");
    for n in 0..cases {
        let mut bytes = sound.clone();
        let mut what = format!("case {n} of seed {seed}");
        for _ in 0..=random.below(3) {
            let length = bytes.len();
            let range = if random.below(3) == 0 { (0, length.min(2000)) } else { (0, length) };
            if range.1 > 1 {
                what += &format!(", {}", damage(&mut random, &mut bytes, range));
            }
        }
        go_on(&bytes, &what, &mut tally);
    }
    println!("{cases} damaged restart files: {tally:?}");
    assert!(tally.refused > cases * 9 / 10, "{tally:?}");
}

/// Texts of valid configurations.
fn configurations() -> Vec<String> {
    let rest = "[restart]\nevery = 2\nkeep = 3\non_signal = true\n";
    let output = "path = \"out_{date}.nc\"\nsplit = \"daily\"\ncadence_hours = 1\ndeflate_level = 2\n[output.fields]\nlayers = \"selected\"\nlevels = [1, 2]";
    let mut texts: Vec<String> = [TM5_PHYSICS, GEOS_PHYSICS, support::TRACERS]
        .map(|tracers| Config { tracers, output, tiles: Some([1, 1]), ..Config::default() }.text() + rest)
        .into();
    let ready = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    for entry in std::fs::read_dir(ready).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.extension().is_some_and(|e| e == "toml") {
            texts.push(std::fs::read_to_string(entry).unwrap());
        }
    }
    texts
}

/// Words of a text, and what is between them.
fn tokens(text: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for c in text.chars() {
        let word = c.is_alphanumeric() || "_.-+".contains(c);
        match list.last_mut() {
            Some(last) if word && last.ends_with(|c: char| c.is_alphanumeric() || "_.-+".contains(c)) => last.push(c),
            _ => list.push(c.into()),
        }
    }
    list
}

fn mutate_text(random: &mut Random, text: &str) -> String {
    const ODD: [&str; 22] = [
        "",
        "0",
        "-1",
        "1e308",
        "nan",
        "inf",
        "-inf",
        "9223372036854775807",
        "99999999999999999999",
        "true",
        "\"\"",
        "[]",
        "{}",
        "'",
        "\"",
        "=",
        "[",
        "]]",
        "\u{0}",
        "\u{202e}ß",
        "1979-05-27",
        "\"x\\u0000y\"",
    ];
    let mut list = tokens(text);
    for _ in 0..=random.below(3) {
        let (at, other) = (random.below(list.len()), random.below(list.len()));
        match random.below(7) {
            0 => drop(list.remove(at)),
            1 => list.insert(at, list[other].clone()),
            2 => list.swap(at, other),
            3 => list[at] = (*random.pick(&ODD)).to_owned(),
            4 => list.insert(at, (*random.pick(&ODD)).to_owned()),
            5 => {
                // A line twice, or elsewhere.
                let lines: Vec<&str> = text.lines().collect();
                let line = format!("\n{}\n", random.pick(&lines));
                list.insert(at, line);
            }
            _ => {
                let numbers: Vec<usize> =
                    (0..list.len()).filter(|n| list[*n].starts_with(|c: char| c.is_ascii_digit())).collect();
                if !numbers.is_empty() {
                    let place = *random.pick(&numbers);
                    list[place] = format!("{}{}", list[place], random.below(1000));
                }
            }
        }
        if list.is_empty() {
            list.push("x".into());
        }
    }
    list.concat()
}

fn damaged_configurations(cases: usize, seed: u64) {
    let (_guard, dir) = alone();
    let dir = dir.path();
    synth(dir, "winds.bin", &["--nc", "4", "--levels", "5", "--windows", "3", "--physics", "all"]);
    let (texts, mut random) = (configurations(), Random::new(seed));
    let (mut accepted, mut refused) = (0, 0);
    for n in 0..cases {
        let text = mutate_text(&mut random, &texts[n % texts.len()]);
        std::fs::write(dir.join("odd.toml"), &text).unwrap();
        let ended = atmostr(dir, &["check", "odd.toml"]);
        let what = format!("case {n} of seed {seed}\n{text}\n{}", ended.stderr);
        assert!(!ended.stderr.contains("internal error") && !ended.stderr.contains("panicked"), "{what}");
        match ended.code {
            Some(0) => accepted += 1,
            Some(2) => {
                assert!(ended.stderr.contains("error") && ended.stderr.contains("odd.toml"), "{what}");
                refused += 1;
            }
            other => panic!("ended with {other:?}: {what}"),
        }
    }
    println!("{cases} damaged configurations: {accepted} accepted, {refused} refused");
    assert!(accepted > 0 && refused > cases / 2, "{accepted} accepted, {refused} refused");
}

#[test]
fn damaged_transport_files_are_refused_or_change_nothing() {
    damaged_transport_files(100, seed(Some(0x5eed)));
}

#[test]
fn damaged_restart_files_are_refused() {
    damaged_restart_files(100, seed(Some(0x5eed)));
}

#[test]
fn damaged_configurations_are_explained() {
    damaged_configurations(100, seed(Some(0x5eed)));
}

#[test]
#[ignore = "takes minutes"]
fn a_thousand_damaged_transport_files() {
    damaged_transport_files(1000, seed(None));
}

#[test]
#[ignore = "takes minutes"]
fn a_thousand_damaged_restart_files() {
    damaged_restart_files(1000, seed(None));
}

#[test]
#[ignore = "takes minutes"]
fn a_thousand_damaged_configurations() {
    damaged_configurations(1000, seed(None));
}
