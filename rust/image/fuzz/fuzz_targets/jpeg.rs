//! Fuzzes JPEG decoding: no panic, and accepted files have libjpeg's pixels, as whole images, in windows, and with
//! entry points. Truncated decoding must not panic either.
#![no_main]
#[path = "../jpeg.rs"]
mod jpeg;

libfuzzer_sys::fuzz_target!(|input: &[u8]| jpeg::check_input(input));
