//! Fuzzes PNG decoding with arbitrary files, and with arbitrary pixels in a valid file. Decoding must not panic, must
//! do bounded work, and must give the pixels of the `png` crate.
#![no_main]
#[path = "../png.rs"]
mod png;

libfuzzer_sys::fuzz_target!(|input: &[u8]| png::check_input(input));
