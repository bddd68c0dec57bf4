//! `OFRecord`: a map at the top level, five kinds, and merge rules.
use crate::common::*;
use recordmill_core::error::FaultKind;
use recordmill_core::payload::{Layout, PayloadKind, ValueKind, Values, check};

const KIND: PayloadKind = PayloadKind::OfRecord;

fn sample() -> Vec<u8> {
    let doubles = field(3, &field(1, &[1.5_f64.to_le_bytes(), (-2.0_f64).to_le_bytes()].concat()));
    join(&[
        &entry(b"bytes", &strings(&[b"x", b"yz"])),
        &entry(b"double", &doubles),
        &entry(b"float", &floats(&[0.5, -1.0])),
        &entry(b"int32", &field(4, &packed(&[7, -7]))),
        &entry(b"int64", &field(5, &packed(&[1 << 40, -1]))),
    ])
}

#[test]
fn parse_reads_all_kinds() {
    let cases = [
        ("bytes", bytes(&[b"x", b"yz"])),
        ("double", Values::Float64(vec![1.5, -2.0])),
        ("float", Values::Float32(vec![0.5, -1.0])),
        ("int32", Values::Int32(vec![7, -7])),
        ("int64", Values::Int64(vec![1 << 40, -1])),
    ];
    for (name, expected) in cases {
        for layout in [Layout::Fixed(2), Layout::Ragged] {
            assert_eq!(parse_values(KIND, spec(name, expected.kind(), layout), &sample()).as_ref(), Ok(&expected));
        }
    }
}

#[test]
fn parse_truncates_int32_to_32_bits() {
    let wide = [(1 << 33) + 5, 0xffff_ffff, i64::MIN, -5];
    let expected = [5, -1, 0, -5];
    let spec = spec("a", ValueKind::Int32, Layout::Ragged);
    let found = parse_values(KIND, spec.clone(), &entry(b"a", &field(4, &packed(&wide)))).unwrap();
    assert_eq!(found, Values::Int32(expected.to_vec()));
    for (value, expected) in wide.into_iter().zip(expected) {
        let packed_form = field(4, &packed(&[value]));
        let plain_form = field(4, &join(&[&hex("08"), &varint(value as u64)]));
        for form in [packed_form, plain_form] {
            assert_eq!(parse_values(KIND, spec.clone(), &entry(b"a", &form)), Ok(Values::Int32(vec![expected])));
        }
    }
}

#[test]
fn parse_reads_unpacked_doubles() {
    let list = join(&[&hex("09"), &2.5_f64.to_le_bytes(), &field(1, &3.5_f64.to_le_bytes())]);
    let found = parse_values(KIND, spec("a", ValueKind::Float64, Layout::Ragged), &entry(b"a", &field(3, &list)));
    assert_eq!(found, Ok(Values::Float64(vec![2.5, 3.5])));
    let truncated = entry(b"a", &field(3, &field(1, &[0; 12])));
    assert_eq!(check(KIND, &truncated).unwrap_err().kind, FaultKind::BadPayload);
}

#[test]
fn parse_rejects_int32_for_int64_column() {
    let fault = parse_values(KIND, spec("int32", ValueKind::Int64, Layout::Fixed(2)), &sample()).unwrap_err();
    assert_eq!(
        (fault.kind, fault.expected.as_str(), fault.found.as_str()),
        (FaultKind::FeatureMismatch, "int64", "int32")
    );
}

#[test]
fn parse_accepts_key_that_is_not_utf8() {
    let payload = join(&[&entry(b"\xff\xfe", &floats(&[1.0])), &sample()]);
    assert!(check(KIND, &payload).is_ok());
    let mut spec = spec("", ValueKind::Float32, Layout::Fixed(1));
    spec.name = b"\xff\xfe".to_vec();
    assert_eq!(parse_values(KIND, spec, &payload), Ok(Values::Float32(vec![1.0])));
}

#[test]
fn parse_uses_the_last_entry_and_the_last_kind() {
    let feature = join(&[&field(4, &packed(&[1])), &field(5, &packed(&[2])), &field(4, &packed(&[3, 4]))]);
    let payload = join(&[&entry(b"a", &floats(&[1.0])), &entry(b"a", &feature)]);
    let found = parse_values(KIND, spec("a", ValueKind::Int32, Layout::Fixed(2)), &payload);
    assert_eq!(found, Ok(Values::Int32(vec![3, 4])));
}

#[test]
fn parse_keeps_entries_with_unknown_fields() {
    let payload = field(1, &join(&[&field(1, b"a"), &field(2, &floats(&[2.0])), &field(3, b"odd")]));
    let found = parse_values(KIND, spec("a", ValueKind::Float32, Layout::Fixed(1)), &payload);
    assert_eq!(found, Ok(Values::Float32(vec![2.0])));
}
