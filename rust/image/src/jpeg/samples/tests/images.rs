//! Tests that images decoded from libjpeg's coefficients equal libjpeg's pixels.
use super::super::*;
use super::RandomNumbers;
use super::libjpeg::{self, Coefficients, DecodeSpec, ImageSpec, last_nonzero_index};
use crate::fault::ImageFaultKind;
use crate::pixels::{Size, Window};
use mozjpeg_sys::J_COLOR_SPACE::{JCS_GRAYSCALE, JCS_RGB, JCS_YCbCr};

/// Returns a synthetic RGB image with gradients, edges and noise.
pub(super) fn test_image(numbers: &mut RandomNumbers, width: usize, height: usize) -> Vec<u8> {
    let noise = 1 + numbers.below(256);
    let slopes: Vec<usize> = (0..6).map(|_| numbers.below(9)).collect();
    let mut rgb = Vec::with_capacity(3 * width * height);
    for i in 0..3 * width * height {
        let (channel, x, y) = (i % 3, i / 3 % width, i / 3 / width);
        let edge = if (x / 5 + y / 7) % 3 == channel { 90 } else { 0 };
        rgb.push((slopes[channel] * x + slopes[3 + channel] * y + edge + numbers.below(noise)) as u8);
    }
    rgb
}

/// The fully decoded component planes of an image, including the padding of blocks.
pub(super) struct Planes {
    pub layout: Layout,
    samples: Vec<(Vec<u8>, usize)>,
}

pub(super) struct SourceFile {
    pub size: Size,
    pub color_space: ColorSpace,
    pub factors: Vec<(u8, u8)>,
    pub coefficients: Vec<Coefficients>,
}

impl Planes {
    pub(super) fn new<K: Kernel>(kernel: K, source: &SourceFile, dct: Dct, scale: Scale, fancy: bool) -> Self {
        let layout = Layout::new(source.size, scale, &source.factors, fancy).expect("whole ratios");
        let planes = layout.components.iter().zip(&source.coefficients);
        let samples =
            planes.map(|(component, coefficients)| decode_plane(kernel, component, coefficients, dct)).collect();
        Self { layout, samples }
    }

    /// Returns the pixels of a window. Checks that each row uses only the rows and columns that the converter
    /// announces.
    pub(super) fn decode_window<K: Kernel>(&self, kernel: K, conversion: Conversion, window: Window) -> Vec<u8> {
        let mut converter = RowConverter::new(&self.layout, conversion, window).expect("a window of the image");
        let mut out = vec![0; converter.row_bytes() * window.height];
        for (i, out) in out.chunks_exact_mut(converter.row_bytes()).enumerate() {
            let y = window.y + i;
            let needs: Vec<_> =
                (0..converter.components()).map(|c| (converter.columns(c), converter.rows(c, y))).collect();
            let samples = |component: usize, row: usize| {
                let (columns, rows) = &needs[component];
                assert!(rows.contains(&row), "row {row} was not announced");
                let (plane, stride) = &self.samples[component];
                &plane[row * stride..][columns.clone()]
            };
            converter.write_row(kernel, y, samples, out);
        }
        out
    }
}

fn decode_plane<K: Kernel>(
    kernel: K,
    component: &Component,
    coefficients: &Coefficients,
    dct: Dct,
) -> (Vec<u8>, usize) {
    let mut quant = [0; 64];
    quant.copy_from_slice(&coefficients.quant);
    let transform = Transform::new(dct, component.block, &quant);
    let edge = component.block.edge();
    let stride = coefficients.across * edge;
    let mut plane = vec![0; coefficients.blocks.len() * edge * edge];
    for (i, block) in coefficients.blocks.iter().enumerate() {
        let (x, y) = (i % coefficients.across, i / coefficients.across);
        transform.apply(kernel, block, last_nonzero_index(block), &mut plane[y * edge * stride + x * edge..], stride);
    }
    (plane, stride)
}

pub(super) fn source_of_file(spec: &ImageSpec, file: &[u8]) -> SourceFile {
    let ((width, height), factors) = libjpeg::read_header(file);
    let color_space = match (spec.stored, factors.len()) {
        (JCS_RGB, _) => ColorSpace::Rgb,
        (_, 1) => ColorSpace::Gray,
        _ => ColorSpace::Ycc,
    };
    SourceFile { size: Size { width, height }, color_space, factors, coefficients: libjpeg::read_coefficients(file) }
}

pub(super) const SCALES: [Scale; 4] = [Scale::Full, Scale::Half, Scale::Quarter, Scale::Eighth];

/// Decodes one file and compares it with libjpeg, with all scales, transforms, upsampling modes and pixel formats.
struct CompareAllModes<'a> {
    spec: &'a ImageSpec,
    file: &'a [u8],
}

impl Job for CompareAllModes<'_> {
    type Output = ();
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let source = source_of_file(self.spec, self.file);
        for (i, &scale) in SCALES.iter().enumerate() {
            for mode in 0..4 {
                let (dct, fancy) = ([Dct::Islow, Dct::Ifast][mode % 2], mode < 2);
                let planes = Planes::new(kernel, &source, dct, scale, fancy);
                let to = [PixelFormat::Rgb, PixelFormat::Bgr, PixelFormat::Gray][(i + mode) % 3];
                let spec = DecodeSpec { dct, eighths: scale.edge() as u32, fancy, to };
                let (width, height, expected) = libjpeg::decode(self.file, spec);
                assert_eq!((width, height), (planes.layout.size.width, planes.layout.size.height));
                let window = Window::whole(planes.layout.size);
                let got = planes.decode_window(kernel, Conversion { from: source.color_space, to }, window);
                assert!(got == expected, "{:?} {spec:?}", self.spec);
            }
        }
    }
}

fn assert_equal_in_all_modes(spec: &ImageSpec, numbers: &mut RandomNumbers) {
    let rgb = self::test_image(numbers, spec.width, spec.height);
    let file = libjpeg::encode(spec, &rgb);
    run(CompareAllModes { spec, file: &file });
    CompareAllModes { spec, file: &file }.run(Portable);
}

fn sampling_factors(luma: (u8, u8)) -> Vec<(u8, u8)> {
    vec![luma, (1, 1), (1, 1)]
}

#[test]
fn subsampled_images_of_every_width_equal_libjpeg() {
    let mut numbers = RandomNumbers(10);
    for luma in [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1)] {
        for width in 1..=70 {
            let height = 1 + numbers.below(40);
            let quality = 1 + numbers.below(100) as i32;
            let spec = ImageSpec { width, height, quality, stored: JCS_YCbCr, factors: sampling_factors(luma) };
            assert_equal_in_all_modes(&spec, &mut numbers);
        }
    }
}

#[test]
fn subsampled_images_of_every_height_equal_libjpeg() {
    let mut numbers = RandomNumbers(11);
    for luma in [(1, 2), (2, 2)] {
        for height in 1..=70 {
            let width = 1 + numbers.below(40);
            let quality = 1 + numbers.below(100) as i32;
            let spec = ImageSpec { width, height, quality, stored: JCS_YCbCr, factors: sampling_factors(luma) };
            assert_equal_in_all_modes(&spec, &mut numbers);
        }
    }
}

/// Grayscale files with any sampling factors, RGB files, and unusual layouts: chroma finer than luma, different factors
/// for Cb and Cr, 4:1:0, and factors of three.
#[test]
fn images_with_unusual_sampling_equal_libjpeg() {
    let mut numbers = RandomNumbers(12);
    let color = [
        [(1, 4), (1, 1), (1, 1)],
        [(4, 2), (1, 1), (1, 1)],
        [(4, 1), (2, 1), (1, 1)],
        [(1, 1), (1, 4), (2, 2)],
        [(2, 4), (1, 1), (1, 1)],
        [(2, 2), (2, 1), (2, 1)],
        [(2, 2), (1, 2), (1, 2)],
        [(3, 1), (1, 1), (1, 1)],
        [(3, 2), (1, 1), (1, 1)],
        [(1, 1), (2, 2), (2, 2)],
        [(1, 1), (2, 1), (1, 2)],
        [(2, 1), (1, 2), (2, 2)],
    ];
    for round in 0..6 {
        for (i, factors) in color.iter().enumerate() {
            let stored = if (i + round) % 4 == 0 { JCS_RGB } else { JCS_YCbCr };
            let (width, height) = (1 + numbers.below(60), 1 + numbers.below(60));
            let quality = 1 + numbers.below(100) as i32;
            let spec = ImageSpec { width, height, quality, stored, factors: factors.to_vec() };
            assert_equal_in_all_modes(&spec, &mut numbers);
        }
        for (stored, factors) in
            [(JCS_GRAYSCALE, vec![(2, 2)]), (JCS_GRAYSCALE, vec![(1, 1)]), (JCS_RGB, vec![(1, 1); 3])]
        {
            let (width, height) = (1 + numbers.below(60), 1 + numbers.below(60));
            let spec = ImageSpec { width, height, quality: 70, stored, factors };
            assert_equal_in_all_modes(&spec, &mut numbers);
        }
    }
}

#[test]
fn layout_rejects_fractional_upsampling_and_zero_factors() {
    let size = Size { width: 10, height: 10 };
    for factors in
        [[(3, 1), (2, 1), (1, 1)], [(1, 3), (1, 2), (1, 1)], [(4, 1), (3, 1), (1, 1)], [(2, 2), (0, 1), (1, 1)]]
    {
        assert_eq!(Layout::new(size, Scale::Full, &factors, true), None);
    }
    assert_eq!(Layout::new(size, Scale::Full, &[], true), None);
}

/// Checks that the pixels of windows equal those of the whole image.
struct WindowsEqualCrops<'a> {
    planes: &'a Planes,
    conversion: Conversion,
    windows: Vec<Window>,
}

impl Job for WindowsEqualCrops<'_> {
    type Output = ();
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let size = self.planes.layout.size;
        let whole = self.planes.decode_window(kernel, self.conversion, Window::whole(size));
        let bytes = self.conversion.channels();
        for window in self.windows {
            let rows = whole.chunks_exact(bytes * size.width).skip(window.y).take(window.height);
            let crop: Vec<u8> =
                rows.flat_map(|row| &row[bytes * window.x..][..bytes * window.width]).copied().collect();
            assert!(self.planes.decode_window(kernel, self.conversion, window) == crop, "{window:?} of {size:?}");
        }
    }
}

fn random_window(numbers: &mut RandomNumbers, size: Size) -> Window {
    let (x, y) = (numbers.below(size.width), numbers.below(size.height));
    Window { x, y, width: 1 + numbers.below(size.width - x), height: 1 + numbers.below(size.height - y) }
}

#[test]
fn window_equals_crop_of_whole_image() {
    let mut numbers = RandomNumbers(20);
    for luma in [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (4, 2)] {
        for round in 0..12 {
            let (width, height) = (1 + numbers.below(90), 1 + numbers.below(50));
            let factors = vec![luma, (1, 1), (1, 1)];
            let spec = ImageSpec { width, height, quality: 90, stored: JCS_YCbCr, factors };
            let file = libjpeg::encode(&spec, &self::test_image(&mut numbers, width, height));
            let source = source_of_file(&spec, &file);
            for scale in SCALES {
                let planes = Planes::new(Portable, &source, Dct::Islow, scale, round % 4 != 3);
                let to = [PixelFormat::Rgb, PixelFormat::Gray, PixelFormat::Bgr][round % 3];
                let windows: Vec<_> = (0..20).map(|_| random_window(&mut numbers, planes.layout.size)).collect();
                run(WindowsEqualCrops {
                    planes: &planes,
                    conversion: Conversion { from: ColorSpace::Ycc, to },
                    windows,
                });
            }
        }
    }
}

#[test]
fn row_converter_rejects_window_outside_image() {
    let layout = Layout::new(Size { width: 20, height: 10 }, Scale::Half, &[(1, 1)], true).expect("whole ratios");
    assert_eq!(layout.size, Size { width: 10, height: 5 });
    let conversion = Conversion { from: ColorSpace::Gray, to: PixelFormat::Rgb };
    let windows = [(0, 0, 11, 5), (0, 0, 10, 6), (10, 0, 1, 1), (0, 0, 0, 1), (usize::MAX, 0, 2, 1), (1, 0, 10, 5)];
    for (x, y, width, height) in windows {
        let fault = RowConverter::new(&layout, conversion, Window { x, y, width, height }).unwrap_err();
        assert_eq!(fault.kind, ImageFaultKind::BadWindow);
    }
}

#[test]
fn row_converter_rejects_missing_components() {
    let layout = Layout::new(Size { width: 8, height: 8 }, Scale::Full, &[(1, 1)], true).expect("whole ratios");
    let window = Window::whole(layout.size);
    let fault =
        RowConverter::new(&layout, Conversion { from: ColorSpace::Ycc, to: PixelFormat::Rgb }, window).unwrap_err();
    assert_eq!(fault.kind, ImageFaultKind::BadArgument);
    assert!(RowConverter::new(&layout, Conversion { from: ColorSpace::Ycc, to: PixelFormat::Gray }, window).is_ok());
}
