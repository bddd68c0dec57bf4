//! `FeatureCollector`: statistics of features, and rollback of invalid records.
use crate::common::*;
use recordmill_core::payload::{FeatureCollector, FeatureStats, PayloadKind, Section, ValueKind};

fn collect(kind: PayloadKind, payloads: &[Vec<u8>]) -> Vec<FeatureStats> {
    let mut collector = FeatureCollector::new(kind);
    payloads.iter().for_each(|payload| collector.push(payload).unwrap());
    collector.finish()
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
        example(&[entry(b"z", &int64s(&[1, 2])), entry(b"a", &strings(&[b"xyz", b"x"]))]),
        example(&[entry(b"a", &strings(&[]))]),
        example(&[entry(b"none", b""), entry(b"z", &int64s(&[7])), entry(b"z", &int64s(&[7, 7, 7]))]),
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
    assert_eq!(collect(PayloadKind::Example, &payloads), [a, empty_stats("none", Section::Context), z]);
}

#[test]
fn collector_reports_mixed_kinds_of_different_records() {
    let payloads = vec![example(&[entry(b"a", &int64s(&[1]))]), example(&[entry(b"a", &floats(&[1.0, 2.0]))])];
    let found = collect(PayloadKind::Example, &payloads).remove(0);
    assert_eq!((found.kind, found.mixed_kinds), (Some(ValueKind::Int64), true));
    assert_eq!((found.num_present, found.min_count, found.max_count), (2, 1, 2));
    let one = vec![example(&[entry(b"a", &join(&[&floats(&[1.0]), &int64s(&[1, 2])]))])];
    let found = collect(PayloadKind::Example, &one).remove(0);
    assert_eq!((found.kind, found.mixed_kinds, found.max_count), (Some(ValueKind::Int64), false, 2));
}

#[test]
fn collector_counts_frames() {
    let list = |frames: &[Vec<u8>]| frames.iter().flat_map(|frame| field(1, frame)).collect::<Vec<u8>>();
    let payloads = vec![
        field(2, &entry(b"a", &list(&[int64s(&[1, 2]), int64s(&[3])]))),
        field(2, &entry(b"a", &list(&[]))),
        field(1, &entry(b"a", &floats(&[1.0]))),
        field(2, &entry(b"a", &list(&[int64s(&[1]), Vec::new(), int64s(&[4, 5, 6])]))),
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
    assert_eq!(collect(PayloadKind::SequenceExample, &payloads), [context, lists]);
}

#[test]
fn push_of_invalid_record_does_not_change_statistics() {
    let good = example(&[entry(b"a", &int64s(&[1]))]);
    let bad = example(&[entry(b"a", &floats(&[1.0, 2.0])), entry(b"new", &int64s(&[1])), entry(b"b", &hex("1a 7f"))]);
    let mut collector = FeatureCollector::new(PayloadKind::Example);
    assert!(collector.push(&bad).is_err());
    collector.push(&good).unwrap();
    assert!(collector.push(&bad).is_err());
    collector.push(&example(&[entry(b"new", &int64s(&[1, 2]))])).unwrap();
    let found = collector.finish();
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].mixed_kinds, found[0].num_present, found[0].max_count), (false, 1, 1));
    assert_eq!((&found[1].name[..], found[1].num_present, found[1].min_count), (&b"new"[..], 1, 2));
}

#[test]
fn collector_reports_the_five_columns_of_image_records() {
    let scalar = join(&[&[0; 24], b"abc"]);
    let vector = join(&[&hex("02000000 00000000 0100000000000000 0000000000000000"), &[0; 8]]);
    let found = collect(PayloadKind::IrHeader, &[scalar, vector]);
    let names: Vec<&[u8]> = found.iter().map(|feature| &feature.name[..]).collect();
    assert_eq!(names, [&b"data"[..], b"flag", b"id", b"id2", b"label"]);
    assert_eq!((found[0].min_bytes, found[0].max_bytes), (0, 3));
    assert_eq!((found[4].kind, found[4].min_count, found[4].max_count), (Some(ValueKind::Float32), 1, 2));
}
