//! A part of a resized image: what of the source it needs, and the way from there into a batch slot.
use super::resize::two_tap::{self, TwoTap};
use super::resize::{Kernel, opencv, pillow, tensorflow::Method};
use super::view::View;
use crate::collate::slot::Slot;
use crate::collate::writer::RowWriter;
use crate::color::normalize::Normalize;
use crate::fault::Result;
use crate::pixels::{Size, Window};

/// A part, by the kernel that makes it row by row.
pub(crate) enum Part {
    /// Pillow's filters.
    Pillow(pillow::Part),
    /// OpenCV's kernels of two taps.
    Opencv(opencv::Part),
    /// TensorFlow's kernel of two taps.
    TwoTap(two_tap::Part),
}

impl Part {
    /// The `window` of an image of size `from` at size `to`; none where the kernel makes whole images only.
    pub fn new(kernel: Kernel, from: Size, to: Size, window: Window) -> Result<Option<Self>> {
        Ok(match kernel {
            Kernel::Pillow(filter) => pillow::Part::new(from, to, filter, window)?.map(Self::Pillow),
            Kernel::Opencv(interpolation) => opencv::part(from, to, interpolation, window)?.map(Self::Opencv),
            Kernel::Fast | Kernel::Tensorflow { method: Method::Bilinear, antialias: false } => {
                Some(Self::TwoTap(two_tap::Part::new(from, to, window)))
            }
            _ => None,
        })
    }

    /// The part of the source that is read.
    pub fn needs(&self) -> Window {
        match self {
            Self::Pillow(part) => part.needs(),
            Self::Opencv(part) => part.needs(),
            Self::TwoTap(part) => part.needs(),
        }
    }

    /// Which rows of what it needs are read, where many are not; none otherwise.
    pub fn rows(&self) -> Vec<bool> {
        let (height, lines): (_, Vec<[usize; 2]>) = match self {
            Self::Pillow(_) => return Vec::new(),
            Self::Opencv(part) => (part.needs().height, part.lines().collect()),
            Self::TwoTap(part) => (part.needs().height, part.lines().collect()),
        };
        if height < 3 * lines.len() {
            return Vec::new();
        }
        let mut rows = vec![false; height];
        lines.iter().flatten().for_each(|&line| rows[line] = true);
        rows
    }

    /// A part whose levels are multiplied before they are resized; none where the kernel does not compute in floats.
    pub fn scaled(self, factor: f32) -> Option<Self> {
        match self {
            Self::TwoTap(part) => Some(Self::TwoTap(part.scaled(factor))),
            _ => None,
        }
    }

    /// Makes the part of `source`, which is what it needs, mirrors it left to right when `flip` is set, and normalizes.
    pub fn write(self, source: View<u8>, flip: bool, normalize: &Normalize, slot: Slot) -> Result<()> {
        slot.expect(slot.size(), source.channels())?;
        match self {
            Self::Pillow(part) => {
                let mut reader = part.reader(source, flip);
                write_rows(|y, row| reader.read(y, row), normalize, slot);
            }
            Self::Opencv(part) => {
                let mut reader = part.reader(source, flip);
                write_rows(|y, row| reader.read(y, row), normalize, slot);
            }
            Self::TwoTap(part) => {
                let (height, mut reader) = (slot.size().height, TwoTap::of_part(source, part, flip));
                let mut writer = RowWriter::new(slot, normalize);
                for y in 0..height {
                    let (upper, lower, weight) = reader.pair(y);
                    writer.write_between(y, upper, lower, weight);
                }
            }
        }
        Ok(())
    }
}

fn write_rows(mut read: impl FnMut(usize, &mut [u8]), normalize: &Normalize, slot: Slot) {
    let size = slot.size();
    let mut bytes = vec![0; size.width * slot.channels()];
    let mut writer = RowWriter::new(slot, normalize);
    for y in 0..size.height {
        read(y, &mut bytes);
        writer.write_bytes(y, &bytes);
    }
}
