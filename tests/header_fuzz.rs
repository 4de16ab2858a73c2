//! Mutated headers: the parser answers every input with a header or an error, never with a panic, and accepts only
//! headers that survive a second parse.

use std::time::{Duration, Instant};

use atmostr::met::{HeaderSpec, Section, parse_header_bytes};
use decomposition::PanelConvention;
use serde_json::{Map, Value, json};

/// Repeatable pseudo-random numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n.max(1)
    }
}

/// Valid headers to start from.
fn seeds() -> Vec<Map<String, Value>> {
    [PanelConvention::Gnomonic, PanelConvention::GeosNative]
        .into_iter()
        .flat_map(|convention| {
            let plain = HeaderSpec::new(4, convention, vec![0.0, 10.0, 0.0], vec![0.0, 0.5, 1.0], 3);
            let full = HeaderSpec { sections: Section::ALL.to_vec(), steps: vec![2, 3, 4], ..plain.clone() };
            [plain, full]
        })
        .map(|spec| {
            // Whatever is changed in a header with its checksum is refused for that: tests/mutations.
            let mut map = spec.header().expect("a valid description").json().clone();
            map.shift_remove("header_crc32c").expect("a checksum of the header");
            map
        })
        .collect()
}

/// A value likely to be mishandled.
fn odd_value(random: &mut Random, map: &Map<String, Value>) -> Value {
    let borrowed = map.values().nth(random.below(map.len())).cloned().unwrap_or(Value::Null);
    let choices = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(i64::MIN),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(1u64 << random.below(64)),
        json!(random.below(10)),
        json!(1e308),
        json!(5e-324),
        json!(-0.0),
        json!(""),
        json!("\u{0}\u{10FFFF}ß"),
        json!("-".repeat(random.below(200))),
        json!([]),
        json!({}),
        json!([[[[]]]]),
        Value::Array(vec![json!(1); random.below(1000)]),
        borrowed,
    ];
    choices[random.below(choices.len())].clone()
}

fn mutate_structure(random: &mut Random, map: &mut Map<String, Value>) {
    let keys: Vec<String> = map.keys().cloned().collect();
    let key = &keys[random.below(keys.len())];
    match random.below(5) {
        0 => {
            map.shift_remove(key);
        }
        1 => {
            let value = odd_value(random, map);
            map.insert(format!("{key}_"), value);
        }
        2 => {
            let odd = odd_value(random, map);
            if let Some(Value::Array(list)) = map.get_mut(key) {
                let at = random.below(list.len() + 1);
                if random.below(2) == 0 || at == list.len() {
                    list.insert(at, odd);
                } else {
                    list.remove(at);
                }
            }
        }
        _ => {
            let value = odd_value(random, map);
            map.insert(key.clone(), value);
        }
    }
}

fn mutate_bytes(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len());
    match random.below(6) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = b"{}[]\",:\\0e-.\0\xff"[random.below(14)],
        2 => bytes.truncate(at.max(1)),
        3 => {
            let end = (at + random.below(40)).min(bytes.len());
            let piece = bytes[at..end].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, piece);
        }
        4 => {
            let end = (at + 1 + random.below(20)).min(bytes.len());
            bytes.drain(at..end);
        }
        _ => bytes.insert(at, random.below(256) as u8),
    }
    if bytes.is_empty() {
        bytes.push(0);
    }
}

/// Mutates until the time is up; returns how many inputs were accepted and refused.
fn fuzz(duration: Duration, seed: u64) -> (usize, usize) {
    let seeds = seeds();
    let mut random = Random(seed);
    let (start, mut accepted, mut refused) = (Instant::now(), 0, 0);
    while start.elapsed() < duration {
        let mut map = seeds[random.below(seeds.len())].clone();
        for _ in 0..random.below(4) {
            mutate_structure(&mut random, &mut map);
        }
        let mut bytes = Value::Object(map).to_string().into_bytes();
        bytes.push(0);
        // Half of the inputs keep valid JSON, so that the rules behind the parser are reached.
        if random.below(2) == 0 {
            for _ in 0..=random.below(8) {
                mutate_bytes(&mut random, &mut bytes);
            }
        }
        match parse_header_bytes(&bytes) {
            Ok(header) => {
                accepted += 1;
                // Sizes of an accepted header can be computed, and its text means the same again.
                assert!(header.file_bytes() > header.header_bytes());
                assert_eq!(header.steps().len(), header.nwindow());
                let mut again = Value::Object(header.json().clone()).to_string().into_bytes();
                again.push(0);
                if again.len() as u64 <= header.header_bytes() {
                    assert_eq!(parse_header_bytes(&again).as_ref(), Ok(&header));
                }
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    (accepted, refused)
}

#[test]
fn mutated_headers_are_answered() {
    let (accepted, refused) = fuzz(Duration::from_secs(2), 0x5EED);
    assert!(accepted > 20 && refused > 20, "{accepted} accepted, {refused} refused");
}

#[test]
#[ignore = "slow: 2 minutes"]
fn mutated_headers_are_answered_for_long() {
    // The start differs from run to run, and is printed so that a failure can be repeated.
    let seed =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64) | 1;
    println!("seed {seed}");
    let (accepted, refused) = fuzz(Duration::from_secs(120), seed);
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted > 20 && refused > 20);
}
