//! The usual form of entries and frames: one-byte lengths, key then value, one packed list or one byte string.
//!
//! Whatever looks different is left to the general reader.
use super::column_builder::ColumnBuilder;
use super::message::{Dialect, TENSORFLOW};
use super::parser::Columns;
use super::wire::{Reader, Wire};
use super::{Layout, ValueKind, Values, varint};

/// Lengths from here on take more than one byte.
const LONG: usize = 0x80;
/// Bytes from the length of a feature to its data: that length, tag and length of the list, tag and length of field 1.
const VALUE_HEAD: usize = 5;
/// Bytes from the tag of a frame to its data.
const FRAME_HEAD: usize = 6;

/// The start of a feature that is one list with one field 1 of `len` bytes, as a word: lengths count what follows.
#[inline]
const fn value_head(tag: u8, len: u64) -> u64 {
    0x00_0a_02_00_04 + ((tag as u64) << 8) + len * 0x01_00_01_00_01
}

/// Length of the data of a feature that begins with its own length at `start`, if it has the usual form.
#[inline]
fn data_len(buf: &[u8], start: usize, tag: u8) -> Option<usize> {
    let word = varint::load(buf, start) & 0xff_ffff_ffff;
    let len = word >> 32;
    (word == value_head(tag, len)).then_some(len as usize)
}

/// Takes the entry at `reader` into its column if it has the usual form.
#[inline]
pub fn take_entry(columns: &mut Columns, dialect: &Dialect, reader: &mut Reader) -> Wire<bool> {
    let Some(place) = columns.key_cache.find(reader.rest(), dialect, columns.plan) else { return Ok(false) };
    let Some(data) = entry_data(reader, place.len, place.tag) else { return Ok(false) };
    let end = data.buf.len();
    let taken = match place.slot {
        None => check_data(dialect, place.tag, reader.buf, data)?,
        Some(slot) => {
            let slot = &mut columns.slots[slot];
            if slot.stamp == columns.stamp {
                return Ok(false);
            }
            let Some(count) = take_data(&mut slot.values, reader.buf, data)? else { return Ok(false) };
            slot.stamp = columns.stamp;
            slot.kind = Some(slot.want);
            columns.num_regular += usize::from(slot.layout == Layout::Fixed(count));
            true
        }
    };
    if taken {
        reader.pos = end;
    }
    Ok(taken)
}

/// The data of the entry at `reader`, whose feature begins `start` bytes on, if all lengths fit one another.
#[inline]
fn entry_data<'a>(reader: &Reader<'a>, start: usize, tag: u8) -> Option<Reader<'a>> {
    let entry_len = usize::from(*reader.buf.get(reader.pos + 1)?);
    let len = data_len(reader.buf, reader.pos + start, tag)?;
    let data = reader.pos + start + VALUE_HEAD;
    if entry_len >= LONG || entry_len + 2 != start + VALUE_HEAD + len || data + len > reader.buf.len() {
        return None;
    }
    Some(reader.within(data, data + len))
}

/// Validates the entry at `reader` if it has the usual form.
#[inline]
pub fn check_entry(dialect: &Dialect, reader: &mut Reader) -> Wire<bool> {
    let [0x0a, _, 0x0a, len, rest @ ..] = reader.rest() else { return Ok(false) };
    let len = usize::from(*len);
    let Some((key, [0x12, _, tag, ..])) = rest.split_at_checked(len) else { return Ok(false) };
    let Some(data) = entry_data(reader, len + 5, *tag) else { return Ok(false) };
    let sound = !dialect.utf8_keys || std::str::from_utf8(key).is_ok();
    let taken = sound && check_data(dialect, *tag, reader.buf, data)?;
    if taken {
        reader.pos = data.buf.len();
    }
    Ok(taken)
}

/// Validates `data`, a part of `buf`; false where they have another form.
#[inline]
fn check_data(dialect: &Dialect, tag: u8, buf: &[u8], data: Reader) -> Wire<bool> {
    let len = data.buf.len() - data.pos;
    Ok(match dialect.kind(u32::from(tag)) {
        Some(ValueKind::Bytes) => true,
        Some(ValueKind::Float32) => len.is_multiple_of(4),
        Some(ValueKind::Float64) => len.is_multiple_of(8),
        Some(_) => varint::single(buf, data.pos, len).is_some() || varint::count(data).map(|_| true)?,
        None => false,
    })
}

/// Appends the values in `data`, a part of `buf`, and counts them; `None` where they have another form.
#[inline(always)]
fn take_data(values: &mut Values, buf: &[u8], data: Reader) -> Wire<Option<usize>> {
    let len = data.buf.len() - data.pos;
    match values {
        Values::Float32(values) if len == 4 => values.push(f32::from_bits(varint::load(buf, data.pos) as u32)),
        Values::Int64(values) => match varint::single(buf, data.pos, len) {
            Some(value) => values.push(value as i64),
            None => return take_varints(values, data, |value| value as i64),
        },
        Values::Int32(values) => match varint::single(buf, data.pos, len) {
            Some(value) => values.push(value as i32),
            None => return take_varints(values, data, |value| value as i32),
        },
        _ => return Ok(take_others(values, data.rest())),
    }
    Ok(Some(1))
}

#[inline(never)]
fn take_others(values: &mut Values, data: &[u8]) -> Option<usize> {
    let width = match values {
        Values::Bytes { .. } => {
            values.push_bytes(data);
            return Some(1);
        }
        Values::Float32(_) => 4,
        Values::Float64(_) => 8,
        Values::Int32(_) | Values::Int64(_) | Values::UInt64(_) => return None,
    };
    if !data.len().is_multiple_of(width) {
        return None;
    }
    values.extend_fixed(data);
    Some(data.len() / width)
}

#[inline(never)]
fn take_varints<T>(values: &mut Vec<T>, data: Reader, cast: impl Fn(u64) -> T) -> Wire<Option<usize>> {
    let before = values.len();
    varint::decode(data, values, cast)?;
    Ok(Some(values.len() - before))
}

/// The data of the frame at `reader`, if it is one list with `tag`.
#[inline]
fn frame_data<'a>(reader: &Reader<'a>, tag: u8) -> Option<Reader<'a>> {
    let len = data_len(reader.buf, reader.pos + 1, tag)?;
    let start = reader.pos + FRAME_HEAD;
    if len + VALUE_HEAD > LONG || reader.buf[reader.pos] != 0x0a || start + len > reader.buf.len() {
        return None;
    }
    Some(reader.within(start, start + len))
}

/// Takes the frames at `reader` as long as each is one list of the wanted kind with one field 1.
#[inline]
pub fn take_frames(slot: &mut ColumnBuilder, reader: &mut Reader) -> Wire<()> {
    if let (Values::Int64(values), Layout::Fixed(1)) = (&mut slot.values, slot.layout) {
        let count = take_numbers(values, slot.tag, reader);
        slot.count_frames(count);
    }
    while let Some(data) = frame_data(reader, slot.tag) {
        slot.begin_frame();
        let Some(count) = take_data(&mut slot.values, reader.buf, data)? else { break };
        slot.kind = Some(slot.want);
        if slot.layout == Layout::Ragged || slot.layout == Layout::Fixed(count) {
            slot.count_frames(1);
        } else {
            slot.end_frame();
        }
        reader.pos = data.buf.len();
    }
    Ok(())
}

/// Takes frames of one integer each, as long as the words that hold them lie within the message; returns their number.
#[inline]
fn take_numbers(values: &mut Vec<i64>, tag: u8, reader: &mut Reader) -> usize {
    let (before, mut rest) = (values.len(), reader.rest());
    let mut words = [(0, 0); 64];
    loop {
        let (mut count, mut behind) = find_numbers(rest, tag, &mut words);
        if !varint::fill_words(&words[..count]) {
            let sound = words[..count].iter().take_while(|word| varint::fill_words(&[**word])).count();
            (count, behind) = find_numbers(rest, tag, &mut words[..sound]);
        }
        values.extend(words[..count].iter().map(|(word, inside)| varint::join_groups(word & inside) as i64));
        rest = behind;
        if count < words.len() {
            reader.pos = reader.buf.len() - rest.len();
            return values.len() - before;
        }
    }
}

/// The bytes of a frame's integer, at least, and which of their bits are the integer's.
type Word = (u64, u64);

/// Finds as many frames with up to eight bytes for an integer as `buf` begins with, and what is behind them.
///
/// Where a frame begins depends on the one before, so nothing else is done here: all that can be done for several
/// integers at a time is left for later.
#[inline(always)]
fn find_numbers<'a>(buf: &'a [u8], tag: u8, words: &mut [Word]) -> (usize, &'a [u8]) {
    let (mut rest, mut count) = (buf, 0);
    for word in words {
        let Some(bytes) = rest.first_chunk::<{ FRAME_HEAD + 8 }>() else { break };
        let len = usize::from(bytes[FRAME_HEAD - 1]);
        let Some((head, inside)) = NUMBER_FRAMES.get(len) else { break };
        if (varint::load(bytes, 0) ^ head) << 16 != u64::from(tag) << 32 {
            break;
        }
        *word = (varint::load(bytes, FRAME_HEAD), *inside);
        rest = &rest[FRAME_HEAD + len..];
        count += 1;
    }
    (count, rest)
}

/// For each number of bytes of an integer: the head of its frame with 0 for the tag, and the integer's bits in a word.
const NUMBER_FRAMES: [(u64, u64); 9] = {
    let mut frames = [(u64::MAX, 0); 9];
    let mut len = 1;
    while len < frames.len() {
        frames[len] = (value_head(0, len as u64) << 8 | 0x0a, u64::MAX >> (64 - 8 * len));
        len += 1;
    }
    frames
};

/// Validates the frames at `reader` as long as each is one list with one field 1.
pub fn check_frames(reader: &mut Reader) -> Wire<()> {
    while let Some(&tag) = reader.buf.get(reader.pos + 2) {
        let Some(data) = frame_data(reader, tag) else { break };
        if !check_data(&TENSORFLOW, tag, reader.buf, data)? {
            break;
        }
        reader.pos = data.buf.len();
    }
    Ok(())
}
