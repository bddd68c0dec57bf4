//! Entry points of many images at once.
use super::run::spread;

/// For each payload its entry points as bytes: at most `share` of a byte for each of its own, less `fixed`. Empty where that are
/// too few, and for what is no sequential JPEG, damaged, or served by its restart markers.
pub fn entry_points(payloads: &[&[u8]], share: f64, fixed: usize, threads: usize) -> Vec<Vec<u8>> {
    let mut found = spread(payloads.iter().enumerate(), threads, |engine, (row, data)| {
        let max_bytes = ((data.len() as f64 * share) as usize).saturating_sub(fixed);
        let points = engine.jpeg.entry_points(data, max_bytes).ok().flatten()?;
        Some((row, points.to_bytes()))
    });
    let mut tables = vec![Vec::new(); payloads.len()];
    for (row, bytes) in found.drain(..) {
        tables[row] = bytes;
    }
    tables
}
