//! The wire format's edges: what is refused, and at which offset.
use crate::common::*;
use recordmill_core::error::FaultKind;
use recordmill_core::payload::{PayloadKind, check};

fn verdict(payload: &str) -> Result<(), u64> {
    check(PayloadKind::Example, &hex(payload)).map_err(|fault| {
        assert_eq!(fault.kind, FaultKind::BadPayload);
        fault.offset
    })
}

#[test]
fn test_check_when_tags_are_malformed_then_the_fault_stands_at_the_tag() {
    assert_eq!(verdict("0a 00 00 00"), Err(2), "field number 0");
    assert_eq!(verdict("8a 80 80 80 80 00 00"), Err(0), "a tag of six bytes");
    assert_eq!(verdict("fa ff ff ff 1f 00"), Err(0), "a tag beyond 32 bits");
    assert_eq!(verdict("8a 80 80 80 00 00"), Ok(()), "an over-long tag");
    assert_eq!(verdict("fa ff ff ff 0f 00"), Ok(()), "the highest field number");
}

#[test]
fn test_check_when_wire_types_are_unknown_then_it_is_refused() {
    for tag in ["7e", "7f", "0e", "0f"] {
        assert_eq!(verdict(tag), Err(1));
    }
}

#[test]
fn test_check_when_lengths_lie_then_it_is_refused_without_allocating() {
    for len in ["02 00", "ff ff ff ff 07", "80 80 80 80 08", "ff ff ff ff 0f", "ff ff ff ff ff ff ff ff ff 01"] {
        assert_eq!(verdict(&format!("0a {len}")), Err(1), "features");
        assert_eq!(verdict(&format!("7a {len}")), Err(1), "an unknown field");
    }
    assert_eq!(verdict("0a 80 80 80 80 00"), Ok(()), "an over-long length");
    assert_eq!(verdict("0a 80 80 80 80 80 00"), Err(1), "a length of six bytes");
}

#[test]
fn test_check_when_unknown_fields_are_cut_then_it_is_refused() {
    for payload in ["78", "78 80", "79 00 00", "7d 00 00 00", "7a", "7b", "7b 78 01", "78 ffffffffffffffffffff01"] {
        assert!(verdict(payload).is_err(), "{payload}");
    }
    assert_eq!(verdict("78 ffffffffffffffffff7f"), Ok(()));
}

#[test]
fn test_check_when_groups_do_not_match_then_it_is_refused() {
    assert_eq!(verdict("7b 78 01 7c"), Ok(()));
    assert_eq!(verdict("7b 73 74 7c"), Ok(()));
    assert_eq!(verdict("7b 74"), Err(1), "another group's end");
    assert_eq!(verdict("7c"), Err(1), "an end without a beginning");
    assert_eq!(verdict("7b 00 05 7c"), Ok(()), "protobuf lets field number 0 pass inside groups");
}

#[test]
fn test_check_when_groups_are_nested_then_depth_is_counted_from_the_outermost_message() {
    let nested = |depth: usize| [vec![0x7b; depth], vec![0x7c; depth]].concat();
    assert!(check(PayloadKind::Example, &nested(100)).is_ok());
    assert!(check(PayloadKind::Example, &nested(101)).is_err());
    assert!(check(PayloadKind::Example, &field(1, &nested(99))).is_ok());
    assert!(check(PayloadKind::Example, &field(1, &nested(100))).is_err());
    assert!(check(PayloadKind::Example, &nested(1_000_000)).is_err());
}
