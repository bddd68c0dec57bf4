//! The plan of a batch: how its images are decoded, transformed and stored. All random parameters are already chosen.
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

/// Conversion of color to gray.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gray {
    /// Pillow's conversion, applied to the decoded colors.
    Pillow,
    /// The luma plane of JPEG; libpng's conversion for PNG.
    Libpng,
}

/// Treatment of 16-bit samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SixteenBit {
    /// An image with 16-bit samples is rejected with an error.
    Refuse,
    /// All bits are kept.
    Keep,
    /// Only the upper byte of each sample is kept.
    HighByte,
}

/// Decoding options.
#[derive(Debug, Clone, Copy)]
pub struct DecodeOptions {
    /// Channels of the output.
    pub want: OutputChannels,
    /// Conversion of color to gray.
    pub gray: Gray,
    /// Treatment of 16-bit samples.
    pub deep: SixteenBit,
    /// Inverse DCT algorithm for JPEG.
    pub dct: Dct,
    /// Formula that converts CMYK JPEG images to RGB.
    pub cmyk: CmykConversion,
    /// Whether subsampled chroma of JPEG is interpolated instead of repeated.
    pub fancy: bool,
    /// Scale at which JPEG is decoded.
    pub scale: Scale,
    /// Maximum number of pixels; larger images are rejected.
    pub max_pixels: usize,
}

/// A rectangle in an image that may extend beyond its edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// Column of the left edge.
    pub x: i64,
    /// Row of the top edge.
    pub y: i64,
    /// Width and height.
    pub size: Size,
}

/// Geometric operations on one image, applied in the order of the fields.
#[derive(Debug, Clone, Copy)]
pub struct ImageGeometry {
    /// EXIF orientation to apply, 1 to 8.
    pub orientation: u8,
    /// JPEG scale of this image, which overrides that of the decode options.
    pub scale: Option<Scale>,
    /// Window of the upright image.
    pub window: Window,
    /// Size to which the window is resized.
    pub resized: Size,
    /// Output rectangle in the resized image.
    pub place: Placement,
    /// Horizontal flip and vertical flip.
    pub flip: [bool; 2],
    /// Affine map from output coordinates to input coordinates.
    pub matrix: Option<Affine>,
}

/// Values of the pixels outside an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Padding {
    /// A constant: one 8-bit value per channel or for all channels, or the class number of a mask.
    Constant(Vec<u16>),
    /// The nearest pixel of the image.
    Edge,
    /// The image reflected at its outermost pixels.
    Reflect,
}

/// Additional options for masks. The job's `max_pixels` applies to masks too. The other decode options and the resize
/// kernel of the job do not.
pub struct MaskPlan {
    /// Whether the mask's own EXIF orientation is applied.
    pub upright: bool,
    /// Two sizes of the image of each mask, both after EXIF orientation: its full size, and the size at which it is
    /// decoded. Empty if the masks have no images; the masks then keep their own sizes.
    pub sizes: Vec<(Size, Size)>,
    /// Whether a mask whose size differs from that of its image is resized. If not, such a mask is rejected.
    pub fit: bool,
    /// Library whose nearest-neighbor positions are used.
    pub rule: Nearest,
}

/// Memory layout and values of the output.
#[derive(Debug, Clone, Copy)]
pub struct OutputFormat {
    /// Order of the axes.
    pub layout: Layout,
    /// Whether the channel order is blue, green, red.
    pub reverse: bool,
    /// Normalization of values from 0 to 255.
    pub normalize: Normalize,
    /// Normalization of values from 0 to 65,535.
    pub deep: Normalize,
    /// Whether 16-bit memory holds binary16 floats instead of integers.
    pub halves: bool,
    /// Number of values in the mean and in the std. Each must be 1 or the number of channels.
    pub counts: [usize; 2],
    /// Factors by which 8-bit and 16-bit samples are multiplied before the resize; `None` for no multiplication.
    pub factors_before_resize: Option<[f32; 2]>,
}

impl OutputFormat {
    /// Returns the normalization for a type of decoded pixels.
    pub(super) fn normalize<T: SourcePixel>(&self) -> &Normalize {
        if T::UNIT == 1 { &self.normalize } else { &self.deep }
    }
}

/// Input of one batch: the encoded images, and how each is decoded, transformed and stored.
pub struct Job<'a> {
    /// Encoded images.
    pub payloads: &'a [&'a [u8]],
    /// Serialized JPEG entry points of each image. An image without entry points has an empty slice; if no image has
    /// any, the outer slice may be empty.
    pub points: &'a [&'a [u8]],
    /// Decoding options.
    pub decode_options: DecodeOptions,
    /// Geometric operations on each image.
    pub geometry: &'a [ImageGeometry],
    /// Resize kernel.
    pub kernel: Kernel,
    /// Values of the pixels that a crop or padding adds outside the image.
    pub padding: Padding,
    /// Interpolation method of the affine map.
    pub sampling: Sampling,
    /// Values of the output pixels that the affine map takes from outside the image: one per channel, or one for all.
    pub warp_fill: Vec<u16>,
    /// Color operations, in the order in which they are applied.
    pub colors: &'a [ColorStep],
    /// Memory layout and values of the output.
    pub output_format: OutputFormat,
}

/// An element type of the output array of a batch.
pub trait Element: Copy + Default + Send + Sync + 'static {
    /// Wraps the memory of one image.
    fn slot<'v>(values: &'v mut [Self], output_format: &OutputFormat) -> SlotValues<'v>;
}

impl Element for u8 {
    fn slot<'v>(values: &'v mut [Self], _: &OutputFormat) -> SlotValues<'v> {
        SlotValues::U8(values)
    }
}

/// 16-bit memory holds integers or the bits of binary16 floats.
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
