//! Undoing the row filters (PNG specification, section 9), by vectors where the processor has them.

mod portable;
#[cfg(target_arch = "x86_64")]
mod sse;

use crate::fault::{ImageFault, ImageFaultKind, Result};

/// How a row was filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    None,
    Sub,
    Up,
    Average,
    Paeth,
}

impl Filter {
    /// The filter that a row's first byte names; `row` and `offset` tell where.
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

/// The code that undoes filters, chosen once for the processor at hand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unfilter {
    kernels: Kernels,
}

/// Private, so that no other module can claim instructions that `detect` did not find.
#[derive(Debug, Clone, Copy)]
enum Kernels {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Sse,
}

impl Unfilter {
    /// The fastest code for this processor.
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("sse4.1") {
            return Self { kernels: Kernels::Sse };
        }
        Self { kernels: Kernels::Portable }
    }

    /// Undoes the filter of `row`; `above` is the row before it, undone, or nothing for the first row of a pass.
    pub(super) fn undo(self, filter: Filter, pixel_bytes: usize, row: &mut [u8], above: Option<&[u8]>) {
        match pixel_bytes {
            1 => self.undo_sized::<1>(filter, row, above),
            2 => self.undo_sized::<2>(filter, row, above),
            3 => self.undo_sized::<3>(filter, row, above),
            4 => self.undo_sized::<4>(filter, row, above),
            6 => self.undo_sized::<6>(filter, row, above),
            _ => self.undo_sized::<8>(filter, row, above),
        }
    }

    fn undo_sized<const N: usize>(self, filter: Filter, row: &mut [u8], above: Option<&[u8]>) {
        match (filter, above) {
            (Filter::None, _) | (Filter::Up, None) => {}
            // With zeros above, the Paeth predictor is the pixel to the left.
            (Filter::Sub, _) | (Filter::Paeth, None) => self.sub::<N>(row),
            (Filter::Up, Some(above)) => portable::up(row, above),
            (Filter::Average, None) => portable::average_first::<N>(row),
            (Filter::Average, Some(above)) => self.average::<N>(row, above),
            (Filter::Paeth, Some(above)) => self.paeth::<N>(row, above),
        }
    }

    fn sub<const N: usize>(self, row: &mut [u8]) {
        match self.kernels {
            Kernels::Portable => portable::sub::<N>(row),
            #[cfg(target_arch = "x86_64")]
            Kernels::Sse => {
                // SAFETY: only `detect` makes `Kernels::Sse`, after it found SSE4.1, which is all that the function needs.
                #[allow(unsafe_code)]
                unsafe {
                    sse::sub::<N>(row)
                }
            }
        }
    }

    fn average<const N: usize>(self, row: &mut [u8], above: &[u8]) {
        match self.kernels {
            Kernels::Portable => portable::average::<N>(row, above),
            #[cfg(target_arch = "x86_64")]
            Kernels::Sse => {
                // SAFETY: only `detect` makes `Kernels::Sse`, after it found SSE4.1, which is all that the function needs.
                #[allow(unsafe_code)]
                unsafe {
                    sse::average::<N>(row, above)
                }
            }
        }
    }

    fn paeth<const N: usize>(self, row: &mut [u8], above: &[u8]) {
        match self.kernels {
            Kernels::Portable => portable::paeth::<N>(row, above),
            #[cfg(target_arch = "x86_64")]
            Kernels::Sse => {
                // SAFETY: only `detect` makes `Kernels::Sse`, after it found SSE4.1, which is all that the function needs.
                #[allow(unsafe_code)]
                unsafe {
                    sse::paeth::<N>(row, above)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
