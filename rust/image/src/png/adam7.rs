//! The passes in which rows are stored: one, or the seven of Adam7 (PNG specification, section 8).
use super::header::Header;
use crate::pixels::Size;

/// Pixels of one pass: where the first lies, how far apart they are, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pass {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) step_x: usize,
    pub(super) step_y: usize,
    pub(super) size: Size,
}

const ADAM7: [(usize, usize, usize, usize); 7] =
    [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)];

/// The passes of an image that have pixels, in the order of the file.
pub(super) fn passes(header: &Header) -> impl Iterator<Item = Pass> {
    let table: &[_] = if header.interlaced { &ADAM7 } else { &[(0, 0, 1, 1)] };
    let whole = header.size;
    let pass = move |&(x, y, step_x, step_y): &(usize, usize, usize, usize)| {
        let width = whole.width.saturating_sub(x).div_ceil(step_x);
        let height = whole.height.saturating_sub(y).div_ceil(step_y);
        Pass { x, y, step_x, step_y, size: Size { width, height } }
    };
    table.iter().map(pass).filter(|pass| pass.size.width > 0 && pass.size.height > 0)
}

/// Bytes of a stored row of `width` pixels, without its filter byte.
pub(super) fn row_bytes(header: &Header, width: usize) -> u64 {
    (width as u64 * header.pixel_bits() as u64).div_ceil(8)
}

/// Bytes of all rows with their filter bytes: what the compressed data must inflate to.
pub(super) fn inflated_bytes(header: &Header) -> u64 {
    let bytes = |pass: Pass| (row_bytes(header, pass.size.width) + 1).saturating_mul(pass.size.height as u64);
    passes(header).map(bytes).fold(0, u64::saturating_add)
}
