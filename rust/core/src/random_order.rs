//! A uniform order of a few numbers: that of as many random words.
use crate::philox::extend_words;

/// 0 … length - 1 in the order of their random words; of equal words, the first comes first.
///
/// The words of a seed are told apart by `stream`.
pub fn random_order(length: u32, seed: u64, stream: [u32; 3]) -> Vec<i64> {
    order(&words(length, seed, stream))
}

fn words(length: u32, seed: u64, stream: [u32; 3]) -> Vec<u64> {
    let mut words = Vec::with_capacity(length as usize);
    extend_words(&mut words, seed, stream, 0, length as usize);
    words
}

/// Where the words stand in ascending order; takes time in proportion where they are spread evenly, as random ones are.
fn order(words: &[u64]) -> Vec<i64> {
    let part = |word: u64| ((u128::from(word) * words.len() as u128) >> 64) as usize;
    let mut starts = vec![0u32; words.len() + 1];
    words.iter().for_each(|&word| starts[part(word) + 1] += 1);
    (0..words.len()).for_each(|at| starts[at + 1] += starts[at]);
    let mut sorted = vec![(0, 0); words.len()];
    for (number, &word) in (0..).zip(words) {
        let next = &mut starts[part(word)];
        sorted[*next as usize] = (word, number);
        *next += 1;
    }
    // Parts rise, so that a word moves within its own.
    for end in 1..sorted.len() {
        let mut at = end;
        while at > 0 && sorted[at - 1].0 > sorted[at].0 {
            sorted.swap(at - 1, at);
            at -= 1;
        }
    }
    sorted.into_iter().map(|(_, number)| number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[u64]) {
        let mut expected: Vec<i64> = (0..words.len() as i64).collect();
        expected.sort_by_key(|&number| words[number as usize]);
        assert_eq!(order(words), expected);
    }

    #[test]
    fn words_are_sorted_and_equal_ones_stay_as_they_come() {
        check(&[]);
        check(&[7]);
        check(&[5, 1, 5, 1, 0]);
        check(&[u64::MAX, 0, u64::MAX, u64::MAX - 1, 1 << 63, 0]);
        check(&words(1000, 3, [1, 2, 3]).iter().map(|word| (word % 64) << 58).collect::<Vec<_>>());
        (0..70).for_each(|length| check(&words(length, u64::from(length), [0; 3])));
        check(&words(65_536, 1 << 40, [9, 0, 1]));
    }

    #[test]
    fn order_is_of_all_numbers_once_and_differs_by_seed_and_stream() {
        let one = random_order(1000, 7, [1, 0, 0]);
        let mut all = one.clone();
        all.sort_unstable();
        assert_eq!(all, (0..1000).collect::<Vec<_>>());
        for other in [random_order(1000, 7 + (1 << 32), [1, 0, 0]), random_order(1000, 7, [1, 0, 1])] {
            assert_ne!(one, other);
        }
    }
}
