//! libjpeg as the reference decoder with its warnings, and as the encoder of test files of every kind.
use mozjpeg_sys::*;
use std::ffi::{c_int, c_ulong, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

unsafe extern "C" {
    /// `free` of the C library, whose allocator libjpeg uses.
    fn free(block: *mut c_void);
}

/// An image decoded by libjpeg.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// Width in pixels.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Number of channels.
    pub channels: usize,
    /// Interleaved samples.
    pub samples: Vec<u8>,
    /// Number of warnings.
    pub warnings: i64,
}

/// Decoding options of libjpeg.
#[derive(Debug, Clone, Copy)]
pub struct LibjpegOptions {
    /// Output color space; as stored if `None`.
    pub color: Option<J_COLOR_SPACE>,
    /// Whether to use the fast inverse DCT instead of the accurate one.
    pub fast: bool,
    /// Whether to use fancy upsampling.
    pub fancy: bool,
    /// Output size in eighths: 8, 4, 2 or 1.
    pub eighths: u32,
}

impl Default for LibjpegOptions {
    fn default() -> Self {
        Self { color: None, fast: false, fancy: true, eighths: 8 }
    }
}

/// Encoding options of libjpeg.
#[derive(Debug, Clone)]
pub struct Recipe {
    pub width: usize,
    pub height: usize,
    /// Color space in the file: grayscale, YCbCr or RGB.
    pub color: J_COLOR_SPACE,
    /// Sampling factors of each component.
    pub sampling: Vec<(c_int, c_int)>,
    pub quality: c_int,
    pub restart_interval: u32,
    pub optimize: bool,
    /// Scan script; empty for a single scan.
    pub scans: Vec<ScriptScan>,
    /// Whether to use libjpeg's default progression.
    pub progressive: bool,
}

impl Recipe {
    /// Describes a YCbCr image of `width` by `height` with the given luma sampling factors.
    pub fn new(width: usize, height: usize, (h, v): (c_int, c_int)) -> Self {
        let sampling = vec![(h, v), (1, 1), (1, 1)];
        let color = J_COLOR_SPACE::JCS_YCbCr;
        Self {
            width,
            height,
            color,
            sampling,
            quality: 85,
            restart_interval: 0,
            optimize: false,
            scans: vec![],
            progressive: false,
        }
    }

    /// Describes a grayscale image.
    pub fn gray(width: usize, height: usize) -> Self {
        Self { color: J_COLOR_SPACE::JCS_GRAYSCALE, sampling: vec![(1, 1)], ..Self::new(width, height, (1, 1)) }
    }
}

/// One scan of a script.
#[derive(Debug, Clone)]
pub struct ScriptScan {
    /// Indices of the components.
    pub components: Vec<c_int>,
    /// Ss, Se, Ah and Al of the scan header.
    pub parameters: [c_int; 4],
}

impl ScriptScan {
    /// Creates a scan of `components` with `parameters`: Ss, Se, Ah and Al of the scan header.
    pub fn new(components: &[c_int], parameters: [c_int; 4]) -> Self {
        Self { components: components.to_vec(), parameters }
    }

    fn to_scan_info(&self) -> jpeg_scan_info {
        let mut component_index = [0; 4];
        component_index[..self.components.len()].copy_from_slice(&self.components);
        let [start, end, high, low] = self.parameters;
        jpeg_scan_info {
            comps_in_scan: self.components.len() as c_int,
            component_index,
            Ss: start,
            Se: end,
            Ah: high,
            Al: low,
        }
    }
}

struct Failure;

/// Larger images fail. Fuzzers produce headers with sizes that need gigabytes.
const MAX_PIXELS: u64 = 1 << 24;

unsafe extern "C-unwind" fn unwind_on_error(_: &mut jpeg_common_struct) {
    std::panic::resume_unwind(Box::new(Failure));
}

unsafe extern "C-unwind" fn count(info: &mut jpeg_common_struct, level: c_int) {
    if level < 0 {
        // SAFETY: libjpeg passes the error manager that was set below, which outlives the decompression.
        unsafe { (*info.err).num_warnings += 1 };
    }
}

/// Decodes `data`; `None` if libjpeg fails.
pub fn decode(data: &[u8], mode: LibjpegOptions) -> Option<Decoded> {
    let (decoded, warnings) = with_libjpeg(|info| read_pixels(info, data, mode))?;
    Some(Decoded { warnings, ..decoded })
}

/// Returns whether the coefficients of all blocks stay near the range of 8-bit samples. Beyond that, the sums of the
/// inverse DCT need more than 16 bits, and libjpeg's SIMD code produces other pixels than its C code.
pub fn has_plausible_coefficients(data: &[u8]) -> bool {
    with_libjpeg(|info| largest_coefficient_sum(info, data)).is_some_and(|(largest, _)| largest < 2500)
}

/// Calls `job` with a decompressor. Returns its result and the number of warnings, or `None` if libjpeg fails.
fn with_libjpeg<T>(job: impl FnOnce(&mut jpeg_decompress_struct) -> T) -> Option<(T, i64)> {
    // SAFETY: both structs are plain C data that may be initialized with zeros.
    let (mut errors, mut info): (jpeg_error_mgr, jpeg_decompress_struct) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    // SAFETY: `errors` and `info` live until `jpeg_destroy_decompress`; libjpeg is built so that errors can unwind
    // through it.
    unsafe {
        jpeg_std_error(&mut errors);
        errors.error_exit = Some(unwind_on_error);
        errors.emit_message = Some(count);
        info.common.err = &mut errors;
        jpeg_create_decompress(&mut info);
    }
    let result = catch_unwind(AssertUnwindSafe(|| job(&mut info)));
    // SAFETY: `info` was created above.
    unsafe { jpeg_destroy_decompress(&mut info) };
    match result {
        Ok(result) => Some((result, errors.num_warnings)),
        Err(payload) if payload.is::<Failure>() => None,
        Err(payload) => std::panic::resume_unwind(payload),
    }
}

/// Returns the largest sum of absolute dequantized coefficients of any block.
fn largest_coefficient_sum(info: &mut jpeg_decompress_struct, data: &[u8]) -> i64 {
    let mut largest = 0;
    // SAFETY: `info` was created and `data` outlives it; the rows of blocks that libjpeg returns live until it is
    // destroyed.
    unsafe {
        jpeg_mem_src(info, data.as_ptr(), data.len() as c_ulong);
        jpeg_read_header(info, 1);
        let arrays = std::slice::from_raw_parts(jpeg_read_coefficients(info), info.num_components as usize);
        let components = std::slice::from_raw_parts(info.comp_info, arrays.len());
        let access = (*info.common.mem).access_virt_barray.expect("libjpeg sets it");
        for (component, &array) in components.iter().zip(arrays) {
            let Some(table) = component.quant_table.as_ref() else { continue };
            for row in 0..component.height_in_blocks {
                let row = *access(&mut info.common, array, row, 1, 0);
                for block in std::slice::from_raw_parts(row, component.width_in_blocks as usize) {
                    let products = block
                        .iter()
                        .zip(&table.quantval)
                        .map(|(&value, &step)| (i64::from(value) * i64::from(step)).abs());
                    largest = largest.max(products.sum());
                }
            }
        }
    }
    largest
}

fn read_pixels(info: &mut jpeg_decompress_struct, data: &[u8], mode: LibjpegOptions) -> Decoded {
    // SAFETY: `info` was created, `data` outlives it, and each row pointer has room for one row of output.
    unsafe {
        jpeg_mem_src(info, data.as_ptr(), data.len() as c_ulong);
        jpeg_read_header(info, 1);
        if u64::from(info.image_width) * u64::from(info.image_height) > MAX_PIXELS {
            std::panic::resume_unwind(Box::new(Failure));
        }
        let stored = if info.num_components == 1 { J_COLOR_SPACE::JCS_GRAYSCALE } else { J_COLOR_SPACE::JCS_RGB };
        info.out_color_space = mode.color.unwrap_or(stored);
        info.dct_method = if mode.fast { J_DCT_METHOD::JDCT_IFAST } else { J_DCT_METHOD::JDCT_ISLOW };
        info.do_fancy_upsampling = mode.fancy.into();
        (info.scale_num, info.scale_denom) = (mode.eighths, 8);
        jpeg_start_decompress(info);
        let (width, height) = (info.output_width as usize, info.output_height as usize);
        let channels = info.output_components as usize;
        let mut samples = vec![0; width * height * channels];
        for row in samples.chunks_exact_mut(width * channels) {
            let mut rows = [row.as_mut_ptr()];
            jpeg_read_scanlines(info, rows.as_mut_ptr(), 1);
        }
        jpeg_finish_decompress(info);
        Decoded { width, height, channels, samples, warnings: 0 }
    }
}

/// Encodes `samples` (grayscale or RGB, as `recipe` requires).
pub fn encode(recipe: &Recipe, samples: &[u8]) -> Vec<u8> {
    let (mut buffer, mut length): (*mut u8, c_ulong) = (null_mut(), 0);
    // SAFETY: both structs may be initialized with zeros and live until `jpeg_destroy_compress`; errors unwind.
    let (mut errors, mut info): (jpeg_error_mgr, jpeg_compress_struct) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    let scans: Vec<jpeg_scan_info> = recipe.scans.iter().map(ScriptScan::to_scan_info).collect();
    // SAFETY: as above; `scans` outlives the compression. `jpeg_mem_dest` leaves the buffer to the caller; it is copied
    // and freed with the C allocator that allocated it.
    unsafe {
        jpeg_std_error(&mut errors);
        errors.error_exit = Some(unwind_on_error);
        info.common.err = &mut errors;
        jpeg_create_compress(&mut info);
        jpeg_mem_dest(&mut info, &mut buffer, &mut length);
        set_up(&mut info, recipe);
        if !scans.is_empty() {
            (info.num_scans, info.scan_info) = (scans.len() as c_int, scans.as_ptr());
        }
        jpeg_start_compress(&mut info, 1);
        for row in samples.chunks_exact(recipe.width * info.input_components as usize) {
            let rows = [row.as_ptr()];
            jpeg_write_scanlines(&mut info, rows.as_ptr(), 1);
        }
        jpeg_finish_compress(&mut info);
        jpeg_destroy_compress(&mut info);
        let file = std::slice::from_raw_parts(buffer, length as usize).to_vec();
        free(buffer.cast());
        file
    }
}

/// # Safety
/// `info` must have been created and have a destination.
unsafe fn set_up(info: &mut jpeg_compress_struct, recipe: &Recipe) {
    (info.image_width, info.image_height) = (recipe.width as u32, recipe.height as u32);
    let is_gray = recipe.color == J_COLOR_SPACE::JCS_GRAYSCALE;
    info.input_components = if is_gray { 1 } else { 3 };
    info.in_color_space = if is_gray { J_COLOR_SPACE::JCS_GRAYSCALE } else { J_COLOR_SPACE::JCS_RGB };
    // SAFETY: by this function's condition; libjpeg allocates three components for color images.
    unsafe {
        jpeg_c_set_int_param(info, JINT_COMPRESS_PROFILE, JCP_FASTEST as c_int);
        jpeg_set_defaults(info);
        jpeg_set_colorspace(info, recipe.color);
        jpeg_set_quality(info, recipe.quality, 1);
        let components = std::slice::from_raw_parts_mut(info.comp_info, recipe.sampling.len());
        for (component, &(h, v)) in components.iter_mut().zip(&recipe.sampling) {
            (component.h_samp_factor, component.v_samp_factor) = (h, v);
        }
        if recipe.progressive {
            jpeg_simple_progression(info);
        }
    }
    info.restart_interval = recipe.restart_interval;
    info.optimize_coding = recipe.optimize.into();
}

/// Random number generator (xorshift), so that every run tests the same values.
pub struct Random(u64);

impl Random {
    /// Creates a generator with seed `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % end
    }

    /// Returns one of `choices`.
    pub fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// Returns an image with gradients, edges and noise that has `channels` samples per pixel.
pub fn test_image(width: usize, height: usize, channels: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let (scale, noise) = (1 + random.below(7), 1 + random.below(90));
    let mut samples = Vec::with_capacity(width * height * channels);
    for y in 0..height {
        for x in 0..width {
            for channel in 0..channels {
                let ramp = x * scale + y * (channel + 1) + channel * 40;
                let edge = if (x / 11 + y / 7 + channel).is_multiple_of(3) { 90 } else { 0 };
                samples.push((ramp + edge + random.below(noise)).min(255 + ramp % 64) as u8);
            }
        }
    }
    samples
}
