//! Parsing of the three protobuf messages, with protobuf's own rules for repeated and unknown fields.
use super::fast_path;
use super::wire::{FIXED32_1, FIXED64_1, LEN_1, LEN_2, ParseResult, VARINT_1, WireError, WireReader, WireResult};
use super::{PayloadKind, Section, ValueKind, varint};
use crate::memory::OutOfMemory;

/// Properties in which the messages of TensorFlow and OneFlow differ.
#[derive(Debug)]
pub struct MessageDialect {
    /// Kinds of the values in the fields 1, 2, … of `Feature`.
    pub kinds: &'static [ValueKind],
    /// Whether a key that is not UTF-8 makes the message invalid.
    pub utf8_keys: bool,
    /// Whether a map entry with an unknown field is dropped, as in current protobuf. OneFlow's protobuf keeps it.
    pub drops_entries_with_unknown_fields: bool,
}

/// `tf.train.Example` and `SequenceExample` (proto3).
pub const TENSORFLOW: MessageDialect = MessageDialect {
    kinds: &[ValueKind::Bytes, ValueKind::Float32, ValueKind::Int64],
    utf8_keys: true,
    drops_entries_with_unknown_fields: true,
};

/// `OFRecord` (proto2).
pub const ONEFLOW: MessageDialect = MessageDialect {
    kinds: &[ValueKind::Bytes, ValueKind::Float32, ValueKind::Float64, ValueKind::Int32, ValueKind::Int64],
    utf8_keys: false,
    drops_entries_with_unknown_fields: false,
};

impl MessageDialect {
    /// Returns the dialect of a payload kind; None for image records, which are not protobuf messages.
    pub fn of_payload(kind: PayloadKind) -> Option<&'static Self> {
        match kind {
            PayloadKind::Example | PayloadKind::SequenceExample => Some(&TENSORFLOW),
            PayloadKind::OfRecord => Some(&ONEFLOW),
            PayloadKind::IrHeader => None,
        }
    }

    /// Returns the protobuf tag of the field of `Feature` that contains a list of `kind`.
    pub fn list_tag(&self, kind: ValueKind) -> Option<u8> {
        self.kinds.iter().position(|&known| known == kind).map(|i| (i as u8 + 1) << 3 | 2)
    }

    /// Returns the kind of the values in the field of `Feature` with protobuf tag `tag`; None if the tag is unknown.
    #[inline]
    pub fn list_kind(&self, tag: u32) -> Option<ValueKind> {
        if tag & 7 == 2 { self.kinds.get(((tag >> 3) as usize).wrapping_sub(1)).copied() } else { None }
    }
}

/// Receives the features of one record. A slot is a number by which the sink identifies a feature.
///
/// For each map entry, the parser calls `find_slot` and, if there is a slot, `begin_entry`. Then it calls `begin_list`
/// and one of the `push_*` functions for each list of values. In a feature list, each feature is enclosed by
/// `begin_frame` and `end_frame`.
pub trait FeatureSink {
    /// Returns the slot of the feature `key`; None if the sink does not want its values, which are then only validated.
    fn find_slot(&mut self, section: Section, key: &[u8]) -> Result<Option<usize>, OutOfMemory>;

    /// Begins an entry, which replaces earlier entries of this record for `slot`.
    fn begin_entry(&mut self, slot: usize);

    /// Begins a list of `kind`, which replaces values of another kind in the same feature.
    fn begin_list(&mut self, slot: usize, kind: ValueKind);

    /// Adds one byte string.
    fn push_bytes(&mut self, slot: usize, value: &[u8]) -> Result<(), OutOfMemory>;

    /// Adds little-endian values of four or eight bytes each.
    fn push_fixed(&mut self, slot: usize, chunk: &[u8]) -> Result<(), OutOfMemory>;

    /// Adds the varints in `chunk`.
    fn push_varints(&mut self, slot: usize, chunk: WireReader) -> ParseResult<()>;

    /// Begins a frame, which is one feature of a feature list.
    fn begin_frame(&mut self, slot: usize);

    /// Ends the frame that `begin_frame` began.
    fn end_frame(&mut self, slot: usize) -> Result<(), OutOfMemory>;

    /// Parses one context entry on the fast path. Returns false, without moving `reader`, if the general code is
    /// needed.
    #[inline]
    fn parse_entry(&mut self, _dialect: &MessageDialect, _reader: &mut WireReader) -> ParseResult<bool> {
        Ok(false)
    }

    /// Parses frames on the fast path, up to the first one that needs the general code.
    #[inline]
    fn parse_frames(&mut self, _slot: usize, _reader: &mut WireReader) -> ParseResult<()> {
        Ok(())
    }
}

/// A sink without slots: all features are only validated.
pub struct DiscardSink;

impl FeatureSink for DiscardSink {
    fn find_slot(&mut self, _section: Section, _key: &[u8]) -> Result<Option<usize>, OutOfMemory> {
        Ok(None)
    }

    fn begin_entry(&mut self, _slot: usize) {}

    fn begin_list(&mut self, _slot: usize, _kind: ValueKind) {}

    fn push_bytes(&mut self, _slot: usize, _value: &[u8]) -> Result<(), OutOfMemory> {
        Ok(())
    }

    fn push_fixed(&mut self, _slot: usize, _chunk: &[u8]) -> Result<(), OutOfMemory> {
        Ok(())
    }

    fn push_varints(&mut self, _slot: usize, chunk: WireReader) -> ParseResult<()> {
        Ok(varint::count_varints(chunk).map(drop)?)
    }

    fn begin_frame(&mut self, _slot: usize) {}

    fn end_frame(&mut self, _slot: usize) -> Result<(), OutOfMemory> {
        Ok(())
    }

    #[inline]
    fn parse_entry(&mut self, dialect: &MessageDialect, reader: &mut WireReader) -> ParseResult<bool> {
        Ok(fast_path::validate_entry(dialect, reader)?)
    }

    #[inline]
    fn parse_frames(&mut self, _slot: usize, reader: &mut WireReader) -> ParseResult<()> {
        Ok(fast_path::validate_frames(reader)?)
    }
}

/// Parses an `Example`.
pub fn parse_example<S: FeatureSink>(payload: &[u8], sink: &mut S) -> ParseResult<()> {
    let mut reader = WireReader::new(payload);
    while !reader.is_empty() {
        match reader.read_tag()? {
            LEN_1 => parse_features(reader.read_message()?, &TENSORFLOW, sink)?,
            tag => reader.skip_field(tag)?,
        }
    }
    Ok(())
}

/// Parses a `SequenceExample`.
pub fn parse_sequence_example<S: FeatureSink>(payload: &[u8], sink: &mut S) -> ParseResult<()> {
    let mut reader = WireReader::new(payload);
    while !reader.is_empty() {
        match reader.read_tag()? {
            LEN_1 => parse_features(reader.read_message()?, &TENSORFLOW, sink)?,
            LEN_2 => parse_feature_lists(reader.read_message()?, sink)?,
            tag => reader.skip_field(tag)?,
        }
    }
    Ok(())
}

/// Parses an `OFRecord`, which is itself a map of features.
pub fn parse_ofrecord<S: FeatureSink>(payload: &[u8], sink: &mut S) -> ParseResult<()> {
    parse_features(WireReader::new(payload), &ONEFLOW, sink)
}

/// Returns whether all top-level fields of `payload` are valid, and at least one of them contains feature lists.
pub fn contains_feature_lists(payload: &[u8]) -> bool {
    let mut reader = WireReader::new(payload);
    let mut found = false;
    while !reader.is_empty() {
        let Ok(tag) = reader.read_tag() else { return false };
        found |= tag == LEN_2;
        if reader.skip_field(tag).is_err() {
            return false;
        }
    }
    found
}

fn parse_features<S: FeatureSink>(mut reader: WireReader, dialect: &MessageDialect, sink: &mut S) -> ParseResult<()> {
    while !reader.is_empty() {
        if sink.parse_entry(dialect, &mut reader)? {
            continue;
        }
        match reader.read_tag()? {
            LEN_1 => parse_entry(reader.read_message()?, Section::Context, dialect, sink)?,
            tag => reader.skip_field(tag)?,
        }
    }
    Ok(())
}

fn parse_feature_lists<S: FeatureSink>(mut reader: WireReader, sink: &mut S) -> ParseResult<()> {
    while !reader.is_empty() {
        match reader.read_tag()? {
            LEN_1 => parse_entry(reader.read_message()?, Section::Lists, &TENSORFLOW, sink)?,
            tag => reader.skip_field(tag)?,
        }
    }
    Ok(())
}

/// Parses one map entry. Its key may follow its value, so the entry is read twice: for the key, then for the values.
fn parse_entry<S: FeatureSink>(
    reader: WireReader,
    section: Section,
    dialect: &MessageDialect,
    sink: &mut S,
) -> ParseResult<()> {
    let slot = match find_key(reader, dialect)? {
        Some(key) => sink.find_slot(section, key)?,
        None => None,
    };
    match slot {
        Some(slot) => {
            sink.begin_entry(slot);
            parse_entry_values(reader, section, dialect, slot, sink)
        }
        None => parse_entry_values(reader, section, dialect, 0, &mut DiscardSink),
    }
}

/// Returns the last key of an entry (empty if there is none); None if an unknown field makes protobuf drop the entry.
fn find_key<'a>(mut reader: WireReader<'a>, dialect: &MessageDialect) -> WireResult<Option<&'a [u8]>> {
    let mut key: &[u8] = &[];
    let mut is_dropped = false;
    while !reader.is_empty() {
        let start = reader.pos;
        match reader.read_tag()? {
            LEN_1 => {
                key = reader.read_length_delimited()?;
                if dialect.utf8_keys && std::str::from_utf8(key).is_err() {
                    return Err(WireError { offset: start, what: "a key is not UTF-8" });
                }
            }
            LEN_2 => {
                reader.read_length_delimited()?;
            }
            tag => {
                reader.skip_field(tag)?;
                is_dropped |= dialect.drops_entries_with_unknown_fields;
            }
        }
    }
    Ok(if is_dropped { None } else { Some(key) })
}

/// Parses the value of a map entry. If the entry has several values, they are merged, as in protobuf.
fn parse_entry_values<S: FeatureSink>(
    mut reader: WireReader,
    section: Section,
    dialect: &MessageDialect,
    slot: usize,
    sink: &mut S,
) -> ParseResult<()> {
    while !reader.is_empty() {
        match (reader.read_tag()?, section) {
            (LEN_2, Section::Context) => parse_feature(reader.read_message()?, dialect, slot, sink)?,
            (LEN_2, Section::Lists) => parse_feature_list(reader.read_message()?, slot, sink)?,
            (tag, _) => reader.skip_field(tag)?,
        }
    }
    Ok(())
}

fn parse_feature_list<S: FeatureSink>(mut reader: WireReader, slot: usize, sink: &mut S) -> ParseResult<()> {
    sink.parse_frames(slot, &mut reader)?;
    while !reader.is_empty() {
        match reader.read_tag()? {
            LEN_1 => {
                sink.begin_frame(slot);
                parse_feature(reader.read_message()?, &TENSORFLOW, slot, sink)?;
                sink.end_frame(slot)?;
                sink.parse_frames(slot, &mut reader)?;
            }
            tag => reader.skip_field(tag)?,
        }
    }
    Ok(())
}

fn parse_feature<S: FeatureSink>(
    mut reader: WireReader,
    dialect: &MessageDialect,
    slot: usize,
    sink: &mut S,
) -> ParseResult<()> {
    while !reader.is_empty() {
        let tag = reader.read_tag()?;
        match dialect.list_kind(tag) {
            Some(kind) => {
                sink.begin_list(slot, kind);
                parse_list(reader.read_message()?, kind, slot, sink)?;
            }
            None => reader.skip_field(tag)?,
        }
    }
    Ok(())
}

/// Parses one list of values: field 1, packed (numbers only) or with one tag per value.
fn parse_list<S: FeatureSink>(mut reader: WireReader, kind: ValueKind, slot: usize, sink: &mut S) -> ParseResult<()> {
    while !reader.is_empty() {
        match (reader.read_tag()?, kind) {
            (LEN_1, ValueKind::Bytes) => sink.push_bytes(slot, reader.read_length_delimited()?)?,
            (LEN_1, ValueKind::Float32) => sink.push_fixed(slot, read_packed(&mut reader, 4)?)?,
            (LEN_1, ValueKind::Float64) => sink.push_fixed(slot, read_packed(&mut reader, 8)?)?,
            (LEN_1, _) => sink.push_varints(slot, reader.read_message()?)?,
            (FIXED32_1, ValueKind::Float32) => sink.push_fixed(slot, reader.read_fixed32()?)?,
            (FIXED64_1, ValueKind::Float64) => sink.push_fixed(slot, reader.read_fixed64()?)?,
            (VARINT_1, ValueKind::Int32 | ValueKind::Int64) => sink.push_varints(slot, reader.read_varint_field()?)?,
            (tag, _) => reader.skip_field(tag)?,
        }
    }
    Ok(())
}

/// Reads a packed field of values with `width` bytes each.
fn read_packed<'a>(reader: &mut WireReader<'a>, width: usize) -> WireResult<&'a [u8]> {
    let start = reader.pos;
    let chunk = reader.read_length_delimited()?;
    if !chunk.len().is_multiple_of(width) {
        return Err(WireError { offset: start, what: "a packed list ends inside a value" });
    }
    Ok(chunk)
}
