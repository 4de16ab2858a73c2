//! Norms have the same bits on every number of ranks and threads.

use atmostr::comm::threads;
use atmostr::operators::Threads;
use atmostr::verify::{CaseReport, Suite, Unwatched, Verification};

use crate::verification;

fn on(verification: &Verification, ranks: usize, count: usize) -> Vec<CaseReport> {
    let mut of_ranks = threads::run(ranks, |comm| {
        let threads = Threads::new(count).expect("each rank has its own thread");
        threads.install(|| verification.run(&comm, &threads, &mut Unwatched)).unwrap()
    });
    let first = of_ranks.remove(0);
    for other in of_ranks {
        assert_eq!(figures(&first), figures(&other), "every rank knows all figures");
    }
    first
}

/// Everything but the maps, which rank 0 alone has.
fn figures(reports: &[CaseReport]) -> String {
    serde_json::to_string(reports).unwrap()
}

#[test]
fn norms_do_not_depend_on_ranks_and_threads() {
    let suites = [Suite::Lauritzen, Suite::Divergent, Suite::Terminator];
    let verification = verification(&suites, &[12], "ppm", "huynh_pd");
    let alone = figures(&on(&verification, 1, 1));
    assert!(alone.contains("gaussian_hills"));
    for (ranks, threads) in [(1, 3), (2, 1), (6, 2), (24, 1)] {
        assert_eq!(alone, figures(&on(&verification, ranks, threads)), "{ranks} ranks, {threads} threads");
    }
}

#[test]
fn layers_do_not_change_norms_on_other_layouts() {
    let verification = Verification { levels: Some(6), ..verification(&[Suite::Dcmip12], &[8], "ppm", "cw84") };
    let alone = figures(&on(&verification, 1, 1));
    assert_eq!(alone, figures(&on(&verification, 6, 2)));
}
