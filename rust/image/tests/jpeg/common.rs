//! Decoding modes, as options of this decoder and of libjpeg.
use crate::libjpeg::{Decoded, LibjpegOptions, Random, Recipe, encode, test_image};
use mozjpeg_sys::J_COLOR_SPACE::{JCS_EXT_BGR, JCS_GRAYSCALE, JCS_RGB};
use recordmill_image::jpeg::samples::{Dct, Scale};
use recordmill_image::jpeg::{Channels, Options};
use recordmill_image::pixels::Window;

/// A combination of decoding options.
#[derive(Debug, Clone, Copy)]
pub struct DecodeMode {
    pub channels: Channels,
    pub dct: Dct,
    pub fancy: bool,
    pub scale: Scale,
}

impl Default for DecodeMode {
    fn default() -> Self {
        let Options { channels, dct, fancy, scale, .. } = Options::default();
        Self { channels, dct, fancy, scale }
    }
}

impl DecodeMode {
    pub fn options(self) -> Options {
        let Self { channels, dct, fancy, scale } = self;
        Options { channels, dct, fancy, scale, ..Options::default() }
    }

    pub fn libjpeg_options(self) -> LibjpegOptions {
        let color = match self.channels {
            Channels::AsStored => None,
            Channels::Gray => Some(JCS_GRAYSCALE),
            Channels::Rgb => Some(JCS_RGB),
            Channels::Bgr => Some(JCS_EXT_BGR),
        };
        LibjpegOptions { color, fast: self.dct == Dct::Ifast, fancy: self.fancy, eighths: self.scale.edge() as u32 }
    }
}

/// Returns every combination of decoding options.
pub fn all_modes() -> Vec<DecodeMode> {
    let mut all = Vec::new();
    for channels in [Channels::AsStored, Channels::Gray, Channels::Rgb, Channels::Bgr] {
        for dct in [Dct::Islow, Dct::Ifast] {
            for fancy in [true, false] {
                for scale in [Scale::Full, Scale::Half, Scale::Quarter, Scale::Eighth] {
                    all.push(DecodeMode { channels, dct, fancy, scale });
                }
            }
        }
    }
    all
}

pub const SAMPLINGS: [(i32, i32); 8] = [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (1, 4), (4, 2), (2, 4)];

/// Encodes `recipe` with an image generated from `seed`.
pub fn encode_test_file(recipe: &Recipe, seed: u64) -> Vec<u8> {
    let channels = if recipe.color == JCS_GRAYSCALE { 1 } else { 3 };
    encode(recipe, &test_image(recipe.width, recipe.height, channels, seed))
}

/// Returns a random window of an image of `width` by `height`. It often touches an edge.
pub fn random_window(random: &mut Random, width: usize, height: usize) -> Window {
    let mut span = |whole: usize| {
        let longest = random.choose(&[whole.min(9), whole, whole]);
        let length = 1 + random.below(longest);
        let anywhere = random.below(whole - length + 1);
        let start = random.choose(&[anywhere, anywhere, anywhere, 0, whole - length]);
        (start, length)
    };
    let ((x, width), (y, height)) = (span(width), span(height));
    Window { x, y, width, height }
}

/// Copies the pixels in `window` from the decoded image `whole`.
pub fn crop_window(whole: &Decoded, window: Window) -> Vec<u8> {
    let rows = whole.samples.chunks_exact(whole.width * whole.channels).skip(window.y).take(window.height);
    rows.flat_map(|row| &row[window.x * whole.channels..(window.x + window.width) * whole.channels]).copied().collect()
}
