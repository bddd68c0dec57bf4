//! Crop and resize of boxes in float32, as in TensorFlow's `CropAndResize` (kernels/image/crop_and_resize_op.cc).
//!
//! The corners of a box are the centers of its outermost output pixels. Positions outside the image get the
//! extrapolation value.
use super::taps::{Neighbors, interpolate_row};
use crate::collate::kernels::InterpolateRows;
use crate::fault::Result;
use crate::geometry::dispatch;
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::{MAX_SIDE, MAX_VALUES, bad_argument};
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;

/// A batch of images that are contiguous in memory, with any number of channels.
#[derive(Debug, Clone, Copy)]
pub struct Images<'a, T> {
    /// Samples of all images.
    pub values: &'a [T],
    /// Size of each image.
    pub size: Size,
    /// Number of channels.
    pub channels: usize,
}

/// Boxes to crop, and how to resize them.
#[derive(Debug, Clone, Copy)]
pub struct Boxes<'a> {
    /// Top, left, bottom and right coordinate of each box; 0 is the center of the first pixel and 1 that of the last
    /// pixel.
    pub coordinates: &'a [f32],
    /// Image index of each box.
    pub image_indices: &'a [i64],
    /// Output size of all boxes.
    pub size: Size,
    /// Whether to use the nearest pixel instead of bilinear interpolation.
    pub nearest: bool,
    /// Value for positions outside the image.
    pub extrapolation_value: f32,
}

/// Crops and resizes all boxes. The results are concatenated.
pub fn resize_boxes<T: PixelType>(images: Images<T>, boxes: Boxes) -> Result<Vec<f32>> {
    let (count, length) = check_boxes(&images, &boxes)?;
    let mut output =
        memory::with_capacity(boxes.image_indices.len() * boxes.size.width * boxes.size.height * images.channels)?;
    for (position, &image) in boxes.coordinates.as_chunks::<4>().0.iter().zip(boxes.image_indices) {
        let Some(image) = usize::try_from(image).ok().filter(|image| *image < count) else {
            return bad_argument(format!("images 0 to {}", count as i64 - 1), image.to_string());
        };
        let source = Images { values: &images.values[image * length..][..length], ..images };
        append_box(source, *position, &boxes, &mut output)?;
    }
    Ok(output)
}

/// Checks sizes and image indices. Returns the number of images, and the number of values in each image.
fn check_boxes<T>(images: &Images<T>, boxes: &Boxes) -> Result<(usize, usize)> {
    let sides = [images.size.width, images.size.height, boxes.size.width, boxes.size.height];
    if sides.iter().any(|side| !(1..=MAX_SIDE).contains(side)) || !(1..=MAX_SIDE).contains(&images.channels) {
        return bad_argument(
            format!("sides and channels of 1 to {MAX_SIDE}"),
            format!("{sides:?}, {}", images.channels),
        );
    }
    let pixels = |size: Size| size.width as u64 * size.height as u64 * images.channels as u64;
    let results = pixels(boxes.size).saturating_mul(boxes.image_indices.len() as u64);
    let (values, length) = (images.values.len() as u64, pixels(images.size));
    if !values.is_multiple_of(length)
        || results > MAX_VALUES
        || boxes.coordinates.len() != 4 * boxes.image_indices.len()
    {
        let found = format!("{values} values, {} box coordinates, {results} result values", boxes.coordinates.len());
        let expected = format!("images of {length} values, 4 coordinates per box, at most {MAX_VALUES} result values");
        return bad_argument(expected, found);
    }
    Ok(((values / length) as usize, length as usize))
}

/// Appends one resized box to `output`, which has room for it.
fn append_box<T: PixelType>(
    source: Images<T>,
    [top, left, bottom, right]: [f32; 4],
    boxes: &Boxes,
    output: &mut Vec<f32>,
) -> Result<(), OutOfMemory> {
    let (channels, row) = (source.channels, boxes.size.width * source.channels);
    let columns = BoxColumns::new(left, right, source.size.width, boxes.size.width)?;
    let mut reader = RowReader::new(source, &columns)?;
    for y in source_positions(top, bottom, source.size.height, boxes.size.height) {
        if !is_inside(y, source.size.height) || columns.inside.is_empty() {
            output.resize(output.len() + row, boxes.extrapolation_value);
            continue;
        }
        let (start, end) = (output.len(), output.len() + row);
        output.resize(start + columns.before * channels, boxes.extrapolation_value);
        if boxes.nearest {
            let values = &source.values[y.round() as usize * source.size.width * channels..];
            let pixels = columns.inside.iter().map(|x| &values[x.round() as usize * channels..][..channels]);
            pixels.for_each(|pixel| output.extend(pixel.iter().map(|value| -> f32 { (*value).into() })));
        } else {
            reader.append_row(y, output);
        }
        output.resize(end, boxes.extrapolation_value);
    }
    Ok(())
}

/// The output columns of a box whose source positions lie inside the image. `inside` holds these source positions, and
/// `before` is the number of output columns to the left of them.
struct BoxColumns {
    before: usize,
    inside: Vec<f32>,
}

impl BoxColumns {
    fn new(low: f32, high: f32, length: usize, count: usize) -> Result<Self, OutOfMemory> {
        let mut source_positions = memory::collect(source_positions(low, high, length, count))?;
        let before = source_positions.iter().take_while(|position| !is_inside(**position, length)).count();
        source_positions.drain(..before);
        let inside = source_positions.iter().take_while(|position| is_inside(**position, length)).count();
        source_positions.truncate(inside);
        Ok(Self { before, inside: source_positions })
    }
}

/// Returns the source positions of `count` outputs that are evenly spaced from `low` to `high` on an axis of `length`
/// pixels. A single output is halfway between `low` and `high`.
fn source_positions(low: f32, high: f32, length: usize, count: usize) -> impl ExactSizeIterator<Item = f32> {
    let last = (length - 1) as f32;
    let middle = (0.5 * f64::from(low + high) * f64::from(last)) as f32;
    let step = (high - low) * last / (count.max(2) - 1) as f32;
    (0..count).map(move |position| if count == 1 { middle } else { low * last + position as f32 * step })
}

fn is_inside(position: f32, length: usize) -> bool {
    (0.0..=(length - 1) as f32).contains(&position)
}

/// Horizontally interpolated source rows for the columns of one box; caches the last two.
struct RowReader<'a, T> {
    source: Images<'a, T>,
    taps: Vec<Neighbors>,
    upper: (usize, Vec<f32>),
    lower: (usize, Vec<f32>),
    mixed: Vec<f32>,
}

impl<'a, T: PixelType> RowReader<'a, T> {
    fn new(source: Images<'a, T>, columns: &BoxColumns) -> Result<Self, OutOfMemory> {
        let taps = memory::collect(columns.inside.iter().map(|position| Neighbors::around(*position)))?;
        let [upper, lower, mixed] = memory::filled_rows(taps.len() * source.channels, 0.0)?;
        Ok(Self { source, taps, upper: (usize::MAX, upper), lower: (usize::MAX, lower), mixed })
    }

    /// Appends the output row at the vertical source position `position`.
    fn append_row(&mut self, position: f32, output: &mut Vec<f32>) {
        let Neighbors { first, second, weight } = Neighbors::around(position);
        if self.lower.0 == first {
            std::mem::swap(&mut self.upper, &mut self.lower);
        }
        let Self { source, taps, upper, lower, mixed } = self;
        let length = source.size.width * source.channels;
        for (row, y) in [(&mut *upper, first), (&mut *lower, second)] {
            if row.0 != y {
                interpolate_row(&source.values[y * length..][..length], taps, source.channels, &mut row.1);
                row.0 = y;
            }
        }
        dispatch::run(InterpolateRows { upper: &upper.1, lower: &lower.1, weight, output: mixed });
        output.extend_from_slice(mixed);
    }
}

#[cfg(test)]
mod tests {
    use super::{Boxes, Images, resize_boxes};
    use crate::geometry::dispatch::run_portable;
    use crate::pixels::Size;

    const COORDINATES: [f32; 8] = [-0.1, 0.2, 0.9, 1.3, 1.0, 0.7, 0.1, 0.0];
    const SIZE: Size = Size { width: 13, height: 7 };
    const WHOLE: Boxes = Boxes {
        coordinates: &COORDINATES,
        image_indices: &[1, 0],
        size: SIZE,
        nearest: false,
        extrapolation_value: -1.0,
    };

    #[test]
    fn boxes_are_equal_with_all_instruction_sets() {
        for channels in [1, 2, 3, 4, 9] {
            let values: Vec<u8> = (0..2 * 11 * 9 * channels).map(|index| (index * index / 3) as u8).collect();
            let images = Images { values: &values, size: Size { width: 11, height: 9 }, channels };
            for nearest in [false, true] {
                let boxes = Boxes { nearest, ..WHOLE };
                let wide = resize_boxes(images, boxes);
                assert_eq!(wide.as_ref().map(Vec::len), Ok(2 * 13 * 7 * channels));
                assert_eq!(run_portable(|| resize_boxes(images, boxes)), wide, "{channels} channels");
            }
        }
    }

    #[test]
    fn invalid_boxes_are_rejected() {
        let images = Images { values: &[0_u8; 24], size: Size { width: 2, height: 3 }, channels: 2 };
        assert!(resize_boxes(images, WHOLE).is_ok());
        let none = Size { width: 0, height: 3 };
        let huge = Size { width: 1 << 20, height: 1 << 20 };
        for odd in [
            Boxes { image_indices: &[1, 2], ..WHOLE },
            Boxes { image_indices: &[-1, 0], ..WHOLE },
            Boxes { image_indices: &[1], ..WHOLE },
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
    fn non_finite_coordinates_are_outside_the_image() {
        let images = Images { values: &[1.0_f32; 6], size: Size { width: 2, height: 3 }, channels: 1 };
        let coordinates = [f32::NAN, 0.0, 1.0, f32::INFINITY, f32::MIN, f32::MAX, f32::MAX, f32::MIN];
        let found = resize_boxes(images, Boxes { coordinates: &coordinates, image_indices: &[0, 0], ..WHOLE })
            .expect("two boxes");
        assert!(found.iter().all(|value| [1.0, -1.0].contains(value)));
    }
}
