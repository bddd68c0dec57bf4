//! `serialize`: canonical bytes, and rejected columns.
use crate::common::*;
use recordmill_core::error::FaultKind;
use recordmill_core::payload::{ColumnData, PayloadKind, Section, ValuesRef, serialize};

fn fixed<'a>(name: &'a str, values: ValuesRef<'a>, count: usize) -> ColumnData<'a> {
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

fn ragged<'a>(name: &'a str, values: ValuesRef<'a>, row_splits: &'a [i64]) -> ColumnData<'a> {
    ColumnData { fixed: None, row_splits: Some(row_splits), ..fixed(name, values, 0) }
}

fn frames<'a>(name: &'a str, values: ValuesRef<'a>, rows: &'a [i64], frames: &'a [i64]) -> ColumnData<'a> {
    ColumnData { section: Section::Lists, frame_splits: Some(frames), ..ragged(name, values, rows) }
}

#[test]
fn serialize_writes_canonical_example() {
    let columns = [
        fixed("b", ValuesRef::Int64(&[150, -1]), 1),
        fixed("a", ValuesRef::Float32(&[1.0, -2.0]), 1),
        ragged("", ValuesRef::Bytes { data: b"xyz", splits: &[0, 2, 3] }, &[0, 2, 2]),
    ];
    let (payloads, splits) = serialize(PayloadKind::Example, 2, &columns).unwrap();
    let first = hex("0a 2b  0a 0d 0a 01 61 12 08 12 06 0a 04 00 00 80 3f  0a 0b 0a 01 62 12 06 1a 04 0a 02 96 01
         0a 0d 0a 00 12 09 0a 07 0a 02 78 79 0a 01 7a");
    let second = hex("0a 2c  0a 0d 0a 01 61 12 08 12 06 0a 04 00 00 00 c0
         0a 13 0a 01 62 12 0e 1a 0c 0a 0a ff ff ff ff ff ff ff ff ff 01  0a 06 0a 00 12 02 0a 00");
    assert_eq!(splits, [0, first.len() as i64, (first.len() + second.len()) as i64]);
    assert_eq!(payloads[..first.len()], first);
    assert_eq!(payloads[first.len()..], second);
}

#[test]
fn serialize_sorts_keys_before_their_prefixes() {
    let sorted = ["B", "a\0", "aa", "abc", "ab", "a", "b", "é", ""];
    let columns: Vec<_> = sorted.iter().rev().map(|name| fixed(name, ValuesRef::Int64(&[1]), 1)).collect();
    let (payload, _) = serialize(PayloadKind::Example, 1, &columns).unwrap();
    let entries: Vec<_> = sorted.iter().map(|name| entry(name.as_bytes(), &int64s(&[1]))).collect();
    assert_eq!(payload, example(&entries));
}

#[test]
fn serialize_writes_the_kind_of_empty_lists() {
    let cases = [
        (ValuesRef::Int64(&[]), "1a 00"),
        (ValuesRef::Float32(&[]), "12 00"),
        (ValuesRef::Bytes { data: b"", splits: &[0] }, "0a 00"),
    ];
    for (values, feature) in cases {
        let (payload, _) = serialize(PayloadKind::Example, 1, &[fixed("a", values, 0)]).unwrap();
        assert_eq!(payload, example(&[entry(b"a", &hex(feature))]));
    }
}

#[test]
fn serialize_omits_absent_features() {
    let absent = ColumnData { present: Some(&[1, 0, 0]), ..fixed("a", ValuesRef::Int64(&[1, 2, 3]), 1) };
    let other = ColumnData { present: Some(&[1, 1, 0]), ..fixed("b", ValuesRef::Int64(&[4, 5, 6]), 1) };
    let (payloads, splits) = serialize(PayloadKind::Example, 3, &[other, absent]).unwrap();
    let expected = [
        example(&[entry(b"a", &int64s(&[1])), entry(b"b", &int64s(&[4]))]),
        example(&[entry(b"b", &int64s(&[5]))]),
        Vec::new(),
    ];
    assert_eq!(payloads, expected.concat());
    assert_eq!(splits[2..], [splits[2], splits[2]], "no features make an empty payload");
}

#[test]
fn serialize_writes_ofrecord_as_top_level_map() {
    let columns = [
        fixed("i", ValuesRef::Int32(&[-1, 5]), 2),
        fixed("l", ValuesRef::Int64(&[1 << 40]), 1),
        fixed("d", ValuesRef::Float64(&[1.5]), 1),
        fixed("f", ValuesRef::Float32(&[0.5]), 1),
        fixed("b", ValuesRef::Bytes { data: b"x", splits: &[0, 1] }, 1),
    ];
    let (payload, _) = serialize(PayloadKind::OfRecord, 1, &columns).unwrap();
    let expected = join(&[
        &entry(b"b", &strings(&[b"x"])),
        &entry(b"d", &field(3, &field(1, &1.5_f64.to_le_bytes()))),
        &entry(b"f", &floats(&[0.5])),
        &entry(b"i", &field(4, &hex("0a 0b ff ff ff ff ff ff ff ff ff 01 05"))),
        &entry(b"l", &field(5, &packed(&[1 << 40]))),
    ]);
    assert_eq!(payload, expected);
}

#[test]
fn serialize_writes_each_frame_as_a_feature() {
    let long = vec![7; 200];
    let strings_column = frames("s", ValuesRef::Bytes { data: &long, splits: &[0, 0, 200] }, &[0, 2], &[0, 1, 2]);
    let fixed_frames = ColumnData { fixed: Some(2), ..frames("i", ValuesRef::Int64(&[1, 2, 3, 4]), &[0, 2], &[]) };
    let columns = [
        strings_column,
        ColumnData { frame_splits: None, ..fixed_frames },
        frames("e", ValuesRef::Float32(&[]), &[0, 0], &[0]),
        fixed("id", ValuesRef::Int64(&[9]), 1),
    ];
    let (payload, _) = serialize(PayloadKind::SequenceExample, 1, &columns).unwrap();
    let lists = join(&[
        &entry(b"e", b""),
        &entry(b"i", &join(&[&field(1, &int64s(&[1, 2])), &field(1, &int64s(&[3, 4]))])),
        &entry(b"s", &join(&[&field(1, &strings(&[b""])), &field(1, &strings(&[&long]))])),
    ]);
    assert_eq!(payload, join(&[&example(&[entry(b"id", &int64s(&[9]))]), &field(2, &lists)]));
}

#[test]
fn serialize_rejects_inconsistent_columns() {
    let ints = ValuesRef::Int64(&[1, 2, 3]);
    let text = |splits| ValuesRef::Bytes { data: b"abc", splits };
    let cases = [
        (fixed("a", ints, 1), "wrong total number"),
        (fixed("a", ints, usize::MAX), "wrong total number"),
        (ragged("a", ints, &[0, 3]), "wrong length"),
        (ragged("a", ints, &[0, 2, 1]), "decreasing or negative"),
        (ragged("a", ints, &[-1, 2, 3]), "decreasing or negative"),
        (ragged("a", ints, &[0, 2, 4]), "beyond its values"),
        (ragged("a", text(&[]), &[0, 0, 0]), "wrong length"),
        (ragged("a", text(&[0, 2, 4]), &[0, 1, 2]), "beyond its values"),
        (ragged("a", text(&[2, 0, 3]), &[0, 1, 2]), "decreasing or negative"),
        (ColumnData { fixed: Some(1), ..ragged("a", ints, &[0, 1, 3]) }, "both fixed and ragged"),
        (ColumnData { fixed: None, ..fixed("a", ints, 1) }, "neither splits nor"),
        (ColumnData { present: Some(&[1]), ..ragged("a", ints, &[0, 1, 3]) }, "presence mask"),
        (ColumnData { section: Section::Lists, ..fixed("a", ints, 1) }, "without row splits"),
        (frames("a", ints, &[0, 1, 2], &[0, 1]), "wrong length"),
        (frames("a", ints, &[0, 1, i64::MAX], &[0, 1, 3]), "wrong length"),
        (frames("a", ints, &[0, 1, 2], &[0, 1, 4]), "beyond its values"),
        (fixed("a", ValuesRef::Float64(&[1.0, 2.0]), 1), "does not support"),
        (fixed("a", ValuesRef::Int32(&[1, 2]), 1), "does not support"),
    ];
    for (column, what) in cases {
        let fault = serialize(PayloadKind::SequenceExample, 2, &[column]).unwrap_err();
        assert_eq!(fault.kind, FaultKind::FeatureMismatch);
        assert!(fault.message.contains(what), "'{}' does not contain '{what}'", fault.message);
    }
}

#[test]
fn serialize_rejects_duplicate_and_invalid_names() {
    let column = fixed("a", ValuesRef::Int64(&[1]), 1);
    assert!(serialize(PayloadKind::Example, 1, &[column, column]).unwrap_err().message.contains("given twice"));
    let not_utf8 = ColumnData { name: b"\xff", ..column };
    assert!(serialize(PayloadKind::Example, 1, &[not_utf8]).unwrap_err().message.contains("not UTF-8"));
    assert!(serialize(PayloadKind::OfRecord, 1, &[not_utf8]).is_ok());
    let list = frames("a", ValuesRef::Int64(&[1]), &[0, 1], &[0, 1]);
    assert!(serialize(PayloadKind::Example, 1, &[list]).unwrap_err().message.contains("feature lists"));
    assert!(serialize(PayloadKind::SequenceExample, 1, &[list, column]).is_ok());
}
