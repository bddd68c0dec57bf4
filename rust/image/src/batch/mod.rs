//! Whole batches: encoded images in, batch memory out, on several threads; one plan says what happens to each image.
mod colours;
mod element;
mod engine;
mod entry;
mod header;
mod image;
mod moves;
mod plan;
mod read;
mod run;

pub use element::Element;
pub use engine::Engine;
pub use entry::entry_points;
pub use header::{Described, describe};
pub use plan::{Beyond, Colours, Deep, Finish, Grey, Jitter, Job, Move, Place, Reading, Want};
pub use run::{Decoded, decode_each, decode_into};
