//! Normalisation: `(value - mean) * factor` per channel in float32, as MXNet's ImageRecordIter and OneFlow's
//! CropMirrorNormalize compute it (their factor is `scale / std` rounded to float32).
use crate::fault::Result;
use crate::geometry::view::{MAX_CHANNELS, refuse};

/// A mean and a factor for each channel, in the 0 to 255 scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Normalise {
    mean: [f32; MAX_CHANNELS],
    factor: [f32; MAX_CHANNELS],
}

impl Normalise {
    /// Nothing changes: mean 0, factor 1.
    pub const IDENTITY: Self = Self { mean: [0.0; MAX_CHANNELS], factor: [1.0; MAX_CHANNELS] };

    /// Mean and factor of each channel; a list of one serves all channels.
    pub fn new(mean: &[f32], factor: &[f32]) -> Result<Self> {
        Ok(Self { mean: spread("means", mean)?, factor: spread("factors", factor)? })
    }

    /// Mean and standard deviation in the 0 to 255 scale: the factor is `scale / std` in float32.
    pub fn from_std(mean: &[f32], std: &[f32], scale: f32) -> Result<Self> {
        let factor: Vec<f32> = std.iter().map(|std| scale / std).collect();
        Self::new(mean, &factor)
    }

    /// Mean and standard deviation in the 0 to 1 scale (ImageNet's 0.485, 0.229 …): both are multiplied by 255 in
    /// float64 and rounded once, which differs from dividing every value by 255 first by a few units in the last place.
    pub fn from_unit(mean: &[f64], std: &[f64]) -> Result<Self> {
        let mean: Vec<f32> = mean.iter().map(|mean| (mean * 255.0) as f32).collect();
        let factor: Vec<f32> = std.iter().map(|std| (1.0 / (std * 255.0)) as f32).collect();
        Self::new(&mean, &factor)
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
