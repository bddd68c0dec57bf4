//! Which features a set of records has: names, kinds, and the numbers of values, frames and bytes.
//!
//! A record is counted only once it is known to be sound.
use super::message::Sink;
use super::wire::{Reader, Wire};
use super::{PayloadKind, Section, ValueKind, varint, walk};
use crate::error::Fault;
use std::collections::HashMap;

/// What was seen of one feature. All extremes are 0 where nothing was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureStats {
    /// The feature's key.
    pub name: Vec<u8>,
    /// Where the key was found.
    pub section: Section,
    /// The kind seen first; `None` where the feature never had one.
    pub kind: Option<ValueKind>,
    /// Whether it was seen with another kind as well.
    pub mixed_kinds: bool,
    /// Number of records that have it: with a kind (context), or with any list of frames (lists).
    pub num_present: u64,
    /// Fewest values in a record (context) or in a frame (lists).
    pub min_count: u64,
    /// Most values in a record (context) or in a frame (lists).
    pub max_count: u64,
    /// Fewest frames in a record (lists).
    pub min_frames: u64,
    /// Most frames in a record (lists).
    pub max_frames: u64,
    /// Length of the shortest byte string.
    pub min_bytes: u64,
    /// Length of the longest byte string.
    pub max_bytes: u64,
}

/// Collects what features records have.
///
/// A payload that is refused leaves no trace.
pub struct FeatureCollector {
    kind: PayloadKind,
    counters: FeatureCounters,
}

impl FeatureCollector {
    /// A survey of payloads of `kind`.
    pub fn new(kind: PayloadKind) -> Self {
        Self { kind, counters: FeatureCounters::default() }
    }

    /// Takes one more record.
    pub fn push(&mut self, payload: &[u8]) -> Result<(), Fault> {
        let num_known = self.counters.num_features();
        let walked = walk(self.kind, payload, &mut self.counters);
        match walked {
            Ok(()) => self.counters.commit(),
            Err(_) => self.counters.forget(num_known),
        }
        Ok(walked?)
    }

    /// What was seen, sorted by section and name.
    pub fn finish(self) -> Vec<FeatureStats> {
        let mut seen = self.counters.into_stats();
        seen.sort_by(|a, b| (a.section, &a.name).cmp(&(b.section, &b.name)));
        seen
    }
}

/// A smallest and a largest number.
#[derive(Debug, Clone, Copy)]
struct Span {
    min: u64,
    max: u64,
}

impl Span {
    const NONE: Self = Self { min: u64::MAX, max: 0 };

    fn add(&mut self, number: u64) {
        self.join(Self { min: number, max: number });
    }

    fn join(&mut self, other: Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    fn min_or_zero(self) -> u64 {
        if self.min > self.max { 0 } else { self.min }
    }
}

/// Kinds, counts and lengths, of one record or of all.
#[derive(Debug, Clone, Copy)]
struct Counts {
    kind: Option<ValueKind>,
    mixed: bool,
    counts: Span,
    bytes: Span,
}

impl Counts {
    const EMPTY: Self = Self { kind: None, mixed: false, counts: Span::NONE, bytes: Span::NONE };

    fn join(&mut self, other: Self) {
        self.mixed |= other.mixed || (self.kind.is_some() && other.kind.is_some() && self.kind != other.kind);
        self.kind = self.kind.or(other.kind);
        self.counts.join(other.counts);
        self.bytes.join(other.bytes);
    }
}

/// The feature that is being read: of the context, or of one frame.
#[derive(Debug, Clone, Copy)]
struct CurrentFeature {
    kind: Option<ValueKind>,
    count: u64,
    bytes: Span,
}

impl CurrentFeature {
    const EMPTY: Self = Self { kind: None, count: 0, bytes: Span::NONE };

    /// As something seen: values are only counted where there is a kind, or where a frame has none.
    fn seen(self, is_frame: bool) -> Counts {
        let mut counts = Span::NONE;
        if is_frame || self.kind.is_some() {
            counts.add(self.count);
        }
        Counts { kind: self.kind, mixed: false, counts, bytes: self.bytes }
    }
}

struct FeatureCounter {
    name: Vec<u8>,
    section: Section,
    num_present: u64,
    all: Counts,
    frames: Span,
    /// What the current record has brought so far, and whether it has brought anything.
    is_present: bool,
    current: CurrentFeature,
    record: Counts,
    record_frames: u64,
}

impl FeatureCounter {
    fn new(section: Section, name: &[u8]) -> Self {
        Self {
            name: name.to_vec(),
            section,
            num_present: 0,
            all: Counts::EMPTY,
            frames: Span::NONE,
            is_present: false,
            current: CurrentFeature::EMPTY,
            record: Counts::EMPTY,
            record_frames: 0,
        }
    }

    fn commit(&mut self) {
        if self.section == Section::Lists {
            self.num_present += 1;
            self.frames.add(self.record_frames);
            self.all.join(self.record);
        } else {
            self.num_present += u64::from(self.current.kind.is_some());
            self.all.join(self.current.seen(false));
        }
    }

    fn into_stats(self) -> FeatureStats {
        FeatureStats {
            name: self.name,
            section: self.section,
            kind: self.all.kind,
            mixed_kinds: self.all.mixed,
            num_present: self.num_present,
            min_count: self.all.counts.min_or_zero(),
            max_count: self.all.counts.max,
            min_frames: self.frames.min_or_zero(),
            max_frames: self.frames.max,
            min_bytes: self.all.bytes.min_or_zero(),
            max_bytes: self.all.bytes.max,
        }
    }
}

/// All features, by the order in which they were met.
#[derive(Default)]
pub struct FeatureCounters {
    /// Per section: the place of each name in `features`.
    names: [HashMap<Vec<u8>, usize>; 2],
    features: Vec<FeatureCounter>,
    /// Features of the current record.
    is_present: Vec<usize>,
}

impl FeatureCounters {
    /// Number of features met so far.
    pub fn num_features(&self) -> usize {
        self.features.len()
    }

    /// The record was sound: counts what it brought.
    pub fn commit(&mut self) {
        for feature in self.is_present.drain(..) {
            let entry = &mut self.features[feature];
            entry.commit();
            entry.is_present = false;
        }
    }

    /// Drops what the current record brought, and the features from `known` on, which only it has.
    pub fn forget(&mut self, known: usize) {
        for feature in self.is_present.drain(..) {
            self.features[feature].is_present = false;
        }
        for entry in self.features.drain(known..) {
            self.names[entry.section as usize].remove(&entry.name);
        }
    }

    /// What was seen of each feature.
    pub fn into_stats(self) -> Vec<FeatureStats> {
        self.features.into_iter().map(FeatureCounter::into_stats).collect()
    }
}

impl Sink for FeatureCounters {
    fn find(&mut self, section: Section, key: &[u8]) -> Option<usize> {
        let names = &mut self.names[section as usize];
        if let Some(&feature) = names.get(key) {
            return Some(feature);
        }
        names.insert(key.to_vec(), self.features.len());
        self.features.push(FeatureCounter::new(section, key));
        Some(self.features.len() - 1)
    }

    fn begin(&mut self, slot: usize) {
        let entry = &mut self.features[slot];
        if !entry.is_present {
            entry.is_present = true;
            self.is_present.push(slot);
        }
        entry.current = CurrentFeature::EMPTY;
        entry.record = Counts::EMPTY;
        entry.record_frames = 0;
    }

    fn select(&mut self, slot: usize, kind: ValueKind) {
        let current = &mut self.features[slot].current;
        if current.kind != Some(kind) {
            *current = CurrentFeature { kind: Some(kind), ..CurrentFeature::EMPTY };
        }
    }

    fn bytes(&mut self, slot: usize, value: &[u8]) {
        let current = &mut self.features[slot].current;
        current.count += 1;
        current.bytes.add(value.len() as u64);
    }

    fn fixed(&mut self, slot: usize, chunk: &[u8]) {
        let current = &mut self.features[slot].current;
        let width = if current.kind == Some(ValueKind::Float32) { 4 } else { 8 };
        current.count += chunk.len() as u64 / width;
    }

    fn varints(&mut self, slot: usize, chunk: Reader) -> Wire<()> {
        self.features[slot].current.count += varint::count(chunk)? as u64;
        Ok(())
    }

    fn begin_frame(&mut self, slot: usize) {
        self.features[slot].current = CurrentFeature::EMPTY;
    }

    fn end_frame(&mut self, slot: usize) {
        let entry = &mut self.features[slot];
        entry.record.join(entry.current.seen(true));
        entry.record_frames += 1;
    }
}
