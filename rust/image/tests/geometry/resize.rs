//! Tests of every resize kernel against recordings of its library.
use crate::recordings::{RecordedPixels, RecordedResult, SourceImage, read_cases, read_images};
use recordmill_image::geometry::resize::opencv::Interpolation;
use recordmill_image::geometry::resize::pillow::Filter;
use recordmill_image::geometry::resize::tensorflow::Method;
use recordmill_image::geometry::resize::{Kernel, Nearest, resize, resize_f32, resize_high_depth};
use recordmill_image::geometry::view::View;
use recordmill_image::pixels::Size;

fn kernel_of_recording(case: &RecordedResult) -> Kernel {
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
        _ => Kernel::Pillow(pillow_filter(&case.operation)),
    }
}

fn pillow_filter(operation: &str) -> Filter {
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

fn resize_like_recording(case: &RecordedResult, image: &SourceImage) -> RecordedPixels {
    match &case.expected {
        RecordedPixels::U16(_) => RecordedPixels::U16(
            resize_high_depth(image.view_16_bit(), case.size, kernel_of_recording(case)).expect("a resize"),
        ),
        RecordedPixels::F32(_) if case.operation.starts_with("pillow") => {
            let levels: Vec<f32> = image.deep.iter().map(|level| f32::from(*level)).collect();
            let view = View::new(&levels, image.size, image.channels).expect("a recorded image");
            RecordedPixels::F32(resize_high_depth(view, case.size, kernel_of_recording(case)).expect("a resize"))
        }
        RecordedPixels::F32(_) => {
            RecordedPixels::F32(resize_f32(image.view(), case.size, kernel_of_recording(case)).expect("a resize"))
        }
        RecordedPixels::U8(_) => {
            RecordedPixels::U8(resize(image.view(), case.size, kernel_of_recording(case)).expect("a resize"))
        }
    }
}

fn assert_equals_recordings(library: &str, prefix: &str) {
    let images = read_images();
    for case in read_cases(library, prefix) {
        assert_eq!(resize_like_recording(&case, &images[case.image]), case.expected, "{}", case.line);
    }
}

#[test]
fn pillow_kernels_equal_pillow() {
    assert_equals_recordings("pillow", "pillow_");
}

#[test]
fn opencv_kernels_equal_opencv() {
    for exact in ["opencv_nearest", "opencv_linear", "opencv_cubic", "opencv_area"] {
        assert_equals_recordings("opencv", exact);
    }
}

#[test]
fn opencv_lanczos_equals_opencv_in_bytes_and_is_within_one_level_in_words() {
    let images = read_images();
    for case in read_cases("opencv", "opencv_lanczos4") {
        match (resize_like_recording(&case, &images[case.image]), &case.expected) {
            (RecordedPixels::U16(found), RecordedPixels::U16(expected)) => {
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
fn automatic_kernel_equals_choice_of_mxnet() {
    let images = read_images();
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
fn area_or_linear_kernel_equals_choice_of_oneflow() {
    let images = read_images();
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
        assert_equals_recordings("tensorflow", exact);
    }
}

#[test]
fn tensorflow_kernels_with_sines_differ_only_by_rounding() {
    let images = read_images();
    for case in
        ["tensorflow_lanczos", "tensorflow_gaussian"].into_iter().flat_map(|prefix| read_cases("tensorflow", prefix))
    {
        let (RecordedPixels::F32(found), RecordedPixels::F32(expected)) =
            (resize_like_recording(&case, &images[case.image]), &case.expected)
        else {
            panic!("{} is no float", case.line);
        };
        let apart = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs());
        assert!(apart.fold(0.0, f32::max) < 1e-3, "{}", case.line);
    }
}

#[test]
fn opencv_kernels_equal_mxnet_except_cubic() {
    for exact in ["mxnet_nearest", "mxnet_linear", "mxnet_area", "mxnet_lanczos4"] {
        assert_equals_recordings("mxnet", exact);
    }
    let images = read_images();
    for case in read_cases("mxnet", "mxnet_cubic") {
        let (RecordedPixels::U8(found), RecordedPixels::U8(expected)) =
            (resize_like_recording(&case, &images[case.image]), &case.expected)
        else {
            panic!("{} is no byte", case.line);
        };
        assert!(found.iter().zip(expected).all(|(found, expected)| found.abs_diff(*expected) <= 1), "{}", case.line);
    }
}
