//! Tests of every resize kernel against recordings of its library.
use crate::recordings::{Case, SourceImage, Values, cases, images};
use recordmill_image::geometry::resize::opencv::Interpolation;
use recordmill_image::geometry::resize::pillow::Filter;
use recordmill_image::geometry::resize::tensorflow::Method;
use recordmill_image::geometry::resize::{Kernel, Nearest, resize, resize_deep, resize_f32};
use recordmill_image::geometry::view::View;
use recordmill_image::pixels::Size;

fn kernel(case: &Case) -> Kernel {
    let antialias = case.arguments.first() == Some(&1.0);
    let tensorflow = |method| Kernel::Tensorflow { method, antialias };
    match case.operation.trim_start_matches("mxnet_").trim_start_matches("opencv_") {
        "nearest" => Kernel::Nearest(Nearest::Opencv),
        "linear" => Kernel::Opencv(Interpolation::Linear),
        "cubic" => Kernel::Opencv(Interpolation::Cubic),
        "area" => Kernel::Opencv(Interpolation::Area),
        "lanczos4" => Kernel::Opencv(Interpolation::Lanczos4),
        "tensorflow_nearest" => Kernel::Nearest(Nearest::Tensorflow),
        "tensorflow_bilinear" => tensorflow(Method::Bilinear),
        "tensorflow_bicubic" => tensorflow(Method::Bicubic),
        "tensorflow_area" => tensorflow(Method::Area),
        "tensorflow_lanczos3" => tensorflow(Method::Lanczos3),
        "tensorflow_lanczos5" => tensorflow(Method::Lanczos5),
        "tensorflow_gaussian" => tensorflow(Method::Gaussian),
        "tensorflow_mitchellcubic" => tensorflow(Method::Mitchell),
        "pillow_nearest" => Kernel::Nearest(Nearest::Pillow),
        _ => Kernel::Pillow(filter(&case.operation)),
    }
}

fn filter(operation: &str) -> Filter {
    match operation.split('_').nth(1) {
        Some("box") => Filter::Box,
        Some("bilinear") => Filter::Bilinear,
        Some("hamming") => Filter::Hamming,
        Some("bicubic") => Filter::Bicubic,
        Some("lanczos") => Filter::Lanczos,
        Some("mks2013") => Filter::Mks2013,
        Some("mks2021") => Filter::Mks2021,
        other => panic!("no filter {other:?}"),
    }
}

fn computed(case: &Case, image: &SourceImage) -> Values {
    match &case.expected {
        Values::U16(_) => Values::U16(resize_deep(image.deep_view(), case.size, kernel(case)).expect("a resize")),
        Values::F32(_) if case.operation.starts_with("pillow") => {
            let levels: Vec<f32> = image.deep.iter().map(|level| f32::from(*level)).collect();
            let view = View::new(&levels, image.size, image.channels).expect("a recorded image");
            Values::F32(resize_deep(view, case.size, kernel(case)).expect("a resize"))
        }
        Values::F32(_) => Values::F32(resize_f32(image.view(), case.size, kernel(case)).expect("a resize")),
        Values::U8(_) => Values::U8(resize(image.view(), case.size, kernel(case)).expect("a resize")),
    }
}

fn assert_equal(library: &str, prefix: &str) {
    let images = images();
    for case in cases(library, prefix) {
        assert_eq!(computed(&case, &images[case.image]), case.expected, "{}", case.line);
    }
}

#[test]
fn pillow_kernels_equal_pillow() {
    assert_equal("pillow", "pillow_");
}

#[test]
fn opencv_kernels_equal_opencv() {
    for exact in ["opencv_nearest", "opencv_linear", "opencv_cubic", "opencv_area"] {
        assert_equal("opencv", exact);
    }
}

#[test]
fn opencv_lanczos_equals_opencv_in_bytes_and_is_within_one_level_in_words() {
    let images = images();
    for case in cases("opencv", "opencv_lanczos4") {
        match (computed(&case, &images[case.image]), &case.expected) {
            (Values::U16(found), Values::U16(expected)) => {
                assert!(
                    found.iter().zip(expected).all(|(found, expected)| found.abs_diff(*expected) <= 1),
                    "{}",
                    case.line
                );
            }
            (found, expected) => assert_eq!(found, *expected, "{}", case.line),
        }
    }
}

#[test]
fn auto_kernel_follows_mxnet() {
    let images = images();
    let image = &images[0];
    let Size { width, height } = image.size;
    let at = |size, interpolation| resize(image.view(), size, Kernel::Opencv(interpolation)).expect("a resize");
    for (to, chosen) in [
        ((width + 3, height + 2), Interpolation::Cubic),
        ((width - 3, height - 2), Interpolation::Area),
        ((width - 3, height + 2), Interpolation::Linear),
        ((width, height + 2), Interpolation::Linear),
    ] {
        let size = Size { width: to.0, height: to.1 };
        assert_eq!(at(size, Interpolation::Auto), at(size, chosen), "{to:?}");
    }
}

#[test]
fn area_or_linear_kernel_follows_oneflow() {
    let images = images();
    let image = &images[0];
    let Size { width, height } = image.size;
    let at = |size, interpolation| resize(image.view(), size, Kernel::Opencv(interpolation)).expect("a resize");
    for (to, chosen) in [
        ((width - 3, height - 2), Interpolation::Area),
        ((width, height - 2), Interpolation::Area),
        ((width - 3, height + 2), Interpolation::Linear),
        ((width + 3, height + 2), Interpolation::Linear),
    ] {
        let size = Size { width: to.0, height: to.1 };
        assert_eq!(at(size, Interpolation::AreaOrLinear), at(size, chosen), "{to:?}");
    }
}

#[test]
fn tensorflow_kernels_equal_tensorflow() {
    for exact in
        ["tensorflow_nearest", "tensorflow_bilinear", "tensorflow_bicubic", "tensorflow_area", "tensorflow_mitchell"]
    {
        assert_equal("tensorflow", exact);
    }
}

#[test]
fn tensorflow_kernels_with_sines_differ_only_by_rounding() {
    let images = images();
    for case in ["tensorflow_lanczos", "tensorflow_gaussian"].into_iter().flat_map(|prefix| cases("tensorflow", prefix))
    {
        let (Values::F32(found), Values::F32(expected)) = (computed(&case, &images[case.image]), &case.expected) else {
            panic!("{} is no float", case.line);
        };
        let apart = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs());
        assert!(apart.fold(0.0, f32::max) < 1e-3, "{}", case.line);
    }
}

#[test]
fn opencv_kernels_equal_mxnet_except_cubic() {
    for exact in ["mxnet_nearest", "mxnet_linear", "mxnet_area", "mxnet_lanczos4"] {
        assert_equal("mxnet", exact);
    }
    let images = images();
    for case in cases("mxnet", "mxnet_cubic") {
        let (Values::U8(found), Values::U8(expected)) = (computed(&case, &images[case.image]), &case.expected) else {
            panic!("{} is no byte", case.line);
        };
        assert!(found.iter().zip(expected).all(|(found, expected)| found.abs_diff(*expected) <= 1), "{}", case.line);
    }
}
