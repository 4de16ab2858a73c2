//! Environment variables that the program reads: the documented ones and no others. None of them changes a result.

use std::path::{Path, PathBuf};

/// What may be read, and why it is harmless.
const KNOWN: [(&str, &str); 15] = [
    ("ATMOSTR_DISABLE_PREFETCH", "when windows are read, not what is read"),
    ("ATMOSTR_TIMERS", "times of sections"),
    ("ATMOSTR_ALLOC_TIMERS", "as above"),
    ("ATMOSTR_PROFILE_GPU", "as above; when the device is waited for"),
    ("ATMOSTR_PROFILE_MODE", "which part of a run is timed"),
    ("ATMOSTR_PROFILE_WARMUP_SEC", "as above"),
    ("ATMOSTR_PROFILE_DUR_SEC", "as above"),
    ("ATMOSTR_INSTITUTION", "an attribute of output files that `diff` leaves out"),
    ("USER", "as above"),
    ("USERNAME", "as above"),
    ("HOME", "`~` in paths of a configuration"),
    ("NO_COLOR", "colours of messages"),
    ("TERM", "colours of messages"),
    ("OMPI_COMM_WORLD_SIZE", "refusal of a program without MPI that was started on several ranks"),
    ("PMI_SIZE", "as above"),
];

/// Ways to ask for the environment, each with the files that may use it.
const ASKING: [(&str, &[&str]); 5] = [
    (
        "env::var",
        &[
            "src/cli/mod.rs",
            "src/cli/run.rs",
            "src/config/paths.rs",
            "src/met/prefetch.rs",
            "src/output/provenance.rs",
            "src/timers/settings.rs",
        ],
    ),
    ("getenv", &[]),
    ("EnvFilter", &[]),
    ("from_env(", &[]),
    ("dotenv", &[]),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Every source file, as a path from the top of the project and its text.
fn texts() -> Vec<(String, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in ["src", "kernels/src", "decomposition/src"] {
        sources(&top.join(folder), &mut paths);
    }
    assert!(paths.len() > 50, "sources are missing");
    let relative = |path: &Path| path.strip_prefix(top).unwrap().to_str().unwrap().replace('\\', "/");
    paths.iter().map(|path| (relative(path), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn the_environment_is_asked_in_few_places() {
    for (path, text) in texts() {
        for (way, allowed) in ASKING {
            assert!(!text.contains(way) || allowed.contains(&path.as_str()), "{path} uses {way}");
        }
    }
}

/// Names in capitals passed as text in the files that ask.
#[test]
fn only_documented_variables_are_read() {
    let asking = ASKING[0].1;
    let texts: Vec<_> = texts().into_iter().filter(|(path, _)| asking.contains(&path.as_str())).collect();
    assert_eq!(texts.len(), asking.len());
    let mut read = Vec::new();
    for (path, text) in &texts {
        // Tests follow the code; variables named in a configuration's paths are the user's own.
        let code = text.split("#[cfg(test)]").next().unwrap();
        assert!(code.contains("env::var"), "{path} no longer asks; take it off the list");
        // Other text in capitals: asked for at build time, or the name of an argument.
        let others = [
            "option_env!(\"ATMOSTR_COMMIT\")",
            "option_env!(\"ATMOSTR_DIRTY\")",
            "env!(\"CARGO_PKG_VERSION\")",
            "value_name = \"FORMAT\"",
            "value_name = \"FILE\"",
        ];
        let code = others.iter().fold(code.to_owned(), |code, other| code.replace(other, ""));
        for name in code.split('"').skip(1).step_by(2) {
            let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
            if name.len() > 2 && name.chars().all(upper) {
                read.push(name.to_owned());
            }
        }
    }
    for name in &read {
        assert!(KNOWN.iter().any(|(known, _)| known == name), "{name} is not documented");
    }
    for (known, _) in KNOWN {
        assert!(read.iter().any(|name| name == known), "{known} is no longer read");
    }
}
