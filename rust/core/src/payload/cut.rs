//! One long byte string of a payload, found by the payload's first bytes, so that it can be read straight to where it is wanted.
//!
//! What is left, with its lengths put right, is a payload like any other: the parser judges it.
use super::message::Dialect;
use super::wire::{LEN_1, LEN_2, Reader, put_varint, varint_len};
use super::{Layout, Missing, PayloadKind, Plan, Section, ValueKind, irheader};

/// Strings from here on are worth a read of their own.
pub const LONG: usize = 16 << 10;
/// First bytes of the string that stay: where they come out shows whose value the string is.
const KEPT: usize = 16;
/// Fields around a string and the string itself, outermost first: features, entry, value, list of bytes, string. What all of an
/// `OFRecord` is, is the first field of the other messages.
const FIELDS: [u32; 5] = [LEN_1, LEN_1, LEN_2, LEN_1, LEN_1];

/// A length within the payload.
#[derive(Debug, Clone, Copy)]
struct Length {
    place: usize,
    width: usize,
    value: usize,
}

/// Where a payload has a long string.
#[derive(Debug)]
pub struct Cut {
    /// The column that it is the value of.
    pub column: usize,
    /// Its first byte in the payload.
    pub start: usize,
    /// Its bytes.
    pub len: usize,
    /// Those of the fields around it and its own, outermost first.
    lengths: Vec<Length>,
    key: Vec<u8>,
}

impl Cut {
    /// The string that begins in `head`, the first bytes of a payload, and goes on behind it; none where there is no such, or it is
    /// not wanted as the one value of a column.
    pub fn find(plan: &Plan, head: &[u8], payload_len: usize) -> Option<Self> {
        let cut = match Dialect::of(plan.kind()) {
            Some(_) => Self::in_message(plan, head, payload_len)?,
            None => Self::behind_header(plan, head, payload_len)?,
        };
        let spec = &plan.columns()[cut.column];
        let is_wanted = spec.kind == ValueKind::Bytes
            && spec.layout == Layout::Fixed(1)
            && !matches!(spec.missing, Missing::Default(_));
        let is_known = payload_len <= i32::MAX as usize && head.len() >= cut.start + KEPT;
        (is_wanted && is_known && cut.len >= LONG).then_some(cut)
    }

    fn in_message(plan: &Plan, head: &[u8], payload_len: usize) -> Option<Self> {
        let fields = &FIELDS[usize::from(plan.kind() == PayloadKind::OfRecord)..];
        let (mut reader, mut end) = (Reader::new(head), payload_len);
        let (mut lengths, mut key, mut is_in_entry) = (Vec::with_capacity(FIELDS.len()), None, false);
        while lengths.len() < fields.len() {
            let wanted = fields[lengths.len()];
            let tag = reader.tag().ok()?;
            if tag & 7 != LEN_1 & 7 {
                reader.skip(tag).ok()?;
                continue;
            }
            let place = reader.pos;
            let value = usize::try_from(reader.varint().ok()?).ok()?;
            let (start, stop) = (reader.pos, reader.pos.checked_add(value)?);
            if stop <= head.len() {
                if wanted == LEN_2 && tag == LEN_1 {
                    key = Some(&head[start..stop]);
                }
                reader.pos = stop;
            } else if tag == wanted && if is_in_entry { stop == end } else { stop <= end } {
                lengths.push(Length { place, width: start - place, value });
                (end, is_in_entry) = (stop, is_in_entry || lengths.len() + 3 == fields.len());
            } else {
                return None;
            }
        }
        // Another entry of that key might be what counts.
        let key = key.filter(|key| num_found(&head[..reader.pos], key) == 1)?;
        let (column, len) = (plan.find(Section::Context, key)?, lengths.last()?.value);
        Some(Self { column, start: reader.pos, len, lengths, key: key.to_vec() })
    }

    fn behind_header(plan: &Plan, head: &[u8], payload_len: usize) -> Option<Self> {
        let flag = usize::try_from(u32::from_le_bytes(*head.first_chunk()?)).ok()?;
        let start = irheader::HEADER_LEN + flag.checked_mul(irheader::LABEL_LEN)?;
        let (column, len) = (plan.find(Section::Context, irheader::DATA)?, payload_len.checked_sub(start)?);
        Some(Self { column, start, len, lengths: Vec::new(), key: Vec::new() })
    }

    /// The string's first bytes, in the head that it was found by.
    pub fn kept<'h>(&self, head: &'h [u8]) -> &'h [u8] {
        &head[self.start..self.start + KEPT]
    }

    /// Puts the payload without the string, but for its first bytes, into `out`; `tail` is what stands behind the string. False where
    /// the tail may bring the same feature once more.
    pub fn rest(&self, head: &[u8], tail: &[u8], out: &mut Vec<u8>) -> bool {
        let (mut shorter, mut gone) = ([0; FIELDS.len()], self.len - KEPT);
        for (length, new) in self.lengths.iter().zip(&mut shorter).rev() {
            *new = length.value.saturating_sub(gone);
            gone += length.width.saturating_sub(varint_len(*new as u64));
        }
        let mut at = 0;
        out.clear();
        for (length, new) in self.lengths.iter().zip(shorter) {
            out.extend_from_slice(&head[at..length.place]);
            put_varint(out, new as u64);
            at = length.place + length.width;
        }
        out.extend_from_slice(&head[at..self.start + KEPT]);
        out.extend_from_slice(tail);
        num_found(tail, &self.key) == 0
    }
}

/// How often `key`, if there is one, stands in `bytes`.
fn num_found(bytes: &[u8], key: &[u8]) -> usize {
    if key.is_empty() { 0 } else { bytes.windows(key.len()).filter(|found| *found == key).count() }
}

#[cfg(test)]
mod tests {
    use super::super::{ColumnSpec, Parser, Values};
    use super::*;

    fn field(tag: u32, data: &[u8]) -> Vec<u8> {
        let mut out = vec![tag as u8];
        put_varint(&mut out, data.len() as u64);
        [out, data.to_vec()].concat()
    }

    fn entry(key: &str, list_tag: u32, value: &[u8]) -> Vec<u8> {
        field(LEN_1, &[field(LEN_1, key.as_bytes()), field(LEN_2, &field(list_tag, &field(LEN_1, value)))].concat())
    }

    fn plan(kind: PayloadKind) -> Plan {
        let spec = |name: &str, kind| ColumnSpec {
            name: name.into(),
            section: Section::Context,
            kind,
            layout: Layout::Fixed(1),
            missing: Missing::Error,
        };
        Plan::new(kind, vec![spec("label", ValueKind::Int64), spec("image", ValueKind::Bytes)]).expect("a sound plan")
    }

    fn parsed(plan: &Plan, payload: &[u8]) -> Vec<super::super::Column> {
        let mut parser = Parser::new(plan, 1);
        parser.push(payload).expect("a sound payload");
        parser.finish()
    }

    #[test]
    fn rest_when_a_payload_is_cut_then_is_the_payload_of_a_short_string() {
        for (kind, int64) in [(PayloadKind::Example, 0x1a), (PayloadKind::OfRecord, 0x2a)] {
            for (len, before) in (0..40).flat_map(|step| [(16_300 + step * 7, true), (2_097_100 + step * 9, false)]) {
                let image: Vec<u8> = (0..len).map(|byte| byte as u8).collect();
                let mut entries =
                    vec![entry("label", int64, &[7]), entry("image", 0x0a, &image), entry("odd", 0x0a, b"x")];
                if before {
                    entries.swap(0, 1);
                }
                let whole = |entries: &[Vec<u8>]| match kind {
                    PayloadKind::OfRecord => entries.concat(),
                    _ => field(LEN_1, &entries.concat()),
                };
                let (payload, plan) = (whole(&entries), plan(kind));
                let Some(cut) = Cut::find(&plan, &payload[..200], payload.len()) else {
                    assert!(len < LONG);
                    continue;
                };
                assert_eq!((cut.column, &payload[cut.start..cut.start + cut.len]), (1, &image[..]));
                entries[usize::from(!before)] = entry("image", 0x0a, &image[..KEPT]);
                let mut rest = Vec::new();
                assert!(cut.rest(&payload[..200], &payload[cut.start + cut.len..], &mut rest));
                assert_eq!(rest, whole(&entries));
                let [label, text] = &parsed(&plan, &rest)[..] else { panic!("two columns") };
                assert_eq!(label.values, Values::Int64(vec![7]));
                assert!(matches!(&text.values, Values::Bytes { data, .. } if *data == cut.kept(&payload)));
            }
        }
    }

    #[test]
    fn rest_when_the_feature_comes_again_then_says_so() {
        let again = [entry("label", 0x1a, &[7]), entry("image", 0x0a, &[5; 50_000]), entry("image", 0x0a, b"other")];
        let (payload, plan) = (field(LEN_1, &again.concat()), plan(PayloadKind::Example));
        let cut = Cut::find(&plan, &payload[..200], payload.len()).expect("a long string");
        assert!(!cut.rest(&payload[..200], &payload[cut.start + cut.len..], &mut Vec::new()));
    }

    #[test]
    fn find_when_heads_are_anything_then_never_panics() {
        let whole = field(LEN_1, &entry("image", 0x0a, &[9; 40_000]));
        let plan = plan(PayloadKind::Example);
        for len in 0..100 {
            assert_eq!(Cut::find(&plan, &whole[..len], whole.len()).is_some(), len >= 27 + KEPT, "{len}");
            for bit in 0..len * 8 {
                let mut head = whole[..100].to_vec();
                head[bit / 8] ^= 1 << (bit % 8);
                if let Some(cut) = Cut::find(&plan, &head, whole.len()) {
                    cut.rest(&head, b"", &mut Vec::new());
                }
            }
        }
    }
}
