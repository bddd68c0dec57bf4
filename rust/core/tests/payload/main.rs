//! Tests of payload codecs through the public functions.
mod common;
mod example;
mod feature_stats;
mod hostile;
mod irheader;
mod ofrecord;
mod plan;
mod roundtrip;
mod sequence;
mod serialize;
mod wire;
