//! Tests that resizing, flipping and normalizing in one pass equals the separate operations.
use crate::recordings::noise_image;
use recordmill_image::collate::slot::{Layout, Slot, SlotValues};
use recordmill_image::color::normalize::Normalize;
use recordmill_image::geometry::rearrange::flip_horizontal;
use recordmill_image::geometry::resize::pillow::Filter;
use recordmill_image::geometry::resize::{Kernel, resize, resize_f32};
use recordmill_image::geometry::resized_part::resize_into;
use recordmill_image::geometry::view::View;
use recordmill_image::pixels::{Size, Window};

const SIZES: [(usize, usize); 6] = [(1, 1), (2, 3), (5, 1), (1, 9), (40, 23), (33, 64)];

fn resize_in_steps(source: View<u8>, size: Size, kernel: Kernel, flip: bool, normalize: &Normalize) -> Vec<f32> {
    let channels = source.channels();
    let mut values: Vec<f32> = match kernel {
        Kernel::Fast => resize_f32(source, size, kernel).expect("a resize"),
        _ => resize(source, size, kernel).expect("a resize").into_iter().map(f32::from).collect(),
    };
    if flip {
        values = flip_horizontal(View::new(&values, size, channels).expect("an image")).expect("enough memory");
    }
    values.iter().enumerate().map(|(index, value)| normalize.apply(index % channels, *value)).collect()
}

#[test]
fn fused_resize_is_bit_exact_with_single_steps() {
    let normalize = Normalize::new(&[123.7, 116.3, 103.5, 127.5], &[0.0171, 0.0175, 0.0174, 0.016]).expect("channels");
    for (index, (from, to)) in SIZES.iter().flat_map(|from| SIZES.map(|to| (*from, to))).enumerate() {
        let (from, size) = (Size { width: from.0, height: from.1 }, Size { width: to.0, height: to.1 });
        let (channels, flip) = (index % 4 + 1, index % 3 == 0);
        let bytes = noise_image(from, channels, index as u64);
        let view = View::new(&bytes, from, channels).expect("an image");
        for kernel in [Kernel::Fast, Kernel::Pillow(Filter::Bilinear)] {
            let mut found = vec![f32::NAN; size.width * size.height * channels];
            let slot = Slot::new(SlotValues::F32(&mut found), Layout::Nhwc, size, channels).expect("a slot");
            resize_into(view, kernel, flip, &normalize, slot).expect("a resize");
            assert_eq!(
                found,
                resize_in_steps(view, size, kernel, flip, &normalize),
                "{from:?} to {size:?} by {kernel:?}"
            );
        }
    }
}

#[test]
fn fused_resize_to_bytes_equals_resize() {
    let (from, size) = (Size { width: 50, height: 41 }, Size { width: 24, height: 31 });
    let bytes = noise_image(from, 3, 5);
    let view = View::new(&bytes, from, 3).expect("an image");
    for kernel in [Kernel::Fast, Kernel::Pillow(Filter::Bilinear), Kernel::Pillow(Filter::Lanczos)] {
        let mut found = vec![0; size.width * size.height * 3];
        let slot = Slot::new(SlotValues::U8(&mut found), Layout::Nhwc, size, 3).expect("a slot");
        resize_into(view, kernel, false, &Normalize::IDENTITY, slot).expect("a resize");
        assert_eq!(found, resize(view, size, kernel).expect("a resize"));
    }
}

#[test]
fn resized_window_equals_resized_copy() {
    let (from, size) = (Size { width: 50, height: 41 }, Size { width: 24, height: 31 });
    let bytes = noise_image(from, 3, 6);
    let window = View::new(&bytes, from, 3)
        .and_then(|view| view.crop(Window { x: 7, y: 9, width: 30, height: 32 }))
        .expect("a window");
    let copy = window.to_vec().expect("enough memory");
    let copied = View::new(&copy, window.size(), 3).expect("an image");
    for kernel in [Kernel::Fast, Kernel::Pillow(Filter::Bicubic)] {
        assert_eq!(resize(window, size, kernel), resize(copied, size, kernel));
    }
}

#[test]
fn fused_resize_rejects_slot_of_other_channels() {
    let bytes = [0; 4];
    let size = Size { width: 2, height: 2 };
    let mut floats = [0.0; 12];
    let slot = Slot::new(SlotValues::F32(&mut floats), Layout::Nhwc, size, 3).expect("a slot");
    let view = View::new(&bytes, size, 1).expect("an image");
    assert!(resize_into(view, Kernel::Fast, false, &Normalize::IDENTITY, slot).is_err());
}
