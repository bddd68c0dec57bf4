//! Arbitrary entry-point files beside a valid shard of JPEG images. See `tests/fuzz/entry_point_file.py`.
#![no_main]
#[path = "../interpreter.rs"]
mod interpreter;

libfuzzer_sys::fuzz_target!(init: interpreter::start("entry_point_file"), |input: &[u8]| interpreter::check(input));
