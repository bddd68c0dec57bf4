//! Undoes the row filters (PNG specification, section 9), with vector instructions where the processor has them.

mod portable;
#[cfg(target_arch = "x86_64")]
mod sse;

use crate::fault::{ImageFault, ImageFaultKind, Result};

/// Filter type of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    None,
    Sub,
    Up,
    Average,
    Paeth,
}

impl Filter {
    /// Parses the filter byte of a row; `row` and `offset` are used in the error.
    pub(super) fn from_code(code: u8, row: usize, offset: usize) -> Result<Self> {
        Ok(match code {
            0 => Self::None,
            1 => Self::Sub,
            2 => Self::Up,
            3 => Self::Average,
            4 => Self::Paeth,
            _ => {
                let found = format!("{code} in row {row}");
                return Err(ImageFault::new(ImageFaultKind::BadCode, offset, "filter type 0 to 4", found));
            }
        })
    }
}

/// The implementation that undoes filters, chosen once for this processor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unfilter {
    kernels: Kernels,
}

/// Private, so that no other module can select instructions that `detect` did not find on this processor.
#[derive(Debug, Clone, Copy)]
enum Kernels {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Sse,
}

impl Unfilter {
    /// Returns the fastest implementation for this processor.
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("sse4.1") {
            return Self { kernels: Kernels::Sse };
        }
        Self { kernels: Kernels::Portable }
    }

    /// Undoes the filter of the first row in `rows`, or of several rows with the same filter at once. Returns the
    /// number of rows.
    ///
    /// Each row is `length` bytes long including its filter byte. `filter` is the filter of the first row. `above` is
    /// the preceding row, without its filter byte and with its filter undone, or `None` for the first row of a pass.
    pub(super) fn undo_filter(
        self,
        filter: Filter,
        pixel_bytes: usize,
        length: usize,
        rows: &mut [u8],
        above: Option<&[u8]>,
    ) -> usize {
        match pixel_bytes {
            1 => self.undo_filter_sized::<1>(filter, length, rows, above),
            2 => self.undo_filter_sized::<2>(filter, length, rows, above),
            3 => self.undo_filter_sized::<3>(filter, length, rows, above),
            4 => self.undo_filter_sized::<4>(filter, length, rows, above),
            6 => self.undo_filter_sized::<6>(filter, length, rows, above),
            _ => self.undo_filter_sized::<8>(filter, length, rows, above),
        }
    }

    fn undo_filter_sized<const N: usize>(
        self,
        filter: Filter,
        length: usize,
        rows: &mut [u8],
        above: Option<&[u8]>,
    ) -> usize {
        if let (Filter::Paeth, Some(above)) = (filter, above) {
            return self.undo_paeth_rows::<N>(length, rows, above);
        }
        // The first row has no row above, which counts as zeros. The Paeth predictor is then the pixel to the left.
        if let Filter::Sub | Filter::Paeth = filter {
            return self.sub_rows::<N>(length, rows);
        }
        let row = &mut rows[1..length];
        match (filter, above) {
            (Filter::None | Filter::Sub | Filter::Paeth, _) | (Filter::Up, None) => {}
            (Filter::Up, Some(above)) => portable::up(row, above),
            (Filter::Average, None) => portable::average_first::<N>(row),
            (Filter::Average, Some(above)) => self.average::<N>(row, above),
        }
        1
    }

    /// Undoes one, two or four consecutive Paeth rows, as many as fit into a vector.
    fn undo_paeth_rows<const N: usize>(self, length: usize, rows: &mut [u8], above: &[u8]) -> usize {
        let run = rows.chunks_exact(length).take(4).take_while(|row| row[0] == Filter::Paeth as u8).count();
        match run {
            4 if N <= 2 => self.paeth_rows::<N, 4>(length, rows, above),
            2.. if N <= 4 => self.paeth_rows::<N, 2>(length, rows, above),
            _ => self.paeth_rows::<N, 1>(length, rows, above),
        }
    }

    /// Undoes the Sub filter of a row and of the Sub rows that follow it.
    fn sub_rows<const N: usize>(self, length: usize, rows: &mut [u8]) -> usize {
        match self.kernels {
            Kernels::Portable => {
                portable::sub::<N>(&mut rows[1..length]);
                1
            }
            #[cfg(target_arch = "x86_64")]
            Kernels::Sse => {
                // SAFETY: only `detect` creates `Kernels::Sse`, after it found SSE4.1, the only feature that the
                // function needs.
                #[allow(unsafe_code)]
                unsafe {
                    sse::sub_rows::<N>(length, rows)
                }
            }
        }
    }

    fn average<const N: usize>(self, row: &mut [u8], above: &[u8]) {
        match self.kernels {
            Kernels::Portable => portable::average::<N>(row, above),
            #[cfg(target_arch = "x86_64")]
            Kernels::Sse => {
                // SAFETY: only `detect` creates `Kernels::Sse`, after it found SSE4.1, the only feature that the
                // function needs.
                #[allow(unsafe_code)]
                unsafe {
                    sse::average::<N>(row, above)
                }
            }
        }
    }

    /// Undoes the Paeth filter of `K` consecutive rows.
    fn paeth_rows<const N: usize, const K: usize>(self, length: usize, rows: &mut [u8], above: &[u8]) -> usize {
        let mut each = rows.chunks_exact_mut(length).map(|row| &mut row[1..]);
        let mut rows: [&mut [u8]; K] = std::array::from_fn(|_| each.next().unwrap_or_default());
        match self.kernels {
            Kernels::Portable => portable::paeth_rows::<N>(&mut rows, above),
            #[cfg(target_arch = "x86_64")]
            Kernels::Sse => {
                // SAFETY: only `detect` creates `Kernels::Sse`, after it found SSE4.1, the only feature that the
                // function needs.
                #[allow(unsafe_code)]
                unsafe {
                    sse::paeth_rows::<N, K>(&mut rows, above)
                }
            }
        }
        K
    }
}

#[cfg(test)]
mod tests;
