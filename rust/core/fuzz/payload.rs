//! Checks of one payload, shared by the fuzz targets of all payload kinds.
use recordmill_core::payload::{
    Column, ColumnData, ColumnSpec, FeatureCollector, LongString, MissingPolicy, Parser, PayloadKind, Plan, Section,
    ValueCount, ValueKind, Values, ValuesRef, has_feature_lists, serialize, validate_payload,
};

/// Passes `payload` to every function that reads payloads; panics if their results disagree.
pub fn assert_functions_agree(kind: PayloadKind, payload: &[u8]) {
    has_feature_lists(payload);
    find_long_string(kind, payload);
    let validity = validate_payload(kind, payload);
    let mut collector = FeatureCollector::new(kind);
    assert_eq!(collector.push_payload(payload), validity);
    let features = collector.finish().expect("memory");
    if validity.is_err() {
        assert!(features.is_empty());
        let empty_plan = Plan::new(kind, Vec::new()).expect("an empty plan");
        assert_eq!(Parser::new(&empty_plan, 1).expect("memory").push_payload(payload), validity);
        return;
    }
    let specs: Vec<ColumnSpec> = features
        .iter()
        .filter(|feature| feature.num_present > 0 && !feature.mixed_kinds)
        .map(|feature| ColumnSpec {
            name: feature.name.clone(),
            section: feature.section,
            kind: feature.kind.unwrap_or(ValueKind::Int64),
            value_count: ValueCount::Ragged,
            missing: MissingPolicy::Error,
        })
        .collect();
    let parsed = parse_copies(kind, &specs, payload, 1);
    for (one, three) in parsed.iter().zip(parse_copies(kind, &specs, payload, 3)) {
        assert_eq!(3 * one.values.len(), three.values.len());
    }
    let columns: Vec<ColumnData> =
        specs.iter().zip(&parsed).map(|(spec, column)| borrow_column(spec, column)).collect();
    let (serialized, _) = serialize(kind, 1, &columns).expect("parsed columns can be serialized");
    assert_eq!(format!("{:?}", parse_copies(kind, &specs, &serialized, 1)), format!("{parsed:?}"));
}

/// Searches `payload` for a long string, as if it were the first bytes of a payload that is 1 MiB longer.
fn find_long_string(kind: PayloadKind, payload: &[u8]) {
    let spec = ColumnSpec {
        name: if kind == PayloadKind::IrHeader { b"data".to_vec() } else { b"image".to_vec() },
        section: Section::Context,
        kind: ValueKind::Bytes,
        value_count: ValueCount::Fixed(1),
        missing: MissingPolicy::Error,
    };
    let plan = Plan::new(kind, vec![spec]).expect("a valid plan");
    if let Some(string) = LongString::locate(&plan, payload, payload.len() + (1 << 20)) {
        let mut rest = Vec::new();
        string.write_shortened(payload, b"", &mut rest);
        let _ = Parser::new(&plan, 1).expect("memory").push_payload(&rest);
    }
}

/// Parses `times` copies of `payload` into the columns of `specs`.
fn parse_copies(kind: PayloadKind, specs: &[ColumnSpec], payload: &[u8], times: usize) -> Vec<Column> {
    let plan = Plan::new(kind, specs.to_vec()).expect("a plan for the features of the payload");
    let mut parser = Parser::new(&plan, times).expect("memory");
    for _ in 0..times {
        parser.push_payload(payload).expect("a valid payload with these features");
    }
    parser.finish().expect("memory")
}

fn borrow_column<'a>(spec: &'a ColumnSpec, column: &'a Column) -> ColumnData<'a> {
    let values = match &column.values {
        Values::Bytes { data, splits } => ValuesRef::Bytes { data, splits },
        Values::Float32(values) => ValuesRef::Float32(values),
        Values::Float64(values) => ValuesRef::Float64(values),
        Values::Int32(values) => ValuesRef::Int32(values),
        Values::Int64(values) => ValuesRef::Int64(values),
        Values::UInt64(values) => ValuesRef::UInt64(values),
    };
    ColumnData {
        name: &spec.name,
        section: spec.section,
        values,
        fixed: None,
        row_splits: column.row_splits.as_deref(),
        frame_splits: if spec.section == Section::Lists { column.frame_splits.as_deref() } else { None },
        present: None,
        scalar: false,
    }
}
