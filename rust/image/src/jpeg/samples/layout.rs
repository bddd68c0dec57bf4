//! How the planes of an image's components relate to its pixels at a given scale.
use super::transform::Scale;
use crate::pixels::Size;

/// How a component's plane is brought to the size of the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Enlarge {
    /// Already that size.
    No,
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
    /// The size of its blocks, perhaps larger than the layout's: chroma planes are enlarged by the transform if possible.
    pub block: Scale,
    /// Its real samples; what blocks hold beyond them is padding.
    pub size: Size,
    /// What is left to enlarge.
    pub enlarge: Enlarge,
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
    /// None if a component would have to be enlarged by a fraction, or if a factor is zero.
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
    let enlarge = enlarge(across, down, plane.width, fancy && scale != Scale::Eighth);
    Some(Component { block: Scale::of_edge(edge)?, size: plane, enlarge })
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
fn enlarge(across: usize, down: usize, width: usize, fancy: bool) -> Enlarge {
    match (across, down) {
        (1, 1) => Enlarge::No,
        (2, 1) if fancy && width > 2 => Enlarge::TriangleAcross,
        (1, 2) if fancy => Enlarge::TriangleDown,
        (2, 2) if fancy && width > 2 => Enlarge::TriangleBoth,
        _ => Enlarge::Repeat { across, down },
    }
}

impl Enlarge {
    /// Pixels per sample, across and down.
    #[inline(always)]
    pub fn factors(self) -> (usize, usize) {
        match self {
            Self::No => (1, 1),
            Self::TriangleAcross => (2, 1),
            Self::TriangleDown => (1, 2),
            Self::TriangleBoth => (2, 2),
            Self::Repeat { across, down } => (across, down),
        }
    }
}
