//! Decoding of images and masks, transformations of pixels, and encoding of PNG.
mod args;
mod batch;
mod float_colors;
mod geometry;
mod kernels;
mod masks;
mod pillow_pixels;
mod pixels;
mod recode;
mod single;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use recordmill_image::fault::{ImageFault, ImageFaultKind};

use crate::buffers::memory_error;

create_exception!(
    recordmill._core,
    ImageRefused,
    PyException,
    "An image that the native code does not process: args are (kind, offset, expected, found)."
);

/// A fault as a tuple: kind, offset, expected, found.
type FaultTuple = (&'static str, usize, String, String);

fn fault_tuple(fault: ImageFault) -> FaultTuple {
    (fault.kind.as_str(), fault.offset, fault.expected, fault.found)
}

/// Returns the exception for a fault: MemoryError if there is not enough memory, otherwise ImageRefused.
fn image_error(fault: ImageFault) -> PyErr {
    match fault.kind {
        ImageFaultKind::OutOfMemory => memory_error(fault.found),
        _ => ImageRefused::new_err(fault_tuple(fault)),
    }
}

/// Returns a MemoryError whose attribute `ordinal` is the row of the image in the call.
fn row_memory_error(row: usize, fault: ImageFault) -> PyErr {
    let error = memory_error(fault.found);
    // If the attribute cannot be set, the error does not name the row.
    Python::attach(|py| drop(error.value(py).setattr("ordinal", row)));
    error
}

/// Adds the functions and exceptions of images to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ImageRefused", module.py().get_type::<ImageRefused>())?;
    module.add_function(wrap_pyfunction!(batch::image_headers, module)?)?;
    module.add_function(wrap_pyfunction!(batch::decode_images, module)?)?;
    module.add_function(wrap_pyfunction!(batch::decode_each_image, module)?)?;
    module.add_function(wrap_pyfunction!(masks::decode_masks, module)?)?;
    module.add_function(wrap_pyfunction!(masks::decode_each_mask, module)?)?;
    module.add_function(wrap_pyfunction!(pixels::change_image, module)?)?;
    module.add_function(wrap_pyfunction!(float_colors::change_colors, module)?)?;
    module.add_function(wrap_pyfunction!(float_colors::change_hls, module)?)?;
    module.add_function(wrap_pyfunction!(geometry::warp_fixed, module)?)?;
    module.add_function(wrap_pyfunction!(geometry::cut_boxes, module)?)?;
    module.add_function(wrap_pyfunction!(geometry::pick_pixels, module)?)?;
    module.add_function(wrap_pyfunction!(geometry::resize_floats, module)?)?;
    module.add_function(wrap_pyfunction!(batch::entry_points, module)?)?;
    module.add_function(wrap_pyfunction!(single::decode_jpeg, module)?)?;
    module.add_function(wrap_pyfunction!(single::decode_truncated_jpeg, module)?)?;
    module.add_function(wrap_pyfunction!(pillow_pixels::decode_plain_jpeg, module)?)?;
    module.add_function(wrap_pyfunction!(single::decode_png, module)?)?;
    module.add_function(wrap_pyfunction!(recode::recode_png, module)?)?;
    module.add_function(wrap_pyfunction!(recode::encode_png, module)?)?;
    Ok(())
}
