//! Fast path for the common encoding of entries and frames: one-byte lengths, the key before the value, and one packed
//! list or one byte string.
//!
//! The functions report any other encoding to the caller, which then uses the general code in [`super::message`].
use super::column_builder::ColumnBuilder;
use super::message::{MessageDialect, TENSORFLOW};
use super::parser::ColumnBuilders;
use super::wire::{ParseResult, WireReader, WireResult};
use super::{ValueCount, ValueKind, Values, varint};
use crate::memory::{self, OutOfMemory};

/// Smallest length whose varint takes more than one byte.
const MIN_TWO_BYTE_LEN: usize = 0x80;
/// Number of bytes of a feature before its data: its own length, then tag and length of its list, then tag and length
/// of field 1 of the list.
const FEATURE_HEADER_LEN: usize = 5;
/// Number of bytes of a frame before its data: its tag and the header of its feature.
const FRAME_HEADER_LEN: usize = 6;

/// Returns the header of a feature with one list, as a little-endian word. `tag` is the tag of the list, and `len` is
/// the number of bytes in its only field 1.
#[inline]
const fn feature_header(tag: u8, len: u64) -> u64 {
    0x00_0a_02_00_04 + ((tag as u64) << 8) + len * 0x01_00_01_00_01
}

/// Returns the data length of the feature whose header is at `start`; None if the feature is not in the common
/// encoding.
#[inline]
fn feature_data_len(buf: &[u8], start: usize, tag: u8) -> Option<usize> {
    let word = varint::load_word(buf, start) & 0xff_ffff_ffff;
    let len = word >> 32;
    (word == feature_header(tag, len)).then_some(len as usize)
}

/// Parses the map entry at `reader` into its column. Returns false if the general code must parse it.
#[inline]
pub fn parse_entry(
    columns: &mut ColumnBuilders,
    dialect: &MessageDialect,
    reader: &mut WireReader,
) -> ParseResult<bool> {
    let Some(key) = columns.key_cache.find_key(reader.rest(), dialect, columns.plan) else { return Ok(false) };
    let Some(data) = find_entry_data(reader, key.len, key.tag) else { return Ok(false) };
    let end = data.buf.len();
    let is_parsed = match key.slot {
        None => validate_feature_data(dialect, key.tag, reader.buf, data)?,
        Some(slot) => {
            let slot = &mut columns.slots[slot];
            if slot.last_record == columns.record {
                return Ok(false);
            }
            let Some(count) = push_feature_data(&mut slot.values, reader.buf, data)? else { return Ok(false) };
            slot.last_record = columns.record;
            slot.kind = Some(slot.requested_kind);
            columns.num_regular += usize::from(slot.value_count == ValueCount::Fixed(count));
            true
        }
    };
    if is_parsed {
        reader.pos = end;
    }
    Ok(is_parsed)
}

/// Returns the data of the feature in the map entry at `reader`; None if lengths are inconsistent. `start` is the
/// number of bytes of the entry before the feature.
#[inline]
fn find_entry_data<'a>(reader: &WireReader<'a>, start: usize, tag: u8) -> Option<WireReader<'a>> {
    let entry_len = usize::from(*reader.buf.get(reader.pos + 1)?);
    let len = feature_data_len(reader.buf, reader.pos + start, tag)?;
    let data = reader.pos + start + FEATURE_HEADER_LEN;
    let is_consistent = entry_len < MIN_TWO_BYTE_LEN
        && entry_len + 2 == start + FEATURE_HEADER_LEN + len
        && data + len <= reader.buf.len();
    is_consistent.then(|| reader.subreader(data, data + len))
}

/// Validates the map entry at `reader`. Returns false if the general code must validate it or report its fault.
#[inline]
pub fn validate_entry(dialect: &MessageDialect, reader: &mut WireReader) -> WireResult<bool> {
    let [0x0a, _, 0x0a, len, rest @ ..] = reader.rest() else { return Ok(false) };
    let len = usize::from(*len);
    let Some((key, [0x12, _, tag, ..])) = rest.split_at_checked(len) else { return Ok(false) };
    let Some(data) = find_entry_data(reader, len + 5, *tag) else { return Ok(false) };
    let is_valid_key = !dialect.utf8_keys || std::str::from_utf8(key).is_ok();
    let is_valid = is_valid_key && validate_feature_data(dialect, *tag, reader.buf, data)?;
    if is_valid {
        reader.pos = data.buf.len();
    }
    Ok(is_valid)
}

/// Validates the values of a feature. `data` is the part of `buf` that holds them. Returns false if its length does not
/// fit the kind of the values, or if `tag` is unknown.
#[inline]
fn validate_feature_data(dialect: &MessageDialect, tag: u8, buf: &[u8], data: WireReader) -> WireResult<bool> {
    let len = data.buf.len() - data.pos;
    Ok(match dialect.list_kind(u32::from(tag)) {
        Some(ValueKind::Bytes) => true,
        Some(ValueKind::Float32) => len.is_multiple_of(4),
        Some(ValueKind::Float64) => len.is_multiple_of(8),
        Some(_) => {
            varint::decode_single_varint(buf, data.pos, len).is_some() || varint::count_varints(data).map(|_| true)?
        }
        None => false,
    })
}

/// Appends the values in `data`, a part of `buf`, and returns their number; None if the general code must parse them.
#[inline(always)]
fn push_feature_data(values: &mut Values, buf: &[u8], data: WireReader) -> ParseResult<Option<usize>> {
    let len = data.buf.len() - data.pos;
    match values {
        Values::Float32(values) if len == 4 => {
            memory::push(values, f32::from_bits(varint::load_word(buf, data.pos) as u32))?;
        }
        Values::Int64(values) => match varint::decode_single_varint(buf, data.pos, len) {
            Some(value) => memory::push(values, value as i64)?,
            None => return push_varints(values, data, |value| value as i64),
        },
        Values::Int32(values) => match varint::decode_single_varint(buf, data.pos, len) {
            Some(value) => memory::push(values, value as i32)?,
            None => return push_varints(values, data, |value| value as i32),
        },
        _ => return Ok(push_fixed_or_bytes(values, data.rest())?),
    }
    Ok(Some(1))
}

#[inline(never)]
fn push_fixed_or_bytes(values: &mut Values, data: &[u8]) -> Result<Option<usize>, OutOfMemory> {
    let width = match values {
        Values::Bytes { .. } => {
            values.push_bytes(data)?;
            return Ok(Some(1));
        }
        Values::Float32(_) => 4,
        Values::Float64(_) => 8,
        Values::Int32(_) | Values::Int64(_) | Values::UInt64(_) => return Ok(None),
    };
    if !data.len().is_multiple_of(width) {
        return Ok(None);
    }
    values.extend_fixed(data)?;
    Ok(Some(data.len() / width))
}

#[inline(never)]
fn push_varints<T>(values: &mut Vec<T>, data: WireReader, cast: impl Fn(u64) -> T) -> ParseResult<Option<usize>> {
    let before = values.len();
    varint::decode_varints(data, values, cast)?;
    Ok(Some(values.len() - before))
}

/// Returns the data of the frame at `reader`; None unless the frame is one list with `tag`, in the common encoding.
#[inline]
fn find_frame_data<'a>(reader: &WireReader<'a>, tag: u8) -> Option<WireReader<'a>> {
    let len = feature_data_len(reader.buf, reader.pos + 1, tag)?;
    let start = reader.pos + FRAME_HEADER_LEN;
    let is_consistent = len + FEATURE_HEADER_LEN <= MIN_TWO_BYTE_LEN
        && reader.buf[reader.pos] == 0x0a
        && start + len <= reader.buf.len();
    is_consistent.then(|| reader.subreader(start, start + len))
}

/// Parses the frames at `reader`, up to the first one that is not one packed list of the requested kind.
#[inline]
pub fn parse_frames(slot: &mut ColumnBuilder, reader: &mut WireReader) -> ParseResult<()> {
    if let (Values::Int64(values), ValueCount::Fixed(1)) = (&mut slot.values, slot.value_count) {
        let count = parse_int64_frames(values, slot.tag, reader)?;
        slot.add_frames(count)?;
    }
    while let Some(data) = find_frame_data(reader, slot.tag) {
        slot.begin_frame();
        let Some(count) = push_feature_data(&mut slot.values, reader.buf, data)? else { break };
        slot.kind = Some(slot.requested_kind);
        if slot.value_count == ValueCount::Ragged || slot.value_count == ValueCount::Fixed(count) {
            slot.add_frames(1)?;
        } else {
            slot.end_frame()?;
        }
        reader.pos = data.buf.len();
    }
    Ok(())
}

/// Number of frames of one integer each that are parsed together.
const MAX_INT64_FRAMES: usize = 64;

/// Parses frames of one integer each, [`MAX_INT64_FRAMES`] at a time, and returns their number.
///
/// Stops at the first frame that is not in the common encoding. Also stops near the end of the message, where a load of
/// eight bytes would extend beyond the end.
#[inline]
fn parse_int64_frames(values: &mut Vec<i64>, tag: u8, reader: &mut WireReader) -> Result<usize, OutOfMemory> {
    let (before, mut rest) = (values.len(), reader.rest());
    let mut words = [(0, 0); MAX_INT64_FRAMES];
    loop {
        let (mut count, mut tail) = find_int64_frames(rest, tag, &mut words);
        if !varint::are_single_varints(&words[..count]) {
            let num_valid = words[..count].iter().take_while(|word| varint::are_single_varints(&[**word])).count();
            (count, tail) = find_int64_frames(rest, tag, &mut words[..num_valid]);
        }
        let words = words[..count].iter();
        memory::extend(values, words.map(|(word, mask)| varint::join_7bit_groups(word & mask) as i64))?;
        rest = tail;
        if count < MAX_INT64_FRAMES {
            reader.pos = reader.buf.len() - rest.len();
            return Ok(values.len() - before);
        }
    }
}

/// A word of eight bytes that begins with a varint, and a mask that selects the bits of the varint.
type MaskedWord = (u64, u64);

/// Finds the leading frames that hold one integer of up to eight bytes each. Returns their number and the bytes after
/// them.
///
/// The start of a frame depends on the frame before it, so this loop is sequential and does as little as possible. The
/// integers are decoded afterwards, several at a time.
#[inline(always)]
fn find_int64_frames<'a>(buf: &'a [u8], tag: u8, words: &mut [MaskedWord]) -> (usize, &'a [u8]) {
    let (mut rest, mut count) = (buf, 0);
    for word in words {
        let Some(bytes) = rest.first_chunk::<{ FRAME_HEADER_LEN + 8 }>() else { break };
        let len = usize::from(bytes[FRAME_HEADER_LEN - 1]);
        let Some((header, mask)) = INT64_FRAMES.get(len) else { break };
        if (varint::load_word(bytes, 0) ^ header) << 16 != u64::from(tag) << 32 {
            break;
        }
        *word = (varint::load_word(bytes, FRAME_HEADER_LEN), *mask);
        rest = &rest[FRAME_HEADER_LEN + len..];
        count += 1;
    }
    (count, rest)
}

/// For each length of an integer: the header of its frame with 0 as the tag, and the mask of the integer's bits.
const INT64_FRAMES: [(u64, u64); 9] = {
    let mut frames = [(u64::MAX, 0); 9];
    let mut len = 1;
    while len < frames.len() {
        frames[len] = (feature_header(0, len as u64) << 8 | 0x0a, u64::MAX >> (64 - 8 * len));
        len += 1;
    }
    frames
};

/// Validates the frames at `reader`, up to the first one that is not in the common encoding.
pub fn validate_frames(reader: &mut WireReader) -> WireResult<()> {
    while let Some(&tag) = reader.buf.get(reader.pos + 2) {
        let Some(data) = find_frame_data(reader, tag) else { break };
        if !validate_feature_data(&TENSORFLOW, tag, reader.buf, data)? {
            break;
        }
        reader.pos = data.buf.len();
    }
    Ok(())
}
