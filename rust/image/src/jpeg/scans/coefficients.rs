//! Storage for the coefficients of images with several scans, and their transformation to pixels.
use super::smoothing::BlockSmoothing;
use crate::fault::Result;
use crate::jpeg::header::frame::Frame;
use crate::jpeg::options::Limits;
use crate::jpeg::output::{OutputBuffer, OutputWindow};
use crate::jpeg::samples::{Block, Job, Kernel, Transform};
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;

/// Memory of one block in bytes: 64 coefficients, and the zig-zag index of the last one that may be nonzero.
const BLOCK_BYTES: usize = size_of::<Block>() + 1;

/// The coefficient blocks of one component in row-major order; empty before its first scan.
#[derive(Default)]
pub(in crate::jpeg) struct Grid {
    pub(in crate::jpeg) blocks: Vec<Block>,
    /// For each block, the largest zig-zag index at which it may have a nonzero coefficient.
    pub(in crate::jpeg) last: Vec<u8>,
    /// Number of blocks in a row, padded to whole MCUs.
    pub(in crate::jpeg) columns: usize,
}

impl Grid {
    /// Removes all blocks but keeps the memory.
    pub(in crate::jpeg) fn clear(&mut self) {
        self.blocks.clear();
        self.last.clear();
    }

    /// Resizes to `size` blocks; new blocks are zero.
    pub(in crate::jpeg) fn allocate(&mut self, size: Size) -> Result<(), OutOfMemory> {
        self.columns = size.width;
        memory::resize(&mut self.blocks, size.width * size.height, [0; 64])?;
        memory::resize(&mut self.last, size.width * size.height, 0)
    }

    /// Returns whether a scan has stored blocks.
    pub(in crate::jpeg) fn is_allocated(&self) -> bool {
        !self.blocks.is_empty()
    }
}

/// Returns the number of blocks of component `index` across and down, including the padding to whole MCUs.
pub(in crate::jpeg) fn padded_blocks(frame: &Frame, index: usize) -> Size {
    let (mcus, component) = (frame.mcus(), frame.components[index]);
    Size { width: mcus.width * component.h, height: mcus.height * component.v }
}

/// Checks that the coefficients of all components stay within the memory limit.
pub(in crate::jpeg) fn check_memory(frame: &Frame, limits: &Limits) -> Result<()> {
    let sizes = (0..frame.components.len()).map(|index| padded_blocks(frame, index));
    let num_blocks: usize = sizes.map(|size| size.width * size.height).sum();
    Limits::check_limit(limits.max_coefficient_bytes, num_blocks * BLOCK_BYTES, "bytes of coefficients", 0)
}

/// The job that transforms the stored blocks that the output needs, and writes the pixels.
pub(in crate::jpeg) struct Render<'j, 't> {
    pub(in crate::jpeg) grids: &'j [Grid],
    pub(in crate::jpeg) smoothing: Option<&'j BlockSmoothing>,
    pub(in crate::jpeg) transforms: &'j [Transform],
    pub(in crate::jpeg) output: &'j mut OutputWindow,
    pub(in crate::jpeg) buffer: &'j mut OutputBuffer<'t>,
}

impl Job for Render<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Self { grids, smoothing, transforms, output, buffer } = self;
        for mcu_row in output.mcu_rows.clone() {
            for (index, grid) in grids.iter().enumerate().take(output.planes.len()) {
                render_row(kernel, (grid, smoothing), &transforms[index], output, index, mcu_row);
            }
            output.finish_rows(kernel, mcu_row, buffer);
        }
    }
}

/// Transforms the blocks of one component in MCU row `mcu_row`. A component without any scan becomes mid-gray.
#[inline(always)]
fn render_row<K: Kernel>(
    kernel: K,
    (grid, smoothing): (&Grid, Option<&BlockSmoothing>),
    transform: &Transform,
    output: &mut OutputWindow,
    index: usize,
    mcu_row: usize,
) {
    let mcu_columns = output.mcu_columns.clone();
    let plane = &mut output.planes[index];
    let ((h, v), stride) = (plane.mcu_blocks(), plane.stride());
    for row in 0..v {
        for column in 0..mcu_columns.len() * h {
            let origin = plane.origins(column, row)[mcu_row % 2];
            let (grid_row, grid_column) = (mcu_row * v + row, mcu_columns.start * h + column);
            let (samples, at) = (plane.samples_mut(origin), grid_row * grid.columns + grid_column);
            match smoothing {
                Some(smoothing) => {
                    let block = smoothing.block(grid, index, (grid_column, grid_row));
                    transform.apply(kernel, &block, 63, samples, stride);
                }
                None if grid.is_allocated() => {
                    transform.apply(kernel, &grid.blocks[at], grid.last[at].into(), samples, stride)
                }
                None => transform.apply(kernel, &[0; 64], 0, samples, stride),
            }
        }
    }
}
