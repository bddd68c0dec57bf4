//! Tests: what the wide path gives, the portable path gives bit for bit.
use super::dispatch::portably;
use super::fused::resize_into;
use super::resize::opencv::Interpolation;
use super::resize::pillow::Filter;
use super::resize::{Kernel, resize};
use super::view::View;
use crate::collate::slot::{Layout, Slot, SlotValues};
use crate::colour::normalise::Normalise;
use crate::pixels::Size;

const FROM: [Size; 4] = [
    Size { width: 67, height: 45 },
    Size { width: 1, height: 3 },
    Size { width: 200, height: 31 },
    Size { width: 31, height: 160 },
];
const TO: [Size; 4] = [
    Size { width: 45, height: 33 },
    Size { width: 7, height: 1 },
    Size { width: 129, height: 64 },
    Size { width: 32, height: 32 },
];

fn bytes(size: Size, channels: usize) -> Vec<u8> {
    (0..size.width * size.height * channels).map(|place| (place * place / 7 + place * 31) as u8).collect()
}

/// Whatever `work` gives on both paths, for every pair of sizes and number of channels.
fn compare<R: PartialEq>(work: impl Fn(View<u8>, Size) -> R) {
    for (from, to) in FROM.into_iter().flat_map(|from| TO.map(|to| (from, to))) {
        for channels in 1..=4 {
            let bytes = bytes(from, channels);
            let view = View::new(&bytes, from, channels).expect("a picture");
            let wide = work(view, to);
            assert!(portably(|| work(view, to)) == wide, "{from:?} to {to:?}, {channels} channels");
        }
    }
}

#[test]
fn resized_bytes_when_computed_on_both_paths_then_are_equal() {
    let mut kernels: Vec<Kernel> = vec![Kernel::Fast];
    kernels.extend([Filter::Box, Filter::Bilinear, Filter::Lanczos].map(Kernel::Pillow));
    let opencv = [Interpolation::Linear, Interpolation::Cubic, Interpolation::Area, Interpolation::Lanczos4];
    kernels.extend(opencv.map(Kernel::Opencv));
    for kernel in kernels {
        compare(|view, size| resize(view, size, kernel).expect("a resize"));
    }
}

#[test]
fn slots_when_written_on_both_paths_then_are_equal() {
    let normalise = Normalise::new(&[123.7, 116.3, 103.5, 76.5], &[0.0171, 0.0175, 0.0174, 0.02]).expect("channels");
    let kernels = [Kernel::Fast, Kernel::Pillow(Filter::Bilinear)];
    for (layout, kernel) in [Layout::Nhwc, Layout::Nchw].into_iter().flat_map(|layout| kernels.map(|k| (layout, k))) {
        compare(|view, size| {
            let length = size.width * size.height * view.channels();
            let (mut floats, mut halves, mut bytes) = (vec![0.0_f32; length], vec![0; length], vec![0; length]);
            let slot = |values| Slot::new(values, layout, size, view.channels()).expect("a slot");
            let write = |values| resize_into(view, kernel, true, &normalise, slot(values)).expect("a resize");
            write(SlotValues::F32(&mut floats));
            write(SlotValues::F16(&mut halves));
            write(SlotValues::U8(&mut bytes));
            (floats.into_iter().map(f32::to_bits).collect::<Vec<u32>>(), halves, bytes)
        });
    }
}
