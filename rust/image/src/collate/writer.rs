//! Writes the rows of an image into its slot: normalized, in the slot's element type and layout.
use super::blend::{Pair, Row, Stored, planes_between};
use super::bytes::{Interleaved, Part, Planes, Single, float_planes};
use super::half::narrow;
use super::kernels::{Blend, Widen, to_byte, to_word};
use super::slot::{Layout, Slot, SlotValues};
use crate::color::normalize::Normalize;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::view::MAX_CHANNELS;
use crate::pixels::Size;
use std::ops::Range;

/// The end of every fused form.
pub(crate) struct RowWriter<'a> {
    slot: Slot<'a>,
    normalize: Normalize,
    mean: Vec<f32>,
    factor: Vec<f32>,
    blended: Vec<f32>,
    plane: Vec<f32>,
}

impl<'a> RowWriter<'a> {
    pub fn new(slot: Slot<'a>, normalize: &Normalize) -> Self {
        let length = slot.size.width * slot.channels;
        let channels: Vec<(f32, f32)> = (0..slot.channels).map(|channel| normalize.channel(channel)).collect();
        let spread = |part: fn(&(f32, f32)) -> f32| {
            let mut values = Vec::with_capacity(length);
            (0..slot.size.width).for_each(|_| values.extend(channels.iter().map(part)));
            values
        };
        let (mean, factor) = (spread(|channel| channel.0), spread(|channel| channel.1));
        Self { slot, normalize: *normalize, mean, factor, blended: vec![0.0; length], plane: Vec::new() }
    }

    /// Writes row `y`, given interleaved in bytes.
    pub fn write_bytes(&mut self, y: usize, row: &[u8]) {
        if self.is_planar() && self.slot.channels == 3 {
            return self.write_byte_planes(y, row);
        }
        if self.is_planar() {
            let mut floats = std::mem::take(&mut self.blended);
            dispatch::run(Widen { source: row, output: &mut floats });
            self.write_planes(y, &floats);
            self.blended = floats;
            return;
        }
        let (length, mean, factor) = (row.len(), &self.mean[..], &self.factor[..]);
        let place = y * length..(y + 1) * length;
        match &mut self.slot.values {
            SlotValues::U8(slot) if self.normalize == Normalize::IDENTITY => slot[place].copy_from_slice(row),
            SlotValues::U8(slot) => {
                dispatch::run(Interleaved::<Bytes> { row, mean, factor, output: &mut slot[place] });
            }
            SlotValues::U16(slot) => {
                dispatch::run(Interleaved::<Words> { row, mean, factor, output: &mut slot[place] });
            }
            SlotValues::F16(slot) => {
                dispatch::run(Interleaved::<Floats> { row, mean, factor, output: &mut self.blended });
                narrow(&self.blended, &mut slot[place]);
            }
            SlotValues::F32(slot) => {
                dispatch::run(Interleaved::<Floats> { row, mean, factor, output: &mut slot[place] });
            }
        }
    }

    fn write_byte_planes(&mut self, y: usize, row: &[u8]) {
        let Size { width, height } = self.slot.size;
        let (plane, row_of_plane) = (width * height, y * width..(y + 1) * width);
        let mean = std::array::from_fn(|channel| self.normalize.channel(channel).0);
        let factor = std::array::from_fn(|channel| self.normalize.channel(channel).1);
        match &mut self.slot.values {
            SlotValues::U8(slot) => {
                let output = three(slot, plane, row_of_plane);
                match self.normalize == Normalize::IDENTITY {
                    true => dispatch::run(Part { row, output }),
                    false => dispatch::run(Planes::<Bytes> { row, mean, factor, output }),
                }
            }
            SlotValues::U16(slot) => {
                let output = three(slot, plane, row_of_plane);
                dispatch::run(Planes::<Words> { row, mean, factor, output });
            }
            SlotValues::F16(slot) => {
                let output = three(&mut self.blended, width, 0..width);
                float_planes(row, mean, factor, output);
                let halves = three(slot, plane, row_of_plane);
                self.blended.chunks_exact(width).zip(halves).for_each(|(floats, halves)| narrow(floats, halves));
            }
            SlotValues::F32(slot) => {
                let output = three(slot, plane, row_of_plane);
                float_planes(row, mean, factor, output);
            }
        }
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
        if self.slot.channels == 3 {
            self.write_planes_between(y, Pair { upper, lower, weight }, &mut blended);
            self.blended = blended;
            return;
        }
        dispatch::run(Blend { upper, lower, weight, output: &mut blended });
        self.write_planes(y, &blended);
        self.blended = blended;
    }

    fn write_planes_between(&mut self, y: usize, pair: Pair, spare: &mut [f32]) {
        let Size { width, height } = self.slot.size;
        let (plane, row) = (width * height, y * width..(y + 1) * width);
        let mean = std::array::from_fn(|channel| self.normalize.channel(channel).0);
        let factor = std::array::from_fn(|channel| self.normalize.channel(channel).1);
        if let SlotValues::F32(slot) = &mut self.slot.values {
            return planes_between(pair, mean, factor, three(slot, plane, row), spare);
        }
        self.plane.resize(3 * width, 0.0);
        planes_between(pair, mean, factor, three(&mut self.plane, width, 0..width), spare);
        for (channel, floats) in self.plane.chunks_exact(width).enumerate() {
            let place = (channel * height + y) * width;
            match &mut self.slot.values {
                SlotValues::U8(slot) => {
                    dispatch::run(Stored::<Bytes> { row: floats, output: &mut slot[place..][..width] });
                }
                SlotValues::U16(slot) => {
                    dispatch::run(Stored::<Words> { row: floats, output: &mut slot[place..][..width] });
                }
                SlotValues::F16(slot) => narrow(floats, &mut slot[place..][..width]),
                SlotValues::F32(slot) => slot[place..][..width].copy_from_slice(floats),
            }
        }
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
        let normalize = &self.normalize;
        let Size { width, height } = self.slot.size;
        for channel in 0..self.slot.channels {
            let place = (channel * height + y) * width;
            let from = Channel { row, channels: self.slot.channels, channel, normalize };
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

/// The same row of three planes of `plane` values.
fn three<T>(values: &mut [T], plane: usize, row: Range<usize>) -> [&mut [T]; 3] {
    let (first, rest) = values.split_at_mut(plane);
    let (second, third) = rest.split_at_mut(plane);
    [&mut first[row.clone()], &mut second[row.clone()], &mut third[row]]
}

/// Writes a whole image of one channel.
pub(super) fn write_single(slot: &mut Slot, row: &[u8], normalize: &Normalize) {
    let (mean, factor) = normalize.channel(0);
    match &mut slot.values {
        SlotValues::U8(output) => dispatch::run(Single::<Bytes> { row, mean, factor, output }),
        SlotValues::U16(output) => dispatch::run(Single::<Words> { row, mean, factor, output }),
        SlotValues::F16(output) => {
            let mut floats = vec![0.0; row.len()];
            dispatch::run(Single::<Floats> { row, mean, factor, output: &mut floats });
            narrow(&floats, output);
        }
        SlotValues::F32(output) => dispatch::run(Single::<Floats> { row, mean, factor, output }),
    }
}

/// How a float is stored.
pub(super) trait Encode {
    type Stored;
    fn encode(value: f32) -> Self::Stored;
}

struct Bytes;
struct Words;
pub(super) struct Floats;

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

/// One channel of an interleaved row.
struct Channel<'a> {
    row: &'a [f32],
    channels: usize,
    channel: usize,
    normalize: &'a Normalize,
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
        let (mean, factor) = self.from.normalize.channel(channel);
        let (pixels, _) = self.from.row.as_chunks::<CHANNELS>();
        for (to, pixel) in self.output.iter_mut().zip(pixels) {
            *to = E::encode((pixel[channel] - mean) * factor);
        }
    }
}
