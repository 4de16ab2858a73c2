//! Bit-for-bit comparison of two netCDF files.

mod regions;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use netcdf::types::{FloatType, IntType, NcVariableType};
use netcdf::{AttributeValue, Group, Variable};

use self::regions::{block_regions, index_in};
use super::error::{Context, OutputError, open};

/// Attributes that tell who wrote a file when and where; they may differ between equal files.
pub const VOLATILE_ATTRIBUTES: [&str; 15] = [
    "history",
    "creation_date",
    "institution",
    "framework",
    "framework_commit",
    "framework_dirty",
    "runtime",
    "hostname",
    "user",
    "config_checksum",
    "features",
    "parallel",
    "backend",
    "mpi_library",
    "_NCProperties",
];

/// Differing values of a variable that are listed.
const LISTED: usize = 5;

/// Differing values of one variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueDifferences {
    /// Name, with the groups above it.
    pub variable: String,
    /// Number of values that differ.
    pub count: usize,
    /// Number of values compared.
    pub compared: usize,
    /// The first few: index from 1 along each dimension, value in the first file, value in the second.
    pub first: Vec<(Vec<usize>, String, String)>,
}

/// Everything that differs between two files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffReport {
    /// Dimensions, variables, types and attributes that differ, in words.
    pub structure: Vec<String>,
    /// Variables whose values differ.
    pub values: Vec<ValueDifferences>,
    /// Number of variables compared value by value.
    pub compared_variables: usize,
    /// Number of values compared.
    pub compared_values: usize,
}

impl DiffReport {
    /// Whether the files are the same, volatile attributes aside.
    pub fn is_empty(&self) -> bool {
        self.structure.is_empty() && self.values.is_empty()
    }
}

impl fmt::Display for DiffReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.structure {
            writeln!(f, "{line}")?;
        }
        for v in &self.values {
            writeln!(f, "variable `{}`: {} of {} values differ", v.variable, v.count, v.compared)?;
            for (index, a, b) in &v.first {
                let index: Vec<_> = index.iter().map(usize::to_string).collect();
                writeln!(f, "  ({}): {a} | {b}", index.join(", "))?;
            }
        }
        let (variables, values) = (self.compared_variables, self.compared_values);
        let verdict = if self.is_empty() { "no differences" } else { "the files differ" };
        write!(f, "{verdict} ({variables} variables, {values} values compared bit by bit)")
    }
}

/// Compares dimensions, variables, values and attributes of two netCDF-4 files, groups included.
///
/// Values are compared by their bits: −0 differs from 0, and NaN from NaN of another payload. The attributes of
/// [`VOLATILE_ATTRIBUTES`] are left out on the file, as are storage details (chunks, compression).
///
/// # Errors
/// If a file cannot be read or is no netCDF-4 file, or holds a variable of a compound or other user-defined type.
pub fn diff(a: &Path, b: &Path) -> Result<DiffReport, OutputError> {
    let (file_a, file_b) = (open(a)?, open(b)?);
    let mut report = DiffReport::default();
    let classic = |path: &Path| OutputError::Content {
        path: path.to_path_buf(),
        problem: "a netCDF-3 file; only netCDF-4 files can be compared".into(),
    };
    let root_a = file_a.root().ok_or_else(|| classic(a))?;
    let root_b = file_b.root().ok_or_else(|| classic(b))?;
    groups("", [&root_a, &root_b], [a, b], &mut report)?;
    Ok(report)
}

/// Names of both sides; those on one side only are reported.
fn common(what: &str, path: &str, sides: [BTreeSet<String>; 2], report: &mut DiffReport) -> Vec<String> {
    for name in sides[0].symmetric_difference(&sides[1]) {
        let which = if sides[0].contains(name) { "first" } else { "second" };
        report.structure.push(format!("{what} `{path}{name}`: only in the {which} file"));
    }
    sides[0].intersection(&sides[1]).cloned().collect()
}

fn groups(path: &str, pair: [&Group; 2], files: [&Path; 2], report: &mut DiffReport) -> Result<(), OutputError> {
    let dims = common("dimension", path, pair.map(|g| g.dimensions().map(|d| d.name()).collect()), report);
    for name in dims {
        if let [Some(a), Some(b)] = pair.map(|g| g.dimension(&name)) {
            let describe =
                |d: &netcdf::Dimension| format!("{}{}", d.len(), if d.is_unlimited() { " (unlimited)" } else { "" });
            if describe(&a) != describe(&b) {
                let text = format!("dimension `{path}{name}`: {} | {}", describe(&a), describe(&b));
                report.structure.push(text);
            }
        }
    }
    let ignored = if path.is_empty() { &VOLATILE_ATTRIBUTES[..] } else { &[] };
    attributes(path, pair.map(|g| g.attributes().collect()), ignored, files, report)?;

    let names = common("variable", path, pair.map(|g| g.variables().map(|v| v.name()).collect()), report);
    for name in names {
        if let [Some(a), Some(b)] = pair.map(|g| g.variable(&name)) {
            variables(&format!("{path}{name}"), [&a, &b], files, report)?;
        }
    }
    let names = common("group", path, pair.map(|g| g.groups().map(|g| g.name()).collect()), report);
    for name in names {
        if let [Some(a), Some(b)] = pair.map(|g| g.group(&name)) {
            groups(&format!("{path}{name}/"), [&a, &b], files, report)?;
        }
    }
    Ok(())
}

fn attributes(
    owner: &str,
    pair: [Vec<netcdf::Attribute>; 2],
    ignored: &[&str],
    files: [&Path; 2],
    report: &mut DiffReport,
) -> Result<(), OutputError> {
    let names = |list: &[netcdf::Attribute]| -> BTreeSet<String> {
        list.iter().map(|a| a.name().to_owned()).filter(|n| !ignored.contains(&n.as_str())).collect()
    };
    let shared = common("attribute", &format!("{owner}:"), [names(&pair[0]), names(&pair[1])], report);
    for name in shared {
        let value = |n: usize| match pair[n].iter().find(|a| a.name() == name) {
            Some(a) => a.value().context(files[n], || format!("read attribute `{owner}:{name}`")).map(|v| show(&v)),
            None => Ok(String::new()),
        };
        let (a, b) = (value(0)?, value(1)?);
        if a != b {
            report.structure.push(format!("attribute `{owner}:{name}`: {a} | {b}"));
        }
    }
    Ok(())
}

/// Type and value of an attribute, such that different bits give different text.
fn show(value: &AttributeValue) -> String {
    match value {
        AttributeValue::Float(x) => format!("Float({})", float32(*x)),
        AttributeValue::Double(x) => format!("Double({})", float64(*x)),
        AttributeValue::Floats(x) => format!("Floats({:?})", x.iter().map(|&x| float32(x)).collect::<Vec<_>>()),
        AttributeValue::Doubles(x) => format!("Doubles({:?})", x.iter().map(|&x| float64(x)).collect::<Vec<_>>()),
        other => format!("{other:?}"),
    }
}

fn float32(x: f32) -> String {
    if x.is_nan() { format!("NaN (bits {:08x})", x.to_bits()) } else { format!("{x:?}") }
}

fn float64(x: f64) -> String {
    if x.is_nan() { format!("NaN (bits {:016x})", x.to_bits()) } else { format!("{x:?}") }
}

fn variables(name: &str, pair: [&Variable; 2], files: [&Path; 2], report: &mut DiffReport) -> Result<(), OutputError> {
    attributes(name, pair.map(|v| v.attributes().collect()), &[], files, report)?;
    let types = pair.map(|v| v.vartype());
    if types[0] != types[1] {
        report.structure.push(format!("variable `{name}`: type {:?} | {:?}", types[0], types[1]));
        return Ok(());
    }
    let dims = pair.map(|v| v.dimensions().iter().map(|d| (d.name(), d.len())).collect::<Vec<_>>());
    if dims[0] != dims[1] {
        report.structure.push(format!("variable `{name}`: dimensions {:?} | {:?}", dims[0], dims[1]));
        return Ok(());
    }
    let shape: Vec<usize> = dims[0].iter().map(|d| d.1).collect();
    let comparison = Comparison { name, pair, files, shape: &shape };
    let found = match &types[0] {
        NcVariableType::Float(FloatType::F32) => comparison.run::<f32, _>(|x| x.to_bits(), |x| float32(*x))?,
        NcVariableType::Float(FloatType::F64) => comparison.run::<f64, _>(|x| x.to_bits(), |x| float64(*x))?,
        NcVariableType::Int(IntType::I8) => comparison.run::<i8, _>(|x| *x, |x| x.to_string())?,
        NcVariableType::Int(IntType::U8) => comparison.run::<u8, _>(|x| *x, |x| x.to_string())?,
        NcVariableType::Int(IntType::I16) => comparison.run::<i16, _>(|x| *x, |x| x.to_string())?,
        NcVariableType::Int(IntType::U16) => comparison.run::<u16, _>(|x| *x, |x| x.to_string())?,
        NcVariableType::Int(IntType::I32) => comparison.run::<i32, _>(|x| *x, |x| x.to_string())?,
        NcVariableType::Int(IntType::U32) => comparison.run::<u32, _>(|x| *x, |x| x.to_string())?,
        NcVariableType::Int(IntType::I64) => comparison.run::<i64, _>(|x| *x, |x| x.to_string())?,
        NcVariableType::Int(IntType::U64) => comparison.run::<u64, _>(|x| *x, |x| x.to_string())?,
        NcVariableType::Char => comparison.bytes()?,
        NcVariableType::String => comparison.strings()?,
        other => {
            let problem = format!("variable `{name}` has a user-defined type, which cannot be compared: {other:?}");
            return Err(OutputError::Content { path: files[0].to_path_buf(), problem });
        }
    };
    report.compared_variables += 1;
    report.compared_values += found.compared;
    if found.count > 0 {
        report.values.push(found);
    }
    Ok(())
}

/// Comparison of the values of two variables of equal type and shape.
struct Comparison<'a> {
    name: &'a str,
    pair: [&'a Variable<'a>; 2],
    files: [&'a Path; 2],
    shape: &'a [usize],
}

impl Comparison<'_> {
    fn run<T: netcdf::NcTypeDescriptor + Copy, B: PartialEq>(
        &self,
        bits: impl Fn(&T) -> B,
        show: impl Fn(&T) -> String,
    ) -> Result<ValueDifferences, OutputError> {
        self.blocks(|variable, start, count| variable.get_values::<T, _>((start, count)), bits, show)
    }

    fn bytes(&self) -> Result<ValueDifferences, OutputError> {
        let read = |v: &Variable, start: Vec<usize>, count: Vec<usize>| v.get_raw_values((start, count));
        self.blocks(read, |x: &u8| *x, |x| format!("{:?}", *x as char))
    }

    fn strings(&self) -> Result<ValueDifferences, OutputError> {
        let read = |v: &Variable, start: Vec<usize>, count: Vec<usize>| -> Result<Vec<String>, netcdf::Error> {
            let total = count.iter().product();
            let ones = vec![1; count.len()];
            (0..total)
                .map(|n| {
                    let index = index_in(n, &count).into_iter().zip(&start).map(|(i, s)| i + s).collect::<Vec<_>>();
                    v.get_string((index, ones.clone()))
                })
                .collect()
        };
        self.blocks(read, String::clone, |x| format!("{x:?}"))
    }

    /// Reads both variables block by block.
    fn blocks<T, B: PartialEq>(
        &self,
        read: impl Fn(&Variable, Vec<usize>, Vec<usize>) -> Result<Vec<T>, netcdf::Error>,
        bits: impl Fn(&T) -> B,
        show: impl Fn(&T) -> String,
    ) -> Result<ValueDifferences, OutputError> {
        let mut found = ValueDifferences { variable: self.name.into(), count: 0, compared: 0, first: Vec::new() };
        for (start, count) in block_regions(self.shape) {
            let get = |n: usize| {
                read(self.pair[n], start.clone(), count.clone())
                    .context(self.files[n], || format!("read `{}`", self.name))
            };
            let (a, b) = (get(0)?, get(1)?);
            found.compared += a.len();
            for (n, (x, y)) in a.iter().zip(&b).enumerate() {
                if bits(x) != bits(y) {
                    found.count += 1;
                    if found.first.len() < LISTED {
                        let index = index_in(n, &count).iter().zip(&start).map(|(i, s)| i + s + 1).collect();
                        found.first.push((index, show(x), show(y)));
                    }
                }
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, change: impl Fn(&mut netcdf::FileMut)) {
        let mut file = netcdf::create(path).unwrap();
        file.add_dimension("x", 4).unwrap();
        file.add_attribute("title", "t").unwrap();
        file.add_attribute("history", path.to_str().unwrap()).unwrap();
        let mut v = file.add_variable::<f32>("v", &["x"]).unwrap();
        v.put_attribute("scale", f64::NAN).unwrap();
        v.put_values(&[0.0_f32, 1.0, f32::NAN, 3.0], ..).unwrap();
        let mut names = file.add_string_variable("names", &["x"]).unwrap();
        for (n, text) in ["a", "b", "c", "d"].into_iter().enumerate() {
            names.put_string(text, n).unwrap();
        }
        let mut group = file.add_group("inner").unwrap();
        group.add_variable::<i64>("count", &[]).unwrap().put_values(&[1_i64 << 60], ()).unwrap();
        change(&mut file);
    }

    /// Report for a file and a changed copy of it.
    fn changed(change: impl Fn(&mut netcdf::FileMut)) -> DiffReport {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        write(&a, |_| {});
        write(&b, change);
        diff(&a, &b).unwrap()
    }

    #[test]
    fn equal_files_have_no_differences() {
        let report = changed(|_| {});
        assert!(report.is_empty(), "{report}");
        assert_eq!((report.compared_variables, report.compared_values), (3, 9));
    }

    #[test]
    fn values_are_compared_by_their_bits() {
        let other_nan = f32::from_bits(f32::NAN.to_bits() ^ 1);
        for (index, value) in [(0, -0.0), (2, other_nan), (3, 3.0000002)] {
            let report = changed(|f| f.variable_mut("v").unwrap().put_values(&[value], (index..index + 1,)).unwrap());
            assert_eq!(report.values.len(), 1, "{report}");
            assert_eq!(report.values[0].count, 1);
            assert_eq!(report.values[0].first[0].0, [index + 1]);
        }
        let report = changed(|f| f.variable_mut("names").unwrap().put_string("z", 1).unwrap());
        assert_eq!(report.values[0].first, [(vec![2], "\"b\"".into(), "\"z\"".into())]);
        let report = changed(|f| {
            let mut group = f.group_mut("inner").unwrap().unwrap();
            group.variable_mut("count").unwrap().put_values(&[(1_i64 << 60) + 1], ()).unwrap();
        });
        assert_eq!(report.values[0].variable, "inner/count");
    }

    #[test]
    fn classic_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("classic.nc");
        drop(netcdf::create_with(&path, netcdf::Options::empty()).unwrap());
        assert!(diff(&path, &path).unwrap_err().to_string().contains("netCDF-3"));
    }

    #[test]
    fn structure_is_compared() {
        let report = changed(|f| {
            f.add_dimension("y", 1).unwrap();
        });
        assert!(report.to_string().contains("dimension `y`: only in the second file"), "{report}");
        let report = changed(|f| drop(f.add_variable::<f64>("w", &["x"]).unwrap()));
        assert!(report.to_string().contains("variable `w`: only in the second file"), "{report}");
        let report = changed(|f| {
            f.add_attribute("title", "other").unwrap();
        });
        assert!(report.to_string().contains("attribute `:title`"), "{report}");
        let report = changed(|f| {
            f.variable_mut("v").unwrap().put_attribute("scale", 1.0_f32).unwrap();
        });
        assert!(report.to_string().contains("attribute `v:scale`: Double(NaN"), "{report}");
    }
}
