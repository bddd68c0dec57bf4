//! The two-tap bilinear kernel: rows across, then between rows, in float32; the fast kernel for training.
//!
//! Every value has the bits of `tf.image.resize(image, size, "bilinear", antialias=False)`: multiply and add are
//! separate roundings on every machine.
use super::taps::{Tap, bilinear};
use crate::collate::kernels::Multiply;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::pixel_type::PixelType;
use crate::geometry::view::View;
use crate::pixels::{Size, Window};
use std::ops::Range;

/// Values that one load and one store take; those beyond the pixel's channels are overwritten by the next pixel's store.
const LANES: usize = 4;
/// Pixels that share one check of the output's bounds.
const GROUP: usize = 4;

/// A part of a resized image: the taps of its columns and lines, which count from the corner of what they need.
pub(crate) struct Part {
    columns: Vec<Tap>,
    lines: Vec<Tap>,
    window: Window,
    needs: Window,
    factor: f32,
}

impl Part {
    /// The `window` of an image of size `from` at size `to`.
    pub fn new(from: Size, to: Size, window: Window) -> Self {
        let (mut columns, mut lines) = (bilinear(from.width, to.width), bilinear(from.height, to.height));
        let across = keep(&mut columns, window.x..window.x + window.width, from.width);
        let down = keep(&mut lines, window.y..window.y + window.height, from.height);
        let needs = Window { x: across.start, y: down.start, width: across.len(), height: down.len() };
        Self { columns, lines, window, needs, factor: 1.0 }
    }

    /// The same of levels that are multiplied first.
    pub fn scaled(self, factor: f32) -> Self {
        Self { factor, ..self }
    }

    /// The part of the source that is read.
    pub fn source_window(&self) -> Window {
        self.needs
    }

    /// The two rows of that part that each row of the output is between.
    pub fn lines(&self) -> impl Iterator<Item = [usize; 2]> {
        self.lines.iter().map(|tap| [tap.first as usize, (tap.first as usize + 1).min(self.needs.height - 1)])
    }
}

/// Keeps the taps of `part`; their places count from the first that is read, and those read of `input` are returned.
fn keep(taps: &mut Vec<Tap>, part: Range<usize>, input: usize) -> Range<usize> {
    taps.truncate(part.end);
    taps.drain(..part.start);
    let start = taps.iter().map(|tap| tap.first).min().unwrap_or(0);
    let last = taps.iter().map(|tap| tap.first).max().unwrap_or(0);
    taps.iter_mut().for_each(|tap| tap.first -= start);
    start as usize..(last as usize + 2).min(input)
}

/// Reads a source image as rows of the output, each in float32, from the top.
pub(crate) struct TwoTap<'a, T> {
    source: View<'a, T>,
    size: Size,
    across: Across,
    lines: Vec<Tap>,
    upper: Line,
    lower: Line,
    wide: Vec<f32>,
}

/// How rows are resized across.
struct Across {
    columns: Vec<Tap>,
    factor: f32,
    /// Whether no pixel beyond a row takes part, nor any factor: rows of floats are then read where they lie.
    direct: bool,
}

/// One source row, resized across.
struct Line {
    y: usize,
    values: Vec<f32>,
}

impl Line {
    /// Reads row `y`, where it lies or brought to `wide`.
    fn read<T: PixelType>(&mut self, y: usize, source: View<T>, across: &Across, wide: &mut [f32]) {
        let row = match T::floats(source.row_to_end(y)) {
            Some(floats) if across.direct && floats.len() >= wide.len() => floats,
            _ => {
                dispatch::run(Multiply { source: source.row(y), factor: across.factor, output: wide });
                wide
            }
        };
        stretch(row, &across.columns, source.channels(), &mut self.values);
        self.y = y;
    }
}

impl<'a, T: PixelType> TwoTap<'a, T> {
    /// A reader of `source` at `size`; `flip` turns left and right.
    pub fn new(source: View<'a, T>, size: Size, flip: bool) -> Self {
        let (lines, columns) = (bilinear(source.size().height, size.height), bilinear(source.size().width, size.width));
        let part =
            Part { columns, lines, window: Window::whole(size), needs: Window::whole(source.size()), factor: 1.0 };
        Self::of_part(source, part, flip)
    }

    /// A reader of what a part needs; `flip` turns left and right.
    pub fn of_part(source: View<'a, T>, part: Part, flip: bool) -> Self {
        let (channels, Part { mut columns, lines, window, factor, .. }) = (source.channels(), part);
        let size = Size { width: window.width, height: window.height };
        let direct = factor == 1.0 && columns.iter().all(|tap| tap.first as usize + 1 < source.size().width);
        columns.iter_mut().for_each(|tap| tap.first *= channels as u32);
        if flip {
            columns.reverse();
        }
        columns.resize(size.width.next_multiple_of(GROUP), Tap { first: 0, weight: 0.0 });
        let line = || Line { y: usize::MAX, values: vec![0.0; columns.len() * channels + LANES] };
        let wide = vec![0.0; source.size().width * channels + channels + LANES];
        Self { source, size, lines, upper: line(), lower: line(), across: Across { columns, factor, direct }, wide }
    }

    /// The two source rows of output row `y`, resized across, and the weight of the second.
    pub fn pair(&mut self, y: usize) -> (&[f32], &[f32], f32) {
        let Tap { first, weight } = self.lines[y];
        let first = first as usize;
        let second = (first + 1).min(self.source.size().height - 1);
        if self.upper.y != first {
            std::mem::swap(&mut self.upper, &mut self.lower);
        }
        if self.upper.y != first {
            self.upper.read(first, self.source, &self.across, &mut self.wide);
        }
        if self.lower.y != second {
            self.lower.read(second, self.source, &self.across, &mut self.wide);
        }
        let length = self.size.width * self.source.channels();
        (&self.upper.values[..length], &self.lower.values[..length], weight)
    }

    /// Appends all rows in float32.
    pub fn append(mut self, output: &mut Vec<f32>) {
        for y in 0..self.size.height {
            let (upper, lower, weight) = self.pair(y);
            dispatch::run(Append { upper, lower, weight, output });
        }
    }
}

/// A row between two rows, behind others.
struct Append<'a> {
    upper: &'a [f32],
    lower: &'a [f32],
    weight: f32,
    output: &'a mut Vec<f32>,
}

impl Kernel for Append<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let rows = self.upper.iter().zip(self.lower);
        self.output.extend(rows.map(|(upper, lower)| upper + (lower - upper) * self.weight));
    }
}

fn stretch(row: &[f32], columns: &[Tap], channels: usize, output: &mut [f32]) {
    match channels {
        1 => dispatch::run(Stretch::<1> { row, columns, output }),
        2 => dispatch::run(Stretch::<2> { row, columns, output }),
        3 => dispatch::run(Stretch::<3> { row, columns, output }),
        _ => dispatch::run(Stretch::<4> { row, columns, output }),
    }
}

/// A row of `CHANNELS` per pixel, resized across. Lanes beyond the channels hold neighbors' values and are overwritten.
struct Stretch<'a, const CHANNELS: usize> {
    row: &'a [f32],
    columns: &'a [Tap],
    output: &'a mut [f32],
}

impl<const CHANNELS: usize> Kernel for Stretch<'_, CHANNELS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (groups, _) = self.columns.as_chunks::<GROUP>();
        let mut place = 0;
        for group in groups {
            let store = &mut self.output[place..][..(GROUP - 1) * CHANNELS + LANES];
            for (index, tap) in group.iter().enumerate() {
                let first = tap.first as usize;
                let pair = &self.row[first..first + LANES + CHANNELS];
                let left: &[f32; LANES] = pair.first_chunk().expect("four values");
                let right: &[f32; LANES] = pair.last_chunk().expect("four values");
                let between: [f32; LANES] =
                    std::array::from_fn(|lane| left[lane] + (right[lane] - left[lane]) * tap.weight);
                store[index * CHANNELS..][..LANES].copy_from_slice(&between);
            }
            place += GROUP * CHANNELS;
        }
    }
}
