//! Damaged payloads: no function panics, and all functions agree whether a payload is valid.
use crate::common::*;
use recordmill_core::payload::{
    ColumnSpec, FeatureCollector, MissingPolicy, Parser, PayloadKind, Plan, ValueCount, ValueKind, has_feature_lists,
    validate_payload,
};

fn example_sample() -> Vec<u8> {
    encode_example(&[
        encode_entry(b"image/encoded", &encode_bytes_feature(&[&[0xff; 150], b"second"])),
        encode_entry(b"label", &encode_int64_feature(&[3])),
        encode_entry(b"score", &encode_float_feature(&[0.5, 0.25])),
        encode_field(1, &concat(&[&encode_field(2, &encode_int64_feature(&[-1])), &encode_field(1, b"late")])),
        encode_field(9, b"unknown"),
    ])
}

fn sequence_sample() -> Vec<u8> {
    let frames: Vec<u8> = (0..30).flat_map(|i| encode_field(1, &encode_int64_feature(&[i, 1 << i]))).collect();
    concat(&[&example_sample(), &encode_field(2, &encode_entry(b"label", &frames))])
}

fn ofrecord_sample() -> Vec<u8> {
    let doubles = encode_field(3, &encode_field(1, &[0; 16]));
    concat(&[
        &encode_entry(b"label", &encode_field(4, &encode_packed_varints(&[-5]))),
        &encode_entry(b"score", &encode_float_feature(&[1.0])),
        &encode_entry(b"wide", &doubles),
    ])
}

fn irheader_sample() -> Vec<u8> {
    concat(&[&parse_hex("02000000 00000000 0100000000000000 0000000000000000"), &[0; 8], b"data"])
}

fn samples() -> [(PayloadKind, Vec<u8>); 4] {
    [
        (PayloadKind::Example, example_sample()),
        (PayloadKind::SequenceExample, sequence_sample()),
        (PayloadKind::OfRecord, ofrecord_sample()),
        (PayloadKind::IrHeader, irheader_sample()),
    ]
}

/// Returns specifications of optional columns for the feature names in the samples.
fn sample_specs(kind: PayloadKind) -> Vec<ColumnSpec> {
    let mut specs = vec![
        spec(
            "label",
            if kind == PayloadKind::IrHeader { ValueKind::Float32 } else { ValueKind::Int64 },
            ValueCount::Ragged,
        ),
        spec("score", ValueKind::Float32, ValueCount::Ragged),
        spec("image/encoded", ValueKind::Bytes, ValueCount::Ragged),
        spec("data", ValueKind::Bytes, ValueCount::Ragged),
    ];
    if kind == PayloadKind::SequenceExample {
        specs.push(list_spec("label", ValueKind::Int64, ValueCount::Ragged));
    }
    specs.into_iter().map(|column| ColumnSpec { missing: MissingPolicy::Empty, ..column }).collect()
}

/// Passes `payload` to every function that reads payloads, and checks that they agree whether it is valid.
///
/// The parser first parses the payload `valid`, so that its key cache predicts the same keys in `payload`.
fn assert_readers_agree(kind: PayloadKind, valid: &[u8], payload: &[u8]) {
    let validity = validate_payload(kind, payload);
    let empty_plan = Plan::new(kind, Vec::new()).unwrap();
    let mut parser = Parser::new(&empty_plan, 1).expect("memory");
    parser.push_payload(valid).unwrap();
    assert_eq!(parser.push_payload(payload), validity);
    let plan = Plan::new(kind, sample_specs(kind)).unwrap();
    let mut parser = Parser::new(&plan, 1).expect("memory");
    let first = parser.push_payload(valid);
    let second = parser.push_payload(payload);
    assert!(validity.is_ok() || second.is_err());
    let num_records = usize::from(first.is_ok()) + usize::from(second.is_ok());
    assert_eq!(parser.num_records(), num_records);
    for column in parser.finish().expect("memory") {
        assert_eq!(column.row_splits.unwrap().len(), num_records + 1);
    }
    let mut collector = FeatureCollector::new(kind);
    assert_eq!(collector.push_payload(payload), validity);
    assert!(validity.is_ok() || collector.finish().expect("memory").is_empty());
    has_feature_lists(payload);
}

#[test]
fn truncated_payloads_never_panic() {
    for (kind, sample) in samples() {
        validate_payload(kind, &sample).unwrap();
        for len in 0..sample.len() {
            assert_readers_agree(kind, &sample, &sample[..len]);
        }
    }
}

#[test]
fn payloads_with_a_flipped_bit_never_panic() {
    for (kind, sample) in samples() {
        for bit in 0..8 * sample.len() {
            let mut payload = sample.clone();
            payload[bit / 8] ^= 1 << (bit % 8);
            assert_readers_agree(kind, &sample, &payload);
        }
    }
}

#[test]
fn payloads_with_an_extreme_byte_never_panic() {
    for (kind, sample) in samples() {
        for i in 0..sample.len() {
            for byte in [0x00, 0x0a, 0x12, 0x1b, 0x7f, 0x80, 0xfa, 0xff] {
                let mut payload = sample.clone();
                payload[i] = byte;
                assert_readers_agree(kind, &sample, &payload);
            }
        }
    }
}

#[test]
fn payloads_with_random_edits_never_panic() {
    let mut random = Random(11);
    for (kind, sample) in samples() {
        for _ in 0..3000 {
            let mut payload = sample.clone();
            for _ in 0..1 + random.below(4) {
                let position = random.below(payload.len());
                match random.below(4) {
                    0 => payload[position] = random.next() as u8,
                    1 => payload.insert(position, random.next() as u8),
                    2 if payload.len() > 1 => drop(payload.remove(position)),
                    _ => payload.extend_from_within(position..),
                }
            }
            assert_readers_agree(kind, &sample, &payload);
        }
    }
}
