//! Color changes against Pillow, and against their own definitions.
use crate::recordings::{Case, Values, cases, pictures};
use recordmill_image::color::{adjust, channels, erase, hue};
use recordmill_image::pixels::{Size, Window};

fn compare(prefix: &str, change: impl Fn(&Case, &mut Vec<u8>, usize)) {
    let pictures = pictures();
    for case in cases("pillow", prefix) {
        let mut pixels = pictures[case.picture].bytes.clone();
        change(&case, &mut pixels, pictures[case.picture].channels);
        assert_eq!(Values::U8(pixels), case.expected, "{}", case.line);
    }
}

#[test]
fn enhancers_when_compared_with_pillow_then_are_equal() {
    let factor = |case: &Case| case.arguments[0] as f32;
    compare("brightness", |case, pixels, channels| adjust::brightness(pixels, channels, factor(case)).expect("pixels"));
    compare("contrast", |case, pixels, channels| adjust::contrast(pixels, channels, factor(case)).expect("pixels"));
    compare("saturation", |case, pixels, channels| adjust::saturation(pixels, channels, factor(case)).expect("pixels"));
}

#[test]
fn gray_when_compared_with_pillow_then_is_equal() {
    compare("grey", |_, pixels, _| *pixels = channels::to_gray(pixels).expect("pixels"));
}

#[test]
fn hue_when_compared_with_pillow_then_is_equal() {
    compare("hue", |case, pixels, _| hue::turn(pixels, case.arguments[0] as u8).expect("pixels"));
}

#[test]
fn hue_steps_when_negative_then_wrap_around() {
    assert_eq!(hue::steps(0.1), Ok(25));
    assert_eq!(hue::steps(-0.1), Ok(231));
    assert!(hue::steps(0.51).is_err() && hue::steps(f64::NAN).is_err());
}

#[test]
fn gray_in_place_when_done_then_has_the_luma_three_times() {
    let mut pixels = vec![255, 0, 0, 0, 255, 0, 0, 0, 255];
    channels::gray_in_place(&mut pixels).expect("pixels");
    assert_eq!(pixels, [76, 76, 76, 150, 150, 150, 29, 29, 29]);
}

#[test]
fn red_and_blue_when_swapped_then_alpha_stays() {
    let mut pixels = [1_u16, 2, 3, 4, 5, 6, 7, 8];
    channels::swap_red_blue(&mut pixels, 4).expect("pixels");
    assert_eq!(pixels, [3, 2, 1, 4, 7, 6, 5, 8]);
}

#[test]
fn alpha_channel_when_enhanced_then_stays() {
    let mut pixels = vec![10, 20, 30, 40];
    adjust::brightness(&mut pixels, 4, 2.0).expect("pixels");
    assert_eq!(pixels, [20, 40, 60, 40]);
}

#[test]
fn offset_when_added_then_is_rounded_and_held() {
    let mut pixels = vec![0, 1, 250, 255, 100, 7];
    adjust::add_offset(&mut pixels, [0.5, 1.5, 10.0]).expect("pixels");
    assert_eq!(pixels, [0, 2, 255, 255, 102, 17]);
}

#[test]
fn window_when_erased_then_nothing_outside_changes() {
    let (size, window) = (Size { width: 4, height: 3 }, Window { x: 1, y: 1, width: 2, height: 2 });
    let mut pixels = vec![9_u8; 12];
    erase::erase(&mut pixels, size, 1, window, &[0]).expect("a window");
    assert_eq!(pixels, [9, 9, 9, 9, 9, 0, 0, 9, 9, 0, 0, 9]);
    erase::erase(&mut pixels, size, 1, window, &[1, 2, 3, 4]).expect("a window");
    assert_eq!(pixels, [9, 9, 9, 9, 9, 1, 2, 9, 9, 3, 4, 9]);
    assert!(erase::erase(&mut pixels, size, 1, window, &[1, 2]).is_err());
    assert!(erase::erase(&mut pixels, size, 1, Window { x: 3, ..window }, &[1]).is_err());
}
