//! The common part of all payload targets.
use recordmill_core::payload::{
    Column, ColumnData, ColumnSpec, FeatureCollector, Layout, LongString, Missing, Parser, PayloadKind, Plan, Section,
    ValueKind, Values, ValuesRef, check, has_feature_lists, serialize,
};

/// Passes `payload` to all functions that read payloads; panics if their results differ.
pub fn exercise(kind: PayloadKind, payload: &[u8]) {
    has_feature_lists(payload);
    find_long_string(kind, payload);
    let validity = check(kind, payload);
    let mut collector = FeatureCollector::new(kind);
    assert_eq!(collector.push(payload), validity);
    let features = collector.finish();
    if validity.is_err() {
        assert!(features.is_empty());
        let empty_plan = Plan::new(kind, Vec::new()).expect("an empty plan");
        assert_eq!(Parser::new(&empty_plan, 1).push(payload), validity);
        return;
    }
    let specs: Vec<ColumnSpec> = features
        .iter()
        .filter(|feature| feature.num_present > 0 && !feature.mixed_kinds)
        .map(|feature| ColumnSpec {
            name: feature.name.clone(),
            section: feature.section,
            kind: feature.kind.unwrap_or(ValueKind::Int64),
            layout: Layout::Ragged,
            missing: Missing::Error,
        })
        .collect();
    let parsed = parse(kind, &specs, payload, 1);
    for (one, three) in parsed.iter().zip(parse(kind, &specs, payload, 3)) {
        assert_eq!(3 * one.values.len(), three.values.len());
    }
    let columns: Vec<ColumnData> = specs.iter().zip(&parsed).map(|(spec, column)| borrow(spec, column)).collect();
    let (serialized, _) = serialize(kind, 1, &columns).expect("parsed columns can be serialized");
    assert_eq!(format!("{:?}", parse(kind, &specs, &serialized, 1)), format!("{parsed:?}"));
}

/// Searches for a long string as if `payload` were the first bytes of a longer payload.
fn find_long_string(kind: PayloadKind, payload: &[u8]) {
    let spec = ColumnSpec {
        name: if kind == PayloadKind::IrHeader { b"data".to_vec() } else { b"image".to_vec() },
        section: Section::Context,
        kind: ValueKind::Bytes,
        layout: Layout::Fixed(1),
        missing: Missing::Error,
    };
    let plan = Plan::new(kind, vec![spec]).expect("a valid plan");
    if let Some(string) = LongString::find(&plan, payload, payload.len() + (1 << 20)) {
        let mut rest = Vec::new();
        string.shorten(payload, b"", &mut rest);
        let _ = Parser::new(&plan, 1).push(&rest);
    }
}

/// Parses the same payload `times` times.
fn parse(kind: PayloadKind, specs: &[ColumnSpec], payload: &[u8], times: usize) -> Vec<Column> {
    let plan = Plan::new(kind, specs.to_vec()).expect("a plan for the features of the payload");
    let mut parser = Parser::new(&plan, times);
    for _ in 0..times {
        parser.push(payload).expect("a valid payload with these features");
    }
    parser.finish()
}

fn borrow<'a>(spec: &'a ColumnSpec, column: &'a Column) -> ColumnData<'a> {
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
