//! Decodes the PNG files of a list repeatedly with this crate or with the `png` crate. Prints the number of decoded
//! images ten times a second.
//!
//! Usage: png_speed LIST ours|crate [digest]. With `digest`, the program decodes everything once and prints the count
//! and the digest of the pixels.
use common::{ListItem, Outcome, read_list, repeat_forever};
use digest::PixelDigest;
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
    let mut decode = |item: &ListItem, out: &mut Vec<u8>| {
        if is_ours {
            decode_with_this_crate(&mut decoder, &item.data, out)
        } else {
            decode_with_png_crate(&item.data, out)
        }
    };
    if items.iter().any(|item| item.window.is_some()) {
        return Err("windows are not supported".into());
    }
    if rest.is_empty() {
        return repeat_forever(&items, |item| {
            std::hint::black_box(decode(item, &mut out)?);
            Ok(())
        });
    }
    let mut digest = PixelDigest::default();
    for item in &items {
        let length = decode(item, &mut out)?;
        digest.add_image(&out[..length]);
    }
    digest.print();
    Ok(())
}

/// Decodes `file` into the reused buffer `out`. Returns the number of bytes of the decoded image.
fn decode_with_this_crate(decoder: &mut Decoder, file: &[u8], out: &mut Vec<u8>) -> Outcome<usize> {
    let shape = decoder.decode_to(file, &Options::default(), out, &mut Vec::new())?;
    if shape.bits != 8 {
        return Err("16-bit samples are not supported".into());
    }
    Ok(shape.row_samples() * shape.size.height)
}

fn decode_with_png_crate(file: &[u8], out: &mut Vec<u8>) -> Outcome<usize> {
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info()?;
    let length = reader.output_buffer_size().ok_or("an image that fits into memory")?;
    out.resize(length.max(out.len()), 0);
    reader.next_frame(&mut out[..length])?;
    Ok(length)
}
