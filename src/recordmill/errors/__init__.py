"""The whole exception tree; every error says what was expected and found, where, and how to go on.

::

    RecordmillError
    ├── FormatError (ValueError)            another format or compression than declared, or none that is known
    ├── DamageError (ValueError)            bytes that cannot be what was written
    │   ├── TruncatedError                  the data end too early
    │   ├── ChecksumError                   a stored checksum differs from the computed one
    │   ├── FramingError                    lengths, magic words or parts that make no sense
    │   ├── PayloadError                    a payload that does not parse
    │   └── CompressionError                a damaged gzip or zlib stream
    ├── FeatureError (ValueError)           a feature is missing, or of another kind or shape than asked for
    ├── LimitError (ValueError)             more than a limit that was set allows
    ├── ShardChangedError (OSError)         a shard shrank, grew or was replaced while it was open
    ├── WriteError (OSError)                output that could not be written; nothing stands under its final name
    │   └── OutputExistsError (FileExistsError)
    ├── InputError (ValueError)             input of packing that cannot be used
    │   ├── LabelError                      a missing, unknown or malformed label
    │   └── ImageError                      an image that cannot be read
    ├── DecodeError (ValueError)            a feature of one sample of a batch that does not become an array
    ├── MapError (RuntimeError)             a function in a pipeline that fails, hangs, or returns what does not fit
    ├── StateError (ValueError)             a saved state of another pipeline, or of none
    ├── WorkerError (RuntimeError)          a worker of a loader ended, did not start, or cannot send its result
    └── MissingExtraError (ImportError)     an optional package is not installed
"""

from __future__ import annotations

from recordmill.errors.base import RecordmillError
from recordmill.errors.data import (
    ChecksumError,
    CompressionError,
    DamageError,
    FeatureError,
    FormatError,
    FramingError,
    ImageError,
    InputError,
    LabelError,
    LimitError,
    MissingExtraError,
    OutputExistsError,
    PayloadError,
    ShardChangedError,
    TruncatedError,
    WriteError,
)
from recordmill.errors.work import DecodeError, MapError, StateError, WorkerError

__all__ = [
    "ChecksumError",
    "CompressionError",
    "DamageError",
    "DecodeError",
    "FeatureError",
    "FormatError",
    "FramingError",
    "ImageError",
    "InputError",
    "LabelError",
    "LimitError",
    "MapError",
    "MissingExtraError",
    "OutputExistsError",
    "PayloadError",
    "RecordmillError",
    "ShardChangedError",
    "StateError",
    "TruncatedError",
    "WorkerError",
    "WriteError",
]
