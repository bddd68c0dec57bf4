//! Plans: requests that payloads cannot answer are refused before any payload is read.
use crate::common::*;
use recordmill_core::error::FaultKind;
use recordmill_core::payload::{ColumnSpec, Layout, Missing, PayloadKind, Plan, ValueKind, Values};

fn refused(kind: PayloadKind, specs: &[ColumnSpec]) -> String {
    let fault = Plan::new(kind, specs.to_vec()).expect_err("the plan must be refused");
    assert_eq!(fault.kind, FaultKind::FeatureMismatch);
    fault.message
}

#[test]
fn test_plan_when_kind_is_not_the_payloads_then_it_is_refused() {
    let cases = [
        (PayloadKind::Example, ValueKind::Float64),
        (PayloadKind::Example, ValueKind::Int32),
        (PayloadKind::SequenceExample, ValueKind::UInt64),
        (PayloadKind::OfRecord, ValueKind::UInt64),
        (PayloadKind::IrHeader, ValueKind::Float64),
    ];
    for (kind, value) in cases {
        let message = refused(kind, &[spec("a", value, Layout::Ragged)]);
        assert_eq!(message, "feature 'a' is asked for as a kind that the payload cannot hold");
    }
}

#[test]
fn test_plan_when_lists_are_asked_outside_sequences_then_it_is_refused() {
    for kind in [PayloadKind::Example, PayloadKind::OfRecord, PayloadKind::IrHeader] {
        assert!(refused(kind, &[list_spec("a", ValueKind::Int64, Layout::Ragged)]).contains("feature lists"));
    }
}

#[test]
fn test_plan_when_a_feature_is_asked_twice_then_it_is_refused() {
    let asked = [spec("a", ValueKind::Int64, Layout::Ragged), spec("a", ValueKind::Bytes, Layout::Fixed(1))];
    assert_eq!(refused(PayloadKind::Example, &asked), "feature 'a' is asked for twice");
    let apart = vec![asked[0].clone(), list_spec("a", ValueKind::Int64, Layout::Ragged)];
    assert_eq!(Plan::new(PayloadKind::SequenceExample, apart.clone()).unwrap().columns(), apart);
}

#[test]
fn test_plan_when_defaults_do_not_fit_then_it_is_refused() {
    let fixed = spec("a", ValueKind::Int64, Layout::Fixed(2));
    let cases = [
        ColumnSpec { missing: Missing::Empty, ..fixed.clone() },
        ColumnSpec { missing: Missing::Default(Values::Int64(vec![1])), ..fixed.clone() },
        ColumnSpec { missing: Missing::Default(Values::Float32(vec![1.0, 2.0])), ..fixed.clone() },
    ];
    for case in cases {
        refused(PayloadKind::Example, &[case]);
    }
    let listed = list_spec("a", ValueKind::Int64, Layout::Fixed(1));
    let listed = ColumnSpec { missing: Missing::Default(Values::Int64(vec![1])), ..listed };
    refused(PayloadKind::SequenceExample, &[listed]);
    let right = ColumnSpec { missing: Missing::Default(Values::Int64(vec![1, 2])), ..fixed };
    assert!(Plan::new(PayloadKind::Example, vec![right]).is_ok());
}

#[test]
fn test_plan_when_a_name_can_never_match_then_it_is_refused() {
    let asked = ColumnSpec { name: b"\xff".to_vec(), ..spec("", ValueKind::Int64, Layout::Ragged) };
    refused(PayloadKind::Example, std::slice::from_ref(&asked));
    assert!(Plan::new(PayloadKind::OfRecord, vec![asked]).is_ok());
}

#[test]
fn test_plan_when_nothing_is_asked_then_records_are_still_validated() {
    let payload = example(&[entry(b"a", &int64s(&[1]))]);
    let cut = payload[..payload.len() - 1].to_vec();
    assert_eq!(parse(PayloadKind::Example, &[], &[payload]), Ok(vec![]));
    assert_eq!(parse(PayloadKind::Example, &[], &[cut]).unwrap_err().kind, FaultKind::BadPayload);
}
