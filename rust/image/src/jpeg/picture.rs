//! A window of an image in the making: the MCUs it needs, the planes they fill, the rows of pixels that come of them.
use super::header::Reader;
use super::options::{Options, Wanted};
use super::planes::Plane;
use super::samples::{Kernel, Layout, RowMaker};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::{Size, Window};
use std::ops::Range;

/// Where the pixels go.
pub(super) struct Target<'a> {
    pub(super) out: &'a mut [u8],
    /// Bytes from a row of pixels to the next.
    pub(super) stride: usize,
}

/// A window in the making.
pub(super) struct Picture {
    pub(super) layout: Layout,
    pub(super) planes: Vec<Plane>,
    /// The MCU rows and columns that hold the window and the neighbors it needs.
    pub(super) mcu_rows: Range<usize>,
    pub(super) mcu_columns: Range<usize>,
    pub(super) window: Window,
    rows: RowMaker,
    columns: Vec<Range<usize>>,
    /// Which rows of the window are made; all where it says nothing.
    wanted: Vec<bool>,
    /// Rows of the window that are finished.
    num_finished: usize,
}

impl Picture {
    /// Prepares for what is wanted of the image whose headers `reader` has read; its planes use the memory in `scratch`.
    pub(super) fn new(
        reader: &Reader<'_>,
        options: &Options,
        wanted: Wanted<'_>,
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
                "sampling factors that divide the largest",
                found,
            ));
        };
        let window = wanted.window.unwrap_or(Window::whole(layout.size));
        let rows = RowMaker::new(&layout, options.conversion(reader.color)?, window)?;
        let columns: Vec<_> = (0..rows.components()).map(|component| rows.columns(component)).collect();
        let shapes: Vec<Size> = (0..rows.components()).map(|index| mcu_shape(reader, &layout, index)).collect();
        let mcu_columns = needed_columns(&columns, &shapes);
        let mcu_rows = needed_rows(&rows, window, &shapes);
        let planes =
            layout.components.iter().zip(&frame.components).take(rows.components()).map(|(plane, component)| {
                Plane::new(plane, (component.h, component.v), mcu_columns.clone(), scratch.pop().unwrap_or_default())
            });
        let (planes, wanted) = (planes.collect(), wanted.rows.to_vec());
        Ok(Self { planes, layout, mcu_rows, mcu_columns, window, rows, columns, wanted, num_finished: 0 })
    }

    /// Gives the planes' memory back.
    pub(super) fn into_scratch(self) -> Vec<Vec<u8>> {
        self.planes.into_iter().map(Plane::into_scratch).collect()
    }

    /// Whether the picture needs all MCUs of the image.
    pub(super) fn is_whole(&self, mcus: Size) -> bool {
        self.mcu_rows == (0..mcus.height) && self.mcu_columns == (0..mcus.width)
    }

    /// Bytes of a row of the window.
    pub(super) fn row_bytes(&self) -> usize {
        self.rows.row_bytes()
    }

    /// Rows of the window that are finished.
    pub(super) fn num_finished(&self) -> usize {
        self.num_finished
    }

    /// Makes the rows of pixels that MCU row `mcu_row`, now in the planes, was the last to be missing for.
    #[inline(always)]
    pub(super) fn finish_rows<K: Kernel>(&mut self, kernel: K, mcu_row: usize, target: &mut Target<'_>) {
        let Self { planes, rows, columns, window, wanted, num_finished, mcu_rows, .. } = self;
        let is_last = mcu_row + 1 == mcu_rows.end;
        while *num_finished < window.height {
            let y = window.y + *num_finished;
            let is_ready = |index: usize| *rows.rows(index, y).end() < (mcu_row + 1) * planes[index].mcu_rows();
            if !is_last && !(0..planes.len()).all(is_ready) {
                break;
            }
            if wanted.get(*num_finished) != Some(&false) {
                let out = &mut target.out[*num_finished * target.stride..];
                rows.row(kernel, y, |component, row| planes[component].row(row, &columns[component]), out);
            }
            *num_finished += 1;
        }
    }
}

/// Samples across and down that an MCU gives of component `index`.
fn mcu_shape(reader: &Reader<'_>, layout: &Layout, index: usize) -> Size {
    let (component, edge) = (&reader.frame.components[index], layout.components[index].block.edge());
    Size { width: component.h * edge, height: component.v * edge }
}

fn needed_columns(columns: &[Range<usize>], shapes: &[Size]) -> Range<usize> {
    let of = |(columns, shape): (&Range<usize>, &Size)| columns.start / shape.width..columns.end.div_ceil(shape.width);
    cover(columns.iter().zip(shapes).map(of))
}

fn needed_rows(rows: &RowMaker, window: Window, shapes: &[Size]) -> Range<usize> {
    cover(shapes.iter().enumerate().map(|(index, shape)| {
        let first = *rows.rows(index, window.y).start();
        let last = *rows.rows(index, window.y + window.height - 1).end();
        first / shape.height..last / shape.height + 1
    }))
}

fn cover(ranges: impl Iterator<Item = Range<usize>>) -> Range<usize> {
    ranges.reduce(|all, one| all.start.min(one.start)..all.end.max(one.end)).unwrap_or(0..0)
}
