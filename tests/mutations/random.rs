//! Repeatable damage.

/// Repeatable pseudo-random numbers (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// A number below `n`, or 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n.max(1)
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// Damages bytes somewhere between `from` and `to`; what was done.
pub fn damage(random: &mut Random, bytes: &mut Vec<u8>, (from, to): (usize, usize)) -> String {
    let at = from + random.below(to - from);
    let longest = *random.pick(&[4, 64, 1024]);
    let length = 1 + random.below(longest).min(to - at - 1);
    let end = at + length;
    match random.below(10) {
        0 | 1 => {
            let bit = random.below(8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at} flipped")
        }
        2 => {
            bytes[at..end].iter_mut().for_each(|b| *b = random.below(256) as u8);
            format!("noise in bytes {at} to {end}")
        }
        3 => {
            let value = *random.pick(&[0, 0xff, b'0', b'9']);
            bytes[at..end].fill(value);
            format!("bytes {at} to {end} set to {value}")
        }
        4 => {
            bytes.truncate(at);
            format!("cut off at {at}")
        }
        5 => {
            let more = random.below(5000) + 1;
            bytes.extend((0..more).map(|n| if n % 3 == 0 { 0 } else { random.below(256) as u8 }));
            format!("{more} bytes more")
        }
        6 => {
            let other = from + random.below(to - from - length.min(to - from - 1));
            let distinct = at >= other + length || other >= end;
            if distinct {
                (0..length).for_each(|n| bytes.swap(at + n, other + n));
            } else {
                bytes[at] ^= 0x55;
            }
            format!("{length} bytes at {at} and {other} exchanged")
        }
        7 => {
            bytes.drain(at..end);
            format!("bytes {at} to {end} taken out")
        }
        8 => {
            let piece = bytes[at..end].to_vec();
            let place = from + random.below(to - from);
            bytes.splice(place..place, piece);
            format!("bytes {at} to {end} doubled at {place}")
        }
        _ => {
            let digits: Vec<usize> = (from..to).filter(|n| bytes[*n].is_ascii_digit()).collect();
            match digits.is_empty() {
                true => bytes[at] = bytes[at].wrapping_add(1),
                false => {
                    let place = *random.pick(&digits);
                    let digit = b'0' + (bytes[place] - b'0' + 1 + random.below(9) as u8) % 10;
                    bytes[place] = digit;
                    return format!("digit at {place} now {}", digit - b'0');
                }
            }
            format!("byte {at} one more")
        }
    }
}
