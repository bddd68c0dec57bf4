//! Cache that predicts the next key of a record, because writers usually store the same keys in the same order.
use super::key_table::{self, KeyTable};
use super::message::MessageDialect;
use super::varint::load_word;
use super::{Plan, Section};
use crate::memory::{self, OutOfMemory};

/// Maximum number of cached keys; other keys are parsed by the general code.
const MAX_CACHED: usize = 1024;
/// Number of bytes at the start of an entry that are compared as two words.
const HEAD_LEN: usize = 16;
/// Mask of the second byte of an entry, which contains the entry's length. The length is not compared, because it
/// depends on the values.
const LENGTH_BYTE: u64 = 0xff00;

/// One cached key, for entries in the common encoding.
///
/// The prefix of an entry consists of the tags and lengths of entry and key, the key, and the tag of the value.
#[derive(Debug)]
pub struct CachedKey {
    /// The first `HEAD_LEN` bytes of the prefix, in which the entry's length is set to 0.
    head: [u64; 2],
    mask: [u64; 2],
    /// The bytes of the prefix that follow `head`.
    tail: Vec<u8>,
    /// Length of the prefix.
    pub len: usize,
    /// Protobuf tag of the list of values: of the kind that a column requests, or else of the kind of the key's first
    /// occurrence.
    pub tag: u8,
    /// Index of the column that requests the key; None if no column does.
    pub slot: Option<usize>,
    /// Index of the key that followed this one in an earlier record.
    next: usize,
}

impl CachedKey {
    /// Creates a key whose entries start with `prefix`.
    fn new(prefix: &[u8], tag: u8, slot: Option<usize>) -> Self {
        let low_bits = |bits: usize| if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        let mask = [low_bits(8 * prefix.len()) & !LENGTH_BYTE, low_bits(8 * prefix.len().saturating_sub(8))];
        let head = [load_word(prefix, 0) & mask[0], load_word(prefix, 8) & mask[1]];
        let tail = prefix.get(HEAD_LEN..).unwrap_or_default().to_vec();
        Self { head, mask, tail, len: prefix.len(), tag, slot, next: 0 }
    }

    /// Creates the sentinel that precedes the first key of a record. It matches no entry.
    fn sentinel() -> Self {
        Self { head: [1, 0], mask: [0, 0], tail: Vec::new(), len: 0, tag: 0, slot: None, next: 0 }
    }

    #[inline]
    fn matches_entry(&self, head: [u64; 2], entry: &[u8]) -> bool {
        head[0] & self.mask[0] == self.head[0]
            && head[1] & self.mask[1] == self.head[1]
            && (self.tail.is_empty() || entry.get(HEAD_LEN..).is_some_and(|entry| entry.starts_with(&self.tail)))
    }
}

/// The keys of earlier records.
pub struct KeyCache {
    /// The sentinel and the cached keys.
    keys: Vec<CachedKey>,
    table: KeyTable,
    hashes: Vec<u64>,
    /// Index of the previous key of the current record.
    last: usize,
}

impl KeyCache {
    /// Creates an empty cache.
    pub fn new() -> Result<Self, OutOfMemory> {
        Ok(Self { keys: vec![CachedKey::sentinel()], table: KeyTable::new(16)?, hashes: vec![0], last: 0 })
    }

    /// Starts a record: the next entry is predicted as the first entry of a record.
    pub fn start_record(&mut self) {
        self.last = 0;
    }

    /// Returns the key of the entry at the start of `rest`; None if the entry is not in the common encoding, or if the
    /// key is new and the cache is full or cannot grow.
    #[inline]
    pub fn find_key(&mut self, rest: &[u8], dialect: &MessageDialect, plan: &Plan) -> Option<&CachedKey> {
        let head = [load_word(rest, 0), load_word(rest, 8)];
        let mut key = self.keys[self.last].next;
        if !self.keys[key].matches_entry(head, rest) {
            key = self.look_up_key(head, rest, dialect, plan)?;
            self.keys[self.last].next = key;
        }
        self.last = key;
        Some(&self.keys[key])
    }

    fn look_up_key(&mut self, head: [u64; 2], rest: &[u8], dialect: &MessageDialect, plan: &Plan) -> Option<usize> {
        let [0x0a, 0..0x80, 0x0a, len @ 0..0x80, key @ ..] = rest else { return None };
        let len = usize::from(*len);
        if key.get(len) != Some(&0x12) {
            return None;
        }
        let key = &key[..len];
        let hash = key_table::hash_key(Section::Context, key);
        if let Some(key) = self.table.find_index(hash, |key| self.keys[key].matches_entry(head, rest)) {
            return Some(key);
        }
        if self.keys.len() >= MAX_CACHED || (dialect.utf8_keys && std::str::from_utf8(key).is_err()) {
            return None;
        }
        let slot = plan.find_column(Section::Context, key);
        let tag = match slot {
            Some(slot) => dialect.list_tag(plan.columns()[slot].kind)?,
            None => *rest.get(len + 6)?,
        };
        self.insert_key(CachedKey::new(&rest[..len + 5], tag, slot), hash).ok()
    }

    #[cold]
    fn insert_key(&mut self, key: CachedKey, hash: u64) -> Result<usize, OutOfMemory> {
        let index = self.keys.len();
        if !self.table.has_capacity() {
            let mut larger = KeyTable::new(2 * (index + 1))?;
            (1..index).for_each(|index| larger.insert_index(self.hashes[index], index));
            self.table = larger;
        }
        memory::reserve(&mut self.keys, 1)?;
        memory::push(&mut self.hashes, hash)?;
        self.keys.push(key);
        self.table.insert_index(hash, index);
        Ok(index)
    }
}
