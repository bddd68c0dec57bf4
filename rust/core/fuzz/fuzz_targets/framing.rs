//! Fuzz target for framing: scans arbitrary bytes, compares all readers of frames, and writes the payloads again.
#![no_main]
#[path = "../framing.rs"]
mod framing;

libfuzzer_sys::fuzz_target!(|input: &[u8]| framing::check_input(input));
