//! Every decoder and every operation on pixels returns an error if an allocation fails, and never aborts the process.
#[allow(dead_code)]
#[path = "png/encoder.rs"]
mod encoder;
#[path = "../../memory/failing_allocator.rs"]
mod failing_allocator;
#[allow(dead_code)]
#[path = "jpeg/libjpeg.rs"]
mod libjpeg;

use encoder::{COMBINATIONS, Image};
use libjpeg::{Recipe, ScriptScan, encode, test_image};
use recordmill_image::batch::{
    ColorStep, DecodeOptions, Element, Gray, ImageGeometry, Job, MaskPlan, OutputChannels, OutputFormat, Padding,
    Placement, SixteenBit, WorkerState, build_entry_points, decode_each, decode_each_mask, decode_into,
    decode_masks_into,
};
use recordmill_image::collate::slot::Layout as SlotLayout;
use recordmill_image::color::channels::{pad_colors, to_gray};
use recordmill_image::color::floats::{Operation, apply_operation};
use recordmill_image::color::hls::{self, Direction};
use recordmill_image::color::normalize::Normalize;
use recordmill_image::fault::{ImageFault, ImageFaultKind, Result};
use recordmill_image::geometry::rearrange::{Border, Margins, apply_orientation, flip_horizontal, flip_vertical, pad};
use recordmill_image::geometry::resize::boxes::{Boxes, Images, resize_boxes};
use recordmill_image::geometry::resize::opencv::Interpolation;
use recordmill_image::geometry::resize::pillow::Filter;
use recordmill_image::geometry::resize::tensorflow::Method;
use recordmill_image::geometry::resize::{Kernel, Nearest, resize, resize_high_depth, resize_many};
use recordmill_image::geometry::view::View;
use recordmill_image::geometry::warp::{Affine, Sampling, warp};
use recordmill_image::geometry::warp_fixed::{Taps, warp_fixed};
use recordmill_image::jpeg::samples::{CmykConversion, Dct, Scale};
use recordmill_image::jpeg::{self, EntryPoints, Region};
use recordmill_image::memory;
use recordmill_image::pixels::{Size, Window};
use recordmill_image::png::{self, RecodeOptions, Recoder};
use std::cell::RefCell;
use std::fmt::Debug;

/// Only allocations of at least this many bytes fail. The size of smaller allocations does not grow with the input.
const THRESHOLD: usize = 4 << 10;

/// Lets each allocation of `operation` fail in turn, and checks that the operation returns an out-of-memory error.
fn fail_each_allocation<T: PartialEq + Debug>(name: &str, operation: impl Fn() -> Result<T>) {
    let is_out_of_memory = |fault: &ImageFault| fault.kind == ImageFaultKind::OutOfMemory;
    failing_allocator::fail_each_allocation(name, THRESHOLD, is_out_of_memory, operation);
}

const SIDE: usize = 400;
const SIZE: Size = Size { width: SIDE, height: SIDE / 2 };

fn encode_jpeg(recipe: Recipe) -> Vec<u8> {
    let channels = if recipe.sampling.len() == 1 { 1 } else { 3 };
    encode(&recipe, &test_image(recipe.width, recipe.height, channels, 7))
}

fn jpeg_files() -> Vec<(&'static str, Vec<u8>)> {
    let recipe = || Recipe { quality: 98, ..Recipe::new(SIZE.width, SIZE.height, (2, 2)) };
    let scans = (0..3).map(|component| ScriptScan::new(&[component], [0, 63, 0, 0])).collect();
    vec![
        ("baseline", encode_jpeg(recipe())),
        ("baseline 4:2:2", encode_jpeg(Recipe { sampling: vec![(2, 1), (1, 1), (1, 1)], ..recipe() })),
        ("baseline 4:4:0", encode_jpeg(Recipe { sampling: vec![(1, 2), (1, 1), (1, 1)], ..recipe() })),
        ("baseline with restart markers", encode_jpeg(Recipe { restart_interval: 30, ..recipe() })),
        ("gray", encode_jpeg(Recipe::gray(SIZE.width, SIZE.height))),
        ("one scan per component", encode_jpeg(Recipe { scans, ..recipe() })),
        ("progressive", encode_jpeg(Recipe { progressive: true, ..recipe() })),
    ]
}

#[test]
fn jpeg_decoder_survives_failing_allocations() {
    for (name, file) in jpeg_files() {
        for window in [None, Some(Window { x: 120, y: 90, width: 250, height: 60 })] {
            let name = format!("JPEG {name}, {}", if window.is_some() { "window" } else { "whole" });
            let options = jpeg::Options::default();
            fail_each_allocation(&name, || jpeg::Decoder::new().decode_pixels(&file, window, &options));
        }
        let cut = &file[..file.len() * 2 / 3];
        let (options, recover) = (jpeg::Options::default(), true);
        fail_each_allocation(&format!("JPEG {name}, truncated"), || {
            let mut out = Vec::new();
            let found = jpeg::Decoder::new().decode_truncated(cut, None, &options, recover, &mut out)?;
            Ok((found, out))
        });
    }
}

#[test]
fn reused_jpeg_decoder_survives_failing_allocations() {
    let files = jpeg_files();
    fail_each_allocation("JPEG, all with one decoder", || {
        let (mut decoder, options) = (jpeg::Decoder::new(), jpeg::Options::default());
        files.iter().map(|(_, file)| decoder.decode_pixels(file, None, &options)).collect::<Result<Vec<_>>>()
    });
    let decoder = RefCell::new(jpeg::Decoder::new());
    fail_each_allocation("JPEG, decoder with earlier failures", || {
        let (mut decoder, options) = (decoder.borrow_mut(), jpeg::Options::default());
        files.iter().map(|(_, file)| decoder.decode_pixels(file, None, &options)).collect::<Result<Vec<_>>>()
    });
}

#[test]
fn entry_points_survive_failing_allocations() {
    let file = encode_jpeg(Recipe::new(64, 8 * 1000, (1, 1)));
    fail_each_allocation("entry points, build", || EntryPoints::build(&file, 1));
    let points = EntryPoints::build(&file, 1).expect("a valid file");
    fail_each_allocation("entry points, serialize", || Ok(points.to_bytes()?));
    let table = points.to_bytes().expect("enough memory");
    fail_each_allocation("entry points, parse", || EntryPoints::from_bytes(&table));
    fail_each_allocation("entry points of a batch", || {
        build_entry_points(&[&file, b"no image"], 1.0, 0, 1).map_err(|(_, fault)| fault)
    });
    let window = Window { x: 3, y: 7000, width: 40, height: 100 };
    fail_each_allocation("entry points, decode", || {
        let mut out = Vec::new();
        let region = Region::all_rows(Some(window));
        let options = jpeg::Options::default();
        let found = jpeg::Decoder::new().decode_to(&file, region, &options, Some(&points), &mut out)?;
        Ok((found, out))
    });
}

fn png_files() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for (color, depth) in COMBINATIONS {
        let image = || Image::noise(3 * SIDE, 60, color, depth, 5);
        let before = if color == 3 { image().palette_chunk(3) } else { Vec::new() };
        files.push((format!("color type {color}, {depth} bits"), image().file(&before)));
        files.push((format!("color type {color}, {depth} bits, interlaced"), image().interlaced().file(&before)));
    }
    for (color, depth) in [(0, 8), (2, 8), (2, 16)] {
        let key = encoder::make_chunk(b"tRNS", &vec![0; 2 * encoder::samples_per_pixel(color)]);
        let image = Image::noise(3 * SIDE, 60, color, depth, 5);
        files.push((format!("color type {color}, {depth} bits, transparent color"), image.file(&[key])));
    }
    files
}

#[test]
fn png_decoder_survives_failing_allocations() {
    for (name, file) in png_files() {
        for (channels, depth, mode) in [
            (png::Channels::AsStored, png::Depth::AsStored, "stored"),
            (png::Channels::WithTransparency, png::Depth::Eight, "transparency"),
            (png::Channels::Gray, png::Depth::Eight, "gray"),
        ] {
            let options = png::Options { channels, depth, gray: png::GrayRule::Libpng, ..png::Options::default() };
            fail_each_allocation(&format!("PNG {name}, {mode}"), || png::Decoder::new().decode(&file, &options));
        }
    }
}

#[test]
fn png_encoder_survives_failing_allocations() {
    for channels in 1..=4 {
        let samples = test_image(3 * SIDE, 40, channels, 3);
        fail_each_allocation(&format!("PNG encoder, {channels} channels"), || {
            let mut out = Vec::new();
            let size = Size { width: 3 * SIDE, height: 40 };
            png::Encoder::default().encode(&samples, size, channels, &mut out)?;
            Ok(out)
        });
    }
    let file = Image::noise(3 * SIDE, 60, 2, 8, 5).file(&[]);
    fail_each_allocation("PNG recoder", || {
        let (mut decoder, mut encoder, mut pixels) = (png::Decoder::new(), png::Encoder::default(), Vec::new());
        let mut out = Vec::new();
        let mut recoder = Recoder { decoder: &mut decoder, encoder: &mut encoder, pixels: &mut pixels };
        let options =
            RecodeOptions { channels: png::Channels::AsStored, upright: false, limits: png::Limits::default() };
        Ok((recoder.recode(&file, options, &mut out)?, out))
    });
}

fn all_kernels() -> Vec<Kernel> {
    let filters = [Filter::Box, Filter::Bicubic, Filter::Lanczos].map(Kernel::Pillow);
    let interpolations = [
        Interpolation::Linear,
        Interpolation::Cubic,
        Interpolation::Area,
        Interpolation::Lanczos4,
        Interpolation::AreaOrLinear,
    ];
    let methods = [
        (Method::Bilinear, true),
        (Method::Bilinear, false),
        (Method::Bicubic, true),
        (Method::Bicubic, false),
        (Method::Area, false),
        (Method::Lanczos5, true),
    ];
    let nearest = [Nearest::Pillow, Nearest::Opencv, Nearest::Tensorflow].map(Kernel::Nearest);
    let tensorflow = methods.map(|(method, antialias)| Kernel::Tensorflow { method, antialias });
    let all = [&[Kernel::Fast][..], &nearest, &filters, &interpolations.map(Kernel::Opencv), &tensorflow];
    all.concat()
}

#[test]
fn resize_survives_failing_allocations() {
    let from = Size { width: 1400, height: 24 };
    let bytes = test_image(from.width, from.height, 3, 9);
    let words: Vec<u16> = bytes.iter().map(|&byte| u16::from(byte) * 257).collect();
    let size = |width, height| Size { width, height };
    let sizes = [size(2000, 30), size(460, 10), size(700, 12), size(1000, 60), from];
    for kernel in all_kernels() {
        for to in sizes {
            let name = format!("resize to {} x {}, {kernel:?}", to.width, to.height);
            fail_each_allocation(&name, || resize(View::new(&bytes, from, 3)?, to, kernel));
            let deep = format!("{name}, 16 bits");
            fail_each_allocation(&deep, || resize_high_depth(View::new(&words, from, 3)?, to, kernel));
            fail_each_allocation(&format!("{name}, floats"), || resize_many(&bytes, from, 3, to, kernel));
        }
    }
}

#[test]
fn other_operations_on_pixels_survive_failing_allocations() {
    let bytes = test_image(SIDE, SIDE / 2, 3, 9);
    let view = || View::new(&bytes, SIZE, 3);
    fail_each_allocation("flip horizontally", || Ok(flip_horizontal(view()?)?));
    fail_each_allocation("flip vertically", || Ok(flip_vertical(view()?)?));
    for orientation in [3, 6] {
        let name = format!("orientation {orientation}");
        fail_each_allocation(&name, || apply_orientation(view()?, orientation));
    }
    let margins = Margins { left: 300, upper: 4, right: 10, lower: 9 };
    for border in [Border::Constant([1; 4]), Border::Edge, Border::Reflect] {
        fail_each_allocation(&format!("pad, {border:?}"), || pad(view()?, margins, border));
    }
    let turn = Affine { a: 0.8, b: -0.6, c: 90.0, d: 0.6, e: 0.8, f: -50.0 };
    for map in [turn, Affine { c: 3.5, ..Affine::IDENTITY }] {
        for sampling in [Sampling::Nearest, Sampling::Bilinear] {
            let to = Size { width: 600, ..SIZE };
            fail_each_allocation(&format!("warp, {sampling:?}"), || warp(view()?, &map, to, sampling, [7; 4]));
        }
    }
    for taps in [Taps::Nearest, Taps::Linear, Taps::Cubic, Taps::Lanczos4] {
        fail_each_allocation(&format!("warp_fixed, {taps:?}"), || warp_fixed(view()?, &turn, SIZE, taps, [7; 4]));
    }
    let images = Images { values: &bytes[..], size: SIZE, channels: 3 };
    let size = Size { width: 2000, height: 9 };
    let coordinates = [-0.1, 0.2, 0.9, 1.3];
    for nearest in [false, true] {
        let boxes = Boxes { coordinates: &coordinates, image_indices: &[0], size, nearest, extrapolation_value: -1.0 };
        fail_each_allocation(&format!("boxes, nearest {nearest}"), || resize_boxes(images, boxes));
    }
    fail_each_allocation("gray", || to_gray(&bytes));
    fail_each_allocation("padded colors", || {
        let mut out = Vec::new();
        pad_colors(&bytes, &mut out)?;
        Ok(out)
    });
    fail_each_allocation("HSV", || apply_operation(&bytes, Operation::ToHsv));
    fail_each_allocation("hue", || apply_operation(&bytes, Operation::ShiftHue(0.25)));
    fail_each_allocation("HLS", || hls::convert(&bytes, Direction::RgbToHls, SIDE, 0));
    let numbers = vec![1.0; 8 * 2000];
    for (step, width) in [("jitter", 8), ("gray", 1), ("shift", 3), ("paint", 4)] {
        let count = 8 * 2000 / width;
        fail_each_allocation(&format!("color step {step}"), || {
            ColorStep::parse(step, &numbers[..width * count], &[1], count).map(|_| ())
        });
    }
}

fn decode_options() -> DecodeOptions {
    DecodeOptions {
        want: OutputChannels::Rgb,
        gray: Gray::Pillow,
        deep: SixteenBit::Keep,
        dct: Dct::Islow,
        cmyk: CmykConversion::Pillow,
        fancy: true,
        scale: Scale::Full,
        max_pixels: 1 << 24,
    }
}

fn output_format(layout: SlotLayout) -> OutputFormat {
    OutputFormat {
        layout,
        reverse: false,
        normalize: Normalize::new(&[1.0, 2.0, 3.0], &[0.5]).expect("numbers"),
        deep: Normalize::new(&[1.0], &[0.5]).expect("numbers"),
        halves: true,
        counts: [3, 1],
        factors_before_resize: None,
    }
}

const WHOLE: ImageGeometry = ImageGeometry {
    orientation: 1,
    scale: None,
    window: Window { x: 10, y: 20, width: 300, height: 150 },
    resized: Size { width: 500, height: 260 },
    place: Placement { x: 20, y: 10, size: Size { width: 450, height: 240 } },
    flip: [true, false],
    matrix: None,
};

/// Drops the decoders that an earlier call left for reuse, so that the next call allocates its buffers.
fn drop_idle_state() {
    drop(WorkerState::take_idle());
}

fn fail_in_batch<T: Element + PartialEq + Debug>(name: &str, job: &Job) {
    let size = job.geometry[0].place.size;
    fail_each_allocation(&format!("{name}, array"), || {
        drop_idle_state();
        let mut out = memory::filled(size.width * size.height * 3, T::default())?;
        match decode_into(job, &mut out, 1)?.into_iter().next() {
            Some((_, fault)) => Err(fault),
            None => Ok(out),
        }
    });
    fail_each_allocation(&format!("{name}, separate images"), || {
        drop_idle_state();
        let images = decode_each::<T>(job, 1)?.into_iter().map(|(_, image)| image).collect::<Result<Vec<_>>>()?;
        Ok(images.into_iter().map(|image| (image.values, image.size, image.channels)).collect::<Vec<_>>())
    });
}

#[test]
fn batches_survive_failing_allocations() {
    let jpeg = encode_jpeg(Recipe::new(SIZE.width, SIZE.height, (2, 2)));
    let png = Image::noise(SIZE.width, SIZE.height, 2, 8, 5).file(&[]);
    let deep = Image::noise(SIZE.width, SIZE.height, 2, 16, 5).file(&[]);
    let turn = Affine { a: 0.8, b: -0.6, c: 90.0, d: 0.6, e: 0.8, f: -50.0 };
    let beyond = Placement { x: -20, y: -10, ..WHOLE.place };
    let geometries = [
        ("resize", WHOLE),
        ("orientation", ImageGeometry { orientation: 3, ..WHOLE }),
        ("padding", ImageGeometry { place: beyond, flip: [true, true], ..WHOLE }),
        ("affine map", ImageGeometry { matrix: Some(turn), ..WHOLE }),
        (
            "shrink",
            ImageGeometry {
                resized: Size { width: 100, height: 20 },
                place: Placement { x: 0, y: 0, size: Size { width: 100, height: 20 } },
                ..WHOLE
            },
        ),
    ];
    let gray = [ColorStep::Gray(vec![true])];
    for (file, payload) in [("JPEG", &jpeg), ("PNG", &png), ("16-bit PNG", &deep)] {
        for (geometry_name, geometry) in &geometries {
            for kernel in [Kernel::Fast, Kernel::Pillow(Filter::Bicubic), Kernel::Opencv(Interpolation::Linear)] {
                for (layout, colors, factors) in [
                    (SlotLayout::Nhwc, &[][..], None),
                    (SlotLayout::Nchw, &[][..], None),
                    (SlotLayout::Nchw, &[][..], Some([0.1, 0.001])),
                    (SlotLayout::Nhwc, &gray[..], None),
                ] {
                    let is_variant =
                        (kernel != Kernel::Fast || layout == SlotLayout::Nchw) && *geometry_name != "resize";
                    if is_variant || (!colors.is_empty() && file == "16-bit PNG") {
                        continue;
                    }
                    let output_format = OutputFormat { factors_before_resize: factors, ..output_format(layout) };
                    let job = Job {
                        payloads: &[&payload[..]],
                        points: &[],
                        decode_options: decode_options(),
                        geometry: &[*geometry],
                        kernel,
                        padding: Padding::Reflect,
                        sampling: Sampling::Bilinear,
                        warp_fill: vec![1],
                        colors,
                        output_format,
                    };
                    let name = format!("batch, {file}, {geometry_name}, {kernel:?}, {layout:?}");
                    match factors {
                        None => fail_in_batch::<u16>(&format!("{name}, float16"), &job),
                        Some(_) => fail_in_batch::<f32>(&name, &job),
                    }
                }
            }
        }
    }
}

#[test]
fn masks_survive_failing_allocations() {
    let mask = Image::noise(SIZE.width, SIZE.height, 0, 8, 5).file(&[]);
    let decoded = Size { width: 500, height: 300 };
    let plan = MaskPlan { upright: true, sizes: vec![(SIZE, decoded)], fit: true, rule: Nearest::Opencv };
    let job = Job {
        payloads: &[&mask[..]],
        points: &[],
        decode_options: decode_options(),
        geometry: &[WHOLE],
        kernel: Kernel::Nearest(Nearest::Opencv),
        padding: Padding::Edge,
        sampling: Sampling::Nearest,
        warp_fill: vec![1],
        colors: &[],
        output_format: output_format(SlotLayout::Nhwc),
    };
    fail_each_allocation("masks, separate", || {
        drop_idle_state();
        let masks = decode_each_mask::<u16>(&job, &plan, 1)?.into_iter().map(|(_, mask)| mask.map(|mask| mask.values));
        masks.collect::<Result<Vec<_>>>()
    });
    fail_each_allocation("masks, array", || {
        drop_idle_state();
        let mut out = memory::filled(WHOLE.place.size.width * WHOLE.place.size.height, 0_i64)?;
        match decode_masks_into(&job, &plan, &mut out, 1)?.into_iter().next() {
            Some((_, fault)) => Err(fault),
            None => Ok(out),
        }
    });
}
