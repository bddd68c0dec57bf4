//! Edge cases of the wire format: invalid encodings and the offsets of their faults.
use crate::common::*;
use recordmill_core::error::FaultKind;
use recordmill_core::payload::{PayloadKind, validate_payload};

fn validate_hex(payload: &str) -> Result<(), u64> {
    validate_payload(PayloadKind::Example, &parse_hex(payload)).map_err(|fault| {
        assert_eq!(fault.kind, FaultKind::BadPayload);
        fault.offset
    })
}

#[test]
fn validate_payload_reports_malformed_tags_at_their_offset() {
    assert_eq!(validate_hex("0a 00 00 00"), Err(2), "field number 0");
    assert_eq!(validate_hex("8a 80 80 80 80 00 00"), Err(0), "a tag of six bytes");
    assert_eq!(validate_hex("fa ff ff ff 1f 00"), Err(0), "a tag beyond 32 bits");
    assert_eq!(validate_hex("8a 80 80 80 00 00"), Ok(()), "an overlong tag");
    assert_eq!(validate_hex("fa ff ff ff 0f 00"), Ok(()), "the highest field number");
}

#[test]
fn validate_payload_rejects_unknown_wire_types() {
    for tag in ["7e", "7f", "0e", "0f"] {
        assert_eq!(validate_hex(tag), Err(1));
    }
}

#[test]
fn validate_payload_rejects_lengths_beyond_the_message() {
    for len in ["02 00", "ff ff ff ff 07", "80 80 80 80 08", "ff ff ff ff 0f", "ff ff ff ff ff ff ff ff ff 01"] {
        assert_eq!(validate_hex(&format!("0a {len}")), Err(1), "features");
        assert_eq!(validate_hex(&format!("7a {len}")), Err(1), "an unknown field");
    }
    assert_eq!(validate_hex("0a 80 80 80 80 00"), Ok(()), "an overlong length");
    assert_eq!(validate_hex("0a 80 80 80 80 80 00"), Err(1), "a length of six bytes");
}

#[test]
fn validate_payload_rejects_truncated_unknown_fields() {
    for payload in ["78", "78 80", "79 00 00", "7d 00 00 00", "7a", "7b", "7b 78 01", "78 ffffffffffffffffffff01"] {
        assert!(validate_hex(payload).is_err(), "{payload}");
    }
    assert_eq!(validate_hex("78 ffffffffffffffffff7f"), Ok(()));
}

#[test]
fn validate_payload_rejects_unbalanced_groups() {
    assert_eq!(validate_hex("7b 78 01 7c"), Ok(()));
    assert_eq!(validate_hex("7b 73 74 7c"), Ok(()));
    assert_eq!(validate_hex("7b 74"), Err(1), "the end of another group");
    assert_eq!(validate_hex("7c"), Err(1), "an end without a start");
    assert_eq!(validate_hex("7b 00 05 7c"), Ok(()), "protobuf accepts field number 0 inside groups");
}

#[test]
fn validate_payload_limits_nesting_depth_across_messages_and_groups() {
    let nested = |depth: usize| [vec![0x7b; depth], vec![0x7c; depth]].concat();
    assert!(validate_payload(PayloadKind::Example, &nested(100)).is_ok());
    assert!(validate_payload(PayloadKind::Example, &nested(101)).is_err());
    assert!(validate_payload(PayloadKind::Example, &encode_field(1, &nested(99))).is_ok());
    assert!(validate_payload(PayloadKind::Example, &encode_field(1, &nested(100))).is_err());
    assert!(validate_payload(PayloadKind::Example, &nested(1_000_000)).is_err());
}
