//! Replays the committed inputs of the fuzz targets in `fuzz/`.
// Several targets include the same helpers.
#![allow(clippy::duplicate_mod)]

#[path = "../../fuzz/entry.rs"]
mod entry;
#[path = "../../fuzz/jpeg.rs"]
mod jpeg;
#[path = "../../fuzz/png.rs"]
mod png;
#[path = "../../../core/fuzz/seeds.rs"]
mod seeds;

use std::path::Path;

/// Replays the inputs of one target.
fn replay(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    seeds::replay(&folder.join(target).with_extension("zip"), check);
}

#[test]
fn entry_accepts_its_seeds() {
    replay("entry", entry::check_input);
}

#[test]
fn jpeg_accepts_its_seeds() {
    replay("jpeg", jpeg::check_input);
}

#[test]
fn png_accepts_its_seeds() {
    replay("png", png::check_input);
}
