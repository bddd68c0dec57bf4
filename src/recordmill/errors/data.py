"""Errors of data and files."""

from __future__ import annotations

from recordmill.errors.base import RecordmillError


class FormatError(RecordmillError, ValueError):
    """The bytes are of another format or compression than declared, or of none that is known."""


class DamageError(RecordmillError, ValueError):
    """The bytes cannot be what was written."""


class TruncatedError(DamageError):
    """The data end inside a record."""


class ChecksumError(DamageError):
    """A stored checksum differs from the computed one."""


class FramingError(DamageError):
    """A length, magic word or part that makes no sense where it stands."""


class PayloadError(DamageError):
    """A payload does not parse as the message that it should be."""


class CompressionError(DamageError):
    """A gzip or zlib stream is damaged or ends early."""


class FeatureError(RecordmillError, ValueError):
    """A feature is missing, or has another kind or number of values than asked for."""


class LimitError(RecordmillError, ValueError):
    """Something is larger than a limit allows."""


class ShardChangedError(RecordmillError, OSError):
    """A shard shrank, grew or was replaced while it was open."""


class WriteError(RecordmillError, OSError):
    """Output could not be written; nothing incomplete stands under a final name."""


class OutputExistsError(WriteError, FileExistsError):
    """Output is already there and replacing it was not asked for."""


class InputError(RecordmillError, ValueError):
    """Input of packing that cannot be used."""


class LabelError(InputError):
    """A label is missing, unknown or malformed."""


class ImageError(InputError):
    """An image cannot be read."""


class MissingExtraError(RecordmillError, ImportError):
    """A package that an option needs is not installed."""
