//! Content of a small file, cached in memory once random reads have cost as much as reading the whole file.
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Largest total size of the files that this process caches.
const MAX_CACHED_BYTES: u64 = 256 << 20;
/// Reads up to this length indicate random access; longer reads gain nothing from a cache.
const MAX_SHORT_READ: usize = 16 << 10;
/// Cost of a short read, expressed as the number of bytes that can be copied in the same time.
const BYTES_PER_READ: u64 = 8 << 10;

static CACHED_BYTES: AtomicU64 = AtomicU64::new(0);

/// Counts the short reads of a file, and caches its content once they have cost as much as reading the whole file.
///
/// No thread waits while another thread loads the file. So a process that is forked at that time cannot deadlock.
pub struct CachedFile {
    num_bytes: u64,
    short_reads: AtomicU64,
    is_decided: AtomicBool,
    content: OnceLock<Vec<u8>>,
}

impl CachedFile {
    /// Creates an empty cache for a file of `num_bytes` bytes.
    pub fn new(num_bytes: u64) -> Self {
        let is_decided = AtomicBool::new(num_bytes > MAX_CACHED_BYTES);
        Self { num_bytes, short_reads: AtomicU64::new(0), is_decided, content: OnceLock::new() }
    }

    /// Returns the content of the file if it is cached.
    pub fn cached_content(&self) -> Option<&[u8]> {
        self.content.get().map(Vec::as_slice)
    }

    /// Returns the content of the file if it is cached.
    ///
    /// Otherwise counts this read of `read_len` bytes. Once the short reads of the file have cost as much as reading
    /// all of it, calls `load` to fill the cache.
    pub fn get_or_load(&self, read_len: usize, load: impl FnOnce() -> Option<Vec<u8>>) -> Option<&[u8]> {
        if let Some(content) = self.cached_content() {
            return Some(content);
        }
        if read_len > MAX_SHORT_READ || self.is_decided.load(Ordering::Relaxed) {
            return None;
        }
        let reads = 1 + self.short_reads.fetch_add(1, Ordering::Relaxed);
        if reads * BYTES_PER_READ < self.num_bytes || self.is_decided.swap(true, Ordering::Relaxed) {
            return None;
        }
        let add = |cached: u64| cached.checked_add(self.num_bytes).filter(|&sum| sum <= MAX_CACHED_BYTES);
        CACHED_BYTES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).ok()?;
        let is_cached = load().is_some_and(|content| self.content.set(content).is_ok());
        if !is_cached {
            CACHED_BYTES.fetch_sub(self.num_bytes, Ordering::Relaxed);
        }
        self.cached_content()
    }
}

impl Drop for CachedFile {
    fn drop(&mut self) {
        if self.content.get().is_some() {
            CACHED_BYTES.fetch_sub(self.num_bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_cached_after_many_short_reads_and_released_on_drop() {
        let file = CachedFile::new(10 * BYTES_PER_READ);
        let mut loads = 0;
        for _ in 0..9 {
            assert!(file.get_or_load(100, || unreachable!()).is_none());
            assert!(file.get_or_load(MAX_SHORT_READ + 1, || unreachable!()).is_none());
        }
        for _ in 0..3 {
            let found = file.get_or_load(100, || {
                loads += 1;
                Some(vec![7; 10 * BYTES_PER_READ as usize])
            });
            assert_eq!(found.unwrap()[5], 7);
        }
        assert_eq!(loads, 1);
        drop(file);
        assert_eq!(CACHED_BYTES.load(Ordering::Relaxed), 0);
    }
}
