//! Conversion of component planes to rows of pixels for a window of the image: plane layout, upsampling and color
//! conversion.
use super::color::Conversion;
use super::idct::Scale;
use super::kernel::Kernel;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::memory::{self, OutOfMemory};
use crate::pixels::{Size, Window};
use std::ops::{Range, RangeInclusive};

/// Converts rows of component samples to rows of pixels for one window. The pixels equal those of the same window in
/// the whole image.
#[derive(Debug, Clone)]
pub struct RowConverter {
    window: Window,
    conversion: Conversion,
    planes: Vec<Plane>,
    /// Buffer for the vertical sums of the triangle filter over one row, with one neighbor on each side.
    sums: Vec<i16>,
}

/// One component plane: the part that the window needs, and a buffer for one upsampled row.
#[derive(Debug, Clone)]
struct Plane {
    component: Component,
    columns: Range<usize>,
    /// Number of samples in an upsampled row to the left of the window.
    skip: usize,
    upsampled: Vec<u8>,
}

impl RowConverter {
    /// Creates a converter for `window`, in pixels of the decoded (scaled) image.
    ///
    /// # Errors
    /// `BadWindow` if the window is empty or not within the image; `BadArgument` if the conversion needs more
    /// components than the layout has; `OutOfMemory` if the row buffers cannot be allocated.
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
        let planes: Vec<_> =
            components.iter().map(|component| Plane::new(component, window)).collect::<Result<_, _>>()?;
        let longest = planes.iter().map(Plane::num_sums).max().unwrap_or(0);
        Ok(Self { window, conversion, planes, sums: memory::filled(longest, 0)? })
    }

    /// Returns the number of components that the conversion reads, from the first on.
    pub fn components(&self) -> usize {
        self.planes.len()
    }

    /// Returns the length of a row of pixels in bytes.
    pub fn row_bytes(&self) -> usize {
        self.window.width * self.conversion.channels()
    }

    /// Returns the columns of a component plane that the window needs, including neighbors.
    pub fn columns(&self, component: usize) -> Range<usize> {
        self.planes[component].columns.clone()
    }

    /// Returns the rows of a component plane that image row `y` needs: one row, or two consecutive rows.
    pub fn rows(&self, component: usize, y: usize) -> RangeInclusive<usize> {
        let (near, far) = self.planes[component].near_and_far(y);
        near.min(far)..=near.max(far)
    }

    /// Writes the window's part of image row `y` to `out`.
    ///
    /// `samples` is called with a component and a plane row; it must return exactly the columns in [`Self::columns`].
    ///
    /// # Panics
    /// If `out` is shorter than [`Self::row_bytes`], or if `samples` returns too few columns.
    #[inline(always)]
    pub fn write_row<'a, K: Kernel>(
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
            *row = plane.upsample(kernel, samples(index, near), || samples(index, far), y, sums);
        }
        let channels = conversion.channels();
        conversion.convert_row(kernel, rows, &mut out[..window.width * channels]);
    }
}

impl Plane {
    fn new(component: &Component, window: Window) -> Result<Self, OutOfMemory> {
        let (across, _) = component.upsampling.factors();
        let reach = usize::from(matches!(component.upsampling, Upsampling::TriangleAcross | Upsampling::TriangleBoth));
        let first = (window.x / across).saturating_sub(reach);
        let end = ((window.x + window.width).div_ceil(across) + reach).min(component.size.width);
        let upsampled = match component.upsampling {
            Upsampling::None => Vec::new(),
            _ => memory::filled((end - first) * across, 0)?,
        };
        Ok(Self { component: *component, columns: first..end, skip: window.x - first * across, upsampled })
    }

    /// Returns the number of vertical sums that upsampling one row needs.
    fn num_sums(&self) -> usize {
        if self.component.upsampling == Upsampling::TriangleBoth { self.columns.len() + 2 } else { 0 }
    }

    /// Returns the plane row that contains image row `y`, and the adjacent plane row that the vertical triangle filter
    /// also reads. Without that filter, both are the same row.
    #[inline(always)]
    fn near_and_far(&self, y: usize) -> (usize, usize) {
        let (_, down) = self.component.upsampling.factors();
        let near = y / down;
        let far = match self.component.upsampling {
            Upsampling::None | Upsampling::TriangleAcross | Upsampling::Repeat { .. } => near,
            _ if y.is_multiple_of(2) => near.saturating_sub(1),
            _ => (near + 1).min(self.component.size.height - 1),
        };
        (near, far)
    }

    /// Upsamples a row to the width of the image, from the window's first column on.
    #[inline(always)]
    fn upsample<'a, K: Kernel>(
        &'a mut self,
        kernel: K,
        near: &'a [u8],
        far: impl FnOnce() -> &'a [u8],
        y: usize,
        sums: &mut [i16],
    ) -> &'a [u8] {
        let width = self.columns.len();
        let near = &near[..width];
        let out = &mut self.upsampled[..];
        match self.component.upsampling {
            Upsampling::None | Upsampling::Repeat { across: 1, .. } => return near,
            Upsampling::TriangleAcross => kernel.triangle_across(near, out),
            Upsampling::TriangleDown => kernel.triangle_down(near, &far()[..width], 1 + (y % 2) as u8, out),
            Upsampling::TriangleBoth => kernel.triangle_both(near, &far()[..width], sums, out),
            Upsampling::Repeat { across, .. } => kernel.repeat_samples(near, across, out),
        }
        &self.upsampled[self.skip..]
    }
}

/// How a component plane is upsampled to the size of the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Upsampling {
    /// The plane has the size of the image.
    None,
    /// Doubles the width with the triangle filter.
    TriangleAcross,
    /// Doubles the height with the triangle filter.
    TriangleDown,
    /// Doubles the width and the height with the triangle filter.
    TriangleBoth,
    /// Repeats each sample horizontally and vertically.
    Repeat {
        /// Horizontal factor.
        across: usize,
        /// Vertical factor.
        down: usize,
    },
}

/// One component plane at the scale of its layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Component {
    /// Scale of the component's blocks. It may be larger than the scale of the layout, because the inverse DCT
    /// upsamples chroma planes if possible.
    pub block: Scale,
    /// Size in samples without the padding to whole blocks.
    pub size: Size,
    /// Upsampling that remains after the inverse DCT.
    pub upsampling: Upsampling,
}

/// The component planes of an image at a scale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Size of the decoded image.
    pub size: Size,
    /// The component planes, in the order of the frame header.
    pub components: Vec<Component>,
}

impl Layout {
    /// Computes the layout of an image of `size` pixels (at most 65,535 in each direction), decoded at `scale`.
    ///
    /// `factors` are the horizontal and vertical sampling factors of the components in the frame header (1 to 4).
    /// `fancy` selects the triangle filter where libjpeg-turbo applies it. A grayscale image has one component; its
    /// factors do not matter.
    ///
    /// Returns `None` if a component would need upsampling by a fraction, or if a factor is zero.
    pub fn new(size: Size, scale: Scale, factors: &[(u8, u8)], fancy: bool) -> Option<Self> {
        let factors: Vec<(usize, usize)> = factors.iter().map(|&(h, v)| (h.into(), v.into())).collect();
        let max_factors = (factors.iter().map(|f| f.0).max()?, factors.iter().map(|f| f.1).max()?);
        let components =
            factors.iter().map(|&own| component_plane(size, scale, own, max_factors, fancy)).collect::<Option<_>>()?;
        Some(Self { size: plane_size(size, scale.edge(), (1, 1), (1, 1)), components })
    }
}

/// Computes the plane of a component with sampling factors `own`, in an image whose largest factors are `max_factors`.
fn component_plane(
    size: Size,
    scale: Scale,
    own: (usize, usize),
    max_factors: (usize, usize),
    fancy: bool,
) -> Option<Component> {
    if own.0 == 0 || own.1 == 0 {
        return None;
    }
    let edge = block_edge(scale.edge(), own, max_factors);
    let plane = plane_size(size, edge, own, max_factors);
    let across = integer_ratio(max_factors.0 * scale.edge(), own.0 * edge)?;
    let down = integer_ratio(max_factors.1 * scale.edge(), own.1 * edge)?;
    let upsampling = choose_upsampling(across, down, plane.width, fancy && scale != Scale::Eighth);
    Some(Component { block: Scale::from_edge(edge)?, size: plane, upsampling })
}

/// Returns the block edge of a component. It is doubled while the plane does not become larger than the image in either
/// direction.
fn block_edge(edge: usize, own: (usize, usize), max_factors: (usize, usize)) -> usize {
    let mut own_edge = edge;
    let fits = |max_factors: usize, own: usize, doubled: usize| (max_factors * edge).is_multiple_of(own * doubled);
    while own_edge < 8 && fits(max_factors.0, own.0, 2 * own_edge) && fits(max_factors.1, own.1, 2 * own_edge) {
        own_edge *= 2;
    }
    own_edge
}

/// Returns the size of a component plane, rounded up.
fn plane_size(size: Size, edge: usize, own: (usize, usize), max_factors: (usize, usize)) -> Size {
    Size {
        width: (size.width * own.0 * edge).div_ceil(max_factors.0 * 8),
        height: (size.height * own.1 * edge).div_ceil(max_factors.1 * 8),
    }
}

fn integer_ratio(of: usize, to: usize) -> Option<usize> {
    of.is_multiple_of(to).then_some(of / to)
}

/// Chooses as libjpeg-turbo does: the triangle filter for factors of two, horizontally only if a row has more than two
/// samples.
fn choose_upsampling(across: usize, down: usize, width: usize, fancy: bool) -> Upsampling {
    match (across, down) {
        (1, 1) => Upsampling::None,
        (2, 1) if fancy && width > 2 => Upsampling::TriangleAcross,
        (1, 2) if fancy => Upsampling::TriangleDown,
        (2, 2) if fancy && width > 2 => Upsampling::TriangleBoth,
        _ => Upsampling::Repeat { across, down },
    }
}

impl Upsampling {
    /// Returns the number of pixels per sample, horizontally and vertically.
    #[inline(always)]
    pub fn factors(self) -> (usize, usize) {
        match self {
            Self::None => (1, 1),
            Self::TriangleAcross => (2, 1),
            Self::TriangleDown => (1, 2),
            Self::TriangleBoth => (2, 2),
            Self::Repeat { across, down } => (across, down),
        }
    }
}

// How rows of a component plane are upsampled.
//
// The triangle filter places each new sample a quarter of the distance from the nearer sample to the farther one, with
// weights 3/4 and 1/4. Halves are rounded up on one side and down on the other. At the edges of a plane, the outermost
// samples are repeated.

/// See [`super::Kernel::triangle_across`].
#[inline(always)]
pub(super) fn triangle_across(row: &[u8], out: &mut [u8]) {
    let width = row.len();
    let out = &mut out[..2 * width];
    if width > 2 {
        let middles = out[2..].chunks_exact_mut(2).zip(row).zip(&row[1..]).zip(&row[2..]);
        for (((pair, &left), &middle), &right) in middles {
            let [left, middle, right] = [left, middle, right].map(u16::from);
            pair[0] = ((3 * middle + left + 1) >> 2) as u8;
            pair[1] = ((3 * middle + right + 2) >> 2) as u8;
        }
    }
    if width > 1 {
        let [first, second, before, last] = [0, 1, width - 2, width - 1].map(|i| u16::from(row[i]));
        out[1] = ((3 * first + second + 2) >> 2) as u8;
        out[2 * width - 2] = ((3 * last + before + 1) >> 2) as u8;
    } else if let Some(&only) = row.first() {
        out[1] = only;
    }
    if let (Some(&first), Some(&last)) = (row.first(), row.last()) {
        out[0] = first;
        out[2 * width - 1] = last;
    }
}

/// See [`super::Kernel::triangle_down`].
#[inline(always)]
pub(super) fn triangle_down(near: &[u8], far: &[u8], bias: u8, out: &mut [u8]) {
    for ((out, &near), &far) in out.iter_mut().zip(near).zip(far) {
        *out = ((3 * u16::from(near) + u16::from(far) + u16::from(bias)) >> 2) as u8;
    }
}

/// See [`super::Kernel::triangle_both`]. Computes the vertical sums 3 near + far, then the same horizontally, and
/// rounds once at the end.
#[inline(always)]
pub(super) fn triangle_both(near: &[u8], far: &[u8], sums: &mut [i16], out: &mut [u8]) {
    let width = near.len();
    let sums = &mut sums[..width + 2];
    for ((sum, &near), &far) in sums[1..].iter_mut().zip(near).zip(far) {
        *sum = 3 * i16::from(near) + i16::from(far);
    }
    sums[0] = sums[1];
    sums[width + 1] = sums[width];
    let sums = sums[..width].iter().zip(&sums[1..]).zip(&sums[2..]);
    for (pair, ((&left, &middle), &right)) in out[..2 * width].chunks_exact_mut(2).zip(sums) {
        let even = (3 * middle + left + 8) as u16 >> 4;
        let odd = (3 * middle + right + 7) as u16 >> 4;
        pair.copy_from_slice(&(even | odd << 8).to_le_bytes());
    }
}

/// See [`super::Kernel::repeat_samples`].
#[inline(always)]
pub(super) fn repeat_samples(row: &[u8], times: usize, out: &mut [u8]) {
    match times {
        2 => repeat_times::<2>(row, out),
        3 => repeat_times::<3>(row, out),
        4 => repeat_times::<4>(row, out),
        _ => row.iter().zip(out.chunks_exact_mut(times)).for_each(|(&sample, run)| run.fill(sample)),
    }
}

#[inline(always)]
fn repeat_times<const TIMES: usize>(row: &[u8], out: &mut [u8]) {
    for (run, &sample) in out.chunks_exact_mut(TIMES).zip(row) {
        run.copy_from_slice(&[sample; TIMES]);
    }
}
