//! Rows of finished pixels from rows of component samples, for a window of the image.
use super::color::Conversion;
use super::idct::Scale;
use super::kernel::Kernel;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::pixels::{Size, Window};
use std::ops::{Range, RangeInclusive};

/// Makes the rows of one window. The result equals that part of the whole image.
#[derive(Debug, Clone)]
pub struct RowConverter {
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
    upsampled: Vec<u8>,
}

impl RowConverter {
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
            *row = plane.upsample(kernel, samples(index, near), || samples(index, far), y, sums);
        }
        let channels = conversion.channels();
        conversion.row(kernel, rows, &mut out[..window.width * channels]);
    }
}

impl Plane {
    fn new(component: &Component, window: Window) -> Self {
        let (across, _) = component.upsampling.factors();
        let reach = usize::from(matches!(component.upsampling, Upsampling::TriangleAcross | Upsampling::TriangleBoth));
        let first = (window.x / across).saturating_sub(reach);
        let end = ((window.x + window.width).div_ceil(across) + reach).min(component.size.width);
        let upsampled = match component.upsampling {
            Upsampling::None => Vec::new(),
            _ => vec![0; (end - first) * across],
        };
        Self { component: *component, columns: first..end, skip: window.x - first * across, upsampled }
    }

    /// The plane row that holds image row `y`, and the one that the triangle filter mixes in (the same if there is none).
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

    /// The row at the image's width, from the window's first column on.
    #[inline(always)]
    fn upsample<'a, K: Kernel>(
        &'a mut self,
        kernel: K,
        near: &'a [u8],
        far: impl FnOnce() -> &'a [u8],
        y: usize,
        sums: &mut Vec<i16>,
    ) -> &'a [u8] {
        let width = self.columns.len();
        let near = &near[..width];
        let out = &mut self.upsampled[..];
        match self.component.upsampling {
            Upsampling::None | Upsampling::Repeat { across: 1, .. } => return near,
            Upsampling::TriangleAcross => kernel.triangle_across(near, out),
            Upsampling::TriangleDown => kernel.triangle_down(near, &far()[..width], 1 + (y % 2) as u8, out),
            Upsampling::TriangleBoth => kernel.triangle_both(near, &far()[..width], sums, out),
            Upsampling::Repeat { across, .. } => kernel.repeat(near, across, out),
        }
        &self.upsampled[self.skip..]
    }
}

// How the planes of an image's components relate to its pixels at a given scale.

/// How a component's plane is brought to the size of the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Upsampling {
    /// Already that size.
    None,
    /// Twice the width, triangle filter.
    TriangleAcross,
    /// Twice the height, triangle filter.
    TriangleDown,
    /// Twice the width and height, triangle filter.
    TriangleBoth,
    /// Each sample repeated this many times across and down.
    Repeat {
        /// Times across.
        across: usize,
        /// Times down.
        down: usize,
    },
}

/// One component's plane at the scale of its layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Component {
    /// The size of its blocks, perhaps larger than the layout's: chroma planes are upsampled by the transform if possible.
    pub block: Scale,
    /// Its real samples; what blocks hold beyond them is padding.
    pub size: Size,
    /// What is left to enlarge.
    pub upsampling: Upsampling,
}

/// The planes of an image at a scale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The size of the decoded image.
    pub size: Size,
    /// Its planes, in the order of the frame header.
    pub components: Vec<Component>,
}

impl Layout {
    /// The layout of an image of `size` pixels (at most 65,535 either way), decoded at `scale`.
    ///
    /// `factors` are the components' sampling factors, horizontal and vertical, as the frame header has them (1 to 4);
    /// `fancy` asks for the triangle filter where libjpeg-turbo would apply it. A gray image has one component, whose
    /// factors make no difference.
    ///
    /// None if a component would have to be upsampled by a fraction, or if a factor is zero.
    pub fn new(size: Size, scale: Scale, factors: &[(u8, u8)], fancy: bool) -> Option<Self> {
        let factors: Vec<(usize, usize)> = factors.iter().map(|&(h, v)| (h.into(), v.into())).collect();
        let most = (factors.iter().map(|f| f.0).max()?, factors.iter().map(|f| f.1).max()?);
        let components = factors.iter().map(|&own| component(size, scale, own, most, fancy)).collect::<Option<_>>()?;
        Some(Self { size: scaled(size, scale.edge(), (1, 1), (1, 1)), components })
    }
}

/// The plane of a component with sampling factors `own` in a frame whose largest factors are `most`.
fn component(size: Size, scale: Scale, own: (usize, usize), most: (usize, usize), fancy: bool) -> Option<Component> {
    if own.0 == 0 || own.1 == 0 {
        return None;
    }
    let edge = block_edge(scale.edge(), own, most);
    let plane = scaled(size, edge, own, most);
    let across = whole_ratio(most.0 * scale.edge(), own.0 * edge)?;
    let down = whole_ratio(most.1 * scale.edge(), own.1 * edge)?;
    let upsampling = choose_upsampling(across, down, plane.width, fancy && scale != Scale::Eighth);
    Some(Component { block: Scale::of_edge(edge)?, size: plane, upsampling })
}

/// The block edge of a component: doubled as long as that brings it no further than the image's size in both directions.
fn block_edge(edge: usize, own: (usize, usize), most: (usize, usize)) -> usize {
    let mut own_edge = edge;
    let fits = |most: usize, own: usize, doubled: usize| (most * edge).is_multiple_of(own * doubled);
    while own_edge < 8 && fits(most.0, own.0, 2 * own_edge) && fits(most.1, own.1, 2 * own_edge) {
        own_edge *= 2;
    }
    own_edge
}

/// Samples of a component: its share of the image, rounded up.
fn scaled(size: Size, edge: usize, own: (usize, usize), most: (usize, usize)) -> Size {
    Size {
        width: (size.width * own.0 * edge).div_ceil(most.0 * 8),
        height: (size.height * own.1 * edge).div_ceil(most.1 * 8),
    }
}

fn whole_ratio(of: usize, to: usize) -> Option<usize> {
    of.is_multiple_of(to).then_some(of / to)
}

/// The way libjpeg-turbo chooses: the triangle filter for factors of two, across only if a row has more than two samples.
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
    /// Pixels per sample, across and down.
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

// Bringing rows of a smaller plane to the image's size.
//
// The triangle filter puts the new samples a quarter of the way between the old ones, 3/4 from the nearer and 1/4 from the
// farther. Halves are rounded up on one side and down on the other. Beyond a plane's edges its outermost samples repeat.

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

/// See [`super::Kernel::triangle_both`]. Sums of 3 near + far first, then the same across them; one rounding, at the end.
#[inline(always)]
pub(super) fn triangle_both(near: &[u8], far: &[u8], sums: &mut Vec<i16>, out: &mut [u8]) {
    let width = near.len();
    sums.resize(width + 2, 0);
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

/// See [`super::Kernel::repeat`].
#[inline(always)]
pub(super) fn repeat(row: &[u8], times: usize, out: &mut [u8]) {
    match times {
        2 => repeat_exactly::<2>(row, out),
        3 => repeat_exactly::<3>(row, out),
        4 => repeat_exactly::<4>(row, out),
        _ => row.iter().zip(out.chunks_exact_mut(times)).for_each(|(&sample, run)| run.fill(sample)),
    }
}

#[inline(always)]
fn repeat_exactly<const TIMES: usize>(row: &[u8], out: &mut [u8]) {
    for (run, &sample) in out.chunks_exact_mut(TIMES).zip(row) {
        run.copy_from_slice(&[sample; TIMES]);
    }
}
