//! `FeatureCollector`: statistics of features, and rollback of invalid records.
use crate::common::*;
use recordmill_core::payload::{FeatureCollector, FeatureStats, PayloadKind, Section, ValueKind};

fn collect_stats(kind: PayloadKind, payloads: &[Vec<u8>]) -> Vec<FeatureStats> {
    let mut collector = FeatureCollector::new(kind);
    payloads.iter().for_each(|payload| collector.push_payload(payload).unwrap());
    collector.finish().expect("memory")
}

fn empty_stats(name: &str, section: Section) -> FeatureStats {
    FeatureStats {
        name: name.into(),
        section,
        kind: None,
        mixed_kinds: false,
        num_present: 0,
        min_count: 0,
        max_count: 0,
        min_frames: 0,
        max_frames: 0,
        min_bytes: 0,
        max_bytes: 0,
    }
}

#[test]
fn collector_reports_minimum_and_maximum_over_records() {
    let payloads = vec![
        encode_example(&[
            encode_entry(b"z", &encode_int64_feature(&[1, 2])),
            encode_entry(b"a", &encode_bytes_feature(&[b"xyz", b"x"])),
        ]),
        encode_example(&[encode_entry(b"a", &encode_bytes_feature(&[]))]),
        encode_example(&[
            encode_entry(b"none", b""),
            encode_entry(b"z", &encode_int64_feature(&[7])),
            encode_entry(b"z", &encode_int64_feature(&[7, 7, 7])),
        ]),
    ];
    let a = FeatureStats {
        kind: Some(ValueKind::Bytes),
        num_present: 2,
        max_count: 2,
        min_bytes: 1,
        max_bytes: 3,
        ..empty_stats("a", Section::Context)
    };
    let z = FeatureStats {
        kind: Some(ValueKind::Int64),
        num_present: 2,
        min_count: 2,
        max_count: 3,
        ..empty_stats("z", Section::Context)
    };
    assert_eq!(collect_stats(PayloadKind::Example, &payloads), [a, empty_stats("none", Section::Context), z]);
}

#[test]
fn collector_reports_mixed_kinds_of_different_records() {
    let payloads = vec![
        encode_example(&[encode_entry(b"a", &encode_int64_feature(&[1]))]),
        encode_example(&[encode_entry(b"a", &encode_float_feature(&[1.0, 2.0]))]),
    ];
    let found = collect_stats(PayloadKind::Example, &payloads).remove(0);
    assert_eq!((found.kind, found.mixed_kinds), (Some(ValueKind::Int64), true));
    assert_eq!((found.num_present, found.min_count, found.max_count), (2, 1, 2));
    let one = vec![encode_example(&[encode_entry(
        b"a",
        &concat(&[&encode_float_feature(&[1.0]), &encode_int64_feature(&[1, 2])]),
    )])];
    let found = collect_stats(PayloadKind::Example, &one).remove(0);
    assert_eq!((found.kind, found.mixed_kinds, found.max_count), (Some(ValueKind::Int64), false, 2));
}

#[test]
fn collector_counts_frames() {
    let list = |frames: &[Vec<u8>]| frames.iter().flat_map(|frame| encode_field(1, frame)).collect::<Vec<u8>>();
    let payloads = vec![
        encode_field(2, &encode_entry(b"a", &list(&[encode_int64_feature(&[1, 2]), encode_int64_feature(&[3])]))),
        encode_field(2, &encode_entry(b"a", &list(&[]))),
        encode_field(1, &encode_entry(b"a", &encode_float_feature(&[1.0]))),
        encode_field(
            2,
            &encode_entry(b"a", &list(&[encode_int64_feature(&[1]), Vec::new(), encode_int64_feature(&[4, 5, 6])])),
        ),
    ];
    let context = FeatureStats {
        kind: Some(ValueKind::Float32),
        num_present: 1,
        min_count: 1,
        max_count: 1,
        ..empty_stats("a", Section::Context)
    };
    let lists = FeatureStats {
        kind: Some(ValueKind::Int64),
        num_present: 3,
        max_count: 3,
        max_frames: 3,
        ..empty_stats("a", Section::Lists)
    };
    assert_eq!(collect_stats(PayloadKind::SequenceExample, &payloads), [context, lists]);
}

#[test]
fn push_payload_of_invalid_record_does_not_change_statistics() {
    let good = encode_example(&[encode_entry(b"a", &encode_int64_feature(&[1]))]);
    let bad = encode_example(&[
        encode_entry(b"a", &encode_float_feature(&[1.0, 2.0])),
        encode_entry(b"new", &encode_int64_feature(&[1])),
        encode_entry(b"b", &parse_hex("1a 7f")),
    ]);
    let mut collector = FeatureCollector::new(PayloadKind::Example);
    assert!(collector.push_payload(&bad).is_err());
    collector.push_payload(&good).unwrap();
    assert!(collector.push_payload(&bad).is_err());
    collector.push_payload(&encode_example(&[encode_entry(b"new", &encode_int64_feature(&[1, 2]))])).unwrap();
    let found = collector.finish().expect("memory");
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].mixed_kinds, found[0].num_present, found[0].max_count), (false, 1, 1));
    assert_eq!((&found[1].name[..], found[1].num_present, found[1].min_count), (&b"new"[..], 1, 2));
}

#[test]
fn collector_reports_the_five_columns_of_image_records() {
    let scalar = concat(&[&[0; 24], b"abc"]);
    let vector = concat(&[&parse_hex("02000000 00000000 0100000000000000 0000000000000000"), &[0; 8]]);
    let found = collect_stats(PayloadKind::IrHeader, &[scalar, vector]);
    let names: Vec<&[u8]> = found.iter().map(|feature| &feature.name[..]).collect();
    assert_eq!(names, [&b"data"[..], b"flag", b"id", b"id2", b"label"]);
    assert_eq!((found[0].min_bytes, found[0].max_bytes), (0, 3));
    assert_eq!((found[4].kind, found[4].min_count, found[4].max_count), (Some(ValueKind::Float32), 1, 2));
}
