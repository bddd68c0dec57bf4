//! Fuzz target for compressed sources: inflates arbitrary bytes with reads of several sizes and orders.
#![no_main]
#[path = "../inflate.rs"]
mod inflate;

libfuzzer_sys::fuzz_target!(|input: &[u8]| inflate::check_input(input));
