//! Tests of decoding into a buffer of the caller.
use crate::encoder::{COMBINATIONS, Image};
use crate::{decode, samples_as_u16};
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::png::{Channels, Decoder, Depth, Options};

#[test]
fn rows_with_stride_equal_decode_and_padding_is_not_written() {
    let options = Options { channels: Channels::Rgb, depth: Depth::Eight, ..Options::default() };
    for (color, depth) in COMBINATIONS {
        for interlaced in [false, true] {
            let mut image = Image::noise(13, 6, color, depth, 2);
            image.interlaced = interlaced;
            let file = image.file(&image.palette_chunk(9));
            let expected = samples_as_u16(&decode(&file, &options).expect("an image"));
            let (row, stride) = (13 * 3, 50);
            let mut out = vec![171; stride * 5 + row];
            let shape = Decoder::new().decode_into(&file, &options, &mut out, stride).expect("an image");
            assert_eq!((shape.channels, shape.bits), (3, 8));
            for (got, want) in out.chunks(stride).zip(expected.chunks(row)) {
                assert!(got.iter().zip(want).all(|(a, b)| u16::from(*a) == *b), "color {color}, {depth} bits");
                assert!(got[row..].iter().all(|byte| *byte == 171));
            }
        }
    }
}

#[test]
fn too_small_output_or_16_bit_samples_is_bad_argument() {
    let mut decoder = Decoder::new();
    let mut kind = |image: &Image, room: usize, stride: usize| {
        let result = decoder.decode_into(&image.file(&[]), &Options::default(), &mut vec![0; room], stride);
        result.map(|_| ()).map_err(|fault| fault.kind)
    };
    let (narrow, wide) = (Image::noise(10, 4, 0, 8, 1), Image::noise(10, 4, 0, 16, 1));
    assert_eq!(kind(&narrow, 40, 10), Ok(()));
    for (room, stride) in [(39, 10), (400, 9), (400, usize::MAX), (0, 0)] {
        assert_eq!(kind(&narrow, room, stride), Err(ImageFaultKind::BadArgument));
    }
    assert_eq!(kind(&wide, 1000, 20), Err(ImageFaultKind::BadArgument));
}
