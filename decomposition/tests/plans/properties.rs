//! Random layouts, forced tile grids included.

use decomposition::{Axis, Layout, LayoutError, PanelConvention, TileGrid};
use proptest::prelude::*;

use crate::checks;

fn convention() -> impl Strategy<Value = PanelConvention> {
    prop_oneof![Just(PanelConvention::GeosNative), Just(PanelConvention::Gnomonic)]
}

fn check(layout: &Layout) {
    checks::ownership(layout);
    for kind in checks::KINDS {
        checks::halo_plans(layout, kind);
    }
    checks::seam_plans(layout, Axis::X);
    checks::seam_plans(layout, Axis::Y);
    checks::vertex_corners(layout);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chosen_grids_hold(nc in 1usize..48, convention in convention(), ranks in 1usize..150, halo in 0usize..5) {
        match Layout::new(nc, convention, ranks, halo, None) {
            Ok(layout) => {
                check(&layout);
                prop_assert_eq!(&layout, &Layout::new(nc, convention, ranks, halo, None).unwrap());
            }
            Err(LayoutError::TooManyRanks { usable, .. }) => {
                check(&Layout::new(nc, convention, usable, halo, None).unwrap());
            }
            Err(error) => prop_assert_eq!(error, LayoutError::HaloWiderThanPanel { nc, halo }),
        }
    }

    #[test]
    fn forced_grids_hold_or_name_their_limit(
        nc in 1usize..40,
        convention in convention(),
        ranks in 1usize..60,
        halo in 0usize..4,
        px in 0usize..9,
        py in 0usize..9,
    ) {
        let grid = TileGrid { px, py };
        match Layout::new(nc, convention, ranks, halo, Some(grid)) {
            Ok(layout) => {
                prop_assert_eq!(layout.tile_grid(), grid);
                check(&layout);
            }
            Err(LayoutError::GridOutOfRange { largest, .. }) => {
                let grid = TileGrid { px: largest, py: largest };
                prop_assert!(px > largest || py > largest || px == 0 || py == 0);
                check(&Layout::new(nc, convention, 1, halo, Some(grid)).unwrap());
            }
            Err(LayoutError::FewerTilesThanRanks { tiles, .. }) => {
                prop_assert!(tiles < ranks);
                check(&Layout::new(nc, convention, tiles, halo, Some(grid)).unwrap());
            }
            Err(error) => prop_assert_eq!(error, LayoutError::HaloWiderThanPanel { nc, halo }),
        }
    }
}
