//! Damaged payloads: whatever the bytes, an answer and no panic, and the same answer from every entry point.
use crate::common::*;
use recordmill_core::payload::{
    ColumnSpec, FeatureCollector, Layout, Missing, Parser, PayloadKind, Plan, ValueKind, check, has_feature_lists,
};

fn example_sample() -> Vec<u8> {
    example(&[
        entry(b"image/encoded", &strings(&[&[0xff; 150], b"second"])),
        entry(b"label", &int64s(&[3])),
        entry(b"score", &floats(&[0.5, 0.25])),
        field(1, &join(&[&field(2, &int64s(&[-1])), &field(1, b"late")])),
        field(9, b"unknown"),
    ])
}

fn sequence_sample() -> Vec<u8> {
    let frames: Vec<u8> = (0..30).flat_map(|i| field(1, &int64s(&[i, 1 << i]))).collect();
    join(&[&example_sample(), &field(2, &entry(b"label", &frames))])
}

fn ofrecord_sample() -> Vec<u8> {
    let doubles = field(3, &field(1, &[0; 16]));
    join(&[&entry(b"label", &field(4, &packed(&[-5]))), &entry(b"score", &floats(&[1.0])), &entry(b"wide", &doubles)])
}

fn irheader_sample() -> Vec<u8> {
    join(&[&hex("02000000 00000000 0100000000000000 0000000000000000"), &[0; 8], b"data"])
}

fn samples() -> [(PayloadKind, Vec<u8>); 4] {
    [
        (PayloadKind::Example, example_sample()),
        (PayloadKind::SequenceExample, sequence_sample()),
        (PayloadKind::OfRecord, ofrecord_sample()),
        (PayloadKind::IrHeader, irheader_sample()),
    ]
}

/// Columns that ask for whatever kind `kind` holds under the samples' names, missing or not.
fn greedy(kind: PayloadKind) -> Vec<ColumnSpec> {
    let mut asked = vec![
        spec(
            "label",
            if kind == PayloadKind::IrHeader { ValueKind::Float32 } else { ValueKind::Int64 },
            Layout::Ragged,
        ),
        spec("score", ValueKind::Float32, Layout::Ragged),
        spec("image/encoded", ValueKind::Bytes, Layout::Ragged),
        spec("data", ValueKind::Bytes, Layout::Ragged),
    ];
    if kind == PayloadKind::SequenceExample {
        asked.push(list_spec("label", ValueKind::Int64, Layout::Ragged));
    }
    asked.into_iter().map(|column| ColumnSpec { missing: Missing::Empty, ..column }).collect()
}

/// Every entry point on one payload: a sound one before it makes the parser expect its form.
fn try_all(kind: PayloadKind, sound: &[u8], payload: &[u8]) {
    let verdict = check(kind, payload);
    let nothing = Plan::new(kind, Vec::new()).unwrap();
    let mut parser = Parser::new(&nothing, 1);
    parser.push(sound).unwrap();
    assert_eq!(parser.push(payload), verdict);
    let plan = Plan::new(kind, greedy(kind)).unwrap();
    let mut parser = Parser::new(&plan, 1);
    let before = parser.push(sound);
    let taken = parser.push(payload);
    assert!(verdict.is_ok() || taken.is_err());
    let num_records = usize::from(before.is_ok()) + usize::from(taken.is_ok());
    assert_eq!(parser.num_records(), num_records);
    for column in parser.finish() {
        assert_eq!(column.row_splits.unwrap().len(), num_records + 1);
    }
    let mut survey = FeatureCollector::new(kind);
    assert_eq!(survey.push(payload), verdict);
    assert!(verdict.is_ok() || survey.finish().is_empty());
    has_feature_lists(payload);
}

#[test]
fn test_payloads_when_cut_at_every_byte_then_nothing_panics() {
    for (kind, sample) in samples() {
        check(kind, &sample).unwrap();
        for len in 0..sample.len() {
            try_all(kind, &sample, &sample[..len]);
        }
    }
}

#[test]
fn test_payloads_when_every_bit_is_flipped_then_nothing_panics() {
    for (kind, sample) in samples() {
        for bit in 0..8 * sample.len() {
            let mut payload = sample.clone();
            payload[bit / 8] ^= 1 << (bit % 8);
            try_all(kind, &sample, &payload);
        }
    }
}

#[test]
fn test_payloads_when_every_byte_is_extreme_then_nothing_panics() {
    for (kind, sample) in samples() {
        for i in 0..sample.len() {
            for byte in [0x00, 0x0a, 0x12, 0x1b, 0x7f, 0x80, 0xfa, 0xff] {
                let mut payload = sample.clone();
                payload[i] = byte;
                try_all(kind, &sample, &payload);
            }
        }
    }
}

#[test]
fn test_payloads_when_bytes_are_random_then_nothing_panics() {
    let mut random = Random(11);
    for (kind, sample) in samples() {
        for _ in 0..3000 {
            let mut payload = sample.clone();
            for _ in 0..1 + random.below(4) {
                let at = random.below(payload.len());
                match random.below(4) {
                    0 => payload[at] = random.next() as u8,
                    1 => payload.insert(at, random.next() as u8),
                    2 if payload.len() > 1 => drop(payload.remove(at)),
                    _ => payload.extend_from_within(at..),
                }
            }
            try_all(kind, &sample, &payload);
        }
    }
}
