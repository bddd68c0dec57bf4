//! Whole batches: encoded images in, batch memory out, on several threads; one plan says what happens to each image.
mod colors;
mod element;
mod engine;
mod entry;
mod header;
mod image;
mod levels;
mod mask;
mod moves;
mod plan;
mod read;
mod run;

pub use colors::{ColorStep, Jitter, Shift};
pub use element::Element;
pub use engine::Engine;
pub use entry::entry_points;
pub use header::{Described, describe};
pub use levels::Source;
pub use mask::{Class, masks_each, masks_into};
pub use plan::{Beyond, Deep, Finish, Gray, Job, MaskPlan, Move, Place, Reading, Want};
pub use run::{Decoded, change_pixels, decode_each, decode_into};
