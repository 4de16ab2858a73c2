//! Standard suites of transport: figures of the prototype, promises of the schemes, the same bits on every layout.

mod layouts;
mod program;
mod promises;
mod prototype;
mod reference;

use std::path::Path;

use atmostr::comm::Solo;
use atmostr::config::Advection;
use atmostr::operators::Threads;
use atmostr::verify::{CaseReport, Suite, Unwatched, Verification};

/// `[advection]` of a scheme and, unless empty, a limiter.
fn advection(scheme: &str, limiter: &str) -> Advection {
    let limiter = if limiter.is_empty() { String::new() } else { format!("limiter = \"{limiter}\"\n") };
    let text = format!("[advection]\nscheme = \"{scheme}\"\n{limiter}");
    Advection::parse(&text, Path::new("test")).unwrap_or_else(|e| panic!("{}", e.plain()))
}

/// Suites of a scheme at some resolutions.
fn verification(suites: &[Suite], nc: &[usize], scheme: &str, limiter: &str) -> Verification {
    Verification { nc: nc.to_vec(), ..Verification::new(suites.to_vec(), advection(scheme, limiter)) }
}

/// Runs on one rank and thread. A thread can belong to one pool only, so each run has its own.
fn run(verification: &Verification) -> Vec<CaseReport> {
    let run = || {
        let threads = Threads::new(1).expect("a thread of its own");
        verification.run(&Solo, &threads, &mut Unwatched).unwrap()
    };
    std::thread::scope(|scope| scope.spawn(run).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Every limit is kept, and there are at least `least` of them.
fn assert_kept(reports: &[CaseReport], least: usize) {
    let checks: Vec<_> = reports.iter().flat_map(|report| &report.checks).collect();
    let broken: Vec<_> = checks.iter().filter(|check| !check.passed).collect();
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(checks.len() >= least, "{checks:#?}");
}

/// Schemes of the prototype with their limiters.
const SCHEMES: [(&str, &str); 5] =
    [("slopes", "monotone"), ("ppm", "monotone"), ("ppm", "cw84"), ("ppm", "none"), ("ppm", "huynh_pd")];
