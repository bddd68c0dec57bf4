//! Resizes, flips and normalizes an image in one pass and writes it to its output slot in the batch, either the whole
//! image or only a window of the resized image.
use super::resize::two_tap::{self, TwoTap};
use super::resize::{Kernel, opencv, pillow, resize, resize_f32, tensorflow::Method};
use super::view::View;
use crate::collate::slot::Slot;
use crate::collate::writer::RowWriter;
use crate::color::normalize::Normalize;
use crate::fault::Result;
use crate::memory::{self, OutOfMemory};
use crate::pixels::{Size, Window};

/// A window of a resized image, with a kernel that computes it row by row.
pub(crate) enum ResizedPart {
    /// Pillow's filters.
    Pillow(pillow::ResizeWindow),
    /// OpenCV's kernels with two taps.
    Opencv(opencv::ResizeWindow),
    /// TensorFlow's kernel with two taps.
    TwoTap(two_tap::ResizeWindow),
}

impl ResizedPart {
    /// Prepares the `window` of an image of size `from` resized to `to`. Returns `None` for kernels that compute only
    /// whole images.
    pub fn new(kernel: Kernel, from: Size, to: Size, window: Window) -> Result<Option<Self>> {
        Ok(match kernel {
            Kernel::Pillow(filter) => pillow::ResizeWindow::new(from, to, filter, window)?.map(Self::Pillow),
            Kernel::Opencv(interpolation) => opencv::prepare_window(from, to, interpolation, window)?.map(Self::Opencv),
            Kernel::Fast | Kernel::Tensorflow { method: Method::Bilinear, antialias: false } => {
                Some(Self::TwoTap(two_tap::ResizeWindow::new(from, to, window)?))
            }
            _ => None,
        })
    }

    /// Returns the window of the source that the computation reads.
    pub fn source_window(&self) -> Window {
        match self {
            Self::Pillow(part) => part.source_window(),
            Self::Opencv(part) => part.source_window(),
            Self::TwoTap(part) => part.source_window(),
        }
    }

    /// Returns one flag per row of the source window: whether the resize reads the row. An empty vector means all rows.
    /// It is returned for Pillow's filters, and if the window has fewer than three source rows per output row.
    pub fn rows(&self) -> Result<Vec<bool>, OutOfMemory> {
        let (height, lines) = match self {
            Self::Pillow(_) => return Ok(Vec::new()),
            Self::Opencv(part) => (part.source_window().height, memory::collect(part.source_row_pairs())?),
            Self::TwoTap(part) => (part.source_window().height, memory::collect(part.source_row_pairs())?),
        };
        if height < 3 * lines.len() {
            return Ok(Vec::new());
        }
        let mut rows = memory::filled(height, false)?;
        lines.iter().flatten().for_each(|&line| rows[line] = true);
        Ok(rows)
    }

    /// Sets the factor by which samples are multiplied before the resize. Returns `None` for kernels that do not
    /// compute in floating point.
    pub fn with_factor(self, factor: f32) -> Option<Self> {
        match self {
            Self::TwoTap(part) => Some(Self::TwoTap(part.with_factor(factor))),
            _ => None,
        }
    }

    /// Resizes `source`, which must be the source window, flips it horizontally if `flip` is set, normalizes it, and
    /// writes it to the output slot `slot`.
    pub fn write_to_slot(self, source: View<u8>, flip: bool, normalize: &Normalize, slot: Slot) -> Result<()> {
        slot.check_shape(slot.size(), source.channels())?;
        match self {
            Self::Pillow(part) => {
                let mut reader = part.row_resizer(source, flip)?;
                write_rows(|y, row| reader.compute_row(y, row), normalize, slot)?;
            }
            Self::Opencv(part) => {
                let mut reader = part.row_resizer(source, flip)?;
                let compute_row = |y, row: &mut [u8]| {
                    reader.compute_row(y, row);
                    Ok(())
                };
                write_rows(compute_row, normalize, slot)?;
            }
            Self::TwoTap(part) => {
                let (height, mut reader) = (slot.size().height, TwoTap::from_part(source, part, flip)?);
                let mut writer = RowWriter::new(slot, normalize)?;
                for y in 0..height {
                    let (upper, lower, weight) = reader.row_pair(y);
                    writer.write_interpolated(y, upper, lower, weight);
                }
            }
        }
        Ok(())
    }
}

fn write_rows(
    mut read: impl FnMut(usize, &mut [u8]) -> Result<(), OutOfMemory>,
    normalize: &Normalize,
    slot: Slot,
) -> Result<(), OutOfMemory> {
    let size = slot.size();
    let mut bytes = memory::filled(size.width * slot.channels(), 0)?;
    let mut writer = RowWriter::new(slot, normalize)?;
    for y in 0..size.height {
        read(y, &mut bytes)?;
        writer.write_bytes(y, &bytes);
    }
    Ok(())
}

/// Resizes `source` to the size of the output slot, flips it horizontally if `flip` is set, and normalizes it.
///
/// Kernels with two taps and Pillow's filters write directly to the slot. Other kernels create an intermediate image.
pub fn resize_into(source: View<u8>, kernel: Kernel, flip: bool, normalize: &Normalize, slot: Slot) -> Result<()> {
    let (size, channels) = (slot.size(), source.channels());
    slot.check_shape(size, channels)?;
    if let Some(part) = ResizedPart::new(kernel, source.size(), size, Window::whole(size))? {
        let source = source.crop(part.source_window())?;
        return part.write_to_slot(source, flip, normalize, slot);
    }
    match kernel {
        Kernel::Tensorflow { .. } => {
            let values = resize_f32(source, size, kernel)?;
            slot.write_image(View::new(&values, size, channels)?, flip, normalize)
        }
        Kernel::Pillow(filter) => {
            let bytes = pillow::resize(source, size, filter, flip)?;
            slot.write_u8_image(View::new(&bytes, size, channels)?, false, normalize)
        }
        _ => {
            let bytes = resize(source, size, kernel)?;
            slot.write_u8_image(View::new(&bytes, size, channels)?, flip, normalize)
        }
    }
}
