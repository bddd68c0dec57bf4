//! Tests that invalid requests are rejected before memory is allocated, and that resized images of a single color keep
//! this color.
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::geometry::rearrange::{Border, Margins, pad};
use recordmill_image::geometry::resize::opencv::Interpolation;
use recordmill_image::geometry::resize::pillow::Filter;
use recordmill_image::geometry::resize::tensorflow::Method;
use recordmill_image::geometry::resize::{Kernel, Nearest, resize, resize_high_depth};
use recordmill_image::geometry::view::{MAX_SIDE, View};
use recordmill_image::pixels::Size;

fn all_kernels() -> Vec<Kernel> {
    let mut kernels = vec![Kernel::Fast];
    kernels.extend([Nearest::Pillow, Nearest::Opencv, Nearest::Tensorflow].map(Kernel::Nearest));
    kernels
        .extend([Filter::Box, Filter::Bilinear, Filter::Hamming, Filter::Bicubic, Filter::Lanczos].map(Kernel::Pillow));
    let opencv = [
        Interpolation::Linear,
        Interpolation::Cubic,
        Interpolation::Area,
        Interpolation::Lanczos4,
        Interpolation::Auto,
        Interpolation::AreaOrLinear,
    ];
    kernels.extend(opencv.map(Kernel::Opencv));
    for method in
        [Method::Bilinear, Method::Bicubic, Method::Area, Method::Lanczos3, Method::Gaussian, Method::Mitchell]
    {
        kernels.extend([false, true].map(|antialias| Kernel::Tensorflow { method, antialias }));
    }
    kernels
}

#[test]
fn view_rejects_size_that_does_not_match_sample_count() {
    let bytes = [0_u8; 12];
    let size = |width, height| Size { width, height };
    assert_eq!(View::new(&bytes, size(2, 2), 4).unwrap_err().kind, ImageFaultKind::BadArgument);
    assert_eq!(View::new(&bytes, size(2, 2), 0).unwrap_err().kind, ImageFaultKind::BadArgument);
    assert_eq!(View::new(&bytes, size(0, 2), 3).unwrap_err().kind, ImageFaultKind::BadDimensions);
    assert_eq!(View::new(&bytes, size(usize::MAX, usize::MAX), 3).unwrap_err().kind, ImageFaultKind::BadDimensions);
    assert!(View::new(&bytes, size(2, 2), 3).is_ok());
}

#[test]
fn every_kernel_rejects_impossible_size() {
    let bytes = [7_u8; 12];
    let view = View::new(&bytes, Size { width: 2, height: 2 }, 3).expect("an image");
    for kernel in all_kernels() {
        let kind = |width, height| resize(view, Size { width, height }, kernel).unwrap_err().kind;
        assert_eq!(kind(0, 5), ImageFaultKind::BadDimensions, "{kernel:?}");
        assert_eq!(kind(5, MAX_SIDE + 1), ImageFaultKind::BadDimensions, "{kernel:?}");
        assert_eq!(kind(MAX_SIDE, MAX_SIDE), ImageFaultKind::LimitExceeded, "{kernel:?}");
    }
}

#[test]
fn resized_flat_image_stays_flat() {
    for (from, to) in [((1, 1), (9, 4)), ((7, 3), (2, 11)), ((64, 5), (3, 3)), ((3, 200), (5, 2))] {
        let bytes = vec![77; from.0 * from.1 * 2];
        let view = View::new(&bytes, Size { width: from.0, height: from.1 }, 2).expect("an image");
        for kernel in all_kernels() {
            let found = resize(view, Size { width: to.0, height: to.1 }, kernel).expect("a resize");
            assert_eq!(found, vec![77; to.0 * to.1 * 2], "{from:?} to {to:?} by {kernel:?}");
        }
    }
}

#[test]
fn resized_flat_16_bit_image_stays_flat() {
    for (from, to) in [((1, 1), (9, 4)), ((7, 3), (2, 11)), ((64, 5), (3, 3)), ((3, 200), (5, 2)), ((8, 6), (4, 3))] {
        let words = vec![54_321; from.0 * from.1 * 2];
        let view = View::new(&words, Size { width: from.0, height: from.1 }, 2).expect("an image");
        for kernel in all_kernels() {
            let found: Vec<u16> =
                resize_high_depth(view, Size { width: to.0, height: to.1 }, kernel).expect("a resize");
            assert_eq!(found, vec![54_321; to.0 * to.1 * 2], "{from:?} to {to:?} by {kernel:?}");
        }
    }
}

#[test]
fn pad_rejects_excessive_margins() {
    let bytes = [7_u8; 1];
    let view = View::new(&bytes, Size { width: 1, height: 1 }, 1).expect("an image");
    let margins = Margins { left: usize::MAX, upper: 0, right: usize::MAX, lower: 0 };
    for border in [Border::Constant([0; 4]), Border::Edge, Border::Reflect] {
        assert!(pad(view, margins, border).is_err());
    }
}
