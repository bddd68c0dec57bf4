//! Where the two-tap bilinear kernel reads: for every output position a pair of neighbors and the weight of the second.
//!
//! The rule is that of TensorFlow's `ResizeBilinear` with `half_pixel_centers` (kernels/image/resize_bilinear_op.cc):
//! float32 throughout, position `(i + 0.5) * (input / output) - 0.5`, neighbors its floor and ceiling within the image.

use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::pixel_type::PixelType;

/// One output position: the first of two neighboring inputs, and how far towards the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tap {
    /// The first neighbor; the second follows it, or is the same at the end.
    pub first: u32,
    /// 0 gives the first neighbor, 1 the second.
    pub weight: f32,
}

/// The taps of `output` positions over `input` of them. Beyond a border, the border counts alone.
pub(crate) fn bilinear(input: usize, output: usize) -> Vec<Tap> {
    let scale = input as f32 / output as f32;
    let last = (input - 1) as u32;
    let place = |index: usize| {
        let position = (index as f32 + 0.5) * scale - 0.5;
        let first = position.floor().max(0.0) as u32;
        if position < 0.0 || first >= last {
            return Tap { first: first.min(last), weight: 0.0 };
        }
        Tap { first, weight: position - position.floor() }
    };
    (0..output).map(place).collect()
}

/// The two inputs around a place among them, and how far towards the second it lies.
pub(crate) struct Neighbors {
    pub first: usize,
    pub second: usize,
    pub weight: f32,
}

impl Neighbors {
    /// Around a place that is not below 0.
    pub fn around(place: f32) -> Self {
        Self { first: place.floor() as usize, second: place.ceil() as usize, weight: place - place.floor() }
    }
}

/// Pixels between neighbors of a row of any number of channels, all that `output` then holds.
pub(crate) fn between<T: PixelType>(row: &[T], taps: &[Neighbors], channels: usize, output: &mut Vec<f32>) {
    match channels {
        1 => dispatch::run(Between { row, taps, channels: Known::<1>, output }),
        2 => dispatch::run(Between { row, taps, channels: Known::<2>, output }),
        3 => dispatch::run(Between { row, taps, channels: Known::<3>, output }),
        4 => dispatch::run(Between { row, taps, channels: Known::<4>, output }),
        _ => dispatch::run(Between { row, taps, channels, output }),
    }
}

/// A number of channels, known early where they are few: their loop is then none.
trait Channels: Copy {
    fn get(self) -> usize;
}

#[derive(Clone, Copy)]
struct Known<const CHANNELS: usize>;

impl<const CHANNELS: usize> Channels for Known<CHANNELS> {
    #[inline(always)]
    fn get(self) -> usize {
        CHANNELS
    }
}

impl Channels for usize {
    #[inline(always)]
    fn get(self) -> usize {
        self
    }
}

struct Between<'a, T, C> {
    row: &'a [T],
    taps: &'a [Neighbors],
    channels: C,
    output: &'a mut Vec<f32>,
}

impl<T: PixelType, C: Channels> Kernel for Between<'_, T, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let channels = self.channels.get();
        self.output.resize(self.taps.len() * channels, 0.0);
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
