//! Tests of color operations against Pillow and against their definitions.
use crate::recordings::{RecordedPixels, RecordedResult, read_cases, read_images};
use recordmill_image::color::{adjust, channels, erase, hue};
use recordmill_image::pixels::{Size, Window};

fn assert_equals_pillow(prefix: &str, change: impl Fn(&RecordedResult, &mut Vec<u8>, usize)) {
    let images = read_images();
    for case in read_cases("pillow", prefix) {
        let mut pixels = images[case.image].bytes.clone();
        change(&case, &mut pixels, images[case.image].channels);
        assert_eq!(RecordedPixels::U8(pixels), case.expected, "{}", case.line);
    }
}

#[test]
fn brightness_contrast_and_saturation_equal_pillow() {
    let factor = |case: &RecordedResult| case.arguments[0] as f32;
    assert_equals_pillow("brightness", |case, pixels, channels| {
        adjust::brightness(pixels, channels, factor(case)).expect("pixels")
    });
    assert_equals_pillow("contrast", |case, pixels, channels| {
        adjust::contrast(pixels, channels, factor(case)).expect("pixels")
    });
    assert_equals_pillow("saturation", |case, pixels, channels| {
        adjust::saturation(pixels, channels, factor(case)).expect("pixels")
    });
}

#[test]
fn grayscale_equals_pillow() {
    assert_equals_pillow("grey", |_, pixels, _| *pixels = channels::to_gray(pixels).expect("pixels"));
}

#[test]
fn shifted_hue_equals_pillow() {
    assert_equals_pillow("hue", |case, pixels, _| hue::shift_hue(pixels, case.arguments[0] as u8).expect("pixels"));
}

#[test]
fn negative_hue_steps_wrap_around() {
    assert_eq!(hue::hue_steps(0.1), Ok(25));
    assert_eq!(hue::hue_steps(-0.1), Ok(231));
    assert!(hue::hue_steps(0.51).is_err() && hue::hue_steps(f64::NAN).is_err());
}

#[test]
fn gray_in_place_repeats_luma() {
    let mut pixels = vec![255, 0, 0, 0, 255, 0, 0, 0, 255];
    channels::gray_in_place(&mut pixels).expect("pixels");
    assert_eq!(pixels, [76, 76, 76, 150, 150, 150, 29, 29, 29]);
}

#[test]
fn swapping_red_and_blue_keeps_alpha() {
    let mut pixels = [1_u16, 2, 3, 4, 5, 6, 7, 8];
    channels::swap_red_blue(&mut pixels, 4).expect("pixels");
    assert_eq!(pixels, [3, 2, 1, 4, 7, 6, 5, 8]);
}

#[test]
fn brightness_keeps_alpha() {
    let mut pixels = vec![10, 20, 30, 40];
    adjust::brightness(&mut pixels, 4, 2.0).expect("pixels");
    assert_eq!(pixels, [20, 40, 60, 40]);
}

#[test]
fn added_color_offset_is_rounded_and_saturated() {
    let mut pixels = vec![0, 1, 250, 255, 100, 7];
    adjust::add_offset(&mut pixels, [0.5, 1.5, 10.0]).expect("pixels");
    assert_eq!(pixels, [0, 2, 255, 255, 102, 17]);
}

#[test]
fn erase_changes_only_the_window() {
    let (size, window) = (Size { width: 4, height: 3 }, Window { x: 1, y: 1, width: 2, height: 2 });
    let mut pixels = vec![9_u8; 12];
    erase::erase(&mut pixels, size, 1, window, &[0]).expect("a window");
    assert_eq!(pixels, [9, 9, 9, 9, 9, 0, 0, 9, 9, 0, 0, 9]);
    erase::erase(&mut pixels, size, 1, window, &[1, 2, 3, 4]).expect("a window");
    assert_eq!(pixels, [9, 9, 9, 9, 9, 1, 2, 9, 9, 3, 4, 9]);
    assert!(erase::erase(&mut pixels, size, 1, window, &[1, 2]).is_err());
    assert!(erase::erase(&mut pixels, size, 1, Window { x: 3, ..window }, &[1]).is_err());
}
