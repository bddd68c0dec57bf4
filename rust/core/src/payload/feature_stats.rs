//! Statistics of the features in a set of records: names, kinds, and the numbers of values, frames and bytes.
//!
//! A record is added to the statistics only after its whole payload was validated.
use super::message::FeatureSink;
use super::wire::{ParseResult, WireReader};
use super::{PayloadKind, Section, ValueKind, parse_payload, varint};
use crate::error::Fault;
use crate::memory::{self, OutOfMemory};
use std::collections::HashMap;

/// Statistics of one feature. A minimum or maximum is 0 if there is nothing to count or measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureStats {
    /// Key of the feature.
    pub name: Vec<u8>,
    /// Section that contains the key.
    pub section: Section,
    /// Kind of the first occurrence that has a kind; None if no occurrence has one.
    pub kind: Option<ValueKind>,
    /// Whether the feature occurs with different kinds.
    pub mixed_kinds: bool,
    /// Number of records that contain the feature. A context feature counts if it has a kind, a feature list even if it
    /// is empty.
    pub num_present: u64,
    /// Minimum number of values in a record (context) or in a frame (lists).
    pub min_count: u64,
    /// Maximum number of values in a record (context) or in a frame (lists).
    pub max_count: u64,
    /// Minimum number of frames in a record (lists).
    pub min_frames: u64,
    /// Maximum number of frames in a record (lists).
    pub max_frames: u64,
    /// Length of the shortest byte string.
    pub min_bytes: u64,
    /// Length of the longest byte string.
    pub max_bytes: u64,
}

/// Collects the statistics of the features in many payloads. Invalid payloads do not count.
pub struct FeatureCollector {
    kind: PayloadKind,
    counters: FeatureCounters,
}

impl FeatureCollector {
    /// Creates a collector for payloads of `kind`.
    pub fn new(kind: PayloadKind) -> Self {
        Self { kind, counters: FeatureCounters::default() }
    }

    /// Adds the features of one payload to the statistics, unless it is invalid.
    pub fn push_payload(&mut self, payload: &[u8]) -> Result<(), Fault> {
        let num_known = self.counters.num_features();
        let result = parse_payload(self.kind, payload, &mut self.counters);
        match result {
            Ok(()) => self.counters.commit_record(),
            Err(_) => self.counters.discard_record(num_known),
        }
        Ok(result?)
    }

    /// Returns the statistics, sorted by section and name.
    pub fn finish(self) -> Result<Vec<FeatureStats>, OutOfMemory> {
        let mut stats = self.counters.into_stats()?;
        // Section and name are unique, so the sort need not be stable. A stable sort would allocate memory.
        stats.sort_unstable_by(|a, b| (a.section, &a.name).cmp(&(b.section, &b.name)));
        Ok(stats)
    }
}

/// Minimum and maximum of some numbers.
#[derive(Debug, Clone, Copy)]
struct MinMax {
    min: u64,
    max: u64,
}

impl MinMax {
    const EMPTY: Self = Self { min: u64::MAX, max: 0 };

    fn add(&mut self, number: u64) {
        self.merge(Self { min: number, max: number });
    }

    fn merge(&mut self, other: Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    fn min_or_zero(self) -> u64 {
        if self.min > self.max { 0 } else { self.min }
    }
}

/// Kinds, numbers of values and lengths of byte strings, in one record or in all records.
#[derive(Debug, Clone, Copy)]
struct ValueStats {
    kind: Option<ValueKind>,
    is_mixed: bool,
    counts: MinMax,
    bytes: MinMax,
}

impl ValueStats {
    const EMPTY: Self = Self { kind: None, is_mixed: false, counts: MinMax::EMPTY, bytes: MinMax::EMPTY };

    fn merge(&mut self, other: Self) {
        self.is_mixed |= other.is_mixed || (self.kind.is_some() && other.kind.is_some() && self.kind != other.kind);
        self.kind = self.kind.or(other.kind);
        self.counts.merge(other.counts);
        self.bytes.merge(other.bytes);
    }
}

/// Statistics of the feature that is being parsed: a context feature, or one frame of a feature list.
#[derive(Debug, Clone, Copy)]
struct CurrentFeature {
    kind: Option<ValueKind>,
    count: u64,
    bytes: MinMax,
}

impl CurrentFeature {
    const EMPTY: Self = Self { kind: None, count: 0, bytes: MinMax::EMPTY };

    /// Returns the statistics of this feature. Without a kind, a frame has 0 values, and a context feature is absent.
    fn to_stats(self, is_frame: bool) -> ValueStats {
        let mut counts = MinMax::EMPTY;
        if is_frame || self.kind.is_some() {
            counts.add(self.count);
        }
        ValueStats { kind: self.kind, is_mixed: false, counts, bytes: self.bytes }
    }
}

struct FeatureCounter {
    name: Vec<u8>,
    section: Section,
    num_present: u64,
    /// Statistics of all valid records.
    total: ValueStats,
    frames: MinMax,
    /// Whether the current record contains the feature. The fields below describe the current record.
    is_present: bool,
    current: CurrentFeature,
    record: ValueStats,
    record_frames: u64,
}

impl FeatureCounter {
    fn new(section: Section, name: Vec<u8>) -> Self {
        Self {
            name,
            section,
            num_present: 0,
            total: ValueStats::EMPTY,
            frames: MinMax::EMPTY,
            is_present: false,
            current: CurrentFeature::EMPTY,
            record: ValueStats::EMPTY,
            record_frames: 0,
        }
    }

    fn commit_record(&mut self) {
        if self.section == Section::Lists {
            self.num_present += 1;
            self.frames.add(self.record_frames);
            self.total.merge(self.record);
        } else {
            self.num_present += u64::from(self.current.kind.is_some());
            self.total.merge(self.current.to_stats(false));
        }
    }

    fn into_stats(self) -> FeatureStats {
        FeatureStats {
            name: self.name,
            section: self.section,
            kind: self.total.kind,
            mixed_kinds: self.total.is_mixed,
            num_present: self.num_present,
            min_count: self.total.counts.min_or_zero(),
            max_count: self.total.counts.max,
            min_frames: self.frames.min_or_zero(),
            max_frames: self.frames.max,
            min_bytes: self.total.bytes.min_or_zero(),
            max_bytes: self.total.bytes.max,
        }
    }
}

/// Counters of all features, in the order of their first occurrence.
#[derive(Default)]
struct FeatureCounters {
    /// Index in `features` of each name, per section.
    names: [HashMap<Vec<u8>, usize>; 2],
    features: Vec<FeatureCounter>,
    /// Indices of the features in the current record.
    present: Vec<usize>,
}

impl FeatureCounters {
    fn num_features(&self) -> usize {
        self.features.len()
    }

    /// Adds the current record, which is valid, to the statistics.
    fn commit_record(&mut self) {
        for feature in self.present.drain(..) {
            let feature = &mut self.features[feature];
            feature.commit_record();
            feature.is_present = false;
        }
    }

    /// Discards the current record and the features from index `num_known` on, which occur only in it.
    fn discard_record(&mut self, num_known: usize) {
        for feature in self.present.drain(..) {
            self.features[feature].is_present = false;
        }
        for feature in self.features.drain(num_known..) {
            self.names[feature.section as usize].remove(&feature.name);
        }
    }

    fn into_stats(self) -> Result<Vec<FeatureStats>, OutOfMemory> {
        memory::collect(self.features.into_iter().map(FeatureCounter::into_stats))
    }

    /// Adds a feature that has not occurred before, and returns its index.
    fn add_feature(&mut self, section: Section, key: &[u8]) -> Result<usize, OutOfMemory> {
        let index = self.features.len();
        let names = &mut self.names[section as usize];
        let num_bytes = (names.len() + 1) * size_of::<(Vec<u8>, usize)>();
        names.try_reserve(1).map_err(|_| OutOfMemory { num_bytes })?;
        let (name, counter) = (memory::copy(key)?, FeatureCounter::new(section, memory::copy(key)?));
        // `present` lists each feature at most once per record, so room for all features is sufficient.
        let num_absent = index + 1 - self.present.len();
        memory::reserve(&mut self.present, num_absent)?;
        memory::push(&mut self.features, counter)?;
        names.insert(name, index);
        Ok(index)
    }
}

impl FeatureSink for FeatureCounters {
    fn find_slot(&mut self, section: Section, key: &[u8]) -> Result<Option<usize>, OutOfMemory> {
        match self.names[section as usize].get(key) {
            Some(&feature) => Ok(Some(feature)),
            None => self.add_feature(section, key).map(Some),
        }
    }

    fn begin_entry(&mut self, slot: usize) {
        let feature = &mut self.features[slot];
        if !feature.is_present {
            feature.is_present = true;
            // The capacity is sufficient: `add_feature` makes room for all features.
            self.present.push(slot);
        }
        feature.current = CurrentFeature::EMPTY;
        feature.record = ValueStats::EMPTY;
        feature.record_frames = 0;
    }

    fn begin_list(&mut self, slot: usize, kind: ValueKind) {
        let current = &mut self.features[slot].current;
        if current.kind != Some(kind) {
            *current = CurrentFeature { kind: Some(kind), ..CurrentFeature::EMPTY };
        }
    }

    fn push_bytes(&mut self, slot: usize, value: &[u8]) -> Result<(), OutOfMemory> {
        let current = &mut self.features[slot].current;
        current.count += 1;
        current.bytes.add(value.len() as u64);
        Ok(())
    }

    fn push_fixed(&mut self, slot: usize, chunk: &[u8]) -> Result<(), OutOfMemory> {
        let current = &mut self.features[slot].current;
        let width = if current.kind == Some(ValueKind::Float32) { 4 } else { 8 };
        current.count += chunk.len() as u64 / width;
        Ok(())
    }

    fn push_varints(&mut self, slot: usize, chunk: WireReader) -> ParseResult<()> {
        self.features[slot].current.count += varint::count_varints(chunk)? as u64;
        Ok(())
    }

    fn begin_frame(&mut self, slot: usize) {
        self.features[slot].current = CurrentFeature::EMPTY;
    }

    fn end_frame(&mut self, slot: usize) -> Result<(), OutOfMemory> {
        let feature = &mut self.features[slot];
        feature.record.merge(feature.current.to_stats(true));
        feature.record_frames += 1;
        Ok(())
    }
}
