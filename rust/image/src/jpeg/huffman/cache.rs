//! Tables that were built before: most files of a collection share theirs, and building costs as much as many blocks.
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::header::tables::HuffmanSpec;
use std::sync::Arc;

/// Tables of one kind that are kept.
const CAPACITY: usize = 16;

/// Tables of kind `T`, each with the codes that it was built from.
pub(in crate::jpeg) struct Cache<T> {
    tables: Vec<(HuffmanSpec, Arc<T>)>,
    /// Place of the table that is replaced next.
    oldest: usize,
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self { tables: Vec::new(), oldest: 0 }
    }
}

impl<T> Cache<T> {
    /// The table of `spec`, built by `build` unless it is kept.
    pub(in crate::jpeg) fn get(&mut self, spec: &HuffmanSpec, build: fn(&HuffmanSpec) -> Result<T>) -> Result<Arc<T>> {
        if let Some((_, table)) = self.tables.iter().find(|(kept, _)| kept.same_codes(spec)) {
            return Ok(table.clone());
        }
        let table = Arc::new(build(spec)?);
        if self.tables.len() < CAPACITY {
            self.tables.push((spec.clone(), table.clone()));
        } else {
            self.tables[self.oldest] = (spec.clone(), table.clone());
            self.oldest = (self.oldest + 1) % CAPACITY;
        }
        Ok(table)
    }
}

/// The table number `number` that a scan at `offset` refers to.
pub(in crate::jpeg) fn required<'a, T>(
    tables: &'a [Option<T>; 4],
    number: usize,
    what: &str,
    offset: usize,
) -> Result<&'a T> {
    let table = tables.get(number).and_then(Option::as_ref);
    table.ok_or_else(|| ImageFault::new(ImageFaultKind::BadTable, offset, format!("{what} table {number}"), "none"))
}
