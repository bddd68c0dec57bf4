//! Calls of the functions and classes of `recordmill._core` with arbitrary arguments. See `tests/fuzz/boundary.py`.
#![no_main]
#[path = "../interpreter.rs"]
mod interpreter;

libfuzzer_sys::fuzz_target!(init: interpreter::start("boundary"), |input: &[u8]| interpreter::check(input));
