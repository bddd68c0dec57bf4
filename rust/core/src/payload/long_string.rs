//! Location of a long byte string in a payload, so that the string can be read directly into the output.
//!
//! The first bytes of a payload are sufficient to find the string. A copy of the payload with only the first bytes of
//! the string is also a valid payload, which the parser validates as usual.
use super::message::MessageDialect;
use super::wire::{LEN_1, LEN_2, WireReader, append_varint, varint_len};
use super::{MissingPolicy, PayloadKind, Plan, Section, ValueCount, ValueKind, irheader};
use crate::memory;

/// Minimum length of a string that is read separately; for shorter ones, the additional read costs more than a copy.
pub const MIN_LONG_STRING: usize = 16 << 10;
/// Length of the prefix that stays in the shortened payload; it identifies the string among the parsed values.
const PREFIX_LEN: usize = 16;
/// Tags of the fields from the outermost one to the string: features, entry, value, list of bytes, string. An
/// `OFRecord` does not have the outermost field.
const FIELDS: [u32; 5] = [LEN_1, LEN_1, LEN_2, LEN_1, LEN_1];

/// Length of a field, and where it is stored in the payload.
#[derive(Debug, Clone, Copy)]
struct StoredLength {
    offset: usize,
    width: usize,
    value: usize,
}

/// Location of a long string in a payload.
#[derive(Debug)]
pub struct LongString {
    /// Index of the column that the string belongs to.
    pub column: usize,
    /// Offset of the string in the payload.
    pub start: usize,
    /// Length of the string.
    pub len: usize,
    /// Lengths of the enclosing messages and of the string, outermost first.
    lengths: Vec<StoredLength>,
    key: Vec<u8>,
}

impl LongString {
    /// Returns the long string that begins in `start_bytes`, the first bytes of a payload.
    ///
    /// Returns None if there is none, or if no column requests exactly one byte string with its key.
    pub fn locate(plan: &Plan, start_bytes: &[u8], payload_len: usize) -> Option<Self> {
        let string = match MessageDialect::of_payload(plan.kind()) {
            Some(_) => Self::find_in_message(plan, start_bytes, payload_len)?,
            None => Self::find_after_header(plan, start_bytes, payload_len)?,
        };
        let spec = &plan.columns()[string.column];
        let is_wanted = spec.kind == ValueKind::Bytes
            && spec.value_count == ValueCount::Fixed(1)
            && !matches!(spec.missing, MissingPolicy::Default(_));
        let is_supported = payload_len <= i32::MAX as usize && start_bytes.len() >= string.start + PREFIX_LEN;
        (is_wanted && is_supported && string.len >= MIN_LONG_STRING).then_some(string)
    }

    fn find_in_message(plan: &Plan, start_bytes: &[u8], payload_len: usize) -> Option<Self> {
        let fields = &FIELDS[usize::from(plan.kind() == PayloadKind::OfRecord)..];
        let (mut reader, mut end) = (WireReader::new(start_bytes), payload_len);
        let (mut lengths, mut key, mut is_in_entry) = (Vec::with_capacity(FIELDS.len()), None, false);
        while lengths.len() < fields.len() {
            let wanted = fields[lengths.len()];
            let tag = reader.read_tag().ok()?;
            if tag & 7 != LEN_1 & 7 {
                reader.skip_field(tag).ok()?;
                continue;
            }
            let offset = reader.pos;
            let value = usize::try_from(reader.read_varint().ok()?).ok()?;
            let (start, stop) = (reader.pos, reader.pos.checked_add(value)?);
            if stop <= start_bytes.len() {
                if wanted == LEN_2 && tag == LEN_1 {
                    key = Some(&start_bytes[start..stop]);
                }
                reader.pos = stop;
            } else if tag == wanted && if is_in_entry { stop == end } else { stop <= end } {
                lengths.push(StoredLength { offset, width: start - offset, value });
                (end, is_in_entry) = (stop, is_in_entry || lengths.len() + 3 == fields.len());
            } else {
                return None;
            }
        }
        // A second entry with this key could replace the first.
        let key = key.filter(|key| count_occurrences(&start_bytes[..reader.pos], key) == 1)?;
        let (column, len) = (plan.find_column(Section::Context, key)?, lengths.last()?.value);
        Some(Self { column, start: reader.pos, len, lengths, key: key.to_vec() })
    }

    fn find_after_header(plan: &Plan, start_bytes: &[u8], payload_len: usize) -> Option<Self> {
        let flag = usize::try_from(u32::from_le_bytes(*start_bytes.first_chunk()?)).ok()?;
        let start = irheader::HEADER_LEN + flag.checked_mul(irheader::LABEL_LEN)?;
        let (column, len) = (plan.find_column(Section::Context, irheader::DATA)?, payload_len.checked_sub(start)?);
        Some(Self { column, start, len, lengths: Vec::new(), key: Vec::new() })
    }

    /// Returns the first bytes of the string.
    pub fn prefix<'h>(&self, start_bytes: &'h [u8]) -> &'h [u8] {
        &start_bytes[self.start..self.start + PREFIX_LEN]
    }

    /// Writes a copy of the payload to `out`, with the string shortened to its prefix. `tail` holds the bytes after the
    /// string.
    ///
    /// Returns false if `tail` may contain the same feature again, or if there is not enough memory.
    pub fn write_shortened(&self, start_bytes: &[u8], tail: &[u8], out: &mut Vec<u8>) -> bool {
        let (mut shorter, mut num_removed) = ([0; FIELDS.len()], self.len - PREFIX_LEN);
        for (length, new) in self.lengths.iter().zip(&mut shorter).rev() {
            *new = length.value.saturating_sub(num_removed);
            num_removed += length.width.saturating_sub(varint_len(*new as u64));
        }
        let mut position = 0;
        out.clear();
        // A shortened length has at most as many bytes as the length that it replaces.
        if memory::reserve(out, self.start + PREFIX_LEN + tail.len()).is_err() {
            return false;
        }
        for (length, new) in self.lengths.iter().zip(shorter) {
            out.extend_from_slice(&start_bytes[position..length.offset]);
            append_varint(out, new as u64);
            position = length.offset + length.width;
        }
        out.extend_from_slice(&start_bytes[position..self.start + PREFIX_LEN]);
        out.extend_from_slice(tail);
        count_occurrences(tail, &self.key) == 0
    }
}

/// Counts the occurrences of `key` in `bytes`; 0 if the key is empty.
fn count_occurrences(bytes: &[u8], key: &[u8]) -> usize {
    if key.is_empty() { 0 } else { bytes.windows(key.len()).filter(|found| *found == key).count() }
}

#[cfg(test)]
mod tests {
    use super::super::{ColumnSpec, Parser, Values};
    use super::*;

    fn encode_field(tag: u32, data: &[u8]) -> Vec<u8> {
        let mut out = vec![tag as u8];
        append_varint(&mut out, data.len() as u64);
        [out, data.to_vec()].concat()
    }

    fn encode_entry(key: &str, list_tag: u32, value: &[u8]) -> Vec<u8> {
        encode_field(
            LEN_1,
            &[
                encode_field(LEN_1, key.as_bytes()),
                encode_field(LEN_2, &encode_field(list_tag, &encode_field(LEN_1, value))),
            ]
            .concat(),
        )
    }

    fn build_plan(kind: PayloadKind) -> Plan {
        let spec = |name: &str, kind| ColumnSpec {
            name: name.into(),
            section: Section::Context,
            kind,
            value_count: ValueCount::Fixed(1),
            missing: MissingPolicy::Error,
        };
        Plan::new(kind, vec![spec("label", ValueKind::Int64), spec("image", ValueKind::Bytes)]).expect("a valid plan")
    }

    fn parse_columns(plan: &Plan, payload: &[u8]) -> Vec<super::super::Column> {
        let mut parser = Parser::new(plan, 1).expect("memory");
        parser.push_payload(payload).expect("a valid payload");
        parser.finish().expect("memory")
    }

    #[test]
    fn write_shortened_gives_payload_of_short_string() {
        for (kind, int64) in [(PayloadKind::Example, 0x1a), (PayloadKind::OfRecord, 0x2a)] {
            for (len, before) in (0..40).flat_map(|step| [(16_300 + step * 7, true), (2_097_100 + step * 9, false)]) {
                let image: Vec<u8> = (0..len).map(|byte| byte as u8).collect();
                let mut entries = vec![
                    encode_entry("label", int64, &[7]),
                    encode_entry("image", 0x0a, &image),
                    encode_entry("odd", 0x0a, b"x"),
                ];
                if before {
                    entries.swap(0, 1);
                }
                let whole = |entries: &[Vec<u8>]| match kind {
                    PayloadKind::OfRecord => entries.concat(),
                    _ => encode_field(LEN_1, &entries.concat()),
                };
                let (payload, plan) = (whole(&entries), build_plan(kind));
                let Some(string) = LongString::locate(&plan, &payload[..200], payload.len()) else {
                    assert!(len < MIN_LONG_STRING);
                    continue;
                };
                assert_eq!((string.column, &payload[string.start..string.start + string.len]), (1, &image[..]));
                entries[usize::from(!before)] = encode_entry("image", 0x0a, &image[..PREFIX_LEN]);
                let mut rest = Vec::new();
                assert!(string.write_shortened(&payload[..200], &payload[string.start + string.len..], &mut rest));
                assert_eq!(rest, whole(&entries));
                let [label, text] = &parse_columns(&plan, &rest)[..] else { panic!("two columns") };
                assert_eq!(label.values, Values::Int64(vec![7]));
                assert!(matches!(&text.values, Values::Bytes { data, .. } if *data == string.prefix(&payload)));
            }
        }
    }

    #[test]
    fn write_shortened_detects_repeated_feature() {
        let again = [
            encode_entry("label", 0x1a, &[7]),
            encode_entry("image", 0x0a, &[5; 50_000]),
            encode_entry("image", 0x0a, b"other"),
        ];
        let (payload, plan) = (encode_field(LEN_1, &again.concat()), build_plan(PayloadKind::Example));
        let string = LongString::locate(&plan, &payload[..200], payload.len()).expect("a long string");
        assert!(!string.write_shortened(&payload[..200], &payload[string.start + string.len..], &mut Vec::new()));
    }

    #[test]
    fn locate_never_panics_on_flipped_bits() {
        let whole = encode_field(LEN_1, &encode_entry("image", 0x0a, &[9; 40_000]));
        let plan = build_plan(PayloadKind::Example);
        for len in 0..100 {
            assert_eq!(
                LongString::locate(&plan, &whole[..len], whole.len()).is_some(),
                len >= 27 + PREFIX_LEN,
                "{len}"
            );
            for bit in 0..len * 8 {
                let mut start_bytes = whole[..100].to_vec();
                start_bytes[bit / 8] ^= 1 << (bit % 8);
                if let Some(string) = LongString::locate(&plan, &start_bytes, whole.len()) {
                    string.write_shortened(&start_bytes, b"", &mut Vec::new());
                }
            }
        }
    }
}
