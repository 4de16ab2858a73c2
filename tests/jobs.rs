//! Job scripts and recipes: valid, in agreement with each other and with the program, and described.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Paths of the job scripts with their texts.
fn scripts() -> Vec<(String, String)> {
    let mut names = Vec::new();
    for folder in ["slurm", "slurm/catrine"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".sh") {
                names.push(format!("{folder}/{name}"));
            }
        }
    }
    assert!(names.len() >= 11, "{names:?}");
    names.into_iter().map(|name| (name.clone(), read(&name))).collect()
}

/// Output of a tool, or nothing where it is not installed.
fn tool(program: &str, args: &[&str]) -> Option<Output> {
    let output = Command::new(program).args(args).current_dir(root()).output();
    if output.is_err() {
        println!("skipped: there is no {program}");
    }
    output.ok()
}

fn accepted(output: Option<Output>, what: &str) {
    if let Some(output) = output {
        let text = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{what}\n{}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn scripts_are_shell_that_stops_at_errors() {
    for (name, text) in scripts() {
        assert!(text.starts_with("#!/usr/bin/env bash\n# "), "{name} says what it is");
        assert!(text.contains("\nset -euo pipefail\n"), "{name}");
        let mode = fs::metadata(root().join(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{name} can be started");
        accepted(tool("bash", &["-n", &name]), &name);
        accepted(tool("shellcheck", &[&name]), &name);
    }
}

#[test]
fn every_script_is_described() {
    let page = read("docs/src/clusters.md");
    for (name, _) in scripts() {
        assert!(page.contains(&format!("`{name}`")), "{name} is not in docs/src/clusters.md");
    }
}

/// Names of variables that a script takes from its environment.
fn variables(text: &str) -> BTreeSet<&str> {
    let uses = text.split("${").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_uppercase() || c == '_'))?;
        (end > 1 && rest[end..].starts_with(':')).then(|| &rest[..end])
    });
    uses.filter(|name| !name.starts_with("SLURM_") && *name != "BASH_SOURCE").collect()
}

#[test]
fn variables_of_scripts_are_described() {
    let page = read("docs/src/clusters.md");
    let mut all = BTreeSet::new();
    for (name, text) in scripts() {
        for variable in variables(&text) {
            let described = page.contains(variable) || text.lines().any(|l| l.starts_with('#') && l.contains(variable));
            assert!(described, "{name}: {variable}");
            all.insert(variable.to_owned());
        }
    }
    for variable in ["ATMOSTR", "ATMOSTR_SRUN_MPI", "ATMOSTR_RESTART", "ATMOSTR_PIECES", "RANKS_PER_NODE"] {
        assert!(all.contains(variable), "{variable} is described, but not used");
        assert!(page.contains(&format!("| `{variable}` |")), "{variable}");
    }
}

#[test]
fn commands_and_options_of_scripts_exist() {
    let mut count = 0;
    for (name, text) in scripts() {
        let text = text.replace("\\\n", " ");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((_, rest)) = line.split_once("\"$atmostr\" ") else { continue };
            let words: Vec<&str> = rest.split_whitespace().collect();
            let help = Command::new(env!("CARGO_BIN_EXE_atmostr")).args([words[0], "--help"]).output().unwrap();
            assert!(help.status.success(), "{name}: {line}");
            let help = String::from_utf8(help.stdout).unwrap();
            for option in words.iter().map(|w| w.trim_matches(['"', '\''])).filter(|w| w.starts_with("--")) {
                assert!(help.contains(option), "{name}: {} has no {option}", words[0]);
            }
            count += 1;
        }
    }
    assert!(count >= 10, "{count}");
}

#[test]
fn ranks_are_started_in_one_way() {
    let mut count = 0;
    for (name, text) in scripts() {
        let text = text.replace("\\\n", " ");
        for line in text.lines().map(str::trim_start).filter(|line| line.starts_with("srun ")) {
            assert!(line.contains("--mpi=\"${ATMOSTR_SRUN_MPI:-pmix}\""), "{name}: {line}");
            assert!(line.contains("--cpus-per-task=\"${SLURM_CPUS_PER_TASK:-1}\""), "{name}: {line}");
            if !name.ends_with("one_gpu.sh") {
                assert!(line.contains("--kill-on-bad-exit=0 --wait=60"), "{name}: {line}");
            }
            count += 1;
        }
        assert!(!text.contains("mpirun"), "{name}");
    }
    assert!(count >= 5, "{count}");
}

#[test]
fn recipes_are_valid() {
    let package = "packaging/spack/package.py";
    accepted(tool("python3", &["-c", &format!("import ast; ast.parse(open({package:?}).read())")]), package);
    let oldest = read("Cargo.toml");
    let oldest = oldest.lines().find_map(|line| line.strip_prefix("rust-version = \"")).unwrap().trim_end_matches('"');
    assert!(read(package).contains(&format!("rust@{oldest}:")), "{package}: Rust {oldest}");
    accepted(tool("luac5.4", &["-p", "packaging/modulefile.lua"]), "packaging/modulefile.lua");

    // The shell parts of the recipe of Apptainer.
    let recipe = read("packaging/apptainer/atmostr.def");
    let mut parts = 0;
    for section in recipe.split("\n%").skip(1) {
        let (title, body) = section.split_once('\n').unwrap();
        if ["post", "environment", "runscript", "test"].contains(&title) {
            let body = body.split("\nBootstrap:").next().unwrap();
            accepted(tool("sh", &["-n", "-c", body]), &format!("%{title}\n{body}"));
            parts += 1;
        }
    }
    assert_eq!(parts, 5);
}
