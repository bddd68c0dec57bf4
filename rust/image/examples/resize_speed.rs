//! Times the fused resize kernels on a made-up picture: `resize_speed [width height side]`.
use recordmill_image::collate::slot::{Layout, Slot, SlotValues};
use recordmill_image::colour::normalise::Normalise;
use recordmill_image::geometry::fused::resize_into;
use recordmill_image::geometry::resize::Kernel;
use recordmill_image::geometry::resize::pillow::Filter;
use recordmill_image::geometry::view::View;
use recordmill_image::pixels::Size;
use std::hint::black_box;
use std::time::Instant;

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).map(|word| word.parse().expect("a number")).collect();
    let [width, height, side] = *numbers.as_slice() else { return time(350, 350, 224) };
    time(width, height, side);
}

fn time(width: usize, height: usize, side: usize) {
    let bytes: Vec<u8> = (0..width * height * 3).map(|place| (place * 7 % 251 + place / 977) as u8).collect();
    let source = View::new(&bytes, Size { width, height }, 3).expect("a picture");
    let size = Size { width: side, height: side };
    let normalise = Normalise::new(&[123.7, 116.3, 103.5], &[0.0171, 0.0175, 0.0174]).expect("three channels");
    let mut floats = vec![0.0_f32; side * side * 3];
    let mut halves = vec![0_u16; side * side * 3];
    let mut bytes_out = vec![0_u8; side * side * 3];
    for (name, kernel) in [("two taps", Kernel::Fast), ("Pillow bilinear", Kernel::Pillow(Filter::Bilinear))] {
        for layout in [Layout::Nhwc, Layout::Nchw] {
            let run = |element: &str, normalise: &Normalise, values: SlotValues| {
                let mut values = values;
                report(&format!("{name} {layout:?} {element}"), || {
                    let slot = Slot::new(again(&mut values), layout, size, 3).expect("a slot");
                    resize_into(source, kernel, true, normalise, slot).expect("a resize");
                });
            };
            run("float32", &normalise, SlotValues::F32(&mut floats));
            run("float16", &normalise, SlotValues::F16(&mut halves));
            run("uint8", &Normalise::IDENTITY, SlotValues::U8(&mut bytes_out));
        }
    }
    black_box((floats, halves, bytes_out));
}

/// The same memory, borrowed for one more run.
fn again<'a>(values: &'a mut SlotValues<'_>) -> SlotValues<'a> {
    match values {
        SlotValues::U8(values) => SlotValues::U8(values),
        SlotValues::U16(values) => SlotValues::U16(values),
        SlotValues::F16(values) => SlotValues::F16(values),
        SlotValues::F32(values) => SlotValues::F32(values),
    }
}

/// Prints the shortest of many short runs: the least disturbed by others on the machine.
fn report(name: &str, mut work: impl FnMut()) {
    let shortest = (0..400).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    println!("{name:32} {:8.4} ms", shortest.min().unwrap_or_default().as_secs_f64() * 1e3);
}
