//! The counter-based generator Philox4x32-10: random words as a pure function of a counter and a key.
//!
//! Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3. SC 2011.

const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: u32 = 10;

/// Four random words for a counter, all with the lowest first.
#[inline(always)]
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    (0..ROUNDS).fold(counter, |[first, second, third, fourth], round| {
        let [low, high] = [0, 1].map(|word| key[word].wrapping_add(WEYL[word].wrapping_mul(round)));
        let (one, two) = (MULTIPLIERS[0] * u64::from(first), MULTIPLIERS[1] * u64::from(third));
        [(two >> 32) as u32 ^ second ^ low, two as u32, (one >> 32) as u32 ^ fourth ^ high, one as u32]
    })
}

/// Appends random 64-bit words `first` to `first + count - 1` of the counters whose last three words are `stream`.
///
/// Each counter gives two words. The first word of a counter is the number of the pair.
pub fn extend_words(words: &mut Vec<u64>, seed: u64, stream: [u32; 3], first: u64, count: usize) {
    let key = [seed as u32, (seed >> 32) as u32];
    let end = first + count as u64;
    for pair in first / 2..end.div_ceil(2) {
        let [one, two, three, four] = philox([pair as u32, stream[0], stream[1], stream[2]], key);
        let both = [[one, two], [three, four]].map(|[low, high]| u64::from(high) << 32 | u64::from(low));
        words.extend((2 * pair..).zip(both).filter(|(number, _)| (first..end).contains(number)).map(|(_, word)| word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extend_words_returns_the_same_words_for_any_split() {
        let mut all = Vec::new();
        extend_words(&mut all, 7 << 32 | 5, [1, 2, 3], 0, 9);
        let [one, two, three, four] = philox([1, 1, 2, 3], [5, 7]).map(u64::from);
        assert_eq!(all[2..4], [two << 32 | one, four << 32 | three]);
        for first in 0..9 {
            for count in 0..9 - first {
                let mut part = Vec::new();
                extend_words(&mut part, 7 << 32 | 5, [1, 2, 3], first as u64, count);
                assert_eq!(part, all[first..first + count]);
            }
        }
    }

    #[test]
    fn words_are_those_that_the_authors_publish() {
        // kat_vectors of the authors' library, Random123.
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        let key = [0xa409_3822, 0x299f_31d0];
        assert_eq!(philox(pi, key), [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }
}
