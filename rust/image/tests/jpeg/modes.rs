//! The ways to decode, in our words and in libjpeg's.
use crate::libjpeg::Mode;
use mozjpeg_sys::J_COLOR_SPACE::{JCS_EXT_BGR, JCS_GRAYSCALE, JCS_RGB};
use recordmill_image::jpeg::samples::{Dct, Scale};
use recordmill_image::jpeg::{Channels, Options};

/// One way to decode.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    pub channels: Channels,
    pub dct: Dct,
    pub fancy: bool,
    pub scale: Scale,
}

impl Default for Wanted {
    fn default() -> Self {
        let Options { channels, dct, fancy, scale, .. } = Options::default();
        Self { channels, dct, fancy, scale }
    }
}

impl Wanted {
    pub fn options(self) -> Options {
        let Self { channels, dct, fancy, scale } = self;
        Options { channels, dct, fancy, scale, ..Options::default() }
    }

    pub fn mode(self) -> Mode {
        let color = match self.channels {
            Channels::AsStored => None,
            Channels::Gray => Some(JCS_GRAYSCALE),
            Channels::Rgb => Some(JCS_RGB),
            Channels::Bgr => Some(JCS_EXT_BGR),
        };
        Mode { color, fast: self.dct == Dct::Ifast, fancy: self.fancy, eighths: self.scale.edge() as u32 }
    }
}

/// Every combination.
pub fn all() -> Vec<Wanted> {
    let mut all = Vec::new();
    for channels in [Channels::AsStored, Channels::Gray, Channels::Rgb, Channels::Bgr] {
        for dct in [Dct::Islow, Dct::Ifast] {
            for fancy in [true, false] {
                for scale in [Scale::Full, Scale::Half, Scale::Quarter, Scale::Eighth] {
                    all.push(Wanted { channels, dct, fancy, scale });
                }
            }
        }
    }
    all
}
