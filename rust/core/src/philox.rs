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

#[cfg(test)]
mod tests {
    use super::*;

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
