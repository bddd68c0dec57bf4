//! What a decoder keeps from image to image: memory and tables.
use super::huffman::ac::AcTable;
use super::huffman::cache::Cache;
use super::huffman::dc::DcTable;
use super::huffman::skip::SkipTable;
use super::huffman::symbol::SymbolTable;
use super::scans::store::Grid;

/// Huffman tables that were built before.
#[derive(Default)]
pub(super) struct TableCaches {
    pub(super) dc: Cache<DcTable>,
    pub(super) ac: Cache<AcTable>,
    pub(super) skip: Cache<SkipTable>,
    pub(super) symbols: Cache<SymbolTable>,
}

/// Memory to be used again, and the tables.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) caches: TableCaches,
    /// For entropy-coded bytes.
    pub(super) clean: Vec<u8>,
    /// For planes.
    pub(super) planes: Vec<Vec<u8>>,
    /// For the coefficients of images with several scans.
    pub(super) grids: Vec<Grid>,
}
