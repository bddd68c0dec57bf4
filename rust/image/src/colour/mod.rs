//! Colour: what changes values and leaves pixels where they are.
pub mod normalise;
