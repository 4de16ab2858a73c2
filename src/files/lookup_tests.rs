use std::path::Path;

use proptest::prelude::*;

use super::super::open_netcdf;
use super::*;

/// A file with variables of plain and odd names; groups only where the format has them.
fn write(path: &Path, options: netcdf::Options) {
    let grouped = options.contains(netcdf::Options::NETCDF4);
    let mut file = netcdf::create_with(path, options).unwrap();
    for name in ["u", "_v", "a b", "température"] {
        file.add_variable::<f64>(name, &[]).unwrap();
    }
    if grouped {
        let mut group = file.add_group("outer/inner").unwrap();
        group.add_variable::<f64>("w", &[]).unwrap();
    }
}

fn files() -> (tempfile::TempDir, [netcdf::File; 2]) {
    let dir = tempfile::tempdir().unwrap();
    let [new, classic] = ["new.nc", "classic.nc"].map(|name| dir.path().join(name));
    write(&new, netcdf::Options::NETCDF4);
    write(&classic, netcdf::Options::_64BIT_OFFSET);
    let files = [new, classic].map(|path| open_netcdf(&path).unwrap());
    (dir, files)
}

#[test]
fn variables_are_found_by_their_names() {
    let (_dir, files) = files();
    for (n, file) in files.iter().enumerate() {
        for name in ["u", "_v", "a b", "température"] {
            assert_eq!(variable(file, name).map(|v| v.name()).as_deref(), Some(name));
        }
        assert_eq!(variable(file, "outer/inner/w").is_some(), n == 0);
    }
}

#[test]
fn names_that_no_variable_can_have_are_those_of_none() {
    let (_dir, files) = files();
    let (long, longer) = ("x".repeat(257), "é".repeat(200));
    let names = [
        "",
        "/",
        "//",
        "///",
        "/u",
        "u/",
        "./u",
        "../../u",
        ".",
        "..",
        "u/u",
        "outer",
        "outer/",
        "outer//w",
        "/outer/inner/w",
        "outer/w",
        "outer/inner/w/",
        "outer/./inner/w",
        "u\0",
        "\0",
        "outer\0/inner/w",
        " u",
        "u ",
        "+u",
        "-",
        "\u{7f}",
        "\n",
        &long,
        &longer,
    ];
    for file in &files {
        for name in names {
            assert!(variable(file, name).is_none(), "{name:?}");
            let grouped = format!("outer/{name}");
            assert!(variable(file, &grouped).is_none(), "{grouped:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is asked for: an answer, and no other variable than the one of that name.
    #[test]
    fn any_name_has_an_answer(names in prop::collection::vec("[ -~\\x00/.éu_]{0,12}|.{0,300}", 40)) {
        let (_dir, files) = files();
        for file in &files {
            for name in &names {
                if let Some(found) = variable(file, name) {
                    prop_assert!(name.ends_with(&found.name()));
                }
            }
        }
    }
}
