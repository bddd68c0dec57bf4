//! Random words, permutations and orders that depend only on a seed and a position.
//!
//! The words come from the counter-based generator Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers:
//! as easy as 1, 2, 3", SC 2011.
use crate::memory::{self, OutOfMemory};
use std::array;

const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: u32 = 10;

/// Returns the four random words of a counter. Counter, key and result start with the least significant word.
#[inline(always)]
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    (0..ROUNDS).fold(counter, |[first, second, third, fourth], round| {
        let [low, high] = [0, 1].map(|word| key[word].wrapping_add(WEYL[word].wrapping_mul(round)));
        let (one, two) = (MULTIPLIERS[0] * u64::from(first), MULTIPLIERS[1] * u64::from(third));
        [(two >> 32) as u32 ^ second ^ low, two as u32, (one >> 32) as u32 ^ fourth ^ high, one as u32]
    })
}

/// Appends the random 64-bit words number `first` to `first + count - 1` of a stream.
///
/// Each counter yields two 64-bit words. The first word of the counter is the number of the pair, and the other three
/// are `stream`. The key is `seed`.
pub fn append_random_words(words: &mut Vec<u64>, seed: u64, stream: [u32; 3], first: u64, count: usize) {
    let key = [seed as u32, (seed >> 32) as u32];
    let end = first + count as u64;
    for pair in first / 2..end.div_ceil(2) {
        let [one, two, three, four] = philox([pair as u32, stream[0], stream[1], stream[2]], key);
        let both = [[one, two], [three, four]].map(|[low, high]| u64::from(high) << 32 | u64::from(low));
        words.extend((2 * pair..).zip(both).filter(|(number, _)| (first..end).contains(number)).map(|(_, word)| word));
    }
}

// Permutation of 0 … length - 1 that is computed on demand: a Feistel network on pairs of numbers, with cycle walking.
//
// Black, Rogaway: Ciphers with arbitrary finite domains. CT-RSA 2002.

/// A permutation that is determined by its length, the split of the numbers into pairs, and the keys of the rounds.
#[derive(Debug, Clone)]
pub struct Permutation {
    length: u64,
    moduli: [u64; 2],
    inverse: f64,
    keys: Vec<u64>,
}

const MAX_LENGTH: u64 = 1 << 48;
/// Number of values that are processed together for instruction-level parallelism; more would not fit into registers.
const LANES: usize = 4;
type Lanes = [u64; LANES];

impl Permutation {
    /// Creates a permutation of `length` numbers, with one Feistel round per key.
    ///
    /// Each number is split into a pair: its remainder and its quotient when divided by `left`. Returns None if
    /// `length` exceeds 2^48, or if the remainder or the quotient may exceed 32 bits.
    pub fn new(length: u64, left: u64, keys: Vec<u64>) -> Option<Self> {
        let right = length.div_ceil(left.max(1));
        let fits = length <= MAX_LENGTH && (1..1 << 32).contains(&left) && right < 1 << 32;
        fits.then(|| Self { length, moduli: [left, right], inverse: 1.0 / left as f64, keys })
    }

    /// Applies the permutation to each number; the error is the first number that is not in `0..length`.
    pub fn apply(&self, numbers: &mut [i64]) -> Result<(), i64> {
        self.cycle_walk(numbers, Self::encrypt)
    }

    /// Applies the inverse permutation to each number; the error is the first number that is not in `0..length`.
    pub fn invert(&self, numbers: &mut [i64]) -> Result<(), i64> {
        self.cycle_walk(numbers, Self::decrypt)
    }

    #[inline(always)]
    fn cycle_walk(&self, numbers: &mut [i64], step: impl Fn(&Self, Lanes) -> Lanes) -> Result<(), i64> {
        if let Some(&outside) = numbers.iter().find(|&&number| number as u64 >= self.length) {
            return Err(outside);
        }
        for group in numbers.chunks_mut(LANES) {
            let mut lanes = [0; LANES];
            lanes.iter_mut().zip(&*group).for_each(|(lane, &number)| *lane = number as u64);
            for (number, mut permuted) in group.iter_mut().zip(step(self, lanes)) {
                // The loop ends because the cycle that starts at a number below `length` leads back to that number.
                while permuted >= self.length {
                    [permuted, ..] = step(self, [permuted; LANES]);
                }
                *number = permuted as i64;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn encrypt(&self, numbers: Lanes) -> Lanes {
        let [left, right] = self.moduli;
        let (mut low, mut high) = self.split_numbers(numbers);
        for keys in self.keys.chunks(2) {
            for lane in 0..LANES {
                low[lane] = add_mod(low[lane], hash_below(high[lane].wrapping_add(keys[0]), left), left);
            }
            let Some(key) = keys.get(1) else { break };
            for lane in 0..LANES {
                high[lane] = add_mod(high[lane], hash_below(low[lane].wrapping_add(*key), right), right);
            }
        }
        array::from_fn(|lane| high[lane] * left + low[lane])
    }

    #[inline(always)]
    fn decrypt(&self, numbers: Lanes) -> Lanes {
        let [left, right] = self.moduli;
        let (mut low, mut high) = self.split_numbers(numbers);
        for keys in self.keys.chunks(2).rev() {
            for lane in 0..LANES {
                if let Some(key) = keys.get(1) {
                    high[lane] = add_mod(high[lane], right - hash_below(low[lane].wrapping_add(*key), right), right);
                }
                low[lane] = add_mod(low[lane], left - hash_below(high[lane].wrapping_add(keys[0]), left), left);
            }
        }
        array::from_fn(|lane| high[lane] * left + low[lane])
    }

    /// Returns the remainder and the quotient of each number when divided by the first modulus.
    #[inline(always)]
    fn split_numbers(&self, numbers: Lanes) -> (Lanes, Lanes) {
        let left = self.moduli[0];
        // Multiplication by the inverse estimates the quotient. Numbers have at most 48 bits, so the rounded-down
        // estimate differs from the exact quotient by at most 1. The next lines correct this in both directions.
        let estimate = numbers.map(|number| (number as f64 * self.inverse) as u64);
        let high: Lanes = array::from_fn(|lane| estimate[lane] - u64::from(estimate[lane] * left > numbers[lane]));
        let low: Lanes = array::from_fn(|lane| numbers[lane] - high[lane] * left);
        (low.map(|low| add_mod(low, 0, left)), array::from_fn(|lane| high[lane] + u64::from(low[lane] >= left)))
    }
}

/// Returns `one + two`, minus `modulus` if the sum is at least `modulus`. Neither number may exceed `modulus`.
#[inline(always)]
fn add_mod(one: u64, two: u64, modulus: u64) -> u64 {
    let sum = one + two;
    // This has no branch, because the outcome is random, so a branch would be mispredicted half of the time.
    sum - (modulus & u64::from(sum >= modulus).wrapping_neg())
}

/// Hashes a word to a pseudorandom number below a 32-bit modulus.
#[inline(always)]
fn hash_below(word: u64, modulus: u64) -> u64 {
    let mut word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word ^= word >> 32;
    word = word.wrapping_mul(0xd6e8_feb8_6659_fd93);
    word ^= word >> 29;
    ((word >> 32) * modulus) >> 32
}

// Random order of a small number of items: the argsort of random words.

/// Returns 0 … length - 1 in random order, determined by `seed` and `stream`.
pub fn random_order(length: u32, seed: u64, stream: [u32; 3]) -> Result<Vec<i64>, OutOfMemory> {
    argsort(&random_words(length, seed, stream)?)
}

fn random_words(length: u32, seed: u64, stream: [u32; 3]) -> Result<Vec<u64>, OutOfMemory> {
    let mut words = memory::with_capacity(length as usize)?;
    append_random_words(&mut words, seed, stream, 0, length as usize);
    Ok(words)
}

/// Returns the stable argsort of the words: a bucket sort, which takes linear time for uniformly distributed words.
fn argsort(words: &[u64]) -> Result<Vec<i64>, OutOfMemory> {
    let bucket = |word: u64| ((u128::from(word) * words.len() as u128) >> 64) as usize;
    let mut starts = memory::filled(words.len() + 1, 0u32)?;
    words.iter().for_each(|&word| starts[bucket(word) + 1] += 1);
    (0..words.len()).for_each(|index| starts[index + 1] += starts[index]);
    let mut sorted = memory::filled(words.len(), (0, 0))?;
    for (number, &word) in (0..).zip(words) {
        let next = &mut starts[bucket(word)];
        sorted[*next as usize] = (word, number);
        *next += 1;
    }
    // The buckets are in ascending order, so this insertion sort moves a word only within its bucket.
    for end in 1..sorted.len() {
        let mut index = end;
        while index > 0 && sorted[index - 1].0 > sorted[index].0 {
            sorted.swap(index - 1, index);
            index -= 1;
        }
    }
    memory::collect(sorted.into_iter().map(|(_, number)| number))
}

#[cfg(test)]
mod philox_tests {
    use super::*;

    #[test]
    fn append_random_words_returns_the_same_words_for_any_split() {
        let mut all = Vec::new();
        append_random_words(&mut all, 7 << 32 | 5, [1, 2, 3], 0, 9);
        let [one, two, three, four] = philox([1, 1, 2, 3], [5, 7]).map(u64::from);
        assert_eq!(all[2..4], [two << 32 | one, four << 32 | three]);
        for first in 0..9 {
            for count in 0..9 - first {
                let mut part = Vec::new();
                append_random_words(&mut part, 7 << 32 | 5, [1, 2, 3], first as u64, count);
                assert_eq!(part, all[first..first + count]);
            }
        }
    }

    #[test]
    fn philox_matches_published_test_vectors() {
        // These vectors are from the file kat_vectors of Random123, the library of the authors of Philox.
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        let key = [0xa409_3822, 0x299f_31d0];
        assert_eq!(philox(pi, key), [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }
}

#[cfg(test)]
mod permutation_tests {
    use super::*;

    #[test]
    fn apply_is_a_permutation_and_invert_reverses_it() {
        for length in [1u64, 2, 3, 17, 100, 1001, 4097] {
            for left in [1, 2, 7, 64] {
                let permutation = Permutation::new(length, left, (0..10).map(|key| key * 77_777 + length).collect());
                let permutation = permutation.unwrap();
                let mut numbers: Vec<i64> = (0..length as i64).collect();
                permutation.apply(&mut numbers).unwrap();
                let mut sorted = numbers.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..length as i64).collect::<Vec<_>>());
                permutation.invert(&mut numbers).unwrap();
                assert_eq!(numbers, (0..length as i64).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn permutation_rejects_numbers_out_of_range_and_impossible_splits() {
        let permutation = Permutation::new(10, 4, vec![1, 2]).unwrap();
        assert_eq!(permutation.apply(&mut [3, 10]), Err(10));
        assert_eq!(permutation.invert(&mut [-1]), Err(-1));
        assert!(Permutation::new(10, 0, vec![]).is_none());
        assert!(Permutation::new(1 << 48, 1, vec![]).is_none());
    }
}

#[cfg(test)]
mod random_order_tests {
    use super::*;

    fn random_words(length: u32, seed: u64, stream: [u32; 3]) -> Vec<u64> {
        super::random_words(length, seed, stream).expect("enough memory")
    }

    fn assert_stable_argsort(words: &[u64]) {
        let mut expected: Vec<i64> = (0..words.len() as i64).collect();
        expected.sort_by_key(|&number| words[number as usize]);
        assert_eq!(argsort(words), Ok(expected));
    }

    #[test]
    fn argsort_is_stable() {
        assert_stable_argsort(&[]);
        assert_stable_argsort(&[7]);
        assert_stable_argsort(&[5, 1, 5, 1, 0]);
        assert_stable_argsort(&[u64::MAX, 0, u64::MAX, u64::MAX - 1, 1 << 63, 0]);
        assert_stable_argsort(
            &random_words(1000, 3, [1, 2, 3]).iter().map(|word| (word % 64) << 58).collect::<Vec<_>>(),
        );
        (0..70).for_each(|length| assert_stable_argsort(&random_words(length, u64::from(length), [0; 3])));
        assert_stable_argsort(&random_words(65_536, 1 << 40, [9, 0, 1]));
    }

    #[test]
    fn random_order_is_a_permutation_that_depends_on_seed_and_stream() {
        let order = |seed, stream| random_order(1000, seed, stream).expect("enough memory");
        let one = order(7, [1, 0, 0]);
        let mut all = one.clone();
        all.sort_unstable();
        assert_eq!(all, (0..1000).collect::<Vec<_>>());
        for other in [order(7 + (1 << 32), [1, 0, 0]), order(7, [1, 0, 1])] {
            assert_ne!(one, other);
        }
    }
}
