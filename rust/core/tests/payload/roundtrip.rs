//! Round trips of random columns through `serialize`, `check`, `FeatureCollector` and `Parser`.
use crate::common::*;
use recordmill_core::payload::{
    Column, ColumnData, ColumnSpec, FeatureCollector, MissingPolicy, Parser, PayloadKind, Plan, Section, ValueCount,
    ValueKind, Values, ValuesRef, serialize, validate_payload,
};

const NUM_ROUNDS: u64 = 60;

fn random_values(random: &mut Random, kind: ValueKind, count: usize) -> Values {
    let words = (0..count).map(|_| random.next() >> (random.next() % 64)).collect::<Vec<u64>>().into_iter();
    match kind {
        ValueKind::Float32 => Values::Float32(words.map(|word| word as f32 * 0.5).collect()),
        ValueKind::Float64 => Values::Float64(words.map(|word| word as f64 * 0.5).collect()),
        ValueKind::Int32 => Values::Int32(words.map(|word| word as i32).collect()),
        ValueKind::Int64 => Values::Int64(words.map(|word| word as i64).collect()),
        ValueKind::UInt64 => Values::UInt64(words.collect()),
        ValueKind::Bytes => {
            let mut strings: Vec<Vec<u8>> = Vec::new();
            for word in words {
                strings.push(vec![word as u8; if word % 7 == 0 { 200 } else { word as usize % 5 }]);
            }
            byte_values(&strings.iter().map(|string| &string[..]).collect::<Vec<_>>())
        }
    }
}

/// Generates the splits of `num_rows` rows. About one in ten rows has 40 values; the others have 0 to 3 values.
fn random_splits(random: &mut Random, num_rows: usize) -> Vec<i64> {
    let mut splits = vec![0];
    for row in 0..num_rows {
        let len = if random.below(10) == 0 { 40 } else { random.below(4) };
        splits.push(splits[row] + len as i64);
    }
    splits
}

fn borrow_values(values: &Values) -> ValuesRef<'_> {
    match values {
        Values::Bytes { data, splits } => ValuesRef::Bytes { data, splits },
        Values::Float32(values) => ValuesRef::Float32(values),
        Values::Float64(values) => ValuesRef::Float64(values),
        Values::Int32(values) => ValuesRef::Int32(values),
        Values::Int64(values) => ValuesRef::Int64(values),
        Values::UInt64(values) => ValuesRef::UInt64(values),
    }
}

fn borrow_column<'a>(spec: &'a ColumnSpec, column: &'a Column) -> ColumnData<'a> {
    ColumnData {
        name: &spec.name,
        section: spec.section,
        values: borrow_values(&column.values),
        fixed: if let ValueCount::Fixed(count) = spec.value_count { Some(count) } else { None },
        row_splits: column.row_splits.as_deref(),
        frame_splits: column.frame_splits.as_deref(),
        present: None,
        scalar: false,
    }
}

fn random_column(random: &mut Random, spec: &ColumnSpec, num_records: usize) -> Column {
    let rows = random_splits(random, num_records);
    let num_frames = rows[num_records] as usize;
    let frames = random_splits(random, num_frames);
    let (count, row_splits, frame_splits) = match (spec.section, spec.value_count) {
        (Section::Context, ValueCount::Fixed(count)) => (num_records * count, None, None),
        (Section::Context, ValueCount::Ragged) => (num_frames, Some(rows), None),
        (Section::Lists, ValueCount::Fixed(count)) => (num_frames * count, Some(rows), None),
        (Section::Lists, ValueCount::Ragged) => (frames[num_frames] as usize, Some(rows), Some(frames)),
    };
    Column { values: random_values(random, spec.kind, count), row_splits, frame_splits }
}

fn random_spec(random: &mut Random, position: usize, kinds: &[ValueKind], lists: bool) -> ColumnSpec {
    let value_count = match random.below(4) {
        0 => ValueCount::Ragged,
        1 => ValueCount::Fixed(random.below(6)),
        _ => ValueCount::Fixed(1),
    };
    let name = format!("{}{position}", "feature/".repeat(random.below(20)));
    let spec = spec(&name, kinds[random.below(kinds.len())], value_count);
    let section = if lists && random.below(2) == 0 { Section::Lists } else { Section::Context };
    ColumnSpec { section, missing: MissingPolicy::Error, ..spec }
}

fn assert_round_trip(kind: PayloadKind, kinds: &[ValueKind]) {
    for seed in 0..NUM_ROUNDS {
        let mut random = Random(seed);
        let num_records = 1 + random.below(20);
        let num_columns = random.below(12);
        let specs: Vec<_> = (0..num_columns)
            .map(|position| random_spec(&mut random, position, kinds, kind == PayloadKind::SequenceExample))
            .collect();
        let columns: Vec<_> = specs.iter().map(|spec| random_column(&mut random, spec, num_records)).collect();
        let column_data: Vec<_> =
            specs.iter().zip(&columns).map(|(spec, column)| borrow_column(spec, column)).collect();
        let (payloads, splits) = serialize(kind, num_records, &column_data).unwrap();
        let plan = Plan::new(kind, specs.clone()).unwrap();
        let mut parser = Parser::new(&plan, num_records).expect("memory");
        let mut collector = FeatureCollector::new(kind);
        for pair in splits.windows(2) {
            let payload = &payloads[pair[0] as usize..pair[1] as usize];
            validate_payload(kind, payload).unwrap();
            parser.push_payload(payload).unwrap();
            collector.push_payload(payload).unwrap();
        }
        assert_eq!(parser.finish().expect("memory"), columns, "seed {seed}");
        let features = collector.finish().expect("memory");
        assert_eq!(features.len(), num_columns);
        assert!(features.iter().all(|feature| feature.num_present == num_records as u64));
    }
}

#[test]
fn examples_round_trip() {
    assert_round_trip(PayloadKind::Example, &[ValueKind::Bytes, ValueKind::Float32, ValueKind::Int64]);
}

#[test]
fn sequence_examples_round_trip() {
    assert_round_trip(PayloadKind::SequenceExample, &[ValueKind::Bytes, ValueKind::Float32, ValueKind::Int64]);
}

#[test]
fn ofrecords_round_trip() {
    let kinds = [ValueKind::Bytes, ValueKind::Float32, ValueKind::Float64, ValueKind::Int32, ValueKind::Int64];
    assert_round_trip(PayloadKind::OfRecord, &kinds);
}

#[test]
fn image_records_round_trip() {
    for seed in 0..NUM_ROUNDS {
        let mut random = Random(seed);
        let num_records = 1 + random.below(20);
        let specs = [
            spec("label", ValueKind::Float32, ValueCount::Ragged),
            spec("id", ValueKind::UInt64, ValueCount::Fixed(1)),
            spec("id2", ValueKind::UInt64, ValueCount::Fixed(1)),
            spec("data", ValueKind::Bytes, ValueCount::Fixed(1)),
        ];
        let mut columns: Vec<_> = specs.iter().map(|spec| random_column(&mut random, spec, num_records)).collect();
        let label_counts: Vec<i64> = (1..=num_records as i64).map(|record| record % 3 + 1).collect();
        let ends = label_counts.iter().scan(0, |end, count| {
            *end += count;
            Some(*end)
        });
        let label_splits: Vec<i64> = [0].into_iter().chain(ends).collect();
        let num_labels = label_splits[num_records] as usize;
        columns[0].values = random_values(&mut random, ValueKind::Float32, num_labels);
        columns[0].row_splits = Some(label_splits);
        let column_data: Vec<_> =
            specs.iter().zip(&columns).map(|(spec, column)| borrow_column(spec, column)).collect();
        let (payloads, splits) = serialize(PayloadKind::IrHeader, num_records, &column_data).unwrap();
        let payloads: Vec<_> =
            splits.windows(2).map(|pair| payloads[pair[0] as usize..pair[1] as usize].to_vec()).collect();
        assert_eq!(parse(PayloadKind::IrHeader, &specs, &payloads).unwrap(), columns, "seed {seed}");
    }
}
