//! Where the two-tap bilinear kernel reads: for every output position a pair of neighbours and the weight of the second.
//!
//! The rule is that of TensorFlow's `ResizeBilinear` with `half_pixel_centers` (kernels/image/resize_bilinear_op.cc):
//! float32 throughout, position `(i + 0.5) * (input / output) - 0.5`, neighbours its floor and ceiling within the image.

/// One output position: the first of two neighbouring inputs, and how far towards the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tap {
    /// The first neighbour; the second follows it, except in an input of one.
    pub first: u32,
    /// 0 gives the first neighbour, 1 the second.
    pub weight: f32,
}

/// The taps of `output` positions over `input` of them.
///
/// Beyond the borders both neighbours of the original are the border pixel. Here they are the border's pair with weight
/// 0 or 1, which gives the same bits, as differences of bytes are exact.
pub(crate) fn bilinear(input: usize, output: usize) -> Vec<Tap> {
    let scale = input as f32 / output as f32;
    let last = input - 1;
    let place = |index: usize| {
        let position = (index as f32 + 0.5) * scale - 0.5;
        let floor = position.floor();
        let first = floor.max(0.0) as usize;
        if position < 0.0 || last == 0 {
            Tap { first: 0, weight: 0.0 }
        } else if first >= last {
            Tap { first: (last - 1) as u32, weight: 1.0 }
        } else {
            Tap { first: first as u32, weight: position - floor }
        }
    };
    (0..output).map(place).collect()
}
