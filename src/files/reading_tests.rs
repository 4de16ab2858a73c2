use std::path::PathBuf;

use netcdf::Options;

use super::*;

/// Formats of NetCDF.
const FORMATS: [&str; 4] = ["CDF-1", "CDF-2", "CDF-5", "NetCDF-4"];

/// Variables of a test file: name, which ends in the type, and dimensions.
type Content = &'static [(&'static str, &'static [&'static str])];

/// Files without records, with one variable of records, and with several.
const CONTENTS: [Content; 3] = [
    &[("a_short", &["x"]), ("b_double", &["y", "x"]), ("c_byte", &["x"])],
    &[("a_double", &["y"]), ("b_byte", &["t", "x"])],
    &[("a_short", &["t", "x"]), ("b_double", &["t"]), ("c_byte", &["t", "y", "x"]), ("d_short", &["x"])],
];

const RECORDS: usize = 3;

fn kind(name: &str) -> &str {
    name.split_once('_').unwrap().1
}

/// Writes a file of values that are not zero anywhere.
fn write(path: &Path, format: &str, content: Content) {
    let options = match format {
        "CDF-1" => Options::empty(),
        "CDF-2" => Options::_64BIT_OFFSET,
        "CDF-5" => Options::_64BIT_DATA,
        _ => Options::NETCDF4,
    };
    let mut file = netcdf::create_with(path, options).unwrap();
    if content.iter().any(|(_, dimensions)| dimensions.contains(&"t")) {
        file.add_unlimited_dimension("t").unwrap();
    }
    file.add_dimension("x", 3).unwrap();
    file.add_dimension("y", 5).unwrap();
    file.add_attribute("title", "odd").unwrap();
    for (name, dimensions) in content {
        let mut variable = match kind(name) {
            "byte" => file.add_variable::<i8>(name, dimensions),
            "short" => file.add_variable::<i16>(name, dimensions),
            _ => file.add_variable::<f64>(name, dimensions),
        }
        .unwrap();
        variable.put_attribute("units", "m").unwrap();
    }
    file.enddef().unwrap();
    for (name, dimensions) in content {
        let length = |d: &&str| if **d == *"t" { RECORDS } else { file.dimension_len(d).unwrap() };
        let shape: Vec<usize> = dimensions.iter().map(length).collect();
        let region = (vec![0; shape.len()], shape.clone());
        let values: Vec<i8> = (1..=shape.iter().product::<usize>() as i8).collect();
        file.variable_mut(name).unwrap().put_values(&values, region).unwrap();
    }
    file.close().unwrap();
}

fn values(path: &Path, content: Content) -> Result<Vec<Vec<f64>>, OpenError> {
    let file = open_netcdf(path)?;
    let read = |name: &str| file.variable(name)?.get_values::<f64, _>(..).ok();
    // What was opened and then cannot be read is refused as well.
    Ok(content.iter().map(|(name, _)| read(name)).collect::<Option<_>>().unwrap_or_default())
}

fn cut(whole: &[u8], length: usize, path: &Path) {
    std::fs::write(path, &whole[..length]).unwrap();
}

/// A file of any format, cut at any byte, is refused or holds all its values.
#[test]
fn truncated_files_are_refused_or_whole() {
    let dir = tempfile::tempdir().unwrap();
    for (format, content) in FORMATS.into_iter().flat_map(|f| CONTENTS.map(|c| (f, c))) {
        let (path, part) = (dir.path().join("whole.nc"), dir.path().join("part.nc"));
        write(&path, format, content);
        let (whole, expected) = (std::fs::read(&path).unwrap(), values(&path, content).unwrap());
        assert_eq!(expected.iter().map(|v| v[0]).collect::<Vec<_>>(), vec![1.0; content.len()], "{format}");
        let step = if format == "NetCDF-4" { 97 } else { 1 };
        let mut shortest = whole.len();
        for length in (0..whole.len()).step_by(step) {
            cut(&whole, length, &part);
            match values(&part, content) {
                Ok(found) if found.is_empty() => {}
                Ok(found) => {
                    assert_eq!(found, expected, "{format} of {content:?} cut at {length} of {}", whole.len());
                    shortest = shortest.min(length);
                }
                Err(error) => {
                    let (text, help) = (error.to_string(), error.help());
                    let told = text.contains("truncated") && text.contains(&format!("{length} bytes"));
                    let odd = length < 8 && text.contains("neither as a classic file");
                    let again = help.contains("get it again") || help.contains("get the file again");
                    assert!((told || odd) && again, "{text}; {help}");
                }
            }
        }
        // Only padding may be lacking.
        assert!(whole.len() - shortest < 4, "{format} of {content:?} is read from {shortest} of {} bytes", whole.len());
    }
}

#[test]
fn what_is_no_netcdf_file_is_refused_with_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let with = |name: &str, bytes: &[u8]| -> PathBuf {
        std::fs::write(dir.path().join(name), bytes).unwrap();
        dir.path().join(name)
    };
    for (path, text, help) in [
        (dir.path().join("none.nc"), "cannot be read: ", "a file that is there"),
        (dir.path().to_path_buf(), "a folder", "a file that is there"),
        (with("empty.nc", b""), "the file has 0 bytes", "get the file again"),
        (with("text.nc", b"<html>404 not found</html>"), "begins neither as a classic file", "get it again"),
        (with("head.nc", b"CDF\x01\0\0\0\0\0\0"), "ends within its header", "get the file again"),
        (
            with("odd.nc", b"CDF\x01\0\0\0\0\0\0\0\x63\0\0\0\x01"),
            "its header is damaged: the list of dimensions",
            "get it again",
        ),
        (
            with("hdf.nc", &[&b"\x89HDF\r\n\x1a\n"[..], &[9; 90]].concat()),
            "version 9 of the superblock",
            "get it again",
        ),
        (
            with(
                "stream.nc",
                b"CDF\x01\xff\xff\xff\xff\0\0\0\x0a\0\0\0\x01\0\0\0\x01t\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            ),
            "records whose number was never written",
            "let the program that writes the file finish",
        ),
    ] {
        let error = open_netcdf(&path).err().unwrap_or_else(|| panic!("{} is opened", path.display()));
        assert!(error.to_string().contains(text) && error.help().contains(help), "{error}; {}", error.help());
    }
}
