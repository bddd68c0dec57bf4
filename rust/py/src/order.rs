//! Positions: put into a random order, and looked up in the indexes of many shards.
use std::hint::black_box;

use pyo3::exceptions::{PyIndexError, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use recordmill_core::random;
use recordmill_core::random::Permutation;
use recordmill_core::random::extend_words;

use crate::buffers::{Block, Numbers, View, vector};

/// Positions that are looked up at a time.
const TOGETHER: usize = 64;

/// Numbers below `length` by their places in an order, or places by their numbers; `left` and `keys` tell which order.
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
    let mut numbers = vector::<i64>(py, numbers)?;
    let permutation = Permutation::new(length, left, vector::<u64>(py, keys)?)
        .ok_or_else(|| PyValueError::new_err(format!("{length} numbers do not split into {left} and 32 bits more")))?;
    py.detach(|| if invert { permutation.invert(&mut numbers) } else { permutation.apply(&mut numbers) })
        .map_err(|outside| PyIndexError::new_err(format!("position {outside} of {length}")))?;
    Ok(Block::integers(numbers))
}

/// 0 … length - 1 in a uniform order, which seed and stream tell.
#[pyfunction]
pub fn random_order(py: Python<'_>, length: u32, seed: u64, stream: [u32; 3]) -> Block {
    Block::integers(py.detach(|| random::random_order(length, seed, stream)))
}

/// Random words `first` to `first + count - 1` of each position of an epoch, for one stage.
///
/// The counter is (word / 2, position's low word, position's high half and stage, epoch), the key is the seed.
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
    let view = View::<u64>::get(positions)?;
    let positions = view.slice();
    let too_many = || PyValueError::new_err(format!("{count} words from word {first} are too many"));
    first.checked_add(count as u64).filter(|end| *end <= 1 << 33).ok_or_else(too_many)?;
    let room = positions.len().checked_mul(count).ok_or_else(too_many)?;
    let mut words = Vec::new();
    words.try_reserve_exact(room).map_err(|_| PyMemoryError::new_err(format!("{room} random words")))?;
    let words = py.detach(|| {
        for &position in positions {
            let stream = [position as u32, (position >> 32) as u32 | u32::from(stage) << 16, epoch];
            extend_words(&mut words, seed, stream, first, count);
        }
        words
    });
    Ok(Block::new(Numbers::UInt64(words)))
}

/// Where the records of many shards are, one shard behind the other: offsets and lengths of the frames of each.
#[pyclass(frozen, module = "recordmill._core")]
pub struct FrameTable {
    starts: Vec<i64>,
    shards: Vec<Index>,
}

/// Offsets and lengths of the frames of one shard.
struct Index {
    offsets: View<i64>,
    lengths: View<i64>,
    /// Whether each frame but the last ends where the next one begins, so that its length need not be looked up.
    is_dense: bool,
}

impl Index {
    fn new(offsets: &Bound<'_, PyAny>, lengths: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (offsets, lengths) = (View::<i64>::get(offsets)?, View::<i64>::get(lengths)?);
        if offsets.slice().len() != lengths.slice().len() {
            return Err(PyValueError::new_err("an index has an offset and a length for every frame"));
        }
        let ends = offsets.slice().iter().zip(lengths.slice()).map(|(offset, length)| offset.wrapping_add(*length));
        let is_dense = offsets.slice().iter().skip(1).zip(ends).all(|(offset, end)| *offset == end);
        Ok(Self { offsets, lengths, is_dense })
    }

    fn frame(&self, row: usize) -> (i64, i64) {
        let offsets = self.offsets.slice();
        match offsets.get(row + 1) {
            Some(end) if self.is_dense => (offsets[row], end - offsets[row]),
            _ => (offsets[row], self.lengths.slice()[row]),
        }
    }
}

/// Places of records, each as long as the positions: ordinals into the shards that occur, these, rows, offsets, lengths.
type Located = (Block, Vec<usize>, Block, Block, Block);

#[pymethods]
impl FrameTable {
    #[new]
    fn new(indexes: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let (mut starts, mut shards) = (vec![0], Vec::new());
        for (offsets, lengths) in &indexes {
            let index = Index::new(offsets, lengths)?;
            starts.push(starts[starts.len() - 1] + index.offsets.slice().len() as i64);
            shards.push(index);
        }
        Ok(Self { starts, shards })
    }

    /// Finds the records at positions from 0.
    fn locate(&self, py: Python<'_>, positions: &Bound<'_, PyAny>) -> PyResult<Located> {
        let positions = View::<i64>::get(positions)?;
        let positions = positions.slice();
        let found = py.detach(|| self.find(positions));
        found.map_err(|outside| PyIndexError::new_err(format!("position {outside} of {} records", self.len())))
    }
}

impl FrameTable {
    fn len(&self) -> i64 {
        self.starts[self.shards.len()]
    }

    fn find(&self, positions: &[i64]) -> Result<Located, i64> {
        if let Some(&outside) = positions.iter().find(|position| !(0..self.len()).contains(*position)) {
            return Err(outside);
        }
        let room = || Vec::with_capacity(positions.len());
        let (mut which, mut rows, mut offsets, mut lengths) = (room(), room(), room(), room());
        let indexes: Vec<_> = self.shards.iter().map(|index| (index.offsets.slice(), index)).collect();
        for group in positions.chunks(TOGETHER) {
            let start = which.len();
            which.extend(group.iter().map(|&position| self.shard(position) as i64));
            let places = group.iter().zip(&which[start..]);
            rows.extend(places.map(|(position, &shard)| position - self.starts[shard as usize]));
            let places = || which[start..].iter().zip(&rows[start..]);
            // All at a time: what comes from memory is waited for once.
            black_box(places().fold(0, |all, (&shard, &row)| all ^ indexes[shard as usize].0[row as usize]));
            for (&shard, &row) in places() {
                let (offset, length) = indexes[shard as usize].1.frame(row as usize);
                offsets.push(offset);
                lengths.push(length);
            }
        }
        let used = self.number(&mut which);
        Ok((Block::integers(which), used, Block::integers(rows), Block::integers(offsets), Block::integers(lengths)))
    }

    /// The shard that holds a position inside; shards without records hold none.
    fn shard(&self, position: i64) -> usize {
        // Few shards: nothing that depends on the position has to be foreseen.
        if self.starts.len() <= 16 {
            return self.starts[1..].iter().filter(|&&start| start <= position).count();
        }
        self.starts[1..].partition_point(|&start| start <= position)
    }

    /// Replaces shards by their ordinals among those that occur, which it returns, rising.
    fn number(&self, which: &mut [i64]) -> Vec<usize> {
        let mut ordinals = vec![-1; self.shards.len()];
        which.iter().for_each(|&shard| ordinals[shard as usize] = 0);
        let used: Vec<_> = (0..ordinals.len()).filter(|&shard| ordinals[shard] == 0).collect();
        used.iter().enumerate().for_each(|(ordinal, &shard)| ordinals[shard] = ordinal as i64);
        which.iter_mut().for_each(|shard| *shard = ordinals[*shard as usize]);
        used
    }
}
