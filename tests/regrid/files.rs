//! Weights on disk: the cache, damage, versions, and files for other programs.

use std::fs;
use std::sync::Arc;

use atmostr::regrid::{Mesh, Overlap, RingStart, WeightCache};

use super::meshes::{cube, exact_sum, geos, global, octahedral};

fn meshes() -> (Mesh, Mesh) {
    (Mesh::LatLon(geos(72, 46)), cube(12))
}

#[test]
fn weights_are_kept_and_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let nested = folder.path().join("a/b");
    let (src, dst) = meshes();
    let fresh = Overlap::new(&src, &dst);
    let first = WeightCache::at(&nested);
    assert_eq!(*first.get(&src, &dst).unwrap(), fresh);
    let file = first.file(&src, &dst).unwrap();
    let names: Vec<_> = fs::read_dir(&nested).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(names, std::slice::from_ref(&file));

    // A second use reads what the file holds.
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    let second = WeightCache::at(&nested);
    assert_eq!(*second.get(&src, &dst).unwrap(), fresh);
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), before);

    // The same cells on another sphere use the same file; other cells and the way back do not.
    let elsewhere = atmostr::grid::CubedSphere::new(12, atmostr::grid::GeometryBundle::GeosNative, -10.0, 1.0).unwrap();
    assert_eq!(second.file(&src, &Mesh::Cube(elsewhere)), Some(file.clone()));
    for (a, b) in [(&src, &cube(13)), (&dst, &src), (&Mesh::LatLon(global(72, 46)), &dst)] {
        assert_ne!(second.file(a, b), Some(file.clone()));
    }
    assert_eq!(WeightCache::none().file(&src, &dst), None);
}

#[test]
fn weights_in_use_are_shared() {
    let (src, dst) = meshes();
    let cache = WeightCache::none();
    let (a, b) = (cache.get(&src, &dst).unwrap(), cache.get(&src, &dst).unwrap());
    assert!(Arc::ptr_eq(&a, &b));
}

/// Whatever is wrong with a file, right weights come back and a right file takes its place.
#[test]
fn damaged_files_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (src, dst) = meshes();
    let cache = || WeightCache::at(folder.path());
    let fresh = Overlap::new(&src, &dst);
    cache().get(&src, &dst).unwrap();
    let file = cache().file(&src, &dst).unwrap();
    let good = fs::read(&file).unwrap();
    let other = {
        let (src, dst) = (octahedral(8, RingStart::Edge(0.0)), cube(3));
        cache().get(&src, &dst).unwrap();
        fs::read(cache().file(&src, &dst).unwrap()).unwrap()
    };
    let changed = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    let positions = [0, 8, 13, 20, 100, good.len() / 2, good.len() - 1];
    let mut cases: Vec<Vec<u8>> = positions.map(changed).to_vec();
    cases.extend([Vec::new(), good[..10].to_vec(), good[..good.len() - 1].to_vec(), other]);
    for (n, bytes) in cases.iter().enumerate() {
        fs::write(&file, bytes).unwrap();
        assert_eq!(*cache().get(&src, &dst).unwrap(), fresh, "case {n}");
        assert!(fs::read(&file).unwrap() == good, "case {n}: not replaced");
    }
}

/// A newer or older version with a checksum that fits is not used either.
#[test]
fn other_versions_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (src, dst) = meshes();
    let cache = || WeightCache::at(folder.path());
    cache().get(&src, &dst).unwrap();
    let file = cache().file(&src, &dst).unwrap();
    let good = fs::read(&file).unwrap();
    let mut bytes = good.clone();
    // The last area changes, the checksum over it is right, the version is not: its value must not be seen.
    let last = bytes.len() - 8;
    bytes[last..].copy_from_slice(&1.0f64.to_le_bytes());
    bytes[8] += 1;
    let crc = crc32c::crc32c(&bytes[16..]).to_le_bytes();
    bytes[12..16].copy_from_slice(&crc);
    fs::write(&file, &bytes).unwrap();
    assert_eq!(*cache().get(&src, &dst).unwrap(), Overlap::new(&src, &dst));
    assert!(fs::read(&file).unwrap() == good);
    // With the right version the same file would have been believed.
    bytes[8] -= 1;
    fs::write(&file, &bytes).unwrap();
    assert_ne!(*cache().get(&src, &dst).unwrap(), Overlap::new(&src, &dst));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let (src, dst) = meshes();
    let error = WeightCache::at(file.join("below")).get(&src, &dst).unwrap_err();
    assert!(error.to_string().contains("below: make the folder of weights"), "{error}");
    assert!(error.help().contains("folder"));
}

/// Sparse matrix as ESMF and xESMF read it.
#[test]
fn exported_weights_do_what_ours_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.nc");
    for (src, dst) in [meshes(), (cube(5), octahedral(12, RingStart::Centre(0.0)))] {
        let weights = Overlap::new(&src, &dst);
        weights.export_esmf(&src, &dst, &path).unwrap();
        let file = netcdf::open(&path).unwrap();
        let values = |name: &str| -> Vec<f64> { file.variable(name).unwrap().get_values(..).unwrap() };
        let [s, row, col, area_a, area_b, frac_a, frac_b] =
            ["S", "row", "col", "area_a", "area_b", "frac_a", "frac_b"].map(values);
        assert_eq!((s.len(), area_a.len(), area_b.len()), (weights.len(), src.cells(), dst.cells()));
        assert_eq!((&area_a[..], &area_b[..]), (weights.src_areas(), weights.dst_areas()));
        assert!(frac_a.iter().chain(&frac_b).all(|part| (part - 1.0).abs() < 2e-14));
        let field: Vec<f64> = (0..src.cells()).map(|k| (k as f64).sin()).collect();
        let mut expected = vec![0.0; dst.cells()];
        weights.intensive(&field, &mut expected);
        let mut found = vec![0.0; dst.cells()];
        for k in 0..s.len() {
            found[row[k] as usize - 1] += s[k] * field[col[k] as usize - 1];
        }
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-13));
        let (xc, yc) = (values("xc_b"), values("yc_b"));
        assert!(xc.iter().all(|lon| (0.0..360.0).contains(lon)) && yc.iter().all(|lat| lat.abs() < 90.0));
        let dims: Vec<f64> = values("src_grid_dims");
        assert_eq!(dims.iter().product::<f64>() as usize, src.cells());
        assert!((exact_sum(area_b) / (4.0 * std::f64::consts::PI) - 1.0).abs() < 1e-14);
    }
    let error =
        Overlap::new(&meshes().0, &meshes().1).export_esmf(&meshes().0, &meshes().1, folder.path()).unwrap_err();
    assert!(error.to_string().contains("a folder"), "{error}");
}
