//! Huffman decoding: canonical codes, and lookup tables for each kind of use.
pub(in crate::jpeg) mod ac;
pub(in crate::jpeg) mod code;
pub(in crate::jpeg) mod dc;
pub(in crate::jpeg) mod skip;
pub(in crate::jpeg) mod symbol;
