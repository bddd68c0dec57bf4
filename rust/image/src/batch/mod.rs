//! Batches: decodes encoded images into batch memory on several threads. A plan describes the processing of each image.
mod colors;
mod image;
mod mask;
mod pixel_values;
mod plan;
mod read;
mod run;
mod transform;

pub use colors::{ChannelShift, ColorStep, JitterFactors};
pub use mask::{Class, decode_each_mask, decode_masks_into};
pub use pixel_values::SourcePixel;
pub use plan::{
    DecodeOptions, Element, Gray, ImageGeometry, Job, MaskPlan, OutputChannels, OutputFormat, Padding, Placement,
    SixteenBit,
};
pub use read::{ImageInfo, read_image_info};
pub use run::{Decoded, DecodedRows, WorkerState, build_entry_points, decode_each, decode_into, transform_pixels};
