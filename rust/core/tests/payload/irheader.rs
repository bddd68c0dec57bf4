//! Image records: a header of 24 bytes, `flag` labels, data.
use crate::common::*;
use recordmill_core::error::FaultKind;
use recordmill_core::payload::{
    ColumnData, PayloadKind, Section, ValueCount, ValueKind, Values, ValuesRef, serialize, validate_payload,
};

const KIND: PayloadKind = PayloadKind::IrHeader;

fn encode_header(flag: u32, label: f32, id: u64, id2: u64) -> Vec<u8> {
    concat(&[&flag.to_le_bytes(), &label.to_le_bytes(), &id.to_le_bytes(), &id2.to_le_bytes()])
}

fn scalar_column<'a>(name: &'a [u8], values: ValuesRef<'a>) -> ColumnData<'a> {
    ColumnData {
        name,
        section: Section::Context,
        values,
        fixed: Some(1),
        row_splits: None,
        frame_splits: None,
        present: None,
        scalar: false,
    }
}

#[test]
fn parse_reads_all_columns_of_handwritten_header() {
    let payload = parse_hex("00000000 0000e040 2a00000000000000 ffffffffffffffff ffd8");
    let cases = [
        ("label", Values::Float32(vec![7.0])),
        ("id", Values::UInt64(vec![42])),
        ("id2", Values::UInt64(vec![u64::MAX])),
        ("flag", Values::Int64(vec![0])),
        ("data", byte_values(&[b"\xff\xd8"])),
    ];
    for (name, expected) in cases {
        for value_count in [ValueCount::Fixed(1), ValueCount::Ragged] {
            assert_eq!(parse_values(KIND, spec(name, expected.kind(), value_count), &payload).as_ref(), Ok(&expected));
        }
    }
}

#[test]
fn parse_prefers_labels_after_the_header_to_the_header_label() {
    let vector = concat(&[&encode_header(2, 9.0, 1, 0), &1.5_f32.to_le_bytes(), &2.5_f32.to_le_bytes(), b"x"]);
    let single = concat(&[&encode_header(1, 0.0, 1, 0), &4.0_f32.to_le_bytes()]);
    let specs =
        [spec("label", ValueKind::Float32, ValueCount::Ragged), spec("data", ValueKind::Bytes, ValueCount::Fixed(1))];
    let found = parse(KIND, &specs, &[vector.clone(), encode_header(0, 3.0, 2, 0), single]).unwrap();
    assert_eq!(found[0].values, Values::Float32(vec![1.5, 2.5, 3.0, 4.0]));
    assert_eq!(found[0].row_splits, Some(vec![0, 2, 3, 4]));
    assert_eq!(found[1].values, byte_values(&[b"x", b"", b""]));
    let fault = parse_values(KIND, spec("label", ValueKind::Float32, ValueCount::Fixed(1)), &vector).unwrap_err();
    assert_eq!((fault.kind, fault.found.as_str()), (FaultKind::FeatureMismatch, "2 float32 values"));
}

#[test]
fn validate_payload_rejects_truncated_header_or_labels() {
    for len in 0..24 {
        assert_eq!(
            validate_payload(KIND, &encode_header(0, 1.0, 0, 0)[..len]).unwrap_err().kind,
            FaultKind::BadPayload
        );
    }
    assert!(validate_payload(KIND, &encode_header(0, 1.0, 0, 0)).is_ok());
    for flag in [1, 2, 0x4000_0000, u32::MAX] {
        let payload = concat(&[&encode_header(flag, 0.0, 0, 0), &[0; 3]]);
        assert_eq!(validate_payload(KIND, &payload).unwrap_err().kind, FaultKind::BadPayload);
    }
}

#[test]
fn serialize_writes_scalar_label_to_the_header() {
    let label = ColumnData { scalar: true, ..scalar_column(b"label", ValuesRef::Float32(&[7.0, -1.0])) };
    let columns = [
        label,
        scalar_column(b"id", ValuesRef::UInt64(&[42, 43])),
        scalar_column(b"id2", ValuesRef::UInt64(&[u64::MAX, 0])),
        scalar_column(b"data", ValuesRef::Bytes { data: b"\xff\xd8", splits: &[0, 2, 2] }),
    ];
    let (payloads, splits) = serialize(KIND, 2, &columns).unwrap();
    assert_eq!(splits, [0, 26, 50]);
    assert_eq!(payloads[..26], parse_hex("00000000 0000e040 2a00000000000000 ffffffffffffffff ffd8"));
    assert_eq!(payloads[26..], encode_header(0, -1.0, 43, 0));
}

#[test]
fn serialize_writes_label_vectors_after_the_header() {
    let splits = [0, 2, 3, 3];
    let label = ColumnData {
        fixed: None,
        row_splits: Some(&splits),
        ..scalar_column(b"label", ValuesRef::Float32(&[1.5, 2.5, 4.0]))
    };
    let (payloads, ends) = serialize(KIND, 3, &[label]).unwrap();
    assert_eq!(ends, [0, 32, 60, 84]);
    assert_eq!(payloads[..32], concat(&[&encode_header(2, 0.0, 0, 0), &1.5_f32.to_le_bytes(), &2.5_f32.to_le_bytes()]));
    assert_eq!(payloads[32..60], concat(&[&encode_header(1, 0.0, 0, 0), &4.0_f32.to_le_bytes()]));
    assert_eq!(payloads[60..], encode_header(0, 0.0, 0, 0), "no labels are written as the scalar 0");
}

#[test]
fn serialize_rejects_flags_that_do_not_match_the_labels() {
    let splits = [0, 1, 2];
    let label = ColumnData {
        fixed: None,
        row_splits: Some(&splits),
        ..scalar_column(b"label", ValuesRef::Float32(&[5.0, 6.0]))
    };
    let (payloads, _) = serialize(KIND, 2, &[label, scalar_column(b"flag", ValuesRef::Int64(&[0, 1]))]).unwrap();
    assert_eq!(payloads, concat(&[&encode_header(0, 5.0, 0, 0), &encode_header(1, 0.0, 0, 0), &6.0_f32.to_le_bytes()]));
    for flags in [[0, 2], [-1, 1], [1 << 32, 1]] {
        let fault = serialize(KIND, 2, &[label, scalar_column(b"flag", ValuesRef::Int64(&flags))]).unwrap_err();
        assert_eq!(fault.kind, FaultKind::FeatureMismatch);
    }
    assert!(serialize(KIND, 1, &[scalar_column(b"flag", ValuesRef::Int64(&[1]))]).is_err());
    assert!(serialize(KIND, 1, &[scalar_column(b"flag", ValuesRef::Int64(&[0]))]).is_ok());
}

#[test]
fn serialize_rejects_columns_that_image_records_do_not_have() {
    for column in [
        scalar_column(b"label", ValuesRef::Int64(&[1])),
        scalar_column(b"id", ValuesRef::Int64(&[1])),
        scalar_column(b"width", ValuesRef::UInt64(&[1])),
    ] {
        assert_eq!(serialize(KIND, 1, &[column]).unwrap_err().kind, FaultKind::FeatureMismatch);
    }
}

#[test]
fn serialize_writes_zeros_for_absent_values() {
    let absent = |column| ColumnData { present: Some(&[0]), ..column };
    let columns = [
        absent(ColumnData { scalar: true, ..scalar_column(b"label", ValuesRef::Float32(&[5.0])) }),
        absent(scalar_column(b"id", ValuesRef::UInt64(&[5]))),
        absent(scalar_column(b"data", ValuesRef::Bytes { data: b"x", splits: &[0, 1] })),
    ];
    assert_eq!(serialize(KIND, 1, &columns).unwrap().0, encode_header(0, 0.0, 0, 0));
}
