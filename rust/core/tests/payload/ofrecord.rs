//! `OFRecord`: a map at the top level, five kinds, and merge rules.
use crate::common::*;
use recordmill_core::error::FaultKind;
use recordmill_core::payload::{PayloadKind, ValueCount, ValueKind, Values, validate_payload};

const KIND: PayloadKind = PayloadKind::OfRecord;

fn ofrecord_with_all_kinds() -> Vec<u8> {
    let doubles = encode_field(3, &encode_field(1, &[1.5_f64.to_le_bytes(), (-2.0_f64).to_le_bytes()].concat()));
    concat(&[
        &encode_entry(b"bytes", &encode_bytes_feature(&[b"x", b"yz"])),
        &encode_entry(b"double", &doubles),
        &encode_entry(b"float", &encode_float_feature(&[0.5, -1.0])),
        &encode_entry(b"int32", &encode_field(4, &encode_packed_varints(&[7, -7]))),
        &encode_entry(b"int64", &encode_field(5, &encode_packed_varints(&[1 << 40, -1]))),
    ])
}

#[test]
fn parse_reads_all_kinds() {
    let cases = [
        ("bytes", byte_values(&[b"x", b"yz"])),
        ("double", Values::Float64(vec![1.5, -2.0])),
        ("float", Values::Float32(vec![0.5, -1.0])),
        ("int32", Values::Int32(vec![7, -7])),
        ("int64", Values::Int64(vec![1 << 40, -1])),
    ];
    for (name, expected) in cases {
        for value_count in [ValueCount::Fixed(2), ValueCount::Ragged] {
            assert_eq!(
                parse_values(KIND, spec(name, expected.kind(), value_count), &ofrecord_with_all_kinds()).as_ref(),
                Ok(&expected)
            );
        }
    }
}

#[test]
fn parse_truncates_int32_to_32_bits() {
    let wide = [(1 << 33) + 5, 0xffff_ffff, i64::MIN, -5];
    let expected = [5, -1, 0, -5];
    let spec = spec("a", ValueKind::Int32, ValueCount::Ragged);
    let found =
        parse_values(KIND, spec.clone(), &encode_entry(b"a", &encode_field(4, &encode_packed_varints(&wide)))).unwrap();
    assert_eq!(found, Values::Int32(expected.to_vec()));
    for (value, expected) in wide.into_iter().zip(expected) {
        let packed_form = encode_field(4, &encode_packed_varints(&[value]));
        let plain_form = encode_field(4, &concat(&[&parse_hex("08"), &encode_varint(value as u64)]));
        for form in [packed_form, plain_form] {
            assert_eq!(parse_values(KIND, spec.clone(), &encode_entry(b"a", &form)), Ok(Values::Int32(vec![expected])));
        }
    }
}

#[test]
fn parse_reads_unpacked_doubles() {
    let list = concat(&[&parse_hex("09"), &2.5_f64.to_le_bytes(), &encode_field(1, &3.5_f64.to_le_bytes())]);
    let found = parse_values(
        KIND,
        spec("a", ValueKind::Float64, ValueCount::Ragged),
        &encode_entry(b"a", &encode_field(3, &list)),
    );
    assert_eq!(found, Ok(Values::Float64(vec![2.5, 3.5])));
    let truncated = encode_entry(b"a", &encode_field(3, &encode_field(1, &[0; 12])));
    assert_eq!(validate_payload(KIND, &truncated).unwrap_err().kind, FaultKind::BadPayload);
}

#[test]
fn parse_rejects_int32_for_int64_column() {
    let fault = parse_values(KIND, spec("int32", ValueKind::Int64, ValueCount::Fixed(2)), &ofrecord_with_all_kinds())
        .unwrap_err();
    assert_eq!(
        (fault.kind, fault.expected.as_str(), fault.found.as_str()),
        (FaultKind::FeatureMismatch, "int64", "int32")
    );
}

#[test]
fn parse_accepts_key_that_is_not_utf8() {
    let payload = concat(&[&encode_entry(b"\xff\xfe", &encode_float_feature(&[1.0])), &ofrecord_with_all_kinds()]);
    assert!(validate_payload(KIND, &payload).is_ok());
    let mut spec = spec("", ValueKind::Float32, ValueCount::Fixed(1));
    spec.name = b"\xff\xfe".to_vec();
    assert_eq!(parse_values(KIND, spec, &payload), Ok(Values::Float32(vec![1.0])));
}

#[test]
fn parse_uses_the_last_entry_and_the_last_kind() {
    let feature = concat(&[
        &encode_field(4, &encode_packed_varints(&[1])),
        &encode_field(5, &encode_packed_varints(&[2])),
        &encode_field(4, &encode_packed_varints(&[3, 4])),
    ]);
    let payload = concat(&[&encode_entry(b"a", &encode_float_feature(&[1.0])), &encode_entry(b"a", &feature)]);
    let found = parse_values(KIND, spec("a", ValueKind::Int32, ValueCount::Fixed(2)), &payload);
    assert_eq!(found, Ok(Values::Int32(vec![3, 4])));
}

#[test]
fn parse_keeps_entries_with_unknown_fields() {
    let payload = encode_field(
        1,
        &concat(&[&encode_field(1, b"a"), &encode_field(2, &encode_float_feature(&[2.0])), &encode_field(3, b"odd")]),
    );
    let found = parse_values(KIND, spec("a", ValueKind::Float32, ValueCount::Fixed(1)), &payload);
    assert_eq!(found, Ok(Values::Float32(vec![2.0])));
}
