//! Resizes synthetic images of the sizes in a list (JPEG files or windows) to 224 x 224 float32 with flip and
//! normalization, repeatedly. Prints the number of resized images ten times a second.
//!
//! Usage: resize_speed LIST taps|pillow nhwc|nchw. `taps` selects the kernel with two taps and `pillow` Pillow's
//! bilinear filter.
use common::{ListItem, Outcome, read_list, repeat_forever};
use recordmill_image::collate::slot::{Layout, Slot, SlotValues};
use recordmill_image::color::normalize::Normalize;
use recordmill_image::geometry::resize::Kernel;
use recordmill_image::geometry::resize::pillow::Filter;
use recordmill_image::geometry::resized_part::resize_into;
use recordmill_image::geometry::view::View;
use recordmill_image::jpeg::Header;
use recordmill_image::pixels::{Size, Window};

mod common;

const SIDE: usize = 224;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [list, kernel, layout] = arguments.as_slice() else {
        return Err("usage: resize_speed LIST taps|pillow nhwc|nchw".into());
    };
    let kernel = if kernel == "taps" { Kernel::Fast } else { Kernel::Pillow(Filter::Bilinear) };
    let layout = if layout == "nhwc" { Layout::Nhwc } else { Layout::Nchw };
    let sizes = read_list(list)?.iter().map(source_size).collect::<Outcome<Vec<Size>>>()?;
    let max_len = sizes.iter().map(|size| size.width * size.height * 3).max().unwrap_or(0);
    let pixels: Vec<u8> = (0..max_len).map(|index| (index * 7 % 251 + index / 977) as u8).collect();
    let normalize = Normalize::new(&[123.7, 116.3, 103.5], &[0.0171, 0.0175, 0.0174])?;
    let mut values = vec![0.0_f32; SIDE * SIDE * 3];
    repeat_forever(&sizes, |&size| {
        let source = View::new(&pixels[..size.width * size.height * 3], size, 3)?;
        let target = Size { width: SIDE, height: SIDE };
        let slot = Slot::new(SlotValues::F32(&mut values), layout, target, 3)?;
        resize_into(source, kernel, true, &normalize, slot)?;
        std::hint::black_box(&values);
        Ok(())
    })
}

fn source_size(item: &ListItem) -> Outcome<Size> {
    let whole = Header::parse(&item.data)?.size;
    let window = item.window.unwrap_or(Window::whole(whole));
    if !window.lies_in(whole) {
        return Err("a window within its image".into());
    }
    Ok(Size { width: window.width, height: window.height })
}
