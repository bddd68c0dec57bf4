//! The order in which the coefficients of a block are transmitted (T.81 A.3.6, figure A.6).

/// Place in the block (row times eight plus column) of the coefficient that is transmitted `n`-th. Steps that lead beyond the
/// block map to place 64, where a block buffer has room for what nobody reads.
pub(super) const NATURAL: [u8; 256] = {
    let mut natural = [64; 256];
    let (mut row, mut column) = (0_u8, 0_u8);
    let mut step = 0;
    while step < 64 {
        natural[step] = row * 8 + column;
        let rising = (row + column) % 2 == 0;
        match (rising, row, column) {
            (true, _, 7) => row += 1,
            (true, 0, _) => column += 1,
            (true, ..) => (row, column) = (row - 1, column + 1),
            (false, 7, _) => column += 1,
            (false, _, 0) => row += 1,
            (false, ..) => (row, column) = (row + 1, column - 1),
        }
        step += 1;
    }
    natural
};

#[cfg(test)]
mod tests {
    use super::NATURAL;

    #[test]
    fn natural_when_followed_then_visits_each_place_once_along_the_diagonals() {
        assert_eq!(NATURAL[..12], [0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25]);
        assert_eq!(NATURAL[54..64], [39, 46, 53, 60, 61, 54, 47, 55, 62, 63]);
        let mut places = NATURAL[..64].to_vec();
        places.sort_unstable();
        assert_eq!(places, (0..64).collect::<Vec<u8>>());
        assert!(NATURAL[64..].iter().all(|&place| place == 64));
    }
}
