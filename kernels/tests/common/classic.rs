//! Reads numbers of NetCDF files of the classic formats (CDF-1 and CDF-2), as their specification lays them out.

use std::collections::BTreeMap;
use std::path::Path;

/// Variables by name: lengths of the dimensions and all values.
pub fn variables(path: &Path) -> BTreeMap<String, (Vec<usize>, Vec<f64>)> {
    let bytes = std::fs::read(path).unwrap();
    assert!(bytes.starts_with(b"CDF") && matches!(bytes[3], 1 | 2), "{}: not a classic file", path.display());
    let mut reader = Reader { bytes: &bytes, at: 8 };
    reader.word();
    let dimensions: Vec<usize> = (0..reader.word()).map(|_| (reader.name(), reader.word()).1).collect();
    reader.attributes();
    reader.word();
    let mut found = BTreeMap::new();
    for _ in 0..reader.word() {
        let name = reader.name();
        let lengths: Vec<usize> = (0..reader.word()).map(|_| dimensions[reader.word()]).collect();
        reader.attributes();
        let kind = reader.word();
        reader.word();
        let begin = if bytes[3] == 2 { (reader.word() << 32) | reader.word() } else { reader.word() };
        let count: usize = lengths.iter().product();
        let size = SIZES[kind];
        let value = |n: usize| {
            let of = &bytes[begin + n * size..begin + (n + 1) * size];
            match kind {
                4 => f64::from(i32::from_be_bytes(of.try_into().unwrap())),
                5 => f64::from(f32::from_be_bytes(of.try_into().unwrap())),
                6 => f64::from_be_bytes(of.try_into().unwrap()),
                other => panic!("{name}: type {other}"),
            }
        };
        let values = (0..count).map(value).collect();
        found.insert(name, (lengths, values));
    }
    found
}

/// Bytes of a value of each type.
const SIZES: [usize; 7] = [0, 1, 1, 2, 4, 4, 8];

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn word(&mut self) -> usize {
        let word = u32::from_be_bytes(self.bytes[self.at..self.at + 4].try_into().unwrap());
        self.at += 4;
        word as usize
    }

    fn name(&mut self) -> String {
        let length = self.word();
        let name = String::from_utf8(self.bytes[self.at..self.at + length].to_vec()).unwrap();
        self.at += length.next_multiple_of(4);
        name
    }

    fn attributes(&mut self) {
        self.word();
        for _ in 0..self.word() {
            self.name();
            let kind = self.word();
            let bytes = self.word() * SIZES[kind];
            self.at += bytes.next_multiple_of(4);
        }
    }
}
