//! A window's pixels are those of the whole image, and rows are asked for no earlier than announced.
use super::super::*;
use super::Numbers;
use super::images::{Planes, SCALES, picture, source};
use super::libjpeg::{self, Picture};
use crate::fault::ImageFaultKind;
use crate::pixels::{Size, Window};
use mozjpeg_sys::J_COLOR_SPACE::JCS_YCbCr;

struct Crops<'a> {
    planes: &'a Planes,
    conversion: Conversion,
    windows: Vec<Window>,
}

impl Job for Crops<'_> {
    type Output = ();
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let size = self.planes.layout.size;
        let whole = self.planes.window(kernel, self.conversion, Window::whole(size));
        let bytes = self.conversion.channels();
        for window in self.windows {
            let rows = whole.chunks_exact(bytes * size.width).skip(window.y).take(window.height);
            let crop: Vec<u8> =
                rows.flat_map(|row| &row[bytes * window.x..][..bytes * window.width]).copied().collect();
            assert!(self.planes.window(kernel, self.conversion, window) == crop, "{window:?} of {size:?}");
        }
    }
}

fn random_window(numbers: &mut Numbers, size: Size) -> Window {
    let (x, y) = (numbers.below(size.width), numbers.below(size.height));
    Window { x, y, width: 1 + numbers.below(size.width - x), height: 1 + numbers.below(size.height - y) }
}

#[test]
fn window_when_anywhere_then_equals_the_crop() {
    let mut numbers = Numbers(20);
    for luma in [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (4, 2)] {
        for round in 0..12 {
            let (width, height) = (1 + numbers.below(90), 1 + numbers.below(50));
            let factors = vec![luma, (1, 1), (1, 1)];
            let picture = Picture { width, height, quality: 90, stored: JCS_YCbCr, factors };
            let file = libjpeg::encode(&picture, &self::picture(&mut numbers, width, height));
            let source = source(&picture, &file);
            for scale in SCALES {
                let planes = Planes::new(Portable, &source, Dct::Islow, scale, round % 4 != 3);
                let to = [Order::Rgb, Order::Gray, Order::Bgr][round % 3];
                let windows: Vec<_> = (0..20).map(|_| random_window(&mut numbers, planes.layout.size)).collect();
                run(Crops { planes: &planes, conversion: Conversion { from: Meaning::Ycc, to }, windows });
            }
        }
    }
}

#[test]
fn row_maker_when_window_leaves_the_image_then_bad_window() {
    let layout = Layout::new(Size { width: 20, height: 10 }, Scale::Half, &[(1, 1)], true).expect("whole ratios");
    assert_eq!(layout.size, Size { width: 10, height: 5 });
    let conversion = Conversion { from: Meaning::Gray, to: Order::Rgb };
    let windows = [(0, 0, 11, 5), (0, 0, 10, 6), (10, 0, 1, 1), (0, 0, 0, 1), (usize::MAX, 0, 2, 1), (1, 0, 10, 5)];
    for (x, y, width, height) in windows {
        let fault = RowMaker::new(&layout, conversion, Window { x, y, width, height }).unwrap_err();
        assert_eq!(fault.kind, ImageFaultKind::BadWindow);
    }
}

#[test]
fn row_maker_when_components_are_missing_then_bad_argument() {
    let layout = Layout::new(Size { width: 8, height: 8 }, Scale::Full, &[(1, 1)], true).expect("whole ratios");
    let window = Window::whole(layout.size);
    let fault = RowMaker::new(&layout, Conversion { from: Meaning::Ycc, to: Order::Rgb }, window).unwrap_err();
    assert_eq!(fault.kind, ImageFaultKind::BadArgument);
    assert!(RowMaker::new(&layout, Conversion { from: Meaning::Ycc, to: Order::Gray }, window).is_ok());
}
