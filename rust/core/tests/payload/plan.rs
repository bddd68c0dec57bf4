//! `Plan::new` rejects columns that payloads cannot contain.
use crate::common::*;
use recordmill_core::error::FaultKind;
use recordmill_core::payload::{ColumnSpec, MissingPolicy, PayloadKind, Plan, ValueCount, ValueKind, Values};

fn plan_error(kind: PayloadKind, specs: &[ColumnSpec]) -> String {
    let fault = Plan::new(kind, specs.to_vec()).expect_err("the plan is invalid");
    assert_eq!(fault.kind, FaultKind::FeatureMismatch);
    fault.message
}

#[test]
fn plan_rejects_kinds_that_the_payload_does_not_support() {
    let cases = [
        (PayloadKind::Example, ValueKind::Float64),
        (PayloadKind::Example, ValueKind::Int32),
        (PayloadKind::SequenceExample, ValueKind::UInt64),
        (PayloadKind::OfRecord, ValueKind::UInt64),
        (PayloadKind::IrHeader, ValueKind::Float64),
    ];
    for (kind, value) in cases {
        let message = plan_error(kind, &[spec("a", value, ValueCount::Ragged)]);
        assert_eq!(message, "feature 'a' is requested with a kind that the payload does not support");
    }
}

#[test]
fn plan_rejects_feature_lists_of_other_payloads() {
    for kind in [PayloadKind::Example, PayloadKind::OfRecord, PayloadKind::IrHeader] {
        assert!(plan_error(kind, &[list_spec("a", ValueKind::Int64, ValueCount::Ragged)]).contains("feature lists"));
    }
}

#[test]
fn plan_rejects_duplicate_columns_of_one_section() {
    let specs = [spec("a", ValueKind::Int64, ValueCount::Ragged), spec("a", ValueKind::Bytes, ValueCount::Fixed(1))];
    assert_eq!(plan_error(PayloadKind::Example, &specs), "feature 'a' is requested twice");
    let both_sections = vec![specs[0].clone(), list_spec("a", ValueKind::Int64, ValueCount::Ragged)];
    assert_eq!(Plan::new(PayloadKind::SequenceExample, both_sections.clone()).unwrap().columns(), both_sections);
}

#[test]
fn plan_rejects_defaults_that_do_not_match_the_column() {
    let fixed = spec("a", ValueKind::Int64, ValueCount::Fixed(2));
    let cases = [
        ColumnSpec { missing: MissingPolicy::Empty, ..fixed.clone() },
        ColumnSpec { missing: MissingPolicy::Default(Values::Int64(vec![1])), ..fixed.clone() },
        ColumnSpec { missing: MissingPolicy::Default(Values::Float32(vec![1.0, 2.0])), ..fixed.clone() },
    ];
    for case in cases {
        plan_error(PayloadKind::Example, &[case]);
    }
    let list = list_spec("a", ValueKind::Int64, ValueCount::Fixed(1));
    let list = ColumnSpec { missing: MissingPolicy::Default(Values::Int64(vec![1])), ..list };
    plan_error(PayloadKind::SequenceExample, &[list]);
    let valid = ColumnSpec { missing: MissingPolicy::Default(Values::Int64(vec![1, 2])), ..fixed };
    assert!(Plan::new(PayloadKind::Example, vec![valid]).is_ok());
}

#[test]
fn plan_rejects_names_that_are_not_utf8_if_keys_must_be() {
    let spec = ColumnSpec { name: b"\xff".to_vec(), ..spec("", ValueKind::Int64, ValueCount::Ragged) };
    plan_error(PayloadKind::Example, std::slice::from_ref(&spec));
    assert!(Plan::new(PayloadKind::OfRecord, vec![spec]).is_ok());
}

#[test]
fn plan_without_columns_still_validates_records() {
    let payload = encode_example(&[encode_entry(b"a", &encode_int64_feature(&[1]))]);
    let truncated = payload[..payload.len() - 1].to_vec();
    assert_eq!(parse(PayloadKind::Example, &[], &[payload]), Ok(vec![]));
    assert_eq!(parse(PayloadKind::Example, &[], &[truncated]).unwrap_err().kind, FaultKind::BadPayload);
}
