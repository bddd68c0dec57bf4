//! What earlier records tell about the next one: writers put the same keys in the same order, record after record.
use super::key_table::{self, KeyTable};
use super::message::Dialect;
use super::varint::load;
use super::{Plan, Section};

/// Keys that are remembered at most; others are read the general way.
const MAX_CACHED: usize = 1024;
/// Bytes of an entry that are compared word by word.
const HEAD_LEN: usize = 16;
/// The second byte is the entry's length, which changes with the values.
const LENGTH_BYTE: u64 = 0xff00;

/// One key, as entries of the usual form hold it.
#[derive(Debug)]
pub struct CachedKey {
    /// The first bytes of the entry, up to the value's length or as far as they go, without the entry's length.
    head: [u64; 2],
    mask: [u64; 2],
    /// What of the entry's start `head` does not hold.
    tail: Vec<u8>,
    /// Length of the entry's start: tag and length of entry and key, the key, tag of the value.
    pub len: usize,
    /// The tag of the list: of the wanted kind, or of the kind that was met first.
    pub tag: u8,
    /// The slot of the key, if it is wanted.
    pub slot: Option<usize>,
    /// The key that came next.
    next: usize,
}

impl CachedKey {
    /// The key whose entries start with `start`.
    fn new(start: &[u8], tag: u8, slot: Option<usize>) -> Self {
        let word = |bits: usize| if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        let mask = [word(8 * start.len()) & !LENGTH_BYTE, word(8 * start.len().saturating_sub(8))];
        let head = [load(start, 0) & mask[0], load(start, 8) & mask[1]];
        let tail = start.get(HEAD_LEN..).unwrap_or_default().to_vec();
        Self { head, mask, tail, len: start.len(), tag, slot, next: 0 }
    }

    /// What stands before all records: no entry fits it.
    fn start() -> Self {
        Self { head: [1, 0], mask: [0, 0], tail: Vec::new(), len: 0, tag: 0, slot: None, next: 0 }
    }

    #[inline]
    fn fits(&self, head: [u64; 2], entry: &[u8]) -> bool {
        head[0] & self.mask[0] == self.head[0]
            && head[1] & self.mask[1] == self.head[1]
            && (self.tail.is_empty() || entry.get(HEAD_LEN..).is_some_and(|entry| entry.starts_with(&self.tail)))
    }
}

/// The keys of earlier records.
pub struct KeyCache {
    cached: Vec<CachedKey>,
    table: KeyTable,
    hashes: Vec<u64>,
    /// The key that came last.
    last: usize,
}

impl KeyCache {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self { cached: vec![CachedKey::start()], table: KeyTable::new(16), hashes: vec![0], last: 0 }
    }

    /// A record begins.
    pub fn start_record(&mut self) {
        self.last = 0;
    }

    /// The key of the entry at the start of `rest`; `None` where the entry has another form.
    #[inline]
    pub fn find(&mut self, rest: &[u8], dialect: &Dialect, plan: &Plan) -> Option<&CachedKey> {
        let head = [load(rest, 0), load(rest, 8)];
        let mut key = self.cached[self.last].next;
        if !self.cached[key].fits(head, rest) {
            key = self.look_up(head, rest, dialect, plan)?;
            self.cached[self.last].next = key;
        }
        self.last = key;
        Some(&self.cached[key])
    }

    fn look_up(&mut self, head: [u64; 2], rest: &[u8], dialect: &Dialect, plan: &Plan) -> Option<usize> {
        let [0x0a, 0..0x80, 0x0a, len @ 0..0x80, key @ ..] = rest else { return None };
        let len = usize::from(*len);
        if key.get(len) != Some(&0x12) {
            return None;
        }
        let key = &key[..len];
        let hash = key_table::hash(Section::Context, key);
        if let Some(key) = self.table.find(hash, |key| self.cached[key].fits(head, rest)) {
            return Some(key);
        }
        if self.cached.len() >= MAX_CACHED || (dialect.utf8_keys && std::str::from_utf8(key).is_err()) {
            return None;
        }
        let slot = plan.find(Section::Context, key);
        let tag = match slot {
            Some(slot) => dialect.tag(plan.columns()[slot].kind)?,
            None => *rest.get(len + 6)?,
        };
        Some(self.insert(CachedKey::new(&rest[..len + 5], tag, slot), hash))
    }

    #[cold]
    fn insert(&mut self, key: CachedKey, hash: u64) -> usize {
        self.cached.push(key);
        self.hashes.push(hash);
        let number = self.cached.len() - 1;
        if self.table.has_room() {
            self.table.insert(hash, number);
        } else {
            self.table = KeyTable::new(2 * self.cached.len());
            (1..=number).for_each(|number| self.table.insert(self.hashes[number], number));
        }
        number
    }
}
