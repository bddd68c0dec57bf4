"""``mx.base``: `MXNetError`, its subclasses, and functions that raise them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import recordmill as rm
from recordmill.suggestions import MISSPELLED, suggest_name

string_types, numeric_types, integer_types = (str,), (float, int, np.generic), (int, np.int32, np.int64)

_PACKAGE = "recordmill.compat.mxnet"
# MXNet 1.9.1's message for each kind of recordmill error. The misspellings are MXNet's.
_WORDING = {
    "truncated_header": "Check failed: nread == sizeof(header): Inavlid RecordIO File",
    "truncated_payload": "Invalid RecordIO File",
    "bad_magic": "Check failed: header[0] == RecordIOWriter::kMagic: Invalid RecordIO File",
    "bad_continuation": "Invalid RecordIO File",
    "bad_image": "Decoding failed. Invalid image file.",
}


class MXNetError(rm.RecordmillError, RuntimeError):
    """``mx.base.MXNetError``: base class of all errors of this package. It is a RuntimeError, as in MXNet."""

    _kind: str | None = None

    def __init__(self, message: str, **parts: Any) -> None:
        super().__init__(message, **{"kind": self._kind} | parts)


class MissingFileError(MXNetError, FileNotFoundError):
    """A file does not exist."""


class ParameterError(MXNetError, ValueError):
    """A parameter is unknown or has an invalid value."""

    _kind = "bad_parameter"


class UnsupportedError(MXNetError, NotImplementedError):
    """A parameter or a name is supported by MXNet, but not by this package."""

    _kind = "unsupported"


class AbsentError(UnsupportedError, AttributeError):
    """A name of MXNet is not supported. The error is an AttributeError, so that `hasattr` returns False."""


class MisuseError(MXNetError, AssertionError):
    """The current state of an object does not allow the call, such as `read` on a closed file."""


def as_mxnet_error(error: rm.RecordmillError, **parts: Any) -> MXNetError:
    """Convert a recordmill error to an MXNetError whose message starts with MXNet's wording."""
    known = {"kind", "shard", "record", "offset", "expected", "found", "hint"}
    fields = {name: value for name, value in error.parts().items() if name in known} | parts
    wording = _WORDING.get(error.kind or "")
    return MXNetError(f"{wording}: {error.message}" if wording else error.message, **fields)


@contextlib.contextmanager
def convert_errors(**parts: Any) -> Iterator[None]:
    """Context manager that converts recordmill errors and FileNotFoundError to subclasses of MXNetError."""
    try:
        yield
    except MXNetError:
        raise
    except FileNotFoundError as error:
        raise MissingFileError(f"{error.filename}: No such file or directory", shard=str(error.filename)) from error
    except rm.RecordmillError as error:
        raise as_mxnet_error(error, **parts) from error


def create_module_getattr(
    module: str, hints: Mapping[str, str], default_hint: str | None = None
) -> Callable[[str], Any]:
    """Create the ``__getattr__`` of a module, which raises an error for each missing name.

    The error is an AbsentError if `hints` contains the name, or if `default_hint` is given and the name is public.
    Otherwise, the error is a plain AttributeError.
    """

    def raise_unsupported(name: str) -> Any:
        hint = hints.get(name, None if name.startswith("_") else default_hint)
        known = [] if name in hints or name.startswith("_") else dir(sys.modules.get(module))
        similar = suggest_name(name, known, MISSPELLED)
        if hint is None:
            suggestion = f"; did you mean {similar!r}?" if similar else ""
            raise AttributeError(f"module {module!r} has no attribute {name!r}{suggestion}", name=name)
        hint = f"did you mean {similar!r}? Otherwise, {hint}" if similar else hint
        full = f"mx{module.removeprefix(_PACKAGE)}.{name}"
        raise AbsentError(f"{full} is not supported", found=full, hint=hint)

    return raise_unsupported
