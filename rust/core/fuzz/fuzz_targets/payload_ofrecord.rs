//! Arbitrary bytes as an `OFRecord`: no function panics, all agree, and a reserialized payload parses to the same
//! values.
#![no_main]
#[path = "../payload.rs"]
mod payload;

use recordmill_core::payload::PayloadKind;

libfuzzer_sys::fuzz_target!(|data: &[u8]| payload::assert_functions_agree(PayloadKind::OfRecord, data));
