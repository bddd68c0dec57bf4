"""Errors of the system and of damaged record files as TensorFlow's."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from typing import Any

from recordmill.compat.tensorflow.core import errors
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.errors import CompressionError, FormatError, RecordmillError

_CLASSES: dict[int | None, type[errors.OpError]] = {
    errno.ENOENT: errors.NotFoundError,
    errno.ENOTDIR: errors.NotFoundError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.EROFS: errors.PermissionDeniedError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTEMPTY: errors.FailedPreconditionError,
    errno.EINVAL: errors.InvalidArgumentError,
    errno.ENOSPC: errors.ResourceExhaustedError,
    errno.EDQUOT: errors.ResourceExhaustedError,
}
# From the start of a record to its payload.
_HEAD_BYTES = 12


def path_of(path: Any) -> str:
    """Path as text."""
    if isinstance(path, Tensor) and not path.ndim:
        path = path.numpy()
    if not isinstance(path, str | bytes | os.PathLike):
        raise TypeError(f"Expected binary or unicode string, got {path!r}")
    return os.fsdecode(path)


def system_error(error: OSError, path: str) -> errors.OpError:
    """TensorFlow's error for one of the system."""
    found = _CLASSES.get(error.errno, errors.UnknownError)
    said = error.message if isinstance(error, RecordmillError) else str(error)
    if error.errno is not None:
        said = os.strerror(error.errno)
    return found(f"{path}; {said}", shard=path)


@contextlib.contextmanager
def translated(path: str) -> Iterator[None]:
    """Raise TensorFlow's errors for those of the system."""
    try:
        yield
    except errors.OpError:
        raise
    except OSError as error:
        cause = error.__cause__ if error.errno is None and isinstance(error.__cause__, OSError) else error
        raise system_error(cause, path) from error


def data_loss(error: RecordmillError, *, compressed: bool = False) -> errors.OpError:
    """TensorFlow's error for a record file that is damaged, or none."""
    offset = error.offset or 0
    if isinstance(error, CompressionError) or (compressed and isinstance(error, FormatError)):
        message = "inflate() failed with error -3: incorrect header check"
    elif error.kind in ("truncated_payload", "truncated_header"):
        message = f"truncated record at {offset}' failed with Read less bytes than requested"
    else:
        at = offset + _HEAD_BYTES if error.kind == "payload_checksum" else offset
        message = f"corrupted record at {at}" + (" (Is this even a TFRecord file?)" if not at else "")
    parts = error.parts() | {"found": error.message, "expected": None}
    return errors.DataLossError(message, **parts)
