//! Taps of the two-tap bilinear kernel: for every output position, two neighboring input positions and the weight of
//! the second.
//!
//! The rule is that of TensorFlow's `ResizeBilinear` with `half_pixel_centers` (kernels/image/resize_bilinear_op.cc).
//! The source position of output `i` is `(i + 0.5) * (input / output) - 0.5`, computed in float32. Its neighbors are
//! its floor and its ceiling, clamped to the image.

use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::pixel_type::PixelType;
use crate::memory::{self, OutOfMemory};

/// The taps of one output position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tap {
    /// Index of the first neighbor. The second neighbor is the next pixel, or the same pixel at the end of the axis.
    pub first: u32,
    /// Weight of the second neighbor.
    pub weight: f32,
}

/// Returns the taps of `output` positions on an axis of `input` pixels. For a position outside the image, only the
/// border pixel has weight.
pub(crate) fn bilinear_taps(input: usize, output: usize) -> Result<Vec<Tap>, OutOfMemory> {
    let scale = input as f32 / output as f32;
    let last = (input - 1) as u32;
    let tap = |index: usize| {
        let position = (index as f32 + 0.5) * scale - 0.5;
        let first = position.floor().max(0.0) as u32;
        if position < 0.0 || first >= last {
            return Tap { first: first.min(last), weight: 0.0 };
        }
        Tap { first, weight: position - position.floor() }
    };
    memory::collect((0..output).map(tap))
}

/// The two neighbors of a source position, and the weight of the second.
pub(crate) struct Neighbors {
    pub first: usize,
    pub second: usize,
    pub weight: f32,
}

impl Neighbors {
    /// Returns the neighbors of a position, which must not be negative.
    pub fn around(position: f32) -> Self {
        Self { first: position.floor() as usize, second: position.ceil() as usize, weight: position - position.floor() }
    }
}

/// Interpolates a row with any number of channels into `output`, which has the length of the result.
pub(crate) fn interpolate_row<T: PixelType>(row: &[T], taps: &[Neighbors], channels: usize, output: &mut [f32]) {
    match channels {
        1 => dispatch::run(InterpolateRow { row, taps, channels: ConstChannels::<1>, output }),
        2 => dispatch::run(InterpolateRow { row, taps, channels: ConstChannels::<2>, output }),
        3 => dispatch::run(InterpolateRow { row, taps, channels: ConstChannels::<3>, output }),
        4 => dispatch::run(InterpolateRow { row, taps, channels: ConstChannels::<4>, output }),
        _ => dispatch::run(InterpolateRow { row, taps, channels, output }),
    }
}

/// Number of channels: a constant for common values, so that the loop over channels is unrolled.
trait ChannelCount: Copy {
    fn count(self) -> usize;
}

#[derive(Clone, Copy)]
struct ConstChannels<const CHANNELS: usize>;

impl<const CHANNELS: usize> ChannelCount for ConstChannels<CHANNELS> {
    #[inline(always)]
    fn count(self) -> usize {
        CHANNELS
    }
}

impl ChannelCount for usize {
    #[inline(always)]
    fn count(self) -> usize {
        self
    }
}

struct InterpolateRow<'a, T, C> {
    row: &'a [T],
    taps: &'a [Neighbors],
    channels: C,
    output: &'a mut [f32],
}

impl<T: PixelType, C: ChannelCount> Kernel for InterpolateRow<'_, T, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let channels = self.channels.count();
        for (tap, pixel) in self.taps.iter().zip(self.output.chunks_exact_mut(channels)) {
            let left = &self.row[tap.first * channels..][..channels];
            let right = &self.row[tap.second * channels..][..channels];
            for ((to, left), right) in pixel.iter_mut().zip(left).zip(right) {
                let (left, right): (f32, f32) = ((*left).into(), (*right).into());
                *to = left + (right - left) * tap.weight;
            }
        }
    }
}
