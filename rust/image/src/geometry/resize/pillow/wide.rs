//! The two passes in vectors of 32 bytes, four taps at a time: written once, compiled for every way to weigh four taps.
use super::quads::Columns;
pub(super) use super::quads::TAPS;
use std::arch::x86_64::*;

/// Rows that the pass across takes at once.
pub(super) const ROWS: usize = 4;
/// Values that the pass down takes at once.
pub(super) const BLOCK: usize = 32;

/// The passes for a module that has `Sums`, `start`, `add`, `total` and `only`, compiled for `$features`.
macro_rules! passes {
    ($features:literal) => {
        /// Rows of at least `columns.reach` values resized across; each output has room for whole steps and one load.
        #[target_feature(enable = $features)]
        pub(super) fn across<const CHANNELS: usize>(rows: [&[u8]; ROWS], columns: &Columns, output: [&mut [u8]; ROWS]) {
            // Spans of a known number of groups need no inner loop.
            match columns.groups {
                1 => stretch::<CHANNELS, 1>(rows, columns, output),
                2 => stretch::<CHANNELS, 2>(rows, columns, output),
                _ => stretch::<CHANNELS, 0>(rows, columns, output),
            }
        }

        #[target_feature(enable = $features)]
        fn stretch<const CHANNELS: usize, const GROUPS: usize>(
            [a, b, c, d]: [&[u8]; ROWS],
            columns: &Columns,
            mut output: [&mut [u8]; ROWS],
        ) {
            let groups = if GROUPS == 0 { columns.groups } else { GROUPS };
            let reach = columns.reach;
            let rows = [&a[..reach], &b[..reach], &c[..reach], &d[..reach]];
            let (order, dense) = (wide::order::<CHANNELS>(), wide::dense::<CHANNELS>());
            let (steps, _) = columns.starts.as_chunks::<{ Columns::STEP }>();
            let weights = columns.weights.chunks_exact(Columns::STEP * groups);
            for (step, (starts, weights)) in steps.iter().zip(weights).enumerate() {
                let [a, b, c, d] = starts.map(|start| start as usize);
                let (left, right) = weights.split_at(2 * groups);
                let a = weigh::<CHANNELS, GROUPS>(rows, a, &left[..groups], order);
                let b = weigh::<CHANNELS, GROUPS>(rows, b, &left[groups..], order);
                let c = weigh::<CHANNELS, GROUPS>(rows, c, &right[..groups], order);
                let d = weigh::<CHANNELS, GROUPS>(rows, d, &right[groups..], order);
                let pixels = [_mm256_packus_epi16(a, b), _mm256_packus_epi16(c, d)];
                wide::put::<CHANNELS>(pixels, dense, step, &mut output);
            }
        }

        /// One output pixel of each row in words: the first and third row below, the others above.
        #[target_feature(enable = $features)]
        #[inline]
        fn weigh<const CHANNELS: usize, const GROUPS: usize>(
            rows: [&[u8]; ROWS],
            first: usize,
            weights: &[Quad],
            order: __m256i,
        ) -> __m256i {
            if GROUPS == 1 {
                let weights = &weights[0];
                let upper = only(wide::taps([rows[0], rows[1]], first, order), weights);
                return _mm256_packs_epi32(upper, only(wide::taps([rows[2], rows[3]], first, order), weights));
            }
            let (mut upper, mut lower, mut place) = (start(), start(), first);
            for weights in weights {
                upper = add(upper, wide::taps([rows[0], rows[1]], place, order), weights);
                lower = add(lower, wide::taps([rows[2], rows[3]], place, order), weights);
                place += wide::TAPS * CHANNELS;
            }
            _mm256_packs_epi32(total(upper), total(lower))
        }

        /// The weighted sum of `rows` in whole blocks; how many values that are.
        #[target_feature(enable = $features)]
        pub(super) fn down(rows: &[&[u8]], weights: &[Quad], output: &mut [u8]) -> usize {
            let (blocks, _) = output.as_chunks_mut::<{ wide::BLOCK }>();
            let done = blocks.len() * wide::BLOCK;
            for (index, block) in blocks.iter_mut().enumerate() {
                let [a, b, c, d] = shrink(rows, weights, index);
                let words = [_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d)];
                *block = bytemuck::cast(_mm256_packus_epi16(words[0], words[1]));
            }
            done
        }

        /// The weighted sums of block `index`, in the order of `wide::columns`.
        #[target_feature(enable = $features)]
        #[inline]
        fn shrink(rows: &[&[u8]], weights: &[Quad], index: usize) -> [__m256i; 4] {
            if let ([_] | [_, _] | [_, _, _] | [_, _, _, _], [weights, ..]) = (rows, weights) {
                let [a, b, c, d] = wide::columns(rows, index);
                return [only(a, weights), only(b, weights), only(c, weights), only(d, weights)];
            }
            let mut sums = [start(); 4];
            for (rows, weights) in rows.chunks(wide::TAPS).zip(weights) {
                let [a, b, c, d] = wide::columns(rows, index);
                sums = [
                    add(sums[0], a, weights),
                    add(sums[1], b, weights),
                    add(sums[2], c, weights),
                    add(sums[3], d, weights),
                ];
            }
            let [a, b, c, d] = sums;
            [total(a), total(b), total(c), total(d)]
        }
    };
}

pub(super) use passes;

/// Four taps of a pixel in each of two rows: a 32-bit number for each channel.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn taps(rows: [&[u8]; 2], place: usize, order: __m256i) -> __m256i {
    let load = |row: &[u8]| -> __m128i {
        let bytes: &[u8; Columns::LOAD] = row[place..place + Columns::LOAD].first_chunk().expect("a load of the row");
        bytemuck::cast(*bytes)
    };
    let both = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(load(rows[0])), load(rows[1]));
    _mm256_shuffle_epi8(both, order)
}

/// Stores four pixels of four rows, whose first and third are the lower halves of `pixels`, two columns each.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn put<const CHANNELS: usize>(
    [first, second]: [__m256i; 2],
    dense: __m256i,
    step: usize,
    output: &mut [&mut [u8]; ROWS],
) {
    let (first, second) = (_mm256_castsi256_ps(first), _mm256_castsi256_ps(second));
    let upper = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(first, second));
    let lower = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(first, second));
    let (upper, lower) = (_mm256_shuffle_epi8(upper, dense), _mm256_shuffle_epi8(lower, dense));
    let place = step * Columns::STEP * CHANNELS;
    let mut store = |row: usize, pixels: __m128i| {
        let bytes: [u8; Columns::LOAD] = bytemuck::cast(pixels);
        output[row][place..place + Columns::LOAD].copy_from_slice(&bytes);
    };
    store(0, _mm256_castsi256_si128(upper));
    store(1, _mm256_extracti128_si256::<1>(upper));
    store(2, _mm256_castsi256_si128(lower));
    store(3, _mm256_extracti128_si256::<1>(lower));
}

/// Block `index` of up to four rows, turned: a 32-bit number for each value. Rows that are not there repeat the first.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn columns(rows: &[&[u8]], index: usize) -> [__m256i; 4] {
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

/// The shuffle that brings four taps of each channel together; what is no channel becomes 0.
#[target_feature(enable = "avx2")]
pub(super) fn order<const CHANNELS: usize>() -> __m256i {
    shuffle(|place| {
        let (channel, tap) = (place / TAPS, place % TAPS);
        (channel < CHANNELS).then_some(tap * CHANNELS + channel)
    })
}

/// The shuffle that closes the gaps between pixels of four values.
#[target_feature(enable = "avx2")]
pub(super) fn dense<const CHANNELS: usize>() -> __m256i {
    shuffle(|place| (place < Columns::STEP * CHANNELS).then_some(place / CHANNELS * 4 + place % CHANNELS))
}

/// The same shuffle in both halves.
fn shuffle(from: impl Fn(usize) -> Option<usize>) -> __m256i {
    let bytes: [u8; 32] = std::array::from_fn(|place| from(place % 16).map_or(0x80, |byte| byte as u8));
    bytemuck::cast(bytes)
}
