//! Calls of the system that fail on purpose, by a library that is loaded before all others.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Error numbers of Linux.
pub const EIO: &str = "5";
pub const ENOSPC: &str = "28";
pub const EROFS: &str = "30";

/// A fault: part of the paths concerned, call, error number or `short`, first call that fails, how many fail (0: all).
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub path: &'static str,
    pub call: &'static str,
    pub error: &'static str,
    pub first: usize,
    pub times: usize,
}

impl Fault {
    /// All such calls from the `first` on fail.
    pub fn from(path: &'static str, call: &'static str, error: &'static str, first: usize) -> Self {
        Self { path, call, error, first, times: 0 }
    }

    /// How the system names its reason.
    pub fn reason(&self) -> &'static str {
        match self.error {
            EIO => "Input/output error",
            ENOSPC => "No space left on device",
            EROFS => "Read-only file system",
            other => panic!("no text for error {other}"),
        }
    }

    /// A command that meets it.
    pub fn set(&self, library: &Path, command: &mut Command) {
        command.env("LD_PRELOAD", library);
        let (first, times) = (self.first.to_string(), self.times.to_string());
        for (name, value) in [
            ("FAULT_PATH", self.path),
            ("FAULT_CALL", self.call),
            ("FAULT_ERROR", self.error),
            ("FAULT_FIRST", &first),
            ("FAULT_TIMES", &times),
        ] {
            command.env(name, value);
        }
    }
}

/// The library, compiled on first use; `None`, with a printed reason, where that is not possible.
pub fn library() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = LIBRARY.get_or_init(|| {
        if !cfg!(target_os = "linux") {
            println!("skipped: faults are injected on Linux only");
            return None;
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/preload.c");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("faults-{}.so", std::process::id()));
        let compiled =
            Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).arg("-ldl").output();
        match compiled {
            Ok(done) => {
                assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
                Some(library)
            }
            Err(error) => {
                println!("skipped: no C compiler ({error})");
                None
            }
        }
    });
    found.as_deref()
}
