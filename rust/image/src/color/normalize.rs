//! Normalization: `(value - mean) * factor` per channel in float32, as MXNet's ImageRecordIter and OneFlow's
//! CropMirrorNormalize compute it (their factor is `scale / std` rounded to float32).
use crate::fault::Result;
use crate::geometry::view::{MAX_CHANNELS, refuse};

/// A mean and a factor for each channel, in the 0 to 255 scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Normalize {
    mean: [f32; MAX_CHANNELS],
    factor: [f32; MAX_CHANNELS],
}

impl Normalize {
    /// Nothing changes: mean 0, factor 1.
    pub const IDENTITY: Self = Self { mean: [0.0; MAX_CHANNELS], factor: [1.0; MAX_CHANNELS] };

    /// Mean and factor of each channel; a list of one serves all channels.
    pub fn new(mean: &[f32], factor: &[f32]) -> Result<Self> {
        Ok(Self { mean: spread("means", mean)?, factor: spread("factors", factor)? })
    }

    /// Mean and factor of `channel`.
    pub fn channel(&self, channel: usize) -> (f32, f32) {
        (self.mean[channel], self.factor[channel])
    }

    /// One value of `channel`.
    #[inline(always)]
    pub fn apply(&self, channel: usize, value: f32) -> f32 {
        (value - self.mean[channel]) * self.factor[channel]
    }
}

fn spread(what: &str, values: &[f32]) -> Result<[f32; MAX_CHANNELS]> {
    if let Some(odd) = values.iter().find(|value| !value.is_finite()) {
        return refuse(format!("finite {what}"), odd.to_string());
    }
    match values {
        [one] => Ok([*one; MAX_CHANNELS]),
        many if (1..=MAX_CHANNELS).contains(&many.len()) => {
            Ok(std::array::from_fn(|channel| many.get(channel).copied().unwrap_or(0.0)))
        }
        _ => refuse(format!("1 to {MAX_CHANNELS} {what}"), values.len().to_string()),
    }
}
