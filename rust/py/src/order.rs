//! Random permutations of positions, random words, and lookup of positions in the indexes of many shards.
use std::hint::black_box;

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use recordmill_core::memory::{self, OutOfMemory};
use recordmill_core::random::{self, Permutation, append_random_words};

use crate::buffers::{ArrayView, Block, NumberVec, copy_array, memory_error};
use crate::framing::{IndexArgs, IndexViews};

/// Number of positions that are looked up together, so that their cache misses overlap.
const GROUP_LEN: usize = 64;

/// Apply a permutation of `0..length`, or its inverse, to each number.
///
/// The permutation is a Feistel network with one round per key in `keys`. The rounds change a pair of numbers: the
/// remainder and the quotient of the input when divided by `left`.
#[pyfunction]
#[pyo3(signature = (numbers, length, left, keys, *, invert=false))]
pub fn permute(
    py: Python<'_>,
    numbers: &Bound<'_, PyAny>,
    length: u64,
    left: u64,
    keys: &Bound<'_, PyAny>,
    invert: bool,
) -> PyResult<Block> {
    let mut numbers = copy_array::<i64>(py, numbers)?;
    let permutation = Permutation::new(length, left, copy_array::<u64>(py, keys)?)
        .ok_or_else(|| PyValueError::new_err(format!("left={left} cannot split {length} numbers into 32-bit pairs")))?;
    py.detach(|| if invert { permutation.invert(&mut numbers) } else { permutation.apply(&mut numbers) })
        .map_err(|outside| PyIndexError::new_err(format!("position {outside} is out of range for {length} numbers")))?;
    Ok(Block::from_integers(numbers))
}

/// Return 0 … length - 1 in random order, determined by seed and stream.
#[pyfunction]
pub fn random_order(py: Python<'_>, length: u32, seed: u64, stream: [u32; 3]) -> PyResult<Block> {
    py.detach(|| random::random_order(length, seed, stream)).map(Block::from_integers).map_err(memory_error)
}

/// Return the random words `first` to `first + count - 1` of each position of an epoch, for one stage.
///
/// The counter of the random generator is (word number / 2, bits 0 to 31 of the position, bits 32 to 47 of the position
/// and the stage, epoch); the key is the seed.
#[pyfunction]
pub fn random_words(
    py: Python<'_>,
    seed: u64,
    epoch: u32,
    positions: &Bound<'_, PyAny>,
    stage: u16,
    first: u64,
    count: usize,
) -> PyResult<Block> {
    let view = ArrayView::<u64>::from_object(positions)?;
    let positions = view.as_slice();
    let too_many = || PyValueError::new_err(format!("first + count must be at most 2^33, got {first} + {count}"));
    first.checked_add(count as u64).filter(|end| *end <= 1 << 33).ok_or_else(too_many)?;
    let total = positions.len().checked_mul(count).ok_or_else(too_many)?;
    let mut words = memory::with_capacity(total).map_err(memory_error)?;
    let words = py.detach(|| {
        for &position in positions {
            let stream = [position as u32, (position >> 32) as u32 | u32::from(stage) << 16, epoch];
            append_random_words(&mut words, seed, stream, first, count);
        }
        words
    });
    Ok(Block::new(NumberVec::UInt64(words)))
}

/// Table of offset and length of each frame of many shards, in the order of the shards.
#[pyclass(frozen, module = "recordmill._core")]
pub struct FrameTable {
    /// Position of the first record of each shard, and the total number of records.
    starts: Vec<i64>,
    shards: Vec<ShardIndex>,
}

/// Offsets and lengths of the frames of one shard.
struct ShardIndex {
    offsets: ArrayView<i64>,
    lengths: ArrayView<i64>,
    checksums: Option<ArrayView<i64>>,
    /// Whether each frame ends where the next one begins; a length is then the difference of two offsets.
    is_dense: bool,
}

impl ShardIndex {
    fn new(index: &IndexArgs<'_>) -> PyResult<Self> {
        let IndexViews { offsets, lengths, checksums } = IndexViews::new(index)?;
        let ends =
            offsets.as_slice().iter().zip(lengths.as_slice()).map(|(offset, length)| offset.wrapping_add(*length));
        let is_dense = offsets.as_slice().iter().skip(1).zip(ends).all(|(offset, end)| *offset == end);
        Ok(Self { offsets, lengths, checksums, is_dense })
    }

    fn locate_frame(&self, row: usize) -> (i64, i64) {
        let offsets = self.offsets.as_slice();
        match offsets.get(row + 1) {
            Some(end) if self.is_dense => (offsets[row], end - offsets[row]),
            _ => (offsets[row], self.lengths.as_slice()[row]),
        }
    }

    fn payload_checksum(&self, row: usize) -> i64 {
        self.checksums.as_ref().map_or(-1, |checksums| checksums.as_slice()[row])
    }
}

/// Locations of records: (shard indices, shards, rows, offsets, lengths, checksums). The second item lists the shards
/// that occur. All other items have one value per record; a shard index is a position in that list, and a row is a
/// position in a shard. The checksums are None if no shard has any.
type Locations = (Block, Vec<usize>, Block, Block, Block, Option<Block>);

#[pymethods]
impl FrameTable {
    #[new]
    fn new(indexes: Vec<IndexArgs<'_>>) -> PyResult<Self> {
        let mut starts = memory::with_capacity(indexes.len() + 1).map_err(memory_error)?;
        let mut shards = memory::with_capacity(indexes.len()).map_err(memory_error)?;
        starts.push(0);
        for index in &indexes {
            let index = ShardIndex::new(index)?;
            starts.push(starts[starts.len() - 1] + index.offsets.as_slice().len() as i64);
            shards.push(index);
        }
        Ok(Self { starts, shards })
    }

    /// Find the records at the given positions.
    ///
    /// Returns (shard indices, shards, rows, offsets, lengths, checksums). The shard of record i is
    /// `shards[shard_indices[i]]`, and its row is its position in that shard.
    fn locate(&self, py: Python<'_>, positions: &Bound<'_, PyAny>) -> PyResult<Locations> {
        let positions = ArrayView::<i64>::from_object(positions)?;
        let positions = positions.as_slice();
        if let Some(outside) = positions.iter().find(|position| !(0..self.num_records()).contains(*position)) {
            let message = format!("position {outside} is out of range for {} records", self.num_records());
            return Err(PyIndexError::new_err(message));
        }
        py.detach(|| self.locate_positions(positions)).map_err(memory_error)
    }
}

impl FrameTable {
    fn num_records(&self) -> i64 {
        self.starts[self.shards.len()]
    }

    /// Finds the records at the given positions, which must be in range.
    fn locate_positions(&self, positions: &[i64]) -> Result<Locations, OutOfMemory> {
        let new = || memory::with_capacity(positions.len());
        let (mut shard_indices, mut rows, mut offsets, mut lengths) = (new()?, new()?, new()?, new()?);
        let mut checksums = self.shards.iter().any(|index| index.checksums.is_some()).then(new).transpose()?;
        let indexes = memory::collect(self.shards.iter().map(|index| (index.offsets.as_slice(), index)))?;
        for group in positions.chunks(GROUP_LEN) {
            let start = shard_indices.len();
            shard_indices.extend(group.iter().map(|&position| self.find_shard(position) as i64));
            let shard_positions = group.iter().zip(&shard_indices[start..]);
            rows.extend(shard_positions.map(|(position, &shard)| position - self.starts[shard as usize]));
            let locations = || shard_indices[start..].iter().zip(&rows[start..]);
            // Prefetches the offsets of the group, so that their cache misses overlap.
            black_box(locations().fold(0, |all, (&shard, &row)| all ^ indexes[shard as usize].0[row as usize]));
            for (&shard, &row) in locations() {
                let (offset, length) = indexes[shard as usize].1.locate_frame(row as usize);
                offsets.push(offset);
                lengths.push(length);
            }
            if let Some(checksums) = &mut checksums {
                checksums
                    .extend(locations().map(|(&shard, &row)| indexes[shard as usize].1.payload_checksum(row as usize)));
            }
        }
        let used = self.number_used_shards(&mut shard_indices)?;
        let checksums = checksums.map(Block::from_integers);
        let [shard_indices, rows, offsets, lengths] = [shard_indices, rows, offsets, lengths].map(Block::from_integers);
        Ok((shard_indices, used, rows, offsets, lengths, checksums))
    }

    /// Returns the index of the shard that contains a position, which must be in range.
    fn find_shard(&self, position: i64) -> usize {
        // With few shards, a linear scan without data-dependent branches is faster than a binary search.
        if self.starts.len() <= 16 {
            return self.starts[1..].iter().filter(|&&start| start <= position).count();
        }
        self.starts[1..].partition_point(|&start| start <= position)
    }

    /// Returns the shards that occur in `shard_indices`, in ascending order, and replaces each shard by its index in
    /// that list.
    fn number_used_shards(&self, shard_indices: &mut [i64]) -> Result<Vec<usize>, OutOfMemory> {
        let mut ordinals = memory::filled(self.shards.len(), -1)?;
        shard_indices.iter().for_each(|&shard| ordinals[shard as usize] = 0);
        let mut used = memory::with_capacity(ordinals.len())?;
        used.extend((0..ordinals.len()).filter(|&shard| ordinals[shard] == 0));
        used.iter().enumerate().for_each(|(ordinal, &shard)| ordinals[shard] = ordinal as i64);
        shard_indices.iter_mut().for_each(|shard| *shard = ordinals[*shard as usize]);
        Ok(used)
    }
}
