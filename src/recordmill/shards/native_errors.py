"""Convert errors of the native module to exceptions that name the shard."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.errors import (
    ChecksumError,
    CompressionError,
    DamageError,
    FeatureError,
    FramingError,
    LimitError,
    PayloadError,
    RecordmillError,
    ShardChangedError,
    TruncatedError,
)

# Exceptions that the native module raises for a shard. All except CoreFault have an attribute `ordinal` if they concern
# a record.
NATIVE_ERRORS = (_core.CoreFault, _core.CoreChanged, MemoryError, OSError)
_CLASSES: dict[str, type[RecordmillError]] = {
    "truncated_header": TruncatedError,
    "truncated_payload": TruncatedError,
    "length_checksum": ChecksumError,
    "payload_checksum": ChecksumError,
    "sidecar_checksum": ChecksumError,
    "bad_length": FramingError,
    "bad_magic": FramingError,
    "bad_continuation": FramingError,
    "bad_padding": FramingError,
    "bad_payload": PayloadError,
    "feature_mismatch": FeatureError,
    "bad_compression": CompressionError,
    "limit_exceeded": LimitError,
    "record_too_long": LimitError,
}
_HINTS = {
    "feature_mismatch": "pass a schema that fits all records: rm.open(..., schema=...)",
    "limit_exceeded": "if you trust the file, raise the limit: max_decompressed_bytes=...",
    "record_too_long": "if you trust the file, raise the limit: max_record_bytes=...",
    "bad_payload": 'read the payloads without parsing them: payload="raw"',
}
_DAMAGE_HINT = "list all damage with `recordmill verify`; restore the shard from an intact copy if there is one"


def convert_error(
    fault: Sequence[object], shard: str, records: Sequence[int] | NDArray[np.int64] | None = None
) -> RecordmillError:
    """Convert the arguments of a `CoreFault` to an exception; `records` maps its ordinals to record positions."""
    kind, ordinal, offset, expected, found, message = fault
    cls = _CLASSES.get(str(kind), DamageError)
    hint = _HINTS.get(str(kind), _DAMAGE_HINT)
    return cls(
        str(message),
        kind=str(kind),
        shard=shard,
        record=_find_record_position(ordinal, records),
        offset=offset if isinstance(offset, int) else None,
        expected=str(expected),
        found=str(found),
        hint=hint,
    )


def _find_record_position(ordinal: object, records: Sequence[int] | NDArray[np.int64] | None) -> int | None:
    if not isinstance(ordinal, int):
        return None
    return int(records[ordinal]) if records is not None and ordinal < len(records) else ordinal


def convert_memory_error(
    error: MemoryError, shard: str, records: Sequence[int] | NDArray[np.int64] | None = None
) -> MemoryError:
    """Build a MemoryError that names the shard and, if it is known, the record.

    It is not a `RecordmillError`, because loaders may skip records that raise such errors, and the record is intact.
    """
    record = _find_record_position(getattr(error, "ordinal", None), records)
    location = shard if record is None else f"record {record} of {shard}"
    return MemoryError(f"{str(error) or 'not enough memory'}: {location}")


@contextlib.contextmanager
def native_errors(shard: str, records: Sequence[int] | NDArray[np.int64] | None = None) -> Iterator[None]:
    """Convert errors that the native module raises in the `with` block to exceptions that name the shard."""
    try:
        yield
    except _core.CoreFault as error:
        raise convert_error(error.args, shard, records) from None
    except _core.CoreChanged as error:
        message = f"the shard changed while it was open: {error.args[0]}"
        hint = "open it again after all writers have finished"
        raise ShardChangedError(message, kind="changed", shard=shard, hint=hint) from None
    except MemoryError as error:
        raise convert_memory_error(error, shard, records) from None
    except OSError as error:
        if error.filename is None and error.errno is not None and not isinstance(error, RecordmillError):
            raise type(error)(error.errno, error.strerror, shard) from None
        raise


def find_failed_source(error: Exception, which: NDArray[np.int64]) -> int:
    """Return the position of the source that caused an error in a call that reads from several sources."""
    ordinal = error.args[1] if isinstance(error, _core.CoreFault) else getattr(error, "ordinal", None)
    return int(which[ordinal or 0]) if len(which) else 0
