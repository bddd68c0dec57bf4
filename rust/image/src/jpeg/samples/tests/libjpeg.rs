//! libjpeg as encoder and reference decoder: the C code of mozjpeg, whose decoder is that of libjpeg-turbo without
//! SIMD.
#![allow(unsafe_code)]
use super::{Block, Dct, PixelFormat};
use mozjpeg_sys::*;
use std::mem::zeroed;
use std::ptr::null_mut;

/// Options for encoding an image.
#[derive(Debug, Clone)]
pub struct ImageSpec {
    pub width: usize,
    pub height: usize,
    pub quality: i32,
    pub stored: J_COLOR_SPACE,
    /// Sampling factors of each component.
    pub factors: Vec<(u8, u8)>,
}

/// Options for decoding an image.
#[derive(Debug, Clone, Copy)]
pub struct DecodeSpec {
    pub dct: Dct,
    pub eighths: u32,
    pub fancy: bool,
    pub to: PixelFormat,
}

/// The coefficients of one component in a file.
pub struct Coefficients {
    pub quant: [u16; 64],
    /// Number of blocks in a row.
    pub across: usize,
    pub blocks: Vec<Block>,
}

/// Encodes `rgb`, which has three bytes per pixel.
pub fn encode(spec: &ImageSpec, rgb: &[u8]) -> Vec<u8> {
    let (mut data, mut len) = (null_mut(), 0);
    // SAFETY: the calls follow libjpeg's order; `rgb` has all rows; `data` and `len` outlive the compressor.
    unsafe {
        let mut error = zeroed();
        let mut c: jpeg_compress_struct = zeroed();
        c.common.err = jpeg_std_error(&mut error);
        jpeg_create_compress(&mut c);
        jpeg_mem_dest(&mut c, &mut data, &mut len);
        c.image_width = spec.width as u32;
        c.image_height = spec.height as u32;
        c.input_components = 3;
        c.in_color_space = J_COLOR_SPACE::JCS_RGB;
        jpeg_c_set_int_param(&mut c, J_INT_PARAM::JINT_COMPRESS_PROFILE, JCP_FASTEST as i32);
        jpeg_set_defaults(&mut c);
        jpeg_set_colorspace(&mut c, spec.stored);
        jpeg_set_quality(&mut c, spec.quality, 1);
        for (i, &(h, v)) in spec.factors.iter().enumerate() {
            (*c.comp_info.add(i)).h_samp_factor = h.into();
            (*c.comp_info.add(i)).v_samp_factor = v.into();
        }
        jpeg_start_compress(&mut c, 1);
        for row in rgb.chunks_exact(3 * spec.width) {
            jpeg_write_scanlines(&mut c, [row.as_ptr()].as_ptr(), 1);
        }
        jpeg_finish_compress(&mut c);
        jpeg_destroy_compress(&mut c);
        let file = std::slice::from_raw_parts(data, len as usize).to_vec();
        libc_free(data);
        file
    }
}

unsafe extern "C" {
    #[link_name = "free"]
    fn libc_free(data: *mut u8);
}

/// Runs `work` on a decompressor that has read the header of `file`.
fn with_decoder<T>(file: &[u8], work: impl FnOnce(&mut jpeg_decompress_struct) -> T) -> T {
    // SAFETY: the calls follow libjpeg's order, and `file` outlives the decompressor.
    unsafe {
        let mut error = zeroed();
        let mut d: jpeg_decompress_struct = zeroed();
        d.common.err = jpeg_std_error(&mut error);
        jpeg_create_decompress(&mut d);
        jpeg_mem_src(&mut d, file.as_ptr(), file.len() as _);
        assert_eq!(jpeg_read_header(&mut d, 1), 1);
        let result = work(&mut d);
        jpeg_destroy_decompress(&mut d);
        result
    }
}

/// Decodes `file`. Returns width, height and samples.
pub fn decode(file: &[u8], spec: DecodeSpec) -> (usize, usize, Vec<u8>) {
    with_decoder(file, |d| {
        d.scale_num = spec.eighths;
        d.scale_denom = 8;
        d.dct_method = if spec.dct == Dct::Ifast { J_DCT_METHOD::JDCT_IFAST } else { J_DCT_METHOD::JDCT_ISLOW };
        d.do_fancy_upsampling = spec.fancy.into();
        d.out_color_space = match spec.to {
            PixelFormat::Gray => J_COLOR_SPACE::JCS_GRAYSCALE,
            PixelFormat::Rgb => J_COLOR_SPACE::JCS_RGB,
            PixelFormat::Bgr => J_COLOR_SPACE::JCS_EXT_BGR,
        };
        // SAFETY: `out` has room for every row that is read.
        unsafe {
            jpeg_start_decompress(d);
            let (width, height) = (d.output_width as usize, d.output_height as usize);
            let row_bytes = width * d.output_components as usize;
            let mut out = vec![0; row_bytes * height];
            for row in out.chunks_exact_mut(row_bytes) {
                assert_eq!(jpeg_read_scanlines(d, [row.as_mut_ptr()].as_mut_ptr(), 1), 1);
            }
            jpeg_finish_decompress(d);
            (width, height, out)
        }
    })
}

/// Returns the coefficients of every component.
pub fn read_coefficients(file: &[u8]) -> Vec<Coefficients> {
    with_decoder(file, |d| {
        // SAFETY: the arrays and tables belong to `d`; row and block indices stay below the counts in `d`.
        unsafe {
            let arrays = jpeg_read_coefficients(d);
            (0..d.num_components as usize)
                .map(|component| {
                    let info = &*d.comp_info.add(component);
                    let across = info.width_in_blocks as usize;
                    let quant = (*d.quant_tbl_ptrs[info.quant_tbl_no as usize]).quantval;
                    let mut blocks = Vec::new();
                    for row in 0..info.height_in_blocks {
                        let access = (*d.common.mem).access_virt_barray.expect("a memory manager has all functions");
                        let rows = access(&mut d.common, *arrays.add(component), row, 1, 0);
                        blocks.extend_from_slice(std::slice::from_raw_parts((*rows).cast::<Block>(), across));
                    }
                    Coefficients { quant, across, blocks }
                })
                .collect()
        }
    })
}

/// Returns width and height, and the sampling factors of the components.
pub fn read_header(file: &[u8]) -> ((usize, usize), Vec<(u8, u8)>) {
    with_decoder(file, |d| {
        // SAFETY: `comp_info` has `num_components` entries once the header is read.
        let infos = unsafe { std::slice::from_raw_parts(d.comp_info, d.num_components as usize) };
        let factors = infos.iter().map(|info| (info.h_samp_factor as u8, info.v_samp_factor as u8)).collect();
        ((d.image_width as usize, d.image_height as usize), factors)
    })
}

/// The natural index of each coefficient in zig-zag order (T.81 figure A.6).
#[rustfmt::skip]
pub const ZIGZAG: [usize; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// Returns the zig-zag index of the last nonzero coefficient.
pub fn last_nonzero_index(block: &Block) -> usize {
    (0..64).rev().find(|&i| block[ZIGZAG[i]] != 0).unwrap_or(0)
}
