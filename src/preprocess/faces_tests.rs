use proptest::prelude::*;

use super::*;

const CONVENTIONS: [PanelConvention; 2] = [PanelConvention::Gnomonic, PanelConvention::GeosNative];

fn places(nc: usize) -> impl Iterator<Item = FacePlace> {
    Panel::ALL.into_iter().flat_map(move |panel| {
        let x = (0..nc * (nc + 1)).map(move |n| FacePlace { panel, axis: Axis::X, i: n % (nc + 1), j: n / (nc + 1) });
        x.chain((0..nc * (nc + 1)).map(move |n| FacePlace { panel, axis: Axis::Y, i: n % nc, j: n / nc }))
    })
}

#[test]
fn every_place_has_one_face_and_every_face_its_places() {
    for convention in CONVENTIONS {
        for nc in [1, 2, 5] {
            let table = FaceTable::new(nc, convention);
            assert_eq!((table.faces(), table.cells()), (12 * nc * nc, 6 * nc * nc));
            let mut seen = vec![0; table.faces()];
            for place in places(nc) {
                let (face, sign) = table.face_at(place);
                seen[face] += 1;
                let mirrored = table.mirror(face);
                assert!(table.place(face) == place && sign == 1.0 || mirrored == Some((place, sign)));
            }
            for (face, count) in seen.into_iter().enumerate() {
                assert_eq!(count, if table.seam(face).is_some() { 2 } else { 1 });
                assert_eq!(table.mirror(face).is_some(), table.seam(face).is_some());
            }
        }
    }
}

/// The cell on the low side of a place is the left one, unless the value is stored there with the other sign.
#[test]
fn left_and_right_are_the_cells_beside_a_place() {
    let nc = 4;
    for convention in CONVENTIONS {
        let table = FaceTable::new(nc, convention);
        for place @ FacePlace { panel, axis, i, j } in places(nc) {
            let (face, sign) = table.face_at(place);
            let (low, high) =
                if sign > 0.0 { (table.left(face), table.right(face)) } else { (table.right(face), table.left(face)) };
            let cell = |i: usize, j: usize| (panel.index() * nc + j) * nc + i;
            let (along, below) = if axis == Axis::X { (i, (i.max(1) - 1, j)) } else { (j, (i, j.max(1) - 1)) };
            if along > 0 {
                assert_eq!(low, cell(below.0, below.1), "{place:?}");
            }
            if along < nc {
                assert_eq!(high, cell(i, j), "{place:?}");
            }
        }
    }
}

#[test]
fn cells_have_four_neighbours_each_through_its_own_face() {
    for convention in CONVENTIONS {
        let table = FaceTable::new(3, convention);
        let mut uses = vec![0.0; table.faces()];
        for cell in 0..table.cells() {
            let mut neighbours = Vec::new();
            for (face, outward) in table.cell_faces(cell) {
                let (from, to) = (table.left(face), table.right(face));
                assert_eq!(if outward > 0.0 { from } else { to }, cell);
                neighbours.push(if outward > 0.0 { to } else { from });
                uses[face] += outward;
            }
            neighbours.sort_unstable();
            neighbours.dedup();
            assert!(neighbours.len() == 4 && !neighbours.contains(&cell));
        }
        assert!(uses.iter().all(|u| *u == 0.0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Stored arrays agree on all twelve seams by the sign rule of the connectivity, whatever the fluxes.
    #[test]
    fn stored_copies_mirror_each_other(nc in 1usize..7, nz in 1usize..4, seed in any::<u64>(), geos in any::<bool>()) {
        let convention = CONVENTIONS[usize::from(geos)];
        let table = FaceTable::new(nc, convention);
        let levels: Vec<f64> = values(seed).take(nz * table.faces()).collect();
        let len = 6 * nz * nc * (nc + 1);
        let (mut am, mut bm) = (vec![0.0f64; len], vec![0.0f64; len]);
        table.scatter_levels(&levels, nz, &mut am, &mut bm);
        let at = |panel: Panel, edge: Edge, s: usize, k: usize| {
            let FacePlace { i, j, .. } = edge_place(panel, edge, s, nc);
            let block = (panel.index() * nz + k) * nc * (nc + 1);
            match edge.axis() { Axis::X => am[block + j * (nc + 1) + i], Axis::Y => bm[block + j * nc + i] }
        };
        for seam in convention.seams() {
            for k in 0..nz {
                for s in 0..nc {
                    let owner = at(seam.owner.0, seam.owner.1, s, k);
                    let other = at(seam.other.0, seam.other.1, seam.along.map(s, nc), k);
                    prop_assert_eq!(other, seam.sign.factor() * owner);
                }
            }
        }
        let (mut single_am, mut single_bm) = (vec![0.0f64; len], vec![0.0f64; len]);
        let mut back = vec![0.0; table.faces()];
        for k in 0..nz {
            let level = &levels[k * table.faces()..(k + 1) * table.faces()];
            table.scatter(level, k, nz, &mut single_am, &mut single_bm);
            table.gather(&am, &bm, k, nz, &mut back);
            prop_assert_eq!(&back[..], level);
        }
        prop_assert!(single_am == am && single_bm == bm);
    }

    /// What leaves one cell enters another: for values whose sums are exact, the sum over the sphere is zero.
    #[test]
    fn divergence_is_that_of_the_stored_arrays_and_sums_to_zero(
        nc in 1usize..9, seed in any::<u64>(), geos in any::<bool>(),
    ) {
        let table = FaceTable::new(nc, CONVENTIONS[usize::from(geos)]);
        let exact: Vec<f64> = values(seed).take(table.faces()).map(|v| (v * 1e6).round()).collect();
        let mut out = vec![0.0; table.cells()];
        table.divergence(&exact, &mut out);
        prop_assert_eq!(out.iter().sum::<f64>(), 0.0);

        let level: Vec<f64> = values(seed ^ 1).take(table.faces()).collect();
        let largest = level.iter().fold(0.0f64, |a, v| a.max(v.abs()));
        table.divergence(&level, &mut out);
        prop_assert!(out.iter().sum::<f64>().abs() <= 1e-15 * largest * table.cells() as f64);
        let len = 6 * nc * (nc + 1);
        let (mut am, mut bm) = (vec![0.0f64; len], vec![0.0f64; len]);
        table.scatter(&level, 0, 1, &mut am, &mut bm);
        for (cell, out) in out.into_iter().enumerate() {
            let (i, j, panel) = (cell % nc, cell / nc % nc, cell / (nc * nc));
            let (am, bm) = (&am[panel * nc * (nc + 1)..], &bm[panel * nc * (nc + 1)..]);
            let west = j * (nc + 1) + i;
            prop_assert_eq!(out, (am[west + 1] - am[west]) + (bm[(j + 1) * nc + i] - bm[j * nc + i]));
            let by_face: f64 = table.cell_faces(cell).iter().map(|(face, outward)| outward * level[*face]).sum();
            prop_assert!((by_face - out).abs() <= 1e-15 * largest);
        }
    }
}

/// Repeatable values in −1..1.
fn values(seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed;
    std::iter::from_fn(move || {
        // SplitMix64, Steele et al. 2014.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Some(((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
    })
}
