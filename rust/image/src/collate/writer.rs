//! Writes the rows of an image to its output slot: normalized, in the element type and layout of the slot.
use super::blend::{InterpolatedRow, RowPair, StoreFloats, interpolate_planes};
use super::bytes::{CopyPlanes, NormalizeChannel, NormalizePlanes, NormalizeRow, float_planes};
use super::half::round_row_to_half;
use super::kernels::{ConvertToFloat, InterpolateRows, to_16_bits, to_byte};
use super::slot::{Layout, Slot, SlotValues};
use crate::color::normalize::Normalize;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::view::MAX_CHANNELS;
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;
use std::ops::Range;

/// Normalizes rows of pixels and writes them to an output slot.
pub(crate) struct RowWriter<'a> {
    slot: Slot<'a>,
    normalize: Normalize,
    mean: Vec<f32>,
    factor: Vec<f32>,
    blended: Vec<f32>,
    /// Buffer for one row of each plane; empty if the channels are interleaved.
    plane: Vec<f32>,
}

impl<'a> RowWriter<'a> {
    pub fn new(slot: Slot<'a>, normalize: &Normalize) -> Result<Self, OutOfMemory> {
        let length = slot.size.width * slot.channels;
        let channels: [(f32, f32); MAX_CHANNELS] = std::array::from_fn(|channel| normalize.channel(channel));
        let repeat_channels =
            |part: fn((f32, f32)) -> f32| memory::repeat(&channels.map(part)[..slot.channels], slot.size.width);
        let (mean, factor) = (repeat_channels(|channel| channel.0)?, repeat_channels(|channel| channel.1)?);
        let blended = memory::filled(length, 0.0)?;
        let plane = memory::filled(if slot.layout == Layout::Nchw { length } else { 0 }, 0.0)?;
        Ok(Self { slot, normalize: *normalize, mean, factor, blended, plane })
    }

    /// Writes row `y` from interleaved bytes.
    pub fn write_bytes(&mut self, y: usize, row: &[u8]) {
        if self.is_planar() && self.slot.channels == 3 {
            return self.write_byte_planes(y, row);
        }
        if self.is_planar() {
            let mut floats = std::mem::take(&mut self.blended);
            dispatch::run(ConvertToFloat { source: row, output: &mut floats });
            self.write_planes(y, &floats);
            self.blended = floats;
            return;
        }
        let (length, mean, factor) = (row.len(), &self.mean[..], &self.factor[..]);
        let range = y * length..(y + 1) * length;
        match &mut self.slot.values {
            SlotValues::U8(slot) if self.normalize == Normalize::IDENTITY => slot[range].copy_from_slice(row),
            SlotValues::U8(slot) => {
                dispatch::run(NormalizeRow::<Bytes> { row, mean, factor, output: &mut slot[range] });
            }
            SlotValues::U16(slot) => {
                dispatch::run(NormalizeRow::<Words> { row, mean, factor, output: &mut slot[range] });
            }
            SlotValues::F16(slot) => {
                dispatch::run(NormalizeRow::<Floats> { row, mean, factor, output: &mut self.blended });
                round_row_to_half(&self.blended, &mut slot[range]);
            }
            SlotValues::F32(slot) => {
                dispatch::run(NormalizeRow::<Floats> { row, mean, factor, output: &mut slot[range] });
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
                let output = plane_rows(slot, plane, row_of_plane);
                match self.normalize == Normalize::IDENTITY {
                    true => dispatch::run(CopyPlanes { row, output }),
                    false => dispatch::run(NormalizePlanes::<Bytes> { row, mean, factor, output }),
                }
            }
            SlotValues::U16(slot) => {
                let output = plane_rows(slot, plane, row_of_plane);
                dispatch::run(NormalizePlanes::<Words> { row, mean, factor, output });
            }
            SlotValues::F16(slot) => {
                let output = plane_rows(&mut self.blended, width, 0..width);
                float_planes(row, mean, factor, output);
                let halves = plane_rows(slot, plane, row_of_plane);
                self.blended
                    .chunks_exact(width)
                    .zip(halves)
                    .for_each(|(floats, halves)| round_row_to_half(floats, halves));
            }
            SlotValues::F32(slot) => {
                let output = plane_rows(slot, plane, row_of_plane);
                float_planes(row, mean, factor, output);
            }
        }
    }

    /// Writes row `y` from interleaved floats.
    pub fn write_floats(&mut self, y: usize, row: &[f32]) {
        if self.is_planar() {
            return self.write_planes(y, row);
        }
        self.write_interleaved(y, RowPair { upper: row, lower: row, weight: 0.0 });
    }

    /// Writes row `y` as `upper + (lower - upper) * weight`; both rows are interleaved.
    pub fn write_interpolated(&mut self, y: usize, upper: &[f32], lower: &[f32], weight: f32) {
        if !self.is_planar() {
            return self.write_interleaved(y, RowPair { upper, lower, weight });
        }
        let mut blended = std::mem::take(&mut self.blended);
        if self.slot.channels == 3 {
            self.write_interpolated_planes(y, RowPair { upper, lower, weight }, &mut blended);
            self.blended = blended;
            return;
        }
        dispatch::run(InterpolateRows { upper, lower, weight, output: &mut blended });
        self.write_planes(y, &blended);
        self.blended = blended;
    }

    fn write_interpolated_planes(&mut self, y: usize, pair: RowPair, scratch: &mut [f32]) {
        let Size { width, height } = self.slot.size;
        let (plane, row) = (width * height, y * width..(y + 1) * width);
        let mean = std::array::from_fn(|channel| self.normalize.channel(channel).0);
        let factor = std::array::from_fn(|channel| self.normalize.channel(channel).1);
        if let SlotValues::F32(slot) = &mut self.slot.values {
            return interpolate_planes(pair, mean, factor, plane_rows(slot, plane, row), scratch);
        }
        interpolate_planes(pair, mean, factor, plane_rows(&mut self.plane, width, 0..width), scratch);
        for (channel, floats) in self.plane.chunks_exact(width).enumerate() {
            let start = (channel * height + y) * width;
            match &mut self.slot.values {
                SlotValues::U8(slot) => {
                    dispatch::run(StoreFloats::<Bytes> { row: floats, output: &mut slot[start..][..width] });
                }
                SlotValues::U16(slot) => {
                    dispatch::run(StoreFloats::<Words> { row: floats, output: &mut slot[start..][..width] });
                }
                SlotValues::F16(slot) => round_row_to_half(floats, &mut slot[start..][..width]),
                SlotValues::F32(slot) => slot[start..][..width].copy_from_slice(floats),
            }
        }
    }

    fn is_planar(&self) -> bool {
        self.slot.layout == Layout::Nchw && self.slot.channels > 1
    }

    fn write_interleaved(&mut self, y: usize, pair: RowPair) {
        let length = pair.upper.len();
        let (mean, factor) = (&self.mean, &self.factor);
        match &mut self.slot.values {
            SlotValues::U8(slot) => {
                let output = &mut slot[y * length..][..length];
                dispatch::run(InterpolatedRow::<Bytes> { pair, mean, factor, output });
            }
            SlotValues::U16(slot) => {
                let output = &mut slot[y * length..][..length];
                dispatch::run(InterpolatedRow::<Words> { pair, mean, factor, output });
            }
            SlotValues::F16(slot) => {
                dispatch::run(InterpolatedRow::<Floats> { pair, mean, factor, output: &mut self.blended });
                round_row_to_half(&self.blended, &mut slot[y * length..][..length]);
            }
            SlotValues::F32(slot) => {
                let output = &mut slot[y * length..][..length];
                dispatch::run(InterpolatedRow::<Floats> { pair, mean, factor, output });
            }
        }
    }

    fn write_planes(&mut self, y: usize, row: &[f32]) {
        let normalize = &self.normalize;
        let Size { width, height } = self.slot.size;
        for channel in 0..self.slot.channels {
            let start = (channel * height + y) * width;
            let from = InterleavedChannel { row, channels: self.slot.channels, channel, normalize };
            match &mut self.slot.values {
                SlotValues::U8(slot) => from.write_floats::<Bytes>(&mut slot[start..][..width]),
                SlotValues::U16(slot) => from.write_floats::<Words>(&mut slot[start..][..width]),
                SlotValues::F16(slot) => {
                    let floats = &mut self.plane[..width];
                    from.write_floats::<Floats>(floats);
                    round_row_to_half(floats, &mut slot[start..][..width]);
                }
                SlotValues::F32(slot) => from.write_floats::<Floats>(&mut slot[start..][..width]),
            }
        }
    }
}

/// Splits `values` into three planes of `plane` values each. Returns the range `row` of each plane.
fn plane_rows<T>(values: &mut [T], plane: usize, row: Range<usize>) -> [&mut [T]; 3] {
    let (first, rest) = values.split_at_mut(plane);
    let (second, third) = rest.split_at_mut(plane);
    [&mut first[row.clone()], &mut second[row.clone()], &mut third[row]]
}

/// Writes a whole image of one channel.
pub(super) fn write_single(slot: &mut Slot, row: &[u8], normalize: &Normalize) -> Result<(), OutOfMemory> {
    let (mean, factor) = normalize.channel(0);
    match &mut slot.values {
        SlotValues::U8(output) => dispatch::run(NormalizeChannel::<Bytes> { row, mean, factor, output }),
        SlotValues::U16(output) => dispatch::run(NormalizeChannel::<Words> { row, mean, factor, output }),
        SlotValues::F16(output) => {
            let mut floats = memory::filled(row.len(), 0.0)?;
            dispatch::run(NormalizeChannel::<Floats> { row, mean, factor, output: &mut floats });
            round_row_to_half(&floats, output);
        }
        SlotValues::F32(output) => dispatch::run(NormalizeChannel::<Floats> { row, mean, factor, output }),
    }
    Ok(())
}

/// Conversion of a normalized float to the element type of the output slot.
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
        to_16_bits(value)
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
struct InterleavedChannel<'a> {
    row: &'a [f32],
    channels: usize,
    channel: usize,
    normalize: &'a Normalize,
}

impl InterleavedChannel<'_> {
    fn write_floats<E: Encode>(&self, output: &mut [E::Stored]) {
        match self.channels {
            2 => dispatch::run(WritePlane::<E, 2> { from: self, output }),
            3 => dispatch::run(WritePlane::<E, 3> { from: self, output }),
            _ => dispatch::run(WritePlane::<E, MAX_CHANNELS> { from: self, output }),
        }
    }
}

struct WritePlane<'a, E: Encode, const CHANNELS: usize> {
    from: &'a InterleavedChannel<'a>,
    output: &'a mut [E::Stored],
}

impl<E: Encode, const CHANNELS: usize> Kernel for WritePlane<'_, E, CHANNELS> {
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
