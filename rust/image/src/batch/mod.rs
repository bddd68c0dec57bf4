//! Batches: decodes encoded images into batch memory on several threads. A plan describes the processing of each image.
mod colors;
mod image;
mod mask;
mod pixel_values;
mod plan;
mod read;
mod run;
mod transform;

pub use colors::{ColorStep, Jitter, Shift};
pub use mask::{Class, masks_each, masks_into};
pub use pixel_values::SourcePixel;
pub use plan::{
    DecodeOptions, Element, Gray, ImageGeometry, Job, MaskPlan, OutputChannels, OutputFormat, Padding, Placement,
    SixteenBit,
};
pub use read::{ImageInfo, describe};
pub use run::{Decoded, WorkerState, change_pixels, decode_each, decode_into, entry_points};
