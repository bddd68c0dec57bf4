//! The module `recordmill._core`: validates arguments, reads files, runs threads, releases the interpreter lock, and
//! converts errors.
//!
//! This crate contains no rule of a format; those are in `recordmill-core` and `recordmill-image`.
mod buffers;
mod byte_strings;
mod columns;
mod error;
mod examples;
mod file_contents;
mod files;
mod framing;
mod image;
mod long_strings;
mod order;
mod parse;
mod payload;
mod range_source;
mod reader_source;
mod rows;
mod serialize;
mod socket;
mod source;
mod stream;

use pyo3::prelude::*;

/// Native functions of recordmill. Reading Python's arrays relies on the interpreter lock, see `buffers`.
#[pymodule(gil_used = true)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("CoreFault", py.get_type::<error::CoreFault>())?;
    module.add("CoreChanged", py.get_type::<error::CoreChanged>())?;
    module.add_class::<buffers::Block>()?;
    module.add_class::<source::Source>()?;
    module.add_class::<range_source::LocalFile>()?;
    module.add_class::<stream::BatchStream>()?;
    module.add_class::<file_contents::WholeFiles>()?;
    module.add_class::<framing::PyFrameKind>()?;
    module.add_function(wrap_pyfunction!(framing::scan, module)?)?;
    module.add_function(wrap_pyfunction!(framing::verify, module)?)?;
    module.add_function(wrap_pyfunction!(framing::fetch, module)?)?;
    module.add_function(wrap_pyfunction!(framing::read_singles, module)?)?;
    module.add_function(wrap_pyfunction!(framing::frame, module)?)?;
    module.add_function(wrap_pyfunction!(framing::frame_each, module)?)?;
    module.add_function(wrap_pyfunction!(rows::split, module)?)?;
    module.add_function(wrap_pyfunction!(rows::pad, module)?)?;
    module.add_function(wrap_pyfunction!(framing::crc32c, module)?)?;
    module.add_function(wrap_pyfunction!(rows::row_checksums, module)?)?;
    module.add_function(wrap_pyfunction!(framing::count_fitting, module)?)?;
    module.add_function(wrap_pyfunction!(framing::read_files, module)?)?;
    module.add_class::<socket::HandedFile>()?;
    module.add_function(wrap_pyfunction!(socket::next_packet, module)?)?;
    module.add_class::<order::FrameTable>()?;
    module.add_function(wrap_pyfunction!(order::permute, module)?)?;
    module.add_function(wrap_pyfunction!(order::random_order, module)?)?;
    module.add_function(wrap_pyfunction!(order::random_words, module)?)?;
    image::register(module)?;
    payload::register(module)
}
