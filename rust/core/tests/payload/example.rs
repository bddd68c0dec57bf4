//! `Example`: the common encoding, and all unusual encodings that protobuf accepts, rejects or merges.
use crate::common::*;
use recordmill_core::error::{Fault, FaultKind};
use recordmill_core::payload::{
    MissingPolicy, Parser, PayloadKind, Plan, ValueCount, ValueKind, Values, validate_payload,
};

fn parse_int64s(payload: &[u8]) -> Result<Values, Fault> {
    parse_values(PayloadKind::Example, spec("a", ValueKind::Int64, ValueCount::Ragged), payload)
}

fn encode_single_feature(value: &[u8]) -> Vec<u8> {
    encode_example(&[encode_entry(b"a", value)])
}

fn int64_values(values: &[i64]) -> Result<Values, Fault> {
    Ok(Values::Int64(values.to_vec()))
}

#[test]
fn parse_reads_handwritten_bytes() {
    let payload = parse_hex("0a 15 0a 06 0a01 78 12 01 0a  0a 0b 0a01 61 12 06 1a 04 0a 02 96 01");
    assert!(validate_payload(PayloadKind::Example, &payload).is_err(), "the first feature's length runs past its list");
    let payload = parse_hex("0a 0d 0a 0b 0a01 61 12 06 1a 04 0a 02 96 01");
    assert_eq!(parse_int64s(&payload), int64_values(&[150]));
}

#[test]
fn parse_reads_varints_of_all_lengths() {
    for bits in 0..64 {
        let value = (1_u64 << bits | 1) as i64;
        assert_eq!(parse_int64s(&encode_single_feature(&encode_int64_feature(&[value]))), int64_values(&[value]));
        assert_eq!(
            parse_int64s(&encode_single_feature(&encode_int64_feature(&[value, -value, value]))),
            int64_values(&[value, -value, value])
        );
    }
    assert_eq!(
        parse_int64s(&encode_single_feature(&encode_int64_feature(&[i64::MIN, -1, i64::MAX]))),
        int64_values(&[i64::MIN, -1, i64::MAX])
    );
}

#[test]
fn parse_accepts_overlong_varints_up_to_ten_bytes() {
    let list = encode_field(3, &encode_field(1, &parse_hex("85 80 80 00 ff ff ff ff ff ff ff ff ff 7f 07")));
    assert_eq!(parse_int64s(&encode_single_feature(&list)), int64_values(&[5, -1, 7]));
    let list = encode_field(3, &encode_field(1, &parse_hex("ff ff ff ff ff ff ff ff ff ff 01")));
    assert_eq!(parse_int64s(&encode_single_feature(&list)).unwrap_err().kind, FaultKind::BadPayload);
}

#[test]
fn parse_joins_packed_chunks_of_a_list() {
    let list = concat(&[&encode_packed_varints(&[1, 2]), &encode_packed_varints(&[]), &encode_packed_varints(&[3])]);
    assert_eq!(parse_int64s(&encode_single_feature(&encode_field(3, &list))), int64_values(&[1, 2, 3]));
}

#[test]
fn parse_keeps_the_order_of_packed_and_unpacked_values() {
    let list = concat(&[&parse_hex("08 05"), &encode_packed_varints(&[6, 300]), &parse_hex("08 87 80 00")]);
    assert_eq!(parse_int64s(&encode_single_feature(&encode_field(3, &list))), int64_values(&[5, 6, 300, 7]));
    let list = concat(&[&parse_hex("0d 00 00 80 3f"), &encode_field(1, &parse_hex("00 00 00 40 00 00 40 40"))]);
    let found = parse_values(
        PayloadKind::Example,
        spec("a", ValueKind::Float32, ValueCount::Fixed(3)),
        &encode_single_feature(&encode_field(2, &list)),
    );
    assert_eq!(found, Ok(Values::Float32(vec![1.0, 2.0, 3.0])));
}

#[test]
fn parse_merges_repeated_lists() {
    assert_eq!(
        parse_int64s(&encode_single_feature(&concat(&[&encode_int64_feature(&[1]), &encode_int64_feature(&[2, 3])]))),
        int64_values(&[1, 2, 3])
    );
}

#[test]
fn parse_uses_the_last_kind_of_a_feature() {
    assert_eq!(
        parse_int64s(&encode_single_feature(&concat(&[&encode_float_feature(&[1.0]), &encode_int64_feature(&[2])]))),
        int64_values(&[2])
    );
    assert_eq!(
        parse_int64s(&encode_single_feature(&concat(&[
            &encode_int64_feature(&[1]),
            &encode_float_feature(&[1.0]),
            &encode_int64_feature(&[3])
        ]))),
        int64_values(&[3])
    );
    let fault =
        parse_int64s(&encode_single_feature(&concat(&[&encode_int64_feature(&[2]), &encode_float_feature(&[1.0])])))
            .unwrap_err();
    assert_eq!((fault.expected.as_str(), fault.found.as_str()), ("int64", "float32"));
}

#[test]
fn parse_accepts_value_before_key() {
    let content = concat(&[&encode_field(2, &encode_int64_feature(&[4])), &encode_field(1, b"a")]);
    assert_eq!(parse_int64s(&encode_example(&[encode_field(1, &content)])), int64_values(&[4]));
}

#[test]
fn parse_treats_missing_key_as_empty() {
    let payload = encode_example(&[encode_field(1, &encode_field(2, &encode_int64_feature(&[4])))]);
    let found = parse_values(PayloadKind::Example, spec("", ValueKind::Int64, ValueCount::Fixed(1)), &payload);
    assert_eq!(found, int64_values(&[4]));
}

#[test]
fn parse_treats_entry_without_value_as_feature_without_kind() {
    let fault = parse_int64s(&encode_example(&[encode_field(1, &encode_field(1, b"a"))])).unwrap_err();
    assert_eq!((fault.kind, fault.found.as_str()), (FaultKind::FeatureMismatch, "a feature without a kind"));
}

#[test]
fn parse_uses_the_last_key_of_an_entry() {
    let content =
        concat(&[&encode_field(1, b"b"), &encode_field(1, b"a"), &encode_field(2, &encode_int64_feature(&[4]))]);
    assert_eq!(parse_int64s(&encode_example(&[encode_field(1, &content)])), int64_values(&[4]));
}

#[test]
fn parse_merges_two_values_of_an_entry() {
    let content = concat(&[
        &encode_field(1, b"a"),
        &encode_field(2, &encode_int64_feature(&[4])),
        &encode_field(2, &encode_int64_feature(&[5, 6])),
    ]);
    assert_eq!(parse_int64s(&encode_example(&[encode_field(1, &content)])), int64_values(&[4, 5, 6]));
    let content = concat(&[
        &encode_field(1, b"a"),
        &encode_field(2, &encode_float_feature(&[4.0])),
        &encode_field(2, &encode_int64_feature(&[5, 6])),
    ]);
    assert_eq!(parse_int64s(&encode_example(&[encode_field(1, &content)])), int64_values(&[5, 6]));
}

#[test]
fn parse_uses_the_last_entry_of_a_repeated_key() {
    let twice = [
        encode_entry(b"a", &encode_int64_feature(&[1, 2, 3])),
        encode_entry(b"b", &encode_int64_feature(&[9])),
        encode_entry(b"a", &encode_int64_feature(&[4])),
    ];
    assert_eq!(parse_int64s(&encode_example(&twice)), int64_values(&[4]));
    let voided = [encode_entry(b"a", &encode_int64_feature(&[1])), encode_entry(b"a", b"")];
    assert_eq!(parse_int64s(&encode_example(&voided)).unwrap_err().kind, FaultKind::FeatureMismatch);
    let columns =
        [spec("a", ValueKind::Int64, ValueCount::Fixed(1)), spec("b", ValueKind::Int64, ValueCount::Fixed(1))];
    let payloads = vec![
        encode_example(&twice),
        encode_example(&[
            encode_entry(b"b", &encode_int64_feature(&[8])),
            encode_entry(b"a", &encode_int64_feature(&[7])),
        ]),
    ];
    let found = parse(PayloadKind::Example, &columns, &payloads).unwrap();
    assert_eq!(found[0].values, Values::Int64(vec![4, 7]));
    assert_eq!(found[1].values, Values::Int64(vec![9, 8]));
}

#[test]
fn parse_merges_repeated_features_fields() {
    let split = concat(&[
        &encode_example(&[encode_entry(b"b", &encode_float_feature(&[1.0]))]),
        &encode_example(&[encode_entry(b"a", &encode_int64_feature(&[4]))]),
    ]);
    assert_eq!(parse_int64s(&split), int64_values(&[4]));
}

#[test]
fn parse_ignores_unknown_fields_but_drops_entries_that_contain_one() {
    let unknown = parse_hex("48 01  51 0000000000000000  5a 01 00  63 08 01 64  6d 00000000");
    let feature =
        concat(&[&unknown, &encode_field(3, &concat(&[&unknown, &encode_packed_varints(&[4]), &unknown])), &unknown]);
    let features = concat(&[&unknown, &encode_entry(b"a", &feature), &unknown]);
    assert_eq!(parse_int64s(&concat(&[&unknown, &encode_field(1, &features), &unknown])), int64_values(&[4]));
    let dropped =
        encode_field(1, &concat(&[&encode_field(1, b"a"), &encode_field(2, &encode_int64_feature(&[5])), &unknown]));
    assert_eq!(
        parse_int64s(&encode_example(&[encode_entry(b"a", &encode_int64_feature(&[4])), dropped.clone()])),
        int64_values(&[4])
    );
    let fault = parse_int64s(&encode_example(&[dropped])).unwrap_err();
    assert_eq!((fault.kind, fault.found.as_str()), (FaultKind::FeatureMismatch, "no such feature"));
}

#[test]
fn parse_ignores_known_fields_with_wrong_wire_type() {
    assert_eq!(
        parse_int64s(&encode_single_feature(&concat(&[&parse_hex("08 05"), &encode_int64_feature(&[4])]))),
        int64_values(&[4])
    );
    let list = concat(&[&parse_hex("0d 00000000"), &encode_packed_varints(&[4])]);
    assert_eq!(parse_int64s(&encode_single_feature(&encode_field(3, &list))), int64_values(&[4]));
}

#[test]
fn parse_rejects_key_that_is_not_utf8() {
    for key in [&b"\xff"[..], b"\xed\xa0\x80", b"\xc0\x80", b"a\xe2\x82"] {
        let payload = encode_example(&[
            encode_entry(b"a", &encode_int64_feature(&[4])),
            encode_entry(key, &encode_int64_feature(&[4])),
        ]);
        assert_eq!(parse_int64s(&payload).unwrap_err().kind, FaultKind::BadPayload);
    }
    assert!(
        validate_payload(
            PayloadKind::Example,
            &encode_example(&[encode_entry("ключ\0".as_bytes(), &encode_int64_feature(&[4]))])
        )
        .is_ok()
    );
}

#[test]
fn parse_rejects_damaged_value_that_is_not_requested() {
    for value in [
        parse_hex("1a 03 0a 01 80"),
        parse_hex("12 04 0a 02 00 00"),
        parse_hex("0a 03 0a 05 00"),
        parse_hex("1a 7f"),
        parse_hex("08"),
    ] {
        let payload = encode_example(&[encode_entry(b"a", &encode_int64_feature(&[4])), encode_entry(b"b", &value)]);
        assert_eq!(parse_int64s(&payload).unwrap_err().kind, FaultKind::BadPayload, "{value:02x?}");
    }
}

#[test]
fn parse_treats_empty_list_as_present_without_values() {
    assert_eq!(parse_int64s(&encode_single_feature(&parse_hex("1a 00"))), int64_values(&[]));
    assert_eq!(parse_int64s(&encode_single_feature(&parse_hex("1a 02 0a 00"))), int64_values(&[]));
    let spec = spec("a", ValueKind::Int64, ValueCount::Fixed(1));
    let fault = parse_values(PayloadKind::Example, spec, &encode_single_feature(&parse_hex("1a 00"))).unwrap_err();
    assert_eq!(fault.kind, FaultKind::FeatureMismatch);
    assert_eq!(fault.message, "feature 'a' has the wrong number of values");
    assert_eq!((fault.expected.as_str(), fault.found.as_str()), ("1 int64 value", "0 int64 values"));
}

#[test]
fn parse_applies_the_policy_for_missing_features() {
    let payloads = vec![
        encode_single_feature(b""),
        encode_example(&[]),
        Vec::new(),
        encode_single_feature(&encode_int64_feature(&[1, 2])),
    ];
    let mut spec = spec("a", ValueKind::Int64, ValueCount::Fixed(2));
    let fault = parse(PayloadKind::Example, &[spec.clone()], &payloads).unwrap_err();
    assert_eq!(fault.message, "feature 'a' is missing");
    assert_eq!((fault.expected.as_str(), fault.found.as_str()), ("2 int64 values", "a feature without a kind"));
    spec.missing = MissingPolicy::Default(Values::Int64(vec![8, 9]));
    let found = parse(PayloadKind::Example, &[spec.clone()], &payloads).unwrap();
    assert_eq!(found[0].values, Values::Int64(vec![8, 9, 8, 9, 8, 9, 1, 2]));
    assert_eq!((&found[0].row_splits, &found[0].frame_splits), (&None, &None));
    spec.missing = MissingPolicy::Empty;
    spec.value_count = ValueCount::Ragged;
    let found = parse(PayloadKind::Example, &[spec], &payloads).unwrap();
    assert_eq!(found[0].row_splits, Some(vec![0, 0, 0, 0, 2]));
}

#[test]
fn parse_returns_splits_of_strings() {
    let spec = spec("a", ValueKind::Bytes, ValueCount::Ragged);
    let long = vec![7; 1000];
    let found = parse_values(
        PayloadKind::Example,
        spec.clone(),
        &encode_single_feature(&encode_bytes_feature(&[b"x", b"", &long])),
    )
    .unwrap();
    assert_eq!(found, byte_values(&[b"x", b"", &long]));
    let found = parse(
        PayloadKind::Example,
        &[spec],
        &[encode_single_feature(&encode_bytes_feature(&[b"x"])), encode_single_feature(&encode_bytes_feature(&[]))],
    )
    .unwrap();
    assert_eq!((&found[0].values, &found[0].row_splits), (&byte_values(&[b"x"]), &Some(vec![0, 1, 1])));
}

#[test]
fn parse_is_correct_for_keys_in_changing_order() {
    let mut random = Random(5);
    let names: Vec<String> = (0..60).map(|i| format!("{}{i}", "long_feature_name_".repeat(i % 3))).collect();
    let wanted: Vec<usize> = (0..60).filter(|i| i % 3 != 1).collect();
    let specs: Vec<_> =
        wanted.iter().map(|&i| spec(&names[i], ValueKind::Int64, ValueCount::Fixed(1 + i % 2))).collect();
    let mut payloads = Vec::new();
    let mut expected: Vec<Vec<i64>> = vec![Vec::new(); wanted.len()];
    for _ in 0..50 {
        let mut entries = Vec::new();
        for (i, name) in names.iter().enumerate() {
            let values: Vec<i64> = (0..1 + i % 2).map(|_| (random.next() >> random.below(64)) as i64).collect();
            entries.push(encode_entry(name.as_bytes(), &encode_int64_feature(&values)));
            if let Ok(column) = wanted.binary_search(&i) {
                expected[column].extend(values);
            }
        }
        for i in (1..entries.len()).rev() {
            entries.swap(i, random.below(i + 1));
        }
        payloads.push(encode_example(&entries));
    }
    let found = parse(PayloadKind::Example, &specs, &payloads).unwrap();
    for (column, values) in found.into_iter().zip(expected) {
        assert_eq!(column.values, Values::Int64(values));
    }
}

#[test]
fn parse_is_correct_for_more_keys_than_the_cache_holds() {
    let names: Vec<String> = (0..3000).map(|i| format!("feature {i}")).collect();
    let entries: Vec<_> =
        names.iter().zip(0..).map(|(name, i)| encode_entry(name.as_bytes(), &encode_int64_feature(&[i]))).collect();
    let specs: Vec<_> = names.iter().map(|name| spec(name, ValueKind::Int64, ValueCount::Fixed(1))).collect();
    let found = parse(PayloadKind::Example, &specs, &vec![encode_example(&entries); 3]).unwrap();
    for (column, i) in found.into_iter().zip(0..) {
        assert_eq!(column.values, Values::Int64(vec![i; 3]));
    }
}

#[test]
fn push_payload_of_invalid_record_does_not_change_columns() {
    let specs =
        vec![spec("a", ValueKind::Int64, ValueCount::Fixed(1)), spec("b", ValueKind::Bytes, ValueCount::Ragged)];
    let plan = Plan::new(PayloadKind::Example, specs).unwrap();
    let good = encode_example(&[
        encode_entry(b"a", &encode_int64_feature(&[4])),
        encode_entry(b"b", &encode_bytes_feature(&[b"x", b"y"])),
    ]);
    let mut truncated = good.clone();
    truncated.truncate(good.len() - 1);
    let mismatched = encode_example(&[
        encode_entry(b"b", &encode_bytes_feature(&[b"z"])),
        encode_entry(b"a", &encode_int64_feature(&[4, 5])),
    ]);
    let mut parser = Parser::new(&plan, 0).expect("memory");
    for payload in [&good, &truncated, &mismatched, &good, &mismatched] {
        assert_eq!(parser.push_payload(payload).is_ok(), payload == &good);
    }
    assert_eq!(parser.num_records(), 2);
    let found = parser.finish().expect("memory");
    assert_eq!(found[0].values, Values::Int64(vec![4, 4]));
    assert_eq!(found[1].values, byte_values(&[b"x", b"y", b"x", b"y"]));
    assert_eq!(found[1].row_splits, Some(vec![0, 2, 4]));
}

#[test]
fn preallocate_keeps_values_of_moved_columns() {
    let payload = |number: usize| {
        let long = vec![number as u8; 4000 + number];
        encode_example(&[
            encode_entry(b"long", &encode_bytes_feature(&[&long])),
            encode_entry(b"short", &encode_bytes_feature(&[&long[..3]])),
        ])
    };
    let specs = ["long", "short"].map(|name| spec(name, ValueKind::Bytes, ValueCount::Fixed(1)));
    let plan = Plan::new(PayloadKind::Example, specs.to_vec()).unwrap();
    for max_bytes in [usize::MAX, 100_000, 0] {
        let (mut plain, mut moved) =
            (Parser::new(&plan, 100).expect("memory"), Parser::new(&plan, 100).expect("memory"));
        let mut requests = Vec::new();
        for number in 0..100 {
            plain.push_payload(&payload(number)).unwrap();
            moved.push_payload(&payload(number)).unwrap();
            if number == 0 {
                moved.preallocate(100, max_bytes, |num_bytes| {
                    requests.push(num_bytes);
                    vec![7; num_bytes / 2]
                });
            }
        }
        assert_eq!(requests, if max_bytes == 0 { vec![] } else { vec![max_bytes.min(450_000)] });
        let (plain, moved) = (plain.finish().expect("memory"), moved.finish().expect("memory"));
        for (a, b) in plain.iter().zip(&moved) {
            assert_eq!(a.values, b.values);
        }
        assert!(matches!(&moved[0].values, Values::Bytes { splits, .. } if splits.len() == 101));
    }
}
