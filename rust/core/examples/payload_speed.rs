//! Benchmark that parses and serializes payloads on one core, and checks all results.
//!
//! `cargo run --release -p recordmill-core --example payload_speed [clicks|sequences|lists|images]`
use recordmill_core::payload::{
    Column, ColumnData, ColumnSpec, FeatureCollector, MissingPolicy, Parser, PayloadKind, Plan, Section, ValueCount,
    ValueKind, Values, ValuesRef, serialize, validate_payload,
};
use std::hint::black_box;
use std::time::Instant;

const NUM_RECORDS: usize = 4096;
const NUM_ROUNDS: usize = 40;
const FRAMES: usize = 100;

/// A small deterministic generator (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

/// Concatenated payloads and their row splits.
type PayloadBuffer = (Vec<u8>, Vec<i64>);

fn iterate_payloads(payloads: &PayloadBuffer) -> impl Iterator<Item = &[u8]> {
    payloads.1.windows(2).map(|pair| &payloads.0[pair[0] as usize..pair[1] as usize])
}

/// Runs `work` several times and prints the speed of the fastest run.
fn measure_speed(name: &str, payloads: &PayloadBuffer, values_per_record: usize, mut work: impl FnMut()) {
    if std::env::args().nth(2).is_some_and(|wanted| !name.ends_with(&wanted)) {
        return;
    }
    let mut best = f64::MAX;
    for _ in 0..NUM_ROUNDS {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    let num_records = payloads.1.len() - 1;
    println!(
        "{name:<44} {:>9.0} records/s {:>7.1} ns/value {:>8.0} MB/s ({} bytes each)",
        num_records as f64 / best,
        best * 1e9 / (num_records * values_per_record) as f64,
        payloads.0.len() as f64 / best / 1e6,
        payloads.0.len() / num_records
    );
}

fn column_spec(name: &[u8], section: Section, kind: ValueKind, value_count: ValueCount) -> ColumnSpec {
    ColumnSpec { name: name.to_vec(), section, kind, value_count, missing: MissingPolicy::Error }
}

fn parse_payloads(plan: &Plan, payloads: &PayloadBuffer) -> Vec<Column> {
    let mut parser = Parser::new(plan, payloads.1.len() - 1).expect("memory");
    for payload in iterate_payloads(payloads) {
        parser.push_payload(payload).expect("the payloads are valid");
    }
    parser.finish().expect("memory")
}

/// Generates features as in click logs: 13 floats and 26 integers per record, one value each.
fn generate_click_features() -> Vec<(Vec<u8>, Values)> {
    let mut random = Random(1);
    let mut features = Vec::new();
    for i in 0..13 {
        let values = (0..NUM_RECORDS).map(|_| (random.next() % 1000) as f32 * 0.25).collect();
        features.push((format!("I{i}").into_bytes(), Values::Float32(values)));
    }
    for i in 0..26 {
        let values = (0..NUM_RECORDS).map(|_| (random.next() >> (random.next() % 24 + 40)) as i64).collect();
        features.push((format!("C{i}").into_bytes(), Values::Int64(values)));
    }
    features.sort_by(|a, b| a.0.cmp(&b.0));
    features
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

fn fixed_column<'a>(name: &'a [u8], values: &'a Values, count: usize) -> ColumnData<'a> {
    ColumnData {
        name,
        section: Section::Context,
        values: borrow_values(values),
        fixed: Some(count),
        row_splits: None,
        frame_splits: None,
        present: None,
        scalar: false,
    }
}

/// Shuffles the entries of each record, so that the parser's key cache cannot predict the next key.
fn shuffle_entries(payloads: &PayloadBuffer) -> PayloadBuffer {
    let mut random = Random(2);
    let (mut out, mut splits) = (Vec::new(), vec![0]);
    for payload in iterate_payloads(payloads) {
        let head = payload.len() - (payload[1] as usize & 0x7f | (payload[2] as usize) << 7);
        let mut entries = Vec::new();
        let mut rest = &payload[head..];
        while !rest.is_empty() {
            let (entry, tail) = rest.split_at(2 + rest[1] as usize);
            entries.push(entry);
            rest = tail;
        }
        for i in (1..entries.len()).rev() {
            entries.swap(i, random.next() as usize % (i + 1));
        }
        out.extend_from_slice(&payload[..head]);
        entries.iter().for_each(|entry| out.extend_from_slice(entry));
        splits.push(out.len() as i64);
    }
    (out, splits)
}

fn time_clicks() {
    let features = generate_click_features();
    let columns: Vec<_> = features.iter().map(|(name, values)| fixed_column(name, values, 1)).collect();
    let payloads = serialize(PayloadKind::Example, NUM_RECORDS, &columns).expect("the columns are valid");
    let specs = features
        .iter()
        .map(|(name, values)| column_spec(name, Section::Context, values.kind(), ValueCount::Fixed(1)))
        .collect();
    let plan = Plan::new(PayloadKind::Example, specs).expect("the plan is valid");
    let shuffled = shuffle_entries(&payloads);
    for columns in [parse_payloads(&plan, &payloads), parse_payloads(&plan, &shuffled)] {
        assert!(columns.iter().zip(&features).all(|(column, (_, values))| column.values == *values));
    }
    measure_speed("Example, 39 numbers", &payloads, 39, || drop(black_box(parse_payloads(&plan, &payloads))));
    measure_speed("Example, 39 numbers, shuffled keys", &shuffled, 39, || {
        drop(black_box(parse_payloads(&plan, &shuffled)))
    });
    let one = vec![column_spec(b"C3", Section::Context, ValueKind::Int64, ValueCount::Fixed(1))];
    let one = Plan::new(PayloadKind::Example, one).expect("the plan is valid");
    assert_eq!(
        parse_payloads(&one, &payloads)[0].values,
        features.iter().find(|(name, _)| name == b"C3").expect("C3").1
    );
    measure_speed("Example, 1 of 39 numbers", &payloads, 39, || drop(black_box(parse_payloads(&one, &payloads))));
    measure_speed("Example, 39 numbers, check", &payloads, 39, || {
        iterate_payloads(&payloads).for_each(|payload| validate_payload(PayloadKind::Example, payload).expect("valid"));
    });
    measure_speed("Example, 39 numbers, statistics", &payloads, 39, || {
        let mut collector = FeatureCollector::new(PayloadKind::Example);
        iterate_payloads(&payloads).for_each(|payload| collector.push_payload(payload).expect("valid"));
        let features = collector.finish().expect("memory");
        assert!(features.iter().all(|feature| feature.num_present == NUM_RECORDS as u64 && !feature.mixed_kinds));
    });
    measure_speed("Example, 39 numbers, serialize", &payloads, 39, || {
        black_box(serialize(PayloadKind::Example, NUM_RECORDS, &columns).expect("valid"));
    });
}

fn time_sequences() {
    let mut random = Random(3);
    let values: Vec<i64> = (0..NUM_RECORDS * FRAMES).map(|_| (random.next() % 128) as i64).collect();
    let splits: Vec<i64> = (0..=NUM_RECORDS).map(|record| (record * FRAMES) as i64).collect();
    let ids = Values::Int64(values);
    let column = ColumnData { section: Section::Lists, row_splits: Some(&splits), ..fixed_column(b"tokens", &ids, 1) };
    let kind = PayloadKind::SequenceExample;
    let payloads = serialize(kind, NUM_RECORDS, &[column]).expect("the columns are valid");
    let specs = vec![column_spec(b"tokens", Section::Lists, ValueKind::Int64, ValueCount::Fixed(1))];
    let plan = Plan::new(kind, specs).expect("the plan is valid");
    let columns = parse_payloads(&plan, &payloads);
    assert!(columns[0].values == ids && columns[0].row_splits.as_ref() == Some(&splits));
    measure_speed("SequenceExample, 100 frames of one int64", &payloads, FRAMES, || {
        drop(black_box(parse_payloads(&plan, &payloads)));
    });
    measure_speed("SequenceExample, 100 frames, check", &payloads, FRAMES, || {
        iterate_payloads(&payloads).for_each(|payload| validate_payload(kind, payload).expect("valid"));
    });
}

fn time_lists() {
    let mut random = Random(4);
    let count = 512;
    let ids = Values::Int64((0..NUM_RECORDS * count).map(|_| (random.next() % 50_000) as i64).collect());
    let payloads = serialize(PayloadKind::Example, NUM_RECORDS, &[fixed_column(b"ids", &ids, count)]).expect("valid");
    let specs = vec![column_spec(b"ids", Section::Context, ValueKind::Int64, ValueCount::Ragged)];
    let plan = Plan::new(PayloadKind::Example, specs).expect("the plan is valid");
    assert_eq!(parse_payloads(&plan, &payloads)[0].values, ids);
    measure_speed("Example, one list of 512 int64", &payloads, count, || {
        drop(black_box(parse_payloads(&plan, &payloads)))
    });
}

fn time_images() {
    let mut random = Random(5);
    let len = 20_000;
    let data: Vec<u8> = (0..NUM_RECORDS / 8 * len).map(|_| random.next() as u8).collect();
    let splits: Vec<i64> = (0..=NUM_RECORDS / 8).map(|record| (record * len) as i64).collect();
    let images = Values::Bytes { data, splits };
    let labels = Values::Int64((0..NUM_RECORDS as i64 / 8).collect());
    let columns = [fixed_column(b"image/encoded", &images, 1), fixed_column(b"image/label", &labels, 1)];
    let payloads = serialize(PayloadKind::Example, NUM_RECORDS / 8, &columns).expect("valid");
    let specs = vec![
        column_spec(b"image/encoded", Section::Context, ValueKind::Bytes, ValueCount::Fixed(1)),
        column_spec(b"image/label", Section::Context, ValueKind::Int64, ValueCount::Fixed(1)),
    ];
    let plan = Plan::new(PayloadKind::Example, specs).expect("the plan is valid");
    assert_eq!(parse_payloads(&plan, &payloads)[0].values, images);
    measure_speed("Example, an image of 20 kB and a label", &payloads, 2, || {
        drop(black_box(parse_payloads(&plan, &payloads)))
    });
}

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let benchmarks: [(&str, fn()); 4] =
        [("clicks", time_clicks), ("sequences", time_sequences), ("lists", time_lists), ("images", time_images)];
    for (name, time) in benchmarks {
        if name.contains(&wanted) {
            time();
        }
    }
}
