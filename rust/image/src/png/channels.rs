//! From stored channels to the channels asked for, pixel by pixel.
use super::gray::{Gray, Sample};
use super::options::Target;

/// Adds alpha to a row without: none for pixels equal to `key`, full for the others.
pub(super) fn add_alpha<T: Sample>(row: &[T], key: &[T], out: &mut Vec<T>) {
    out.clear();
    for pixel in row.chunks_exact(key.len()) {
        out.extend_from_slice(pixel);
        out.push(if pixel == key { T::default() } else { T::MAX });
    }
}

/// Writes a row of one to four channels as the target's.
pub(super) fn convert<T: Sample>(row: &[T], channels: usize, target: Target, gray: &Gray, out: &mut [T]) {
    match channels {
        1 => from_gray(row, target, out),
        2 => from_gray_alpha(row, target, out),
        3 => from_rgb(row, target, gray, out),
        _ => from_rgba(row, target, gray, out),
    }
}

fn from_gray<T: Sample>(row: &[T], target: Target, out: &mut [T]) {
    match target {
        Target::Gray => out.copy_from_slice(row),
        Target::GrayAlpha => each(row, out, |[v]| [v, T::MAX]),
        Target::Rgb | Target::Bgr => each(row, out, |[v]| [v, v, v]),
        Target::Rgba | Target::Bgra => each(row, out, |[v]| [v, v, v, T::MAX]),
    }
}

fn from_gray_alpha<T: Sample>(row: &[T], target: Target, out: &mut [T]) {
    match target {
        Target::Gray => each(row, out, |[v, _]| [v]),
        Target::GrayAlpha => out.copy_from_slice(row),
        Target::Rgb | Target::Bgr => each(row, out, |[v, _]| [v, v, v]),
        Target::Rgba | Target::Bgra => each(row, out, |[v, a]| [v, v, v, a]),
    }
}

fn from_rgb<T: Sample>(row: &[T], target: Target, gray: &Gray, out: &mut [T]) {
    match target {
        Target::Gray => each(row, out, |rgb| [T::gray(gray, rgb)]),
        Target::GrayAlpha => each(row, out, |rgb| [T::gray(gray, rgb), T::MAX]),
        Target::Rgb => out.copy_from_slice(row),
        Target::Bgr => each(row, out, |[r, g, b]| [b, g, r]),
        Target::Rgba => each(row, out, |[r, g, b]| [r, g, b, T::MAX]),
        Target::Bgra => each(row, out, |[r, g, b]| [b, g, r, T::MAX]),
    }
}

fn from_rgba<T: Sample>(row: &[T], target: Target, gray: &Gray, out: &mut [T]) {
    match target {
        Target::Gray => each(row, out, |[r, g, b, _]| [T::gray(gray, [r, g, b])]),
        Target::GrayAlpha => each(row, out, |[r, g, b, a]| [T::gray(gray, [r, g, b]), a]),
        Target::Rgb => each(row, out, |[r, g, b, _]| [r, g, b]),
        Target::Bgr => each(row, out, |[r, g, b, _]| [b, g, r]),
        Target::Rgba => out.copy_from_slice(row),
        Target::Bgra => each(row, out, |[r, g, b, a]| [b, g, r, a]),
    }
}

#[inline(always)]
fn each<T: Sample, const S: usize, const D: usize>(row: &[T], out: &mut [T], pixel: impl Fn([T; S]) -> [T; D]) {
    for (out, &stored) in out.as_chunks_mut::<D>().0.iter_mut().zip(row.as_chunks::<S>().0) {
        *out = pixel(stored);
    }
}
