//! An output slot: the memory of one image in a batch, with its element type, layout and size.
use super::kernels::ConvertToFloat;
use super::writer::{RowWriter, write_single};
use crate::color::normalize::Normalize;
use crate::fault::Result;
use crate::geometry::dispatch;
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::{View, bad_argument, count_values};
use crate::memory;
use crate::pixels::Size;

/// Order of the axes of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Rows, columns, channels.
    Nhwc,
    /// Channels, rows, columns.
    Nchw,
}

/// The output values of a slot, by element type.
#[derive(Debug)]
pub enum SlotValues<'a> {
    /// 8-bit integers, rounded to the nearest, ties to even, and saturated.
    U8(&'a mut [u8]),
    /// 16-bit integers, rounded to the nearest, ties to even, and saturated.
    U16(&'a mut [u16]),
    /// Bits of binary16 values.
    F16(&'a mut [u16]),
    /// float32 values.
    F32(&'a mut [f32]),
}

impl SlotValues<'_> {
    fn len(&self) -> usize {
        match self {
            Self::U8(values) => values.len(),
            Self::U16(values) | Self::F16(values) => values.len(),
            Self::F32(values) => values.len(),
        }
    }
}

/// Output slot: the memory to which the pixels of one image are written.
#[derive(Debug)]
pub struct Slot<'a> {
    pub(super) values: SlotValues<'a>,
    pub(super) layout: Layout,
    pub(super) size: Size,
    pub(super) channels: usize,
}

impl<'a> Slot<'a> {
    /// Creates the slot of an image of `size`, whose pixels are stored in `values`. Returns an error unless the length
    /// of `values` is width x height x channels.
    pub fn new(values: SlotValues<'a>, layout: Layout, size: Size, channels: usize) -> Result<Self> {
        let expected = count_values(size, channels)?;
        if values.len() != expected {
            return bad_argument(format!("a slot of {expected} values"), values.len().to_string());
        }
        Ok(Self { values, layout, size, channels })
    }

    /// Returns the width and height of the image.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns the number of channels of the image.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Normalizes and writes an 8-bit image of this slot's size, flipped horizontally if `flip` is set.
    pub fn write_u8_image(mut self, image: View<u8>, flip: bool, normalize: &Normalize) -> Result<()> {
        self.check_shape(image.size(), image.channels())?;
        let plain = self.layout == Layout::Nhwc && *normalize == Normalize::IDENTITY && !flip;
        if let (SlotValues::U8(values), true) = (&mut self.values, plain) {
            let rows = values.chunks_exact_mut(self.size.width * self.channels);
            rows.zip(image.rows()).for_each(|(to, from)| to.copy_from_slice(from));
            return Ok(());
        }
        if flip {
            return self.write_image(image, flip, normalize);
        }
        if let (1, Some(row)) = (self.channels, image.as_contiguous()) {
            write_single(&mut self, row, normalize)?;
            return Ok(());
        }
        let mut writer = RowWriter::new(self, normalize)?;
        image.rows().enumerate().for_each(|(y, row)| writer.write_bytes(y, row));
        Ok(())
    }

    /// Normalizes and writes an image of any sample type, flipped horizontally if `flip` is set.
    pub fn write_image<T: PixelType>(self, image: View<T>, flip: bool, normalize: &Normalize) -> Result<()> {
        self.check_shape(image.size(), image.channels())?;
        let channels = self.channels;
        let mut row = memory::filled(self.size.width * channels, 0.0)?;
        let mut writer = RowWriter::new(self, normalize)?;
        for (y, source) in image.rows().enumerate() {
            dispatch::run(ConvertToFloat { source, output: &mut row });
            if flip {
                reverse_pixels(&mut row, channels);
            }
            writer.write_floats(y, &row);
        }
        Ok(())
    }

    /// Returns an error unless the slot has exactly this size and number of channels.
    pub(crate) fn check_shape(&self, size: Size, channels: usize) -> Result<()> {
        let own = (self.size.width, self.size.height, self.channels);
        if own == (size.width, size.height, channels) {
            return Ok(());
        }
        let text = |(width, height, channels)| format!("{width} x {height} x {channels}");
        bad_argument(format!("an image of {}", text(own)), text((size.width, size.height, channels)))
    }
}

/// Reverses the pixels of a row.
fn reverse_pixels(row: &mut [f32], channels: usize) {
    fn reverse<const CHANNELS: usize>(row: &mut [f32]) {
        row.as_chunks_mut::<CHANNELS>().0.reverse();
    }
    match channels {
        1 => reverse::<1>(row),
        2 => reverse::<2>(row),
        3 => reverse::<3>(row),
        _ => reverse::<4>(row),
    }
}
