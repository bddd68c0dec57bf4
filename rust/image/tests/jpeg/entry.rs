//! Entry points: windows decoded by them equal crops, their bytes round-trip, and tables of other images are refused.
use crate::data::Random;
use crate::libjpeg::{Mode, Recipe, decode};
use crate::whole::{SAMPLINGS, file};
use crate::windows::{crop, random_window};
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::jpeg::{Decoder, EntryPoints, Options};

/// Demands that windows of `data` decoded with `points` equal crops.
fn assert_crops(
    decoder: &mut Decoder,
    random: &mut Random,
    data: &[u8],
    points: &EntryPoints,
    count: usize,
    what: &str,
) {
    let whole = decode(data, Mode::default()).expect("libjpeg decodes it");
    for _ in 0..count {
        let window = random_window(random, whole.width, whole.height);
        let mut out = vec![0; window.width * window.height * whole.channels];
        let result = decoder.decode(
            data,
            Some(window),
            &Options::default(),
            Some(points),
            &mut out,
            window.width * whole.channels,
        );
        assert_eq!(result, Ok(()), "{what} {window:?}");
        assert!(out == crop(&whole, window), "{what} {window:?}");
    }
}

#[test]
fn decode_when_entry_points_are_given_then_windows_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(30));
    for restart_interval in [0, 0, 1, 5, 13, 26, 60] {
        for sampling in SAMPLINGS {
            let quality = 40 + random.below(60) as i32;
            let recipe = Recipe { restart_interval, quality, ..Recipe::new(203, 150, sampling) };
            let data = file(&recipe, 1);
            for every_rows in [1, 2, 7] {
                let points = EntryPoints::build(&data, every_rows).expect("sound file");
                assert_crops(&mut decoder, &mut random, &data, &points, 12, &format!("{every_rows} {recipe:?}"));
            }
        }
    }
}

#[test]
fn decode_when_entry_points_of_a_large_file_then_windows_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(31));
    let data = file(&Recipe { quality: 99, ..Recipe::new(900, 500, (2, 2)) }, 2);
    let points = EntryPoints::build(&data, 1).expect("sound file");
    assert_eq!(points.len(), 500_usize.div_ceil(16) - 1);
    assert_crops(&mut decoder, &mut random, &data, &points, 150, "large");
}

#[test]
fn decode_when_entry_points_of_a_gray_file_then_windows_equal_crops() {
    let (mut decoder, mut random) = (Decoder::new(), Random::new(32));
    let data = file(&Recipe::gray(130, 200), 2);
    let points = EntryPoints::build(&data, 3).expect("sound file");
    assert_crops(&mut decoder, &mut random, &data, &points, 50, "gray");
}

#[test]
fn to_bytes_when_read_back_then_gives_the_same_in_little_space() {
    let data = file(&Recipe { quality: 92, ..Recipe::new(500, 375, (2, 2)) }, 3);
    let points = EntryPoints::build(&data, 1).expect("sound file");
    let bytes = points.to_bytes();
    assert_eq!(EntryPoints::from_bytes(&bytes), Ok(points));
    assert!(bytes.len() * 100 <= data.len(), "{} bytes for {}", bytes.len(), data.len());
}

#[test]
fn from_bytes_when_damaged_then_refuses_them() {
    let data = file(&Recipe::new(100, 100, (1, 1)), 3);
    let bytes = EntryPoints::build(&data, 2).expect("sound file").to_bytes();
    for length in 0..bytes.len() {
        assert!(EntryPoints::from_bytes(&bytes[..length]).is_err(), "cut at {length}");
    }
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(EntryPoints::from_bytes(&damaged).is_err(), "flipped bit {bit}");
    }
}

#[test]
fn decode_when_the_entry_points_are_another_images_then_refuses_them() {
    let recipe = Recipe::new(100, 100, (2, 2));
    let (data, other) = (file(&recipe, 1), file(&recipe, 2));
    let points = EntryPoints::build(&other, 1).expect("sound file");
    let mut changed = other.clone();
    let at = other.len() - 40;
    changed[at] ^= 1;
    let progressive = file(&Recipe { progressive: true, ..recipe }, 2);
    for data in [data, changed, other[..other.len() - 2].to_vec(), progressive] {
        let mut out = vec![0; 30_000];
        let result = Decoder::new().decode(&data, None, &Options::default(), Some(&points), &mut out, 300);
        assert_eq!(result.expect_err("not its table").kind, ImageFaultKind::BadEntryPoints);
    }
}

#[test]
fn build_when_the_image_has_several_scans_or_is_damaged_then_refuses_it() {
    let progressive = file(&Recipe { progressive: true, ..Recipe::new(50, 50, (2, 2)) }, 1);
    let fault = EntryPoints::build(&progressive, 1).expect_err("several scans");
    assert_eq!(fault.kind, ImageFaultKind::Unsupported);
    let sound = file(&Recipe::new(50, 50, (2, 2)), 1);
    let fault = EntryPoints::build(&sound[..sound.len() - 30], 1).expect_err("cut");
    assert_eq!(fault.kind, ImageFaultKind::Truncated);
    assert_eq!(EntryPoints::build(&sound, 0).expect_err("no rows").kind, ImageFaultKind::BadArgument);
    assert!(EntryPoints::build(&sound, usize::MAX).expect("sound file").is_empty());
}
