//! Resize kernels, each with the arithmetic of the library that it is named after.
pub(crate) mod taps;
pub(crate) mod two_tap;
