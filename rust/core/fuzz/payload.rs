//! What all payload targets do with their bytes.
use recordmill_core::payload::{
    Column, ColumnData, ColumnSpec, LongString, Layout, Missing, Parser, PayloadKind, Plan, Section, FeatureCollector, ValueKind, Values,
    ValuesRef, check, has_feature_lists, serialize,
};

/// Reads `payload` in every way; panics where two ways disagree.
pub fn exercise(kind: PayloadKind, payload: &[u8]) {
    has_feature_lists(payload);
    look_into(kind, payload);
    let verdict = check(kind, payload);
    let mut survey = FeatureCollector::new(kind);
    assert_eq!(survey.push(payload), verdict);
    let found = survey.finish();
    if verdict.is_err() {
        assert!(found.is_empty());
        let nothing = Plan::new(kind, Vec::new()).expect("an empty plan");
        assert_eq!(Parser::new(&nothing, 1).push(payload), verdict);
        return;
    }
    let specs: Vec<ColumnSpec> = found
        .iter()
        .filter(|seen| seen.num_present > 0 && !seen.mixed_kinds)
        .map(|seen| ColumnSpec {
            name: seen.name.clone(),
            section: seen.section,
            kind: seen.kind.unwrap_or(ValueKind::Int64),
            layout: Layout::Ragged,
            missing: Missing::Error,
        })
        .collect();
    let once = parse(kind, &specs, payload, 1);
    for (one, three) in once.iter().zip(parse(kind, &specs, payload, 3)) {
        assert_eq!(3 * one.values.len(), three.values.len());
    }
    let columns: Vec<ColumnData> = specs.iter().zip(&once).map(|(spec, column)| borrowed(spec, column)).collect();
    let (written, _) = serialize(kind, 1, &columns).expect("parsed columns can be written");
    assert_eq!(format!("{:?}", parse(kind, &specs, &written, 1)), format!("{once:?}"));
}

/// Takes `payload` for the first bytes of a long one.
fn look_into(kind: PayloadKind, payload: &[u8]) {
    let spec = ColumnSpec {
        name: if kind == PayloadKind::IrHeader { b"data".to_vec() } else { b"image".to_vec() },
        section: Section::Context,
        kind: ValueKind::Bytes,
        layout: Layout::Fixed(1),
        missing: Missing::Error,
    };
    let plan = Plan::new(kind, vec![spec]).expect("a sound plan");
    if let Some(string) = LongString::find(&plan, payload, payload.len() + (1 << 20)) {
        let mut rest = Vec::new();
        string.shorten(payload, b"", &mut rest);
        let _ = Parser::new(&plan, 1).push(&rest);
    }
}

/// The columns of `times` times the same payload.
fn parse(kind: PayloadKind, specs: &[ColumnSpec], payload: &[u8], times: usize) -> Vec<Column> {
    let plan = Plan::new(kind, specs.to_vec()).expect("a surveyed plan");
    let mut parser = Parser::new(&plan, times);
    for _ in 0..times {
        parser.push(payload).expect("a checked payload with surveyed kinds");
    }
    parser.finish()
}

fn borrowed<'a>(spec: &'a ColumnSpec, column: &'a Column) -> ColumnData<'a> {
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
