//! Fuzzes serialized JPEG entry points of valid images. Decoding with fuzzed entry points must not panic. Entry points
//! that can be parsed must serialize to the same values again.
#[path = "../tests/jpeg/libjpeg.rs"]
#[allow(dead_code)]
mod libjpeg;

use libjpeg::{Recipe, encode, test_image};
use recordmill_image::jpeg::{Decoder, EntryPoints, Options};
use recordmill_image::pixels::Window;
use std::sync::OnceLock;

/// Width and height of the images.
const SIDE: usize = 70;
/// Number of bytes of the magic, version and fingerprint with which serialized entry points begin.
const HEAD: usize = 13;

static IMAGES: OnceLock<Vec<(Vec<u8>, Vec<u8>)>> = OnceLock::new();

/// Returns JPEG files, each with its correct entry points in serialized form.
fn images_with_entry_points() -> Vec<(Vec<u8>, Vec<u8>)> {
    let recipes = [
        Recipe::gray(SIDE, SIDE),
        Recipe::new(SIDE, SIDE, (2, 2)),
        Recipe { restart_interval: 3, ..Recipe::new(SIDE, SIDE, (1, 1)) },
        Recipe { restart_interval: 20, optimize: true, ..Recipe::new(SIDE, SIDE, (2, 1)) },
    ];
    let with_table = |recipe: &Recipe| {
        let file = encode(recipe, &test_image(SIDE, SIDE, if recipe.sampling.len() == 1 { 1 } else { 3 }, 1));
        let table = EntryPoints::build(&file, 1).expect("a valid file").to_bytes().expect("enough memory");
        (file, table)
    };
    recipes.iter().map(with_table).collect()
}

/// Checks one input of the fuzz target.
pub fn check_input(input: &[u8]) {
    let [which, top, height, numbers @ ..] = input else { return };
    let images = IMAGES.get_or_init(images_with_entry_points);
    let (file, table) = &images[usize::from(*which) % images.len()];
    let mut bytes = table[..HEAD].to_vec();
    bytes.extend(numbers);
    let mut crc = libdeflater::Crc::new();
    crc.update(&bytes);
    bytes.extend(crc.sum().to_le_bytes());
    let Ok(points) = EntryPoints::from_bytes(&bytes) else { return };
    assert_eq!(EntryPoints::from_bytes(&points.to_bytes().expect("enough memory")).as_ref(), Ok(&points));
    let y = usize::from(*top) % SIDE;
    let window = Window { x: 3, y, width: 40, height: 1 + usize::from(*height) % (SIDE - y) };
    let mut out = vec![0; 40 * SIDE * 3];
    let result = Decoder::new().decode(file, Some(window), &Options::default(), Some(&points), &mut out, 120);
    if points.to_bytes().expect("enough memory") == *table {
        let mut plain = vec![0; 40 * SIDE * 3];
        let expected = Decoder::new().decode(file, Some(window), &Options::default(), None, &mut plain, 120);
        assert_eq!((result, out), (expected, plain));
    }
}
