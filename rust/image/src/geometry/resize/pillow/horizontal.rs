//! The horizontal pass for 8-bit images, four rows at a time, with the implementation selected for this machine.
use super::implementation::Implementation;
use super::passes::shift_to_byte;
use super::spans::{PRECISION, Spans};
use super::weight_groups::{ColumnWeights, GROUP_LEN};
#[cfg(target_arch = "x86_64")]
use super::{avx2, vnni};
use crate::geometry::dispatch::{self, Kernel};
use crate::memory::{self, OutOfMemory};

/// Number of rows that are resized at a time.
pub(super) const ROWS: usize = 4;
/// Number of values that the portable code computes per pixel. Lanes beyond the channels of the pixel are not used.
const LANES: usize = 4;

/// The horizontal pass with its prepared weights, for pixels with a fixed number of channels.
pub(super) struct HorizontalPass {
    channels: usize,
    implementation: Implementation,
    columns: ColumnWeights,
    padded: [Vec<u8>; ROWS],
    wide: Vec<i32>,
}

impl HorizontalPass {
    /// Prepares the weights of `columns` for pixels with `channels` channels.
    pub fn new(columns: &Spans<i32>, channels: usize) -> Result<Self, OutOfMemory> {
        let implementation = Implementation::select(columns);
        let columns = ColumnWeights::new(columns, channels, implementation.weight_splitter())?;
        let mut padded = <[Vec<u8>; ROWS]>::default();
        padded.iter_mut().try_for_each(|row| memory::reserve(row, columns.reach))?;
        let wide = match implementation {
            Implementation::Portable => memory::filled(columns.reach, 0)?,
            #[cfg(target_arch = "x86_64")]
            Implementation::Avx2 | Implementation::Vnni => Vec::new(),
        };
        Ok(Self { channels, implementation, columns, padded, wide })
    }

    /// Returns the required length of an output row, including padding whose values are unspecified.
    pub fn padded_len(&self) -> usize {
        self.columns.starts.len() * self.channels + ColumnWeights::LOAD
    }

    /// Resizes four rows horizontally. The source rows may have arbitrary values after their last pixel.
    pub fn resize_rows(&mut self, rows: [&[u8]; ROWS], output: [&mut [u8]; ROWS]) {
        match self.channels {
            1 => self.resize_rows_of::<1>(rows, output),
            2 => self.resize_rows_of::<2>(rows, output),
            3 => self.resize_rows_of::<3>(rows, output),
            _ => self.resize_rows_of::<4>(rows, output),
        }
    }

    fn resize_rows_of<'a, const CHANNELS: usize>(&'a mut self, mut rows: [&'a [u8]; ROWS], output: [&mut [u8]; ROWS]) {
        let Self { implementation, columns, padded, wide, .. } = self;
        for (row, padded) in rows.iter_mut().zip(padded) {
            if row.len() < columns.reach {
                // `padded` has capacity for `reach` bytes, so these calls do not allocate.
                padded.clear();
                padded.extend_from_slice(row);
                padded.resize(columns.reach, 0);
                *row = padded;
            }
        }
        match implementation {
            Implementation::Portable => {
                for (row, output) in rows.into_iter().zip(output) {
                    dispatch::run(PortablePass::<CHANNELS> { row, wide, columns, output });
                }
            }
            // SAFETY: the function needs only AVX2, and this implementation is selected only if `has_avx2` found it.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            Implementation::Avx2 => unsafe { avx2::resize_horizontally::<CHANNELS>(rows, columns, output) },
            // SAFETY: the function needs only what `has_vnni` checks, and this implementation is selected only if that
            // succeeded.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            Implementation::Vnni => unsafe { vnni::resize_horizontally::<CHANNELS>(rows, columns, output) },
        }
    }
}

struct PortablePass<'a, const CHANNELS: usize> {
    row: &'a [u8],
    wide: &'a mut [i32],
    columns: &'a ColumnWeights,
    output: &'a mut [u8],
}

impl<const CHANNELS: usize> Kernel for PortablePass<'_, CHANNELS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ColumnWeights { groups, starts, weights, .. } = self.columns;
        self.wide.iter_mut().zip(self.row).for_each(|(to, from)| *to = i32::from(*from));
        let (pixels, _) = self.output.as_chunks_mut::<CHANNELS>();
        for ((pixel, start), weights) in pixels.iter_mut().zip(starts).zip(weights.chunks_exact(*groups)) {
            let from = &self.wide[*start as usize..];
            let mut sum = [1 << (PRECISION - 1); LANES];
            for (tap, weight) in weights.as_flattened().iter().enumerate() {
                let values: &[i32; LANES] = from[tap * CHANNELS..].first_chunk().expect("the row is padded");
                sum = std::array::from_fn(|lane| values[lane].wrapping_mul(*weight).wrapping_add(sum[lane]));
            }
            let bytes = sum.map(shift_to_byte);
            *pixel = std::array::from_fn(|channel| bytes[channel]);
        }
    }
}

const _: () = assert!(ColumnWeights::LOAD >= GROUP_LEN * LANES, "a load must contain the values of the last tap");
