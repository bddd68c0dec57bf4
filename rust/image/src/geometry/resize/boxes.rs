//! Boxes of images brought to one size in float32: TensorFlow's `CropAndResize` (kernels/image/crop_and_resize_op.cc).
//!
//! The first and the last place of a box are pixels of its result, not their edges; places beyond the image have a level of their own.
use super::taps::{Neighbors, between};
use crate::collate::kernels::Blend;
use crate::fault::Result;
use crate::geometry::dispatch;
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::{MAX_SIDE, MAX_VALUES, refuse};
use crate::pixels::Size;

/// Images side by side in memory, with any number of channels.
#[derive(Debug, Clone, Copy)]
pub struct Images<'a, T> {
    /// All values.
    pub values: &'a [T],
    /// Of each image.
    pub size: Size,
    /// Values of a pixel.
    pub channels: usize,
}

/// What is cut out, and how.
#[derive(Debug, Clone, Copy)]
pub struct Boxes<'a> {
    /// Upper, left, lower and right place of each box; 0 is the middle of the first and 1 that of the last pixel.
    pub places: &'a [f32],
    /// The image of each box.
    pub images: &'a [i64],
    /// The size that all are brought to.
    pub size: Size,
    /// Whether the nearest pixel is taken instead of a mixture of four.
    pub nearest: bool,
    /// The level beyond an image.
    pub beyond: f32,
}

/// The boxes, one after the other.
pub fn resize_boxes<T: PixelType>(images: Images<T>, boxes: Boxes) -> Result<Vec<f32>> {
    let (count, length) = check(&images, &boxes)?;
    let mut output = Vec::with_capacity(boxes.images.len() * boxes.size.width * boxes.size.height * images.channels);
    for (place, &image) in boxes.places.as_chunks::<4>().0.iter().zip(boxes.images) {
        let Some(image) = usize::try_from(image).ok().filter(|image| *image < count) else {
            return refuse(format!("images 0 to {}", count as i64 - 1), image.to_string());
        };
        let source = Images { values: &images.values[image * length..][..length], ..images };
        append(source, *place, &boxes, &mut output);
    }
    Ok(output)
}

/// The number of images, and of values of one.
fn check<T>(images: &Images<T>, boxes: &Boxes) -> Result<(usize, usize)> {
    let sides = [images.size.width, images.size.height, boxes.size.width, boxes.size.height];
    if sides.iter().any(|side| !(1..=MAX_SIDE).contains(side)) || !(1..=MAX_SIDE).contains(&images.channels) {
        return refuse(format!("sides and channels of 1 to {MAX_SIDE}"), format!("{sides:?}, {}", images.channels));
    }
    let pixels = |size: Size| size.width as u64 * size.height as u64 * images.channels as u64;
    let results = pixels(boxes.size).saturating_mul(boxes.images.len() as u64);
    let (values, length) = (images.values.len() as u64, pixels(images.size));
    if !values.is_multiple_of(length) || results > MAX_VALUES || boxes.places.len() != 4 * boxes.images.len() {
        let found = format!("{values} values, {} places, {results} values of results", boxes.places.len());
        let expected = format!("images of {length} values, 4 places a box, at most {MAX_VALUES} values of results");
        return refuse(expected, found);
    }
    Ok(((values / length) as usize, length as usize))
}

fn append<T: PixelType>(source: Images<T>, [top, left, bottom, right]: [f32; 4], boxes: &Boxes, output: &mut Vec<f32>) {
    let (channels, row) = (source.channels, boxes.size.width * source.channels);
    let columns = Line::new(left, right, source.size.width, boxes.size.width);
    let mut reader = Reader::new(source, &columns);
    for y in positions(top, bottom, source.size.height, boxes.size.height) {
        if !is_inside(y, source.size.height) || columns.inside.is_empty() {
            output.resize(output.len() + row, boxes.beyond);
            continue;
        }
        let (start, end) = (output.len(), output.len() + row);
        output.resize(start + columns.before * channels, boxes.beyond);
        if boxes.nearest {
            let values = &source.values[y.round() as usize * source.size.width * channels..];
            let pixels = columns.inside.iter().map(|x| &values[x.round() as usize * channels..][..channels]);
            pixels.for_each(|pixel| output.extend(pixel.iter().map(|value| -> f32 { (*value).into() })));
        } else {
            reader.append(y, output);
        }
        output.resize(end, boxes.beyond);
    }
}

/// Where columns of the output lie inside the image, and how many before them do not.
struct Line {
    before: usize,
    inside: Vec<f32>,
}

impl Line {
    fn new(low: f32, high: f32, length: usize, count: usize) -> Self {
        let places: Vec<f32> = positions(low, high, length, count).collect();
        let before = places.iter().take_while(|place| !is_inside(**place, length)).count();
        let inside = places[before..].iter().copied().take_while(|place| is_inside(*place, length));
        Self { before, inside: inside.collect() }
    }
}

/// Where `count` outputs from `low` to `high` lie among `length` inputs; one lies in the middle.
fn positions(low: f32, high: f32, length: usize, count: usize) -> impl Iterator<Item = f32> {
    let last = (length - 1) as f32;
    let middle = (0.5 * f64::from(low + high) * f64::from(last)) as f32;
    let step = (high - low) * last / (count.max(2) - 1) as f32;
    (0..count).map(move |place| if count == 1 { middle } else { low * last + place as f32 * step })
}

fn is_inside(place: f32, length: usize) -> bool {
    (0.0..=(length - 1) as f32).contains(&place)
}

/// Rows of one image, mixed across where a box has its columns; the last two are kept.
struct Reader<'a, T> {
    source: Images<'a, T>,
    taps: Vec<Neighbors>,
    upper: (usize, Vec<f32>),
    lower: (usize, Vec<f32>),
    mixed: Vec<f32>,
}

impl<'a, T: PixelType> Reader<'a, T> {
    fn new(source: Images<'a, T>, columns: &Line) -> Self {
        let taps: Vec<Neighbors> = columns.inside.iter().map(|place| Neighbors::around(*place)).collect();
        let row = || (usize::MAX, Vec::new());
        let mixed = vec![0.0; taps.len() * source.channels];
        Self { source, taps, upper: row(), lower: row(), mixed }
    }

    /// Appends the row at `place`.
    fn append(&mut self, place: f32, output: &mut Vec<f32>) {
        let Neighbors { first, second, weight } = Neighbors::around(place);
        if self.lower.0 == first {
            std::mem::swap(&mut self.upper, &mut self.lower);
        }
        let Self { source, taps, upper, lower, mixed } = self;
        let length = source.size.width * source.channels;
        for (row, y) in [(&mut *upper, first), (&mut *lower, second)] {
            if row.0 != y {
                between(&source.values[y * length..][..length], taps, source.channels, &mut row.1);
                row.0 = y;
            }
        }
        dispatch::run(Blend { upper: &upper.1, lower: &lower.1, weight, output: mixed });
        output.extend_from_slice(mixed);
    }
}

#[cfg(test)]
mod tests {
    use super::{Boxes, Images, resize_boxes};
    use crate::geometry::dispatch::portably;
    use crate::pixels::Size;

    const PLACES: [f32; 8] = [-0.1, 0.2, 0.9, 1.3, 1.0, 0.7, 0.1, 0.0];
    const SIZE: Size = Size { width: 13, height: 7 };
    const WHOLE: Boxes = Boxes { places: &PLACES, images: &[1, 0], size: SIZE, nearest: false, beyond: -1.0 };

    #[test]
    fn boxes_when_cut_on_all_paths_then_are_equal() {
        for channels in [1, 2, 3, 4, 9] {
            let values: Vec<u8> = (0..2 * 11 * 9 * channels).map(|place| (place * place / 3) as u8).collect();
            let images = Images { values: &values, size: Size { width: 11, height: 9 }, channels };
            for nearest in [false, true] {
                let boxes = Boxes { nearest, ..WHOLE };
                let wide = resize_boxes(images, boxes);
                assert_eq!(wide.as_ref().map(Vec::len), Ok(2 * 13 * 7 * channels));
                assert_eq!(portably(|| resize_boxes(images, boxes)), wide, "{channels} channels");
            }
        }
    }

    #[test]
    fn boxes_when_they_do_not_fit_then_are_refused() {
        let images = Images { values: &[0_u8; 24], size: Size { width: 2, height: 3 }, channels: 2 };
        assert!(resize_boxes(images, WHOLE).is_ok());
        let none = Size { width: 0, height: 3 };
        let huge = Size { width: 1 << 20, height: 1 << 20 };
        for odd in [
            Boxes { images: &[1, 2], ..WHOLE },
            Boxes { images: &[-1, 0], ..WHOLE },
            Boxes { images: &[1], ..WHOLE },
            Boxes { size: none, ..WHOLE },
            Boxes { size: huge, ..WHOLE },
        ] {
            assert!(resize_boxes(images, odd).is_err(), "{odd:?}");
        }
        assert!(resize_boxes(Images { size: none, ..images }, WHOLE).is_err());
        assert!(resize_boxes(Images { channels: 0, ..images }, WHOLE).is_err());
        assert!(resize_boxes(Images { values: &[0; 23], ..images }, WHOLE).is_err());
    }

    #[test]
    fn places_when_no_numbers_then_lie_beyond() {
        let images = Images { values: &[1.0_f32; 6], size: Size { width: 2, height: 3 }, channels: 1 };
        let places = [f32::NAN, 0.0, 1.0, f32::INFINITY, f32::MIN, f32::MAX, f32::MAX, f32::MIN];
        let found = resize_boxes(images, Boxes { places: &places, images: &[0, 0], ..WHOLE }).expect("two boxes");
        assert!(found.iter().all(|value| [1.0, -1.0].contains(value)));
    }
}
