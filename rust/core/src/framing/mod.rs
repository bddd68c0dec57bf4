//! Where records begin and end: one file per format, and what is common to scan, gather and verify them.
//!
//! A record is stored as one *part* (TFRecord, OFRecord) or several (RecordIO, where the payload holds the magic
//! word); each part has a head that tells how far it reaches. Everything here sees bytes and offsets only.
mod compact;
mod frames;
mod gather;
mod kept;
mod ofrecord;
mod payloads;
mod recordio;
mod scan;
mod scatter;
mod scattered;
mod single;
mod tfrecord;
mod verify;
mod window;

pub use compact::compact;
pub use frames::Frames;
pub use gather::{Gathered, Selection, for_each_payload, gather, payload_of_frame};
pub use kept::for_each_kept_payload;
pub use payloads::Payloads;
pub use scan::{Limit, SKIP, Scan, scan, scan_window};
pub use scattered::{for_each_scattered_payload, is_scattered};
pub use single::Single;
pub use verify::{RecordFault, Verification, verify};
pub use window::Window;

use crate::error::{Fault, FaultKind};

/// The framings that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// TensorFlow's TFRecord: length and payload with masked CRC-32C.
    TfRecord,
    /// OneFlow's OFRecord: an 8-byte length.
    OfRecord,
    /// MXNet's RecordIO: magic word, 29-bit length, padding to 4 bytes.
    RecordIo,
}

/// Which part of its record a stored part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The record is this part alone.
    Whole,
    /// More parts follow.
    First,
    /// Parts stand before and after.
    Middle,
    /// The record ends here.
    Last,
}

/// What the head of one part says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Bytes of data in this part.
    pub data_len: u64,
    /// Bytes from the head's first byte to the end of footer and padding.
    pub stored_len: u64,
    /// Which part of the record it is.
    pub place: Place,
}

impl FrameKind {
    /// Bytes of a part's head.
    pub const fn head_len(self) -> usize {
        match self {
            Self::TfRecord => tfrecord::HEAD,
            Self::OfRecord | Self::RecordIo => 8,
        }
    }

    /// Bytes behind a record's data, where these are always as many.
    pub const fn foot_len(self) -> Option<usize> {
        match self {
            Self::TfRecord => Some(tfrecord::FOOT),
            Self::OfRecord => Some(0),
            Self::RecordIo => None,
        }
    }

    /// Reads a part's head; `head` holds [`head_len`](Self::head_len) bytes found at `offset`.
    #[inline]
    pub fn head(self, head: &[u8], offset: u64) -> Result<Head, Fault> {
        match self {
            Self::TfRecord => tfrecord::head(head, offset),
            Self::OfRecord => ofrecord::head(head, offset),
            Self::RecordIo => recordio::head(head, offset),
        }
    }

    /// Makes a record of the payload that ends `out`; before it, at `start`, is room for a head.
    fn close(self, out: &mut Vec<u8>, start: usize) -> Result<(), Fault> {
        match self {
            Self::TfRecord => tfrecord::close(out, start),
            Self::OfRecord => ofrecord::close(out, start),
            Self::RecordIo => recordio::close(out, start),
        }
    }

    /// Whether each payload carries a checksum.
    pub const fn has_checksum(self) -> bool {
        matches!(self, Self::TfRecord)
    }

    /// Compares the masked checksum of a payload with the one in `foot`, behind it; only where there are checksums.
    pub fn check_foot(self, computed: u32, foot: &[u8], offset: u64) -> Result<(), Fault> {
        if self.has_checksum() { tfrecord::check(computed, foot, offset) } else { Ok(()) }
    }

    /// Whether reading can find a record start after damage.
    pub const fn can_resync(self) -> bool {
        matches!(self, Self::TfRecord | Self::RecordIo)
    }

    /// First place in `bytes` (found at `offset`, with `left` bytes to the end of the shard) where a record head
    /// stands for certain, or as nearly so as the format allows.
    pub fn resync(self, bytes: &[u8], offset: u64, left: u64) -> Option<usize> {
        match self {
            Self::TfRecord => tfrecord::resync(bytes, left),
            Self::OfRecord => None,
            Self::RecordIo => recordio::resync(bytes, offset),
        }
    }
}

fn truncated_head(kind: FrameKind, offset: u64, found: usize) -> Fault {
    Fault::new(FaultKind::TruncatedHeader, offset, "the data end inside a record's header")
        .values(format_args!("{} bytes", kind.head_len()), format_args!("{found} bytes"))
}

fn truncated_data(offset: u64, needed: u64, left: u64) -> Fault {
    Fault::new(FaultKind::TruncatedPayload, offset, "the data end inside a record")
        .values(format_args!("{needed} bytes"), format_args!("{left} bytes left"))
}
