//! Boxes and points: moved, clipped, dropped.
use recordmill_image::geometry::affine::Affine;
use recordmill_image::geometry::shapes::{clip_boxes, keep_visible, move_boxes, move_points, points_inside};
use recordmill_image::pixels::{Size, Window};

const SIZE: Size = Size { width: 10, height: 10 };

#[test]
fn boxes_when_cropped_resized_and_flipped_then_stay_upright_boxes() {
    let map = Affine::crop(Window { x: 10, y: 10, width: 20, height: 20 }, SIZE, true);
    let mut boxes = [[12.0_f32, 14.0, 16.0, 20.0]];
    move_boxes(&mut boxes, &map);
    assert_eq!(boxes, [[7.0, 2.0, 9.0, 5.0]]);
}

#[test]
fn box_when_turned_then_its_hull_is_kept() {
    let mut boxes = [[0.0_f64, 0.0, 2.0, 1.0]];
    move_boxes(&mut boxes, &Affine::rotation(90.0));
    let expected = [-1.0, 0.0, 0.0, 2.0];
    assert!(boxes[0].iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12), "{boxes:?}");
}

#[test]
fn boxes_when_clipped_then_tell_the_share_of_area_left() {
    let mut boxes = [
        [2.0_f64, 2.0, 4.0, 4.0],
        [-5.0, 0.0, 5.0, 4.0],
        [20.0, 0.0, 30.0, 5.0],
        [5.0, 5.0, 5.0, 8.0],
        [-5.0, 5.0, -5.0, 8.0],
        [f64::NAN, 0.0, 1.0, 1.0],
    ];
    let mut visible = [9.0; 6];
    clip_boxes(&mut boxes, SIZE, &mut visible).expect("equal lengths");
    assert_eq!(visible, [1.0, 0.5, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(boxes[1], [0.0, 0.0, 5.0, 4.0]);
    assert_eq!(keep_visible(&visible, 0.6), [true, false, false, true, false, false]);
    assert_eq!(keep_visible(&visible, 0.0), [true, true, false, true, false, false]);
    assert!(clip_boxes(&mut boxes, SIZE, &mut visible[..2]).is_err());
}

#[test]
fn points_when_moved_then_those_outside_are_told() {
    let mut points = [[0.0_f32, 0.0], [9.5, 9.5], [10.0, 5.0]];
    move_points(&mut points, &Affine::translation(0.25, 0.0));
    assert_eq!(points, [[0.25, 0.0], [9.75, 9.5], [10.25, 5.0]]);
    assert_eq!(points_inside(&points, SIZE), [true, true, false]);
    assert_eq!(points_inside(&[[10.0_f32, 5.0], [-0.0, 0.0], [f32::NAN, 1.0]], SIZE), [false, true, false]);
}
