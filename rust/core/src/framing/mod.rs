//! Where records begin and end: one file per format, and the code that scans, gathers and verifies all of them.
//!
//! A record is stored as one *part*, or as several where the payload holds the format's separator (RecordIO's magic
//! word); each part has a head that states its length. Everything here works on bytes and offsets only.
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

/// Most bytes of a foot and the head after it.
const MAX_MARGIN: usize = 16;

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

/// One way to frame records: what each format's file in this folder implements.
///
/// Everything else in this folder calls these through [`FrameKind`], so a new framing is one file and one row of
/// [`framings`].
trait Framing {
    /// Name of the format, in lower case.
    const NAME: &'static str;
    /// Bytes of a part's head.
    const HEAD_LEN: usize;
    /// Bytes after the data of a part; None if their number depends on the data, as that of padding does.
    const FOOT_LEN: Option<usize>;
    /// Whether the foot holds a checksum of the payload.
    const HAS_CHECKSUM: bool = false;
    /// Whether [`resync`](Self::resync) can find a record after damage.
    const CAN_RESYNC: bool = false;
    /// Bytes that the writer removes where it splits a payload into parts; None if a record is always one part.
    const SEPARATOR: Option<&'static [u8]> = None;

    /// Parses a part's head; `head` holds the [`HEAD_LEN`](Self::HEAD_LEN) bytes at `offset`.
    fn head(head: &[u8], offset: u64) -> Result<Head, Fault>;

    /// Frames the payload at the end of `out`: fills in the head, for which there is room at `start`, and adds the foot.
    fn close(out: &mut Vec<u8>, start: usize) -> Result<(), Fault>;

    /// Compares `crc`, the CRC-32C of a payload, with the checksum in the [`FOOT_LEN`](Self::FOOT_LEN) bytes of `foot`.
    fn check_foot(crc: u32, foot: &[u8], offset: u64) -> Result<(), Fault> {
        let _ = (crc, foot, offset);
        Ok(())
    }

    /// Finds the first record head in `bytes`, which stand at `offset` with `left` bytes to the end of the shard.
    fn resync(bytes: &[u8], offset: u64, left: u64) -> Option<usize> {
        let _ = (bytes, offset, left);
        None
    }

    /// Reports padding that is not zero in the stored bytes of one record; only called without a fixed foot.
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

        // Buffers for a foot and the next head have a fixed size, and checksums are read from a foot of fixed size.
        $(const _: () = {
            let foot_len = match <$framing>::FOOT_LEN {
                Some(foot_len) => foot_len,
                None => 0,
            };
            assert!(foot_len + <$framing>::HEAD_LEN <= MAX_MARGIN);
            assert!(!<$framing>::HAS_CHECKSUM || foot_len > 0);
        };)+

        impl FrameKind {
            /// All framings.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// Name of the format, in lower case.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => <$framing>::NAME,)+ }
            }

            /// Bytes of a part's head.
            pub const fn head_len(self) -> usize {
                match self { $(Self::$kind => <$framing>::HEAD_LEN,)+ }
            }

            /// Bytes after the data of a part; None if their number depends on the data.
            pub const fn foot_len(self) -> Option<usize> {
                match self { $(Self::$kind => <$framing>::FOOT_LEN,)+ }
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

            /// Parses a part's head; `head` holds [`head_len`](Self::head_len) bytes found at `offset`.
            #[inline]
            pub fn head(self, head: &[u8], offset: u64) -> Result<Head, Fault> {
                match self { $(Self::$kind => <$framing>::head(head, offset),)+ }
            }

            /// Frames the payload at the end of `out`; before it, at `start`, is room for a head.
            fn close(self, out: &mut Vec<u8>, start: usize) -> Result<(), Fault> {
                match self { $(Self::$kind => <$framing>::close(out, start),)+ }
            }

            /// Compares the CRC-32C of a payload with the checksum in `foot`, if the format has checksums.
            #[inline]
            pub fn check_foot(self, crc: u32, foot: &[u8], offset: u64) -> Result<(), Fault> {
                match self { $(Self::$kind => <$framing>::check_foot(crc, foot, offset),)+ }
            }

            /// Finds the first record head in `bytes` (found at `offset`, with `left` bytes to the end of the shard),
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

fn truncated_head(kind: FrameKind, offset: u64, found: usize) -> Fault {
    Fault::new(FaultKind::TruncatedHeader, offset, "the data end inside a record's header")
        .values(format_args!("{} bytes", kind.head_len()), format_args!("{found} bytes"))
}

fn truncated_data(offset: u64, needed: u64, left: u64) -> Fault {
    Fault::new(FaultKind::TruncatedPayload, offset, "the data end inside a record")
        .values(format_args!("{needed} bytes"), format_args!("{left} bytes left"))
}
