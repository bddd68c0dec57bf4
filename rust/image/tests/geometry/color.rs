//! Tests of color operations against Pillow and against their definitions.
use crate::recordings::{Case, Values, cases, images};
use recordmill_image::color::{adjust, channels, erase, hue};
use recordmill_image::pixels::{Size, Window};

fn compare(prefix: &str, change: impl Fn(&Case, &mut Vec<u8>, usize)) {
    let images = images();
    for case in cases("pillow", prefix) {
        let mut pixels = images[case.image].bytes.clone();
        change(&case, &mut pixels, images[case.image].channels);
        assert_eq!(Values::U8(pixels), case.expected, "{}", case.line);
    }
}

#[test]
fn enhancers_equal_pillow() {
    let factor = |case: &Case| case.arguments[0] as f32;
    compare("brightness", |case, pixels, channels| adjust::brightness(pixels, channels, factor(case)).expect("pixels"));
    compare("contrast", |case, pixels, channels| adjust::contrast(pixels, channels, factor(case)).expect("pixels"));
    compare("saturation", |case, pixels, channels| adjust::saturation(pixels, channels, factor(case)).expect("pixels"));
}

#[test]
fn gray_equals_pillow() {
    compare("grey", |_, pixels, _| *pixels = channels::to_gray(pixels).expect("pixels"));
}

#[test]
fn hue_equals_pillow() {
    compare("hue", |case, pixels, _| hue::turn(pixels, case.arguments[0] as u8).expect("pixels"));
}

#[test]
fn negative_hue_steps_wrap_around() {
    assert_eq!(hue::steps(0.1), Ok(25));
    assert_eq!(hue::steps(-0.1), Ok(231));
    assert!(hue::steps(0.51).is_err() && hue::steps(f64::NAN).is_err());
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
fn offset_is_rounded_and_saturated() {
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
