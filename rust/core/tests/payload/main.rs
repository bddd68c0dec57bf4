//! Payloads: messages to columns and back, seen from outside.
mod common;
mod example;
mod hostile;
mod irheader;
mod ofrecord;
mod plan;
mod room;
mod roundtrip;
mod sequence;
mod serialize;
mod survey;
mod wire;
