//! The two passes in vectors of 32 bytes and groups of four taps, written once and compiled for AVX2 and for VNNI.
use super::weight_groups::ColumnWeights;
pub(super) use super::weight_groups::GROUP_LEN;
use std::arch::x86_64::*;

/// Number of rows that the horizontal pass processes at a time.
pub(super) const ROWS: usize = 4;
/// Number of values that the vertical pass processes at a time.
pub(super) const BLOCK: usize = 32;

/// Defines the two passes, compiled for `$features`. The module that calls this macro must define `Sums`, `zero_sums`,
/// `add_taps`, `combine_sums` and `sum_single_group`.
macro_rules! passes {
    ($features:literal) => {
        /// Resizes rows of at least `columns.reach` values horizontally. Each output must have room for all pixels,
        /// with their number rounded up to a multiple of `STEP`, and for `LOAD` more values.
        #[target_feature(enable = $features)]
        pub(super) fn resize_horizontally<const CHANNELS: usize>(
            rows: [&[u8]; ROWS],
            columns: &ColumnWeights,
            output: [&mut [u8]; ROWS],
        ) {
            // A constant number of groups lets the compiler unroll the inner loop.
            match columns.groups {
                1 => resize_rows::<CHANNELS, 1>(rows, columns, output),
                2 => resize_rows::<CHANNELS, 2>(rows, columns, output),
                _ => resize_rows::<CHANNELS, 0>(rows, columns, output),
            }
        }

        #[target_feature(enable = $features)]
        fn resize_rows<const CHANNELS: usize, const GROUPS: usize>(
            [a, b, c, d]: [&[u8]; ROWS],
            columns: &ColumnWeights,
            mut output: [&mut [u8]; ROWS],
        ) {
            let groups = if GROUPS == 0 { columns.groups } else { GROUPS };
            let reach = columns.reach;
            let rows = [&a[..reach], &b[..reach], &c[..reach], &d[..reach]];
            let (tap_shuffle, compact_shuffle) = (wide::tap_shuffle::<CHANNELS>(), wide::compact_shuffle::<CHANNELS>());
            let (steps, _) = columns.starts.as_chunks::<{ ColumnWeights::STEP }>();
            let weights = columns.weights.chunks_exact(ColumnWeights::STEP * groups);
            for (step, (starts, weights)) in steps.iter().zip(weights).enumerate() {
                let [a, b, c, d] = starts.map(|start| start as usize);
                let (left, right) = weights.split_at(2 * groups);
                let a = weighted_sum::<CHANNELS, GROUPS>(rows, a, &left[..groups], tap_shuffle);
                let b = weighted_sum::<CHANNELS, GROUPS>(rows, b, &left[groups..], tap_shuffle);
                let c = weighted_sum::<CHANNELS, GROUPS>(rows, c, &right[..groups], tap_shuffle);
                let d = weighted_sum::<CHANNELS, GROUPS>(rows, d, &right[groups..], tap_shuffle);
                let pixels = [_mm256_packus_epi16(a, b), _mm256_packus_epi16(c, d)];
                wide::store_pixels::<CHANNELS>(pixels, compact_shuffle, step, &mut output);
            }
        }

        /// Computes one output pixel of each row in 16-bit lanes: the first and third row in the lower half, the others
        /// in the upper half.
        #[target_feature(enable = $features)]
        #[inline]
        fn weighted_sum<const CHANNELS: usize, const GROUPS: usize>(
            rows: [&[u8]; ROWS],
            first: usize,
            weights: &[WeightGroup],
            tap_shuffle: __m256i,
        ) -> __m256i {
            if GROUPS == 1 {
                let weights = &weights[0];
                let upper = sum_single_group(wide::load_taps([rows[0], rows[1]], first, tap_shuffle), weights);
                return _mm256_packs_epi32(
                    upper,
                    sum_single_group(wide::load_taps([rows[2], rows[3]], first, tap_shuffle), weights),
                );
            }
            let (mut upper, mut lower, mut index) = (zero_sums(), zero_sums(), first);
            for weights in weights {
                upper = add_taps(upper, wide::load_taps([rows[0], rows[1]], index, tap_shuffle), weights);
                lower = add_taps(lower, wide::load_taps([rows[2], rows[3]], index, tap_shuffle), weights);
                index += wide::GROUP_LEN * CHANNELS;
            }
            _mm256_packs_epi32(combine_sums(upper), combine_sums(lower))
        }

        /// Computes the weighted sum of `rows` in whole blocks of `BLOCK` values. Returns the number of values
        /// computed.
        #[target_feature(enable = $features)]
        pub(super) fn resize_vertically(rows: &[&[u8]], weights: &[WeightGroup], output: &mut [u8]) -> usize {
            let (blocks, _) = output.as_chunks_mut::<{ wide::BLOCK }>();
            let done = blocks.len() * wide::BLOCK;
            for (index, block) in blocks.iter_mut().enumerate() {
                let [a, b, c, d] = sum_block(rows, weights, index);
                let words = [_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d)];
                *block = bytemuck::cast(_mm256_packus_epi16(words[0], words[1]));
            }
            done
        }

        /// Computes the weighted sums of block `index`, in the order of `wide::load_columns`.
        #[target_feature(enable = $features)]
        #[inline]
        fn sum_block(rows: &[&[u8]], weights: &[WeightGroup], index: usize) -> [__m256i; 4] {
            if let ([_] | [_, _] | [_, _, _] | [_, _, _, _], [weights, ..]) = (rows, weights) {
                let [a, b, c, d] = wide::load_columns(rows, index);
                return [
                    sum_single_group(a, weights),
                    sum_single_group(b, weights),
                    sum_single_group(c, weights),
                    sum_single_group(d, weights),
                ];
            }
            let mut sums = [zero_sums(); 4];
            for (rows, weights) in rows.chunks(wide::GROUP_LEN).zip(weights) {
                let [a, b, c, d] = wide::load_columns(rows, index);
                sums = [
                    add_taps(sums[0], a, weights),
                    add_taps(sums[1], b, weights),
                    add_taps(sums[2], c, weights),
                    add_taps(sums[3], d, weights),
                ];
            }
            let [a, b, c, d] = sums;
            [combine_sums(a), combine_sums(b), combine_sums(c), combine_sums(d)]
        }
    };
}

pub(super) use passes;

/// Loads four taps of a pixel from each of two rows. Each 32-bit lane holds the four taps of one channel.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn load_taps(rows: [&[u8]; 2], index: usize, tap_shuffle: __m256i) -> __m256i {
    let load = |row: &[u8]| -> __m128i {
        let bytes: &[u8; ColumnWeights::LOAD] =
            row[index..index + ColumnWeights::LOAD].first_chunk().expect("a load of the row");
        bytemuck::cast(*bytes)
    };
    let both = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(load(rows[0])), load(rows[1]));
    _mm256_shuffle_epi8(both, tap_shuffle)
}

/// Stores four pixels of each of four rows. Each vector of `pixels` holds two columns: the first and third row in its
/// lower half, the others in its upper half.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn store_pixels<const CHANNELS: usize>(
    [first, second]: [__m256i; 2],
    compact_shuffle: __m256i,
    step: usize,
    output: &mut [&mut [u8]; ROWS],
) {
    let (first, second) = (_mm256_castsi256_ps(first), _mm256_castsi256_ps(second));
    let upper = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(first, second));
    let lower = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(first, second));
    let (upper, lower) = (_mm256_shuffle_epi8(upper, compact_shuffle), _mm256_shuffle_epi8(lower, compact_shuffle));
    let index = step * ColumnWeights::STEP * CHANNELS;
    let mut store = |row: usize, pixels: __m128i| {
        let bytes: [u8; ColumnWeights::LOAD] = bytemuck::cast(pixels);
        output[row][index..index + ColumnWeights::LOAD].copy_from_slice(&bytes);
    };
    store(0, _mm256_castsi256_si128(upper));
    store(1, _mm256_extracti128_si256::<1>(upper));
    store(2, _mm256_castsi256_si128(lower));
    store(3, _mm256_extracti128_si256::<1>(lower));
}

/// Loads block `index` of up to four rows, transposed: each 32-bit lane holds one value from each row. Missing rows
/// repeat the first row.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn load_columns(rows: &[&[u8]], index: usize) -> [__m256i; 4] {
    let load = |row: usize| -> __m256i {
        let row = rows.get(row).unwrap_or(&rows[0]);
        let bytes: &[u8; BLOCK] = row[index * BLOCK..][..BLOCK].first_chunk().expect("a block of the row");
        bytemuck::cast(*bytes)
    };
    let (a, b, c, d) = (load(0), load(1), load(2), load(3));
    let (upper, lower) = (_mm256_unpacklo_epi8(a, b), _mm256_unpacklo_epi8(c, d));
    let (further_upper, further_lower) = (_mm256_unpackhi_epi8(a, b), _mm256_unpackhi_epi8(c, d));
    [
        _mm256_unpacklo_epi16(upper, lower),
        _mm256_unpackhi_epi16(upper, lower),
        _mm256_unpacklo_epi16(further_upper, further_lower),
        _mm256_unpackhi_epi16(further_upper, further_lower),
    ]
}

/// Returns the shuffle that groups four taps of each channel; lanes that are not a channel become 0.
#[target_feature(enable = "avx2")]
pub(super) fn tap_shuffle<const CHANNELS: usize>() -> __m256i {
    repeat_in_both_halves(|index| {
        let (channel, tap) = (index / GROUP_LEN, index % GROUP_LEN);
        (channel < CHANNELS).then_some(tap * CHANNELS + channel)
    })
}

/// Returns the shuffle that packs pixels of four values each, without the values that are not a channel.
#[target_feature(enable = "avx2")]
pub(super) fn compact_shuffle<const CHANNELS: usize>() -> __m256i {
    repeat_in_both_halves(|index| {
        (index < ColumnWeights::STEP * CHANNELS).then_some(index / CHANNELS * 4 + index % CHANNELS)
    })
}

/// Returns a shuffle that is the same in both halves of a vector. `from` gives the source of each byte; `None` means
/// zero.
fn repeat_in_both_halves(from: impl Fn(usize) -> Option<usize>) -> __m256i {
    let bytes: [u8; 32] = std::array::from_fn(|index| from(index % 16).map_or(0x80, |byte| byte as u8));
    bytemuck::cast(bytes)
}
