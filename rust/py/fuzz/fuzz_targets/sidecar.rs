//! Arbitrary sidecar index files beside valid shards. See `tests/fuzz/sidecar.py`.
#![no_main]
#[path = "../interpreter.rs"]
mod interpreter;

libfuzzer_sys::fuzz_target!(init: interpreter::start("sidecar"), |input: &[u8]| interpreter::check(input));
