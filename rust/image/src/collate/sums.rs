//! Sums of floats along an axis, with what each addition loses added to the next value (W. Kahan, 1965), as MXNet adds.
use crate::fault::Result;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::view::refuse;

/// Sums that are made together where there is one for each row.
const GROUP: usize = 16;

/// A number that is added up.
pub trait Addend: Copy + Default + std::ops::Add<Output = Self> + std::ops::Sub<Output = Self> {}
impl Addend for f32 {}
impl Addend for f64 {}

/// Values in C order: `before` blocks of `among` rows of `after` columns.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// Number of blocks.
    pub before: usize,
    /// Rows of each.
    pub among: usize,
    /// Columns.
    pub after: usize,
}

/// The sums of the rows of each block, one for each column.
pub fn along<T: Addend>(values: &[T], block: Block) -> Result<Vec<T>> {
    let Block { before, among, after } = block;
    if before.checked_mul(among).and_then(|rows| rows.checked_mul(after)) != Some(values.len()) {
        return refuse(format!("{before} x {among} x {after} values"), values.len().to_string());
    }
    let mut sums = vec![T::default(); before * after];
    dispatch::run(Along { values, block, sums: &mut sums });
    Ok(sums)
}

struct Along<'a, T> {
    values: &'a [T],
    block: Block,
    sums: &'a mut [T],
}

impl<T: Addend> Kernel for Along<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Block { among, after, .. } = self.block;
        if among == 0 || after == 0 {
            return;
        }
        if after == 1 {
            let groups = self.values.chunks(GROUP * among).zip(self.sums.chunks_mut(GROUP));
            return groups.for_each(|(rows, sums)| rows_into(rows, among, sums));
        }
        let mut lost = vec![T::default(); after];
        for (rows, sums) in self.values.chunks_exact(among * after).zip(self.sums.chunks_exact_mut(after)) {
            lost.fill(T::default());
            rows.chunks_exact(after).for_each(|row| row_onto(row, sums, &mut lost));
        }
    }
}

/// Adds a row onto a row of sums.
#[inline(always)]
fn row_onto<T: Addend>(row: &[T], sums: &mut [T], lost: &mut [T]) {
    for ((value, sum), lost) in row.iter().zip(sums).zip(lost) {
        add(*value, sum, lost);
    }
}

/// The sum of each of a few rows: side by side, as every addition waits for the one before.
#[inline(always)]
fn rows_into<T: Addend>(rows: &[T], among: usize, sums: &mut [T]) {
    let mut totals = [(T::default(), T::default()); GROUP];
    if let Ok(sums) = <&mut [T; GROUP]>::try_from(&mut *sums) {
        for column in 0..among {
            for (place, (sum, lost)) in totals.iter_mut().enumerate() {
                add(rows[place * among + column], sum, lost);
            }
        }
        sums.iter_mut().zip(totals).for_each(|(sum, (total, _))| *sum = total);
        return;
    }
    for (row, sum) in rows.chunks_exact(among).zip(sums) {
        let mut lost = T::default();
        row.iter().for_each(|value| add(*value, sum, &mut lost));
    }
}

#[inline(always)]
fn add<T: Addend>(value: T, sum: &mut T, lost: &mut T) {
    let more = value - *lost;
    let total = *sum + more;
    *lost = (total - *sum) - more;
    *sum = total;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plainly(values: &[f32]) -> f32 {
        let (mut sum, mut lost) = (0.0, 0.0);
        values.iter().for_each(|value| add(*value, &mut sum, &mut lost));
        sum
    }

    #[test]
    fn along_when_rows_are_long_or_short_then_every_sum_is_that_of_its_values() {
        let values: Vec<f32> = (0..37 * 6 * 5).map(|place| (place as f32 * 0.7).sin() * 1e3).collect();
        let sums = along(&values, Block { before: 37, among: 6, after: 5 }).unwrap();
        for (place, sum) in sums.iter().enumerate() {
            let (block, column) = (place / 5, place % 5);
            let picked: Vec<f32> = (0..6).map(|row| values[block * 30 + row * 5 + column]).collect();
            assert_eq!(*sum, plainly(&picked));
        }
        let sums = along(&values, Block { before: 37, among: 30, after: 1 }).unwrap();
        assert!(values.chunks(30).map(plainly).eq(sums));
    }

    #[test]
    fn along_when_large_and_small_values_alternate_then_the_small_ones_count() {
        let values = [1e8_f32, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        assert_eq!(along(&values, Block { before: 1, among: 10, after: 1 }).unwrap(), [1e8 + 8.0]);
    }

    #[test]
    fn along_when_nothing_is_added_then_zero_and_other_sizes_are_refused() {
        assert_eq!(along::<f32>(&[], Block { before: 2, among: 0, after: 1 }).unwrap(), [0.0, 0.0]);
        assert!(along(&[1.0_f32], Block { before: 2, among: 1, after: 1 }).is_err());
        assert!(along(&[1.0_f32], Block { before: usize::MAX, among: 2, after: 1 }).is_err());
    }
}
