//! Resize kernels, each with the arithmetic of the library that it is named after.
pub mod boxes;
mod kernel;
pub mod opencv;
mod pick;
pub mod pillow;
pub(crate) mod taps;
pub mod tensorflow;
pub(crate) mod two_tap;

pub use kernel::{Kernel, Nearest, resize, resize_deep, resize_f32, resize_many, resize_nearest};
pub(crate) use pick::pick;
