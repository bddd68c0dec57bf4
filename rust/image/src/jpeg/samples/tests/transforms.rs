//! Tests of transforms, upsampling and colors against straightforward implementations of their definitions.
use super::super::*;
use super::RandomNumbers;
use super::libjpeg::last_nonzero_index;
use std::f64::consts::PI;

/// Inverse DCT of T.81 A.3.3 in double precision at the sample positions of a block with `edge` samples per side.
fn exact_samples(values: &[f64; 64], edge: usize) -> Vec<f64> {
    let basis = |frequency: usize, at: usize| {
        let scale = if frequency == 0 { 0.5f64.sqrt() } else { 1.0 };
        scale * ((2 * at + 1) as f64 * frequency as f64 * PI / (2 * edge) as f64).cos()
    };
    let sample = |x: usize, y: usize| -> f64 {
        let terms = (0..64).map(|i| values[i] * basis(i % 8, x) * basis(i / 8, y));
        terms.sum::<f64>() / 4.0 + 128.0
    };
    (0..edge * edge).map(|i| sample(i % edge, i / edge).clamp(0.0, 255.0)).collect()
}

/// Returns the coefficients of a random 8 x 8 image, quantized by `step`, as an encoder would store them.
fn plausible_block(numbers: &mut RandomNumbers, step: i32) -> Block {
    let contrast = 1 + numbers.below(128) as i64;
    let pixels: Vec<f64> =
        (0..64).map(|_| ((numbers.next() % 256) as i64 - 128) as f64 * contrast as f64 / 128.0).collect();
    std::array::from_fn(|i| {
        let (u, v) = (i % 8, i / 8);
        let scale = |k: usize| if k == 0 { 0.5f64.sqrt() } else { 1.0 };
        let wave = |k: usize, at: usize| ((2 * at + 1) as f64 * k as f64 * PI / 16.0).cos();
        let sum: f64 = (0..64).map(|at| pixels[at] * wave(u, at % 8) * wave(v, at / 8)).sum();
        (sum * scale(u) * scale(v) / 4.0 / f64::from(step)).round() as i16
    })
}

fn largest_error(dct: Dct, step: u16) -> f64 {
    let mut numbers = RandomNumbers(5);
    let transform = Transform::new(dct, Scale::Full, &[step; 64]);
    let mut worst = 0.0f64;
    for _ in 0..500 {
        let block = plausible_block(&mut numbers, step.into());
        let mut out = [0; 64];
        transform.apply(Portable, &block, 63, &mut out, 8);
        let exact = exact_samples(&block.map(|value| f64::from(value) * f64::from(step)), 8);
        worst = exact.iter().zip(out).map(|(exact, got)| (exact - f64::from(got)).abs()).fold(worst, f64::max);
    }
    worst
}

#[test]
fn islow_is_within_rounding_of_definition() {
    for step in [1, 3, 16] {
        assert!(largest_error(Dct::Islow, step) < 0.75, "step {step}");
    }
}

/// The multipliers have two fraction bits, too few for the high frequencies of fine quantization tables. Only coarse
/// steps give accurate results.
#[test]
fn ifast_is_near_definition_for_coarse_steps() {
    for (step, bound) in [(40, 4.0), (99, 4.0)] {
        let error = largest_error(Dct::Ifast, step);
        assert!(error < bound, "step {step}: {error}");
        assert!(error > 0.75, "as good as the accurate transform: {error}");
    }
}

/// For frequencies that a smaller block can represent, the reduced transform must nearly equal the inverse DCT of that
/// size.
#[test]
fn reduced_transform_is_near_dct_of_smaller_block() {
    let mut numbers = RandomNumbers(6);
    for (scale, bound) in [(Scale::Half, 1.5), (Scale::Quarter, 1.5), (Scale::Eighth, 0.51)] {
        let edge = scale.edge();
        let transform = Transform::new(Dct::Islow, scale, &[1; 64]);
        for _ in 0..300 {
            let mut block = [0; 64];
            block[0] = numbers.signed(9);
            if edge > 1 {
                let frequency = if edge == 4 { 1 + numbers.below(2) } else { 1 };
                block[frequency] = numbers.signed(6);
            }
            let mut out = [0; 16];
            transform.apply(Portable, &block, 63, &mut out, edge);
            let exact = exact_samples(&block.map(f64::from), edge);
            for (exact, got) in exact.iter().zip(out) {
                let error = (exact - f64::from(got)).abs();
                assert!(error < bound + f64::from(block[1].abs().max(block[2].abs())) * 0.1, "{scale:?}: {error}");
            }
        }
    }
}

/// Colors may differ by one level from T.871 in real arithmetic; gray must be exact.
#[test]
fn ycc_to_rgb_is_within_one_level_of_definition() {
    for cb in 0..=255u8 {
        for cr in 0..=255u8 {
            let y = cb ^ cr.rotate_left(3);
            let mut out = [0; 3];
            Conversion { from: ColorSpace::Ycc, to: PixelFormat::Rgb }.convert_row(
                Portable,
                [&[y], &[cb], &[cr], &[]],
                &mut out,
            );
            let (luma, blue, red) = (f64::from(y), f64::from(cb) - 128.0, f64::from(cr) - 128.0);
            let exact = [luma + 1.402 * red, luma - 0.34414 * blue - 0.71414 * red, luma + 1.772 * blue];
            for (exact, got) in exact.iter().zip(out) {
                assert!((exact.clamp(0.0, 255.0) - f64::from(got)).abs() < 0.51, "{y} {cb} {cr}");
            }
            if (cb, cr) == (128, 128) {
                assert_eq!(out, [y; 3]);
            }
        }
    }
}

#[test]
fn triangle_filter_equals_definition_for_every_width() {
    let mut numbers = RandomNumbers(7);
    for width in 1..70usize {
        let (near, far) = (numbers.bytes(width), numbers.bytes(width));
        let at = |row: &[u8], i: isize| u32::from(row[i.clamp(0, width as isize - 1) as usize]);
        let mut across = vec![0; 2 * width];
        rows::triangle_across(&near, &mut across);
        let mut both = vec![0; 2 * width];
        rows::triangle_both(&near, &far, &mut vec![0; width + 2], &mut both);
        for i in 0..2 * width {
            let (own, beside, odd) = ((i / 2) as isize, if i % 2 == 0 { -1 } else { 1 }, (i % 2) as u32);
            let beside = own + beside;
            let expected = (3 * at(&near, own) + at(&near, beside) + 1 + odd) / 4;
            assert_eq!(u32::from(across[i]), expected);
            let sum = |i| 3 * at(&near, i) + at(&far, i);
            assert_eq!(u32::from(both[i]), (3 * sum(own) + sum(beside) + 8 - odd) / 16);
        }
    }
}

#[test]
fn rgb_to_gray_keeps_equal_channels() {
    let levels: Vec<u8> = (0..=255).collect();
    let mut out = vec![0; 256];
    Conversion { from: ColorSpace::Rgb, to: PixelFormat::Gray }.convert_row(
        Portable,
        [&levels, &levels, &levels, &[]],
        &mut out,
    );
    assert_eq!(out, levels);
}

/// Output of libjpeg-turbo's x86 SIMD code for coefficients that no encoder writes, recorded by
/// `absurd/make_blocks.py`.
const RECORDED: &[u8] = include_bytes!("absurd/blocks.bin");
const BLOCKS: usize = 16;

const FORMS: [(Dct, Scale); 5] = [
    (Dct::Islow, Scale::Full),
    (Dct::Islow, Scale::Half),
    (Dct::Islow, Scale::Quarter),
    (Dct::Islow, Scale::Eighth),
    (Dct::Ifast, Scale::Full),
];

/// Removes and returns the first `count` bytes of `rest`.
fn take_bytes<'a>(rest: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, left) = rest.split_at(count);
    *rest = left;
    taken
}

fn words_from_bytes(bytes: &[u8]) -> Vec<u16> {
    bytes.as_chunks().0.iter().map(|pair| u16::from_le_bytes(*pair)).collect()
}

struct RecordedGroup<'a> {
    transform: Transform,
    blocks: &'a [Block],
    edge: usize,
}

impl Job for &RecordedGroup<'_> {
    type Output = Vec<u8>;
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Vec<u8> {
        let area = self.edge * self.edge;
        let mut out = vec![0; area * self.blocks.len()];
        for (block, out) in self.blocks.iter().zip(out.chunks_exact_mut(area)) {
            self.transform.apply(kernel, block, last_nonzero_index(block), out, self.edge);
        }
        out
    }
}

#[test]
fn transform_of_out_of_range_coefficients_equals_recorded_simd() {
    let mut rest = RECORDED;
    while !rest.is_empty() {
        let quant: [u16; 64] = words_from_bytes(take_bytes(&mut rest, 128)).try_into().expect("64 steps");
        let coefficients: Vec<i16> =
            words_from_bytes(take_bytes(&mut rest, 128 * BLOCKS)).into_iter().map(|word| word as i16).collect();
        let blocks = coefficients.as_chunks().0;
        for (dct, scale) in FORMS {
            let edge = scale.edge();
            let group = RecordedGroup { transform: Transform::new(dct, scale, &quant), blocks, edge };
            let expected = take_bytes(&mut rest, BLOCKS * edge * edge);
            assert_eq!(run(&group), expected, "{dct:?} {scale:?}");
            assert_eq!((&group).run(Portable), expected, "{dct:?} {scale:?}, portable");
        }
    }
}
