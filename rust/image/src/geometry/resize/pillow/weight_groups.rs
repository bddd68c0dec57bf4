//! Fixed-point weights in groups of four, prepared for vector code.
use super::spans::Spans;
use crate::memory::{self, OutOfMemory};

/// Number of taps in a group.
pub(super) const GROUP_LEN: usize = 4;

/// Four weights, split into the parts that the selected implementation multiplies.
pub(super) type WeightGroup = [i32; 4];

/// The weights of all spans in groups of four. All spans have as many groups as the longest one, padded with zero
/// weights.
pub(super) struct WeightGroups {
    /// Number of groups per span.
    pub groups: usize,
    /// Groups of all spans, in order.
    pub weights: Vec<WeightGroup>,
}

impl WeightGroups {
    /// Groups the weights of `spans` and splits each group with `split`.
    pub fn new(spans: &Spans<i32>, split: fn(WeightGroup) -> WeightGroup) -> Result<Self, OutOfMemory> {
        let groups = spans.longest_span().div_ceil(GROUP_LEN);
        let mut weights = memory::with_capacity(spans.len() * groups)?;
        for span in spans.iter() {
            let group_weights = |group: usize| {
                split(std::array::from_fn(|tap| span.weights.get(group * GROUP_LEN + tap).copied().unwrap_or(0)))
            };
            weights.extend((0..groups).map(group_weights));
        }
        Ok(Self { groups, weights })
    }

    /// Returns the weights of one span.
    pub fn groups_of_span(&self, index: usize) -> &[WeightGroup] {
        &self.weights[index * self.groups..][..self.groups]
    }
}

/// The spans of all columns, prepared for vector loads. The number of columns is padded to a multiple of `STEP`.
pub(super) struct ColumnWeights {
    /// Number of weight groups per column.
    pub groups: usize,
    /// For each column, the index of its first value in a source row.
    pub starts: Vec<u32>,
    /// Weight groups of all columns.
    pub weights: Vec<WeightGroup>,
    /// Number of values that a row must have, because loads read up to this index. Shorter rows are padded.
    pub reach: usize,
}

impl ColumnWeights {
    /// Number of columns processed at a time.
    pub const STEP: usize = 4;
    /// Number of values per load.
    pub const LOAD: usize = 16;

    /// Prepares the columns of `spans` for pixels with `channels` channels.
    pub fn new(
        spans: &Spans<i32>,
        channels: usize,
        split: fn(WeightGroup) -> WeightGroup,
    ) -> Result<Self, OutOfMemory> {
        let WeightGroups { groups, mut weights } = WeightGroups::new(spans, split)?;
        let whole = spans.len().next_multiple_of(Self::STEP);
        let mut starts = memory::with_capacity(whole)?;
        starts.extend(spans.iter().map(|span| (span.start * channels) as u32));
        let last = starts.iter().copied().max().unwrap_or(0) as usize;
        starts.resize(whole, 0);
        memory::resize(&mut weights, whole * groups, [0; 4])?;
        let reach = last + groups.saturating_sub(1) * GROUP_LEN * channels + Self::LOAD;
        Ok(Self { groups, starts, weights, reach })
    }
}
