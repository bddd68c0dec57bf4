//! The coefficients of an image whose scans each hold only a part of them.
use crate::fault::Result;
use crate::jpeg::header::frame::Frame;
use crate::jpeg::options::Limits;
use crate::jpeg::samples::Block;
use crate::pixels::Size;

/// Bytes that a block takes: its coefficients and the place of the last.
const BLOCK_BYTES: usize = size_of::<Block>() + 1;

/// The blocks of one component, row by row; none before its first scan.
#[derive(Default)]
pub(in crate::jpeg) struct Grid {
    pub(in crate::jpeg) blocks: Vec<Block>,
    /// For each block, the last place in order of transmission that may hold a coefficient other than zero.
    pub(in crate::jpeg) last: Vec<u8>,
    /// Blocks of a row, whole MCUs.
    pub(in crate::jpeg) columns: usize,
}

impl Grid {
    /// Forgets all blocks but keeps the memory.
    pub(in crate::jpeg) fn clear(&mut self) {
        self.blocks.clear();
        self.last.clear();
    }

    /// Makes room for `size` blocks, all zero.
    pub(in crate::jpeg) fn set_up(&mut self, size: Size) {
        self.columns = size.width;
        self.blocks.resize(size.width * size.height, [0; 64]);
        self.last.resize(size.width * size.height, 0);
    }

    /// Whether a scan has brought blocks.
    pub(in crate::jpeg) fn is_set_up(&self) -> bool {
        !self.blocks.is_empty()
    }
}

/// Blocks of component `index` across and down, those included that only fill up MCUs.
pub(in crate::jpeg) fn padded_blocks(frame: &Frame, index: usize) -> Size {
    let (mcus, component) = (frame.mcus(), frame.components[index]);
    Size { width: mcus.width * component.h, height: mcus.height * component.v }
}

/// Demands that the coefficients of all components stay below the limit.
pub(in crate::jpeg) fn check_memory(frame: &Frame, limits: &Limits) -> Result<()> {
    let sizes = (0..frame.components.len()).map(|index| padded_blocks(frame, index));
    let num_blocks: usize = sizes.map(|size| size.width * size.height).sum();
    Limits::check(limits.max_coefficient_bytes, num_blocks * BLOCK_BYTES, "bytes of coefficients", 0)
}
