//! What is wrong with an archive of GEOS is refused with exit code 2, by file, variable and index.

use std::path::Path;

use crate::geos_days::{PHYSICS, configuration};
use crate::geos_files::{Archive, NC, Product, Weather};
use crate::support::{alone, atmostr};
use crate::writer::{Order, spoil};

/// Writes a day, lets `change` spoil the archive, and expects a refusal that names all parts and leaves nothing.
fn refused(product: Product, source: &str, rest: &str, change: impl FnOnce(&Archive<'_>), parts: &[&str]) {
    refused_on(NC, product, source, rest, change, parts);
}

fn refused_on(
    nc: usize,
    product: Product,
    source: &str,
    rest: &str,
    change: impl FnOnce(&Archive<'_>),
    parts: &[&str],
) {
    let (_guard, dir) = alone();
    let dir = dir.path();
    let root = dir.join("archive");
    let archive = Archive::new(&root, product, Weather::Waves);
    archive.write(1);
    change(&archive);
    std::fs::write(dir.join("met.toml"), configuration(product, nc, source, rest)).unwrap();
    atmostr(dir, &["preprocess", "met.toml", "--day", "2021-12-01"]).refuse(parts);
    let Ok(entries) = std::fs::read_dir(dir.join("out")) else { return };
    let left: Vec<_> = entries.map(|e| e.unwrap().file_name()).filter(|name| name != "campaign.toml").collect();
    assert!(left.is_empty(), "{left:?}");
}

fn put(path: &Path, variable: &str, at: &[usize], value: f32) {
    spoil(path, |file| {
        let extents: Vec<netcdf::Extent> = at.iter().map(|n| (*n..n + 1).into()).collect();
        file.variable_mut(variable).unwrap().put_values(&[value], extents).unwrap();
    });
}

fn remove(path: &Path) {
    std::fs::remove_file(path).unwrap();
}

#[test]
fn files_that_are_not_there_or_twice_there() {
    use Product::{Fp, It};
    for (collection, source) in
        [("CTM_A1", ""), ("CTM_I1", ""), ("A1", PHYSICS), ("A3mstE", PHYSICS), ("A3dyn", PHYSICS)]
    {
        let name = format!("GEOSIT.20211201.{collection}.C8.nc");
        let parts = ["2021-12-01", &format!("no file of {collection}"), &name, "fetch it"];
        refused(It, source, "", |archive| remove(&archive.path(collection, 0)), &parts);
    }
    // Rule 6 of spec 40 §1.3: hour 24 comes from the next day, there is no way around it.
    refused(It, "", "", |archive| remove(&archive.path("CTM_I1", 1)), &["2021-12-02", "no file of CTM_I1"]);
    refused(Fp, "", "", |archive| remove(&archive.hour(1, 0)), &["2021-12-02", "hour 00", "20211202_0030"]);
    refused(Fp, "", "", |archive| remove(&archive.hour(0, 9)), &["2021-12-01", "hour 09", "20211201_0930"]);
    refused(Fp, PHYSICS, "", |archive| remove(&archive.path("A1", 0)), &["no file of A1", "GEOSFP.20211201.A1"]);
    refused(It, "allow_terminal_zero_tendency = true", "", |_| {}, &["allow_terminal_zero_tendency", "no meaning"]);
    let copy = |archive: &Archive<'_>| {
        let path = archive.hour(0, 3);
        std::fs::copy(&path, path.to_string_lossy().replace("_0330", "_0300")).unwrap();
    };
    refused(Fp, "", "", copy, &["20211201_0330", "is also in", "20211201_0300"]);
}

/// Pitfalls T40-5, T40-24: units, missing and impossible values.
#[test]
fn units_and_values() {
    use Product::{Fp, It};
    let units = |collection: &'static str, variable: &'static str, text: &'static str| {
        move |archive: &Archive<'_>| {
            spoil(&archive.path(collection, 0), |file| {
                file.variable_mut(variable).unwrap().put_attribute("units", text).unwrap();
            });
        }
    };
    refused(It, "", "", units("CTM_I1", "PS", "atm"), &["CTM_I1", "'PS' has units 'atm'", "Pa or hPa"]);
    refused(It, "", "", units("CTM_I1", "PS", "Pa"), &["CTM_I1", "'PS' is 9", "300 to 1200 hPa"]);
    refused(It, "", "", units("CTM_A1", "MFXC", "kg s-1"), &["CTM_A1", "'MFXC' has units 'kg s-1'", "Pa m+2"]);
    let nan = |archive: &Archive<'_>| put(&archive.path("CTM_A1", 0), "MFYC", &[2, 1, 3, 4, 5], f32::NAN);
    refused(It, "", "", nan, &["CTM_A1", "'MFYC' has no value", "time 3, level 2, face 4 (6, 5)"]);
    let fill = |archive: &Archive<'_>| put(&archive.path("CTM_I1", 0), "QV", &[7, 0, 0, 0, 0], 1e15);
    refused(It, "", "", fill, &["CTM_I1", "'QV'", "time 8, level 1, face 1 (1, 1)"]);
    let thin = |archive: &Archive<'_>| put(&archive.path("CTM_A1", 0), "DELP", &[0, 0, 0, 0, 0], -5.0);
    refused(It, "", "", thin, &["CTM_A1", "'DELP' is -5", "thicker than 0"]);
    let cold = |archive: &Archive<'_>| put(&archive.path("A1", 0), "T2M", &[4, 0, 0, 0], 14.0);
    refused(It, PHYSICS, "", cold, &["A1", "'T2M' is 14", "time 5, face 1 (1, 1)", "150 to 350 K"]);
    let far = |archive: &Archive<'_>| put(&archive.hour(0, 6), "MFXC", &[0, 1, 5, 7, 7], 1e15);
    refused(Fp, "", "", far, &["20211201_0630", "'MFXC'", "level 2, face 6 (8, 8)"]);
    let other = |archive: &Archive<'_>| {
        std::fs::copy(archive.path("CTM_I1", 0), archive.path("CTM_A1", 0)).unwrap();
    };
    refused(It, "", "", other, &["CTM_A1", "no variable 'MFXC'", "PS, QV"]);
}

#[test]
fn cells_levels_and_times_that_do_not_fit() {
    use Product::{Fp, It};
    let plain = |_: &Archive<'_>| {};
    let moved = |archive: &Archive<'_>| {
        spoil(&archive.path("CTM_I1", 0), |file| file.variable_mut("lons").unwrap().put_value(7.0, [2, 3, 4]).unwrap());
    };
    refused(It, "", "", moved, &["CTM_I1", "face 3 (5, 4)", "source_nc"]);
    let levels = "[vertical]\nlevels = \"geos_l72\"\n";
    let text = |rest: &str| {
        configuration(It, NC, "", rest)
            .replace("[vertical]\nlevels = \"smooth\"\nn_levels = 6\ntop_pa = 1000\n", levels)
    };
    {
        let (_guard, dir) = alone();
        let root = dir.path().join("archive");
        Archive::new(&root, It, Weather::Waves).write(1);
        std::fs::write(dir.path().join("met.toml"), text("")).unwrap();
        let parts = ["CTM_I1", "'QV' has 6 levels, expected 72", "vertical.levels"];
        atmostr(dir.path(), &["preprocess", "met.toml", "--day", "2021-12-01"]).refuse(&parts);
    }
    let twice = |archive: &Archive<'_>| {
        spoil(&archive.path("CTM_A1", 0), |file| file.variable_mut("time").unwrap().put_value(90.0, [2]).unwrap());
    };
    refused(It, "", "", twice, &["CTM_A1", "'time'", "value 3 is 90, the one before it 90"]);
    let late = |archive: &Archive<'_>| {
        std::fs::copy(archive.hour(0, 8), archive.hour(0, 7)).unwrap();
    };
    refused(Fp, "", "", late, &["20211201_0730", "'time' of record 1 is 2021-12-01T08:30:00Z", "T07:00:00Z"]);
    refused_on(3, It, "", "", plain, &["`grid.nc` = 3", "C8 cannot be put together to C3", "8, 4, 2, 1"]);
    refused(It, "", "[fluxes]\nface_fluxes = \"vector\"\n", plain, &["face_fluxes", "holds fluxes"]);
    refused(It, "", "[numerics]\ndt_met_seconds = 10800\n", plain, &["dt_met_seconds", "3600 s long"]);
    refused(Fp, "include_vdiff_fields = true", "", plain, &["include_vdiff_fields", "no meaning", "geos_fp"]);
    let gnomonic = "[grid]\nnc = 8\npanel_convention = \"gnomonic\"";
    let (_guard, dir) = alone();
    std::fs::create_dir(dir.path().join("archive")).unwrap();
    let text = configuration(It, NC, "", "").replace("[grid]\nnc = 8", gnomonic);
    std::fs::write(dir.path().join("met.toml"), text).unwrap();
    let parts = ["panel_convention", "those of GEOS"];
    atmostr(dir.path(), &["preprocess", "met.toml", "--day", "2021-12-01"]).refuse(&parts);
}

/// Pitfall T40-2: convection upside down is found out, whether the order is told or not.
#[test]
fn layers_upside_down() {
    use Product::{Fp, It};
    let turned = |archive: &Archive<'_>| {
        Archive { order: Order::TopFirst, ..Archive::new(archive.root, It, Weather::Waves) }.write_physics(0);
    };
    refused(It, PHYSICS, "", turned, &["A3mstE", "'CMFMC' has its centre at level", "upside down"]);
    let wrong = format!("{PHYSICS}\nlevel_order = \"top_down\"");
    refused(It, &wrong, "", |_| {}, &["'CMFMC' has its centre at level", "level_order"]);
    // Files of GEOS-FP on longitudes and latitudes run the other way than those on the cube: one order cannot be asked for both.
    refused(Fp, &wrong, "", |_| {}, &["A3mstE.025x03125", "'CMFMC' has its centre at level"]);
    let none = |archive: &Archive<'_>| {
        let path = archive.path("A3mstE", 0);
        spoil(&path, |file| {
            file.variable_mut("CMFMC").unwrap().put_values(&vec![0f32; 8 * 7 * 32 * 17], ..).unwrap();
        });
    };
    refused(Fp, PHYSICS, "", none, &["'CMFMC' does not tell the order", "level_order"]);
}
