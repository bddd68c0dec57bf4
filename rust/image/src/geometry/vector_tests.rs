//! Tests that all instruction sets give bit-identical results.
use super::dispatch::{InstructionSet, run_with_widest};
use super::resize::opencv::Interpolation;
use super::resize::pillow::Filter;
use super::resize::tensorflow::Method;
use super::resize::{Kernel, resize, resize_f32};
use super::resized_part::ResizedPart;
use super::resized_part::resize_into;
use super::view::View;
use crate::collate::slot::{Layout, Slot, SlotValues};
use crate::color::normalize::Normalize;
use crate::pixels::{Size, Window};

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

fn test_pixels(size: Size, channels: usize) -> Vec<u8> {
    (0..size.width * size.height * channels).map(|index| (index * index / 7 + index * 31) as u8).collect()
}

/// Asserts that `work` gives equal results with every instruction set, for every pair of sizes and number of channels.
fn assert_equal_with_all_instruction_sets<R: PartialEq>(work: impl Fn(View<u8>, Size) -> R) {
    for (from, to) in FROM.into_iter().flat_map(|from| TO.map(|to| (from, to))) {
        for channels in 1..=4 {
            let bytes = test_pixels(from, channels);
            let view = View::new(&bytes, from, channels).expect("an image");
            let wide = work(view, to);
            for widest in [InstructionSet::Portable, InstructionSet::Avx2] {
                let equal = run_with_widest(widest, || work(view, to)) == wide;
                assert!(equal, "{from:?} to {to:?}, {channels} channels, {widest:?}");
            }
        }
    }
}

#[test]
fn byte_resizes_are_equal_with_all_instruction_sets() {
    let mut kernels: Vec<Kernel> = vec![Kernel::Fast];
    kernels.extend([Filter::Box, Filter::Bilinear, Filter::Lanczos, Filter::Mks2021].map(Kernel::Pillow));
    let opencv = [Interpolation::Linear, Interpolation::Cubic, Interpolation::Area, Interpolation::Lanczos4];
    kernels.extend(opencv.map(Kernel::Opencv));
    for kernel in kernels {
        assert_equal_with_all_instruction_sets(|view, size| resize(view, size, kernel).expect("a resize"));
    }
}

#[test]
fn float_resizes_are_equal_with_all_instruction_sets() {
    let methods =
        [(Method::Area, false), (Method::Bicubic, false), (Method::Lanczos3, false), (Method::Mitchell, true)];
    for (method, antialias) in methods {
        let kernel = Kernel::Tensorflow { method, antialias };
        assert_equal_with_all_instruction_sets(|view, size| {
            let values = resize_f32(view, size, kernel).expect("a resize");
            values.into_iter().map(f32::to_bits).collect::<Vec<u32>>()
        });
    }
}

#[test]
fn slots_are_equal_with_all_instruction_sets() {
    let normalize = Normalize::new(&[123.7, 116.3, 103.5, 76.5], &[0.0171, 0.0175, 0.0174, 0.02]).expect("channels");
    let kernels = [Kernel::Fast, Kernel::Pillow(Filter::Bilinear), Kernel::Opencv(Interpolation::Linear)];
    for (layout, kernel) in [Layout::Nhwc, Layout::Nchw].into_iter().flat_map(|layout| kernels.map(|k| (layout, k))) {
        assert_equal_with_all_instruction_sets(|view, size| {
            let length = size.width * size.height * view.channels();
            let (mut floats, mut halves, mut bytes) = (vec![0.0_f32; length], vec![0; length], vec![0; length]);
            let slot = |values| Slot::new(values, layout, size, view.channels()).expect("a slot");
            let write = |values| resize_into(view, kernel, true, &normalize, slot(values)).expect("a resize");
            write(SlotValues::F32(&mut floats));
            write(SlotValues::F16(&mut halves));
            write(SlotValues::U8(&mut bytes));
            (floats.into_iter().map(f32::to_bits).collect::<Vec<u32>>(), halves, bytes)
        });
    }
}

#[test]
fn window_equals_crop_of_whole_resized_image() {
    let normalize = Normalize::new(&[123.7, 116.3, 103.5], &[0.0171, 0.0175, 0.0174]).expect("channels");
    let (from, to) = (Size { width: 61, height: 83 }, Size { width: 37, height: 44 });
    let bytes = test_pixels(from, 3);
    let source = View::new(&bytes, from, 3).expect("an image");
    let kernels = [
        Kernel::Fast,
        Kernel::Pillow(Filter::Bilinear),
        Kernel::Pillow(Filter::Lanczos),
        Kernel::Opencv(Interpolation::Linear),
    ];
    fn float_slot(values: &mut [f32], size: Size) -> Slot<'_> {
        Slot::new(SlotValues::F32(values), Layout::Nhwc, size, 3).expect("a slot")
    }
    for (kernel, corner) in kernels.into_iter().flat_map(|kernel| [(0, 0), (5, 9), (17, 20)].map(|at| (kernel, at))) {
        let mut whole = vec![0.0_f32; to.width * to.height * 3];
        resize_into(source, kernel, false, &normalize, float_slot(&mut whole, to)).expect("a resize");
        let window = Window { x: corner.0, y: corner.1, width: 20, height: 24 };
        let size = Size { width: window.width, height: window.height };
        let expected = View::new(&whole, to, 3).and_then(|view| view.crop(window)).expect("a window");
        let expected = expected.to_vec().expect("enough memory");
        let part = ResizedPart::new(kernel, from, to, window).expect("sizes").expect("a part");
        let needs = part.source_window();
        assert!(needs.width * needs.height < from.width * from.height, "{kernel:?} needs all");
        let mut found = vec![0.0_f32; size.width * size.height * 3];
        let needed = source.crop(needs).expect("a window");
        part.write_to_slot(needed, false, &normalize, float_slot(&mut found, size)).expect("a part");
        assert!(found == expected, "{kernel:?} at {corner:?}");
    }
}
