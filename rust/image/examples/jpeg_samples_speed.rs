//! Measures the CPU time of sample processing in JPEG decoding: `cargo run --release --example jpeg_samples_speed --
//! photo.jpg...`
//!
//! The coefficients come from libjpeg. Prints milliseconds per image (best of several rounds) for the inverse DCT and
//! for the conversion to rows of RGB, for each kernel.
use recordmill_image::jpeg::samples::*;
use recordmill_image::pixels::{Size, Window};
use std::hint::black_box;

#[allow(dead_code)]
#[path = "../src/jpeg/samples/tests/libjpeg.rs"]
mod libjpeg;

const ROUNDS: usize = 20;

unsafe extern "C" {
    /// CPU time of this process in microseconds.
    safe fn clock() -> std::ffi::c_long;
}

/// The coefficients and tables of one image, prepared before the time is measured.
struct PreparedImage {
    layout: Layout,
    transforms: Vec<Transform>,
    /// For each component: the number of blocks in a row, and the blocks, each with the zig-zag index of its last
    /// nonzero coefficient.
    blocks: Vec<(usize, Vec<(Block, usize)>)>,
}

impl PreparedImage {
    fn new(file: &[u8], scale: Scale, dct: Dct) -> Self {
        let (size, factors) = libjpeg::read_header(file);
        let layout = Layout::new(Size { width: size.0, height: size.1 }, scale, &factors, true).expect("whole ratios");
        let coefficients = libjpeg::read_coefficients(file);
        let transform = |(component, source): (&Component, &libjpeg::Coefficients)| {
            let mut natural = [0; 64];
            natural.copy_from_slice(&source.quant);
            Transform::new(dct, component.block, &natural)
        };
        let transforms = layout.components.iter().zip(&coefficients).map(transform).collect();
        let with_last = |block: &Block| (*block, libjpeg::last_nonzero_index(block));
        let blocks = coefficients.iter().map(|c| (c.across, c.blocks.iter().map(with_last).collect())).collect();
        Self { layout, transforms, blocks }
    }
}

/// Decodes one image. Returns the CPU time of both stages in microseconds.
struct TimedDecode<'a> {
    image: &'a PreparedImage,
    planes: &'a mut Vec<Vec<u8>>,
    out: &'a mut Vec<u8>,
}

impl Job for TimedDecode<'_> {
    type Output = [i64; 2];
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> [i64; 2] {
        let Self { image, planes, out } = self;
        let start = clock();
        for ((transform, (across, blocks)), (component, plane)) in
            image.transforms.iter().zip(&image.blocks).zip(image.layout.components.iter().zip(planes.iter_mut()))
        {
            let edge = component.block.edge();
            let stride = across * edge;
            plane.resize(blocks.len() * edge * edge, 0);
            for (row, blocks) in plane.chunks_exact_mut(stride * edge).zip(blocks.chunks_exact(*across)) {
                for (x, (block, last)) in blocks.iter().enumerate() {
                    transform.apply(kernel, block, *last, &mut row[x * edge..], stride);
                }
            }
        }
        let middle = clock();
        let conversion = Conversion { from: ColorSpace::Ycc, to: PixelFormat::Rgb };
        let mut converter =
            RowConverter::new(&image.layout, conversion, Window::whole(image.layout.size)).expect("all of it");
        out.resize(converter.row_bytes() * image.layout.size.height, 0);
        let bytes = converter.row_bytes();
        for (y, out) in out.chunks_exact_mut(bytes).enumerate() {
            let row = |component: usize, row: usize| {
                let stride = image.blocks[component].0 * image.layout.components[component].block.edge();
                &planes[component][row * stride..][..stride]
            };
            converter.write_row(kernel, y, row, out);
        }
        [middle - start, clock() - middle]
    }
}

fn main() {
    let files: Vec<Vec<u8>> = std::env::args().skip(1).map(|path| std::fs::read(path).expect("a file")).collect();
    let color = |file: &&Vec<u8>| libjpeg::read_header(file).1.len() == 3;
    for (name, scale, dct) in [
        ("islow", Scale::Full, Dct::Islow),
        ("ifast", Scale::Full, Dct::Ifast),
        ("half", Scale::Half, Dct::Islow),
        ("quarter", Scale::Quarter, Dct::Islow),
    ] {
        let images: Vec<PreparedImage> =
            files.iter().filter(color).map(|file| PreparedImage::new(file, scale, dct)).collect();
        for portable in [false, true] {
            let (mut planes, mut out, mut spent) = (vec![Vec::new(); 3], Vec::new(), [0; 2]);
            for image in &images {
                let mut best = [i64::MAX; 2];
                for _ in 0..ROUNDS {
                    let job = TimedDecode { image, planes: &mut planes, out: &mut out };
                    let [transform, rows] = if portable { job.run(Portable) } else { run(job) };
                    best = [best[0].min(transform), best[1].min(rows)];
                    black_box(&out);
                }
                spent = [spent[0] + best[0], spent[1] + best[1]];
            }
            let kernel = if portable { "portable" } else { "best" };
            let [transform, rows] = spent.map(|spent| spent as f64 / 1000.0 / images.len() as f64);
            println!(
                "{name:8} {kernel:8} transform {transform:.4} ms  rows {rows:.4} ms  both {:.4} ms",
                transform + rows
            );
        }
    }
}
