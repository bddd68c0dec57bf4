//! What features a set of records has: names, kinds, and how many values, frames and bytes.
use super::tally::Tally;
use super::{PayloadKind, Section, ValueKind, walk};
use crate::error::Fault;

/// What was seen of one feature. All extremes are 0 where nothing was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureSurvey {
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
pub struct Survey {
    kind: PayloadKind,
    tally: Tally,
}

impl Survey {
    /// A survey of payloads of `kind`.
    pub fn new(kind: PayloadKind) -> Self {
        Self { kind, tally: Tally::default() }
    }

    /// Takes one more record.
    pub fn push(&mut self, payload: &[u8]) -> Result<(), Fault> {
        let num_known = self.tally.num_features();
        let walked = walk(self.kind, payload, &mut self.tally);
        match walked {
            Ok(()) => self.tally.commit(),
            Err(_) => self.tally.forget(num_known),
        }
        Ok(walked?)
    }

    /// What was seen, sorted by section and name.
    pub fn finish(self) -> Vec<FeatureSurvey> {
        let mut seen = self.tally.into_surveys();
        seen.sort_by(|a, b| (a.section, &a.name).cmp(&(b.section, &b.name)));
        seen
    }
}
