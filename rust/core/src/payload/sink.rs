//! What a message brings, one event at a time: the seam between reading messages and using them.
use super::fast;
use super::message::Dialect;
use super::wire::{Reader, Wire};
use super::{Section, ValueKind, varint};

/// Takes the features of one record. Slots are the sink's own numbering of features.
///
/// Per entry: `find`, and if it names a slot, `begin`; then for a feature `select` and values, as often as the message
/// says; in a feature list every feature stands between `begin_frame` and `end_frame`.
pub trait Sink {
    /// The slot for the feature `key`, or `None` where its values are only to be validated.
    fn find(&mut self, section: Section, key: &[u8]) -> Option<usize>;

    /// An entry begins; it replaces whatever an earlier entry of this record brought for `slot`.
    fn begin(&mut self, slot: usize);

    /// A list of `kind` begins; values of another kind in the same feature are void.
    fn select(&mut self, slot: usize, kind: ValueKind);

    /// One byte string.
    fn bytes(&mut self, slot: usize, value: &[u8]);

    /// Little-endian values of four or eight bytes.
    fn fixed(&mut self, slot: usize, chunk: &[u8]);

    /// Varints to the end of `chunk`.
    fn varints(&mut self, slot: usize, chunk: Reader) -> Wire<()>;

    /// A frame begins.
    fn begin_frame(&mut self, slot: usize);

    /// A frame ends.
    fn end_frame(&mut self, slot: usize);

    /// Takes one whole entry of the context if it has the usual form; otherwise leaves `reader` where it was.
    #[inline]
    fn take_entry(&mut self, _dialect: &Dialect, _reader: &mut Reader) -> Wire<bool> {
        Ok(false)
    }

    /// Takes frames as long as they have the usual form.
    #[inline]
    fn take_frames(&mut self, _slot: usize, _reader: &mut Reader) -> Wire<()> {
        Ok(())
    }
}

/// Wants nothing: everything is validated only.
pub struct Discard;

impl Sink for Discard {
    fn find(&mut self, _section: Section, _key: &[u8]) -> Option<usize> {
        None
    }

    fn begin(&mut self, _slot: usize) {}

    fn select(&mut self, _slot: usize, _kind: ValueKind) {}

    fn bytes(&mut self, _slot: usize, _value: &[u8]) {}

    fn fixed(&mut self, _slot: usize, _chunk: &[u8]) {}

    fn varints(&mut self, _slot: usize, chunk: Reader) -> Wire<()> {
        varint::count(chunk).map(drop)
    }

    fn begin_frame(&mut self, _slot: usize) {}

    fn end_frame(&mut self, _slot: usize) {}

    #[inline]
    fn take_entry(&mut self, dialect: &Dialect, reader: &mut Reader) -> Wire<bool> {
        fast::check_entry(dialect, reader)
    }

    #[inline]
    fn take_frames(&mut self, _slot: usize, reader: &mut Reader) -> Wire<()> {
        fast::check_frames(reader)
    }
}
