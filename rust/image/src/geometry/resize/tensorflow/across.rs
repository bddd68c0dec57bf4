//! Sums across a row: every output pixel is a weighted sum of input pixels, added in their order.
use crate::collate::kernels::Widen;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::pixel_type::PixelType;
use std::collections::BTreeMap;

/// Values that one load takes; those beyond the pixel's channels are summed for nothing.
const LANES: usize = 4;

/// The inputs of one output, and their weights.
pub(super) struct Span {
    pub places: Vec<u32>,
    pub weights: Vec<f32>,
}

/// Rows of one width, summed across.
pub(super) struct Rows {
    columns: Columns,
    channels: usize,
    first: f32,
    wide: Vec<f32>,
    sums: Vec<f32>,
}

impl Rows {
    /// Sums that begin with `first`, over rows of `width` pixels; places beyond are the last pixel's.
    pub fn new(mut spans: Vec<Span>, width: usize, channels: usize, first: f32) -> Self {
        let (channels_each, last) = (channels as u32, width as u32 - 1);
        let places = spans.iter_mut().flat_map(|span| &mut span.places);
        places.for_each(|place| *place = (*place).min(last) * channels_each);
        let (wide, sums) = (vec![0.0; width * channels + LANES], vec![0.0; spans.len() * channels + LANES]);
        Self { columns: Columns::new(spans, channels_each), channels, first, wide, sums }
    }

    /// The sums of the last row.
    pub fn sums(&self) -> &[f32] {
        &self.sums[..self.sums.len() - LANES]
    }

    /// The sums of `row`.
    pub fn sum<T: PixelType>(&mut self, row: &[T]) -> &[f32] {
        dispatch::run(Widen { source: row, output: &mut self.wide });
        let Self { columns, first, wide, sums, .. } = self;
        match self.channels {
            1 => columns.sum::<1>(wide, *first, sums),
            2 => columns.sum::<2>(wide, *first, sums),
            3 => columns.sum::<3>(wide, *first, sums),
            _ => columns.sum::<4>(wide, *first, sums),
        }
        self.sums()
    }
}

/// Outputs by the number of their inputs, most of them first.
struct Columns(Vec<Group>);

/// Outputs of as many inputs that lie side by side, for which loops have no branches; or any.
enum Group {
    Two(Vec<Near<2>>),
    Three(Vec<Near<3>>),
    Four(Vec<Near<4>>),
    Five(Vec<Near<5>>),
    Six(Vec<Near<6>>),
    Any(Vec<(usize, Span)>),
}

impl Columns {
    /// Of spans whose places are those of values.
    fn new(spans: Vec<Span>, channels: u32) -> Self {
        let mut counted: BTreeMap<usize, Vec<(usize, Span)>> = BTreeMap::new();
        for (place, span) in spans.into_iter().enumerate() {
            let is_near = span.places.windows(2).all(|pair| pair[0] + channels == pair[1]);
            counted.entry(if is_near { span.weights.len() } else { 0 }).or_default().push((place, span));
        }
        let mut counted: Vec<(usize, Vec<(usize, Span)>)> = counted.into_iter().collect();
        counted.sort_by_key(|(_, spans)| std::cmp::Reverse(spans.len()));
        Self(counted.into_iter().map(|(count, spans)| Group::new(count, spans)).collect())
    }

    fn sum<const CHANNELS: usize>(&self, row: &[f32], first: f32, sums: &mut [f32]) {
        let way = Way { row, first };
        let mut groups = self.0.iter();
        groups.next().into_iter().for_each(|group| group.sum::<CHANNELS, true>(way, sums));
        groups.for_each(|group| group.sum::<CHANNELS, false>(way, sums));
    }
}

impl Group {
    fn new(count: usize, spans: Vec<(usize, Span)>) -> Self {
        match count {
            2 => Self::Two(near(spans)),
            3 => Self::Three(near(spans)),
            4 => Self::Four(near(spans)),
            5 => Self::Five(near(spans)),
            6 => Self::Six(near(spans)),
            _ => Self::Any(spans),
        }
    }

    /// Sums; stores may spill into the next pixel where all that is there comes later.
    fn sum<const CHANNELS: usize, const SPILLS: bool>(&self, way: Way, sums: &mut [f32]) {
        match self {
            Self::Two(columns) => dispatch::run(Few::<CHANNELS, 2, SPILLS> { way, columns, sums }),
            Self::Three(columns) => dispatch::run(Few::<CHANNELS, 3, SPILLS> { way, columns, sums }),
            Self::Four(columns) => dispatch::run(Few::<CHANNELS, 4, SPILLS> { way, columns, sums }),
            Self::Five(columns) => dispatch::run(Few::<CHANNELS, 5, SPILLS> { way, columns, sums }),
            Self::Six(columns) => dispatch::run(Few::<CHANNELS, 6, SPILLS> { way, columns, sums }),
            Self::Any(columns) => dispatch::run(Many::<CHANNELS, SPILLS> { way, columns, sums }),
        }
    }
}

/// An output of neighboring inputs from `start` on.
struct Near<const COUNT: usize> {
    place: u32,
    start: u32,
    weights: [f32; COUNT],
}

fn near<const COUNT: usize>(spans: Vec<(usize, Span)>) -> Vec<Near<COUNT>> {
    let one = |(place, span): (usize, Span)| Near {
        place: place as u32,
        start: span.places[0],
        weights: std::array::from_fn(|tap| span.weights[tap]),
    };
    spans.into_iter().map(one).collect()
}

/// How sums are made.
#[derive(Clone, Copy)]
struct Way<'a> {
    row: &'a [f32],
    first: f32,
}

struct Few<'a, const CHANNELS: usize, const COUNT: usize, const SPILLS: bool> {
    way: Way<'a>,
    columns: &'a [Near<COUNT>],
    sums: &'a mut [f32],
}

impl<const CHANNELS: usize, const COUNT: usize, const SPILLS: bool> Kernel for Few<'_, CHANNELS, COUNT, SPILLS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for Near { place, start, weights } in self.columns {
            let start = *start as usize;
            let pixels = &self.way.row[start..start + (COUNT - 1) * CHANNELS + LANES];
            let mut sum = [self.way.first; LANES];
            for (tap, weight) in weights.iter().enumerate() {
                sum = added(sum, pixels, tap * CHANNELS, *weight);
            }
            store::<CHANNELS, SPILLS>(sum, *place as usize, self.sums);
        }
    }
}

struct Many<'a, const CHANNELS: usize, const SPILLS: bool> {
    way: Way<'a>,
    columns: &'a [(usize, Span)],
    sums: &'a mut [f32],
}

impl<const CHANNELS: usize, const SPILLS: bool> Kernel for Many<'_, CHANNELS, SPILLS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (place, span) in self.columns {
            let mut sum = [self.way.first; LANES];
            for (start, weight) in span.places.iter().zip(&span.weights) {
                sum = added(sum, self.way.row, *start as usize, *weight);
            }
            store::<CHANNELS, SPILLS>(sum, *place, self.sums);
        }
    }
}

#[inline(always)]
fn store<const CHANNELS: usize, const SPILLS: bool>(sum: [f32; LANES], place: usize, sums: &mut [f32]) {
    let pixel = &mut sums[place * CHANNELS..][..LANES];
    // One store of all lanes takes less than two.
    match SPILLS {
        true => pixel.copy_from_slice(&sum),
        false => pixel[..CHANNELS].copy_from_slice(&sum[..CHANNELS]),
    }
}

#[inline(always)]
fn added(sum: [f32; LANES], row: &[f32], place: usize, weight: f32) -> [f32; LANES] {
    let pixel = &row[place..place + LANES];
    std::array::from_fn(|lane| sum[lane] + pixel[lane] * weight)
}

/// Adds a row, times a weight, to sums.
pub(super) struct Add<'a, T> {
    pub row: &'a [T],
    pub weight: f32,
    pub sums: &'a mut [f32],
}

impl<T: PixelType> Kernel for Add<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.sums.iter_mut().zip(self.row).for_each(|(sum, value)| *sum += self.weight * (*value).into());
    }
}
