//! A digest of pixels that does not depend on the order of the images.

/// Count, and sum over the hashes, of pixel buffers.
#[derive(Default)]
pub struct Digest {
    count: usize,
    total: u64,
}

impl Digest {
    /// Takes in the pixels of one image.
    pub fn add(&mut self, pixels: &[u8]) {
        let hash = u64::from(libdeflater::crc32(pixels)) | (pixels.len() as u64) << 32;
        self.count += 1;
        self.total = self.total.wrapping_add(mixed(hash));
    }

    /// Prints both.
    pub fn print(&self) {
        println!("{} {:016x}", self.count, self.total);
    }
}

/// Spreads every bit over all 64: the finalizer of `SplitMix64`.
fn mixed(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ value >> 31
}
