//! The words and numbers of a batch's plan, as Python gives them.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_image::batch::{
    ColorStep, DecodeOptions, Gray, ImageGeometry, OutputChannels, OutputFormat, Padding, Placement, SixteenBit,
};
use recordmill_image::collate::slot::Layout;
use recordmill_image::color::normalize::Normalize;
use recordmill_image::geometry::resize::Kernel;
use recordmill_image::geometry::warp::Affine;
use recordmill_image::geometry::warp::Sampling;
use recordmill_image::jpeg::samples::{CmykConversion, Dct, Scale};
use recordmill_image::pixels::{Size, Window};

use super::kernels::kernel_of;
use super::refused;
use crate::buffers::{View, vector};

/// Numbers of one image's geometry: window, resized, place, flip, scale.
const GEOMETRY: usize = 13;

/// The value that a word stands for.
pub fn choose<T: Copy>(what: &str, word: &str, known: &[(&str, T)]) -> PyResult<T> {
    let found = known.iter().find(|(name, _)| *name == word);
    found.map(|(_, value)| *value).ok_or_else(|| PyValueError::new_err(format!("{what} is not {word:?}")))
}

/// How encoded images are read.
#[derive(FromPyObject)]
pub struct ReadingArgs {
    want: String,
    gray: String,
    deep: String,
    dct: String,
    upsampling: String,
    cmyk: String,
    scale: usize,
    max_pixels: usize,
}

impl ReadingArgs {
    /// As the worker takes it.
    pub fn reading(&self) -> PyResult<DecodeOptions> {
        Ok(DecodeOptions {
            want: choose(
                "want",
                &self.want,
                &[("rgb", OutputChannels::Rgb), ("gray", OutputChannels::Gray), ("stored", OutputChannels::Stored)],
            )?,
            gray: choose("gray", &self.gray, &[("pillow", Gray::Pillow), ("libpng", Gray::Libpng)])?,
            deep: choose(
                "deep",
                &self.deep,
                &[("refuse", SixteenBit::Refuse), ("high_byte", SixteenBit::HighByte), ("keep", SixteenBit::Keep)],
            )?,
            dct: dct(&self.dct)?,
            fancy: fancy(&self.upsampling)?,
            cmyk: parse_cmyk(&self.cmyk)?,
            scale: scale(self.scale)?,
            max_pixels: self.max_pixels,
        })
    }
}

/// The inverse transform that a word stands for.
pub fn dct(word: &str) -> PyResult<Dct> {
    choose("dct", word, &[("accurate", Dct::Islow), ("fast", Dct::Ifast)])
}

/// Whether chroma is interpolated.
pub fn fancy(word: &str) -> PyResult<bool> {
    choose("upsampling", word, &[("fancy", true), ("plain", false)])
}

/// Parse the name of a CMYK conversion.
pub fn parse_cmyk(word: &str) -> PyResult<CmykConversion> {
    choose(
        "cmyk",
        word,
        &[
            ("pillow", CmykConversion::Pillow),
            ("opencv", CmykConversion::OpenCv),
            ("tensorflow", CmykConversion::TensorFlow),
        ],
    )
}

/// The size at which JPEG is decoded.
pub fn scale(denominator: usize) -> PyResult<Scale> {
    Ok(match denominator {
        1 => Scale::Full,
        2 => Scale::Half,
        4 => Scale::Quarter,
        8 => Scale::Eighth,
        other => return Err(PyValueError::new_err(format!("scale is 1, 2, 4 or 8, not {other}"))),
    })
}

/// A batch's plan; `geometry` has thirteen numbers for each image.
#[derive(FromPyObject)]
pub struct JobArgs<'py> {
    pub payloads: Payloads<'py>,
    pub points: Payloads<'py>,
    pub reading: ReadingArgs,
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

impl JobArgs<'_> {
    /// Where the pixels of each image go.
    pub fn moves(&self, py: Python<'_>) -> PyResult<Vec<ImageGeometry>> {
        let orientations = vector::<i64>(py, &self.orientations)?;
        let geometry = vector::<i64>(py, &self.geometry)?;
        let matrix = self.matrix.as_ref().map(|matrix| vector::<f64>(py, matrix)).transpose()?;
        let (count, points) = (self.payloads.len()?, self.points.len()?);
        let fits = matrix.as_ref().is_none_or(|matrix| matrix.len() == 6 * count);
        if orientations.len() != count
            || (points != count && points != 0)
            || geometry.len() != GEOMETRY * count
            || !fits
        {
            return Err(PyValueError::new_err("the plan's arrays must have a row for every payload"));
        }
        let maps = |row: usize| matrix.as_ref().map(|numbers| affine(&numbers[6 * row..]));
        let rows = orientations.iter().zip(geometry.as_chunks::<GEOMETRY>().0).enumerate();
        rows.map(|(row, (&orientation, numbers))| one_move(orientation, numbers, maps(row))).collect()
    }

    /// How images are resized.
    pub fn kernel(&self) -> PyResult<Kernel> {
        kernel_of(&self.kernel)
    }

    /// What lies beside an image.
    pub fn beyond(&self) -> PyResult<Padding> {
        Ok(match self.mode.as_str() {
            "constant" => Padding::Constant(self.fill.clone()),
            "edge" => Padding::Edge,
            "reflect" => Padding::Reflect,
            other => return Err(PyValueError::new_err(format!("mode is not {other:?}"))),
        })
    }

    /// How the affine map samples.
    pub fn sampling(&self) -> PyResult<Sampling> {
        choose("sampling", &self.sampling, &[("nearest", Sampling::Nearest), ("bilinear", Sampling::Bilinear)])
    }

    /// What is done to colors.
    pub fn colors(&self, py: Python<'_>) -> PyResult<Vec<ColorStep>> {
        let (steps, count) = (self.colors.iter(), self.payloads.len()?);
        steps
            .map(|(kind, numbers, fill)| {
                ColorStep::parse(kind, &vector::<f64>(py, numbers)?, fill, count).map_err(PyValueError::new_err)
            })
            .collect()
    }

    /// How numbers are stored.
    pub fn finish(&self) -> PyResult<OutputFormat> {
        Ok(OutputFormat {
            layout: choose("layout", &self.layout, &[("hwc", Layout::Nhwc), ("chw", Layout::Nchw)])?,
            reverse: self.reverse,
            normalize: Normalize::new(&self.mean, &self.factor).map_err(refused)?,
            deep: Normalize::new(&self.deep_mean, &self.deep_factor).map_err(refused)?,
            halves: self.halves,
            counts: [self.mean.len(), self.factor.len()],
            factors_before_resize: <[f32; 2]>::try_from(&self.first[..]).ok(),
        })
    }
}

fn affine(numbers: &[f64]) -> Affine {
    let [a, b, c, d, e, f] = std::array::from_fn(|place| numbers[place]);
    Affine { a, b, c, d, e, f }
}

fn one_move(orientation: i64, numbers: &[i64; GEOMETRY], matrix: Option<Affine>) -> PyResult<ImageGeometry> {
    let size = |place: usize| -> PyResult<Size> {
        let side = |number: i64| usize::try_from(number).ok().filter(|&side| side > 0);
        let wrong = || PyValueError::new_err("sizes of the plan are above 0");
        let (width, height) = side(numbers[place]).zip(side(numbers[place + 1])).ok_or_else(wrong)?;
        Ok(Size { width, height })
    };
    let corner = |place: usize| {
        usize::try_from(numbers[place]).map_err(|_| PyValueError::new_err("windows of the plan lie within the image"))
    };
    let part = size(2)?;
    Ok(ImageGeometry {
        orientation: u8::try_from(orientation).unwrap_or(0),
        scale: if numbers[12] == 1 { None } else { Some(scale(numbers[12] as usize)?) },
        window: Window { x: corner(0)?, y: corner(1)?, width: part.width, height: part.height },
        resized: size(4)?,
        place: Placement { x: numbers[6], y: numbers[7], size: size(8)? },
        flip: [numbers[10] != 0, numbers[11] != 0],
        matrix,
    })
}

// Encoded images as arguments: rows of one buffer, or one buffer per image.

/// What Python gives: `(data, row_splits)`, or a list of buffers.
#[derive(FromPyObject)]
pub enum Payloads<'py> {
    /// One behind another in one buffer.
    Rows(Bound<'py, PyAny>, Bound<'py, PyAny>),
    /// Each by itself.
    #[pyo3(transparent)]
    Each(Vec<Bound<'py, PyAny>>),
}

/// The same, held while it is read.
pub enum Views {
    /// Bytes, and where rows begin and end.
    Rows(View<u8>, View<i64>),
    /// Bytes of each.
    Each(Vec<View<u8>>),
}

impl Payloads<'_> {
    /// How many there are.
    pub fn len(&self) -> PyResult<usize> {
        match self {
            Self::Rows(_, splits) => Ok(splits.len()?.saturating_sub(1)),
            Self::Each(buffers) => Ok(buffers.len()),
        }
    }

    /// Their memory.
    pub fn views(&self) -> PyResult<Views> {
        match self {
            Self::Rows(data, splits) => Ok(Views::Rows(View::get(data)?, View::get(splits)?)),
            Self::Each(buffers) => Ok(Views::Each(buffers.iter().map(View::get).collect::<PyResult<_>>()?)),
        }
    }
}

impl Views {
    /// Bytes of each.
    pub fn slices(&self) -> PyResult<Vec<&[u8]>> {
        match self {
            Self::Rows(data, splits) => rows(data.slice(), splits.slice()),
            Self::Each(buffers) => Ok(buffers.iter().map(View::slice).collect()),
        }
    }
}

/// Rows of a buffer, none of which may lie outside.
fn rows<'a>(data: &'a [u8], splits: &[i64]) -> PyResult<Vec<&'a [u8]>> {
    let row = |bounds: &[i64]| {
        let (start, end) = (usize::try_from(bounds[0]).ok()?, usize::try_from(bounds[1]).ok()?);
        data.get(start..end)
    };
    let rows: Option<Vec<_>> = splits.windows(2).map(row).collect();
    rows.ok_or_else(|| PyValueError::new_err("row splits must rise within the data"))
}
