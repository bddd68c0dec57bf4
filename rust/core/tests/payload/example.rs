//! `Example`: the usual form, and every unusual encoding that protobuf accepts, refuses or merges.
use crate::common::*;
use recordmill_core::error::{Fault, FaultKind};
use recordmill_core::payload::{Layout, Missing, PayloadKind, ValueKind, Values, check};

fn int64_of(payload: &[u8]) -> Result<Values, Fault> {
    values_of(PayloadKind::Example, spec("a", ValueKind::Int64, Layout::Ragged), payload)
}

fn one(value: &[u8]) -> Vec<u8> {
    example(&[entry(b"a", value)])
}

fn ints(values: &[i64]) -> Result<Values, Fault> {
    Ok(Values::Int64(values.to_vec()))
}

#[test]
fn test_parse_when_bytes_are_written_by_hand_then_values_are_those() {
    let payload = hex("0a 15 0a 06 0a01 78 12 01 0a  0a 0b 0a01 61 12 06 1a 04 0a 02 96 01");
    assert!(check(PayloadKind::Example, &payload).is_err(), "the first feature's length runs past its list");
    let payload = hex("0a 0d 0a 0b 0a01 61 12 06 1a 04 0a 02 96 01");
    assert_eq!(int64_of(&payload), ints(&[150]));
}

#[test]
fn test_parse_when_varints_have_every_length_then_all_bits_arrive() {
    for bits in 0..64 {
        let value = (1_u64 << bits | 1) as i64;
        assert_eq!(int64_of(&one(&int64s(&[value]))), ints(&[value]));
        assert_eq!(int64_of(&one(&int64s(&[value, -value, value]))), ints(&[value, -value, value]));
    }
    assert_eq!(int64_of(&one(&int64s(&[i64::MIN, -1, i64::MAX]))), ints(&[i64::MIN, -1, i64::MAX]));
}

#[test]
fn test_parse_when_varint_is_over_long_then_it_is_accepted() {
    let list = field(3, &field(1, &hex("85 80 80 00 ff ff ff ff ff ff ff ff ff 7f 07")));
    assert_eq!(int64_of(&one(&list)), ints(&[5, -1, 7]));
    let list = field(3, &field(1, &hex("ff ff ff ff ff ff ff ff ff ff 01")));
    assert_eq!(int64_of(&one(&list)).unwrap_err().kind, FaultKind::BadPayload);
}

#[test]
fn test_parse_when_a_list_has_several_chunks_then_they_are_joined() {
    let list = join(&[&packed(&[1, 2]), &packed(&[]), &packed(&[3])]);
    assert_eq!(int64_of(&one(&field(3, &list))), ints(&[1, 2, 3]));
}

#[test]
fn test_parse_when_packed_and_unpacked_mix_then_values_keep_their_order() {
    let list = join(&[&hex("08 05"), &packed(&[6, 300]), &hex("08 87 80 00")]);
    assert_eq!(int64_of(&one(&field(3, &list))), ints(&[5, 6, 300, 7]));
    let list = join(&[&hex("0d 00 00 80 3f"), &field(1, &hex("00 00 00 40 00 00 40 40"))]);
    let found =
        values_of(PayloadKind::Example, spec("a", ValueKind::Float32, Layout::Fixed(3)), &one(&field(2, &list)));
    assert_eq!(found, Ok(Values::Float32(vec![1.0, 2.0, 3.0])));
}

#[test]
fn test_parse_when_a_list_field_comes_twice_then_both_are_merged() {
    assert_eq!(int64_of(&one(&join(&[&int64s(&[1]), &int64s(&[2, 3])]))), ints(&[1, 2, 3]));
}

#[test]
fn test_parse_when_a_feature_has_two_kinds_then_the_last_wins() {
    assert_eq!(int64_of(&one(&join(&[&floats(&[1.0]), &int64s(&[2])]))), ints(&[2]));
    assert_eq!(int64_of(&one(&join(&[&int64s(&[1]), &floats(&[1.0]), &int64s(&[3])]))), ints(&[3]));
    let fault = int64_of(&one(&join(&[&int64s(&[2]), &floats(&[1.0])]))).unwrap_err();
    assert_eq!((fault.expected.as_str(), fault.found.as_str()), ("int64", "float32"));
}

#[test]
fn test_parse_when_value_stands_before_key_then_it_counts() {
    let inside = join(&[&field(2, &int64s(&[4])), &field(1, b"a")]);
    assert_eq!(int64_of(&example(&[field(1, &inside)])), ints(&[4]));
}

#[test]
fn test_parse_when_entry_has_no_key_then_the_key_is_empty() {
    let payload = example(&[field(1, &field(2, &int64s(&[4])))]);
    let found = values_of(PayloadKind::Example, spec("", ValueKind::Int64, Layout::Fixed(1)), &payload);
    assert_eq!(found, ints(&[4]));
}

#[test]
fn test_parse_when_entry_has_no_value_then_the_feature_is_missing() {
    let fault = int64_of(&example(&[field(1, &field(1, b"a"))])).unwrap_err();
    assert_eq!((fault.kind, fault.found.as_str()), (FaultKind::FeatureMismatch, "a feature without a kind"));
}

#[test]
fn test_parse_when_entry_has_two_keys_then_the_last_counts() {
    let inside = join(&[&field(1, b"b"), &field(1, b"a"), &field(2, &int64s(&[4]))]);
    assert_eq!(int64_of(&example(&[field(1, &inside)])), ints(&[4]));
}

#[test]
fn test_parse_when_entry_has_two_values_then_they_are_merged() {
    let inside = join(&[&field(1, b"a"), &field(2, &int64s(&[4])), &field(2, &int64s(&[5, 6]))]);
    assert_eq!(int64_of(&example(&[field(1, &inside)])), ints(&[4, 5, 6]));
    let inside = join(&[&field(1, b"a"), &field(2, &floats(&[4.0])), &field(2, &int64s(&[5, 6]))]);
    assert_eq!(int64_of(&example(&[field(1, &inside)])), ints(&[5, 6]));
}

#[test]
fn test_parse_when_key_comes_twice_then_the_last_entry_replaces_the_first() {
    let twice = [entry(b"a", &int64s(&[1, 2, 3])), entry(b"b", &int64s(&[9])), entry(b"a", &int64s(&[4]))];
    assert_eq!(int64_of(&example(&twice)), ints(&[4]));
    let voided = [entry(b"a", &int64s(&[1])), entry(b"a", b"")];
    assert_eq!(int64_of(&example(&voided)).unwrap_err().kind, FaultKind::FeatureMismatch);
    let columns = [spec("a", ValueKind::Int64, Layout::Fixed(1)), spec("b", ValueKind::Int64, Layout::Fixed(1))];
    let payloads = vec![example(&twice), example(&[entry(b"b", &int64s(&[8])), entry(b"a", &int64s(&[7]))])];
    let found = parse(PayloadKind::Example, &columns, &payloads).unwrap();
    assert_eq!(found[0].values, Values::Int64(vec![4, 7]));
    assert_eq!(found[1].values, Values::Int64(vec![9, 8]));
}

#[test]
fn test_parse_when_features_are_split_then_they_are_merged() {
    let split = join(&[&example(&[entry(b"b", &floats(&[1.0]))]), &example(&[entry(b"a", &int64s(&[4]))])]);
    assert_eq!(int64_of(&split), ints(&[4]));
}

#[test]
fn test_parse_when_unknown_fields_stand_anywhere_then_only_their_entry_is_lost() {
    let unknown = hex("48 01  51 0000000000000000  5a 01 00  63 08 01 64  6d 00000000");
    let feature = join(&[&unknown, &field(3, &join(&[&unknown, &packed(&[4]), &unknown])), &unknown]);
    let features = join(&[&unknown, &entry(b"a", &feature), &unknown]);
    assert_eq!(int64_of(&join(&[&unknown, &field(1, &features), &unknown])), ints(&[4]));
    let dropped = field(1, &join(&[&field(1, b"a"), &field(2, &int64s(&[5])), &unknown]));
    assert_eq!(int64_of(&example(&[entry(b"a", &int64s(&[4])), dropped.clone()])), ints(&[4]));
    let fault = int64_of(&example(&[dropped])).unwrap_err();
    assert_eq!((fault.kind, fault.found.as_str()), (FaultKind::FeatureMismatch, "no such feature"));
}

#[test]
fn test_parse_when_known_fields_have_other_wire_types_then_they_count_as_unknown() {
    assert_eq!(int64_of(&one(&join(&[&hex("08 05"), &int64s(&[4])]))), ints(&[4]));
    let list = join(&[&hex("0d 00000000"), &packed(&[4])]);
    assert_eq!(int64_of(&one(&field(3, &list))), ints(&[4]));
}

#[test]
fn test_parse_when_key_is_not_utf8_then_it_is_a_fault() {
    for key in [&b"\xff"[..], b"\xed\xa0\x80", b"\xc0\x80", b"a\xe2\x82"] {
        let payload = example(&[entry(b"a", &int64s(&[4])), entry(key, &int64s(&[4]))]);
        assert_eq!(int64_of(&payload).unwrap_err().kind, FaultKind::BadPayload);
    }
    assert!(check(PayloadKind::Example, &example(&[entry("ключ\0".as_bytes(), &int64s(&[4]))])).is_ok());
}

#[test]
fn test_parse_when_an_unwanted_value_is_damaged_then_it_is_a_fault() {
    for value in [hex("1a 03 0a 01 80"), hex("12 04 0a 02 00 00"), hex("0a 03 0a 05 00"), hex("1a 7f"), hex("08")] {
        let payload = example(&[entry(b"a", &int64s(&[4])), entry(b"b", &value)]);
        assert_eq!(int64_of(&payload).unwrap_err().kind, FaultKind::BadPayload, "{value:02x?}");
    }
}

#[test]
fn test_parse_when_list_is_empty_then_it_is_present_without_values() {
    assert_eq!(int64_of(&one(&hex("1a 00"))), ints(&[]));
    assert_eq!(int64_of(&one(&hex("1a 02 0a 00"))), ints(&[]));
    let asked = spec("a", ValueKind::Int64, Layout::Fixed(1));
    let fault = values_of(PayloadKind::Example, asked, &one(&hex("1a 00"))).unwrap_err();
    assert_eq!(fault.kind, FaultKind::FeatureMismatch);
    assert_eq!(fault.message, "feature 'a' has another number of values than asked for");
    assert_eq!((fault.expected.as_str(), fault.found.as_str()), ("1 int64 value", "0 int64 values"));
}

#[test]
fn test_parse_when_feature_is_missing_then_the_asked_policy_applies() {
    let payloads = vec![one(b""), example(&[]), Vec::new(), one(&int64s(&[1, 2]))];
    let mut asked = spec("a", ValueKind::Int64, Layout::Fixed(2));
    let fault = parse(PayloadKind::Example, &[asked.clone()], &payloads).unwrap_err();
    assert_eq!(fault.message, "feature 'a' is missing");
    assert_eq!((fault.expected.as_str(), fault.found.as_str()), ("2 int64 values", "a feature without a kind"));
    asked.missing = Missing::Default(Values::Int64(vec![8, 9]));
    let found = parse(PayloadKind::Example, &[asked.clone()], &payloads).unwrap();
    assert_eq!(found[0].values, Values::Int64(vec![8, 9, 8, 9, 8, 9, 1, 2]));
    assert_eq!((&found[0].row_splits, &found[0].frame_splits), (&None, &None));
    asked.missing = Missing::Empty;
    asked.layout = Layout::Ragged;
    let found = parse(PayloadKind::Example, &[asked], &payloads).unwrap();
    assert_eq!(found[0].row_splits, Some(vec![0, 0, 0, 0, 2]));
}

#[test]
fn test_parse_when_strings_are_asked_then_splits_follow_them() {
    let asked = spec("a", ValueKind::Bytes, Layout::Ragged);
    let long = vec![7; 1000];
    let found = values_of(PayloadKind::Example, asked.clone(), &one(&strings(&[b"x", b"", &long]))).unwrap();
    assert_eq!(found, bytes(&[b"x", b"", &long]));
    let found = parse(PayloadKind::Example, &[asked], &[one(&strings(&[b"x"])), one(&strings(&[]))]).unwrap();
    assert_eq!((&found[0].values, &found[0].row_splits), (&bytes(&[b"x"]), &Some(vec![0, 1, 1])));
}

#[test]
fn test_parse_when_the_order_of_keys_changes_then_columns_stay_right() {
    let mut random = Random(5);
    let names: Vec<String> = (0..60).map(|i| format!("{}{i}", "long_feature_name_".repeat(i % 3))).collect();
    let wanted: Vec<usize> = (0..60).filter(|i| i % 3 != 1).collect();
    let asked: Vec<_> = wanted.iter().map(|&i| spec(&names[i], ValueKind::Int64, Layout::Fixed(1 + i % 2))).collect();
    let mut payloads = Vec::new();
    let mut expected: Vec<Vec<i64>> = vec![Vec::new(); wanted.len()];
    for _ in 0..50 {
        let mut entries = Vec::new();
        for (i, name) in names.iter().enumerate() {
            let values: Vec<i64> = (0..1 + i % 2).map(|_| (random.next() >> random.below(64)) as i64).collect();
            entries.push(entry(name.as_bytes(), &int64s(&values)));
            if let Ok(column) = wanted.binary_search(&i) {
                expected[column].extend(values);
            }
        }
        for i in (1..entries.len()).rev() {
            entries.swap(i, random.below(i + 1));
        }
        payloads.push(example(&entries));
    }
    let found = parse(PayloadKind::Example, &asked, &payloads).unwrap();
    for (column, values) in found.into_iter().zip(expected) {
        assert_eq!(column.values, Values::Int64(values));
    }
}

#[test]
fn test_parse_when_there_are_more_keys_than_are_remembered_then_columns_stay_right() {
    let names: Vec<String> = (0..3000).map(|i| format!("feature {i}")).collect();
    let entries: Vec<_> = names.iter().zip(0..).map(|(name, i)| entry(name.as_bytes(), &int64s(&[i]))).collect();
    let asked: Vec<_> = names.iter().map(|name| spec(name, ValueKind::Int64, Layout::Fixed(1))).collect();
    let found = parse(PayloadKind::Example, &asked, &vec![example(&entries); 3]).unwrap();
    for (column, i) in found.into_iter().zip(0..) {
        assert_eq!(column.values, Values::Int64(vec![i; 3]));
    }
}

#[test]
fn test_push_when_a_record_is_refused_then_it_leaves_no_trace() {
    use recordmill_core::payload::{Parser, Plan};
    let asked = vec![spec("a", ValueKind::Int64, Layout::Fixed(1)), spec("b", ValueKind::Bytes, Layout::Ragged)];
    let plan = Plan::new(PayloadKind::Example, asked).unwrap();
    let good = example(&[entry(b"a", &int64s(&[4])), entry(b"b", &strings(&[b"x", b"y"]))]);
    let mut cut = good.clone();
    cut.truncate(good.len() - 1);
    let short = example(&[entry(b"b", &strings(&[b"z"])), entry(b"a", &int64s(&[4, 5]))]);
    let mut parser = Parser::new(&plan, 0);
    for payload in [&good, &cut, &short, &good, &short] {
        assert_eq!(parser.push(payload).is_ok(), payload == &good);
    }
    assert_eq!(parser.num_records(), 2);
    let found = parser.finish();
    assert_eq!(found[0].values, Values::Int64(vec![4, 4]));
    assert_eq!(found[1].values, bytes(&[b"x", b"y", b"x", b"y"]));
    assert_eq!(found[1].row_splits, Some(vec![0, 2, 4]));
}
