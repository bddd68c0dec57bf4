//! Frames of records: one file per format, and the code that scans, reads, writes and verifies frames of all formats.
//!
//! A record is stored as one *part*, or as several if the payload contains the format's separator (RecordIO's magic
//! word). Each part has a header that states its length. Everything here works on bytes and offsets only.
mod compact;
mod gather;
mod ofrecord;
mod payloads;
mod recordio;
mod scan;
mod single_part;
mod tfrecord;
mod verify;
mod window;
mod write;

pub use compact::compact;
pub use gather::{
    ReadFailure, Selection, for_each_cached_payload, for_each_payload, for_each_scattered_payload, gather,
    is_scattered, payload_of_frame,
};
pub use payloads::Payloads;
pub use scan::{Limit, SKIP, Scan, scan, scan_window};
pub use single_part::SinglePartRecord;
pub use verify::{RecordFault, Verification, verify};
pub use window::Window;
pub use write::Frames;

use crate::error::{Fault, FaultKind};

/// Largest size of a footer and the header after it, in bytes.
const MAX_MARGIN: usize = 16;

/// Which part of its record a stored part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// The record is this part alone.
    Whole,
    /// More parts follow.
    First,
    /// Parts come before and after it.
    Middle,
    /// The record ends here.
    Last,
}

/// The header of one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Bytes of data in this part.
    pub data_len: u64,
    /// Bytes from the header's first byte to the end of footer and padding.
    pub stored_len: u64,
    /// Which part of the record it is.
    pub part: PartKind,
}

/// One way to frame records: what each format's file in this folder implements.
///
/// Everything else in this folder calls these through [`FrameKind`], so a new framing is one file and one row of
/// [`framings`].
trait Framing {
    /// Name of the format, in lower case.
    const NAME: &'static str;
    /// Bytes of a part's header.
    const HEADER_LEN: usize;
    /// Bytes after the data of a part; None if their number depends on the data, as that of padding does.
    const FOOTER_LEN: Option<usize>;
    /// Whether the footer holds a checksum of the payload.
    const HAS_CHECKSUM: bool = false;
    /// Whether [`resync`](Self::resync) can find a record after damage.
    const CAN_RESYNC: bool = false;
    /// Bytes that the writer removes where it splits a payload into parts; None if a record is always one part.
    const SEPARATOR: Option<&'static [u8]> = None;

    /// Parses a part's header; `header` holds the [`HEADER_LEN`](Self::HEADER_LEN) bytes at `offset`.
    fn header(header: &[u8], offset: u64) -> Result<Header, Fault>;

    /// Frames the payload at the end of `out`: fills in the header, for which there is room at `start`, and adds the footer.
    fn close(out: &mut Vec<u8>, start: usize) -> Result<(), Fault>;

    /// Compares `crc`, the CRC-32C of a payload, with the checksum in the [`FOOTER_LEN`](Self::FOOTER_LEN) bytes of `footer`.
    fn check_footer(crc: u32, footer: &[u8], offset: u64) -> Result<(), Fault> {
        let _ = (crc, footer, offset);
        Ok(())
    }

    /// Finds the first record header in `bytes`, which stand at `offset` with `left` bytes to the end of the shard.
    fn resync(bytes: &[u8], offset: u64, left: u64) -> Option<usize> {
        let _ = (bytes, offset, left);
        None
    }

    /// Reports padding that is not zero in the stored bytes of one record; only called without a fixed footer.
    fn padding_fault(frame: &[u8], offset: u64) -> Option<Fault> {
        let _ = (frame, offset);
        None
    }
}

/// Generates [`FrameKind`] and its dispatch to the framings; each row is a kind and the type that implements it.
macro_rules! framings {
    ($($(#[$doc:meta])* $kind:ident => $framing:ty,)+) => {
        /// The framings, by format.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum FrameKind {
            $($(#[$doc])* $kind,)+
        }

        // Buffers for a footer and the next header have a fixed size, and checksums are read from a footer of fixed size.
        $(const _: () = {
            let footer_len = match <$framing>::FOOTER_LEN {
                Some(footer_len) => footer_len,
                None => 0,
            };
            assert!(footer_len + <$framing>::HEADER_LEN <= MAX_MARGIN);
            assert!(!<$framing>::HAS_CHECKSUM || footer_len > 0);
        };)+

        impl FrameKind {
            /// All framings.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// Name of the format, in lower case.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => <$framing>::NAME,)+ }
            }

            /// Bytes of a part's header.
            pub const fn header_len(self) -> usize {
                match self { $(Self::$kind => <$framing>::HEADER_LEN,)+ }
            }

            /// Bytes after the data of a part; None if their number depends on the data.
            pub const fn footer_len(self) -> Option<usize> {
                match self { $(Self::$kind => <$framing>::FOOTER_LEN,)+ }
            }

            /// Whether each payload carries a checksum.
            pub const fn has_checksum(self) -> bool {
                match self { $(Self::$kind => <$framing>::HAS_CHECKSUM,)+ }
            }

            /// Whether reading can find a record after damage.
            pub const fn can_resync(self) -> bool {
                match self { $(Self::$kind => <$framing>::CAN_RESYNC,)+ }
            }

            /// Bytes that the writer removes between two parts; None if a record is always one part.
            const fn separator(self) -> Option<&'static [u8]> {
                match self { $(Self::$kind => <$framing>::SEPARATOR,)+ }
            }

            /// Parses a part's header; `header` holds [`header_len`](Self::header_len) bytes found at `offset`.
            #[inline]
            pub fn header(self, header: &[u8], offset: u64) -> Result<Header, Fault> {
                match self { $(Self::$kind => <$framing>::header(header, offset),)+ }
            }

            /// Frames the payload at the end of `out`; before it, at `start`, is room for a header.
            fn close(self, out: &mut Vec<u8>, start: usize) -> Result<(), Fault> {
                match self { $(Self::$kind => <$framing>::close(out, start),)+ }
            }

            /// Compares the CRC-32C of a payload with the checksum in `footer`, if the format has checksums.
            #[inline]
            pub fn check_footer(self, crc: u32, footer: &[u8], offset: u64) -> Result<(), Fault> {
                match self { $(Self::$kind => <$framing>::check_footer(crc, footer, offset),)+ }
            }

            /// Finds the first record header in `bytes` (found at `offset`, with `left` bytes to the end of the shard),
            /// as reliably as the format allows.
            pub fn resync(self, bytes: &[u8], offset: u64, left: u64) -> Option<usize> {
                match self { $(Self::$kind => <$framing>::resync(bytes, offset, left),)+ }
            }

            /// Reports padding that is not zero in the stored bytes of one record.
            fn padding_fault(self, frame: &[u8], offset: u64) -> Option<Fault> {
                match self { $(Self::$kind => <$framing>::padding_fault(frame, offset),)+ }
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
    /// The framing of the format with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

fn truncated_header(kind: FrameKind, offset: u64, found: usize) -> Fault {
    Fault::new(FaultKind::TruncatedHeader, offset, "the data end inside a record's header")
        .values(format_args!("{} bytes", kind.header_len()), format_args!("{found} bytes"))
}

fn truncated_data(offset: u64, needed: u64, left: u64) -> Fault {
    Fault::new(FaultKind::TruncatedPayload, offset, "the data end inside a record")
        .values(format_args!("{needed} bytes"), format_args!("{left} bytes left"))
}
