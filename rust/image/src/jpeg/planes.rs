//! The samples of a window on their way from blocks to pixels: two MCU rows per component, used in turn.
use super::samples::{Component, Scale};
use std::ops::Range;

/// One component's samples in the MCU columns of a window.
pub(super) struct Plane {
    samples: Vec<u8>,
    /// Samples of a row.
    stride: usize,
    /// Column of the plane at which rows begin.
    first_column: usize,
    /// Rows that one row of MCUs gives.
    mcu_rows: usize,
    /// Columns that one MCU gives.
    mcu_columns: usize,
    /// Samples along the edge of a block.
    edge: usize,
}

impl Plane {
    /// A plane for the MCUs `columns`, each of `h` by `v` blocks of `component`; it uses the memory of `scratch`.
    pub(super) fn new(
        component: &Component,
        (h, v): (usize, usize),
        columns: Range<usize>,
        mut scratch: Vec<u8>,
    ) -> Self {
        let edge = Scale::edge(component.block);
        let (mcu_columns, mcu_rows) = (h * edge, v * edge);
        let stride = columns.len() * mcu_columns;
        scratch.resize(2 * mcu_rows * stride, 0);
        Self { samples: scratch, stride, first_column: columns.start * mcu_columns, mcu_rows, mcu_columns, edge }
    }

    /// Gives the memory back.
    pub(super) fn into_scratch(self) -> Vec<u8> {
        self.samples
    }

    /// Samples of a row.
    #[inline(always)]
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// Blocks of an MCU across and down.
    pub(super) fn mcu_blocks(&self) -> (usize, usize) {
        (self.mcu_columns / self.edge, self.mcu_rows / self.edge)
    }

    /// Columns that one MCU gives.
    pub(super) fn mcu_columns(&self) -> usize {
        self.mcu_columns
    }

    /// Rows that one row of MCUs gives.
    pub(super) fn mcu_rows(&self) -> usize {
        self.mcu_rows
    }

    /// Where block (`column`, `row`) of the window's first MCU begins, in MCU rows of even and of odd number.
    pub(super) fn origins(&self, column: usize, row: usize) -> [usize; 2] {
        let start = row * self.edge * self.stride + column * self.edge;
        [start, start + self.mcu_rows * self.stride]
    }

    /// All samples from `origin` on.
    #[inline(always)]
    pub(super) fn samples_mut(&mut self, origin: usize) -> &mut [u8] {
        &mut self.samples[origin..]
    }

    /// The samples of plane row `row` in `columns`. The row must belong to one of the two MCU rows decoded last.
    #[inline(always)]
    pub(super) fn row(&self, row: usize, columns: &Range<usize>) -> &[u8] {
        let start = (row % (2 * self.mcu_rows)) * self.stride;
        &self.samples[start + columns.start - self.first_column..start + columns.end - self.first_column]
    }
}
