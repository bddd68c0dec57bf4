//! Tests of orientation, flips, padding and crops against written-out results.
use recordmill_image::geometry::rearrange::{Border, Margins, apply_orientation, flip_horizontal, flip_vertical, pad};
use recordmill_image::geometry::view::View;
use recordmill_image::pixels::{Size, Window};

const PIXELS: [u8; 6] = [1, 2, 3, 4, 5, 6];

fn small_test_image() -> View<'static, u8> {
    View::new(&PIXELS, Size { width: 3, height: 2 }, 1).expect("an image")
}

#[test]
fn every_exif_orientation_gives_upright_image() {
    let oriented = |orientation| apply_orientation(small_test_image(), orientation).expect("an orientation");
    let (wide, tall) = (Size { width: 3, height: 2 }, Size { width: 2, height: 3 });
    assert_eq!(oriented(1), (wide, vec![1, 2, 3, 4, 5, 6]));
    assert_eq!(oriented(2), (wide, vec![3, 2, 1, 6, 5, 4]));
    assert_eq!(oriented(3), (wide, vec![6, 5, 4, 3, 2, 1]));
    assert_eq!(oriented(4), (wide, vec![4, 5, 6, 1, 2, 3]));
    assert_eq!(oriented(5), (tall, vec![1, 4, 2, 5, 3, 6]));
    assert_eq!(oriented(6), (tall, vec![4, 1, 5, 2, 6, 3]));
    assert_eq!(oriented(7), (tall, vec![6, 3, 5, 2, 4, 1]));
    assert_eq!(oriented(8), (tall, vec![3, 6, 2, 5, 1, 4]));
    assert!(apply_orientation(small_test_image(), 0).is_err() && apply_orientation(small_test_image(), 9).is_err());
}

#[test]
fn transposed_pixels_keep_their_channels() {
    let samples: Vec<u16> = (0..12).collect();
    let view = View::new(&samples, Size { width: 2, height: 2 }, 3).expect("an image");
    let (_, transposed) = apply_orientation(view, 6).expect("an orientation");
    assert_eq!(transposed, [6, 7, 8, 0, 1, 2, 9, 10, 11, 3, 4, 5]);
}

#[test]
fn flips_reverse_columns_or_rows() {
    assert_eq!(flip_horizontal(small_test_image()).unwrap(), [3, 2, 1, 6, 5, 4]);
    assert_eq!(flip_vertical(small_test_image()).unwrap(), [4, 5, 6, 1, 2, 3]);
}

#[test]
fn padding_uses_the_requested_border() {
    let margins = Margins { left: 2, upper: 1, right: 1, lower: 0 };
    let padded = |border| pad(small_test_image(), margins, border).expect("margins");
    let size = Size { width: 6, height: 3 };
    let constant = vec![7, 7, 7, 7, 7, 7, 7, 7, 1, 2, 3, 7, 7, 7, 4, 5, 6, 7];
    assert_eq!(padded(Border::Constant([7, 0, 0, 0])), (size, constant));
    let edge = vec![1, 1, 1, 2, 3, 3, 1, 1, 1, 2, 3, 3, 4, 4, 4, 5, 6, 6];
    assert_eq!(padded(Border::Edge), (size, edge));
    let reflect = vec![6, 5, 4, 5, 6, 5, 3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5];
    assert_eq!(padded(Border::Reflect), (size, reflect));
}

#[test]
fn reflection_repeats_if_margins_exceed_image() {
    let samples = [1_u8, 2, 3];
    let view = View::new(&samples, Size { width: 3, height: 1 }, 1).expect("an image");
    let margins = Margins { left: 6, upper: 2, right: 4, lower: 0 };
    let (_, padded) = pad(view, margins, Border::Reflect).expect("margins");
    assert_eq!(
        padded,
        [3, 2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3].map(|v: u8| if v == 0 { 1 } else { v }).repeat(3).as_slice()
    );
}

#[test]
fn crop_is_a_view_of_the_window() {
    let crop = small_test_image().crop(Window { x: 1, y: 0, width: 2, height: 2 }).expect("a window");
    assert_eq!(crop.to_vec().unwrap(), [2, 3, 5, 6]);
    let inner = crop.crop(Window { x: 1, y: 1, width: 1, height: 1 }).expect("a window");
    assert_eq!(inner.to_vec().unwrap(), [6]);
    assert!(crop.crop(Window { x: 1, y: 0, width: 2, height: 1 }).is_err());
}
