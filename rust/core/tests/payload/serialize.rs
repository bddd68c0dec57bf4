//! `serialize`: canonical bytes, and rejected columns.
use crate::common::*;
use recordmill_core::error::FaultKind;
use recordmill_core::payload::{ColumnData, PayloadKind, Section, ValuesRef, serialize};

fn fixed_column<'a>(name: &'a str, values: ValuesRef<'a>, count: usize) -> ColumnData<'a> {
    ColumnData {
        name: name.as_bytes(),
        section: Section::Context,
        values,
        fixed: Some(count),
        row_splits: None,
        frame_splits: None,
        present: None,
        scalar: false,
    }
}

fn ragged_column<'a>(name: &'a str, values: ValuesRef<'a>, row_splits: &'a [i64]) -> ColumnData<'a> {
    ColumnData { fixed: None, row_splits: Some(row_splits), ..fixed_column(name, values, 0) }
}

fn feature_list_column<'a>(name: &'a str, values: ValuesRef<'a>, rows: &'a [i64], frames: &'a [i64]) -> ColumnData<'a> {
    ColumnData { section: Section::Lists, frame_splits: Some(frames), ..ragged_column(name, values, rows) }
}

#[test]
fn serialize_writes_canonical_example() {
    let columns = [
        fixed_column("b", ValuesRef::Int64(&[150, -1]), 1),
        fixed_column("a", ValuesRef::Float32(&[1.0, -2.0]), 1),
        ragged_column("", ValuesRef::Bytes { data: b"xyz", splits: &[0, 2, 3] }, &[0, 2, 2]),
    ];
    let (payloads, splits) = serialize(PayloadKind::Example, 2, &columns).unwrap();
    let first = parse_hex(
        "0a 2b  0a 0d 0a 01 61 12 08 12 06 0a 04 00 00 80 3f  0a 0b 0a 01 62 12 06 1a 04 0a 02 96 01
         0a 0d 0a 00 12 09 0a 07 0a 02 78 79 0a 01 7a",
    );
    let second = parse_hex(
        "0a 2c  0a 0d 0a 01 61 12 08 12 06 0a 04 00 00 00 c0
         0a 13 0a 01 62 12 0e 1a 0c 0a 0a ff ff ff ff ff ff ff ff ff 01  0a 06 0a 00 12 02 0a 00",
    );
    assert_eq!(splits, [0, first.len() as i64, (first.len() + second.len()) as i64]);
    assert_eq!(payloads[..first.len()], first);
    assert_eq!(payloads[first.len()..], second);
}

#[test]
fn serialize_sorts_keys_before_their_prefixes() {
    let sorted = ["B", "a\0", "aa", "abc", "ab", "a", "b", "é", ""];
    let columns: Vec<_> = sorted.iter().rev().map(|name| fixed_column(name, ValuesRef::Int64(&[1]), 1)).collect();
    let (payload, _) = serialize(PayloadKind::Example, 1, &columns).unwrap();
    let entries: Vec<_> =
        sorted.iter().map(|name| encode_entry(name.as_bytes(), &encode_int64_feature(&[1]))).collect();
    assert_eq!(payload, encode_example(&entries));
}

#[test]
fn serialize_writes_the_kind_of_empty_lists() {
    let cases = [
        (ValuesRef::Int64(&[]), "1a 00"),
        (ValuesRef::Float32(&[]), "12 00"),
        (ValuesRef::Bytes { data: b"", splits: &[0] }, "0a 00"),
    ];
    for (values, feature) in cases {
        let (payload, _) = serialize(PayloadKind::Example, 1, &[fixed_column("a", values, 0)]).unwrap();
        assert_eq!(payload, encode_example(&[encode_entry(b"a", &parse_hex(feature))]));
    }
}

#[test]
fn serialize_omits_absent_features() {
    let absent = ColumnData { present: Some(&[1, 0, 0]), ..fixed_column("a", ValuesRef::Int64(&[1, 2, 3]), 1) };
    let other = ColumnData { present: Some(&[1, 1, 0]), ..fixed_column("b", ValuesRef::Int64(&[4, 5, 6]), 1) };
    let (payloads, splits) = serialize(PayloadKind::Example, 3, &[other, absent]).unwrap();
    let expected = [
        encode_example(&[
            encode_entry(b"a", &encode_int64_feature(&[1])),
            encode_entry(b"b", &encode_int64_feature(&[4])),
        ]),
        encode_example(&[encode_entry(b"b", &encode_int64_feature(&[5]))]),
        Vec::new(),
    ];
    assert_eq!(payloads, expected.concat());
    assert_eq!(splits[2..], [splits[2], splits[2]], "no features make an empty payload");
}

#[test]
fn serialize_writes_ofrecord_as_top_level_map() {
    let columns = [
        fixed_column("i", ValuesRef::Int32(&[-1, 5]), 2),
        fixed_column("l", ValuesRef::Int64(&[1 << 40]), 1),
        fixed_column("d", ValuesRef::Float64(&[1.5]), 1),
        fixed_column("f", ValuesRef::Float32(&[0.5]), 1),
        fixed_column("b", ValuesRef::Bytes { data: b"x", splits: &[0, 1] }, 1),
    ];
    let (payload, _) = serialize(PayloadKind::OfRecord, 1, &columns).unwrap();
    let expected = concat(&[
        &encode_entry(b"b", &encode_bytes_feature(&[b"x"])),
        &encode_entry(b"d", &encode_field(3, &encode_field(1, &1.5_f64.to_le_bytes()))),
        &encode_entry(b"f", &encode_float_feature(&[0.5])),
        &encode_entry(b"i", &encode_field(4, &parse_hex("0a 0b ff ff ff ff ff ff ff ff ff 01 05"))),
        &encode_entry(b"l", &encode_field(5, &encode_packed_varints(&[1 << 40]))),
    ]);
    assert_eq!(payload, expected);
}

#[test]
fn serialize_writes_each_frame_as_a_feature() {
    let long = vec![7; 200];
    let strings_column =
        feature_list_column("s", ValuesRef::Bytes { data: &long, splits: &[0, 0, 200] }, &[0, 2], &[0, 1, 2]);
    let fixed_frames =
        ColumnData { fixed: Some(2), ..feature_list_column("i", ValuesRef::Int64(&[1, 2, 3, 4]), &[0, 2], &[]) };
    let columns = [
        strings_column,
        ColumnData { frame_splits: None, ..fixed_frames },
        feature_list_column("e", ValuesRef::Float32(&[]), &[0, 0], &[0]),
        fixed_column("id", ValuesRef::Int64(&[9]), 1),
    ];
    let (payload, _) = serialize(PayloadKind::SequenceExample, 1, &columns).unwrap();
    let lists = concat(&[
        &encode_entry(b"e", b""),
        &encode_entry(
            b"i",
            &concat(&[
                &encode_field(1, &encode_int64_feature(&[1, 2])),
                &encode_field(1, &encode_int64_feature(&[3, 4])),
            ]),
        ),
        &encode_entry(
            b"s",
            &concat(&[
                &encode_field(1, &encode_bytes_feature(&[b""])),
                &encode_field(1, &encode_bytes_feature(&[&long])),
            ]),
        ),
    ]);
    assert_eq!(
        payload,
        concat(&[&encode_example(&[encode_entry(b"id", &encode_int64_feature(&[9]))]), &encode_field(2, &lists)])
    );
}

#[test]
fn serialize_rejects_inconsistent_columns() {
    let ints = ValuesRef::Int64(&[1, 2, 3]);
    let text = |splits| ValuesRef::Bytes { data: b"abc", splits };
    let cases = [
        (fixed_column("a", ints, 1), "wrong total number"),
        (fixed_column("a", ints, usize::MAX), "wrong total number"),
        (ragged_column("a", ints, &[0, 3]), "wrong length"),
        (ragged_column("a", ints, &[0, 2, 1]), "decreasing or negative"),
        (ragged_column("a", ints, &[-1, 2, 3]), "decreasing or negative"),
        (ragged_column("a", ints, &[0, 2, 4]), "beyond its values"),
        (ragged_column("a", text(&[]), &[0, 0, 0]), "wrong length"),
        (ragged_column("a", text(&[0, 2, 4]), &[0, 1, 2]), "beyond its values"),
        (ragged_column("a", text(&[2, 0, 3]), &[0, 1, 2]), "decreasing or negative"),
        (ColumnData { fixed: Some(1), ..ragged_column("a", ints, &[0, 1, 3]) }, "both fixed and ragged"),
        (ColumnData { fixed: None, ..fixed_column("a", ints, 1) }, "neither splits nor"),
        (ColumnData { present: Some(&[1]), ..ragged_column("a", ints, &[0, 1, 3]) }, "presence mask"),
        (ColumnData { section: Section::Lists, ..fixed_column("a", ints, 1) }, "without row splits"),
        (feature_list_column("a", ints, &[0, 1, 2], &[0, 1]), "wrong length"),
        (feature_list_column("a", ints, &[0, 1, i64::MAX], &[0, 1, 3]), "wrong length"),
        (feature_list_column("a", ints, &[0, 1, 2], &[0, 1, 4]), "beyond its values"),
        (fixed_column("a", ValuesRef::Float64(&[1.0, 2.0]), 1), "does not support"),
        (fixed_column("a", ValuesRef::Int32(&[1, 2]), 1), "does not support"),
    ];
    for (column, what) in cases {
        let fault = serialize(PayloadKind::SequenceExample, 2, &[column]).unwrap_err();
        assert_eq!(fault.kind, FaultKind::FeatureMismatch);
        assert!(fault.message.contains(what), "'{}' does not contain '{what}'", fault.message);
    }
}

#[test]
fn serialize_rejects_duplicate_and_invalid_names() {
    let column = fixed_column("a", ValuesRef::Int64(&[1]), 1);
    assert!(serialize(PayloadKind::Example, 1, &[column, column]).unwrap_err().message.contains("given twice"));
    let not_utf8 = ColumnData { name: b"\xff", ..column };
    assert!(serialize(PayloadKind::Example, 1, &[not_utf8]).unwrap_err().message.contains("not UTF-8"));
    assert!(serialize(PayloadKind::OfRecord, 1, &[not_utf8]).is_ok());
    let list = feature_list_column("a", ValuesRef::Int64(&[1]), &[0, 1], &[0, 1]);
    assert!(serialize(PayloadKind::Example, 1, &[list]).unwrap_err().message.contains("feature lists"));
    assert!(serialize(PayloadKind::SequenceExample, 1, &[list, column]).is_ok());
}
