//! Output of one image window: the MCUs that it needs, the component planes that they fill, and the conversion to rows
//! of pixels.
use super::header::Reader;
use super::options::{Options, Region};
use super::samples::{Component, Kernel, Layout, RowConverter, Scale};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::memory::{self, OutOfMemory};
use crate::pixels::{Size, Window};
use std::ops::Range;

/// The caller's memory for pixels.
pub(super) struct OutputBuffer<'a> {
    pub(super) out: &'a mut [u8],
    /// Distance in bytes between the starts of consecutive rows.
    pub(super) stride: usize,
}

/// The decoded part of an image, and how far it has been written to the output buffer.
pub(super) struct OutputWindow {
    pub(super) layout: Layout,
    pub(super) planes: Vec<Plane>,
    /// The rows and columns of MCUs that hold the window and the neighboring samples that upsampling needs.
    pub(super) mcu_rows: Range<usize>,
    pub(super) mcu_columns: Range<usize>,
    pub(super) window: Window,
    converter: RowConverter,
    columns: Vec<Range<usize>>,
    /// For each row of the window, whether to write it; empty to write all rows.
    selected_rows: Vec<bool>,
    /// Number of rows of the window that are finished.
    num_finished: usize,
}

impl OutputWindow {
    /// Sets up the output for `region` of the image whose headers `reader` has parsed. The planes reuse the buffers in
    /// `scratch`.
    pub(super) fn new(
        reader: &Reader<'_>,
        options: &Options,
        region: Region<'_>,
        scratch: &mut Vec<Vec<u8>>,
    ) -> Result<Self> {
        let frame = &reader.frame;
        let factors: Vec<(u8, u8)> =
            frame.components.iter().map(|component| (component.h as u8, component.v as u8)).collect();
        let Some(layout) = Layout::new(frame.size, options.scale, &factors, options.fancy) else {
            let found = format!("{factors:?}");
            return Err(ImageFault::new(
                ImageFaultKind::Unsupported,
                0,
                "sampling factors that divide the largest one",
                found,
            ));
        };
        let window = region.window.unwrap_or(Window::whole(layout.size));
        let converter = RowConverter::new(&layout, options.conversion(reader.color)?, window)?;
        let columns: Vec<_> = (0..converter.components()).map(|component| converter.columns(component)).collect();
        let shapes: Vec<Size> = (0..converter.components()).map(|index| mcu_shape(reader, &layout, index)).collect();
        let mcu_columns = needed_columns(&columns, &shapes);
        let mcu_rows = needed_rows(&converter, window, &shapes);
        let planes =
            layout.components.iter().zip(&frame.components).take(converter.components()).map(|(plane, component)| {
                Plane::new(plane, (component.h, component.v), mcu_columns.clone(), scratch.pop().unwrap_or_default())
            });
        let (planes, selected_rows) = (planes.collect::<Result<_, _>>()?, memory::copy(region.rows)?);
        Ok(Self { planes, layout, mcu_rows, mcu_columns, window, converter, columns, selected_rows, num_finished: 0 })
    }

    /// Consumes the output and returns the buffers of its planes for reuse.
    pub(super) fn into_scratch(self) -> Vec<Vec<u8>> {
        self.planes.into_iter().map(Plane::into_scratch).collect()
    }

    /// Returns whether the output needs all MCUs of the image.
    pub(super) fn covers_image(&self, mcus: Size) -> bool {
        self.mcu_rows == (0..mcus.height) && self.mcu_columns == (0..mcus.width)
    }

    /// Returns the length of an output row in bytes.
    pub(super) fn row_bytes(&self) -> usize {
        self.converter.row_bytes()
    }

    /// Returns the number of rows of the window that are finished.
    pub(super) fn num_finished(&self) -> usize {
        self.num_finished
    }

    /// Writes all rows of pixels that became complete when MCU row `mcu_row` was decoded into the planes.
    #[inline(always)]
    pub(super) fn finish_rows<K: Kernel>(&mut self, kernel: K, mcu_row: usize, buffer: &mut OutputBuffer<'_>) {
        let Self { planes, converter, columns, window, selected_rows, num_finished, mcu_rows, .. } = self;
        let is_last = mcu_row + 1 == mcu_rows.end;
        while *num_finished < window.height {
            let y = window.y + *num_finished;
            let is_ready = |index: usize| *converter.rows(index, y).end() < (mcu_row + 1) * planes[index].mcu_rows();
            if !is_last && !(0..planes.len()).all(is_ready) {
                break;
            }
            if selected_rows.get(*num_finished) != Some(&false) {
                let out = &mut buffer.out[*num_finished * buffer.stride..];
                converter.write_row(kernel, y, |component, row| planes[component].row(row, &columns[component]), out);
            }
            *num_finished += 1;
        }
    }
}

/// Returns the width and height in samples of component `index` in one MCU.
fn mcu_shape(reader: &Reader<'_>, layout: &Layout, index: usize) -> Size {
    let (component, edge) = (&reader.frame.components[index], layout.components[index].block.edge());
    Size { width: component.h * edge, height: component.v * edge }
}

fn needed_columns(columns: &[Range<usize>], shapes: &[Size]) -> Range<usize> {
    let of = |(columns, shape): (&Range<usize>, &Size)| columns.start / shape.width..columns.end.div_ceil(shape.width);
    enclosing_range(columns.iter().zip(shapes).map(of))
}

fn needed_rows(converter: &RowConverter, window: Window, shapes: &[Size]) -> Range<usize> {
    enclosing_range(shapes.iter().enumerate().map(|(index, shape)| {
        let first = *converter.rows(index, window.y).start();
        let last = *converter.rows(index, window.y + window.height - 1).end();
        first / shape.height..last / shape.height + 1
    }))
}

fn enclosing_range(ranges: impl Iterator<Item = Range<usize>>) -> Range<usize> {
    ranges.reduce(|all, one| all.start.min(one.start)..all.end.max(one.end)).unwrap_or(0..0)
}

/// Samples of one component in the MCU columns of a window. A plane holds two rows of MCUs; decoding alternates between
/// them.
pub(super) struct Plane {
    samples: Vec<u8>,
    /// Number of samples in a row.
    stride: usize,
    /// Column of the full component plane at which the rows of this plane begin.
    first_column: usize,
    /// Number of sample rows in one row of MCUs.
    mcu_rows: usize,
    /// Number of sample columns in one MCU.
    mcu_columns: usize,
    /// Width and height of a block in samples.
    edge: usize,
}

impl Plane {
    /// Creates a plane for the MCU columns `columns`, each of `h` by `v` blocks of `component`, in the memory of
    /// `scratch`.
    pub(super) fn new(
        component: &Component,
        (h, v): (usize, usize),
        columns: Range<usize>,
        mut scratch: Vec<u8>,
    ) -> Result<Self, OutOfMemory> {
        let edge = Scale::edge(component.block);
        let (mcu_columns, mcu_rows) = (h * edge, v * edge);
        let stride = columns.len() * mcu_columns;
        memory::resize(&mut scratch, 2 * mcu_rows * stride, 0)?;
        Ok(Self { samples: scratch, stride, first_column: columns.start * mcu_columns, mcu_rows, mcu_columns, edge })
    }

    /// Consumes the plane and returns its buffer for reuse.
    pub(super) fn into_scratch(self) -> Vec<u8> {
        self.samples
    }

    /// Returns the number of samples in a row.
    #[inline(always)]
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// Returns the number of blocks across and down an MCU.
    pub(super) fn mcu_blocks(&self) -> (usize, usize) {
        (self.mcu_columns / self.edge, self.mcu_rows / self.edge)
    }

    /// Returns the number of sample columns in one MCU.
    pub(super) fn mcu_columns(&self) -> usize {
        self.mcu_columns
    }

    /// Returns the number of sample rows in one row of MCUs.
    pub(super) fn mcu_rows(&self) -> usize {
        self.mcu_rows
    }

    /// Returns the indices in `samples` at which block (`column`, `row`) begins in even and in odd rows of MCUs. Blocks
    /// are counted from the window's first MCU.
    pub(super) fn origins(&self, column: usize, row: usize) -> [usize; 2] {
        let start = row * self.edge * self.stride + column * self.edge;
        [start, start + self.mcu_rows * self.stride]
    }

    /// Returns all samples from index `origin` on.
    #[inline(always)]
    pub(super) fn samples_mut(&mut self, origin: usize) -> &mut [u8] {
        &mut self.samples[origin..]
    }

    /// Returns the samples of row `row` in `columns`. The row must belong to one of the two MCU rows decoded last.
    #[inline(always)]
    pub(super) fn row(&self, row: usize, columns: &Range<usize>) -> &[u8] {
        let start = (row % (2 * self.mcu_rows)) * self.stride;
        &self.samples[start + columns.start - self.first_column..start + columns.end - self.first_column]
    }
}
