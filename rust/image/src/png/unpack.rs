//! Samples out of stored bytes: several per byte, or two bytes each (PNG specification, section 7.2).

/// Splits bytes into samples of 1, 2 or 4 bits, each multiplied by `scale`.
pub(super) fn bits(depth: u8, scale: u8, row: &[u8], out: &mut [u8]) {
    match depth {
        1 => split::<1, 8>(scale, row, out),
        2 => split::<2, 4>(scale, row, out),
        _ => split::<4, 2>(scale, row, out),
    }
}

/// What takes gray samples of `depth` bits to 0 to 255.
pub(super) fn gray_scale(depth: u8) -> u8 {
    match depth {
        1 => 255,
        2 => 85,
        4 => 17,
        _ => 1,
    }
}

fn split<const BITS: u32, const PER_BYTE: usize>(scale: u8, row: &[u8], out: &mut [u8]) {
    let spread =
        |byte: u8| -> [u8; PER_BYTE] { std::array::from_fn(|k| (byte << (k as u32 * BITS) >> (8 - BITS)) * scale) };
    let (whole, rest) = out.as_chunks_mut::<PER_BYTE>();
    for (samples, &byte) in whole.iter_mut().zip(row) {
        *samples = spread(byte);
    }
    if let Some(&byte) = row.get(whole.len()) {
        rest.copy_from_slice(&spread(byte)[..rest.len()]);
    }
}

/// Reads big-endian samples of 16 bits.
pub(super) fn wide(row: &[u8], out: &mut [u16]) {
    for (sample, bytes) in out.iter_mut().zip(row.as_chunks::<2>().0) {
        *sample = u16::from_be_bytes(*bytes);
    }
}

/// The upper halves of big-endian samples of 16 bits.
pub(super) fn upper_halves(row: &[u8], out: &mut [u8]) {
    for (sample, [upper, _]) in out.iter_mut().zip(row.as_chunks::<2>().0) {
        *sample = *upper;
    }
}

/// The upper halves of samples.
pub(super) fn narrow(samples: &[u16], out: &mut [u8]) {
    for (narrow, sample) in out.iter_mut().zip(samples) {
        *narrow = (sample >> 8) as u8;
    }
}
