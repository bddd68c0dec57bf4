//! Fuzzes JPEG decoding. No file may cause a panic, not even in truncated decoding. Accepted files must decode to
//! libjpeg's pixels: as whole images, in windows, and with entry points.
#![no_main]
#[path = "../jpeg.rs"]
mod jpeg;

libfuzzer_sys::fuzz_target!(|input: &[u8]| jpeg::check_input(input));
