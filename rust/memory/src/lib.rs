//! Fallible allocation. If there is not enough memory, these functions return an error, whereas the methods of `Vec`
//! abort the process.
//!
//! Allocations that are small for every possible input still use `Vec` directly.
#![deny(unsafe_code)]

mod streaming;

use std::fmt;

pub use streaming::extend_streaming;

/// Error of an allocation for which there is not enough memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Requested size of the allocation in bytes.
    pub num_bytes: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.num_bytes.to_string();
        f.write_str("not enough memory for ")?;
        for (position, digit) in digits.chars().enumerate() {
            if position > 0 && (digits.len() - position).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        f.write_str(" bytes")
    }
}

impl std::error::Error for OutOfMemory {}

/// Makes room for `additional` more elements. Capacity grows exponentially, as with [`Vec::reserve`], unless there is only
/// enough memory for these elements.
#[inline]
pub fn reserve<T>(vec: &mut Vec<T>, additional: usize) -> Result<(), OutOfMemory> {
    if additional > vec.capacity() - vec.len() { grow(vec, additional) } else { Ok(()) }
}

#[cold]
fn grow<T>(vec: &mut Vec<T>, additional: usize) -> Result<(), OutOfMemory> {
    let result = vec.try_reserve(additional).or_else(|_| vec.try_reserve_exact(additional));
    result.map_err(|_| size_error::<T>(vec.len().saturating_add(additional)))
}

fn size_error<T>(len: usize) -> OutOfMemory {
    OutOfMemory { num_bytes: len.saturating_mul(size_of::<T>()) }
}

/// Returns an empty vector with room for `capacity` elements.
pub fn with_capacity<T>(capacity: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(capacity).map_err(|_| size_error::<T>(capacity))?;
    Ok(vec)
}

/// Returns a vector of `len` copies of `value`.
pub fn filled<T: Clone>(len: usize, value: T) -> Result<Vec<T>, OutOfMemory> {
    let mut vec = with_capacity(len)?;
    vec.resize(len, value);
    Ok(vec)
}

/// Returns a copy of a slice.
pub fn copy<T: Clone>(slice: &[T]) -> Result<Vec<T>, OutOfMemory> {
    let mut vec = with_capacity(slice.len())?;
    vec.extend_from_slice(slice);
    Ok(vec)
}

/// Returns a vector of `count` copies of a slice.
pub fn repeat<T: Copy>(slice: &[T], count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vec = with_capacity(slice.len().saturating_mul(count))?;
    (0..count).for_each(|_| vec.extend_from_slice(slice));
    Ok(vec)
}

/// Collects the items of an iterator that knows their exact number.
pub fn collect<T>(items: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, OutOfMemory> {
    let mut vec = with_capacity(items.len())?;
    vec.extend(items);
    Ok(vec)
}

/// Collects the first `count` items of an iterator.
pub fn collect_count<T>(items: impl Iterator<Item = T>, count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vec = with_capacity(count)?;
    vec.extend(items.take(count));
    Ok(vec)
}

/// Collects the values of an iterator that knows their exact number and may itself run out of memory.
pub fn try_collect<T>(items: impl ExactSizeIterator<Item = Result<T, OutOfMemory>>) -> Result<Vec<T>, OutOfMemory> {
    let mut vec = with_capacity(items.len())?;
    for item in items {
        vec.push(item?);
    }
    Ok(vec)
}

/// Returns `N` vectors of `len` copies of `value` each, such as buffers for rows.
pub fn filled_rows<T: Clone, const N: usize>(len: usize, value: T) -> Result<[Vec<T>; N], OutOfMemory> {
    let mut rows = std::array::from_fn(|_| Vec::new());
    rows.iter_mut().try_for_each(|row| resize(row, len, value.clone()))?;
    Ok(rows)
}

/// Appends one element.
#[inline]
pub fn push<T>(vec: &mut Vec<T>, value: T) -> Result<(), OutOfMemory> {
    // The same condition as in `Vec::push`, so that the compiler checks it once.
    if vec.len() == vec.capacity() {
        grow(vec, 1)?;
    }
    vec.push(value);
    Ok(())
}

/// Appends copies of the elements of a slice.
#[inline]
pub fn extend_from_slice<T: Clone>(vec: &mut Vec<T>, slice: &[T]) -> Result<(), OutOfMemory> {
    reserve(vec, slice.len())?;
    vec.extend_from_slice(slice);
    Ok(())
}

/// Appends the items of an iterator that knows their exact number.
#[inline]
pub fn extend<T>(vec: &mut Vec<T>, items: impl ExactSizeIterator<Item = T>) -> Result<(), OutOfMemory> {
    reserve(vec, items.len())?;
    vec.extend(items);
    Ok(())
}

/// Changes the length to `len`; new elements are copies of `value`.
#[inline]
pub fn resize<T: Clone>(vec: &mut Vec<T>, len: usize, value: T) -> Result<(), OutOfMemory> {
    reserve(vec, len.saturating_sub(vec.len()))?;
    vec.resize(len, value);
    Ok(())
}

/// Fails if `num_bytes` cannot be allocated now.
///
/// For calls of a dependency that allocates about that much memory and aborts if it cannot.
pub fn check_available(num_bytes: usize) -> Result<(), OutOfMemory> {
    // Without `black_box`, the compiler may remove the allocation.
    std::hint::black_box(with_capacity::<u8>(num_bytes)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_sizes_are_errors_that_state_the_size() {
        let error = with_capacity::<u8>(usize::MAX).unwrap_err();
        assert_eq!(error.to_string(), "not enough memory for 18,446,744,073,709,551,615 bytes");
        assert_eq!(OutOfMemory { num_bytes: 536_870_912 }.to_string(), "not enough memory for 536,870,912 bytes");
        assert_eq!(filled(1 << 61, 0_u64), Err(OutOfMemory { num_bytes: usize::MAX }));
        let mut vec = vec![1_u8, 2];
        assert_eq!(reserve(&mut vec, 1 << 63), Err(OutOfMemory { num_bytes: (1 << 63) + 2 }));
        assert_eq!(resize(&mut vec, usize::MAX, 0), Err(OutOfMemory { num_bytes: usize::MAX }));
        assert_eq!(vec, [1, 2]);
    }

    #[test]
    fn vectors_have_the_same_content_as_with_the_methods_of_vec() {
        let mut vec = copy(&[1, 2]).unwrap();
        push(&mut vec, 3).unwrap();
        extend_from_slice(&mut vec, &[4, 5]).unwrap();
        extend(&mut vec, [6, 7].into_iter()).unwrap();
        resize(&mut vec, 9, 8).unwrap();
        assert_eq!(vec, [1, 2, 3, 4, 5, 6, 7, 8, 8]);
        assert_eq!(repeat(&[1, 2], 2).unwrap(), [1, 2, 1, 2]);
        assert_eq!(collect_count(1.., 2).unwrap(), [1, 2]);
        assert_eq!(try_collect([1, 2].map(Ok).into_iter()).unwrap(), [1, 2]);
        assert_eq!(filled_rows::<u8, 2>(3, 1).unwrap(), [vec![1; 3], vec![1; 3]]);
        assert_eq!(filled_rows::<u8, 2>(usize::MAX, 1), Err(OutOfMemory { num_bytes: usize::MAX }));
        assert_eq!(collect(vec.iter().map(|value| value * 2)).unwrap()[8], 16);
    }
}
