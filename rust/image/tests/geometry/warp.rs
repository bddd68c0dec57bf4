//! Tests of affine transforms against Pillow.
use crate::recordings::{RecordedPixels, RecordedResult, noise_image, read_cases, read_images};
use recordmill_image::geometry::view::View;
use recordmill_image::geometry::warp::Affine;
use recordmill_image::geometry::warp::{Sampling, warp};
use recordmill_image::pixels::Size;

fn assert_warp_equals_pillow(prefix: &str, sampling: Sampling) {
    let images = read_images();
    for case in read_cases("pillow", prefix) {
        let found = warp(images[case.image].view(), &affine_map_of_recording(&case), case.size, sampling, [0; 4])
            .expect("a map");
        assert_eq!(RecordedPixels::U8(found), case.expected, "{}", case.line);
    }
}

fn affine_map_of_recording(case: &RecordedResult) -> Affine {
    let [a, b, c, d, e, f] = std::array::from_fn(|index| case.arguments[index]);
    Affine { a, b, c, d, e, f }
}

#[test]
fn warp_equals_pillow() {
    assert_warp_equals_pillow("affine_nearest", Sampling::Nearest);
    assert_warp_equals_pillow("affine_bilinear", Sampling::Bilinear);
}

#[test]
fn identity_warp_copies_8_and_16_bit_values() {
    let size = Size { width: 9, height: 5 };
    let bytes = noise_image(size, 3, 1);
    let deep: Vec<u16> = bytes.iter().map(|byte| u16::from(*byte) * 251 + 3).collect();
    for sampling in [Sampling::Nearest, Sampling::Bilinear] {
        let view = View::new(&bytes, size, 3).expect("an image");
        assert_eq!(warp(view, &Affine::IDENTITY, size, sampling, [0; 4]).expect("a map"), bytes);
        let view = View::new(&deep, size, 3).expect("an image");
        assert_eq!(warp(view, &Affine::IDENTITY, size, sampling, [0; 4]).expect("a map"), deep);
    }
}

#[test]
fn warp_fills_pixels_outside_source() {
    let size = Size { width: 3, height: 2 };
    let bytes = noise_image(size, 3, 2);
    let view = View::new(&bytes, size, 3).expect("an image");
    for away in [3.0, -3.0, 1e300, -1e300] {
        let map = Affine { b: -1e-9, c: away, d: 1e-9, ..Affine::IDENTITY };
        for sampling in [Sampling::Nearest, Sampling::Bilinear] {
            assert_eq!(warp(view, &map, size, sampling, [1, 2, 3, 4]).expect("a map"), [1, 2, 3].repeat(6));
        }
    }
}

#[test]
fn warp_rejects_non_finite_coefficients() {
    let bytes = [0_u8; 3];
    let size = Size { width: 1, height: 1 };
    let view = View::new(&bytes, size, 3).expect("an image");
    for odd in [f64::NAN, f64::INFINITY] {
        assert!(warp(view, &Affine { c: odd, ..Affine::IDENTITY }, size, Sampling::Nearest, [0; 4]).is_err());
    }
}

#[test]
fn slight_rotation_of_wide_source_reads_pixel_under_center() {
    let size = Size { width: 40_000, height: 1 };
    let deep: Vec<u16> = (0..40_000).map(|x| x as u16).collect();
    let view = View::new(&deep, size, 1).expect("an image");
    let map = Affine { b: 1e-9, ..Affine::IDENTITY };
    assert_eq!(warp(view, &map, size, Sampling::Nearest, [0; 4]).expect("a map"), deep);
}
