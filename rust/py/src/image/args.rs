//! Conversion of the Python arguments that describe a batch of images.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_image::batch::{
    ColorStep, DecodeOptions, Gray, ImageGeometry, OutputChannels, OutputFormat, Padding, Placement, SixteenBit,
};
use recordmill_image::collate::slot::Layout;
use recordmill_image::color::normalize::Normalize;
use recordmill_image::fault::ImageFaultKind;
use recordmill_image::geometry::resize::Kernel;
use recordmill_image::geometry::warp::Affine;
use recordmill_image::geometry::warp::Sampling;
use recordmill_image::jpeg::samples::{CmykConversion, Dct, Scale};
use recordmill_image::memory;
use recordmill_image::pixels::{Size, Window};

use super::image_error;
use super::kernels::parse_kernel;
use crate::buffers::{ArrayView, ArrayViewMut, copy_array, memory_error};

/// Number of values that describe the geometry of one image: window, size after resize, placement, flips, scale.
const GEOMETRY_LEN: usize = 13;

/// Returns the value of `word` in the table `known`. If there is none, the error message contains `name`, the name of
/// the argument.
pub fn parse_choice<T: Copy>(name: &str, word: &str, known: &[(&str, T)]) -> PyResult<T> {
    let found = known.iter().find(|(known_word, _)| *known_word == word);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<_> = known.iter().map(|(known_word, _)| *known_word).collect();
        unsupported_choice(name, &words, word)
    })
}

/// Returns the error for an argument called `name` whose value `word` is none of the `supported` words.
pub fn unsupported_choice(name: &str, supported: &[&str], word: &str) -> PyErr {
    PyValueError::new_err(format!("{name} must be one of {}, got {word:?}", supported.join(", ")))
}

/// Options of image decoding, as a Python argument.
#[derive(FromPyObject)]
pub struct DecodeOptionArgs {
    want: String,
    gray: String,
    deep: String,
    dct: String,
    upsampling: String,
    cmyk: String,
    scale: usize,
    max_pixels: usize,
}

impl DecodeOptionArgs {
    /// Converts the names of the options to the values that the decoder uses.
    pub fn parse_options(&self) -> PyResult<DecodeOptions> {
        Ok(DecodeOptions {
            want: parse_choice(
                "want",
                &self.want,
                &[("rgb", OutputChannels::Rgb), ("gray", OutputChannels::Gray), ("stored", OutputChannels::Stored)],
            )?,
            gray: parse_choice("gray", &self.gray, &[("pillow", Gray::Pillow), ("libpng", Gray::Libpng)])?,
            deep: parse_choice(
                "deep",
                &self.deep,
                &[("refuse", SixteenBit::Refuse), ("high_byte", SixteenBit::HighByte), ("keep", SixteenBit::Keep)],
            )?,
            dct: parse_dct(&self.dct)?,
            fancy: parse_upsampling(&self.upsampling)?,
            cmyk: parse_cmyk(&self.cmyk)?,
            scale: parse_scale(self.scale)?,
            max_pixels: self.max_pixels,
        })
    }
}

/// Parses the name of an inverse DCT.
pub fn parse_dct(word: &str) -> PyResult<Dct> {
    parse_choice("dct", word, &[("accurate", Dct::Islow), ("fast", Dct::Ifast)])
}

/// Parses the name of an upsampling method; returns whether chroma is interpolated.
pub fn parse_upsampling(word: &str) -> PyResult<bool> {
    parse_choice("upsampling", word, &[("fancy", true), ("plain", false)])
}

/// Parses the name of a CMYK conversion.
pub fn parse_cmyk(word: &str) -> PyResult<CmykConversion> {
    parse_choice(
        "cmyk",
        word,
        &[
            ("pillow", CmykConversion::Pillow),
            ("opencv", CmykConversion::OpenCv),
            ("tensorflow", CmykConversion::TensorFlow),
        ],
    )
}

/// Parses the denominator of the scale at which a JPEG image is decoded.
pub fn parse_scale(denominator: usize) -> PyResult<Scale> {
    Ok(match denominator {
        1 => Scale::Full,
        2 => Scale::Half,
        4 => Scale::Quarter,
        8 => Scale::Eighth,
        other => return Err(PyValueError::new_err(format!("scale must be 1, 2, 4 or 8, got {other}"))),
    })
}

/// The Python `ImagePlan`: how each image of a batch is processed. `geometry` has thirteen values per image, `matrix`
/// six.
#[derive(FromPyObject)]
pub struct ImagePlanArgs<'py> {
    pub payloads: EncodedImages<'py>,
    pub points: EncodedImages<'py>,
    pub reading: DecodeOptionArgs,
    orientations: Bound<'py, PyAny>,
    geometry: Bound<'py, PyAny>,
    matrix: Option<Bound<'py, PyAny>>,
    kernel: String,
    mode: String,
    fill: Vec<u16>,
    sampling: String,
    pub warp_fill: Vec<u16>,
    colors: Vec<(String, Bound<'py, PyAny>, Vec<u16>)>,
    layout: String,
    reverse: bool,
    mean: Vec<f32>,
    factor: Vec<f32>,
    deep_mean: Vec<f32>,
    deep_factor: Vec<f32>,
    halves: bool,
    first: Vec<f32>,
}

impl ImagePlanArgs<'_> {
    /// Fails if an encoded image or its entry points share memory with the output of the call.
    pub fn check_no_overlap<T: pyo3::buffer::Element>(&self, out: &ArrayViewMut<T>) -> PyResult<()> {
        self.payloads.check_no_overlap(out)?;
        self.points.check_no_overlap(out)
    }

    /// Parses the geometry of each image.
    pub fn parse_geometry(&self, py: Python<'_>) -> PyResult<Vec<ImageGeometry>> {
        let orientations = copy_array::<i64>(py, &self.orientations)?;
        let geometry = copy_array::<i64>(py, &self.geometry)?;
        let matrices = self.matrix.as_ref().map(|matrix| copy_array::<f64>(py, matrix)).transpose()?;
        let (count, num_points) = (self.payloads.num_images()?, self.points.num_images()?);
        let is_matching = matrices.as_ref().is_none_or(|matrices| matrices.len() == 6 * count);
        if orientations.len() != count
            || (num_points != count && num_points != 0)
            || geometry.len() != GEOMETRY_LEN * count
            || !is_matching
        {
            return Err(PyValueError::new_err(
                "orientations, geometry, matrix and points must have one row for every payload",
            ));
        }
        let matrix = |row: usize| matrices.as_ref().map(|numbers| parse_affine(&numbers[6 * row..]));
        let rows = orientations.iter().zip(geometry.as_chunks::<GEOMETRY_LEN>().0).enumerate();
        let mut parsed = memory::with_capacity(count).map_err(memory_error)?;
        for (row, (&orientation, numbers)) in rows {
            parsed.push(parse_image_geometry(orientation, numbers, matrix(row))?);
        }
        Ok(parsed)
    }

    /// Parses the resize kernel.
    pub fn parse_kernel(&self) -> PyResult<Kernel> {
        parse_kernel(&self.kernel)
    }

    /// Parses the padding mode.
    pub fn parse_padding(&self) -> PyResult<Padding> {
        Ok(match self.mode.as_str() {
            "constant" => Padding::Constant(self.fill.clone()),
            "edge" => Padding::Edge,
            "reflect" => Padding::Reflect,
            other => return Err(unsupported_choice("mode", &["constant", "edge", "reflect"], other)),
        })
    }

    /// Parses the sampling of the affine map.
    pub fn parse_sampling(&self) -> PyResult<Sampling> {
        parse_choice("sampling", &self.sampling, &[("nearest", Sampling::Nearest), ("bilinear", Sampling::Bilinear)])
    }

    /// Converts the color transformations, with their parameters for each image.
    pub fn parse_colors(&self, py: Python<'_>) -> PyResult<Vec<ColorStep>> {
        let (steps, count) = (self.colors.iter(), self.payloads.num_images()?);
        steps
            .map(|(kind, numbers, fill)| {
                ColorStep::parse(kind, &copy_array::<f64>(py, numbers)?, fill, count).map_err(|fault| {
                    match fault.kind {
                        ImageFaultKind::OutOfMemory => image_error(fault),
                        _ => PyValueError::new_err(format!("expected {}, got {}", fault.expected, fault.found)),
                    }
                })
            })
            .collect()
    }

    /// Returns the output format: layout, order of channels, and normalization.
    pub fn parse_output_format(&self) -> PyResult<OutputFormat> {
        Ok(OutputFormat {
            layout: parse_choice("layout", &self.layout, &[("hwc", Layout::Nhwc), ("chw", Layout::Nchw)])?,
            reverse: self.reverse,
            normalize: Normalize::new(&self.mean, &self.factor).map_err(image_error)?,
            deep: Normalize::new(&self.deep_mean, &self.deep_factor).map_err(image_error)?,
            halves: self.halves,
            counts: [self.mean.len(), self.factor.len()],
            factors_before_resize: <[f32; 2]>::try_from(&self.first[..]).ok(),
        })
    }
}

fn parse_affine(numbers: &[f64]) -> Affine {
    let [a, b, c, d, e, f] = std::array::from_fn(|index| numbers[index]);
    Affine { a, b, c, d, e, f }
}

fn parse_image_geometry(
    orientation: i64,
    numbers: &[i64; GEOMETRY_LEN],
    matrix: Option<Affine>,
) -> PyResult<ImageGeometry> {
    let size = |index: usize| -> PyResult<Size> {
        let side = |number: i64| usize::try_from(number).ok().filter(|&side| side > 0);
        let error = || PyValueError::new_err("widths and heights in geometry must be positive");
        let (width, height) = side(numbers[index]).zip(side(numbers[index + 1])).ok_or_else(error)?;
        Ok(Size { width, height })
    };
    let coordinate = |index: usize| {
        let error = |_| PyValueError::new_err("coordinates of windows in geometry must not be negative");
        usize::try_from(numbers[index]).map_err(error)
    };
    let window_size = size(2)?;
    Ok(ImageGeometry {
        orientation: u8::try_from(orientation).unwrap_or(0),
        scale: if numbers[12] == 1 { None } else { Some(parse_scale(numbers[12] as usize)?) },
        window: Window { x: coordinate(0)?, y: coordinate(1)?, width: window_size.width, height: window_size.height },
        resized: size(4)?,
        place: Placement { x: numbers[6], y: numbers[7], size: size(8)? },
        flip: [numbers[10] != 0, numbers[11] != 0],
        matrix,
    })
}

// Encoded images as arguments: rows of one buffer, or one buffer per image.

/// Encoded images as a Python argument: `(data, row_splits)`, or a list of buffers.
#[derive(FromPyObject)]
pub enum EncodedImages<'py> {
    /// Rows of one buffer, and their row splits.
    Rows(Bound<'py, PyAny>, Bound<'py, PyAny>),
    /// One buffer per image.
    #[pyo3(transparent)]
    Each(Vec<Bound<'py, PyAny>>),
}

/// The buffers of encoded images, for reading while the interpreter lock is released.
pub enum EncodedImageViews {
    /// Rows of one buffer, and their row splits.
    Rows(ArrayView<u8>, ArrayView<i64>),
    /// One buffer per image.
    Each(Vec<ArrayView<u8>>),
}

impl EncodedImages<'_> {
    /// Returns the number of images.
    pub fn num_images(&self) -> PyResult<usize> {
        match self {
            Self::Rows(_, splits) => Ok(splits.len()?.saturating_sub(1)),
            Self::Each(buffers) => Ok(buffers.len()),
        }
    }

    /// Fails if a buffer shares memory with the output of the call.
    pub fn check_no_overlap<T: pyo3::buffer::Element>(&self, out: &ArrayViewMut<T>) -> PyResult<()> {
        match self {
            Self::Rows(data, splits) => [data, splits].into_iter().try_for_each(|input| out.check_no_overlap(input)),
            Self::Each(buffers) => buffers.iter().try_for_each(|input| out.check_no_overlap(input)),
        }
    }

    /// Returns the buffers for reading while the interpreter lock is released.
    pub fn get_views(&self) -> PyResult<EncodedImageViews> {
        match self {
            Self::Rows(data, splits) => {
                Ok(EncodedImageViews::Rows(ArrayView::from_object(data)?, ArrayView::from_object(splits)?))
            }
            Self::Each(buffers) => {
                let mut views = memory::with_capacity(buffers.len()).map_err(memory_error)?;
                for buffer in buffers {
                    views.push(ArrayView::from_object(buffer)?);
                }
                Ok(EncodedImageViews::Each(views))
            }
        }
    }
}

impl EncodedImageViews {
    /// Returns the bytes of each image.
    pub fn as_slices(&self) -> PyResult<Vec<&[u8]>> {
        match self {
            Self::Rows(data, splits) => split_rows(data.as_slice(), splits.as_slice()),
            Self::Each(buffers) => memory::collect(buffers.iter().map(ArrayView::as_slice)).map_err(memory_error),
        }
    }
}

/// Splits a buffer into rows. Fails if a row is not inside the buffer.
fn split_rows<'a>(data: &'a [u8], splits: &[i64]) -> PyResult<Vec<&'a [u8]>> {
    let row = |bounds: &[i64]| {
        let (start, end) = (usize::try_from(bounds[0]).ok()?, usize::try_from(bounds[1]).ok()?);
        data.get(start..end)
    };
    let mut rows = memory::with_capacity(splits.len()).map_err(memory_error)?;
    for bounds in splits.windows(2) {
        let error = || PyValueError::new_err("row splits must be non-decreasing and within the data");
        rows.push(row(bounds).ok_or_else(error)?);
    }
    Ok(rows)
}
