//! The entropy-coded bytes of a scan: stuffing removed piece by piece, restart markers found (T.81 B.1.1.5, E.2.4).
use super::header::marker::{RST0, RST7};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use memchr::memchr;

/// Bytes that are unstuffed at a time: enough to keep calls rare, few enough to stay in the nearest cache.
const PIECE: usize = 24 << 10;
/// Bytes that stay readable behind any place where an MCU may begin. An MCU has at most ten blocks of 64 codes, each of 16 bits
/// and a value of 15 bits: 2,480 bytes.
const MARGIN: usize = 4096;

/// The bytes of one restart interval (or of a scan without restarts), clean of stuffing, as far as they were asked for.
pub(super) struct Stream<'a> {
    data: &'a [u8],
    /// Where the bytes go on that are not unstuffed yet; at the end of the interval, where its marker stands.
    next: usize,
    clean: Vec<u8>,
    /// Number of clean bytes, once the end of the interval is known; zeros follow them.
    end: Option<usize>,
    /// Where pieces begin: in all clean bytes since `start`, and in the image.
    pieces: Vec<(usize, usize)>,
    /// Clean bytes since `start` that were dropped.
    dropped: usize,
}

impl<'a> Stream<'a> {
    /// A stream of `data` that uses the memory of `scratch`.
    pub(super) fn new(data: &'a [u8], scratch: Vec<u8>) -> Self {
        Self { data, next: 0, clean: scratch, end: None, pieces: Vec::new(), dropped: 0 }
    }

    /// Gives the memory back.
    pub(super) fn into_scratch(self) -> Vec<u8> {
        self.clean
    }

    /// Drops all bytes at hand.
    pub(super) fn clear(&mut self) {
        self.clean.clear();
        self.pieces.clear();
        (self.next, self.end, self.dropped) = (0, None, 0);
    }

    /// Begins at byte `offset` of the image, `skipped` bits into it.
    pub(super) fn start(&mut self, offset: usize, skipped: u32) -> Bits {
        self.clear();
        self.next = offset;
        self.fill();
        let mut bits = Bits::new(0);
        bits.refill(&self.clean);
        bits.skip(skipped);
        bits
    }

    /// Goes on at byte `offset` of the image, `skipped` bits into it: within the bytes at hand if they hold it, or by a new start.
    pub(super) fn seek(&mut self, offset: usize, skipped: u32) -> Bits {
        let Some(clean) = self.clean_position(offset) else { return self.start(offset, skipped) };
        self.pieces.push((clean, offset));
        let mut bits = Bits::new(clean - self.dropped);
        bits.refill(&self.clean);
        bits.skip(skipped);
        bits
    }

    /// Where byte `offset` of the image stands among all clean bytes since `start`; none if it is not among those at hand.
    fn clean_position(&self, offset: usize) -> Option<usize> {
        let &(mut clean, mut raw) = self.pieces.iter().rfind(|(_, raw)| *raw <= offset)?;
        if offset >= self.next {
            return None;
        }
        while let Some(distance) = memchr(0xff, &self.data[raw..offset]) {
            (clean, raw) = (clean + distance + 1, raw + distance + 2);
            if raw > offset {
                return None;
            }
        }
        let position = clean + (offset - raw);
        (position >= self.dropped).then_some(position)
    }

    /// The clean bytes that `Bits` read from.
    #[inline(always)]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.clean
    }

    /// The last byte at which an MCU may be begun without asking for more by `advance`.
    #[inline(always)]
    pub(super) fn limit(&self) -> usize {
        self.end.map_or(self.clean.len().saturating_sub(MARGIN), |end| end + 8)
    }

    /// Makes room behind `bits`, which is beyond the limit; the same place is returned. The end of the data is a fault.
    #[cold]
    pub(super) fn advance(&mut self, bits: Bits) -> Result<Bits> {
        if self.end.is_some() {
            return Err(self.ends_early());
        }
        // Bytes of bits not consumed yet stay: an empty run takes none, so that the place is asked for without a refill.
        let used = bits.position() / 8;
        self.clean.copy_within(used.., 0);
        self.clean.truncate(self.clean.len() - used);
        self.dropped += used;
        self.fill();
        Ok(bits.moved(used))
    }

    /// Checks that `bits` stands behind the last block of an interval and gives the offset of the marker that follows.
    pub(super) fn finish(&mut self, mut bits: Bits) -> Result<usize> {
        if self.end.is_none() {
            bits = self.advance(bits)?;
        }
        let end = self.end.unwrap_or(self.clean.len());
        match (end * 8).checked_sub(bits.position()) {
            None => Err(self.ends_early()),
            Some(0..=7) => Ok(self.next),
            Some(left) => Err(self.ends_late(left / 8)),
        }
    }

    /// The offset behind the restart marker at `offset`, which must have number `number` modulo eight.
    pub(super) fn restart(&self, offset: usize, number: usize) -> Result<usize> {
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

    /// The offset behind the restart marker that ends interval `last`, searched from `offset` in interval `first`.
    pub(super) fn find_restart(&self, mut offset: usize, first: usize, last: usize) -> Result<usize> {
        for number in first..=last {
            offset = self.restart(self.find_marker(offset), number)?;
        }
        Ok(offset)
    }

    /// The offset of the next marker from `offset` on, or the end of the data.
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

    /// Whether `bits` stands behind the end of the data.
    pub(super) fn is_beyond(&self, bits: Bits) -> bool {
        self.end.is_some_and(|end| bits.position() > end * 8)
    }

    /// Where the bytes not unstuffed yet go on; within the current interval, or at its end.
    pub(super) fn raw_next(&self) -> usize {
        self.next
    }

    /// The byte of the image that holds the next bit, and how many of its bits are consumed.
    pub(super) fn raw_position(&self, bits: Bits) -> (usize, u32) {
        let position = bits.position();
        let target = self.dropped + position / 8;
        let piece = self.pieces.iter().rfind(|(clean, _)| *clean <= target).or(self.pieces.first());
        let Some(&(mut clean, mut raw)) = piece else { return (self.next, 0) };
        while let Some(distance) = self.data.get(raw..self.next).and_then(|bytes| memchr(0xff, bytes)) {
            if clean + distance >= target {
                break;
            }
            (clean, raw) = (clean + distance + 1, raw + distance + 2);
        }
        ((raw + (target - clean)).min(self.next), (position % 8) as u32)
    }

    fn fill(&mut self) {
        let wanted = self.clean.len() + PIECE;
        self.pieces.push((self.dropped + self.clean.len(), self.next));
        while self.clean.len() < wanted && self.end.is_none() {
            let rest = &self.data[self.next..];
            let piece = &rest[..rest.len().min(PIECE)];
            let plain = memchr(0xff, piece).unwrap_or(piece.len());
            self.clean.extend_from_slice(&piece[..plain]);
            self.next += plain;
            if plain < piece.len() || plain == rest.len() {
                self.pass_escape();
            }
        }
    }

    /// At 0xff: a stuffed zero makes it a byte of data; a marker, like the end of the data, ends the interval.
    fn pass_escape(&mut self) {
        if let Some([_, 0, ..]) = self.data.get(self.next..) {
            self.clean.push(0xff);
            self.next += 2;
            return;
        }
        let end = self.clean.len();
        self.end = Some(end);
        self.clean.resize(end + MARGIN, 0);
    }

    /// The fault of blocks that reach beyond the end of the data. Fill bytes in front of a stuffed zero are no end to other
    /// decoders, which do not agree on what they are.
    pub(super) fn ends_early(&self) -> ImageFault {
        let rest = &self.data[self.next..];
        let kind = match rest.iter().find(|&&byte| byte != 0xff) {
            Some(0) => ImageFaultKind::Unsupported,
            _ => ImageFaultKind::Truncated,
        };
        ImageFault::new(kind, self.next, "more entropy-coded data", "their end")
    }

    /// Whole bytes behind the last block. Few of them may go unnoticed by other decoders, many are damage.
    fn ends_late(&self, num_bytes: usize) -> ImageFault {
        let kind = if num_bytes <= 8 { ImageFaultKind::Unsupported } else { ImageFaultKind::BadCode };
        ImageFault::new(
            kind,
            self.next - num_bytes.min(self.next),
            "a marker behind the last block",
            format!("{num_bytes} more bytes"),
        )
    }
}

// A bit reader over bytes without stuffing: the most significant bit first, at least 56 bits after each refill.

/// A place in a bit stream. Copied into registers by the loops that read much.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bits {
    /// The next bits, left-aligned.
    word: u64,
    /// How many bits of `word` are valid.
    count: u32,
    /// The byte that the next refill begins with.
    next: usize,
}

impl Bits {
    /// Starts at byte `next`.
    #[inline(always)]
    pub(super) fn new(next: usize) -> Self {
        Self { word: 0, count: 0, next }
    }

    /// Tops up to 56 bits or more. `data` must have eight bytes from the next byte on.
    #[inline(always)]
    pub(super) fn refill(&mut self, data: &[u8]) {
        let bytes = data[self.next..].first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        self.word |= bytes >> self.count;
        self.next += ((63 - self.count) >> 3) as usize;
        self.count |= 56;
    }

    /// All valid bits, left-aligned.
    #[inline(always)]
    pub(super) fn word(&self) -> u64 {
        self.word
    }

    /// The next `count` bits, 1 to 32, as a number.
    #[inline(always)]
    pub(super) fn peek(&self, count: u32) -> u32 {
        (self.word >> (64 - count)) as u32
    }

    /// Steps over `count` bits, at most as many as are valid.
    #[inline(always)]
    pub(super) fn skip(&mut self, count: u32) {
        self.word = self.word.wrapping_shl(count);
        self.count = self.count.wrapping_sub(count);
    }

    /// Takes the next bit.
    #[inline(always)]
    pub(super) fn flag(&mut self) -> bool {
        let bit = self.word >> 63 != 0;
        self.skip(1);
        bit
    }

    /// Takes the next `count` bits, 0 to 32, as a number.
    #[inline(always)]
    pub(super) fn take(&mut self, count: u32) -> u32 {
        let value = (self.word >> 1 >> (63 - count)) as u32;
        self.skip(count);
        value
    }

    /// How many bits are valid.
    #[inline(always)]
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// The byte that the next refill begins with.
    #[inline(always)]
    pub(super) fn next_byte(&self) -> usize {
        self.next
    }

    /// Bits consumed since byte zero of the data.
    pub(super) fn position(&self) -> usize {
        self.next * 8 - self.count as usize
    }

    /// The same place after `bytes` leading bytes of the data were dropped.
    pub(super) fn moved(mut self, bytes: usize) -> Self {
        self.next -= bytes;
        self
    }
}

/// The value of `size` bits `bits` behind a code of that size (T.81 F.2.2.1, table F.1): numbers that begin with a zero bit are
/// negative.
#[inline(always)]
pub(super) fn extend(bits: u32, size: u32) -> i32 {
    let value = bits as i32;
    let is_negative = (value - ((1 << size) >> 1)) >> 31;
    value + (is_negative & (1 - (1 << size)))
}

#[cfg(test)]
mod tests {
    use super::{Bits, PIECE, Stream, extend};

    fn stuffed(clean: &[u8]) -> Vec<u8> {
        clean.iter().flat_map(|&byte| if byte == 0xff { vec![0xff, 0] } else { vec![byte] }).collect()
    }

    #[test]
    fn stream_when_read_to_its_end_then_gives_the_unstuffed_bytes_and_where_they_stood() {
        let clean: Vec<u8> = (0..3 * PIECE as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 23) as u8).collect();
        let raw = [&stuffed(&clean)[..], &[0xff, 0xd9]].concat();
        let mut stream = Stream::new(&raw, Vec::new());
        let mut bits = stream.start(0, 0);
        let mut places = memchr::memchr_iter(0, &raw).filter(|&at| at > 0 && raw[at - 1] == 0xff).peekable();
        let mut raw_place = 0;
        for &byte in &clean {
            if bits.next_byte() > stream.limit() {
                let place = stream.raw_position(bits);
                bits = stream.advance(bits).expect("there are more bytes");
                assert_eq!(stream.raw_position(bits), place);
                assert!(!stream.is_beyond(bits));
            }
            if raw_place % 977 == 0 {
                assert_eq!(stream.raw_position(bits), (raw_place, 0));
            }
            bits.refill(stream.bytes());
            assert_eq!(bits.take(8), u32::from(byte));
            raw_place += 1;
            if places.next_if_eq(&raw_place).is_some() {
                raw_place += 1;
            }
        }
        assert_eq!(stream.finish(bits), Ok(raw.len() - 2));
    }

    #[test]
    fn take_when_bits_cross_bytes_then_gives_them_in_order() {
        let data: Vec<u8> = (0..64_u8).map(|byte| byte.wrapping_mul(37)).collect();
        let mut bits = Bits::new(0);
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
    fn extend_when_every_pattern_then_follows_table_f_1() {
        assert_eq!((extend(0, 0), extend(0, 1), extend(1, 1)), (0, -1, 1));
        assert_eq!((0..4).map(|bits| extend(bits, 2)).collect::<Vec<_>>(), [-3, -2, 2, 3]);
        assert_eq!((extend(0, 15), extend(0x7fff, 15)), (-32767, 32767));
    }
}
