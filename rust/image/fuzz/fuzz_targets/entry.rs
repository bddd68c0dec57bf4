//! Fuzzes serialized JPEG entry points of valid images. Decoding with fuzzed entry points must not panic. Entry points
//! that can be parsed must serialize to the same values again.
#![no_main]
#[path = "../entry.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|input: &[u8]| entry::check_input(input));
