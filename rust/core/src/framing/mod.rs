//! Framing of records: one file per format, and the code that scans, reads, writes and verifies frames of any format.
//!
//! A record is stored as one *part*, or as several if the payload contains the format's separator (RecordIO's magic
//! word). Each part has a header that states its length. This module knows only bytes and offsets.
mod compact;
mod gather;
mod limits;
mod ofrecord;
mod payloads;
mod recordio;
mod scan;
mod single_part;
mod tfrecord;
mod verify;
mod window;
mod write;

pub use compact::extract_payloads_in_place;
pub use gather::{
    FrameSelection, ReadFailure, compare_indexed_checksum, extract_payload, for_each_cached_payload, for_each_payload,
    for_each_scattered_payload, gather_payloads, is_scattered,
};
pub use payloads::PayloadBuffer;
pub use scan::{MAX_READ_THROUGH, ScanLimit, ScanResult, scan, scan_past_damage, scan_window};
pub use single_part::SinglePartRecord;
pub use verify::{FrameIndex, PayloadCheck, RecordFault, Verification, verify};
pub use window::SourceWindow;
pub use write::FrameBuffer;

use crate::error::{Fault, FaultKind};

/// Maximum total length of a footer and the header that follows it, in bytes.
const MAX_MARGIN: usize = 16;

/// Position of a part among the parts of its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// The only part of the record.
    Whole,
    /// The first of several parts.
    First,
    /// A part between the first and the last one.
    Middle,
    /// The last of several parts.
    Last,
}

/// Parsed header of one part of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Length of the data in this part.
    pub data_len: u64,
    /// Length of header, data, footer and padding.
    pub stored_len: u64,
    /// Position of the part in its record.
    pub part: PartKind,
}

/// The framing of one format. Each format implements this trait in its own file.
///
/// All other code calls these functions through [`FrameKind`], so a new framing needs one file and one row of
/// the macro `framings!`.
trait Framing {
    /// Name of the format, in lower case.
    const NAME: &'static str;
    /// Length of a part's header.
    const HEADER_LEN: usize;
    /// Number of bytes after the data of a part; None if it depends on the data, as with padding.
    const FOOTER_LEN: Option<usize>;
    /// Length of the longest payload that the format allows.
    const MAX_PAYLOAD_LEN: u64 = i64::MAX as u64 - MAX_MARGIN as u64;
    /// Whether the footer holds a checksum of the payload.
    const HAS_CHECKSUM: bool = false;
    /// Whether [`resync`](Self::resync) can find the next record after damage.
    const CAN_RESYNC: bool = false;
    /// Bytes that the writer removes where it splits a payload into parts; None if a record always has one part.
    const SEPARATOR: Option<&'static [u8]> = None;

    /// Parses a part's header; `header` holds the [`HEADER_LEN`](Self::HEADER_LEN) bytes at `offset`.
    fn parse_header(header: &[u8], offset: u64) -> Result<Header, Fault>;

    /// Completes the frame at the end of `out`: writes the header and appends the footer. The frame begins at `start`,
    /// with bytes reserved for the header and then the payload.
    fn finish_frame(out: &mut Vec<u8>, start: usize) -> Result<(), Fault>;

    /// Compares the CRC-32C of a payload with the checksum in its footer, which has [`FOOTER_LEN`](Self::FOOTER_LEN)
    /// bytes.
    fn check_footer(crc: u32, footer: &[u8], offset: u64) -> Result<(), Fault> {
        let _ = (crc, footer, offset);
        Ok(())
    }

    /// Finds the first record header in `bytes`, which begin at `offset` of the shard. `left` is the number of bytes
    /// from `offset` to the end of the shard.
    fn resync(bytes: &[u8], offset: u64, left: u64) -> Option<usize> {
        let _ = (bytes, offset, left);
        None
    }

    /// Returns a fault if a record has padding bytes that are not zero. `frame` holds the stored bytes of the record.
    /// Only called if `FOOTER_LEN` is None.
    fn find_padding_fault(frame: &[u8], offset: u64) -> Option<Fault> {
        let _ = (frame, offset);
        None
    }
}

/// Generates [`FrameKind`], whose methods call the implementation of [`Framing`] for a kind. Each row of the macro call
/// is a kind and the type that implements [`Framing`] for that kind.
macro_rules! framings {
    ($($(#[$doc:meta])* $kind:ident => $framing:ty,)+) => {
        /// Identifies the framing of a format.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum FrameKind {
            $($(#[$doc])* $kind,)+
        }

        // A footer and the next header must fit into a buffer of MAX_MARGIN bytes, and a checksum needs a footer of
        // fixed length.
        $(const _: () = {
            let footer_len = match <$framing>::FOOTER_LEN {
                Some(footer_len) => footer_len,
                None => 0,
            };
            assert!(footer_len + <$framing>::HEADER_LEN <= MAX_MARGIN);
            assert!(!<$framing>::HAS_CHECKSUM || footer_len > 0);
        };)+

        impl FrameKind {
            /// All kinds of framing.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// Returns the name of the format, in lower case.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => <$framing>::NAME,)+ }
            }

            /// Returns the length of a part's header.
            pub const fn header_len(self) -> usize {
                match self { $(Self::$kind => <$framing>::HEADER_LEN,)+ }
            }

            /// Returns the number of bytes after the data of a part; None if it depends on the data.
            pub const fn footer_len(self) -> Option<usize> {
                match self { $(Self::$kind => <$framing>::FOOTER_LEN,)+ }
            }

            /// Returns the length of the longest payload that the format allows.
            pub const fn max_payload_len(self) -> u64 {
                match self { $(Self::$kind => <$framing>::MAX_PAYLOAD_LEN,)+ }
            }

            /// Returns whether each frame holds a checksum of its payload.
            pub const fn has_checksum(self) -> bool {
                match self { $(Self::$kind => <$framing>::HAS_CHECKSUM,)+ }
            }

            /// Returns whether the next record after damage can be found.
            pub const fn can_resync(self) -> bool {
                match self { $(Self::$kind => <$framing>::CAN_RESYNC,)+ }
            }

            /// Returns the bytes that the writer removes between two parts; None if a record always has one part.
            const fn separator(self) -> Option<&'static [u8]> {
                match self { $(Self::$kind => <$framing>::SEPARATOR,)+ }
            }

            /// Parses a part's header; `header` holds the [`header_len`](Self::header_len) bytes at `offset`.
            #[inline]
            pub fn parse_header(self, header: &[u8], offset: u64) -> Result<Header, Fault> {
                match self { $(Self::$kind => <$framing>::parse_header(header, offset),)+ }
            }

            /// Completes the frame at the end of `out`; `start` is the position of the bytes reserved for the header.
            fn finish_frame(self, out: &mut Vec<u8>, start: usize) -> Result<(), Fault> {
                match self { $(Self::$kind => <$framing>::finish_frame(out, start),)+ }
            }

            /// Compares the CRC-32C of a payload with the checksum in `footer`, if the format has checksums.
            #[inline]
            pub fn check_footer(self, crc: u32, footer: &[u8], offset: u64) -> Result<(), Fault> {
                match self { $(Self::$kind => <$framing>::check_footer(crc, footer, offset),)+ }
            }

            /// Finds the first record header in `bytes`, as reliably as the format allows.
            ///
            /// `bytes` begin at `offset` of the shard. `left` is the number of bytes from `offset` to the end of the
            /// shard.
            pub fn resync(self, bytes: &[u8], offset: u64, left: u64) -> Option<usize> {
                match self { $(Self::$kind => <$framing>::resync(bytes, offset, left),)+ }
            }

            /// Returns a fault if the record stored in `frame` has padding bytes that are not zero.
            fn find_padding_fault(self, frame: &[u8], offset: u64) -> Option<Fault> {
                match self { $(Self::$kind => <$framing>::find_padding_fault(frame, offset),)+ }
            }
        }
    };
}

framings! {
    /// TensorFlow's TFRecord: length and payload with masked CRC-32C.
    TfRecord => tfrecord::TfRecord,
    /// OneFlow's OFRecord: an 8-byte length.
    OfRecord => ofrecord::OfRecord,
    /// MXNet's RecordIO: magic word, 29-bit length, padding to 4 bytes.
    RecordIo => recordio::RecordIo,
}

impl FrameKind {
    /// Returns the framing of the format with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

fn truncated_header_fault(kind: FrameKind, offset: u64, found: usize) -> Fault {
    Fault::new(FaultKind::TruncatedHeader, offset, "the data end inside a record's header")
        .with_values(format_args!("{} bytes", kind.header_len()), format_args!("{found} bytes"))
}

fn truncated_data_fault(offset: u64, needed: u64, left: u64) -> Fault {
    Fault::new(FaultKind::TruncatedPayload, offset, "the data end inside a record")
        .with_values(format_args!("{needed} bytes"), format_args!("{left} bytes left"))
}
