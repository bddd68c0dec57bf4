//! `SequenceExample`: ragged and fixed frames, and merging of feature lists.
use crate::common::*;
use recordmill_core::error::FaultKind;
use recordmill_core::payload::{
    ColumnSpec, MissingPolicy, Parser, PayloadKind, Plan, ValueCount, ValueKind, Values, has_feature_lists,
    validate_payload,
};

const KIND: PayloadKind = PayloadKind::SequenceExample;

/// Encodes a feature list.
fn encode_feature_list(frames: &[Vec<u8>]) -> Vec<u8> {
    frames.iter().flat_map(|frame| encode_field(1, frame)).collect()
}

fn encode_sequence(entries: &[Vec<u8>]) -> Vec<u8> {
    encode_field(2, &entries.concat())
}

fn ragged_spec() -> ColumnSpec {
    list_spec("a", ValueKind::Int64, ValueCount::Ragged)
}

#[test]
fn parse_returns_both_splits_of_ragged_frames() {
    let payloads = vec![
        encode_sequence(&[encode_entry(
            b"a",
            &encode_feature_list(&[
                encode_int64_feature(&[1, 2]),
                encode_int64_feature(&[]),
                encode_int64_feature(&[3]),
            ]),
        )]),
        encode_sequence(&[encode_entry(b"a", &encode_feature_list(&[]))]),
        encode_sequence(&[encode_entry(b"a", &encode_feature_list(&[Vec::new(), encode_int64_feature(&[-4; 30])]))]),
    ];
    let found = parse(KIND, &[ragged_spec()], &payloads).unwrap().remove(0);
    let mut values = vec![1, 2, 3];
    values.extend([-4; 30]);
    assert_eq!(found.values, Values::Int64(values));
    assert_eq!(found.row_splits, Some(vec![0, 3, 3, 5]));
    assert_eq!(found.frame_splits, Some(vec![0, 2, 2, 3, 3, 33]));
}

#[test]
fn parse_returns_row_splits_of_fixed_frames() {
    let frames: Vec<_> = (0..100).map(|i| encode_int64_feature(&[i, -i])).collect();
    let payloads = vec![
        encode_sequence(&[encode_entry(b"a", &encode_feature_list(&frames))]),
        encode_sequence(&[encode_entry(b"a", &encode_feature_list(&frames[..1]))]),
    ];
    let found = parse(KIND, &[list_spec("a", ValueKind::Int64, ValueCount::Fixed(2))], &payloads).unwrap().remove(0);
    assert_eq!(found.values, Values::Int64((0..100).chain([0]).flat_map(|i| [i, -i]).collect()));
    assert_eq!((found.row_splits, found.frame_splits), (Some(vec![0, 100, 101]), None));
}

#[test]
fn parse_counts_frames_without_values() {
    let payload =
        encode_sequence(&[encode_entry(b"a", &encode_feature_list(&[encode_int64_feature(&[]), Vec::new()]))]);
    let spec = list_spec("a", ValueKind::Int64, ValueCount::Fixed(0));
    let found = parse(KIND, &[spec], &[payload.clone(), payload]).unwrap().remove(0);
    assert_eq!(found.row_splits, Some(vec![0, 2, 4]));
}

#[test]
fn parse_fault_names_the_mismatched_frame() {
    let cases = [
        (encode_int64_feature(&[1, 2]), "wrong number of values", "2 int64 values"),
        (Vec::new(), "wrong number of values", "0 int64 values"),
        (encode_float_feature(&[1.0]), "wrong kind", "float32"),
    ];
    for (frame, what, found) in cases {
        let payload =
            encode_sequence(&[encode_entry(b"a", &encode_feature_list(&[encode_int64_feature(&[1]), frame]))]);
        let spec = list_spec("a", ValueKind::Int64, ValueCount::Fixed(1));
        let fault = parse(KIND, &[spec], &[payload]).unwrap_err();
        assert_eq!(fault.message, format!("feature list 'a' has the {what} in frame 1"));
        assert_eq!((fault.kind, fault.found.as_str()), (FaultKind::FeatureMismatch, found));
    }
}

#[test]
fn parse_joins_frames_of_repeated_values_of_an_entry() {
    let (first, second) = (
        encode_feature_list(&[encode_int64_feature(&[1])]),
        encode_feature_list(&[encode_int64_feature(&[2]), encode_int64_feature(&[3])]),
    );
    let content = concat(&[&encode_field(1, b"a"), &encode_field(2, &first), &encode_field(2, &second)]);
    let found = parse(KIND, &[ragged_spec()], &[encode_sequence(&[encode_field(1, &content)])]).unwrap().remove(0);
    assert_eq!((found.values, found.row_splits), (Values::Int64(vec![1, 2, 3]), Some(vec![0, 3])));
}

#[test]
fn parse_uses_the_last_of_repeated_feature_lists() {
    let mismatched =
        encode_entry(b"a", &encode_feature_list(&[encode_float_feature(&[1.0]), encode_int64_feature(&[1, 2])]));
    let matching = encode_entry(b"a", &encode_feature_list(&[encode_int64_feature(&[7])]));
    let payload = encode_sequence(&[mismatched, matching]);
    for value_count in [ValueCount::Ragged, ValueCount::Fixed(1)] {
        let found = parse(KIND, &[list_spec("a", ValueKind::Int64, value_count)], &vec![payload.clone(); 2]).unwrap();
        assert_eq!((&found[0].values, &found[0].row_splits), (&Values::Int64(vec![7, 7]), &Some(vec![0, 1, 2])));
    }
}

#[test]
fn parse_applies_the_policy_for_missing_feature_lists() {
    let fault = parse(KIND, &[ragged_spec()], &[Vec::new()]).unwrap_err();
    assert_eq!(fault.message, "feature list 'a' is missing");
    for value_count in [ValueCount::Ragged, ValueCount::Fixed(3)] {
        let spec = ColumnSpec { missing: MissingPolicy::Empty, value_count, ..ragged_spec() };
        let found = parse(KIND, &[spec], &vec![Vec::new(); 2]).unwrap().remove(0);
        assert_eq!((found.values, found.row_splits), (Values::Int64(vec![]), Some(vec![0, 0, 0])));
    }
}

#[test]
fn parse_separates_context_and_lists_with_the_same_key() {
    let payload = concat(&[
        &encode_sequence(&[encode_entry(
            b"a",
            &encode_feature_list(&[encode_bytes_feature(&[b"x"]), encode_bytes_feature(&[b"y", b""])]),
        )]),
        &encode_example(&[encode_entry(b"a", &encode_int64_feature(&[5]))]),
    ]);
    let specs =
        [spec("a", ValueKind::Int64, ValueCount::Fixed(1)), list_spec("a", ValueKind::Bytes, ValueCount::Ragged)];
    let found = parse(KIND, &specs, &[payload.clone(), payload]).unwrap();
    assert_eq!(found[0].values, Values::Int64(vec![5, 5]));
    assert_eq!(found[1].values, byte_values(&[b"x", b"y", b"", b"x", b"y", b""]));
    assert_eq!(found[1].frame_splits, Some(vec![0, 1, 3, 4, 6]));
}

#[test]
fn push_payload_of_invalid_sequence_does_not_change_columns() {
    let good = encode_sequence(&[encode_entry(
        b"a",
        &encode_feature_list(&[encode_int64_feature(&[1, 2]), encode_int64_feature(&[3])]),
    )]);
    let bad = encode_sequence(&[encode_entry(
        b"a",
        &encode_feature_list(&[encode_int64_feature(&[9]), encode_float_feature(&[1.0])]),
    )]);
    let plan = Plan::new(KIND, vec![ragged_spec()]).unwrap();
    let mut parser = Parser::new(&plan, 4).expect("memory");
    for payload in [&bad, &good, &good[..good.len() - 1].to_vec(), &bad, &good] {
        assert_eq!(parser.push_payload(payload).is_ok(), payload == &good);
    }
    let found = parser.finish().expect("memory").remove(0);
    assert_eq!(found.values, Values::Int64(vec![1, 2, 3, 1, 2, 3]));
    assert_eq!((found.row_splits, found.frame_splits), (Some(vec![0, 2, 4]), Some(vec![0, 2, 3, 5, 6])));
}

#[test]
fn has_feature_lists_requires_valid_feature_lists() {
    let lists = encode_sequence(&[encode_entry(b"a", &encode_feature_list(&[encode_int64_feature(&[1])]))]);
    let context = encode_example(&[encode_entry(b"a", &encode_int64_feature(&[5]))]);
    assert!(has_feature_lists(&concat(&[&context, &lists])));
    assert!(has_feature_lists(&parse_hex("12 00")));
    assert!(!has_feature_lists(&context));
    assert!(!has_feature_lists(b""));
    assert!(!has_feature_lists(&concat(&[&context, &encode_field(2, b"no map")])));
    assert!(!has_feature_lists(&concat(&[&lists, &parse_hex("0a")])));
    assert!(validate_payload(PayloadKind::Example, &concat(&[&context, &encode_field(2, b"no map")])).is_ok());
}

/// Encodes a frame whose packed integers are `bytes`.
fn encode_int64_frame(bytes: &[u8]) -> Vec<u8> {
    encode_field(3, &encode_field(1, bytes))
}

#[test]
fn parse_reads_frames_of_integers_of_all_lengths() {
    let numbers = |row: i64| (0..row).map(move |i| (i * 0x9e37_79b9 + row) << (i % 5 * 13) >> (i % 7 * 9));
    let payloads: Vec<_> = [0, 1, 63, 64, 65, 127, 128, 129, 300]
        .map(|row| {
            encode_sequence(&[encode_entry(
                b"a",
                &encode_feature_list(&numbers(row).map(|value| encode_int64_feature(&[value])).collect::<Vec<_>>()),
            )])
        })
        .into();
    let spec = list_spec("a", ValueKind::Int64, ValueCount::Fixed(1));
    let found = parse(KIND, &[spec], &payloads).unwrap().remove(0);
    assert_eq!(
        found.values,
        Values::Int64([0, 1, 63, 64, 65, 127, 128, 129, 300].into_iter().flat_map(numbers).collect())
    );
}

#[test]
fn parse_handles_an_unusual_frame_among_many() {
    for position in [0, 1, 62, 63, 64, 65, 99] {
        let with = |bytes: &[u8]| {
            let mut frames: Vec<_> = (0..100).map(|i| encode_int64_feature(&[i * i])).collect();
            frames[position] = encode_int64_frame(bytes);
            let spec = list_spec("a", ValueKind::Int64, ValueCount::Fixed(1));
            parse_values(KIND, spec, &encode_sequence(&[encode_entry(b"a", &encode_feature_list(&frames))]))
        };
        let expected =
            |value| Values::Int64((0..100).map(|i| if i == position as i64 { value } else { i * i }).collect());
        assert_eq!(with(&[0x81, 0]).unwrap(), expected(1));
        assert_eq!(with(&[0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0]).unwrap(), expected(5));
        assert_eq!(with(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).unwrap(), expected(-1));
        for (bytes, count) in [(&[1_u8, 2][..], 2), (&[], 0), (&[1, 2, 3, 4, 5, 6, 7, 8, 9], 9)] {
            let fault = with(bytes).unwrap_err();
            assert_eq!(fault.kind, FaultKind::FeatureMismatch);
            assert!(fault.message.ends_with(&format!("in frame {position}")), "{fault:?}");
            assert_eq!(fault.found, format!("{count} int64 values"));
        }
        assert_eq!(with(&[1, 0x80]).unwrap_err().kind, FaultKind::BadPayload);
        assert_eq!(with(&[0x80]).unwrap_err().kind, FaultKind::BadPayload);
    }
}
