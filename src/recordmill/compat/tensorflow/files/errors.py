"""Convert OSError and errors of corrupt record files to TensorFlow's error classes."""

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
# Number of bytes of a TFRecord frame before the payload.
_HEADER_BYTES = 12


def to_path_str(path: Any) -> str:
    """Convert a path, which may also be a scalar string tensor, to str."""
    if isinstance(path, Tensor) and not path.ndim:
        path = path.numpy()
    if not isinstance(path, str | bytes | os.PathLike):
        raise TypeError(f"path must be str, bytes or os.PathLike, got {path!r}")
    return os.fsdecode(path)


def translate_os_error(error: OSError, path: str) -> errors.OpError:
    """Convert an OSError to TensorFlow's error class."""
    found = _CLASSES.get(error.errno, errors.UnknownError)
    message = error.message if isinstance(error, RecordmillError) else str(error)
    if error.errno is not None:
        message = os.strerror(error.errno)
    return found(f"{path}; {message}", shard=path)


@contextlib.contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """Convert an OSError in the ``with`` block to TensorFlow's error class."""
    try:
        yield
    except errors.OpError:
        raise
    except OSError as error:
        cause = error.__cause__ if error.errno is None and isinstance(error.__cause__, OSError) else error
        raise translate_os_error(cause, path) from error


def to_data_loss_error(error: RecordmillError, *, compressed: bool = False) -> errors.OpError:
    """Convert an error of a corrupt record file to a DataLossError with TensorFlow's wording."""
    offset = error.offset or 0
    if isinstance(error, CompressionError) or (compressed and isinstance(error, FormatError)):
        message = "inflate() failed with error -3: incorrect header check"
    elif error.kind in ("truncated_payload", "truncated_header"):
        message = f"truncated record at {offset}' failed with Read less bytes than requested"
    else:
        position = offset + _HEADER_BYTES if error.kind == "payload_checksum" else offset
        message = f"corrupted record at {position}" + (" (Is this even a TFRecord file?)" if not position else "")
    parts = error.parts() | {"found": error.message, "expected": None}
    return errors.DataLossError(message, **parts)
