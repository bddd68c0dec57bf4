//! Fuzz target for compressed sources: inflates arbitrary bytes with reads of several sizes and orders.
use recordmill_core::checksum::crc32;
use recordmill_core::inflate::{CompressedSource, Container, Limits};
use recordmill_core::source::ReadAt;

const LIMITS: Limits = Limits { max_bytes: 1 << 20 };
const SPACING: u64 = 500;

/// Reads the whole source, `step` bytes at a time. Returns the data and, if a fault ended the read, its message.
fn read_all(source: &dyn ReadAt, step: usize) -> (Vec<u8>, Option<String>) {
    let (mut data, mut buf) = (Vec::new(), vec![0; step]);
    loop {
        match source.read_at(data.len() as u64, &mut buf) {
            Ok(0) => return (data, None),
            Ok(count) => data.extend_from_slice(&buf[..count]),
            Err(error) => return (data, Some(error.to_string())),
        }
    }
}

/// Reads `source` at decreasing offsets, and compares each read with `data`.
fn assert_reads_backward(source: &dyn ReadAt, data: &[u8]) {
    let mut buf = [0; 300];
    let step = (data.len() / 8).max(1);
    for offset in (0..data.len()).step_by(step).rev() {
        let count = source.read_at(offset as u64, &mut buf).expect("data that was read before");
        assert!(count == buf.len().min(data.len() - offset) && buf[..count] == data[offset..offset + count]);
    }
}

/// Appends the correct checksum to `body`, and restores the result as if it were saved seek points.
fn try_restoring_seek_points(body: &[u8], file: &[u8], container: Container) {
    let blob = [body, &crc32(0, body).to_le_bytes()].concat();
    let source = CompressedSource::new(file.to_vec(), container, LIMITS, SPACING);
    let _ = source.restore_seek_points(&blob);
    let _ = source.read_at(700, &mut [0; 64]);
}

/// Checks one input of the fuzz target.
pub fn check_input(input: &[u8]) {
    let Some((&choice, file)) = input.split_first() else { return };
    let container = if choice & 1 == 0 { Container::Gzip } else { Container::Zlib };
    let source = CompressedSource::new(file.to_vec(), container, LIMITS, SPACING);
    let (data, fault) = read_all(&source, 1 + usize::from(choice) * 16);
    assert!(data.len() as u64 <= LIMITS.max_bytes);
    assert_reads_backward(&source, &data);
    let other = CompressedSource::new(file.to_vec(), container, LIMITS, SPACING);
    other.restore_seek_points(&source.save_seek_points().expect("memory")).expect("own blob");
    assert_reads_backward(&other, &data);
    assert!(read_all(&other, 10_000) == (data, fault));
    try_restoring_seek_points(file, file, container);
}
