//! Small files that are read here and there: kept in memory from the moment on when that is cheaper.
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes that all files kept by this process may hold together.
const MOST: u64 = 256 << 20;
/// Reads up to this length tell of random access; longer ones gain nothing.
const SHORT: usize = 16 << 10;
/// A short read costs about as much as copying so many bytes of a file.
const BYTES_PER_READ: u64 = 8 << 10;

static KEPT: AtomicU64 = AtomicU64::new(0);

/// The content of a file, once it was read so often that keeping it costs no more than the reads did.
///
/// Nobody waits for another thread that reads it, so that a fork at that moment does no harm.
pub struct Resident {
    num_bytes: u64,
    short_reads: AtomicU64,
    is_decided: AtomicBool,
    content: OnceLock<Vec<u8>>,
}

impl Resident {
    /// Of a file of so many bytes.
    pub fn new(num_bytes: u64) -> Self {
        let is_decided = AtomicBool::new(num_bytes > MOST);
        Self { num_bytes, short_reads: AtomicU64::new(0), is_decided, content: OnceLock::new() }
    }

    /// The file's bytes if they are kept.
    pub fn kept(&self) -> Option<&[u8]> {
        self.content.get().map(Vec::as_slice)
    }

    /// The file's bytes if they are kept; notes a read of `want` bytes, and calls `load` where it is one too many.
    pub fn content(&self, want: usize, load: impl FnOnce() -> Option<Vec<u8>>) -> Option<&[u8]> {
        if let Some(content) = self.kept() {
            return Some(content);
        }
        if want > SHORT || self.is_decided.load(Ordering::Relaxed) {
            return None;
        }
        let reads = 1 + self.short_reads.fetch_add(1, Ordering::Relaxed);
        if reads * BYTES_PER_READ < self.num_bytes || self.is_decided.swap(true, Ordering::Relaxed) {
            return None;
        }
        let room = |kept: u64| kept.checked_add(self.num_bytes).filter(|&sum| sum <= MOST);
        KEPT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).ok()?;
        let kept = load().is_some_and(|content| self.content.set(content).is_ok());
        if !kept {
            KEPT.fetch_sub(self.num_bytes, Ordering::Relaxed);
        }
        self.kept()
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        if self.content.get().is_some() {
            KEPT.fetch_sub(self.num_bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_after_many_short_reads_is_loaded_once_and_let_go_at_the_end() {
        let resident = Resident::new(10 * BYTES_PER_READ);
        let mut loads = 0;
        for _ in 0..9 {
            assert!(resident.content(100, || unreachable!()).is_none());
            assert!(resident.content(SHORT + 1, || unreachable!()).is_none());
        }
        for _ in 0..3 {
            let found = resident.content(100, || {
                loads += 1;
                Some(vec![7; 10 * BYTES_PER_READ as usize])
            });
            assert_eq!(found.unwrap()[5], 7);
        }
        assert_eq!(loads, 1);
        drop(resident);
        assert_eq!(KEPT.load(Ordering::Relaxed), 0);
    }
}
