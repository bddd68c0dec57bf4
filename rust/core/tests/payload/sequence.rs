//! `SequenceExample`: frames, ragged and fixed, and how lists merge.
use crate::common::*;
use recordmill_core::error::FaultKind;
use recordmill_core::payload::{ColumnSpec, Layout, Missing, PayloadKind, ValueKind, Values, check, has_feature_lists};

const KIND: PayloadKind = PayloadKind::SequenceExample;

/// A feature list of frames.
fn list(frames: &[Vec<u8>]) -> Vec<u8> {
    frames.iter().flat_map(|frame| field(1, frame)).collect()
}

fn sequence(entries: &[Vec<u8>]) -> Vec<u8> {
    field(2, &entries.concat())
}

fn ragged() -> ColumnSpec {
    list_spec("a", ValueKind::Int64, Layout::Ragged)
}

#[test]
fn test_parse_when_frames_are_ragged_then_both_splits_come() {
    let payloads = vec![
        sequence(&[entry(b"a", &list(&[int64s(&[1, 2]), int64s(&[]), int64s(&[3])]))]),
        sequence(&[entry(b"a", &list(&[]))]),
        sequence(&[entry(b"a", &list(&[Vec::new(), int64s(&[-4; 30])]))]),
    ];
    let found = parse(KIND, &[ragged()], &payloads).unwrap().remove(0);
    let mut values = vec![1, 2, 3];
    values.extend([-4; 30]);
    assert_eq!(found.values, Values::Int64(values));
    assert_eq!(found.row_splits, Some(vec![0, 3, 3, 5]));
    assert_eq!(found.frame_splits, Some(vec![0, 2, 2, 3, 3, 33]));
}

#[test]
fn test_parse_when_frames_are_fixed_then_rows_count_frames() {
    let frames: Vec<_> = (0..100).map(|i| int64s(&[i, -i])).collect();
    let payloads = vec![sequence(&[entry(b"a", &list(&frames))]), sequence(&[entry(b"a", &list(&frames[..1]))])];
    let found = parse(KIND, &[list_spec("a", ValueKind::Int64, Layout::Fixed(2))], &payloads).unwrap().remove(0);
    assert_eq!(found.values, Values::Int64((0..100).chain([0]).flat_map(|i| [i, -i]).collect()));
    assert_eq!((found.row_splits, found.frame_splits), (Some(vec![0, 100, 101]), None));
}

#[test]
fn test_parse_when_frames_hold_nothing_and_nothing_is_asked_then_they_are_counted() {
    let payload = sequence(&[entry(b"a", &list(&[int64s(&[]), Vec::new()]))]);
    let asked = list_spec("a", ValueKind::Int64, Layout::Fixed(0));
    let found = parse(KIND, &[asked], &[payload.clone(), payload]).unwrap().remove(0);
    assert_eq!(found.row_splits, Some(vec![0, 2, 4]));
}

#[test]
fn test_parse_when_a_frame_differs_then_the_fault_names_it() {
    let cases = [
        (int64s(&[1, 2]), "another number of values", "2 int64 values"),
        (Vec::new(), "another number of values", "0 int64 values"),
        (floats(&[1.0]), "another kind", "float32"),
    ];
    for (frame, what, seen) in cases {
        let payload = sequence(&[entry(b"a", &list(&[int64s(&[1]), frame]))]);
        let asked = list_spec("a", ValueKind::Int64, Layout::Fixed(1));
        let fault = parse(KIND, &[asked], &[payload]).unwrap_err();
        assert_eq!(fault.message, format!("feature list 'a' has {what} than asked for in frame 1"));
        assert_eq!((fault.kind, fault.found.as_str()), (FaultKind::FeatureMismatch, seen));
    }
}

#[test]
fn test_parse_when_values_of_an_entry_repeat_then_frames_are_joined() {
    let (first, second) = (list(&[int64s(&[1])]), list(&[int64s(&[2]), int64s(&[3])]));
    let inside = join(&[&field(1, b"a"), &field(2, &first), &field(2, &second)]);
    let found = parse(KIND, &[ragged()], &[sequence(&[field(1, &inside)])]).unwrap().remove(0);
    assert_eq!((found.values, found.row_splits), (Values::Int64(vec![1, 2, 3]), Some(vec![0, 3])));
}

#[test]
fn test_parse_when_a_list_comes_twice_then_the_last_replaces_the_first() {
    let odd = entry(b"a", &list(&[floats(&[1.0]), int64s(&[1, 2])]));
    let even = entry(b"a", &list(&[int64s(&[7])]));
    let payload = sequence(&[odd, even]);
    for layout in [Layout::Ragged, Layout::Fixed(1)] {
        let found = parse(KIND, &[list_spec("a", ValueKind::Int64, layout)], &vec![payload.clone(); 2]).unwrap();
        assert_eq!((&found[0].values, &found[0].row_splits), (&Values::Int64(vec![7, 7]), &Some(vec![0, 1, 2])));
    }
}

#[test]
fn test_parse_when_a_list_is_missing_then_empty_gives_no_frames() {
    let fault = parse(KIND, &[ragged()], &[Vec::new()]).unwrap_err();
    assert_eq!(fault.message, "feature list 'a' is missing");
    for layout in [Layout::Ragged, Layout::Fixed(3)] {
        let asked = ColumnSpec { missing: Missing::Empty, layout, ..ragged() };
        let found = parse(KIND, &[asked], &vec![Vec::new(); 2]).unwrap().remove(0);
        assert_eq!((found.values, found.row_splits), (Values::Int64(vec![]), Some(vec![0, 0, 0])));
    }
}

#[test]
fn test_parse_when_context_and_lists_share_a_key_then_they_stay_apart() {
    let payload = join(&[
        &sequence(&[entry(b"a", &list(&[strings(&[b"x"]), strings(&[b"y", b""])]))]),
        &example(&[entry(b"a", &int64s(&[5]))]),
    ]);
    let asked = [spec("a", ValueKind::Int64, Layout::Fixed(1)), list_spec("a", ValueKind::Bytes, Layout::Ragged)];
    let found = parse(KIND, &asked, &[payload.clone(), payload]).unwrap();
    assert_eq!(found[0].values, Values::Int64(vec![5, 5]));
    assert_eq!(found[1].values, bytes(&[b"x", b"y", b"", b"x", b"y", b""]));
    assert_eq!(found[1].frame_splits, Some(vec![0, 1, 3, 4, 6]));
}

#[test]
fn test_push_when_a_sequence_is_refused_then_it_leaves_no_trace() {
    use recordmill_core::payload::{Parser, Plan};
    let good = sequence(&[entry(b"a", &list(&[int64s(&[1, 2]), int64s(&[3])]))]);
    let bad = sequence(&[entry(b"a", &list(&[int64s(&[9]), floats(&[1.0])]))]);
    let plan = Plan::new(KIND, vec![ragged()]).unwrap();
    let mut parser = Parser::new(&plan, 4);
    for payload in [&bad, &good, &good[..good.len() - 1].to_vec(), &bad, &good] {
        assert_eq!(parser.push(payload).is_ok(), payload == &good);
    }
    let found = parser.finish().remove(0);
    assert_eq!(found.values, Values::Int64(vec![1, 2, 3, 1, 2, 3]));
    assert_eq!((found.row_splits, found.frame_splits), (Some(vec![0, 2, 4]), Some(vec![0, 2, 3, 5, 6])));
}

#[test]
fn test_has_feature_lists_when_field_2_is_sound_then_true() {
    let lists = sequence(&[entry(b"a", &list(&[int64s(&[1])]))]);
    let context = example(&[entry(b"a", &int64s(&[5]))]);
    assert!(has_feature_lists(&join(&[&context, &lists])));
    assert!(has_feature_lists(&hex("12 00")));
    assert!(!has_feature_lists(&context));
    assert!(!has_feature_lists(b""));
    assert!(!has_feature_lists(&join(&[&context, &field(2, b"no map")])));
    assert!(!has_feature_lists(&join(&[&lists, &hex("0a")])));
    assert!(check(PayloadKind::Example, &join(&[&context, &field(2, b"no map")])).is_ok());
}

/// A frame of one integer, of which the varint is `bytes`.
fn number(bytes: &[u8]) -> Vec<u8> {
    field(3, &field(1, bytes))
}

#[test]
fn test_parse_when_numbers_of_all_lengths_follow_one_another_then_all_come() {
    let numbers = |row: i64| (0..row).map(move |i| (i * 0x9e37_79b9 + row) << (i % 5 * 13) >> (i % 7 * 9));
    let payloads: Vec<_> = [0, 1, 63, 64, 65, 127, 128, 129, 300]
        .map(|row| sequence(&[entry(b"a", &list(&numbers(row).map(|value| int64s(&[value])).collect::<Vec<_>>()))]))
        .into();
    let asked = list_spec("a", ValueKind::Int64, Layout::Fixed(1));
    let found = parse(KIND, &[asked], &payloads).unwrap().remove(0);
    assert_eq!(
        found.values,
        Values::Int64([0, 1, 63, 64, 65, 127, 128, 129, 300].into_iter().flat_map(numbers).collect())
    );
}

#[test]
fn test_parse_when_one_of_many_numbers_is_unusual_then_it_is_taken_as_it_is() {
    for place in [0, 1, 62, 63, 64, 65, 99] {
        let with = |bytes: &[u8]| {
            let mut frames: Vec<_> = (0..100).map(|i| int64s(&[i * i])).collect();
            frames[place] = number(bytes);
            let asked = list_spec("a", ValueKind::Int64, Layout::Fixed(1));
            values_of(KIND, asked, &sequence(&[entry(b"a", &list(&frames))]))
        };
        let expected = |value| Values::Int64((0..100).map(|i| if i == place as i64 { value } else { i * i }).collect());
        assert_eq!(with(&[0x81, 0]).unwrap(), expected(1));
        assert_eq!(with(&[0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0]).unwrap(), expected(5));
        assert_eq!(with(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).unwrap(), expected(-1));
        for (bytes, count) in [(&[1_u8, 2][..], 2), (&[], 0), (&[1, 2, 3, 4, 5, 6, 7, 8, 9], 9)] {
            let fault = with(bytes).unwrap_err();
            assert_eq!(fault.kind, FaultKind::FeatureMismatch);
            assert!(fault.message.ends_with(&format!("in frame {place}")), "{fault:?}");
            assert_eq!(fault.found, format!("{count} int64 values"));
        }
        assert_eq!(with(&[1, 0x80]).unwrap_err().kind, FaultKind::BadPayload);
        assert_eq!(with(&[0x80]).unwrap_err().kind, FaultKind::BadPayload);
    }
}
