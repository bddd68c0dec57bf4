//! The resize kernels by the names that Python has for them: a library, and its own word.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use recordmill_image::geometry::resize::opencv::Interpolation;
use recordmill_image::geometry::resize::pillow::Filter;
use recordmill_image::geometry::resize::tensorflow::Method;
use recordmill_image::geometry::resize::{Kernel, Nearest};

use super::args::choose;

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

/// The kernel that "library:word" stands for.
pub fn kernel_of(name: &str) -> PyResult<Kernel> {
    let (library, word) = name.split_once(':').unwrap_or(("", name));
    if word == "nearest" {
        return Ok(Kernel::Nearest(rule_of(name)?));
    }
    match library {
        "pillow" => Ok(Kernel::Pillow(choose("kernel", word, &PILLOW)?)),
        "opencv" => Ok(Kernel::Opencv(choose("kernel", word, &OPENCV)?)),
        "tensorflow" => {
            let plain = word.strip_prefix(ANTIALIASED);
            let method = choose("kernel", plain.unwrap_or(word), &TENSORFLOW)?;
            Ok(Kernel::Tensorflow { method, antialias: plain.is_some() })
        }
        _ => Err(PyValueError::new_err(format!("kernel is not {name:?}"))),
    }
}

/// The nearest neighbor of a library: "library:nearest".
pub fn rule_of(name: &str) -> PyResult<Nearest> {
    let known = [
        ("pillow:nearest", Nearest::Pillow),
        ("opencv:nearest", Nearest::Opencv),
        ("tensorflow:nearest", Nearest::Tensorflow),
    ];
    choose("kernel", name, &known)
}
