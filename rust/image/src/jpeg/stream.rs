//! Entropy-coded data of a scan: removes byte stuffing chunk by chunk and finds restart markers (T.81 B.1.1.5, E.2.4).
use super::header::marker::{RST0, RST7};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::memory::{self, OutOfMemory};
use memchr::memchr;

/// Number of bytes unstuffed at a time: large enough to keep calls rare, small enough for the L1 cache.
const CHUNK_LEN: usize = 24 << 10;
/// Number of readable bytes after any position at which an MCU may begin. An MCU has at most ten blocks of 64 codes,
/// each of 16 bits and a value of 15 bits: 2,480 bytes.
const MARGIN: usize = 4096;

/// The bytes of one restart interval (or of a scan without restart markers), unstuffed on demand.
pub(super) struct Stream<'a> {
    data: &'a [u8],
    /// Offset of the first byte that is not unstuffed yet; at the end of the interval, the offset of the marker that
    /// ends it.
    next: usize,
    unstuffed: Vec<u8>,
    /// Number of unstuffed bytes, once the end of the interval is known; zeros follow them.
    end: Option<usize>,
    /// For each chunk, the index of its first byte among all unstuffed bytes since `start`, and the byte offset in the
    /// file.
    chunks: Vec<(usize, usize)>,
    /// Number of unstuffed bytes since `start` that were dropped from the buffer.
    dropped: usize,
}

impl<'a> Stream<'a> {
    /// Creates a stream over `data` that reuses the memory of `scratch`.
    pub(super) fn new(data: &'a [u8], scratch: Vec<u8>) -> Self {
        Self { data, next: 0, unstuffed: scratch, end: None, chunks: Vec::new(), dropped: 0 }
    }

    /// Consumes the stream and returns its buffer for reuse.
    pub(super) fn into_scratch(self) -> Vec<u8> {
        self.unstuffed
    }

    /// Drops all buffered bytes.
    pub(super) fn clear(&mut self) {
        self.unstuffed.clear();
        self.chunks.clear();
        (self.next, self.end, self.dropped) = (0, None, 0);
    }

    /// Starts reading at byte `offset` of the file, `skipped` bits into that byte.
    pub(super) fn start(&mut self, offset: usize, skipped: u32) -> Result<BitReader, OutOfMemory> {
        self.clear();
        self.next = offset;
        self.fill_buffer()?;
        let mut bits = BitReader::new(0);
        bits.refill(&self.unstuffed);
        bits.skip(skipped);
        Ok(bits)
    }

    /// Continues reading at byte `offset` of the file, `skipped` bits into that byte. Refills the buffer only if it
    /// does not hold that byte.
    pub(super) fn seek(&mut self, offset: usize, skipped: u32) -> Result<BitReader, OutOfMemory> {
        let Some(unstuffed) = self.unstuffed_position(offset) else { return self.start(offset, skipped) };
        memory::push(&mut self.chunks, (unstuffed, offset))?;
        let mut bits = BitReader::new(unstuffed - self.dropped);
        bits.refill(&self.unstuffed);
        bits.skip(skipped);
        Ok(bits)
    }

    /// Returns the index of file byte `offset` among all unstuffed bytes since `start`, or `None` if it is not
    /// buffered.
    fn unstuffed_position(&self, offset: usize) -> Option<usize> {
        let &(mut unstuffed, mut raw) = self.chunks.iter().rfind(|(_, raw)| *raw <= offset)?;
        if offset >= self.next {
            return None;
        }
        while let Some(distance) = memchr(0xff, &self.data[raw..offset]) {
            (unstuffed, raw) = (unstuffed + distance + 1, raw + distance + 2);
            if raw > offset {
                return None;
            }
        }
        let position = unstuffed + (offset - raw);
        (position >= self.dropped).then_some(position)
    }

    /// Returns the buffered unstuffed bytes, which `BitReader` reads from.
    #[inline(always)]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.unstuffed
    }

    /// Returns the largest byte index at which an MCU may begin without a call of `advance` before it.
    #[inline(always)]
    pub(super) fn limit(&self) -> usize {
        self.end.map_or(self.unstuffed.len().saturating_sub(MARGIN), |end| end + 8)
    }

    /// Refills the buffer when `bits` is past the limit. Returns the same position in the new buffer. At the end of the
    /// data, returns an error.
    #[cold]
    pub(super) fn advance(&mut self, bits: BitReader) -> Result<BitReader> {
        if self.end.is_some() {
            return Err(self.truncated_fault());
        }
        // A byte with unconsumed bits stays in the buffer. `position` is computed from the buffer and may be requested
        // before the next refill, because the blocks of an end-of-band run consume no bits.
        let used = bits.position() / 8;
        self.unstuffed.copy_within(used.., 0);
        self.unstuffed.truncate(self.unstuffed.len() - used);
        self.dropped += used;
        self.fill_buffer()?;
        Ok(bits.minus_dropped_bytes(used))
    }

    /// Checks that `bits` is after the last block of an interval. Returns the offset of the marker that follows.
    pub(super) fn finish(&mut self, mut bits: BitReader) -> Result<usize> {
        if self.end.is_none() {
            bits = self.advance(bits)?;
        }
        let end = self.end.unwrap_or(self.unstuffed.len());
        match (end * 8).checked_sub(bits.position()) {
            None => Err(self.truncated_fault()),
            Some(0..=7) => Ok(self.next),
            Some(left) => Err(self.trailing_bytes_fault(left / 8)),
        }
    }

    /// Returns the offset after the restart marker at `offset`, whose number must be `number` modulo eight.
    pub(super) fn skip_restart_marker(&self, offset: usize, number: usize) -> Result<usize> {
        let fill = self.data[offset..].iter().position(|&byte| byte != 0xff);
        let code = fill.map(|fill| self.data[offset + fill]);
        let expected = format!("restart marker {}", number % 8);
        match (fill, code) {
            (Some(fill), Some(code)) if code == RST0 + (number % 8) as u8 => Ok(offset + fill + 1),
            (_, Some(code @ RST0..=RST7)) => {
                Err(ImageFault::new(ImageFaultKind::BadRestart, offset, expected, format!("number {}", code - RST0)))
            }
            (_, Some(0)) => Err(ImageFault::new(ImageFaultKind::Unsupported, offset, expected, "a stuffed byte")),
            (_, Some(code)) => {
                Err(ImageFault::new(ImageFaultKind::Truncated, offset, expected, format!("marker {code:#04x}")))
            }
            (_, None) => Err(ImageFault::new(ImageFaultKind::Truncated, self.data.len(), expected, "the end")),
        }
    }

    /// Returns the offset after the restart marker that ends interval `last`, searching from `offset` in interval
    /// `first`.
    pub(super) fn find_restart(&self, mut offset: usize, first: usize, last: usize) -> Result<usize> {
        for number in first..=last {
            offset = self.skip_restart_marker(self.find_marker(offset), number)?;
        }
        Ok(offset)
    }

    /// Returns the offset of the next marker from `offset` on, or the end of the data.
    fn find_marker(&self, mut offset: usize) -> usize {
        while let Some(distance) = memchr(0xff, &self.data[offset..]) {
            let start = offset + distance;
            if self.data.get(start + 1) != Some(&0) {
                return start;
            }
            offset = start + 2;
        }
        self.data.len()
    }

    /// Returns whether `bits` has read past the end of the data.
    pub(super) fn is_past_end(&self, bits: BitReader) -> bool {
        self.end.is_some_and(|end| bits.position() > end * 8)
    }

    /// Returns the offset of the first byte that is not unstuffed yet, within the current interval or at its end.
    pub(super) fn next_offset(&self) -> usize {
        self.next
    }

    /// Returns the offset in the file of the byte that holds the next bit, and how many bits of that byte are consumed.
    pub(super) fn image_position(&self, bits: BitReader) -> (usize, u32) {
        let position = bits.position();
        let target = self.dropped + position / 8;
        let chunk = self.chunks.iter().rfind(|(unstuffed, _)| *unstuffed <= target).or(self.chunks.first());
        let Some(&(mut unstuffed, mut raw)) = chunk else { return (self.next, 0) };
        while let Some(distance) = self.data.get(raw..self.next).and_then(|bytes| memchr(0xff, bytes)) {
            if unstuffed + distance >= target {
                break;
            }
            (unstuffed, raw) = (unstuffed + distance + 1, raw + distance + 2);
        }
        ((raw + (target - unstuffed)).min(self.next), (position % 8) as u32)
    }

    fn fill_buffer(&mut self) -> Result<(), OutOfMemory> {
        let target_len = self.unstuffed.len() + CHUNK_LEN;
        memory::push(&mut self.chunks, (self.dropped + self.unstuffed.len(), self.next))?;
        // The loop below appends at most this many bytes: its last chunk may begin just before `target_len`, and a
        // stuffed byte or the margin may follow that chunk.
        memory::reserve(&mut self.unstuffed, 2 * CHUNK_LEN + MARGIN)?;
        while self.unstuffed.len() < target_len && self.end.is_none() {
            let rest = &self.data[self.next..];
            let chunk = &rest[..rest.len().min(CHUNK_LEN)];
            let plain = memchr(0xff, chunk).unwrap_or(chunk.len());
            self.unstuffed.extend_from_slice(&chunk[..plain]);
            self.next += plain;
            if plain < chunk.len() || plain == rest.len() {
                self.read_marker_or_stuffing();
            }
        }
        Ok(())
    }

    /// Handles a 0xff byte or the end of the data. A 0xff byte with a stuffed zero after it is data. A marker, or the
    /// end of the data, ends the interval.
    fn read_marker_or_stuffing(&mut self) {
        if let Some([_, 0, ..]) = self.data.get(self.next..) {
            self.unstuffed.push(0xff);
            self.next += 2;
            return;
        }
        let end = self.unstuffed.len();
        self.end = Some(end);
        self.unstuffed.resize(end + MARGIN, 0);
    }

    /// Returns the error for blocks that need more data than the interval has. It is `Unsupported` if fill bytes before
    /// a stuffed zero end the interval, because other decoders may read on.
    pub(super) fn truncated_fault(&self) -> ImageFault {
        let rest = &self.data[self.next..];
        let kind = match rest.iter().find(|&&byte| byte != 0xff) {
            Some(0) => ImageFaultKind::Unsupported,
            _ => ImageFaultKind::Truncated,
        };
        ImageFault::new(kind, self.next, "more entropy-coded data", "the end of the data")
    }

    /// Returns the error for `num_bytes` surplus bytes after the last block. A few are `Unsupported`, because other
    /// decoders may ignore them. More than eight indicate damage.
    fn trailing_bytes_fault(&self, num_bytes: usize) -> ImageFault {
        let kind = if num_bytes <= 8 { ImageFaultKind::Unsupported } else { ImageFaultKind::BadCode };
        ImageFault::new(
            kind,
            self.next - num_bytes.min(self.next),
            "a marker after the last block",
            format!("{num_bytes} more bytes"),
        )
    }
}

/// Reads bits from unstuffed bytes, most significant bit first; at least 56 bits are valid after each refill. The
/// reader is `Copy`, so that hot loops keep it in registers.
#[derive(Debug, Clone, Copy)]
pub(super) struct BitReader {
    /// The next bits, left-aligned.
    word: u64,
    /// Number of valid bits in `word`.
    count: u32,
    /// Index of the first byte that the next refill loads.
    next: usize,
}

impl BitReader {
    /// Creates a reader whose first bit is that of byte `next`.
    #[inline(always)]
    pub(super) fn new(next: usize) -> Self {
        Self { word: 0, count: 0, next }
    }

    /// Refills to at least 56 valid bits. `data` must have eight bytes from the next byte on.
    #[inline(always)]
    pub(super) fn refill(&mut self, data: &[u8]) {
        let bytes = data[self.next..].first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        self.word |= bytes >> self.count;
        self.next += ((63 - self.count) >> 3) as usize;
        self.count |= 56;
    }

    /// Returns the next 64 bits, left-aligned; only `count` of them are valid.
    #[inline(always)]
    pub(super) fn word(&self) -> u64 {
        self.word
    }

    /// Returns the next `count` bits, 1 to 32, without consuming them.
    #[inline(always)]
    pub(super) fn peek(&self, count: u32) -> u32 {
        (self.word >> (64 - count)) as u32
    }

    /// Consumes `count` bits, at most the number of valid bits.
    #[inline(always)]
    pub(super) fn skip(&mut self, count: u32) {
        self.word = self.word.wrapping_shl(count);
        self.count = self.count.wrapping_sub(count);
    }

    /// Consumes the next bit.
    #[inline(always)]
    pub(super) fn take_bit(&mut self) -> bool {
        let bit = self.word >> 63 != 0;
        self.skip(1);
        bit
    }

    /// Consumes the next `count` bits, 0 to 32, and returns them as an integer.
    #[inline(always)]
    pub(super) fn take(&mut self, count: u32) -> u32 {
        let value = (self.word >> 1 >> (63 - count)) as u32;
        self.skip(count);
        value
    }

    /// Returns the number of valid bits.
    #[inline(always)]
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the index of the first byte that the next refill loads.
    #[inline(always)]
    pub(super) fn next_byte(&self) -> usize {
        self.next
    }

    /// Returns the number of bits consumed since byte zero of the data.
    pub(super) fn position(&self) -> usize {
        self.next * 8 - self.count as usize
    }

    /// Returns a reader at the same position in data from which the first `bytes` bytes were removed.
    pub(super) fn minus_dropped_bytes(mut self, bytes: usize) -> Self {
        self.next -= bytes;
        self
    }
}

/// Extends the `size`-bit value `bits` that follows a code to a signed coefficient (T.81 F.2.2.1, table F.1): a value
/// that begins with a zero bit is negative.
#[inline(always)]
pub(super) fn extend_sign(bits: u32, size: u32) -> i32 {
    let value = bits as i32;
    let is_negative = (value - ((1 << size) >> 1)) >> 31;
    value + (is_negative & (1 - (1 << size)))
}

#[cfg(test)]
mod tests {
    use super::{BitReader, CHUNK_LEN, Stream, extend_sign};

    fn with_stuffing(unstuffed: &[u8]) -> Vec<u8> {
        unstuffed.iter().flat_map(|&byte| if byte == 0xff { vec![0xff, 0] } else { vec![byte] }).collect()
    }

    #[test]
    fn stream_yields_unstuffed_bytes_and_their_offsets() {
        let unstuffed: Vec<u8> =
            (0..3 * CHUNK_LEN as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 23) as u8).collect();
        let raw = [&with_stuffing(&unstuffed)[..], &[0xff, 0xd9]].concat();
        let mut stream = Stream::new(&raw, Vec::new());
        let mut bits = stream.start(0, 0).expect("enough memory");
        let mut stuffed_zeros = memchr::memchr_iter(0, &raw).filter(|&at| at > 0 && raw[at - 1] == 0xff).peekable();
        let mut raw_offset = 0;
        for &byte in &unstuffed {
            if bits.next_byte() > stream.limit() {
                let position = stream.image_position(bits);
                bits = stream.advance(bits).expect("there are more bytes");
                assert_eq!(stream.image_position(bits), position);
                assert!(!stream.is_past_end(bits));
            }
            if raw_offset % 977 == 0 {
                assert_eq!(stream.image_position(bits), (raw_offset, 0));
            }
            bits.refill(stream.bytes());
            assert_eq!(bits.take(8), u32::from(byte));
            raw_offset += 1;
            if stuffed_zeros.next_if_eq(&raw_offset).is_some() {
                raw_offset += 1;
            }
        }
        assert_eq!(stream.finish(bits), Ok(raw.len() - 2));
    }

    #[test]
    fn take_returns_bits_in_order_across_bytes() {
        let data: Vec<u8> = (0..64_u8).map(|byte| byte.wrapping_mul(37)).collect();
        let mut bits = BitReader::new(0);
        let mut position = 0;
        for count in (0..=24).chain(0..=7) {
            bits.refill(&data);
            let expected = (position..position + count as usize)
                .fold(0, |value, bit| value << 1 | u32::from(data[bit / 8] >> (7 - bit % 8) & 1));
            assert_eq!(bits.take(count), expected);
            position += count as usize;
            assert_eq!(bits.position(), position);
        }
    }

    #[test]
    fn extend_follows_table_f_1() {
        assert_eq!((extend_sign(0, 0), extend_sign(0, 1), extend_sign(1, 1)), (0, -1, 1));
        assert_eq!((0..4).map(|bits| extend_sign(bits, 2)).collect::<Vec<_>>(), [-3, -2, 2, 3]);
        assert_eq!((extend_sign(0, 15), extend_sign(0x7fff, 15)), (-32767, 32767));
    }
}
