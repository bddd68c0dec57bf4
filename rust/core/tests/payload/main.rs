//! Payloads: messages to columns and back, seen from outside.
mod common;
mod example;
mod feature_stats;
mod hostile;
mod irheader;
mod ofrecord;
mod plan;
mod preallocated;
mod roundtrip;
mod sequence;
mod serialize;
mod wire;
