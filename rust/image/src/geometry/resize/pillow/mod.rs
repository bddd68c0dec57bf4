//! Pillow's `Image.resize` (13.0; libImaging/Resample.c and Geometry.c): two antialiased passes.
//!
//! Results for 8-bit images are bit-exact with Pillow. Channels are independent: unlike Pillow for RGBA and LA, colors
//! are not premultiplied by alpha.
#[cfg(target_arch = "x86_64")]
mod avx2;
mod high_depth;
mod horizontal;
mod implementation;
mod passes;
mod row_resizer;
mod spans;
#[cfg(target_arch = "x86_64")]
mod vnni;
mod weight_groups;
#[cfg(target_arch = "x86_64")]
mod wide;

use crate::fault::Result;
use crate::geometry::pixel_type::PixelType;
use crate::geometry::rearrange::flip_horizontal;
use crate::geometry::resize::kernel::convert_to_f32;
use crate::geometry::view::{View, count_values};
use crate::memory::{self, OutOfMemory};
use crate::pixels::Size;
pub(crate) use row_resizer::ResizeWindow;
use row_resizer::RowResizer;
pub use spans::Filter;
use spans::{Spans, compute_spans};

/// Resizes an 8-bit image to `size` and flips it horizontally if `flip` is set.
pub(crate) fn resize(source: View<u8>, size: Size, filter: Filter, flip: bool) -> Result<Vec<u8>> {
    let mut plan = ResizePlan::new(source.size(), size, source.channels(), filter)?;
    if flip {
        plan.columns.reverse();
    }
    if plan.is_horizontal_first() {
        let mut output = memory::filled(count_values(size, source.channels())?, 0)?;
        let mut reader = RowResizer::new(source, &plan.columns, plan.lines.to_fixed_point()?)?;
        for (y, row) in output.chunks_exact_mut(size.width * source.channels()).enumerate() {
            reader.compute_row(y, row)?;
        }
        return Ok(output);
    }
    let across = |rows: &[&[u8]]| passes::resize_horizontally(rows, source.channels(), &plan.columns.to_fixed_point()?);
    let down = |rows: &[&[u8]]| passes::resize_vertically(rows, &plan.lines.to_fixed_point()?, plan.first);
    let output = plan.run_passes(source, across, down)?;
    if flip && !plan.changes_width {
        return Ok(flip_horizontal(View::new(&output, size, source.channels())?)?);
    }
    Ok(output)
}

/// Resizes an image as in Pillow's mode `F`, without rounding.
pub(crate) fn resize_high_depth<T: PixelType>(source: View<T>, size: Size, filter: Filter) -> Result<Vec<f32>> {
    let plan = ResizePlan::new(source.size(), size, source.channels(), filter)?;
    let (columns, lines, first) = (&plan.columns, &plan.lines, plan.first);
    let rows = plan.source_rows(source)?;
    Ok(match (plan.changes_width, plan.changes_height) {
        (false, false) => convert_to_f32(&source.to_vec()?)?,
        (true, false) => high_depth::resize_horizontally(&rows, source.channels(), columns)?,
        (false, true) => high_depth::resize_vertically(&rows, lines, first)?,
        (true, true) if plan.vertical_first => high_depth::resize_horizontally(
            &split_into_rows(&high_depth::resize_vertically(&rows, lines, first)?, lines.len())?,
            source.channels(),
            columns,
        )?,
        (true, true) => high_depth::resize_vertically(
            &split_into_rows(&high_depth::resize_horizontally(&rows, source.channels(), columns)?, rows.len())?,
            lines,
            first,
        )?,
    })
}

/// The taps of each output column and row, the source rows that are read, and the passes that are necessary.
struct ResizePlan {
    columns: Spans<f64>,
    lines: Spans<f64>,
    /// The first source row that is read.
    first: usize,
    /// Number of source rows that are read.
    count: usize,
    changes_width: bool,
    changes_height: bool,
    vertical_first: bool,
}

impl ResizePlan {
    fn new(from: Size, size: Size, channels: usize, filter: Filter) -> Result<Self> {
        let largest = Size { width: size.width.max(from.width), height: size.height.max(from.height) };
        count_values(largest, channels)?;
        let columns = compute_spans(from.width, size.width, filter)?;
        let lines = compute_spans(from.height, size.height, filter)?;
        let source_window = lines.source_window();
        Ok(Self {
            columns,
            lines,
            first: source_window.start,
            count: source_window.len(),
            changes_width: size.width != from.width,
            changes_height: size.height != from.height,
            vertical_first: is_vertical_first(from, size),
        })
    }

    /// Returns whether both dimensions change, with the horizontal pass first.
    fn is_horizontal_first(&self) -> bool {
        self.changes_width && self.changes_height && !self.vertical_first
    }

    /// Returns the rows of `source` that the passes read.
    fn source_rows<'a, T: Copy>(&self, source: View<'a, T>) -> Result<Vec<&'a [T]>, OutOfMemory> {
        memory::collect((self.first..self.first + self.count).map(|y| source.row(y)))
    }

    /// Runs the necessary passes in the planned order: `across` resizes rows horizontally, `down` vertically.
    fn run_passes<T: Copy>(
        &self,
        source: View<T>,
        across: impl Fn(&[&[T]]) -> Result<Vec<T>, OutOfMemory>,
        down: impl Fn(&[&[T]]) -> Result<Vec<T>, OutOfMemory>,
    ) -> Result<Vec<T>, OutOfMemory> {
        let rows = self.source_rows(source)?;
        match (self.changes_width, self.changes_height) {
            (false, false) => source.to_vec(),
            (true, false) => across(&rows),
            (false, true) => down(&rows),
            (true, true) if self.vertical_first => across(&split_into_rows(&down(&rows)?, self.lines.len())?),
            (true, true) => down(&split_into_rows(&across(&rows)?, rows.len())?),
        }
    }
}

/// Splits an image into `count` rows.
fn split_into_rows<T>(image: &[T], count: usize) -> Result<Vec<&[T]>, OutOfMemory> {
    memory::collect(image.chunks_exact(image.len() / count))
}

/// Returns whether the vertical pass comes first. Since Pillow 13, it does if the height shrinks by more than twice as
/// many pixels as the width.
fn is_vertical_first(from: Size, size: Size) -> bool {
    let loss = |from: usize, to: usize| from as i64 - to as i64;
    let (width, height) = (loss(from.width, size.width), loss(from.height, size.height));
    height > 0 && height > 2 * width
}
