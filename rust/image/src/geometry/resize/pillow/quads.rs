//! Fixed-point weights in fours, ready for vectors.
use super::spans::Spans;

/// Taps that are weighed at once.
pub(super) const TAPS: usize = 4;

/// Four weights, cut into parts as a path multiplies them.
pub(super) type Quad = [i32; 4];

/// The weights of all spans in fours: as many for each span as the longest needs, filled up with weights of 0.
pub(super) struct Quads {
    /// How many each span has.
    pub groups: usize,
    /// Span after span.
    pub weights: Vec<Quad>,
}

impl Quads {
    /// The weights of `spans`, each four of them cut by `cut`.
    pub fn new(spans: &Spans<i32>, cut: fn(Quad) -> Quad) -> Self {
        let groups = spans.longest().div_ceil(TAPS);
        let mut weights = Vec::with_capacity(spans.len() * groups);
        for span in spans.iter() {
            let quad = |group: usize| {
                cut(std::array::from_fn(|tap| span.weights.get(group * TAPS + tap).copied().unwrap_or(0)))
            };
            weights.extend((0..groups).map(quad));
        }
        Self { groups, weights }
    }

    /// The weights of one span.
    pub fn of(&self, index: usize) -> &[Quad] {
        &self.weights[index * self.groups..][..self.groups]
    }
}

/// The spans of all columns, ready for loads; whole steps of columns.
pub(super) struct Columns {
    /// How many weights in fours each column has.
    pub groups: usize,
    /// The value with which each column begins.
    pub starts: Vec<u32>,
    /// The weights of all columns.
    pub weights: Vec<Quad>,
    /// Values of a row that are read, those beyond its end among them.
    pub reach: usize,
}

impl Columns {
    /// Columns that are made at once.
    pub const STEP: usize = 4;
    /// Values of one load.
    pub const LOAD: usize = 16;

    /// The columns of `spans` for pixels of `channels`.
    pub fn new(spans: &Spans<i32>, channels: usize, cut: fn(Quad) -> Quad) -> Self {
        let Quads { groups, mut weights } = Quads::new(spans, cut);
        let whole = spans.len().next_multiple_of(Self::STEP);
        let mut starts: Vec<u32> = spans.iter().map(|span| (span.start * channels) as u32).collect();
        let last = starts.iter().copied().max().unwrap_or(0) as usize;
        starts.resize(whole, 0);
        weights.resize(whole * groups, [0; 4]);
        let reach = last + groups.saturating_sub(1) * TAPS * channels + Self::LOAD;
        Self { groups, starts, weights, reach }
    }
}
