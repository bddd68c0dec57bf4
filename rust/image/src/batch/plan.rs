//! The plan of a batch: how its images are decoded, transformed and stored. Random parameters are already drawn.
use super::colors::ColorStep;
use super::pixel_values::SourcePixel;
use crate::collate::slot::{Layout, SlotValues};
use crate::color::normalize::Normalize;
use crate::geometry::resize::{Kernel, Nearest};
use crate::geometry::warp::Affine;
use crate::geometry::warp::Sampling;
use crate::jpeg::samples::{CmykConversion, Dct, Scale};
use crate::pixels::{Size, Window};

/// Channels of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputChannels {
    /// Red, green, blue.
    Rgb,
    /// One channel.
    Gray,
    /// Channels of the file, with alpha if it has any transparency.
    Stored,
}

/// How color is converted to gray.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gray {
    /// Pillow's rule, applied to decoded colors.
    Pillow,
    /// The luma plane of JPEG; libpng's rule for PNG.
    Libpng,
}

/// How samples of 16 bits are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SixteenBit {
    /// The image is refused.
    Refuse,
    /// All bits are kept.
    Keep,
    /// The upper byte is kept.
    HighByte,
}

/// How an encoded image is decoded.
#[derive(Debug, Clone, Copy)]
pub struct DecodeOptions {
    /// Channels.
    pub want: OutputChannels,
    /// Rule for gray.
    pub gray: Gray,
    /// Rule for 16 bits.
    pub deep: SixteenBit,
    /// Inverse transform of JPEG.
    pub dct: Dct,
    /// How CMYK JPEG images are converted to RGB.
    pub cmyk: CmykConversion,
    /// Whether chroma of JPEG is interpolated.
    pub fancy: bool,
    /// Size at which JPEG is decoded.
    pub scale: Scale,
    /// Largest number of pixels; larger images are faults.
    pub max_pixels: usize,
}

/// A rectangle that may reach beyond an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// Left edge.
    pub x: i64,
    /// Upper edge.
    pub y: i64,
    /// Columns and rows.
    pub size: Size,
}

/// Geometry steps of one image, in this order.
#[derive(Debug, Clone, Copy)]
pub struct ImageGeometry {
    /// EXIF orientation to undo, 1 to 8.
    pub orientation: u8,
    /// JPEG scale of this image, instead of that of the decode options.
    pub scale: Option<Scale>,
    /// Window in the upright image.
    pub window: Window,
    /// Size to which the window is resized.
    pub resized: Size,
    /// Output rectangle in the resized image.
    pub place: Placement,
    /// Horizontal flip, vertical flip.
    pub flip: [bool; 2],
    /// Affine map from output coordinates to input coordinates.
    pub matrix: Option<Affine>,
}

/// Values outside an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Padding {
    /// One 8-bit value per channel or for all channels, or a class number.
    Constant(Vec<u16>),
    /// The nearest pixel.
    Edge,
    /// The image mirrored.
    Reflect,
}

/// Additional options of masks. Of the job's decode options only `max_pixels` applies to them, and its kernel does not.
pub struct MaskPlan {
    /// Whether the mask's own EXIF orientation is undone.
    pub upright: bool,
    /// Size of each upright image, and its decoded size; empty for masks without images, which keep their size.
    pub sizes: Vec<(Size, Size)>,
    /// Whether a mask of another size is resized to its image.
    pub fit: bool,
    /// Rule for the nearest neighbor.
    pub rule: Nearest,
}

/// Layout and values of the output.
#[derive(Debug, Clone, Copy)]
pub struct OutputFormat {
    /// Order of the axes.
    pub layout: Layout,
    /// Whether the channels are blue, green, red.
    pub reverse: bool,
    /// Mean and factor for values 0 to 255.
    pub normalize: Normalize,
    /// Mean and factor for values 0 to 65,535.
    pub deep: Normalize,
    /// Whether 16-bit memory holds binary16 floats instead of integers.
    pub halves: bool,
    /// Number of means and of factors: 1 or the number of channels.
    pub counts: [usize; 2],
    /// Factors for values of 8 and of 16 bits, applied before the resize.
    pub factors_before_resize: Option<[f32; 2]>,
}

impl OutputFormat {
    /// Mean and factor for a type of decoded pixels.
    pub(super) fn normalize<T: SourcePixel>(&self) -> &Normalize {
        if T::UNIT == 1 { &self.normalize } else { &self.deep }
    }
}

/// A batch of encoded images and its plan.
pub struct Job<'a> {
    /// Encoded images.
    pub payloads: &'a [&'a [u8]],
    /// JPEG entry points of each image as bytes, possibly empty; or no entries at all.
    pub points: &'a [&'a [u8]],
    /// How images are decoded.
    pub decode_options: DecodeOptions,
    /// Geometry steps of each image.
    pub geometry: &'a [ImageGeometry],
    /// How images are resized.
    pub kernel: Kernel,
    /// Values outside the image.
    pub padding: Padding,
    /// How the affine map samples.
    pub sampling: Sampling,
    /// Values where the affine map leaves the image, one per channel or one for all.
    pub warp_fill: Vec<u16>,
    /// Color steps.
    pub colors: &'a [ColorStep],
    /// Layout and values of the output.
    pub output_format: OutputFormat,
}

// Element types of batch memory.

/// An element type of batch memory.
pub trait Element: Copy + Default + Send + Sync + 'static {
    /// Wraps the memory of one image.
    fn slot<'v>(values: &'v mut [Self], output_format: &OutputFormat) -> SlotValues<'v>;
}

impl Element for u8 {
    fn slot<'v>(values: &'v mut [Self], _: &OutputFormat) -> SlotValues<'v> {
        SlotValues::U8(values)
    }
}

/// Integers, or the bits of binary16 floats.
impl Element for u16 {
    fn slot<'v>(values: &'v mut [Self], output_format: &OutputFormat) -> SlotValues<'v> {
        if output_format.halves { SlotValues::F16(values) } else { SlotValues::U16(values) }
    }
}

impl Element for f32 {
    fn slot<'v>(values: &'v mut [Self], _: &OutputFormat) -> SlotValues<'v> {
        SlotValues::F32(values)
    }
}
