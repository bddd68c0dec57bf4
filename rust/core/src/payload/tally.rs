//! Counts of what each feature brings, record by record; a record counts only once it is known to be sound.
use super::sink::Sink;
use super::survey::FeatureSurvey;
use super::wire::{Reader, Wire};
use super::{Section, ValueKind, varint};
use std::collections::HashMap;

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
struct Seen {
    kind: Option<ValueKind>,
    mixed: bool,
    counts: Span,
    bytes: Span,
}

impl Seen {
    const NOTHING: Self = Self { kind: None, mixed: false, counts: Span::NONE, bytes: Span::NONE };

    fn join(&mut self, other: Self) {
        self.mixed |= other.mixed || (self.kind.is_some() && other.kind.is_some() && self.kind != other.kind);
        self.kind = self.kind.or(other.kind);
        self.counts.join(other.counts);
        self.bytes.join(other.bytes);
    }
}

/// The feature that is being read: of the context, or of one frame.
#[derive(Debug, Clone, Copy)]
struct Current {
    kind: Option<ValueKind>,
    count: u64,
    bytes: Span,
}

impl Current {
    const EMPTY: Self = Self { kind: None, count: 0, bytes: Span::NONE };

    /// As something seen: values are only counted where there is a kind, or where a frame has none.
    fn seen(self, is_frame: bool) -> Seen {
        let mut counts = Span::NONE;
        if is_frame || self.kind.is_some() {
            counts.add(self.count);
        }
        Seen { kind: self.kind, mixed: false, counts, bytes: self.bytes }
    }
}

struct Entry {
    name: Vec<u8>,
    section: Section,
    num_present: u64,
    all: Seen,
    frames: Span,
    /// What the current record has brought so far, and whether it has brought anything.
    touched: bool,
    current: Current,
    record: Seen,
    record_frames: u64,
}

impl Entry {
    fn new(section: Section, name: &[u8]) -> Self {
        Self {
            name: name.to_vec(),
            section,
            num_present: 0,
            all: Seen::NOTHING,
            frames: Span::NONE,
            touched: false,
            current: Current::EMPTY,
            record: Seen::NOTHING,
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

    fn into_survey(self) -> FeatureSurvey {
        FeatureSurvey {
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
pub struct Tally {
    /// Per section: the place of each name in `features`.
    names: [HashMap<Vec<u8>, usize>; 2],
    features: Vec<Entry>,
    /// Features of the current record.
    touched: Vec<usize>,
}

impl Tally {
    /// Number of features met so far.
    pub fn num_features(&self) -> usize {
        self.features.len()
    }

    /// The record was sound: counts what it brought.
    pub fn commit(&mut self) {
        for feature in self.touched.drain(..) {
            let entry = &mut self.features[feature];
            entry.commit();
            entry.touched = false;
        }
    }

    /// Drops what the current record brought, and the features from `known` on, which only it has.
    pub fn forget(&mut self, known: usize) {
        for feature in self.touched.drain(..) {
            self.features[feature].touched = false;
        }
        for entry in self.features.drain(known..) {
            self.names[entry.section as usize].remove(&entry.name);
        }
    }

    /// What was seen of each feature.
    pub fn into_surveys(self) -> Vec<FeatureSurvey> {
        self.features.into_iter().map(Entry::into_survey).collect()
    }
}

impl Sink for Tally {
    fn find(&mut self, section: Section, key: &[u8]) -> Option<usize> {
        let names = &mut self.names[section as usize];
        if let Some(&feature) = names.get(key) {
            return Some(feature);
        }
        names.insert(key.to_vec(), self.features.len());
        self.features.push(Entry::new(section, key));
        Some(self.features.len() - 1)
    }

    fn begin(&mut self, slot: usize) {
        let entry = &mut self.features[slot];
        if !entry.touched {
            entry.touched = true;
            self.touched.push(slot);
        }
        entry.current = Current::EMPTY;
        entry.record = Seen::NOTHING;
        entry.record_frames = 0;
    }

    fn select(&mut self, slot: usize, kind: ValueKind) {
        let current = &mut self.features[slot].current;
        if current.kind != Some(kind) {
            *current = Current { kind: Some(kind), ..Current::EMPTY };
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
        self.features[slot].current = Current::EMPTY;
    }

    fn end_frame(&mut self, slot: usize) {
        let entry = &mut self.features[slot];
        entry.record.join(entry.current.seen(true));
        entry.record_frames += 1;
    }
}
