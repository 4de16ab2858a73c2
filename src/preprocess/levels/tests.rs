use proptest::prelude::*;

use super::*;

fn map(transform: Transform, native: &HybridCoordinate) -> LevelMap {
    LevelMap::new(&transform, native).unwrap()
}

/// Layer counts of spec 40 §1.5 and §8: presets 34, 66, 85, 94, 137; 72 layers with one cap above 25 Pa are 64;
/// 137 layers without layers thinner than 100 Pa are 117, of which 7 above 8.24 hPa.
#[test]
fn layer_counts_of_the_transforms() {
    let (ifs, geos) = (HybridCoordinate::ifs_l137(), HybridCoordinate::geos_l72());
    for ((_, preset), layers) in Preset::ALL.into_iter().zip([34, 66, 85, 94, 137]) {
        assert_eq!(map(Transform::Preset(preset), &ifs).levels(), layers, "{}", preset.name());
    }
    let cap = Transform::MergeAbove { threshold_pa: 25.0, thickness_pa: f64::INFINITY };
    assert_eq!(map(cap, &geos).levels(), 64);
    let merged = map(Transform::MergeThinnerThan(100.0), &ifs);
    assert_eq!(merged.levels(), 117);
    assert_eq!(merged.ranges()[6].end, 27);
    assert_eq!(map(Transform::Identity, &geos).coordinate(), &geos);
}

#[test]
fn a_cap_of_limited_thickness_has_several_layers() {
    let geos = HybridCoordinate::geos_l72();
    let cap = map(Transform::MergeAbove { threshold_pa: 100.0, thickness_pa: 30.0 }, &geos);
    let p: Vec<_> = (0..=cap.levels()).map(|k| cap.coordinate().pressure_at(k, 101_325.0)).collect();
    let merged = cap.ranges().iter().take_while(|r| r.len() > 1).count();
    assert!(merged > 1, "{merged}");
    assert!(p.windows(2).take(merged - 1).all(|w| w[1] - w[0] >= 30.0), "{p:?}");
}

#[test]
fn ranges_that_do_not_cover_the_layers_are_refused() {
    let native = HybridCoordinate::smooth(10, 100.0).unwrap();
    let refuse =
        |ranges: &[(usize, usize)]| LevelMap::new(&Transform::MergeByIndex(ranges.to_vec()), &native).unwrap_err();
    assert_eq!(
        refuse(&[(1, 3), (5, 10)]),
        LevelError::Ranges { number: 2, first: 5, last: 10, expected: 4, levels: 10 }
    );
    assert!(matches!(refuse(&[(1, 3), (3, 10)]), LevelError::Ranges { number: 2, .. }));
    assert!(matches!(refuse(&[(1, 11)]), LevelError::Ranges { number: 1, .. }));
    assert_eq!(refuse(&[(1, 9)]), LevelError::Short { last: 9, levels: 10 });
    let error = LevelMap::new(&Transform::Preset(Preset::L66), &native).unwrap_err();
    assert!(error.to_string().contains("137"), "{error}");
}

proptest! {
    /// Column sums are kept, interfaces are those of the coordinate, a constant has that constant as its mean.
    #[test]
    fn columns_keep_their_sums(cuts in prop::collection::btree_set(1usize..20, 0..8), seed in 0.1f64..2.0) {
        let native = HybridCoordinate::smooth(20, 100.0).unwrap();
        let edges: Vec<_> = [0].into_iter().chain(cuts).chain([20]).collect();
        let ranges = edges.windows(2).map(|w| (w[0] + 1, w[1])).collect();
        let map = map(Transform::MergeByIndex(ranges), &native);
        let values: Vec<f64> = (0..60).map(|n| (seed * n as f64).sin() + 1.5).collect();
        let column = |values: &[f64], at: usize| values.iter().skip(at).step_by(3).sum::<f64>();
        let sums = map.sums(values.clone());
        for at in 0..3 {
            prop_assert!((column(&sums, at) - column(&values, at)).abs() < 1e-13);
        }
        let means = map.means(vec![4.0; 60], &values);
        prop_assert!(means.iter().all(|m| (m - 4.0).abs() < 1e-14));
        let interfaces = map.interfaces((0..=20).flat_map(|k| [k as f64; 3]).collect());
        let kept: Vec<_> = interfaces.iter().step_by(3).map(|k| *k as usize).collect();
        prop_assert_eq!(kept, edges);
    }
}
