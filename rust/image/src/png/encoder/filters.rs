//! The filter of every row: the one whose differences are smallest in sum (PNG specification, sections 9 and 12.7).

/// Rows filtered in every way, and a row of zeros for the one above the first.
#[derive(Default)]
pub(super) struct Filters {
    candidates: [Vec<u8>; 5],
    zeros: Vec<u8>,
}

impl Filters {
    /// Appends rows of `length` bytes, each behind the code of its filter; a pixel has `step` bytes.
    pub(super) fn apply(&mut self, samples: &[u8], length: usize, step: usize, out: &mut Vec<u8>) {
        for candidate in &mut self.candidates {
            candidate.resize(length, 0);
        }
        self.zeros.clear();
        self.zeros.resize(length, 0);
        out.reserve(samples.len() + samples.len() / length.max(1));
        let mut above = &self.zeros[..];
        for row in samples.chunks_exact(length) {
            let code = best(&mut self.candidates, row, above, step);
            out.push(code as u8);
            out.extend_from_slice(&self.candidates[code]);
            above = row;
        }
    }
}

/// Filters a row in every way; the code of the best.
fn best(candidates: &mut [Vec<u8>; 5], row: &[u8], above: &[u8], step: usize) -> usize {
    let [none, sub, up, average, paeth] = candidates;
    none.copy_from_slice(row);
    let first = step.min(row.len());
    // Left of the first pixel is nothing: zeros.
    for at in 0..first {
        sub[at] = row[at];
        average[at] = row[at].wrapping_sub(above[at] / 2);
        paeth[at] = row[at].wrapping_sub(above[at]);
    }
    for ((out, &here), &above) in up.iter_mut().zip(row).zip(above) {
        *out = here.wrapping_sub(above);
    }
    let left = &row[..row.len() - first];
    let (here, over, corner) = (&row[first..], &above[first..], &above[..row.len() - first]);
    for ((out, &here), &left) in sub[first..].iter_mut().zip(here).zip(left) {
        *out = here.wrapping_sub(left);
    }
    for (((out, &here), &left), &over) in average[first..].iter_mut().zip(here).zip(left).zip(over) {
        *out = here.wrapping_sub(((u16::from(left) + u16::from(over)) / 2) as u8);
    }
    for ((((out, &here), &left), &over), &corner) in paeth[first..].iter_mut().zip(here).zip(left).zip(over).zip(corner)
    {
        *out = here.wrapping_sub(predict(left, over, corner));
    }
    let sums = candidates.each_ref().map(|candidate| sum(candidate));
    (0..sums.len()).min_by_key(|&code| sums[code]).unwrap_or(0)
}

/// Paeth's predictor (PNG specification, section 9.4), without branches.
fn predict(left: u8, above: u8, corner: u8) -> u8 {
    let [a, b, c] = [left, above, corner].map(i16::from);
    let (from_left, from_above, from_corner) = ((b - c).abs(), (a - c).abs(), (a + b - 2 * c).abs());
    let side = if from_above <= from_corner { above } else { corner };
    if from_left <= from_above && from_left <= from_corner { left } else { side }
}

/// Distances from zero, bytes read as signed numbers.
fn sum(filtered: &[u8]) -> u64 {
    filtered
        .chunks(1 << 16)
        .map(|part| part.iter().map(|&byte| u32::from(byte.cast_signed().unsigned_abs())).sum::<u32>())
        .map(u64::from)
        .sum()
}
