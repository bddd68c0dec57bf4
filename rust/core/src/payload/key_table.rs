//! A hash table from keys to small numbers that leaves storing the keys to its owner.
use super::Section;

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Open addressing, at most half full. It has no defence against crafted keys: owners bound what goes in.
#[derive(Debug, Clone)]
pub struct KeyTable {
    /// Number + 1, or 0 where free; a power of two of places.
    buckets: Vec<u32>,
    len: usize,
}

impl KeyTable {
    /// An empty table with room for `capacity` numbers.
    pub fn new(capacity: usize) -> Self {
        Self { buckets: vec![0; (2 * capacity).next_power_of_two()], len: 0 }
    }

    /// Whether another number fits in.
    pub fn has_room(&self) -> bool {
        2 * (self.len + 1) <= self.buckets.len()
    }

    /// The first number under `hash` that `is_it` accepts.
    #[inline]
    pub fn find(&self, hash: u64, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let mask = self.buckets.len() - 1;
        let mut bucket = hash as usize & mask;
        loop {
            let number = (self.buckets[bucket] as usize).checked_sub(1)?;
            if is_it(number) {
                return Some(number);
            }
            bucket = (bucket + 1) & mask;
        }
    }

    /// Puts `number` under `hash`; the caller has made sure that there is room.
    pub fn insert(&mut self, hash: u64, number: usize) {
        let mask = self.buckets.len() - 1;
        let mut bucket = hash as usize & mask;
        while self.buckets[bucket] != 0 {
            bucket = (bucket + 1) & mask;
        }
        self.buckets[bucket] = number as u32 + 1;
        self.len += 1;
    }
}

/// The hash of a key.
#[inline]
pub fn hash(section: Section, key: &[u8]) -> u64 {
    let mix = |state: u64, word: u64| (state.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    let (words, tail) = key.as_chunks::<8>();
    let mut state = (key.len() as u64) << 1 | section as u64;
    for word in words {
        state = mix(state, u64::from_le_bytes(*word));
    }
    state = mix(state, tail.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
    state ^ state >> 32
}
