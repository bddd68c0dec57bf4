//! Boxes and points of an image under the geometry of its pixels. Coordinates are continuous, in pixels.
use super::affine::Affine;
use super::view::refuse;
use crate::fault::Result;
use crate::pixels::Size;

/// A coordinate of a box or point array.
pub trait Coordinate: Copy {
    /// The value as float64.
    fn widen(self) -> f64;
    /// The value nearest to a float64.
    fn narrow(value: f64) -> Self;
}

impl Coordinate for f32 {
    fn widen(self) -> f64 {
        f64::from(self)
    }
    fn narrow(value: f64) -> Self {
        value as Self
    }
}

impl Coordinate for f64 {
    fn widen(self) -> f64 {
        self
    }
    fn narrow(value: f64) -> Self {
        value
    }
}

/// Moves boxes `[x0, y0, x1, y1]`: each becomes the smallest upright box around its four moved corners.
pub fn move_boxes<C: Coordinate>(boxes: &mut [[C; 4]], map: &Affine) {
    for corners in boxes {
        let [x0, y0, x1, y1] = corners.map(C::widen);
        let moved = [(x0, y0), (x1, y0), (x0, y1), (x1, y1)].map(|(x, y)| map.apply(x, y));
        let most = |pick: fn(f64, f64) -> f64, axis: fn(&(f64, f64)) -> f64| {
            moved.iter().map(axis).reduce(pick).expect("four corners")
        };
        let low = [most(f64::min, |corner| corner.0), most(f64::min, |corner| corner.1)];
        let high = [most(f64::max, |corner| corner.0), most(f64::max, |corner| corner.1)];
        *corners = [low[0], low[1], high[0], high[1]].map(C::narrow);
    }
}

/// Clips boxes to an image of `size` and writes to `visible` which share of each box's area is left.
///
/// A box without area counts as visible (1) where it touches the image, else as gone (0). So does a box with a NaN.
pub fn clip_boxes<C: Coordinate>(boxes: &mut [[C; 4]], size: Size, visible: &mut [f64]) -> Result<()> {
    if boxes.len() != visible.len() {
        return refuse(format!("{} shares", boxes.len()), visible.len().to_string());
    }
    for (corners, visible) in boxes.iter_mut().zip(visible) {
        let before = corners.map(C::widen);
        let after = clip(before, size);
        *visible = share(before, after);
        *corners = after.map(C::narrow);
    }
    Ok(())
}

fn clip([x0, y0, x1, y1]: [f64; 4], size: Size) -> [f64; 4] {
    let across = |x: f64| x.clamp(0.0, size.width as f64);
    let down = |y: f64| y.clamp(0.0, size.height as f64);
    [across(x0), down(y0), across(x1), down(y1)]
}

fn share(before: [f64; 4], after: [f64; 4]) -> f64 {
    let area = |[x0, y0, x1, y1]: [f64; 4]| (x1 - x0).max(0.0) * (y1 - y0).max(0.0);
    if area(before) > 0.0 {
        return area(after) / area(before);
    }
    let [x0, y0, x1, y1] = before;
    // Clipping moves every coordinate of a box that does not touch the image to one side.
    let touches = x0 <= after[2] && x1 >= after[0] && y0 <= after[3] && y1 >= after[1];
    f64::from(touches)
}

/// Which boxes have at least `least` of their area left.
pub fn keep_visible(visible: &[f64], least: f64) -> Vec<bool> {
    visible.iter().map(|share| *share > 0.0 && *share >= least).collect()
}

/// Moves points `[x, y]`.
pub fn move_points<C: Coordinate>(points: &mut [[C; 2]], map: &Affine) {
    for point in points {
        let (x, y) = map.apply(point[0].widen(), point[1].widen());
        *point = [C::narrow(x), C::narrow(y)];
    }
}

/// Which points lie in an image of `size`: from 0 up to, and without, width and height.
pub fn points_inside<C: Coordinate>(points: &[[C; 2]], size: Size) -> Vec<bool> {
    let inside = |x: f64, y: f64| (0.0..size.width as f64).contains(&x) && (0.0..size.height as f64).contains(&y);
    points.iter().map(|point| inside(point[0].widen(), point[1].widen())).collect()
}
