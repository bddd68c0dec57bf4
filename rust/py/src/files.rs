//! Local files as sources: positioned reads, and detection of changes after the file was opened.
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use recordmill_core::cached_file::CachedFile;
use recordmill_core::checksum::crc32c;
use recordmill_core::memory::{self, OutOfMemory};
use recordmill_core::source::{ReadAt, SourceError, read_each_buffer, read_exact_at};
use rustix::fs::OFlags;

const IS_A_DIRECTORY: i32 = 21;
/// Error number (ESPIPE) for paths that are neither a file nor a folder.
pub const CANNOT_SEEK: i32 = 29;

/// An open file, and the metadata it had when it was opened.
pub struct FileSource {
    file: File,
    num_bytes: u64,
    /// Time of the last modification: seconds and nanoseconds.
    modified: (i64, i64),
    /// Time of the last change of content or metadata (ctime), in nanoseconds. Updated if only the metadata has
    /// changed.
    changed: AtomicI64,
    /// CRC-32C of up to `NUM_PROBES` blocks of the file, computed when it was opened.
    probes: Vec<u32>,
    /// Whether the file had a name when it was opened.
    has_name: bool,
    cache: CachedFile,
}

impl FileSource {
    /// Opens a regular file for reading.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (file, metadata) = open_regular_file(path)?;
        let has_name = metadata.nlink() > 0;
        let (num_bytes, modified) = (metadata.len(), modification_time(&metadata));
        let (changed, probes) = (AtomicI64::new(change_time(&metadata)), compute_probes(&file, num_bytes)?);
        Ok(Self { file, num_bytes, modified, changed, probes, has_name, cache: CachedFile::new(num_bytes) })
    }

    /// Fails if the content may have changed although size and modification time are the same: programs can restore
    /// the modification time, but not the ctime. Renaming the file or changing its mode also updates the ctime.
    fn check_change_time(&self, metadata: &Metadata) -> Result<(), SourceError> {
        if self.changed.load(Ordering::Relaxed) == change_time(metadata) {
            return Ok(());
        }
        if compute_probes(&self.file, self.num_bytes)? != self.probes {
            return Err(changed_error(format_args!("it was written to, and its modification time was restored")));
        }
        self.changed.store(change_time(metadata), Ordering::Relaxed);
        Ok(())
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> Result<(), SourceError> {
        read_exact_at(self.num_bytes, offset, buf, |offset, buf| self.file.read_at(buf, offset))
    }

    /// Reads the whole file. Returns None if it has changed or cannot be read.
    fn read_whole(&self) -> Option<Vec<u8>> {
        let mut content = Vec::new();
        content.try_reserve_exact(self.num_bytes as usize).ok()?;
        content.resize(self.num_bytes as usize, 0);
        self.read(0, &mut content).ok()?;
        self.check_unchanged().ok()?;
        Some(content)
    }
}

fn modification_time(metadata: &Metadata) -> (i64, i64) {
    (metadata.mtime(), metadata.mtime_nsec())
}

/// Returns the ctime in nanoseconds.
fn change_time(metadata: &Metadata) -> i64 {
    metadata.ctime().wrapping_mul(1_000_000_000).wrapping_add(metadata.ctime_nsec())
}

/// Number of blocks whose checksums are computed when a file is opened; they are spread evenly over the file.
const NUM_PROBES: u64 = 8;
const PROBE_BYTES: u64 = 4 << 10;

fn compute_probes(file: &File, num_bytes: u64) -> io::Result<Vec<u32>> {
    let last = num_bytes.saturating_sub(PROBE_BYTES);
    let count = NUM_PROBES.min(num_bytes.div_ceil(PROBE_BYTES));
    let mut block = [0; PROBE_BYTES as usize];
    let probe = |index| {
        // The last block ends at the end of the file.
        let offset = if index + 1 == count { last } else { last / (count - 1) * index };
        let num_read = file.read_at(&mut block, offset)?;
        Ok(crc32c(&block[..num_read]))
    };
    (0..count).map(probe).collect()
}

impl ReadAt for FileSource {
    fn num_bytes(&self) -> Option<u64> {
        Some(self.num_bytes)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        let len = buf.len().min(usize::try_from(self.num_bytes.saturating_sub(offset)).unwrap_or(usize::MAX));
        let buf = &mut buf[..len];
        match self.cache.get_or_load(len, || self.read_whole()) {
            Some(content) if len > 0 => buf.copy_from_slice(&content[offset as usize..][..len]),
            _ => self.read(offset, buf)?,
        }
        Ok(len)
    }

    fn read_vectored_at(&self, offset: u64, buffers: &mut [IoSliceMut<'_>]) -> Result<usize, SourceError> {
        let total: usize = buffers.iter().map(|buffer| buffer.len()).sum();
        match rustix::io::preadv(&self.file, buffers, offset) {
            Ok(count) if count == total => Ok(count),
            _ => read_each_buffer(self, offset, buffers),
        }
    }

    fn read_into_at<'b>(
        &self,
        offset: u64,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Result<Option<&'b mut [u8]>, SourceError> {
        match rustix::io::pread(&self.file, buf, offset) {
            Ok((read, [])) => Ok(Some(read)),
            Ok(_) | Err(_) => Ok(None),
        }
    }

    fn cached(&self) -> Option<&[u8]> {
        self.cache.cached_content()
    }

    fn check_unchanged(&self) -> Result<(), SourceError> {
        let metadata = self.file.metadata()?;
        if metadata.len() != self.num_bytes {
            let (old, new) = (self.num_bytes, metadata.len());
            return Err(changed_error(format_args!("it had {old} bytes when it was opened, and has {new} bytes now")));
        }
        if modification_time(&metadata) != self.modified {
            return Err(changed_error(format_args!("it was written to after it was opened")));
        }
        if self.has_name && metadata.nlink() == 0 {
            return Err(changed_error(format_args!("it was removed, or replaced by another file")));
        }
        self.check_change_time(&metadata)
    }
}

/// Returns the error for a file that has changed.
pub fn changed_error(detail: std::fmt::Arguments<'_>) -> SourceError {
    SourceError::Changed(detail.to_string())
}

/// Concatenation of several sources, because the part files of an OFRecord dataset are one stream.
pub struct ConcatenatedSource {
    parts: Vec<Arc<dyn ReadAt>>,
    /// Start of each part, and the end of the last one.
    starts: Vec<u64>,
}

impl ConcatenatedSource {
    /// Concatenates sources. Returns None if the length of a source is unknown.
    pub fn new(parts: Vec<Arc<dyn ReadAt>>) -> Option<Self> {
        let mut starts = vec![0];
        for part in &parts {
            starts.push(u64::saturating_add(starts[starts.len() - 1], part.num_bytes()?));
        }
        Some(Self { parts, starts })
    }
}

impl ReadAt for ConcatenatedSource {
    fn num_bytes(&self) -> Option<u64> {
        self.starts.last().copied()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        let mut done = 0;
        let first = self.starts.partition_point(|&start| start <= offset).saturating_sub(1);
        for (part, &start) in self.parts.iter().zip(&self.starts).skip(first) {
            if done == buf.len() {
                break;
            }
            done += part.read_at(offset + done as u64 - start, &mut buf[done..])?;
        }
        Ok(done)
    }

    fn read_into_at<'b>(
        &self,
        offset: u64,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Result<Option<&'b mut [u8]>, SourceError> {
        let part = self.starts.partition_point(|&start| start <= offset).saturating_sub(1);
        let end = self.starts.get(part + 1).copied().unwrap_or(0);
        if offset.checked_add(buf.len() as u64).is_none_or(|stop| stop > end) {
            return Ok(None);
        }
        self.parts[part].read_into_at(offset - self.starts[part], buf)
    }

    fn check_unchanged(&self) -> Result<(), SourceError> {
        self.parts.iter().try_for_each(|part| part.check_unchanged())
    }
}

/// Appends the contents of whole files to `data`, and the end of each file in `data` to `row_splits`. Stops at the
/// first error.
pub fn read_files(paths: &[PathBuf], data: &mut Vec<u8>, row_splits: &mut Vec<i64>) -> Result<(), (usize, io::Error)> {
    for (ordinal, path) in paths.iter().enumerate() {
        let result = open_regular_file(path).and_then(|(mut file, metadata)| {
            let length = metadata.len();
            memory::reserve(data, length as usize + 1).map_err(|_| io::ErrorKind::OutOfMemory)?;
            match length {
                // A length of 0 may mean that the length is unknown, as for files in /proc.
                0 => file.read_to_end(data),
                // Avoids the additional system call that detects the end of the file.
                _ => file.take(length).read_to_end(data),
            }
        });
        let result = result.and_then(|_| {
            let end = data.len() as i64;
            memory::push(row_splits, end).map_err(|_| io::ErrorKind::OutOfMemory.into())
        });
        result.map_err(|error| (ordinal, error))?;
    }
    Ok(())
}

/// Counts how many of the first files have a total size of at most `max_bytes`; at least 1. A missing file counts as 0
/// bytes. Also returns a checksum of the size and modification time of each of these files.
pub fn count_fitting_files(paths: &[PathBuf], max_bytes: u64) -> Result<(usize, Vec<i64>), OutOfMemory> {
    let mut stamps = memory::with_capacity(paths.len())?;
    let mut end = 0u64;
    for path in paths {
        let (size, modified) = std::fs::metadata(path).map_or((0, 0), |metadata| {
            (metadata.len(), i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec()))
        });
        end = end.saturating_add(size);
        if end > max_bytes && !stamps.is_empty() {
            break;
        }
        let mut block = [0; 24];
        block[..8].copy_from_slice(&size.to_le_bytes());
        block[8..].copy_from_slice(&modified.to_le_bytes());
        stamps.push(i64::from(crc32c(&block)));
    }
    Ok((stamps.len(), stamps))
}

/// Opens a regular file and returns its metadata. Fails for folders, pipes and devices.
pub fn open_regular_file(path: &Path) -> io::Result<(File, Metadata)> {
    // Without this flag, opening a pipe would wait for a writer.
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    let metadata = file.metadata()?;
    match metadata.file_type() {
        kind if kind.is_file() => Ok((file, metadata)),
        kind => Err(io::Error::from_raw_os_error(if kind.is_dir() { IS_A_DIRECTORY } else { CANNOT_SEEK })),
    }
}
