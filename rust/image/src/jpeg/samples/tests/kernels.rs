//! Tests that all kernels produce the bytes of the portable kernel.
use super::super::*;
use super::RandomNumbers;

/// Transforms every block with a kernel. The index given with a block may be larger than the zig-zag index of its last
/// nonzero coefficient.
struct TransformBlocks<'a> {
    transform: &'a Transform,
    blocks: &'a [(Block, usize)],
    out: &'a mut [u8],
}

impl Job for TransformBlocks<'_> {
    type Output = ();
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        for ((block, last), out) in self.blocks.iter().zip(self.out.chunks_exact_mut(8 * 9)) {
            self.transform.apply(kernel, block, *last, out, 9);
        }
    }
}

fn transform_blocks(transform: &Transform, blocks: &[(Block, usize)], portable: bool) -> Vec<u8> {
    let mut out = vec![77; blocks.len() * 72];
    let job = TransformBlocks { transform, blocks, out: &mut out };
    if portable {
        job.run(Portable)
    } else {
        run(job)
    }
    out
}

const FORMS: [(Dct, Scale); 5] = [
    (Dct::Islow, Scale::Full),
    (Dct::Ifast, Scale::Full),
    (Dct::Islow, Scale::Half),
    (Dct::Islow, Scale::Quarter),
    (Dct::Islow, Scale::Eighth),
];

/// Blocks with any number of coefficients, of plausible to out-of-range size, and quantization steps of up to 16 bits.
#[test]
fn transforms_of_all_kernels_are_equal() {
    let mut numbers = RandomNumbers(1);
    let rounds = if cfg!(debug_assertions) { 40 } else { 2_500 };
    for round in 0..rounds {
        let bits = 1 + round % 15;
        let step_bits = [1, 4, 8, 16][numbers.below(4)];
        let quant = std::array::from_fn(|_| (numbers.next() & ((1 << step_bits) - 1)) as u16);
        let blocks: Vec<(Block, usize)> = (0..200)
            .map(|_| {
                let last = numbers.below(64);
                (numbers.block(last, bits), last)
            })
            .collect();
        for (dct, scale) in FORMS {
            let transform = Transform::new(dct, scale, &quant);
            assert_eq!(
                transform_blocks(&transform, &blocks, false),
                transform_blocks(&transform, &blocks, true),
                "{dct:?} {scale:?}"
            );
        }
    }
}

/// Values at the limits of 16 bits in all coefficients, and in one coefficient at a time.
#[test]
fn transforms_of_extreme_values_are_equal_in_all_kernels() {
    let mut numbers = RandomNumbers(2);
    let ends = [i16::MIN, i16::MIN + 1, -8193, -8192, -1, 0, 1, 8191, 8192, i16::MAX];
    let mut blocks: Vec<(Block, usize)> =
        (0..20_000).map(|_| (std::array::from_fn(|_| ends[numbers.below(ends.len())]), 63)).collect();
    for index in 0..64 {
        for end in ends {
            for dc in ends {
                let mut block = [0; 64];
                block[0] = dc;
                block[index] = end;
                blocks.push((block, 63));
            }
        }
    }
    for quant in [[1; 64], [2; 64], [255; 64], [u16::MAX; 64]] {
        for (dct, scale) in FORMS {
            let transform = Transform::new(dct, scale, &quant);
            assert_eq!(
                transform_blocks(&transform, &blocks, false),
                transform_blocks(&transform, &blocks, true),
                "{dct:?} {scale:?}"
            );
        }
    }
}

/// The shortcuts for blocks with few coefficients must not change the result.
#[test]
fn transform_does_not_depend_on_last_beyond_final_coefficient() {
    let mut numbers = RandomNumbers(3);
    for last in 0..64 {
        let quant = std::array::from_fn(|_| numbers.next() as u16 & 0xff);
        for bits in 1..16 {
            let exact: Vec<(Block, usize)> = (0..50).map(|_| (numbers.block(last, bits), last)).collect();
            let loose: Vec<(Block, usize)> = exact.iter().map(|(block, _)| (*block, 63)).collect();
            for (dct, scale) in FORMS {
                let transform = Transform::new(dct, scale, &quant);
                for portable in [false, true] {
                    let (exact, loose) = (
                        transform_blocks(&transform, &exact, portable),
                        transform_blocks(&transform, &loose, portable),
                    );
                    assert_eq!(exact, loose, "{dct:?} {scale:?} {last}");
                }
            }
        }
    }
}

/// Runs each kernel method that processes rows.
struct RunRowMethods<'a>(&'a [Vec<u8>; 3]);

impl Job for RunRowMethods<'_> {
    type Output = Vec<Vec<u8>>;
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Self::Output {
        let [a, b, c] = self.0.each_ref().map(Vec::as_slice);
        let width = a.len();
        let mut all = Vec::new();
        let mut keep = |factor: usize, fill: &mut dyn FnMut(&mut [u8])| {
            let mut out = vec![0; factor * width];
            fill(&mut out);
            all.push(out);
        };
        keep(2, &mut |out| kernel.triangle_across(a, out));
        keep(1, &mut |out| kernel.triangle_down(a, b, 1, out));
        keep(1, &mut |out| kernel.triangle_down(a, b, 2, out));
        keep(2, &mut |out| kernel.triangle_both(a, b, &mut vec![0; a.len() + 2], out));
        for times in 1..6 {
            keep(times, &mut |out| kernel.repeat_samples(a, times, out));
        }
        for from in [ColorSpace::Gray, ColorSpace::Ycc, ColorSpace::Rgb] {
            for to in [PixelFormat::Gray, PixelFormat::Rgb, PixelFormat::Bgr] {
                let conversion = Conversion { from, to };
                keep(conversion.channels(), &mut |out| conversion.convert_row(kernel, [a, b, c, a], out));
            }
        }
        all
    }
}

#[test]
fn row_loops_of_all_kernels_are_equal() {
    let mut numbers = RandomNumbers(4);
    for width in (1..200).chain([255, 256, 257, 1000]) {
        let rows = [0, 1, 2].map(|_| numbers.bytes(width));
        assert_eq!(run(RunRowMethods(&rows)), RunRowMethods(&rows).run(Portable), "width {width}");
    }
}
