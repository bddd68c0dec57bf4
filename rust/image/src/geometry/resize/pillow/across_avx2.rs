//! The pass across for three and four channels with AVX2: four taps at a time, exact in 16-bit multiplications.
//!
//! A weight of 23 bits is split into `high * 2^11 + low`; both parts fit into 16 bits, so pairs of taps are multiplied and
//! added by one instruction each. All sums wrap at 32 bits like those of the portable path.
use super::spans::{PRECISION, Span};
use std::arch::x86_64::*;

/// Taps per group.
const GROUP: usize = 4;
/// Bytes per load.
const LOAD: usize = 16;
/// Bits of the low part of a weight.
const LOW: u32 = 11;

/// A group's weights as vectors of 16-bit numbers: the high parts, then the low parts.
type Vectors = [[i64; 4]; 2];

/// The spans of all columns, ready for loads.
pub(super) struct Columns {
    groups: usize,
    starts: Vec<u32>,
    weights: Vec<Vectors>,
}

impl Columns {
    /// `columns` for pixels of `channels`; spans shorter than the longest end in weights of 0.
    pub fn new(columns: &[Span], channels: usize) -> Self {
        let taps = columns.iter().map(|span| span.weights.len()).max().unwrap_or(0);
        let groups = taps.div_ceil(GROUP);
        let weights = columns.iter().flat_map(|span| {
            let mut weights: Vec<i32> = span.fixed().collect();
            weights.resize(groups * GROUP, 0);
            weights.as_chunks::<GROUP>().0.iter().map(vectors).collect::<Vec<_>>()
        });
        let starts = columns.iter().map(|span| (span.start * channels) as u32).collect();
        Self { groups, starts, weights: weights.collect() }
    }

    /// Bytes that a row needs behind its end.
    pub fn padding(&self, channels: usize) -> usize {
        self.groups * GROUP * channels + LOAD
    }
}

/// The lower half of each vector serves the first two taps, once per channel; the upper half the other two.
fn vectors(weights: &[i32; GROUP]) -> Vectors {
    let part = |part: fn(i32) -> i32| {
        let pair = |tap: usize| {
            let both = i64::from(part(weights[tap]) as u16) | i64::from(part(weights[tap + 1]) as u16) << 16;
            both | both << 32
        };
        [pair(0), pair(0), pair(2), pair(2)]
    };
    [part(|weight| weight >> LOW), part(|weight| weight & ((1 << LOW) - 1))]
}

/// Two padded rows resized across to two output rows.
#[target_feature(enable = "avx2")]
pub(super) fn across<const CHANNELS: usize>(rows: [&[u8]; 2], columns: &Columns, output: [&mut [u8]; 2]) {
    let (starts, weights) = (&columns.starts, &columns.weights);
    // Spans of a known number of groups need no inner loop.
    match columns.groups {
        1 => stretch::<CHANNELS>(rows, starts, weights.as_chunks::<1>().0.iter().map(<[_; 1]>::as_slice), output),
        2 => stretch::<CHANNELS>(rows, starts, weights.as_chunks::<2>().0.iter().map(<[_; 2]>::as_slice), output),
        groups => stretch::<CHANNELS>(rows, starts, weights.chunks_exact(groups), output),
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn stretch<'a, const CHANNELS: usize>(
    rows: [&[u8]; 2],
    starts: &[u32],
    weights: impl Iterator<Item = &'a [Vectors]>,
    output: [&mut [u8]; 2],
) {
    let order = order::<CHANNELS>();
    let half = _mm256_set1_epi32(1 << (PRECISION - 1));
    let [upper, lower] = output.map(|output| output.as_chunks_mut::<CHANNELS>().0);
    for ((upper, lower), (start, weights)) in upper.iter_mut().zip(lower).zip(starts.iter().zip(weights)) {
        let start = *start as usize;
        let first = weigh::<CHANNELS>(&rows[0][start..], weights, order);
        let second = weigh::<CHANNELS>(&rows[1][start..], weights, order);
        let low = _mm256_permute2x128_si256::<0x20>(first, second);
        let high = _mm256_permute2x128_si256::<0x31>(first, second);
        let sum = _mm256_add_epi32(_mm256_add_epi32(low, high), half);
        let words = _mm256_packs_epi32(_mm256_srai_epi32::<{ PRECISION as i32 }>(sum), _mm256_setzero_si256());
        let bytes = _mm256_packus_epi16(words, words);
        let (first, second) = (_mm256_extract_epi32::<0>(bytes), _mm256_extract_epi32::<4>(bytes));
        upper.copy_from_slice(&first.to_le_bytes()[..CHANNELS]);
        lower.copy_from_slice(&second.to_le_bytes()[..CHANNELS]);
    }
}

/// The weighted sums of a pixel's channels: those of the first two taps of each group below, of the others above.
#[target_feature(enable = "avx2")]
#[inline]
fn weigh<const CHANNELS: usize>(row: &[u8], weights: &[Vectors], order: __m256i) -> __m256i {
    let (mut high, mut low) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    let mut place = 0;
    for [high_weights, low_weights] in weights {
        let values = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(load(&row[place..place + LOAD])), order);
        high = _mm256_add_epi32(high, _mm256_madd_epi16(values, vector(high_weights)));
        low = _mm256_add_epi32(low, _mm256_madd_epi16(values, vector(low_weights)));
        place += GROUP * CHANNELS;
    }
    _mm256_add_epi32(_mm256_slli_epi32::<{ LOW as i32 }>(high), low)
}

/// The shuffle that pairs each channel's values of two taps as 16-bit numbers; -1 gives 0.
#[target_feature(enable = "avx2")]
fn order<const CHANNELS: usize>() -> __m256i {
    let bytes: [i8; 32] = std::array::from_fn(|place| {
        let (tap, channel) = (place / 16 * 2 + place / 2 % 2, place % 16 / 4);
        if place % 2 == 0 && channel < CHANNELS { (tap * CHANNELS + channel) as i8 } else { -1 }
    });
    let words: [i64; 4] =
        std::array::from_fn(|word| i64::from_le_bytes(std::array::from_fn(|i| bytes[word * 8 + i] as u8)));
    vector(&words)
}

#[target_feature(enable = "avx2")]
#[inline]
fn vector(words: &[i64; 4]) -> __m256i {
    _mm256_setr_epi64x(words[0], words[1], words[2], words[3])
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[u8]) -> __m128i {
    let (halves, _) = bytes.as_chunks::<8>();
    _mm_set_epi64x(i64::from_le_bytes(halves[1]), i64::from_le_bytes(halves[0]))
}
