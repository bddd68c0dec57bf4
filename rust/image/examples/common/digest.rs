//! A digest of pixels that does not depend on the order of the images.

/// The number of pixel buffers, and the sum of their hashes.
#[derive(Default)]
pub struct PixelDigest {
    count: usize,
    total: u64,
}

impl PixelDigest {
    /// Adds the pixels of one image to the digest.
    pub fn add_image(&mut self, pixels: &[u8]) {
        let hash = u64::from(libdeflater::crc32(pixels)) | (pixels.len() as u64) << 32;
        self.count += 1;
        self.total = self.total.wrapping_add(mix_bits(hash));
    }

    /// Prints the number of images and the digest.
    pub fn print(&self) {
        println!("{} {:016x}", self.count, self.total);
    }
}

/// Mixes all bits of a value (the finalizer of SplitMix64).
fn mix_bits(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ value >> 31
}
