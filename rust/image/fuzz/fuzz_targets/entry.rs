//! Fuzzes serialized JPEG entry points of valid images: decoding with them never panics, and those that can be parsed
//! serialize to the same values again.
#![no_main]
#[path = "../entry.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|input: &[u8]| entry::check_input(input));
