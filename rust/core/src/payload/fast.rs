//! The usual form of entries and frames: one-byte lengths, key then value, one packed list or one byte string.
//!
//! Writers put the same keys at the same places record after record, so the key that stood at a place last time is
//! compared first. Whatever looks different is left to the general reader.
use super::message::Dialect;
use super::parser::Columns;
use super::slot::Slot;
use super::wire::{Reader, Wire};
use super::{Layout, Section, ValueKind, Values};

/// Places that are remembered.
const MAX_PLACES: usize = 4096;

/// Which key stood at each place of earlier records, and which slot it has.
pub struct Memory {
    dialect: Option<&'static Dialect>,
    place: usize,
    places: Vec<Place>,
}

#[derive(Clone, Default)]
struct Place {
    /// The entry up to the value's length: tag and length of the key, the key, tag of the value. Empty if not known.
    prefix: Vec<u8>,
    slot: Option<usize>,
}

impl Place {
    #[inline]
    fn fits(&self, entry: &[u8]) -> bool {
        !self.prefix.is_empty() && entry.starts_with(&self.prefix)
    }
}

impl Memory {
    /// Nothing is known yet.
    pub fn new(dialect: Option<&'static Dialect>) -> Self {
        Self { dialect, place: 0, places: Vec::new() }
    }

    /// Goes to the first place again.
    pub fn rewind(&mut self) {
        self.place = 0;
    }
}

/// Takes the entry at `reader` if it has the usual form.
#[inline]
pub fn take_entry(columns: &mut Columns, reader: &mut Reader) -> Wire<bool> {
    let Some(entry) = short_entry(reader.rest()) else { return Ok(false) };
    let place = columns.memory.place;
    columns.memory.place += 1;
    let known = columns.memory.places.get(place).is_some_and(|known| known.fits(entry));
    if !known && !learn(columns, place, entry) {
        return Ok(false);
    }
    let Place { prefix, slot } = &columns.memory.places[place];
    let Some((tag, len)) = single_list(&entry[prefix.len()..]) else { return Ok(false) };
    let end = reader.pos + 2 + entry.len();
    let data = reader.within(end - len, end);
    let taken = match *slot {
        None => skip_data(columns.memory.dialect, tag, data)?,
        Some(slot) => {
            let slot = &mut columns.slots[slot];
            if slot.tag != tag || slot.stamp == columns.stamp {
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

/// The inside of the map entry at the start of `rest`, if its length is one byte.
#[inline]
fn short_entry(rest: &[u8]) -> Option<&[u8]> {
    match rest {
        [0x0a, len, rest @ ..] if *len < 0x80 => rest.get(..usize::from(*len)),
        _ => None,
    }
}

/// Looks up the key of `entry` and remembers it for `place`; false where the entry has another form.
#[cold]
fn learn(columns: &mut Columns, place: usize, entry: &[u8]) -> bool {
    let [0x0a, len, rest @ ..] = entry else { return false };
    let len = usize::from(*len);
    if place >= MAX_PLACES || rest.get(len) != Some(&0x12) {
        return false;
    }
    let key = &rest[..len];
    let memory = &mut columns.memory;
    if memory.dialect.is_none_or(|dialect| dialect.utf8_keys) && std::str::from_utf8(key).is_err() {
        return false;
    }
    if place >= memory.places.len() {
        memory.places.resize(place + 1, Place::default());
    }
    let known = &mut memory.places[place];
    known.prefix.clear();
    known.prefix.extend_from_slice(&entry[..len + 3]);
    known.slot = columns.plan.find(Section::Context, key);
    true
}

/// Tag of the list and length of its data, if `value` (from its length on) is one list with one field 1.
#[inline]
fn single_list(value: &[u8]) -> Option<(u8, usize)> {
    match value {
        [value_len, tag, list_len, 0x0a, len, data @ ..]
            if usize::from(*len) == data.len() && *list_len == len + 2 && *value_len == len + 4 =>
        {
            Some((*tag, data.len()))
        }
        _ => None,
    }
}

/// Validates data that nobody asked for; false where they have another form.
fn skip_data(dialect: Option<&Dialect>, tag: u8, data: Reader) -> Wire<bool> {
    let kind = dialect.and_then(|dialect| dialect.kind(u32::from(tag)));
    Ok(match kind {
        Some(ValueKind::Bytes) => true,
        Some(ValueKind::Float32) => data.rest().len().is_multiple_of(4),
        Some(ValueKind::Float64) => data.rest().len().is_multiple_of(8),
        Some(_) => data.count_varints().map(|_| true)?,
        None => false,
    })
}

/// Appends the values in `data`, a part of `buf`, and counts them; `None` where they have another form.
#[inline]
fn take_data(values: &mut Values, buf: &[u8], data: Reader) -> Wire<Option<usize>> {
    match values {
        Values::Float32(values) => return Ok(take_floats(values, data.rest())),
        Values::Int64(values) => match single_varint(buf, data.pos, data.buf.len()) {
            Some(value) => values.push(value as i64),
            None => return take_varints(values, data, |value| value as i64),
        },
        Values::Int32(values) => match single_varint(buf, data.pos, data.buf.len()) {
            Some(value) => values.push(value as i32),
            None => return take_varints(values, data, |value| value as i32),
        },
        Values::Bytes { .. } => values.push_bytes(data.rest()),
        Values::Float64(_) if data.rest().len().is_multiple_of(8) => {
            values.extend_fixed(data.rest());
            return Ok(Some(data.rest().len() / 8));
        }
        Values::Float64(_) | Values::UInt64(_) => return Ok(None),
    }
    Ok(Some(1))
}

#[inline]
fn take_floats(values: &mut Vec<f32>, data: &[u8]) -> Option<usize> {
    if let Ok(bytes) = <[u8; 4]>::try_from(data) {
        values.push(f32::from_le_bytes(bytes));
        return Some(1);
    }
    let (chunks, []) = data.as_chunks::<4>() else { return None };
    values.extend(chunks.iter().map(|bytes| f32::from_le_bytes(*bytes)));
    Some(chunks.len())
}

fn take_varints<T>(values: &mut Vec<T>, data: Reader, cast: impl Fn(u64) -> T) -> Wire<Option<usize>> {
    let before = values.len();
    data.varints_into(values, cast)?;
    Ok(Some(values.len() - before))
}

/// The one varint that fills `buf[start..end]`, without a branch per byte; `None` where it takes more than eight
/// bytes, lies within eight bytes of the end of `buf`, or the range holds anything else.
#[inline]
fn single_varint(buf: &[u8], start: usize, end: usize) -> Option<u64> {
    const CONTINUE: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(*buf.get(start..)?.first_chunk::<8>()?);
    let len = end - start;
    if len == 0 || len > 8 {
        return None;
    }
    let inside = u64::MAX >> (64 - 8 * len);
    if word & CONTINUE & inside != CONTINUE & (inside >> 8) {
        return None;
    }
    let word = word & inside & !CONTINUE;
    let word = (word & 0x007f_007f_007f_007f) | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let word = (word & 0x0000_3fff_0000_3fff) | (word & 0x3fff_0000_3fff_0000) >> 2;
    Some((word & 0x0000_0000_0fff_ffff) | (word & 0x0fff_ffff_0000_0000) >> 4)
}

/// Takes the frames at `reader` as long as each is one list of the wanted kind with one field 1.
#[inline]
pub fn take_frames(slot: &mut Slot, reader: &mut Reader) -> Wire<()> {
    while let [0x0a, frame_len, tag, list_len, 0x0a, len, rest @ ..] = reader.rest() {
        if *len >= 0x7c || *list_len != len + 2 || *frame_len != len + 4 || *tag != slot.tag {
            break;
        }
        let len = usize::from(*len);
        if rest.len() < len {
            break;
        }
        let start = reader.pos + 6;
        let data = reader.within(start, start + len);
        slot.begin_frame();
        let Some(count) = take_data(&mut slot.values, reader.buf, data)? else { break };
        slot.kind = Some(slot.want);
        if slot.layout == Layout::Ragged || slot.layout == Layout::Fixed(count) {
            slot.close_frame();
        } else {
            slot.end_frame();
        }
        reader.pos = start + len;
    }
    Ok(())
}
