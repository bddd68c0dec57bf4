//! Writes the rows of an image into its slot: normalised, in the slot's element type and layout.
use super::half::narrow;
use super::lanes::{Blend, to_byte, to_word};
use super::slot::{Layout, Slot, SlotValues};
use crate::colour::normalise::Normalise;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::view::MAX_CHANNELS;
use crate::pixels::Size;

/// The end of every fused form.
pub(crate) struct RowWriter<'a> {
    slot: Slot<'a>,
    normalise: Normalise,
    mean: Vec<f32>,
    factor: Vec<f32>,
    blended: Vec<f32>,
    plane: Vec<f32>,
}

impl<'a> RowWriter<'a> {
    pub fn new(slot: Slot<'a>, normalise: &Normalise) -> Self {
        let length = slot.size.width * slot.channels;
        let channel = |place: usize| normalise.channel(place % slot.channels);
        let mean = (0..length).map(|place| channel(place).0).collect();
        let factor = (0..length).map(|place| channel(place).1).collect();
        Self { slot, normalise: *normalise, mean, factor, blended: vec![0.0; length], plane: Vec::new() }
    }

    /// Writes row `y`, given interleaved.
    pub fn write(&mut self, y: usize, row: &[f32]) {
        if self.is_planar() {
            return self.write_planes(y, row);
        }
        self.write_interleaved(y, Pair { upper: row, lower: row, weight: 0.0 });
    }

    /// Writes row `y`: `upper + (lower - upper) * weight`, both interleaved.
    pub fn write_between(&mut self, y: usize, upper: &[f32], lower: &[f32], weight: f32) {
        if !self.is_planar() {
            return self.write_interleaved(y, Pair { upper, lower, weight });
        }
        let mut blended = std::mem::take(&mut self.blended);
        dispatch::run(Blend { upper, lower, weight, output: &mut blended });
        self.write_planes(y, &blended);
        self.blended = blended;
    }

    fn is_planar(&self) -> bool {
        self.slot.layout == Layout::Nchw && self.slot.channels > 1
    }

    fn write_interleaved(&mut self, y: usize, pair: Pair) {
        let length = pair.upper.len();
        let (mean, factor) = (&self.mean, &self.factor);
        match &mut self.slot.values {
            SlotValues::U8(slot) => {
                let output = &mut slot[y * length..][..length];
                dispatch::run(Row::<Bytes> { pair, mean, factor, output });
            }
            SlotValues::U16(slot) => {
                let output = &mut slot[y * length..][..length];
                dispatch::run(Row::<Words> { pair, mean, factor, output });
            }
            SlotValues::F16(slot) => {
                dispatch::run(Row::<Floats> { pair, mean, factor, output: &mut self.blended });
                narrow(&self.blended, &mut slot[y * length..][..length]);
            }
            SlotValues::F32(slot) => {
                let output = &mut slot[y * length..][..length];
                dispatch::run(Row::<Floats> { pair, mean, factor, output });
            }
        }
    }

    fn write_planes(&mut self, y: usize, row: &[f32]) {
        let normalise = &self.normalise;
        let Size { width, height } = self.slot.size;
        for channel in 0..self.slot.channels {
            let place = (channel * height + y) * width;
            let from = Channel { row, channels: self.slot.channels, channel, normalise };
            match &mut self.slot.values {
                SlotValues::U8(slot) => from.write::<Bytes>(&mut slot[place..][..width]),
                SlotValues::U16(slot) => from.write::<Words>(&mut slot[place..][..width]),
                SlotValues::F16(slot) => {
                    self.plane.resize(width, 0.0);
                    from.write::<Floats>(&mut self.plane);
                    narrow(&self.plane, &mut slot[place..][..width]);
                }
                SlotValues::F32(slot) => from.write::<Floats>(&mut slot[place..][..width]),
            }
        }
    }
}

/// How a float is stored.
trait Encode {
    type Stored;
    fn encode(value: f32) -> Self::Stored;
}

struct Bytes;
struct Words;
struct Floats;

impl Encode for Bytes {
    type Stored = u8;
    #[inline(always)]
    fn encode(value: f32) -> u8 {
        to_byte(value)
    }
}

impl Encode for Words {
    type Stored = u16;
    #[inline(always)]
    fn encode(value: f32) -> u16 {
        to_word(value)
    }
}

impl Encode for Floats {
    type Stored = f32;
    #[inline(always)]
    fn encode(value: f32) -> f32 {
        value
    }
}

/// Two rows and how far the wanted one lies between them.
#[derive(Clone, Copy)]
struct Pair<'a> {
    upper: &'a [f32],
    lower: &'a [f32],
    weight: f32,
}

/// An interleaved row on its way to memory; mean and factor repeat along it.
struct Row<'a, E: Encode> {
    pair: Pair<'a>,
    mean: &'a [f32],
    factor: &'a [f32],
    output: &'a mut [E::Stored],
}

impl<E: Encode> Kernel for Row<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Pair { upper, lower, weight } = self.pair;
        let rows = upper.iter().zip(lower).zip(self.mean).zip(self.factor);
        for (to, (((upper, lower), mean), factor)) in self.output.iter_mut().zip(rows) {
            *to = E::encode((upper + (lower - upper) * weight - mean) * factor);
        }
    }
}

/// One channel of an interleaved row.
struct Channel<'a> {
    row: &'a [f32],
    channels: usize,
    channel: usize,
    normalise: &'a Normalise,
}

impl Channel<'_> {
    fn write<E: Encode>(&self, output: &mut [E::Stored]) {
        match self.channels {
            2 => dispatch::run(Plane::<E, 2> { from: self, output }),
            3 => dispatch::run(Plane::<E, 3> { from: self, output }),
            _ => dispatch::run(Plane::<E, MAX_CHANNELS> { from: self, output }),
        }
    }
}

struct Plane<'a, E: Encode, const CHANNELS: usize> {
    from: &'a Channel<'a>,
    output: &'a mut [E::Stored],
}

impl<E: Encode, const CHANNELS: usize> Kernel for Plane<'_, E, CHANNELS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let channel = self.from.channel % CHANNELS;
        let (mean, factor) = self.from.normalise.channel(channel);
        let (pixels, _) = self.from.row.as_chunks::<CHANNELS>();
        for (to, pixel) in self.output.iter_mut().zip(pixels) {
            *to = E::encode((pixel[channel] - mean) * factor);
        }
    }
}
