//! Names of resize kernels in Python: the name of a library, and the name of its kernel.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_image::geometry::resize::opencv::Interpolation;
use recordmill_image::geometry::resize::pillow::Filter;
use recordmill_image::geometry::resize::tensorflow::Method;
use recordmill_image::geometry::resize::{Kernel, Nearest};

use super::args::parse_choice;

const PILLOW: [(&str, Filter); 7] = [
    ("box", Filter::Box),
    ("bilinear", Filter::Bilinear),
    ("hamming", Filter::Hamming),
    ("bicubic", Filter::Bicubic),
    ("lanczos", Filter::Lanczos),
    ("mks2013", Filter::Mks2013),
    ("mks2021", Filter::Mks2021),
];

const OPENCV: [(&str, Interpolation); 6] = [
    ("bilinear", Interpolation::Linear),
    ("cubic", Interpolation::Cubic),
    ("area", Interpolation::Area),
    ("lanczos4", Interpolation::Lanczos4),
    ("auto", Interpolation::Auto),
    ("area_or_bilinear", Interpolation::AreaOrLinear),
];

const TENSORFLOW: [(&str, Method); 7] = [
    ("bilinear", Method::Bilinear),
    ("bicubic", Method::Bicubic),
    ("area", Method::Area),
    ("lanczos3", Method::Lanczos3),
    ("lanczos5", Method::Lanczos5),
    ("gaussian", Method::Gaussian),
    ("mitchellcubic", Method::Mitchell),
];

const ANTIALIASED: &str = "antialiased_";

/// Parses the name of a kernel, such as "tensorflow:bicubic": the name of a library and of its kernel.
pub fn parse_kernel(name: &str) -> PyResult<Kernel> {
    let (library, word) = name.split_once(':').unwrap_or(("", name));
    if word == "nearest" {
        return Ok(Kernel::Nearest(parse_nearest(name)?));
    }
    match library {
        "pillow" => Ok(Kernel::Pillow(parse_choice("kernel", word, &PILLOW)?)),
        "opencv" => Ok(Kernel::Opencv(parse_choice("kernel", word, &OPENCV)?)),
        "tensorflow" => {
            let antialiased = word.strip_prefix(ANTIALIASED);
            let method = parse_choice("kernel", antialiased.unwrap_or(word), &TENSORFLOW)?;
            Ok(Kernel::Tensorflow { method, antialias: antialiased.is_some() })
        }
        _ => {
            let message = format!("kernel must start with pillow:, opencv: or tensorflow:, got {name:?}");
            Err(PyValueError::new_err(message))
        }
    }
}

/// Parses the name of the nearest-neighbor sampling of a library, such as "pillow:nearest".
pub fn parse_nearest(name: &str) -> PyResult<Nearest> {
    let known = [
        ("pillow:nearest", Nearest::Pillow),
        ("opencv:nearest", Nearest::Opencv),
        ("tensorflow:nearest", Nearest::Tensorflow),
    ];
    parse_choice("kernel", name, &known)
}
