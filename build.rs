//! Records the source revision in the program, if the sources lie in a git checkout; output files name it.

use std::path::Path;
use std::process::Command;

/// What goes into the program.
const SOURCES: [&str; 8] = [
    "build.rs",
    "src",
    "decomposition/src",
    "device-form/src",
    "kernels/src",
    "kernels/build.rs",
    "Cargo.toml",
    "Cargo.lock",
];

fn main() {
    for path in SOURCES {
        println!("cargo::rerun-if-changed={path}");
    }
    // A checkout of another project around an unpacked archive says nothing about these sources.
    if !Path::new(".git").exists() {
        return;
    }
    let status = [["status", "--porcelain", "--untracked-files=no", "--"].as_slice(), &SOURCES].concat();
    let (Some(commit), Some(changes)) = (git(&["rev-parse", "HEAD"]), git(&status)) else { return };
    let state = if changes.is_empty() { "clean" } else { "dirty" };
    println!("cargo::rustc-env=ATMOSTR_COMMIT={commit}");
    println!("cargo::rustc-env=ATMOSTR_DIRTY={state}");

    // The revision changes with HEAD or the branch it names.
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    for name in ["HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
        if let Some(path) = git(&["rev-parse", "--git-path", name]).filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

/// What git answers, unless it is missing or refuses.
fn git(arguments: &[&str]) -> Option<String> {
    // A build leaves the checkout alone: without this, `status` may rewrite the index.
    let output = Command::new("git").arg("--no-optional-locks").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
