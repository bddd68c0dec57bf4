//! Normalization: `(value - mean) * factor` per channel in float32, as in MXNet's ImageRecordIter and OneFlow's
//! CropMirrorNormalize (their factor is `scale / std` rounded to float32).
use crate::fault::Result;
use crate::geometry::view::{MAX_CHANNELS, bad_argument};

/// Mean and factor of each channel, for values from 0 to 255.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Normalize {
    mean: [f32; MAX_CHANNELS],
    factor: [f32; MAX_CHANNELS],
}

impl Normalize {
    /// The identity: mean 0, factor 1.
    pub const IDENTITY: Self = Self { mean: [0.0; MAX_CHANNELS], factor: [1.0; MAX_CHANNELS] };

    /// Creates a normalization from the means and factors of the channels. A single value applies to all channels.
    pub fn new(mean: &[f32], factor: &[f32]) -> Result<Self> {
        Ok(Self { mean: repeat_for_channels("means", mean)?, factor: repeat_for_channels("factors", factor)? })
    }

    /// Returns mean and factor of `channel`.
    pub fn channel(&self, channel: usize) -> (f32, f32) {
        (self.mean[channel], self.factor[channel])
    }

    /// Normalizes one value of `channel`.
    #[inline(always)]
    pub fn apply(&self, channel: usize, value: f32) -> f32 {
        (value - self.mean[channel]) * self.factor[channel]
    }
}

fn repeat_for_channels(what: &str, values: &[f32]) -> Result<[f32; MAX_CHANNELS]> {
    if let Some(odd) = values.iter().find(|value| !value.is_finite()) {
        return bad_argument(format!("finite {what}"), odd.to_string());
    }
    match values {
        [one] => Ok([*one; MAX_CHANNELS]),
        many if (1..=MAX_CHANNELS).contains(&many.len()) => {
            Ok(std::array::from_fn(|channel| many.get(channel).copied().unwrap_or(0.0)))
        }
        _ => bad_argument(format!("1 to {MAX_CHANNELS} {what}"), values.len().to_string()),
    }
}
