//! The three protobuf messages, read as protobuf reads them: which fields they have and how repeated ones merge.
use super::fast;
use super::wire::{Broken, FIXED32_1, FIXED64_1, LEN_1, LEN_2, Reader, VARINT_1, Wire};
use super::{PayloadKind, Section, ValueKind, varint};

/// In what the messages of the two frameworks differ.
#[derive(Debug)]
pub struct Dialect {
    /// The kinds of `Feature`'s fields 1, 2, …
    pub kinds: &'static [ValueKind],
    /// Whether a key that is not UTF-8 makes the message unsound.
    pub utf8_keys: bool,
    /// Whether an entry with an unknown field is left out, as today's protobuf does; OneFlow's keeps it.
    pub drops_odd_entries: bool,
}

/// `tf.train.Example` and `SequenceExample` (proto3).
pub const TENSORFLOW: Dialect = Dialect {
    kinds: &[ValueKind::Bytes, ValueKind::Float32, ValueKind::Int64],
    utf8_keys: true,
    drops_odd_entries: true,
};

/// `OFRecord` (proto2).
pub const ONEFLOW: Dialect = Dialect {
    kinds: &[ValueKind::Bytes, ValueKind::Float32, ValueKind::Float64, ValueKind::Int32, ValueKind::Int64],
    utf8_keys: false,
    drops_odd_entries: false,
};

impl Dialect {
    /// The messages' dialect; the image record header is no message.
    pub fn of(kind: PayloadKind) -> Option<&'static Self> {
        match kind {
            PayloadKind::Example | PayloadKind::SequenceExample => Some(&TENSORFLOW),
            PayloadKind::OfRecord => Some(&ONEFLOW),
            PayloadKind::IrHeader => None,
        }
    }

    /// The tag of the list of `kind` in a feature.
    pub fn tag(&self, kind: ValueKind) -> Option<u8> {
        self.kinds.iter().position(|&known| known == kind).map(|i| (i as u8 + 1) << 3 | 2)
    }

    /// The kind of the list with `tag`.
    #[inline]
    pub fn kind(&self, tag: u32) -> Option<ValueKind> {
        if tag & 7 == 2 { self.kinds.get(((tag >> 3) as usize).wrapping_sub(1)).copied() } else { None }
    }
}

/// Takes the features of one record. Slots are the sink's own numbering of features.
///
/// Per entry: `find`, and if it names a slot, `begin`; then for a feature `select` and values, as often as the message
/// says; in a feature list every feature stands between `begin_frame` and `end_frame`.
pub trait Sink {
    /// The slot for the feature `key`, or `None` where its values are only to be validated.
    fn find(&mut self, section: Section, key: &[u8]) -> Option<usize>;

    /// An entry begins; it replaces whatever an earlier entry of this record brought for `slot`.
    fn begin(&mut self, slot: usize);

    /// A list of `kind` begins; values of another kind in the same feature are void.
    fn select(&mut self, slot: usize, kind: ValueKind);

    /// One byte string.
    fn bytes(&mut self, slot: usize, value: &[u8]);

    /// Little-endian values of four or eight bytes.
    fn fixed(&mut self, slot: usize, chunk: &[u8]);

    /// Varints to the end of `chunk`.
    fn varints(&mut self, slot: usize, chunk: Reader) -> Wire<()>;

    /// A frame begins.
    fn begin_frame(&mut self, slot: usize);

    /// A frame ends.
    fn end_frame(&mut self, slot: usize);

    /// Takes one whole entry of the context if it has the usual form; otherwise leaves `reader` where it was.
    #[inline]
    fn take_entry(&mut self, _dialect: &Dialect, _reader: &mut Reader) -> Wire<bool> {
        Ok(false)
    }

    /// Takes frames as long as they have the usual form.
    #[inline]
    fn take_frames(&mut self, _slot: usize, _reader: &mut Reader) -> Wire<()> {
        Ok(())
    }
}

/// Wants nothing: everything is validated only.
pub struct Discard;

impl Sink for Discard {
    fn find(&mut self, _section: Section, _key: &[u8]) -> Option<usize> {
        None
    }

    fn begin(&mut self, _slot: usize) {}

    fn select(&mut self, _slot: usize, _kind: ValueKind) {}

    fn bytes(&mut self, _slot: usize, _value: &[u8]) {}

    fn fixed(&mut self, _slot: usize, _chunk: &[u8]) {}

    fn varints(&mut self, _slot: usize, chunk: Reader) -> Wire<()> {
        varint::count(chunk).map(drop)
    }

    fn begin_frame(&mut self, _slot: usize) {}

    fn end_frame(&mut self, _slot: usize) {}

    #[inline]
    fn take_entry(&mut self, dialect: &Dialect, reader: &mut Reader) -> Wire<bool> {
        fast::check_entry(dialect, reader)
    }

    #[inline]
    fn take_frames(&mut self, _slot: usize, reader: &mut Reader) -> Wire<()> {
        fast::check_frames(reader)
    }
}

/// Reads an `Example`.
pub fn example<S: Sink>(payload: &[u8], sink: &mut S) -> Wire<()> {
    let mut reader = Reader::new(payload);
    while !reader.is_empty() {
        match reader.tag()? {
            LEN_1 => features(reader.message()?, &TENSORFLOW, sink)?,
            tag => reader.skip(tag)?,
        }
    }
    Ok(())
}

/// Reads a `SequenceExample`.
pub fn sequence_example<S: Sink>(payload: &[u8], sink: &mut S) -> Wire<()> {
    let mut reader = Reader::new(payload);
    while !reader.is_empty() {
        match reader.tag()? {
            LEN_1 => features(reader.message()?, &TENSORFLOW, sink)?,
            LEN_2 => feature_lists(reader.message()?, sink)?,
            tag => reader.skip(tag)?,
        }
    }
    Ok(())
}

/// Reads an `OFRecord`, which is a map of features itself.
pub fn ofrecord<S: Sink>(payload: &[u8], sink: &mut S) -> Wire<()> {
    features(Reader::new(payload), &ONEFLOW, sink)
}

/// Whether the outermost fields are sound and feature lists are among them.
pub fn holds_feature_lists(payload: &[u8]) -> bool {
    let mut reader = Reader::new(payload);
    let mut found = false;
    while !reader.is_empty() {
        let Ok(tag) = reader.tag() else { return false };
        found |= tag == LEN_2;
        if reader.skip(tag).is_err() {
            return false;
        }
    }
    found
}

fn features<S: Sink>(mut reader: Reader, dialect: &Dialect, sink: &mut S) -> Wire<()> {
    while !reader.is_empty() {
        if sink.take_entry(dialect, &mut reader)? {
            continue;
        }
        match reader.tag()? {
            LEN_1 => entry(reader.message()?, Section::Context, dialect, sink)?,
            tag => reader.skip(tag)?,
        }
    }
    Ok(())
}

fn feature_lists<S: Sink>(mut reader: Reader, sink: &mut S) -> Wire<()> {
    while !reader.is_empty() {
        match reader.tag()? {
            LEN_1 => entry(reader.message()?, Section::Lists, &TENSORFLOW, sink)?,
            tag => reader.skip(tag)?,
        }
    }
    Ok(())
}

/// One entry of a map. Its key may follow its value, so the entry is read twice: for the key, then for the values.
fn entry<S: Sink>(reader: Reader, section: Section, dialect: &Dialect, sink: &mut S) -> Wire<()> {
    let slot = match entry_key(reader, dialect)? {
        Some(key) => sink.find(section, key),
        None => None,
    };
    match slot {
        Some(slot) => {
            sink.begin(slot);
            entry_values(reader, section, dialect, slot, sink)
        }
        None => entry_values(reader, section, dialect, 0, &mut Discard),
    }
}

/// The last key of an entry (empty if there is none), or `None` where an unknown field makes protobuf drop the entry.
fn entry_key<'a>(mut reader: Reader<'a>, dialect: &Dialect) -> Wire<Option<&'a [u8]>> {
    let mut key: &[u8] = &[];
    let mut dropped = false;
    while !reader.is_empty() {
        let start = reader.pos;
        match reader.tag()? {
            LEN_1 => {
                key = reader.bytes()?;
                if dialect.utf8_keys && std::str::from_utf8(key).is_err() {
                    return Err(Broken { offset: start, what: "a key is not UTF-8" });
                }
            }
            LEN_2 => {
                reader.bytes()?;
            }
            tag => {
                reader.skip(tag)?;
                dropped |= dialect.drops_odd_entries;
            }
        }
    }
    Ok(if dropped { None } else { Some(key) })
}

/// The values of an entry, merged as if they were one.
fn entry_values<S: Sink>(
    mut reader: Reader,
    section: Section,
    dialect: &Dialect,
    slot: usize,
    sink: &mut S,
) -> Wire<()> {
    while !reader.is_empty() {
        match (reader.tag()?, section) {
            (LEN_2, Section::Context) => feature(reader.message()?, dialect, slot, sink)?,
            (LEN_2, Section::Lists) => feature_list(reader.message()?, slot, sink)?,
            (tag, _) => reader.skip(tag)?,
        }
    }
    Ok(())
}

fn feature_list<S: Sink>(mut reader: Reader, slot: usize, sink: &mut S) -> Wire<()> {
    sink.take_frames(slot, &mut reader)?;
    while !reader.is_empty() {
        match reader.tag()? {
            LEN_1 => {
                sink.begin_frame(slot);
                feature(reader.message()?, &TENSORFLOW, slot, sink)?;
                sink.end_frame(slot);
                sink.take_frames(slot, &mut reader)?;
            }
            tag => reader.skip(tag)?,
        }
    }
    Ok(())
}

fn feature<S: Sink>(mut reader: Reader, dialect: &Dialect, slot: usize, sink: &mut S) -> Wire<()> {
    while !reader.is_empty() {
        let tag = reader.tag()?;
        match dialect.kind(tag) {
            Some(kind) => {
                sink.select(slot, kind);
                list(reader.message()?, kind, slot, sink)?;
            }
            None => reader.skip(tag)?,
        }
    }
    Ok(())
}

/// One list of values: field 1, packed (numbers only) or one tag per value.
fn list<S: Sink>(mut reader: Reader, kind: ValueKind, slot: usize, sink: &mut S) -> Wire<()> {
    while !reader.is_empty() {
        match (reader.tag()?, kind) {
            (LEN_1, ValueKind::Bytes) => sink.bytes(slot, reader.bytes()?),
            (LEN_1, ValueKind::Float32) => sink.fixed(slot, packed(&mut reader, 4)?),
            (LEN_1, ValueKind::Float64) => sink.fixed(slot, packed(&mut reader, 8)?),
            (LEN_1, _) => sink.varints(slot, reader.message()?)?,
            (FIXED32_1, ValueKind::Float32) => sink.fixed(slot, reader.fixed32()?),
            (FIXED64_1, ValueKind::Float64) => sink.fixed(slot, reader.fixed64()?),
            (VARINT_1, ValueKind::Int32 | ValueKind::Int64) => sink.varints(slot, reader.one_varint()?)?,
            (tag, _) => reader.skip(tag)?,
        }
    }
    Ok(())
}

/// The bytes of a packed field of values that take `width` bytes each.
fn packed<'a>(reader: &mut Reader<'a>, width: usize) -> Wire<&'a [u8]> {
    let start = reader.pos;
    let chunk = reader.bytes()?;
    if !chunk.len().is_multiple_of(width) {
        return Err(Broken { offset: start, what: "a packed list ends inside a value" });
    }
    Ok(chunk)
}
