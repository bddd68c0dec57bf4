//! Lets the targets find libpython when they run.

fn main() {
    pyo3_build_config::add_libpython_rpath_link_args();
}
