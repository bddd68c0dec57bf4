//! Whole batches: encoded images in, batch memory out, on several threads; one plan says what happens to each image.
mod colors;
mod image;
mod levels;
mod mask;
mod moves;
mod plan;
mod read;
mod run;

pub use colors::{ColorStep, Jitter, Shift};
pub use levels::Source;
pub use mask::{Class, masks_each, masks_into};
pub use plan::{Beyond, Deep, Element, Finish, Gray, Job, MaskPlan, Move, Place, Reading, Want};
pub use read::{Described, describe};
pub use run::{Decoded, Engine, change_pixels, decode_each, decode_into, entry_points};
