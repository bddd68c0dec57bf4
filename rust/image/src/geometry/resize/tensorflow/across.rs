//! Sums across a row: every output pixel is a weighted sum of input pixels, added in their order.
use crate::collate::lanes::Widen;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::level::Level;

/// Values that one load and one store take; those beyond the pixel's channels are overwritten by the next pixel's.
const LANES: usize = 4;

/// The inputs of one output, and their weights.
pub(super) struct Span {
    pub places: Vec<u32>,
    pub weights: Vec<f32>,
}

/// Rows of one width, summed across.
pub(super) struct Rows {
    taps: Taps,
    count: usize,
    channels: usize,
    first: f32,
    wide: Vec<f32>,
    sums: Vec<f32>,
}

impl Rows {
    /// Sums that begin with `first`, over rows of `width` pixels; places beyond are the last pixel's.
    pub fn new(mut spans: Vec<Span>, width: usize, channels: usize, first: f32) -> Self {
        let (count, none, last) = (spans.len(), width * channels, width as u32 - 1);
        let places = spans.iter_mut().flat_map(|span| &mut span.places);
        places.for_each(|place| *place = (*place).min(last) * channels as u32);
        let taps = Taps::new(spans, none as u32);
        let (wide, sums) = (vec![0.0; none + 2 * LANES], vec![0.0; count * channels + LANES]);
        Self { taps, count, channels, first, wide, sums }
    }

    /// The sums of the last row.
    pub fn sums(&self) -> &[f32] {
        &self.sums[..self.count * self.channels]
    }

    /// The sums of `row`.
    pub fn sum<T: Level>(&mut self, row: &[T]) -> &[f32] {
        dispatch::run(Widen { source: row, output: &mut self.wide });
        let Self { taps, first, wide, sums, .. } = self;
        match self.channels {
            1 => taps.sum::<1>(wide, *first, sums),
            2 => taps.sum::<2>(wide, *first, sums),
            3 => taps.sum::<3>(wide, *first, sums),
            _ => taps.sum::<4>(wide, *first, sums),
        }
        self.sums()
    }
}

/// Spans by the most inputs that one has: a number that is known makes loops without branches.
enum Taps {
    Two(Vec<Fixed<2>>),
    Four(Vec<Fixed<4>>),
    Six(Vec<Fixed<6>>),
    Eight(Vec<Fixed<8>>),
    Any(Vec<Span>),
}

impl Taps {
    /// Of spans whose places are those of values; zeros lie at `none`.
    fn new(spans: Vec<Span>, none: u32) -> Self {
        match spans.iter().map(|span| span.weights.len()).max().unwrap_or(0) {
            0..=2 => Self::Two(spans.iter().map(|span| Fixed::new(span, none)).collect()),
            3..=4 => Self::Four(spans.iter().map(|span| Fixed::new(span, none)).collect()),
            5..=6 => Self::Six(spans.iter().map(|span| Fixed::new(span, none)).collect()),
            7..=8 => Self::Eight(spans.iter().map(|span| Fixed::new(span, none)).collect()),
            _ => Self::Any(spans),
        }
    }

    fn sum<const CHANNELS: usize>(&self, row: &[f32], first: f32, sums: &mut [f32]) {
        match self {
            Self::Two(taps) => dispatch::run(Few::<CHANNELS, 2> { row, taps, first, sums }),
            Self::Four(taps) => dispatch::run(Few::<CHANNELS, 4> { row, taps, first, sums }),
            Self::Six(taps) => dispatch::run(Few::<CHANNELS, 6> { row, taps, first, sums }),
            Self::Eight(taps) => dispatch::run(Few::<CHANNELS, 8> { row, taps, first, sums }),
            Self::Any(taps) => dispatch::run(Many::<CHANNELS> { row, taps, first, sums }),
        }
    }
}

/// As many inputs for each output; those that it lacks are zeros with the weight -0.0, which change no sum.
struct Fixed<const COUNT: usize> {
    places: [u32; COUNT],
    weights: [f32; COUNT],
}

impl<const COUNT: usize> Fixed<COUNT> {
    fn new(span: &Span, none: u32) -> Self {
        Self {
            places: std::array::from_fn(|tap| span.places.get(tap).copied().unwrap_or(none)),
            weights: std::array::from_fn(|tap| span.weights.get(tap).copied().unwrap_or(-0.0)),
        }
    }
}

struct Few<'a, const CHANNELS: usize, const COUNT: usize> {
    row: &'a [f32],
    taps: &'a [Fixed<COUNT>],
    first: f32,
    sums: &'a mut [f32],
}

impl<const CHANNELS: usize, const COUNT: usize> Kernel for Few<'_, CHANNELS, COUNT> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (place, taps) in self.taps.iter().enumerate() {
            let mut sum = [self.first; LANES];
            for (place, weight) in taps.places.iter().zip(taps.weights) {
                sum = added(sum, self.row, *place, weight);
            }
            self.sums[place * CHANNELS..][..LANES].copy_from_slice(&sum);
        }
    }
}

struct Many<'a, const CHANNELS: usize> {
    row: &'a [f32],
    taps: &'a [Span],
    first: f32,
    sums: &'a mut [f32],
}

impl<const CHANNELS: usize> Kernel for Many<'_, CHANNELS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (place, span) in self.taps.iter().enumerate() {
            let mut sum = [self.first; LANES];
            for (place, weight) in span.places.iter().zip(&span.weights) {
                sum = added(sum, self.row, *place, *weight);
            }
            self.sums[place * CHANNELS..][..LANES].copy_from_slice(&sum);
        }
    }
}

#[inline(always)]
fn added(sum: [f32; LANES], row: &[f32], place: u32, weight: f32) -> [f32; LANES] {
    let place = place as usize;
    let pixel = &row[place..place + LANES];
    std::array::from_fn(|lane| sum[lane] + pixel[lane] * weight)
}

/// Adds a row, times a weight, to sums.
pub(super) struct Add<'a, T> {
    pub row: &'a [T],
    pub weight: f32,
    pub sums: &'a mut [f32],
}

impl<T: Level> Kernel for Add<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.sums.iter_mut().zip(self.row).for_each(|(sum, value)| *sum += self.weight * (*value).into());
    }
}
