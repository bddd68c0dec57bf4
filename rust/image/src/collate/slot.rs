//! One image's place in batch memory: its element type, its layout, its size.
use super::kernels::Widen;
use super::writer::{RowWriter, write_single};
use crate::color::normalize::Normalize;
use crate::fault::Result;
use crate::geometry::dispatch;
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::{View, count_values, refuse};
use crate::pixels::Size;

/// The order of a batch's axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Rows, columns, channels.
    Nhwc,
    /// Channels, rows, columns.
    Nchw,
}

/// The memory of a slot.
#[derive(Debug)]
pub enum SlotValues<'a> {
    /// Bytes, rounded to the nearest and held within 0 to 255; ties go to even.
    U8(&'a mut [u8]),
    /// 16-bit words, rounded and held likewise.
    U16(&'a mut [u16]),
    /// The bits of binary16 values.
    F16(&'a mut [u16]),
    /// Floats.
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

/// A place for one image of known size.
#[derive(Debug)]
pub struct Slot<'a> {
    pub(super) values: SlotValues<'a>,
    pub(super) layout: Layout,
    pub(super) size: Size,
    pub(super) channels: usize,
}

impl<'a> Slot<'a> {
    /// A slot for an image of `size` that fills `values`.
    pub fn new(values: SlotValues<'a>, layout: Layout, size: Size, channels: usize) -> Result<Self> {
        let expected = count_values(size, channels)?;
        if values.len() != expected {
            return refuse(format!("a slot of {expected} values"), values.len().to_string());
        }
        Ok(Self { values, layout, size, channels })
    }

    /// Width and height of the image that fits.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Channels of the image that fits.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Writes a whole image of this slot's size, mirrored when `flip` is set.
    pub fn write(mut self, image: View<u8>, flip: bool, normalize: &Normalize) -> Result<()> {
        self.expect(image.size(), image.channels())?;
        let plain = self.layout == Layout::Nhwc && *normalize == Normalize::IDENTITY && !flip;
        if let (SlotValues::U8(values), true) = (&mut self.values, plain) {
            let rows = values.chunks_exact_mut(self.size.width * self.channels);
            rows.zip(image.rows()).for_each(|(to, from)| to.copy_from_slice(from));
            return Ok(());
        }
        if flip {
            return self.write_levels(image, flip, normalize);
        }
        if let (1, Some(row)) = (self.channels, image.as_contiguous()) {
            write_single(&mut self, row, normalize);
            return Ok(());
        }
        let mut writer = RowWriter::new(self, normalize);
        image.rows().enumerate().for_each(|(y, row)| writer.write_bytes(y, row));
        Ok(())
    }

    /// The same for an image of any levels.
    pub fn write_levels<T: PixelType>(self, image: View<T>, flip: bool, normalize: &Normalize) -> Result<()> {
        self.expect(image.size(), image.channels())?;
        let channels = self.channels;
        let mut row = vec![0.0; self.size.width * channels];
        let mut writer = RowWriter::new(self, normalize);
        for (y, source) in image.rows().enumerate() {
            dispatch::run(Widen { source, output: &mut row });
            if flip {
                mirror(&mut row, channels);
            }
            writer.write(y, &row);
        }
        Ok(())
    }

    /// A fault unless an image of `size` and `channels` fits.
    pub(crate) fn expect(&self, size: Size, channels: usize) -> Result<()> {
        let own = (self.size.width, self.size.height, self.channels);
        if own == (size.width, size.height, channels) {
            return Ok(());
        }
        let text = |(width, height, channels)| format!("{width} x {height} x {channels}");
        refuse(format!("an image of {}", text(own)), text((size.width, size.height, channels)))
    }
}

/// Turns the pixels of a row around.
fn mirror(row: &mut [f32], channels: usize) {
    fn turn<const CHANNELS: usize>(row: &mut [f32]) {
        row.as_chunks_mut::<CHANNELS>().0.reverse();
    }
    match channels {
        1 => turn::<1>(row),
        2 => turn::<2>(row),
        3 => turn::<3>(row),
        _ => turn::<4>(row),
    }
}
