//! Decodes the PNG files of a list repeatedly with this crate or with the `png` crate. Prints the number of decoded
//! images ten times a second.
//!
//! Usage: png_speed LIST ours|crate [digest]. With `digest`, the program decodes everything once and prints the count
//! and the digest of the pixels.
use common::{Item, Outcome, read_list, repeat};
use digest::Digest;
use recordmill_image::png::{Decoder, Options};
use std::io::Cursor;

mod common;
#[path = "common/digest.rs"]
mod digest;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [list, who, rest @ ..] = arguments.as_slice() else {
        return Err("usage: png_speed LIST ours|crate [digest]".into());
    };
    let (items, mut decoder, mut out) = (read_list(list)?, Decoder::new(), Vec::new());
    let is_ours = who == "ours";
    let mut decode = |item: &Item, out: &mut Vec<u8>| {
        if is_ours { ours(&mut decoder, &item.data, out) } else { theirs(&item.data, out) }
    };
    if items.iter().any(|item| item.window.is_some()) {
        return Err("windows are not supported".into());
    }
    if rest.is_empty() {
        return repeat(&items, |item| {
            std::hint::black_box(decode(item, &mut out)?);
            Ok(())
        });
    }
    let mut digest = Digest::default();
    for item in &items {
        let length = decode(item, &mut out)?;
        digest.add(&out[..length]);
    }
    digest.print();
    Ok(())
}

/// Decodes into a reused buffer. Returns the number of bytes of the image.
fn ours(decoder: &mut Decoder, file: &[u8], out: &mut Vec<u8>) -> Outcome<usize> {
    let shape = decoder.decode_to(file, &Options::default(), out, &mut Vec::new())?;
    if shape.bits != 8 {
        return Err("16-bit samples are not supported".into());
    }
    Ok(shape.row_samples() * shape.size.height)
}

fn theirs(file: &[u8], out: &mut Vec<u8>) -> Outcome<usize> {
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info()?;
    let length = reader.output_buffer_size().ok_or("an image that fits into memory")?;
    out.resize(length.max(out.len()), 0);
    reader.next_frame(&mut out[..length])?;
    Ok(length)
}
