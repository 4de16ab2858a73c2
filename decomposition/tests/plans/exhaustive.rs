//! Every resolution and rank count of practical runs.

use decomposition::{Axis, Layout, LayoutError, PanelConvention};

use crate::checks;

const CONVENTIONS: [PanelConvention; 2] = [PanelConvention::GeosNative, PanelConvention::Gnomonic];

fn check_all(nc: usize, halos: impl Fn(usize) -> Vec<usize>) {
    for ranks in 1..=96 {
        for halo in halos(ranks) {
            for convention in CONVENTIONS {
                let layout = Layout::new(nc, convention, ranks, halo, None).expect("96 tiles of C12 are 3 cells wide");
                checks::ownership(&layout);
                for kind in checks::KINDS {
                    checks::halo_plans(&layout, kind);
                }
                checks::seam_plans(&layout, Axis::X);
                checks::seam_plans(&layout, Axis::Y);
                checks::vertex_corners(&layout);
            }
        }
    }
}

#[test]
fn c12_on_1_to_96_ranks() {
    check_all(12, |_| vec![1, 2, 3]);
}

#[test]
fn c24_on_1_to_96_ranks() {
    check_all(24, |_| vec![1, 2, 3]);
}

#[test]
fn c30_on_1_to_96_ranks() {
    check_all(30, |_| vec![1, 2, 3]);
}

#[test]
fn c90_on_1_to_96_ranks() {
    check_all(90, |ranks| vec![1 + ranks % 2, 3]);
}

#[test]
fn impossible_rank_counts_name_one_that_works() {
    for nc in 1..=20 {
        for halo in 0..=4 {
            let mut refused = 0;
            for ranks in 1..=200 {
                match Layout::new(nc, PanelConvention::GeosNative, ranks, halo, None) {
                    Ok(layout) => assert!(layout.max_usable_ranks() >= ranks),
                    Err(LayoutError::TooManyRanks { usable, .. }) => {
                        refused += 1;
                        assert!(usable < ranks);
                        let usable = Layout::new(nc, PanelConvention::GeosNative, usable, halo, None).unwrap();
                        assert_eq!(usable.max_usable_ranks(), usable.ranks());
                    }
                    Err(error) => assert_eq!(error, LayoutError::HaloWiderThanPanel { nc, halo }),
                }
            }
            assert!(refused > 0 || nc / halo.max(1) > 5 || halo > nc);
        }
    }
}
