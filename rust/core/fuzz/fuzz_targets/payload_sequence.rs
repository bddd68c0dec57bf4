//! Fuzz target that parses arbitrary bytes as a `SequenceExample` with every function that reads payloads.
#![no_main]
#[path = "../payload.rs"]
mod payload;

use recordmill_core::payload::PayloadKind;

libfuzzer_sys::fuzz_target!(|data: &[u8]| payload::assert_functions_agree(PayloadKind::SequenceExample, data));
