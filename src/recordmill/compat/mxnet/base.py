"""Errors by MXNet's name, which also are what Python calls them, and say which record it was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import recordmill as rm

string_types, numeric_types, integer_types = (str,), (float, int, np.generic), (int, np.int32, np.int64)

# What MXNet 1.9.1 prints, its spelling included, for people who search for it.
_WORDING = {
    "truncated_header": "Check failed: nread == sizeof(header): Inavlid RecordIO File",
    "truncated_payload": "Invalid RecordIO File",
    "bad_magic": "Check failed: header[0] == RecordIOWriter::kMagic: Invalid RecordIO File",
    "bad_continuation": "Invalid RecordIO File",
    "bad_image": "Decoding failed. Invalid image file.",
}


class MXNetError(rm.RecordmillError, RuntimeError):
    """What MXNet raises: a RuntimeError."""


class MissingFileError(MXNetError, FileNotFoundError):
    """A file that is not there."""


class ParameterError(MXNetError, ValueError):
    """A parameter that does not exist, or has a value that it cannot have."""


class UnsupportedError(MXNetError, NotImplementedError):
    """A parameter that MXNet has and this package has not."""


class MisuseError(MXNetError, AssertionError):
    """A call that the object cannot answer in its state."""


def as_mxnet_error(error: rm.RecordmillError, **parts: Any) -> MXNetError:
    """MXNet's error for one of ours, with all its parts."""
    known = {"kind", "shard", "record", "offset", "expected", "found", "hint"}
    kept = {name: value for name, value in error.parts().items() if name in known} | parts
    wording = _WORDING.get(error.kind or "")
    return MXNetError(f"{wording}: {error.message}" if wording else error.message, **kept)


@contextlib.contextmanager
def translated(**parts: Any) -> Iterator[None]:
    """Raise MXNet's errors in place of ours."""
    try:
        yield
    except MXNetError:
        raise
    except FileNotFoundError as error:
        message = f"{error.filename}: No such file or directory"
        raise MissingFileError(message, shard=str(error.filename)) from error
    except rm.RecordmillError as error:
        raise as_mxnet_error(error, **parts) from error
