//! Tests that slots normalize, convert and lay out pixels as straightforward definitions do.
use crate::recordings::noise_image;
use recordmill_image::collate::half::to_half;
use recordmill_image::collate::slot::{Layout, Slot, SlotValues};
use recordmill_image::color::normalize::Normalize;
use recordmill_image::geometry::view::View;
use recordmill_image::pixels::Size;

const SIZE: Size = Size { width: 37, height: 3 };

/// Returns the index in a slot of one channel of a pixel.
fn index_in_slot(layout: Layout, channels: usize, (x, y, channel): (usize, usize, usize)) -> usize {
    match layout {
        Layout::Nhwc => (y * SIZE.width + x) * channels + channel,
        Layout::Nchw => (channel * SIZE.height + y) * SIZE.width + x,
    }
}

#[test]
fn written_values_are_normalized_in_slot_layout() {
    let normalize = Normalize::new(&[10.0, 20.0, 30.0, 40.0], &[0.5, 0.25, 2.0, 0.013]).expect("four channels");
    for (channels, layout, flip) in (1..=4).flat_map(|c| {
        [(c, Layout::Nhwc, false), (c, Layout::Nchw, true), (c, Layout::Nhwc, true), (c, Layout::Nchw, false)]
    }) {
        let bytes = noise_image(SIZE, channels, channels as u64);
        let view = View::new(&bytes, SIZE, channels).expect("an image");
        let (mut floats, mut halves) = (vec![f32::NAN; bytes.len()], vec![0; bytes.len()]);
        let mut copies = vec![0; bytes.len()];
        let slot = |values| Slot::new(values, layout, SIZE, channels).expect("a slot");
        slot(SlotValues::F32(&mut floats)).write_u8_image(view, flip, &normalize).expect("an image that fits");
        slot(SlotValues::F16(&mut halves)).write_u8_image(view, flip, &normalize).expect("an image that fits");
        slot(SlotValues::U8(&mut copies)).write_u8_image(view, flip, &Normalize::IDENTITY).expect("an image that fits");
        for (index, byte) in bytes.iter().enumerate() {
            let (x, y, channel) = (index / channels % SIZE.width, index / channels / SIZE.width, index % channels);
            let to = index_in_slot(layout, channels, (if flip { SIZE.width - 1 - x } else { x }, y, channel));
            let (mean, factor) = normalize.channel(channel);
            let expected = (f32::from(*byte) - mean) * factor;
            assert_eq!((floats[to], halves[to], copies[to]), (expected, to_half(expected), *byte));
        }
    }
}

#[test]
fn normalized_bytes_saturate_and_round_to_even() {
    let bytes = [0, 1, 2, 3, 255];
    let size = Size { width: 5, height: 1 };
    let mut output = [0; 5];
    let slot = Slot::new(SlotValues::U8(&mut output), Layout::Nhwc, size, 1).expect("a slot");
    let normalize = Normalize::new(&[1.0], &[2.5]).expect("one channel");
    slot.write_u8_image(View::new(&bytes, size, 1).expect("an image"), false, &normalize).expect("an image that fits");
    assert_eq!(output, [0, 0, 2, 5, 255]);
}

#[test]
fn slot_rejects_image_of_other_shape() {
    let mut floats = [0.0; 12];
    let size = Size { width: 2, height: 2 };
    assert!(Slot::new(SlotValues::F32(&mut floats[..11]), Layout::Nhwc, size, 3).is_err());
    let slot = Slot::new(SlotValues::F32(&mut floats), Layout::Nhwc, size, 3).expect("a slot");
    let bytes = [0; 4];
    assert!(slot.write_u8_image(View::new(&bytes, size, 1).expect("an image"), false, &Normalize::IDENTITY).is_err());
}

#[test]
fn normalize_rejects_invalid_values() {
    assert!(Normalize::new(&[], &[1.0]).is_err());
    assert!(Normalize::new(&[0.0], &[f32::INFINITY]).is_err());
    assert!(Normalize::new(&[0.0; 5], &[1.0]).is_err());
}
