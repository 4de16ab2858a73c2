use proptest::prelude::*;

use super::*;

/// Bytes of a header: words, names and offsets as a format of this version has them.
struct Bytes(u8, Vec<u8>);

impl Bytes {
    fn new(version: u8, records: u64) -> Self {
        Self(version, vec![b'C', b'D', b'F', version]).count(records)
    }

    fn word(mut self, n: u32) -> Self {
        self.1.extend(n.to_be_bytes());
        self
    }

    fn count(mut self, n: u64) -> Self {
        match self.0 {
            5 => self.1.extend(n.to_be_bytes()),
            _ => self.1.extend((n as u32).to_be_bytes()),
        }
        self
    }

    fn name(self, name: &str) -> Self {
        let mut next = self.count(name.len() as u64);
        next.1.extend(name.bytes());
        next.1.extend(vec![0; name.len().next_multiple_of(4) - name.len()]);
        next
    }

    fn dimensions(self, lengths: &[u64]) -> Self {
        let start = self.word(DIMENSIONS).count(lengths.len() as u64);
        let all =
            lengths.iter().enumerate().fold(start, |bytes, (n, length)| bytes.name(&format!("d{n}")).count(*length));
        all.word(0).count(0)
    }

    /// A variable of 16-bit integers along these dimensions.
    fn variable(self, name: &str, dimensions: &[u64], begin: u64) -> Self {
        let start = self.name(name).count(dimensions.len() as u64);
        let mut next = dimensions.iter().fold(start, |bytes, id| bytes.count(*id)).word(0).count(0).word(3).count(0);
        match next.0 {
            1 => next.1.extend((begin as u32).to_be_bytes()),
            _ => next.1.extend(begin.to_be_bytes()),
        }
        next
    }

    fn needed(self) -> Result<Needed, HeaderFault> {
        needed(&self.1[..])
    }
}

fn at(bytes: u64, variable: &str) -> Needed {
    Needed { bytes, variable: Some(variable.to_owned()) }
}

/// Layout by "The NetCDF Classic Format Specification", note on vsize and on the record size of a single record variable.
#[test]
fn records_are_padded_unless_their_variable_is_alone() {
    for version in [1, 2, 5] {
        let head = |records| Bytes::new(version, records).dimensions(&[0, 3]).word(VARIABLES);
        let alone = |records| head(records).count(1).variable("a", &[0, 1], 1000).needed().unwrap();
        assert_eq!(alone(4), at(1000 + 4 * 6, "a"));
        assert_eq!(alone(0), Needed::default());
        let two = head(4).count(2).variable("a", &[0, 1], 1000).variable("b", &[0], 1008).needed().unwrap();
        assert_eq!(two, at(1008 + 3 * (8 + 4) + 2, "b"));
        let beside = head(4).count(2).variable("a", &[0, 1], 1000).variable("f", &[1], 2000).needed().unwrap();
        assert_eq!(beside, at(2006, "f"));
    }
}

#[test]
fn headers_that_tell_nothing_are_refused() {
    let damaged = |bytes: Bytes, part: &str| match bytes.needed() {
        Err(HeaderFault::Damaged(problem)) => assert!(problem.contains(part), "{problem}"),
        other => panic!("{other:?}"),
    };
    damaged(Bytes::new(3, 0), "version 3");
    damaged(Bytes::new(1, 0).word(7).count(1), "the list of dimensions begins with 7");
    let head = |lengths: &[u64]| Bytes::new(5, 9).dimensions(lengths).word(VARIABLES).count(1);
    damaged(head(&[3]).variable("a", &[1], 0), "'a' has a dimension that is not there");
    damaged(head(&[3, 0]).variable("a", &[0, 1], 0), "'a' has records");
    damaged(head(&[1 << 40, 1 << 40]).variable("a", &[0, 1], 0), "'a' is larger than any file");
    damaged(head(&[0, 1 << 61]).variable("a", &[0, 1], 0), "'a' is larger than any file");
    damaged(head(&[9]).variable("a", &[0], u64::MAX), "'a' is larger than any file");
    for (version, records) in [(1, u64::from(u32::MAX)), (5, u64::MAX)] {
        let streamed = Bytes::new(version, records).dimensions(&[0]).needed();
        assert!(matches!(streamed, Err(HeaderFault::Streamed)), "{streamed:?}");
    }
}

proptest! {
    /// Whatever bytes follow the mark, there is an answer.
    #[test]
    fn any_bytes_have_an_answer(version in prop::sample::select(vec![1u8, 2, 5]), rest in prop::collection::vec(any::<u8>(), 0..200)) {
        let bytes = [vec![b'C', b'D', b'F', version], rest].concat();
        let _ = needed(&bytes[..]);
    }

    /// A sound header in which one byte is changed has an answer too.
    #[test]
    fn damaged_headers_have_an_answer(version in prop::sample::select(vec![1u8, 2, 5]), place in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let head = Bytes::new(version, 4).dimensions(&[0, 3]).word(VARIABLES).count(2);
        let mut bytes = head.variable("a", &[0, 1], 1000).variable("b", &[0], 1008).1;
        let place = place.index(bytes.len());
        bytes[place] = byte;
        let _ = needed(&bytes[..]);
    }
}
