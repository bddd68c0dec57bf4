//! Where the two-tap bilinear kernel reads: for every output position a pair of neighbours and the weight of the second.
//!
//! The rule is that of TensorFlow's `ResizeBilinear` with `half_pixel_centers` (kernels/image/resize_bilinear_op.cc):
//! float32 throughout, position `(i + 0.5) * (input / output) - 0.5`, neighbours its floor and ceiling within the image.

/// One output position: the first of two neighbouring inputs, and how far towards the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tap {
    /// The first neighbour; the second follows it, or is the same at the end.
    pub first: u32,
    /// 0 gives the first neighbour, 1 the second.
    pub weight: f32,
}

/// The taps of `output` positions over `input` of them. Beyond a border, the border counts alone.
pub(crate) fn bilinear(input: usize, output: usize) -> Vec<Tap> {
    let scale = input as f32 / output as f32;
    let last = (input - 1) as u32;
    let place = |index: usize| {
        let position = (index as f32 + 0.5) * scale - 0.5;
        let first = position.floor().max(0.0) as u32;
        if position < 0.0 || first >= last {
            return Tap { first: first.min(last), weight: 0.0 };
        }
        Tap { first, weight: position - position.floor() }
    };
    (0..output).map(place).collect()
}
