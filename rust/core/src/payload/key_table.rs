//! A hash table from keys to indices whose owner stores the keys.
use super::Section;
use crate::memory::{self, OutOfMemory};

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// An open-addressing table that is at most half full.
///
/// The hash is not resistant to crafted keys, so the owner must bound the number of keys.
#[derive(Debug, Clone)]
pub struct KeyTable {
    /// One number per bucket: the stored index plus 1, or 0 if the bucket is free. The number of buckets is a power of
    /// two.
    buckets: Vec<u32>,
    len: usize,
}

impl KeyTable {
    /// Creates an empty table for at least `capacity` indices.
    pub fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        Ok(Self { buckets: memory::filled((2 * capacity).next_power_of_two(), 0)?, len: 0 })
    }

    /// Returns whether another index can be inserted.
    pub fn has_capacity(&self) -> bool {
        2 * (self.len + 1) <= self.buckets.len()
    }

    /// Returns the first index stored for `hash` for which `matches` returns true.
    #[inline]
    pub fn find_index(&self, hash: u64, matches: impl Fn(usize) -> bool) -> Option<usize> {
        let mask = self.buckets.len() - 1;
        let mut bucket = hash as usize & mask;
        loop {
            let index = (self.buckets[bucket] as usize).checked_sub(1)?;
            if matches(index) {
                return Some(index);
            }
            bucket = (bucket + 1) & mask;
        }
    }

    /// Stores `index` for `hash`. The table must have capacity.
    pub fn insert_index(&mut self, hash: u64, index: usize) {
        let mask = self.buckets.len() - 1;
        let mut bucket = hash as usize & mask;
        while self.buckets[bucket] != 0 {
            bucket = (bucket + 1) & mask;
        }
        self.buckets[bucket] = index as u32 + 1;
        self.len += 1;
    }
}

/// Returns the hash of a key.
#[inline]
pub fn hash_key(section: Section, key: &[u8]) -> u64 {
    let mix = |state: u64, word: u64| (state.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    let (words, tail) = key.as_chunks::<8>();
    let mut state = (key.len() as u64) << 1 | section as u64;
    for word in words {
        state = mix(state, u64::from_le_bytes(*word));
    }
    state = mix(state, tail.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
    state ^ state >> 32
}
