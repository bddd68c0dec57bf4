//! Random erasing: overwrites a rectangle of an image. The caller chooses the rectangle and the values.
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::geometry::view::{bad_argument, count_values};
use crate::pixels::{Size, Window};

/// Overwrites `window` of an interleaved image with `values`: either one pixel, or all pixels of the window.
pub fn erase<T: Copy>(pixels: &mut [T], size: Size, channels: usize, window: Window, values: &[T]) -> Result<()> {
    if pixels.len() != count_values(size, channels)? {
        return bad_argument(format!("{} x {} x {channels} values", size.width, size.height), pixels.len().to_string());
    }
    if !window.lies_in(size) {
        let expected = format!("a window within {} x {}", size.width, size.height);
        return Err(ImageFault::new(ImageFaultKind::BadWindow, 0, expected, format!("{window:?}")));
    }
    let length = window.width * channels;
    if values.len() != channels && values.len() != length * window.height {
        return bad_argument(format!("{channels} or {} values", length * window.height), values.len().to_string());
    }
    let rows = pixels.chunks_exact_mut(size.width * channels).skip(window.y).take(window.height);
    for (y, row) in rows.enumerate() {
        let row = &mut row[window.x * channels..][..length];
        if values.len() == channels {
            row.chunks_exact_mut(channels).for_each(|pixel| pixel.copy_from_slice(values));
        } else {
            row.copy_from_slice(&values[y * length..][..length]);
        }
    }
    Ok(())
}
