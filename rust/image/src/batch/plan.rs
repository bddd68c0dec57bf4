//! What is to be done to the images of a batch; all that is random has been drawn already.
use super::colors::ColorStep;
use super::levels::Source;
use crate::collate::slot::{Layout, SlotValues};
use crate::color::normalize::Normalize;
use crate::geometry::affine::Affine;
use crate::geometry::resize::{Kernel, Nearest};
use crate::geometry::warp::Sampling;
use crate::jpeg::samples::{CmykConversion, Dct, Scale};
use crate::pixels::{Size, Window};

/// The channels wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// Red, green, blue.
    Rgb,
    /// One.
    Gray,
    /// Those of the file, with alpha if it has any transparency.
    Stored,
}

/// How color becomes gray.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gray {
    /// Pillow's rule, of the decoded colors.
    Pillow,
    /// The luma plane of JPEG; libpng's rule for PNG.
    Libpng,
}

/// What becomes of samples of 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deep {
    /// The image is refused.
    Refuse,
    /// All are kept.
    Keep,
    /// The upper byte is kept.
    HighByte,
}

/// What to make of an encoded image.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// Channels.
    pub want: Want,
    /// Rule for gray.
    pub gray: Gray,
    /// Rule for 16 bits.
    pub deep: Deep,
    /// Inverse transform of JPEG.
    pub dct: Dct,
    /// How CMYK JPEG images are converted to RGB.
    pub cmyk: CmykConversion,
    /// Whether chroma of JPEG is interpolated.
    pub fancy: bool,
    /// Size at which JPEG is decoded.
    pub scale: Scale,
    /// Images of more are faults.
    pub max_pixels: usize,
}

/// A rectangle that may reach beyond an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Left edge.
    pub x: i64,
    /// Upper edge.
    pub y: i64,
    /// Columns and rows.
    pub size: Size,
}

/// What happens to the pixels of one image, in this order.
#[derive(Debug, Clone, Copy)]
pub struct Move {
    /// EXIF orientation to undo, 1 to 8.
    pub orientation: u8,
    /// The size at which this image is decoded, instead of that of the reading.
    pub scale: Option<Scale>,
    /// The part of the upright image that is used.
    pub window: Window,
    /// The size to which that part is brought.
    pub resized: Size,
    /// The output in the resized part.
    pub place: Place,
    /// Left to right, top to bottom.
    pub flip: [bool; 2],
    /// From places in the output to places before.
    pub matrix: Option<Affine>,
}

/// What lies beyond an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beyond {
    /// A level of 8 bits for each channel, or one for all; a class.
    Constant(Vec<u16>),
    /// The nearest pixel.
    Edge,
    /// The image mirrored.
    Reflect,
}

/// What masks need beside a job: of the job's reading they take the limit of pixels alone, and of its kernel nothing.
pub struct MaskPlan {
    /// Whether the mask's own EXIF orientation is undone.
    pub upright: bool,
    /// The size of each upright image, and that at which it is decoded; none for masks by themselves, which stay.
    pub sizes: Vec<(Size, Size)>,
    /// Whether a mask of another size is brought to its image's.
    pub fit: bool,
    /// Which neighbor is the nearest.
    pub rule: Nearest,
}

/// What the numbers of the output are.
#[derive(Debug, Clone, Copy)]
pub struct Finish {
    /// Order of the axes.
    pub layout: Layout,
    /// Whether colors go blue, green, red.
    pub reverse: bool,
    /// Mean and factor, for levels 0 to 255.
    pub normalize: Normalize,
    /// The same for levels 0 to 65,535.
    pub deep: Normalize,
    /// Whether 16-bit memory holds the bits of binary16, not whole numbers.
    pub halves: bool,
    /// Number of means, of factors: 1 or that of the channels.
    pub counts: [usize; 2],
    /// What levels of 8 bits and of 16 are multiplied by before they are resized, if they are.
    pub first: Option<[f32; 2]>,
}

impl Finish {
    /// Mean and factor for levels of a type that images are read in.
    pub(super) fn normalize<T: Source>(&self) -> &Normalize {
        if T::UNIT == 1 { &self.normalize } else { &self.deep }
    }
}

/// A batch and all that is to be done to it.
pub struct Job<'a> {
    /// Encoded images.
    pub payloads: &'a [&'a [u8]],
    /// Entry points of each as bytes, empty where there are none; or nothing at all.
    pub points: &'a [&'a [u8]],
    /// How they are read.
    pub reading: Reading,
    /// One for each image.
    pub moves: &'a [Move],
    /// How they are resized.
    pub kernel: Kernel,
    /// Beside the image.
    pub beyond: Beyond,
    /// How the affine map samples.
    pub sampling: Sampling,
    /// Levels where the affine map leaves the image, one for each channel or one for all.
    pub warp_fill: Vec<u16>,
    /// What is done to colors.
    pub colors: &'a [ColorStep],
    /// How numbers are stored.
    pub finish: Finish,
}

// Element types of batch memory.

/// A type that batch memory can be made of.
pub trait Element: Copy + Default + Send + Sync + 'static {
    /// One image's memory.
    fn slot<'v>(values: &'v mut [Self], finish: &Finish) -> SlotValues<'v>;
}

impl Element for u8 {
    fn slot<'v>(values: &'v mut [Self], _: &Finish) -> SlotValues<'v> {
        SlotValues::U8(values)
    }
}

/// Whole numbers, or the bits of binary16.
impl Element for u16 {
    fn slot<'v>(values: &'v mut [Self], finish: &Finish) -> SlotValues<'v> {
        if finish.halves { SlotValues::F16(values) } else { SlotValues::U16(values) }
    }
}

impl Element for f32 {
    fn slot<'v>(values: &'v mut [Self], _: &Finish) -> SlotValues<'v> {
        SlotValues::F32(values)
    }
}
