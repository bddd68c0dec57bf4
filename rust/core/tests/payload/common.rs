//! Helpers that encode messages byte by byte, specify columns and parse payloads.
use recordmill_core::error::Fault;
use recordmill_core::payload::{
    Column, ColumnSpec, MissingPolicy, Parser, PayloadKind, Plan, Section, ValueCount, ValueKind, Values,
};

/// Returns bytes from hexadecimal digits; blanks are ignored.
pub fn parse_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Concatenates the pieces.
pub fn concat(pieces: &[&[u8]]) -> Vec<u8> {
    pieces.concat()
}

pub fn encode_varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// Encodes a length-delimited field.
pub fn encode_field(number: u64, content: &[u8]) -> Vec<u8> {
    concat(&[&encode_varint(number << 3 | 2), &encode_varint(content.len() as u64), content])
}

/// Encodes a map entry.
pub fn encode_entry(key: &[u8], value: &[u8]) -> Vec<u8> {
    encode_field(1, &concat(&[&encode_field(1, key), &encode_field(2, value)]))
}

/// Encodes an `Example`, or the context of a `SequenceExample`.
pub fn encode_example(entries: &[Vec<u8>]) -> Vec<u8> {
    encode_field(1, &entries.concat())
}

/// Encodes a packed list of varints.
pub fn encode_packed_varints(values: &[i64]) -> Vec<u8> {
    encode_field(1, &values.iter().flat_map(|&value| encode_varint(value as u64)).collect::<Vec<u8>>())
}

/// Encodes a feature of an `Example` with `int64_list`.
pub fn encode_int64_feature(values: &[i64]) -> Vec<u8> {
    encode_field(3, &encode_packed_varints(values))
}

/// Encodes a feature with `float_list`.
pub fn encode_float_feature(values: &[f32]) -> Vec<u8> {
    encode_field(2, &encode_field(1, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()))
}

/// Encodes a feature with `bytes_list`.
pub fn encode_bytes_feature(values: &[&[u8]]) -> Vec<u8> {
    encode_field(1, &values.iter().flat_map(|value| encode_field(1, value)).collect::<Vec<u8>>())
}

pub fn spec(name: &str, kind: ValueKind, value_count: ValueCount) -> ColumnSpec {
    ColumnSpec { name: name.into(), section: Section::Context, kind, value_count, missing: MissingPolicy::Error }
}

pub fn list_spec(name: &str, kind: ValueKind, value_count: ValueCount) -> ColumnSpec {
    ColumnSpec { section: Section::Lists, ..spec(name, kind, value_count) }
}

/// Parses several payloads into the columns of `specs`.
pub fn parse(kind: PayloadKind, specs: &[ColumnSpec], payloads: &[Vec<u8>]) -> Result<Vec<Column>, Fault> {
    let plan = Plan::new(kind, specs.to_vec())?;
    let mut parser = Parser::new(&plan, payloads.len()).expect("memory");
    for payload in payloads {
        parser.push_payload(payload)?;
    }
    Ok(parser.finish().expect("memory"))
}

/// Parses one column of one payload.
///
/// Also parses three copies of the payload and checks that each yields the same values, because the parser uses cached
/// keys for all but the first one.
pub fn parse_values(kind: PayloadKind, spec: ColumnSpec, payload: &[u8]) -> Result<Values, Fault> {
    let once = parse(kind, std::slice::from_ref(&spec), &[payload.to_vec()])?.remove(0).values;
    let three_times = parse(kind, &[spec], &[payload.to_vec(), payload.to_vec(), payload.to_vec()])?.remove(0).values;
    assert_eq!(three_times.len(), 3 * once.len());
    assert_eq!(repeat_values(&once, 3), three_times);
    Ok(once)
}

fn repeat_values(values: &Values, times: usize) -> Values {
    match values {
        Values::Bytes { data, splits } => {
            let starts = (0..times).flat_map(|i| splits[..splits.len() - 1].iter().map(move |&start| (i, start)));
            let mut all: Vec<i64> = starts.map(|(i, start)| (i * data.len()) as i64 + start).collect();
            all.push((times * data.len()) as i64);
            Values::Bytes { data: data.repeat(times), splits: all }
        }
        Values::Float32(values) => Values::Float32(values.repeat(times)),
        Values::Float64(values) => Values::Float64(values.repeat(times)),
        Values::Int32(values) => Values::Int32(values.repeat(times)),
        Values::Int64(values) => Values::Int64(values.repeat(times)),
        Values::UInt64(values) => Values::UInt64(values.repeat(times)),
    }
}

/// Returns byte strings as values.
pub fn byte_values(values: &[&[u8]]) -> Values {
    let mut splits = vec![0];
    splits.extend(values.iter().scan(0, |end, value| {
        *end += value.len() as i64;
        Some(*end)
    }));
    Values::Bytes { data: values.concat(), splits }
}

/// A small deterministic generator (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}
