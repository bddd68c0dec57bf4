//! Mixtures of whole batches in float32, with soft labels. Partners and shares are the caller's draws.
//!
//! Mixup: H. Zhang et al., 2018. CutMix: S. Yun et al., 2019.
use super::slot::Layout;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::view::{count_values, refuse};
use crate::pixels::{Size, Window};

/// `output[i] = share[i] * batch[i] + (1 - share[i]) * batch[partner[i]]`, for images or for label rows.
pub fn mixup(output: &mut [f32], batch: &[f32], partner: &[usize], share: &[f32]) -> Result<()> {
    let length = item_length(output, batch, partner, share.len())?;
    for (index, output) in output.chunks_exact_mut(length).enumerate() {
        let own = &batch[index * length..][..length];
        let other = &batch[partner[index] * length..][..length];
        dispatch::run(Mix { own, other, share: share[index], output });
    }
    Ok(())
}

struct Mix<'a> {
    own: &'a [f32],
    other: &'a [f32],
    share: f32,
    output: &'a mut [f32],
}

impl Kernel for Mix<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let rest = 1.0 - self.share;
        for ((output, own), other) in self.output.iter_mut().zip(self.own).zip(self.other) {
            *output = self.share * own + rest * other;
        }
    }
}

/// The shape of a batch's images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchShape {
    /// Order of the axes.
    pub layout: Layout,
    /// Width and height of each image.
    pub size: Size,
    /// Channels of each image.
    pub channels: usize,
}

/// Copies `batch` to `output` with `windows[i]` taken from image `partner[i]`; returns each image's share of its own pixels.
pub fn cutmix(
    output: &mut [f32],
    batch: &[f32],
    shape: BatchShape,
    partner: &[usize],
    windows: &[Window],
) -> Result<Vec<f32>> {
    let length = item_length(output, batch, partner, windows.len())?;
    if length != count_values(shape.size, shape.channels)? {
        return refuse(format!("images of {shape:?}"), format!("{length} values per image"));
    }
    if let Some(odd) = windows.iter().find(|window| !lies_in(window, shape.size)) {
        let expected = format!("windows within {} x {}", shape.size.width, shape.size.height);
        return Err(ImageFault::new(ImageFaultKind::BadWindow, 0, expected, format!("{odd:?}")));
    }
    output.copy_from_slice(batch);
    for ((output, partner), window) in output.chunks_exact_mut(length).zip(partner).zip(windows) {
        paste(output, &batch[partner * length..][..length], shape, window);
    }
    let area = (shape.size.width * shape.size.height) as f32;
    Ok(windows.iter().map(|window| 1.0 - (window.width * window.height) as f32 / area).collect())
}

/// An empty window is allowed: it takes nothing.
fn lies_in(window: &Window, size: Size) -> bool {
    window.width == 0 || window.height == 0 || window.lies_in(size)
}

fn paste(output: &mut [f32], from: &[f32], shape: BatchShape, window: &Window) {
    if window.width == 0 || window.height == 0 {
        return;
    }
    let (planes, step) = match shape.layout {
        Layout::Nhwc => (1, shape.channels),
        Layout::Nchw => (shape.channels, 1),
    };
    let row = shape.size.width * step;
    for plane in 0..planes {
        for y in window.y..window.y + window.height {
            let start = (plane * shape.size.height + y) * row + window.x * step;
            let length = window.width * step;
            output[start..][..length].copy_from_slice(&from[start..][..length]);
        }
    }
}

/// Label rows with 1 at each label; with smoothing s, `1 - s + s / classes` there and `s / classes` elsewhere.
pub fn one_hot(output: &mut [f32], labels: &[i64], classes: usize, smoothing: f32) -> Result<()> {
    if labels.len().checked_mul(classes) != Some(output.len()) {
        return refuse(format!("{} rows of {classes}", labels.len()), format!("{} values", output.len()));
    }
    let off = smoothing / classes as f32;
    output.fill(off);
    for (row, label) in output.chunks_exact_mut(classes.max(1)).zip(labels) {
        match usize::try_from(*label).ok().and_then(|label| row.get_mut(label)) {
            Some(value) => *value = 1.0 - smoothing + off,
            None => return refuse(format!("labels below {classes}"), label.to_string()),
        }
    }
    Ok(())
}

/// The values of one item, if all lengths agree and every partner exists.
fn item_length(output: &[f32], batch: &[f32], partner: &[usize], draws: usize) -> Result<usize> {
    let items = partner.len();
    if items == 0
        || draws != items
        || output.len() != batch.len()
        || batch.is_empty()
        || !batch.len().is_multiple_of(items)
    {
        let found = format!("{} of {} values, {items} partners, {draws} draws", output.len(), batch.len());
        return refuse("equal batches of whole items, with a partner and a draw for each", found);
    }
    match partner.iter().find(|partner| **partner >= items) {
        Some(odd) => refuse(format!("partners below {items}"), odd.to_string()),
        None => Ok(batch.len() / items),
    }
}
