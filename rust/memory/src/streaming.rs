//! Copies of long slices that bypass the caches of the processor.
#![allow(unsafe_code)] // The only module of this crate with unsafe code.

use crate::{OutOfMemory, reserve};

/// Appends a copy of a slice. A long slice is copied past the caches, for results that are larger than the caches.
///
/// Other stores first load the old content of the destination from memory, which takes about a third of the time.
pub fn extend_streaming(vec: &mut Vec<u8>, slice: &[u8]) -> Result<(), OutOfMemory> {
    reserve(vec, slice.len())?;
    #[cfg(target_arch = "x86_64")]
    if slice.len() >= x86_64::MIN_STREAMED {
        let len = vec.len();
        x86_64::copy(slice, &mut vec.spare_capacity_mut()[..slice.len()]);
        // SAFETY: `copy` has initialized the `slice.len()` elements after the first `len`, which are inside the capacity.
        unsafe { vec.set_len(len + slice.len()) };
        return Ok(());
    }
    vec.extend_from_slice(slice);
    Ok(())
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    use std::mem::MaybeUninit;

    /// Length of the shortest slice that is copied past the caches.
    pub const MIN_STREAMED: usize = 32 << 10;
    /// Number of bytes in a cache line.
    const LINE: usize = 64;

    /// Copies `from` to `to`, which must have the same length.
    pub fn copy(from: &[u8], to: &mut [MaybeUninit<u8>]) {
        assert_eq!(from.len(), to.len());
        let (from_start, from) = from.split_at(to.as_ptr().align_offset(LINE).min(from.len()));
        let (to_start, to) = to.split_at_mut(from_start.len());
        copy_bytes(from_start, to_start);
        let ((from_lines, from_end), (to_lines, to_end)) = (from.as_chunks::<LINE>(), to.as_chunks_mut::<LINE>());
        for (from, to) in from_lines.iter().zip(to_lines) {
            for part in (0..LINE).step_by(16) {
                // SAFETY: both lines have 64 bytes, of which this uses 16 from `part` on. `to` is aligned to 64 bytes, because
                // `to_start` ends at a multiple of 64. All x86-64 processors have these instructions.
                unsafe {
                    let value = _mm_loadu_si128(from[part..].as_ptr().cast());
                    _mm_stream_si128(to[part..].as_mut_ptr().cast(), value);
                }
            }
        }
        copy_bytes(from_end, to_end);
        // SAFETY: all x86-64 processors have this instruction. It makes the stores visible before later stores, as the
        // documentation of `_mm_stream_si128` requires.
        unsafe { _mm_sfence() };
    }

    fn copy_bytes(from: &[u8], to: &mut [MaybeUninit<u8>]) {
        for (from, to) in from.iter().zip(to) {
            to.write(*from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Length from which slices are copied past the caches.
    const MIN_STREAMED: usize = 32 << 10;

    #[test]
    fn streamed_copies_equal_the_slice_at_every_alignment() {
        let data: Vec<u8> = (0..MIN_STREAMED + 300).map(|position| (position * 7 + position / 256) as u8).collect();
        for (start, len) in (0..70).flat_map(|start| {
            [0, 1, 63, MIN_STREAMED - 1, MIN_STREAMED, MIN_STREAMED + 65 + start].map(|len| (start, len))
        }) {
            let mut vec = data[..start].to_vec();
            extend_streaming(&mut vec, &data[3..3 + len]).unwrap();
            assert!(vec[..start] == data[..start] && vec[start..] == data[3..3 + len], "{start} {len}");
        }
    }

    #[test]
    fn appending_to_a_vector_with_capacity_keeps_the_rest() {
        let mut vec = Vec::with_capacity(4 * MIN_STREAMED);
        for number in 0..3_u8 {
            extend_streaming(&mut vec, &vec![number; MIN_STREAMED + 5]).unwrap();
        }
        assert_eq!(vec.len(), 3 * (MIN_STREAMED + 5));
        assert!(vec.chunks(MIN_STREAMED + 5).zip(0_u8..).all(|(row, number)| row.iter().all(|byte| *byte == number)));
    }
}
