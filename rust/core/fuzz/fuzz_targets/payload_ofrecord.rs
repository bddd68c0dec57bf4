//! Any bytes as an `OFRecord`: every entry point answers, all agree, and what is written anew reads the same.
#![no_main]
#[path = "../payload.rs"]
mod payload;

use recordmill_core::payload::PayloadKind;

libfuzzer_sys::fuzz_target!(|data: &[u8]| payload::exercise(PayloadKind::OfRecord, data));
