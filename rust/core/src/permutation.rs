//! An order of 0 … length - 1 that is computed: a Feistel network on two numbers, walked until the result is inside.
//!
//! Black, Rogaway: Ciphers with arbitrary finite domains. CT-RSA 2002.

use std::array;

/// One order; what a number becomes depends on nothing but the keys.
#[derive(Debug, Clone)]
pub struct Permutation {
    length: u64,
    moduli: [u64; 2],
    inverse: f64,
    keys: Vec<u64>,
}

const MOST: u64 = 1 << 48;
/// Numbers that are worked on at a time, as they do not depend on one another: as many as registers hold.
const LANES: usize = 4;
type Lanes = [u64; LANES];

impl Permutation {
    /// Of so many numbers, split into two below `left` and so many as are needed, by one round for each key.
    ///
    /// `None` where there are more than 2^48, or one of the two could not be told by 32 bits.
    pub fn new(length: u64, left: u64, keys: Vec<u64>) -> Option<Self> {
        let right = length.div_ceil(left.max(1));
        let fits = length <= MOST && (1..1 << 32).contains(&left) && right < 1 << 32;
        fits.then(|| Self { length, moduli: [left, right], inverse: 1.0 / left as f64, keys })
    }

    /// Replaces numbers below the length by those at their places; otherwise returns the first that is not below it.
    pub fn apply(&self, numbers: &mut [i64]) -> Result<(), i64> {
        self.walk(numbers, Self::forth)
    }

    /// Replaces numbers by their places, the reverse of [`Self::apply`].
    pub fn invert(&self, numbers: &mut [i64]) -> Result<(), i64> {
        self.walk(numbers, Self::back)
    }

    #[inline(always)]
    fn walk(&self, numbers: &mut [i64], step: impl Fn(&Self, Lanes) -> Lanes) -> Result<(), i64> {
        if let Some(&outside) = numbers.iter().find(|&&number| number as u64 >= self.length) {
            return Err(outside);
        }
        for group in numbers.chunks_mut(LANES) {
            let mut lanes = [0; LANES];
            lanes.iter_mut().zip(&*group).for_each(|(lane, &number)| *lane = number as u64);
            for (number, mut found) in group.iter_mut().zip(step(self, lanes)) {
                // A number inside is on the way that leads back to it, so that the walk ends.
                while found >= self.length {
                    [found, ..] = step(self, [found; LANES]);
                }
                *number = found as i64;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn forth(&self, numbers: Lanes) -> Lanes {
        let [left, right] = self.moduli;
        let (mut low, mut high) = self.split(numbers);
        for keys in self.keys.chunks(2) {
            for lane in 0..LANES {
                low[lane] = sum(low[lane], mixed(high[lane].wrapping_add(keys[0]), left), left);
            }
            let Some(key) = keys.get(1) else { break };
            for lane in 0..LANES {
                high[lane] = sum(high[lane], mixed(low[lane].wrapping_add(*key), right), right);
            }
        }
        array::from_fn(|lane| high[lane] * left + low[lane])
    }

    #[inline(always)]
    fn back(&self, numbers: Lanes) -> Lanes {
        let [left, right] = self.moduli;
        let (mut low, mut high) = self.split(numbers);
        for keys in self.keys.chunks(2).rev() {
            for lane in 0..LANES {
                if let Some(key) = keys.get(1) {
                    high[lane] = sum(high[lane], right - mixed(low[lane].wrapping_add(*key), right), right);
                }
                low[lane] = sum(low[lane], left - mixed(high[lane].wrapping_add(keys[0]), left), left);
            }
        }
        array::from_fn(|lane| high[lane] * left + low[lane])
    }

    /// Remainders and quotients by the first modulus.
    #[inline(always)]
    fn split(&self, numbers: Lanes) -> (Lanes, Lanes) {
        let left = self.moduli[0];
        // Numbers have 48 bits, so that the product is off by one at most.
        let about = numbers.map(|number| (number as f64 * self.inverse) as u64);
        let high: Lanes = array::from_fn(|lane| about[lane] - u64::from(about[lane] * left > numbers[lane]));
        let low: Lanes = array::from_fn(|lane| numbers[lane] - high[lane] * left);
        (low.map(|low| sum(low, 0, left)), array::from_fn(|lane| high[lane] + u64::from(low[lane] >= left)))
    }
}

/// The sum of two numbers below or at a modulus, less the modulus where it reaches it.
#[inline(always)]
fn sum(one: u64, two: u64, modulus: u64) -> u64 {
    let sum = one + two;
    // Nobody can foresee which, so this is no branch.
    sum - (modulus & u64::from(sum >= modulus).wrapping_neg())
}

/// A number below a modulus of 32 bits that looks random.
#[inline(always)]
fn mixed(word: u64, modulus: u64) -> u64 {
    let mut word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word ^= word >> 32;
    word = word.wrapping_mul(0xd6e8_feb8_6659_fd93);
    word ^= word >> 29;
    ((word >> 32) * modulus) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apply_gives_every_number_once_and_invert_leads_back() {
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
    fn numbers_outside_and_parts_that_are_too_large_are_refused() {
        let permutation = Permutation::new(10, 4, vec![1, 2]).unwrap();
        assert_eq!(permutation.apply(&mut [3, 10]), Err(10));
        assert_eq!(permutation.invert(&mut [-1]), Err(-1));
        assert!(Permutation::new(10, 0, vec![]).is_none());
        assert!(Permutation::new(1 << 48, 1, vec![]).is_none());
    }
}
