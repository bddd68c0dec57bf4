//! Rows of finished pixels from rows of component samples, for a window of the image.
use super::color::Conversion;
use super::kernel::Kernel;
use super::layout::{Component, Enlarge, Layout};
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::Window;
use std::ops::{Range, RangeInclusive};

/// Makes the rows of one window. The result equals that part of the whole image.
#[derive(Debug, Clone)]
pub struct RowMaker {
    window: Window,
    conversion: Conversion,
    planes: Vec<Plane>,
    sums: Vec<i16>,
}

/// What the window needs of one component, and space for a row of it at the image's width.
#[derive(Debug, Clone)]
struct Plane {
    component: Component,
    columns: Range<usize>,
    /// Samples of an enlarged row that lie left of the window.
    skip: usize,
    enlarged: Vec<u8>,
}

impl RowMaker {
    /// A maker for `window`, given in pixels of the decoded (scaled) image.
    ///
    /// # Errors
    /// `BadWindow` if the window is empty or does not lie in the image; `BadArgument` if the conversion needs more
    /// components than the layout has.
    pub fn new(layout: &Layout, conversion: Conversion, window: Window) -> Result<Self> {
        if !window.lies_in(layout.size) {
            let expected = format!("a window within {} x {}", layout.size.width, layout.size.height);
            return Err(ImageFault::new(ImageFaultKind::BadWindow, 0, expected, format!("{window:?}")));
        }
        let used = conversion.components();
        let Some(components) = layout.components.get(..used) else {
            let found = layout.components.len().to_string();
            return Err(ImageFault::new(ImageFaultKind::BadArgument, 0, format!("{used} components"), found));
        };
        let planes = components.iter().map(|component| Plane::new(component, window)).collect();
        Ok(Self { window, conversion, planes, sums: Vec::new() })
    }

    /// Components that rows are asked of: the first so many.
    pub fn components(&self) -> usize {
        self.planes.len()
    }

    /// Bytes of a row of pixels.
    pub fn row_bytes(&self) -> usize {
        self.window.width * self.conversion.channels()
    }

    /// The columns of a component's plane that the window needs, neighbors included.
    pub fn columns(&self, component: usize) -> Range<usize> {
        self.planes[component].columns.clone()
    }

    /// The rows of a component's plane that row `y` of the image needs: one, or two that follow each other.
    pub fn rows(&self, component: usize, y: usize) -> RangeInclusive<usize> {
        let (near, far) = self.planes[component].near_and_far(y);
        near.min(far)..=near.max(far)
    }

    /// Writes the window's part of row `y` of the image to `out`.
    ///
    /// `samples` is asked for component and plane row, and answers with exactly the columns that [`Self::columns`] names.
    ///
    /// # Panics
    /// If `out` is shorter than [`Self::row_bytes`], or `samples` answers with too few.
    #[inline(always)]
    pub fn row<'a, K: Kernel>(
        &mut self,
        kernel: K,
        y: usize,
        samples: impl Fn(usize, usize) -> &'a [u8],
        out: &mut [u8],
    ) {
        let Self { window, conversion, planes, sums } = self;
        let mut rows: [&[u8]; 4] = [&[]; 4];
        for (index, (plane, row)) in planes.iter_mut().zip(&mut rows).enumerate() {
            let (near, far) = plane.near_and_far(y);
            *row = plane.enlarge(kernel, samples(index, near), || samples(index, far), y, sums);
        }
        let channels = conversion.channels();
        conversion.row(kernel, rows, &mut out[..window.width * channels]);
    }
}

impl Plane {
    fn new(component: &Component, window: Window) -> Self {
        let (across, _) = component.enlarge.factors();
        let reach = usize::from(matches!(component.enlarge, Enlarge::TriangleAcross | Enlarge::TriangleBoth));
        let first = (window.x / across).saturating_sub(reach);
        let end = ((window.x + window.width).div_ceil(across) + reach).min(component.size.width);
        let enlarged = match component.enlarge {
            Enlarge::No => Vec::new(),
            _ => vec![0; (end - first) * across],
        };
        Self { component: *component, columns: first..end, skip: window.x - first * across, enlarged }
    }

    /// The plane row that holds image row `y`, and the one that the triangle filter mixes in (the same if there is none).
    #[inline(always)]
    fn near_and_far(&self, y: usize) -> (usize, usize) {
        let (_, down) = self.component.enlarge.factors();
        let near = y / down;
        let far = match self.component.enlarge {
            Enlarge::No | Enlarge::TriangleAcross | Enlarge::Repeat { .. } => near,
            _ if y.is_multiple_of(2) => near.saturating_sub(1),
            _ => (near + 1).min(self.component.size.height - 1),
        };
        (near, far)
    }

    /// The row at the image's width, from the window's first column on.
    #[inline(always)]
    fn enlarge<'a, K: Kernel>(
        &'a mut self,
        kernel: K,
        near: &'a [u8],
        far: impl FnOnce() -> &'a [u8],
        y: usize,
        sums: &mut Vec<i16>,
    ) -> &'a [u8] {
        let width = self.columns.len();
        let near = &near[..width];
        let out = &mut self.enlarged[..];
        match self.component.enlarge {
            Enlarge::No | Enlarge::Repeat { across: 1, .. } => return near,
            Enlarge::TriangleAcross => kernel.triangle_across(near, out),
            Enlarge::TriangleDown => kernel.triangle_down(near, &far()[..width], 1 + (y % 2) as u8, out),
            Enlarge::TriangleBoth => kernel.triangle_both(near, &far()[..width], sums, out),
            Enlarge::Repeat { across, .. } => kernel.repeat(near, across, out),
        }
        &self.enlarged[self.skip..]
    }
}
