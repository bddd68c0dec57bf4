//! Coefficients that no encoder writes come out as from libjpeg-turbo's x86 SIMD code; `absurd/make_blocks.py` recorded it.
use super::super::*;

const RECORDED: &[u8] = include_bytes!("absurd/blocks.bin");
const BLOCKS: usize = 16;

const FORMS: [(Dct, Scale); 5] = [
    (Dct::Islow, Scale::Full),
    (Dct::Islow, Scale::Half),
    (Dct::Islow, Scale::Quarter),
    (Dct::Islow, Scale::Eighth),
    (Dct::Ifast, Scale::Full),
];

/// Takes `count` bytes from the front.
fn take<'a>(rest: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, left) = rest.split_at(count);
    *rest = left;
    taken
}

fn words(bytes: &[u8]) -> Vec<u16> {
    bytes.as_chunks().0.iter().map(|pair| u16::from_le_bytes(*pair)).collect()
}

struct Group<'a> {
    transform: Transform,
    blocks: &'a [Block],
    edge: usize,
}

impl Job for &Group<'_> {
    type Output = Vec<u8>;
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Vec<u8> {
        let area = self.edge * self.edge;
        let mut out = vec![0; area * self.blocks.len()];
        for (block, out) in self.blocks.iter().zip(out.chunks_exact_mut(area)) {
            self.transform.block(kernel, block, super::libjpeg::last_of(block), out, self.edge);
        }
        out
    }
}

#[test]
fn transform_when_coefficients_are_absurd_then_equals_recorded_simd() {
    let mut rest = RECORDED;
    while !rest.is_empty() {
        let quant: [u16; 64] = words(take(&mut rest, 128)).try_into().expect("64 steps");
        let coefficients: Vec<i16> = words(take(&mut rest, 128 * BLOCKS)).into_iter().map(|word| word as i16).collect();
        let blocks = coefficients.as_chunks().0;
        for (dct, scale) in FORMS {
            let edge = scale.edge();
            let group = Group { transform: Transform::new(dct, scale, &quant), blocks, edge };
            let expected = take(&mut rest, BLOCKS * edge * edge);
            assert_eq!(run(&group), expected, "{dct:?} {scale:?}");
            assert_eq!((&group).run(Portable), expected, "{dct:?} {scale:?}, portable");
        }
    }
}
