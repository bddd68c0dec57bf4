//! Resize kernels. Each kernel reproduces the arithmetic of the library in its name.
pub mod boxes;
mod kernel;
mod nearest;
pub mod opencv;
pub mod pillow;
pub(crate) mod taps;
pub mod tensorflow;
pub(crate) mod two_tap;

pub use kernel::{Kernel, resize, resize_f32, resize_high_depth, resize_many};
pub(crate) use nearest::gather_pixels;
pub use nearest::{Nearest, resize_nearest};
