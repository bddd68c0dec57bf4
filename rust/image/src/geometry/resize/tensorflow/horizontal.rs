//! Horizontal pass: every output pixel is a weighted sum of input pixels, added in input order.
use crate::collate::kernels::ConvertToFloat;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::pixel_type::PixelType;
use crate::memory::{self, OutOfMemory};
use std::collections::BTreeMap;

/// Number of values per load. Lanes beyond the channels of a pixel are computed but not used.
const LANES: usize = 4;

/// The input positions of one output position, and their weights.
pub(super) struct Span {
    pub indices: Vec<u32>,
    pub weights: Vec<f32>,
}

/// Computes the horizontal pass for rows of one width.
pub(super) struct HorizontalPass {
    columns: ColumnGroups,
    channels: usize,
    first: f32,
    wide: Vec<f32>,
    sums: Vec<f32>,
}

impl HorizontalPass {
    /// Prepares the pass for rows of `width` pixels; every sum starts at `first`. Input positions past the end are
    /// clamped to the last pixel.
    pub fn new(mut spans: Vec<Span>, width: usize, channels: usize, first: f32) -> Result<Self, OutOfMemory> {
        let (channels_each, last) = (channels as u32, width as u32 - 1);
        let indices = spans.iter_mut().flat_map(|span| &mut span.indices);
        indices.for_each(|index| *index = (*index).min(last) * channels_each);
        let wide = memory::filled(width * channels + LANES, 0.0)?;
        let sums = memory::filled(spans.len() * channels + LANES, 0.0)?;
        Ok(Self { columns: ColumnGroups::new(spans, channels_each)?, channels, first, wide, sums })
    }

    /// Returns the sums that the last call of `sum_row` computed.
    pub fn sums_of_last_row(&self) -> &[f32] {
        &self.sums[..self.sums.len() - LANES]
    }

    /// Computes and returns the sums over `row`, one for each value of the output row.
    pub fn sum_row<T: PixelType>(&mut self, row: &[T]) -> &[f32] {
        dispatch::run(ConvertToFloat { source: row, output: &mut self.wide });
        let Self { columns, first, wide, sums, .. } = self;
        match self.channels {
            1 => columns.sum_row::<1>(wide, *first, sums),
            2 => columns.sum_row::<2>(wide, *first, sums),
            3 => columns.sum_row::<3>(wide, *first, sums),
            _ => columns.sum_row::<4>(wide, *first, sums),
        }
        self.sums_of_last_row()
    }
}

/// The outputs, grouped by their number of inputs; the largest group comes first.
struct ColumnGroups(Vec<ColumnGroup>);

/// A group of outputs. All groups except `Any` hold outputs with the same number of consecutive inputs, so that their
/// loops have a constant length.
enum ColumnGroup {
    Two(Vec<Consecutive<2>>),
    Three(Vec<Consecutive<3>>),
    Four(Vec<Consecutive<4>>),
    Five(Vec<Consecutive<5>>),
    Six(Vec<Consecutive<6>>),
    Any(Vec<(usize, Span)>),
}

impl ColumnGroups {
    /// Groups `spans`. Their indices count values, not pixels.
    fn new(spans: Vec<Span>, channels: u32) -> Result<Self, OutOfMemory> {
        let mut by_count: BTreeMap<usize, Vec<(usize, Span)>> = BTreeMap::new();
        for (index, span) in spans.into_iter().enumerate() {
            let is_consecutive = span.indices.windows(2).all(|pair| pair[0] + channels == pair[1]);
            let group = by_count.entry(if is_consecutive { span.weights.len() } else { 0 }).or_default();
            memory::push(group, (index, span))?;
        }
        let mut by_count = memory::collect(by_count.into_iter())?;
        by_count.sort_by_key(|(_, spans)| std::cmp::Reverse(spans.len()));
        Ok(Self(memory::try_collect(by_count.into_iter().map(|(count, spans)| ColumnGroup::new(count, spans)))?))
    }

    fn sum_row<const CHANNELS: usize>(&self, row: &[f32], first: f32, sums: &mut [f32]) {
        let input = SumInput { row, first };
        let mut groups = self.0.iter();
        groups.next().into_iter().for_each(|group| group.sum_row::<CHANNELS, true>(input, sums));
        groups.for_each(|group| group.sum_row::<CHANNELS, false>(input, sums));
    }
}

impl ColumnGroup {
    fn new(count: usize, spans: Vec<(usize, Span)>) -> Result<Self, OutOfMemory> {
        Ok(match count {
            2 => Self::Two(consecutive(spans)?),
            3 => Self::Three(consecutive(spans)?),
            4 => Self::Four(consecutive(spans)?),
            5 => Self::Five(consecutive(spans)?),
            6 => Self::Six(consecutive(spans)?),
            _ => Self::Any(spans),
        })
    }

    /// Computes the sums of the group. If `SPILLS` is set, storing a pixel may overwrite the pixel after it, so that
    /// pixel must be computed later.
    fn sum_row<const CHANNELS: usize, const SPILLS: bool>(&self, input: SumInput, sums: &mut [f32]) {
        match self {
            Self::Two(columns) => dispatch::run(ConsecutiveSums::<CHANNELS, 2, SPILLS> { input, columns, sums }),
            Self::Three(columns) => dispatch::run(ConsecutiveSums::<CHANNELS, 3, SPILLS> { input, columns, sums }),
            Self::Four(columns) => dispatch::run(ConsecutiveSums::<CHANNELS, 4, SPILLS> { input, columns, sums }),
            Self::Five(columns) => dispatch::run(ConsecutiveSums::<CHANNELS, 5, SPILLS> { input, columns, sums }),
            Self::Six(columns) => dispatch::run(ConsecutiveSums::<CHANNELS, 6, SPILLS> { input, columns, sums }),
            Self::Any(columns) => dispatch::run(IrregularSums::<CHANNELS, SPILLS> { input, columns, sums }),
        }
    }
}

/// An output pixel whose inputs are consecutive pixels. `start` is the index of the first value of the first input.
struct Consecutive<const COUNT: usize> {
    index: u32,
    start: u32,
    weights: [f32; COUNT],
}

fn consecutive<const COUNT: usize>(spans: Vec<(usize, Span)>) -> Result<Vec<Consecutive<COUNT>>, OutOfMemory> {
    let one = |(index, span): (usize, Span)| Consecutive {
        index: index as u32,
        start: span.indices[0],
        weights: std::array::from_fn(|tap| span.weights[tap]),
    };
    memory::collect(spans.into_iter().map(one))
}

/// A source row, and the initial value of the sums over its pixels.
#[derive(Clone, Copy)]
struct SumInput<'a> {
    row: &'a [f32],
    first: f32,
}

struct ConsecutiveSums<'a, const CHANNELS: usize, const COUNT: usize, const SPILLS: bool> {
    input: SumInput<'a>,
    columns: &'a [Consecutive<COUNT>],
    sums: &'a mut [f32],
}

impl<const CHANNELS: usize, const COUNT: usize, const SPILLS: bool> Kernel
    for ConsecutiveSums<'_, CHANNELS, COUNT, SPILLS>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for Consecutive { index, start, weights } in self.columns {
            let start = *start as usize;
            let pixels = &self.input.row[start..start + (COUNT - 1) * CHANNELS + LANES];
            let mut sum = [self.input.first; LANES];
            for (tap, weight) in weights.iter().enumerate() {
                sum = add_weighted(sum, pixels, tap * CHANNELS, *weight);
            }
            store_sum::<CHANNELS, SPILLS>(sum, *index as usize, self.sums);
        }
    }
}

struct IrregularSums<'a, const CHANNELS: usize, const SPILLS: bool> {
    input: SumInput<'a>,
    columns: &'a [(usize, Span)],
    sums: &'a mut [f32],
}

impl<const CHANNELS: usize, const SPILLS: bool> Kernel for IrregularSums<'_, CHANNELS, SPILLS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (index, span) in self.columns {
            let mut sum = [self.input.first; LANES];
            for (start, weight) in span.indices.iter().zip(&span.weights) {
                sum = add_weighted(sum, self.input.row, *start as usize, *weight);
            }
            store_sum::<CHANNELS, SPILLS>(sum, *index, self.sums);
        }
    }
}

#[inline(always)]
fn store_sum<const CHANNELS: usize, const SPILLS: bool>(sum: [f32; LANES], index: usize, sums: &mut [f32]) {
    let pixel = &mut sums[index * CHANNELS..][..LANES];
    // Storing all lanes is faster than storing only the channels.
    match SPILLS {
        true => pixel.copy_from_slice(&sum),
        false => pixel[..CHANNELS].copy_from_slice(&sum[..CHANNELS]),
    }
}

#[inline(always)]
fn add_weighted(sum: [f32; LANES], row: &[f32], index: usize, weight: f32) -> [f32; LANES] {
    let pixel = &row[index..index + LANES];
    std::array::from_fn(|lane| sum[lane] + pixel[lane] * weight)
}

/// Multiplies a row by a weight and adds the products to `sums`.
pub(super) struct AddScaledRow<'a, T> {
    pub row: &'a [T],
    pub weight: f32,
    pub sums: &'a mut [f32],
}

impl<T: PixelType> Kernel for AddScaledRow<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.sums.iter_mut().zip(self.row).for_each(|(sum, value)| *sum += self.weight * (*value).into());
    }
}
