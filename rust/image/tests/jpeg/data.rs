//! Pictures and random numbers for the tests.

/// A small generator of random numbers (xorshift), so that every run tests the same.
pub struct Random(u64);

impl Random {
    /// The generator of seed `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % end
    }

    /// One of `choices`.
    pub fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// A picture with gradients, edges and noise; `channels` values per pixel.
pub fn picture(width: usize, height: usize, channels: usize, seed: u64) -> Vec<u8> {
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
